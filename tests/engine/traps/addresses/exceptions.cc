// fact: C++ exceptions unwind through frames, threads, destructors and out of a signal handler
// build: -fnon-call-exceptions -O1
#include <csignal>
#include <cstdio>
#include <exception>
#include <stdexcept>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

static long destroyed;
struct noted {
	~noted()
	{
		destroyed++;
	}
};

__attribute__((noinline)) static int thrower(int depth)
{
	noted here;
	if (depth == 0)
		throw std::runtime_error("bottom");
	return thrower(depth - 1) + 1;
}

__attribute__((noinline)) static int rethrower(int depth)
{
	try {
		return thrower(depth);
	} catch (const std::exception &e) {
		throw std::logic_error(std::string("again ") + e.what());
	}
}

static void on_segv(int)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGSEGV);
	sigprocmask(SIG_UNBLOCK, &set, nullptr);
	throw 42;
}

__attribute__((noinline)) static int load(volatile int *at)
{
	noted here;
	return *at;
}

static long rounds(int n)
{
	long caught = 0;
	for (int i = 0; i < n; i++)
		try {
			rethrower(i % 20);
		} catch (const std::logic_error &e) {
			caught += std::string(e.what()) == "again bottom";
		}
	return caught;
}

static void say(bool holds, const char *text)
{
	printf("%s %s\n", holds ? "yes" : "NO ", text);
	fflush(stdout);
	if (!holds)
		_exit(1);
}

int main()
{
	say(rounds(2000) == 2000, "2000 exceptions thrown, caught and thrown again");
	say(destroyed == 100 * (20 * 21 / 2), "each frame's destructor ran once");
	std::vector<std::thread> threads;
	long caught[4] = {};
	for (int i = 0; i < 4; i++)
		threads.emplace_back([&caught, i] { caught[i] = rounds(500); });
	for (auto &thread : threads)
		thread.join();
	say(caught[0] + caught[1] + caught[2] + caught[3] == 2000, "in four threads at once");
	signal(SIGSEGV, on_segv);
	long faults = 0;
	for (int i = 0; i < 200; i++)
		try {
			load(reinterpret_cast<volatile int *>(16));
		} catch (int value) {
			faults += value == 42;
		}
	say(faults == 200, "thrown out of a signal handler, at the faulting load, 200 times");
	try {
		std::exception_ptr kept;
		try {
			thrower(3);
		} catch (...) {
			kept = std::current_exception();
		}
		std::rethrow_exception(kept);
	} catch (const std::runtime_error &) {
		say(true, "an exception kept and thrown later");
	}
	return 0;
}
