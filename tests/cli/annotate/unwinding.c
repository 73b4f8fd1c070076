/* See unwinding.S. At the end: `@unwound STUBS OF-THEM-TO-MAIN`. */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <unwind.h>

extern int main(int argc, char **argv);
void stub_seen(void);
bool tare_asm_name(unsigned number, const char *name, void *error);

static unsigned stubs, to_main;

bool tare_asm_name(unsigned number, const char *name, void *error)
{
	(void)number;
	(void)name;
	(void)error;
	return true;
}

static _Unwind_Reason_Code frame(struct _Unwind_Context *context, void *found)
{
	void *function = _Unwind_FindEnclosingFunction((void *)(_Unwind_GetIP(context) - 1));
	*(bool *)found |= (uintptr_t)function == (uintptr_t)main;
	return _URC_NO_REASON;
}

void stub_seen(void)
{
	bool found = false;
	_Unwind_Backtrace(frame, &found);
	stubs++;
	to_main += found;
}

__attribute__((destructor)) static void report(void)
{
	fprintf(stderr, "@unwound %u %u\n", stubs, to_main);
}
