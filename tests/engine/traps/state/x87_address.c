/* fact: the x87 instruction pointer that fnstenv stores is the program's address */
#include "trap.h"

extern char last_x87[];
int main(void)
{
	struct {
		uint32_t control, status, tag, ip, cs_opcode, operand, ds;
	} environment;
	struct {
		uint16_t control, status, tag, opcode;
		uint64_t ip, operand;
		char rest[512 - 24];
	} __attribute__((aligned(16))) area;
	asm volatile("fninit\nlast_x87: fldz\n nop; nop\n fnstenv %0; fxsave64 %1; fstp %%st(0)"
		     : "=m"(environment), "=m"(area));
	fact(environment.ip == (uint32_t)(long)last_x87, "fnstenv has the address of fldz");
	fact(area.ip == (uint64_t)last_x87 || area.ip == 0, "fxsave64 has it");
	return trap_done();
}
