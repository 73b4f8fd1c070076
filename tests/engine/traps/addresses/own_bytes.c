/* fact: a program that reads its own code finds its own bytes, those of its file
 * build: -no-pie */
#include "trap.h"
#include <elf.h>

__attribute__((noinline)) static int function(int x)
{
	int sum = 0;
	for (int i = 0; i < x; i++)
		sum += i ^ x;
	return sum;
}

int main(void)
{
	static unsigned char file[1 << 20];
	int descriptor = open("/proc/self/exe", O_RDONLY);
	long bytes = read(descriptor, file, sizeof file), wrong = 0, compared = 0;
	for (int round = 0; round < 3; round++) {
		function(1000);
		Elf64_Ehdr *header = (void *)file;
		Elf64_Phdr *program = (void *)(file + header->e_phoff);
		for (int i = 0; i < header->e_phnum; i++)
			if (program[i].p_type == PT_LOAD && (program[i].p_flags & PF_X)) {
				wrong += memcmp((void *)program[i].p_vaddr, file + program[i].p_offset,
						program[i].p_filesz) != 0;
				compared += (long)program[i].p_filesz;
			}
	}
	fact(bytes > 1000 && compared > 1000, "the text was found");
	fact_equal(wrong, 0, "the text in memory is the file's, before and after it ran");
	return trap_done();
}
