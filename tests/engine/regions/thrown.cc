// Exceptions out of regions, and caught inside.
#define KEEP __attribute__((noinline, noclone, used))
static volatile int n;
extern "C" {
KEEP void thrower(int how) { n = n + 1; if (how) throw how; }
KEEP void passes(int how) { thrower(how); n = n + 1; }
KEEP void catches(int how)
{
	try { passes(how); } catch (int) { n = n + 1; }
	n = n + 1;
}
}
int main()
{
	for (int i = 0; i < 3; i++) {
		catches(i);
		try { passes(i); } catch (int) { n = n + 1; }
	}
	return 0;
}
