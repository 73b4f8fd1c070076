// Regions in C++ end with their scope, also by an exception:  TARE_EVENTS=page-faults:u,task-clock ./regions
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <tare.h>

namespace
{
constexpr std::size_t page = 4096, pages = 100;
volatile char fresh[3][pages * page];

void fill(int part)
{
	static struct tare_region *const name = tare_region("part", nullptr);
	tare::region inside(name);
	for (std::size_t at = 0; at < sizeof fresh[part]; at += page)
		fresh[part][at] = 1;
	if (part == 1)
		throw std::runtime_error("the second part fails");
}
} // namespace

int main()
{
	static struct tare_region *const name = tare_region("whole", nullptr);
	tare::region inside(name);
	for (int part = 0; part < 3; part++) {
		try {
			fill(part);
		} catch (const std::runtime_error &why) {
			std::cout << why.what() << '\n';
		}
	}
}
