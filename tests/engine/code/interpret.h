/*
 * An interpreter of the few instructions that fuzz.c generates: what the code computes, and how many instructions that is.
 *
 * What always holds: it reads `shadow`, the bytes that an area's memory is to have, never that memory itself; what the code stores
 * goes there too, by stored().
 */
#ifndef TARE_TESTS_CODE_INTERPRET_H
#define TARE_TESTS_CODE_INTERPRET_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct machine {
	uint64_t rax, rcx, rdx, rsi, rdi;
	bool zero; /* the flag */
	uint64_t stack[64];
	unsigned depth;
	uint64_t insns;
};

/* Both are fuzz.c's. The bytes there and behind it, at least 16; and a store of the code itself. */
static const uint8_t *shadow_at(uint64_t address);
static void stored(uint64_t address, const void *bytes, unsigned n);

static uint32_t word_at(const uint8_t *p)
{
	uint32_t value;
	memcpy(&value, p, 4);
	return value;
}

static void set_eax(struct machine *m, uint32_t value)
{
	m->rax = value;
	m->zero = !value;
}

_Noreturn static void lost(const char *why, uint64_t pc, const uint8_t *p)
{
	fprintf(stderr, "fuzz: the interpreter: %s at 0x%llx: %02x %02x %02x\n", why, (unsigned long long)pc, p[0], p[1], p[2]);
	exit(4);
}

static uint64_t pop(struct machine *m) { return m->stack[--m->depth]; }

static void push(struct machine *m, uint64_t value, uint64_t pc)
{
	if (m->depth == 64)
		lost("its stack is full", pc, shadow_at(pc));
	m->stack[m->depth++] = value;
}

/* Two bytes of opcode. Returns the instruction's length. */
static unsigned interpret_two(struct machine *m, const uint8_t *p, uint64_t pc)
{
	switch (p[0] << 8 | p[1]) {
	case 0x69c0: set_eax(m, (uint32_t)m->rax * word_at(p + 2)); return 6;
	case 0xc1c0: m->rax = (uint32_t)m->rax << (p[2] & 31) | (uint32_t)m->rax >> (-p[2] & 31); return 3;
	case 0x8d80: m->rax = (uint32_t)(m->rax + word_at(p + 2)); return 6;
	case 0x85f6: m->zero = !(uint32_t)m->rsi; return 2;
	case 0xd1ee: m->rsi = (uint32_t)m->rsi >> 1; m->zero = !m->rsi; return 2;
	case 0xffc9: m->rcx = (uint32_t)(m->rcx - 1); m->zero = !m->rcx; return 2;
	case 0x48ba: memcpy(&m->rdx, p + 2, 8); return 10;
	case 0xc705: stored(pc + 10 + (uint64_t)(int32_t)word_at(p + 2), p + 6, 4); return 10;
	case 0xc605: stored(pc + 7 + (uint64_t)(int32_t)word_at(p + 2), p + 6, 1); return 7;
	case 0x488d: /* lea rdi or rsi, [rip + …] */
		*(p[2] == 0x3d ? &m->rdi : &m->rsi) = pc + 7 + (uint64_t)(int32_t)word_at(p + 3);
		return 7;
	case 0xf3a4:
		for (; m->rcx; m->rcx--) {
			uint8_t byte = *shadow_at(m->rsi++);
			stored(m->rdi++, &byte, 1);
		}
		return 2;
	case 0x0f1f: return 4;
	case 0x6690: return 2;
	default: lost("an instruction that it does not know", pc, p);
	}
}

/* Runs from `pc` to the return of what is called there. */
static void interpret(struct machine *m, uint64_t pc)
{
	push(m, 0, pc);
	while (pc) {
		const uint8_t *p = shadow_at(pc);
		if (++m->insns > 4000000)
			lost("no end", pc, p);
		switch (p[0]) {
		case 0x05: set_eax(m, (uint32_t)m->rax + word_at(p + 1)); pc += 5; break;
		case 0x2d: set_eax(m, (uint32_t)m->rax - word_at(p + 1)); pc += 5; break;
		case 0x35: set_eax(m, (uint32_t)m->rax ^ word_at(p + 1)); pc += 5; break;
		case 0xb9: m->rcx = word_at(p + 1); pc += 5; break;
		case 0x90: pc += 1; break;
		case 0x51: push(m, m->rcx, pc); pc += 1; break;
		case 0x59: m->rcx = pop(m); pc += 1; break;
		case 0x74: pc += 2 + (m->zero ? (uint64_t)(int8_t)p[1] : 0); break;
		case 0x75: pc += 2 + (m->zero ? 0 : (uint64_t)(int8_t)p[1]); break;
		case 0xeb: pc += 2 + (uint64_t)(int8_t)p[1]; break;
		case 0xe9: pc += 5 + (uint64_t)(int32_t)word_at(p + 1); break;
		case 0xe8: push(m, pc + 5, pc); pc += 5 + (uint64_t)(int32_t)word_at(p + 1); break;
		case 0xc3: pc = pop(m); break;
		case 0xff:
			if (p[1] == 0xd2) {
				push(m, pc + 2, pc);
				pc = m->rdx;
				break;
			}
			if (p[1] == 0xe2) {
				pc = m->rdx;
				break;
			}
			/* fall through */
		default: pc += interpret_two(m, p, pc);
		}
	}
}

#endif
