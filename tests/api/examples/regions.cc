// A region until the end of its scope, exceptions too:  TARE_EVENTS=page-faults:u ./regions
#include <stdexcept>
#include <tare.h>

static void work(int pass)
{
	static struct tare_region *const name = tare_region("work", nullptr);
	tare::region inside(name);
	if (pass == 1)
		throw std::runtime_error("the second pass fails");
}

int main()
{
	for (int pass = 0; pass < 3; pass++) {
		try {
			work(pass);
		} catch (const std::runtime_error &) {
		}
	}
	return 0;
}
