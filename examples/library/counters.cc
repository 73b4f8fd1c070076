// A set of counters in C++: it is closed with its scope, and failures are exceptions.  ./counters [EVENTS]
#include <cstddef>
#include <iostream>
#include <tare.h>
#include <vector>

namespace
{
constexpr std::size_t page = 4096, pages = 100;
volatile char fresh[page * pages];

void count(const char *events)
{
	tare::counters counters(events);
	std::vector<tare_reading> before(counters.size()), after(counters.size()), spent(counters.size());
	counters.start();
	counters.read(before.data());
	for (std::size_t at = 0; at < sizeof fresh; at += page)
		fresh[at] = 1;
	counters.read(after.data());
	tare_difference(before.data(), after.data(), counters.size(), spent.data());
	for (std::size_t i = 0; i < counters.size(); i++) {
		double value = 0;
		std::cout << counters.name(i) << ' ';
		if (tare_scaled(&spent[i], &value))
			std::cout << std::fixed << value << '\n';
		else
			std::cout << "not counted\n"; // which is not 0
	}
}
} // namespace

int main(int n, char **arguments)
{
	try {
		count(n > 1 ? arguments[1] : "page-faults:u,task-clock");
	} catch (const tare::error &why) {
		std::cerr << why.what() << '\n' << why.hint() << '\n';
		return 1;
	}
	return 0;
}
