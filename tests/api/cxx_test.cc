// What the headers have for C++, and libhpm's and PAPI's calls: regions end with their scopes, sets with their owners.
#include <pthread.h>
#include <stdexcept>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tap.h"
#include <tare.h>
#include <tare_hpm.h>
#include <tare_papi_hl.h>

extern "C" void stop_elsewhere(int number);

namespace
{
static_assert(!std::is_copy_constructible<tare::counters>::value && !std::is_copy_assignable<tare::counters>::value,
	      "a set has one owner");
static_assert(std::is_nothrow_move_constructible<tare::counters>::value, "vectors of sets can grow");

void passes(const char *name, uint64_t entries, uint64_t exits, uint64_t unbalanced, const char *fact)
{
	tare_region_passes seen = {};
	tare_region_read(tare_region(name, nullptr), TARE_PROCESS, &seen, nullptr, nullptr);
	if (!ok(seen.entries == entries && seen.exits == exits && seen.unbalanced == unbalanced, "%s", fact))
		printf("# entries %" PRIu64 ", exits %" PRIu64 ", unbalanced %" PRIu64 "\n", seen.entries, seen.exits,
		       seen.unbalanced);
}

void test_counters()
{
	tare_reading readings[2];
	tare::counters set("page-faults:u,task-clock");
	ok(set && set.size() == 2 && std::string(set.name(1)) == "task-clock", "a set opens with its events");
	set.start();
	set.read(readings);
	ok(readings[0].state == TARE_COUNTED, "it counts");
	set.reset();
	set.stop(readings);
	tare::counters other(std::move(set));
	ok(!set && other && other.size() == 2, "it moves");
	std::vector<tare::counters> sets;
	for (int i = 0; i < 5; i++)
		sets.emplace_back("task-clock", TARE_PROCESS);
	sets.erase(sets.begin());
	ok(sets.size() == 4 && sets.back().size() == 1, "sets live in vectors");

	try {
		tare::counters none("no-such-event");
		ok(false, "an unknown event throws");
	} catch (const tare::error &why) {
		ok(why.code() == TARE_ERROR_USAGE && std::string(why.what()) == "unknown event 'no-such-event'",
		   "an unknown event throws, with its name");
	}
	try {
		other.start();
		tare_reading none;
		tare::counters empty("", TARE_THREAD);
		empty.read(&none);
		ok(false, "a set without events throws");
	} catch (const std::exception &why) {
		ok(*why.what() != 0, "the exception is a std::exception");
	}
	tare_error error = {};
	tare::counters failed("no-such-event", TARE_THREAD, error);
	ok(!failed && error.code == TARE_ERROR_USAGE, "with an error to fill nothing is thrown");
}

void test_before()
{
	tare::region by_name("before");
	PAPI_hl_region_begin("before");
	PAPI_hl_region_end("before");
	hpmStart(1, "before");
	hpmStop(1);
}

void fall(int level)
{
	tare::region inside(level == 0 ? "fall 0" : level == 1 ? "fall 1" : "fall 2");
	if (level == 2)
		throw std::runtime_error("down");
	fall(level + 1);
}

void test_exceptions()
{
	std::vector<std::thread> threads;
	for (int i = 0; i < 8; i++)
		threads.emplace_back([] {
			for (int round = 0; round < 100; round++) {
				try {
					fall(0);
				} catch (const std::runtime_error &) {
				}
			}
		});
	for (std::thread &thread : threads)
		thread.join();
	passes("fall 0", 800, 800, 0, "exceptions through 3 regions in 8 threads leave the outer one");
	passes("fall 1", 800, 800, 0, "… the middle one");
	passes("fall 2", 800, 800, 0, "… and the inner one");

	static struct tare_region *const plain = tare_region("plain", nullptr);
	try {
		tare_region_begin(plain);
		throw std::runtime_error("out");
	} catch (const std::runtime_error &) {
	}
	passes("plain", 1, 0, 1, "an exception out of a plain begin has not left it");
	tare_reading reading;
	tare_region_read(plain, TARE_THREAD, nullptr, &reading, nullptr);
	ok(reading.state == TARE_NOT_COUNTED, "… so that there is no count");
}

void *cancelled(void *)
{
	tare::region inside("cancelled");
	for (;;)
		pthread_testcancel();
	return nullptr;
}

void test_cancel()
{
	pthread_t thread;
	pthread_create(&thread, nullptr, cancelled, nullptr);
	tare_region_passes seen = {};
	while (!seen.entries)
		tare_region_read(tare_region("cancelled", nullptr), TARE_PROCESS, &seen, nullptr, nullptr);
	pthread_cancel(thread);
	pthread_join(thread, nullptr);
	passes("cancelled", 1, 1, 0, "a thread that is cancelled leaves its regions");
}

void test_hpm()
{
	hpmInit(0, "cxx_test");
	for (int i = 0; i < 3; i++) {
		hpmStart(7, "hpm seven");
		hpmStart(8, "hpm eight");
		hpmStop(7);
		stop_elsewhere(8);
	}
	passes("hpm seven", 3, 3, 0, "hpmStart and hpmStop are a region by its label");
	passes("hpm eight", 3, 3, 0, "… that another file may stop");
	hpmStop(9);
	passes("hpmStop(9)", 0, 1, 1, "hpmStop of what was not started is a region left and never entered");
	hpmStart(TARE_HPM_MOST, "hpm beyond");
	hpmStop(TARE_HPM_MOST);
	passes("hpm beyond", 1, 0, 1, "a number beyond the last is entered and not left: it is seen in the report");
	hpmTstart(10, "hpm thread");
	hpmTstop(10);
	passes("hpm thread", 1, 1, 0, "the threads' calls are the same");
	hpmTerminate(0);
}

void test_papi()
{
	for (int i = 0; i < 4; i++) {
		std::string name = "papi " + std::to_string(i % 2);
		PAPI_hl_region_begin("papi");
		PAPI_hl_region_begin(name.c_str());
		PAPI_hl_region_end(name.c_str());
		PAPI_hl_region_end("papi");
	}
	passes("papi", 4, 4, 0, "PAPI's regions are regions by their names");
	passes("papi 1", 2, 2, 0, "… names that are made on the way, too");
	ok(PAPI_hl_region_begin("papi") == PAPI_OK && PAPI_hl_region_end("papi") == PAPI_OK && PAPI_hl_stop() == PAPI_OK,
	   "they return PAPI_OK");
	ok(PAPI_hl_region_begin("") == PAPI_EINVAL, "a region without a name is PAPI_EINVAL");
}
} // namespace

int main()
{
	tare_error error = {};
	test_counters();
	test_before();
	if (!tare_regions_start("page-faults:u", &error)) {
		skip(error.text, "regions count");
		return done();
	}
	passes("before", 0, 0, 0, "before regions are counted, nothing is");
	test_exceptions();
	test_cancel();
	test_hpm();
	test_papi();
	return done();
}
