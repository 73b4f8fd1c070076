/* fact: a branch's target that was written anew, and was called from elsewhere first, is the new one for the branch
 * What counts a taken branch stands in front of the target's code, and leads there by itself. */
#include "trap.h"

enum { ROUNDS = 40 };

static char *code;
static atomic_int stop;

/* cmp edi, 1; je target; xor eax, eax; ret */
static int (*write_branch(char *at, const char *target))(int)
{
	static const char text[] = "\x83\xff\x01\x0f\x84----\x31\xc0\xc3";
	int distance = (int)(target - (at + 9));
	memcpy(at, text, sizeof text - 1);
	memcpy(at + 5, &distance, 4);
	return (int (*)(int))(void *)at;
}

/* mov eax, VALUE; ret; reading a flag that the branch left: mov eax, VALUE; jp to the ret; ret */
static void write_target(char *at, int value, bool flags)
{
	at[0] = (char)0xb8;
	memcpy(at + 1, &value, 4);
	memcpy(at + 5, flags ? "\x7a\x00\xc3" : "\xc3", flags ? 3 : 1);
}

/* Returns how often the branch came to another target than the one that is there. */
static int wrong(char *at, char *target, bool flags)
{
	int n = 0;
	int (*branch)(int) = write_branch(at, target);
	write_target(target, 1, flags);
	for (int i = 0; i < 6; i++) /* not taken first: taken is what is counted */
		n += branch(i >= 3) != (i >= 3);
	for (int value = 2; value < ROUNDS; value++) {
		write_target(target, value, flags);
		n += call_code(target) != value;
		for (int i = 0; i < 3; i++)
			n += branch(1) != value;
	}
	return n;
}

static void *runner(void *unused)
{
	while (!stop)
		;
	return unused;
}

int main(void)
{
	pthread_t thread;
	code = map_anywhere(1 << 16, PROT_READ | PROT_WRITE | PROT_EXEC);
	fact_equal(wrong(code, code + 4096, false), 0, "the branch leads to what was written last");
	fact_equal(wrong(code + 64, code + 8192, true), 0, "so it does where the target reads the flags");
	pthread_create(&thread, NULL, runner, NULL);
	fact_equal(wrong(code + 128, code + 12288, false), 0, "and while another thread runs");
	fact_equal(wrong(code + 192, code + 16384, true), 0, "and both");
	stop = 1;
	pthread_join(thread, NULL);
	return trap_done();
}
