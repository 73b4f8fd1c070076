/*
 * libFuzzer target: any bytes, any length. The sanitizers see a read beyond the end; Zydis says the rest.
 *
 *   clang -g -O1 -fsanitize=fuzzer,address,undefined -Isrc -Itests/engine tests/fuzz/fuzz_decode.c \
 *         tests/engine/decode_compare.c src/engine/x86/decode.c -lZydis
 */
#include <stdlib.h>
#include <string.h>

#include "decode_compare.h"
#include "engine/x86/decode.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct decode_tally tally = {.show = 10};
	struct x86_insn insn;
	/* A copy of just the bytes the decoder may see: the redzone is behind them. */
	size_t available = size < 20 ? size : 20;
	uint8_t *copy = malloc(available + !available);
	memcpy(copy, data, available);
	enum x86_decode_status status = x86_decode(copy, available, &insn);
	if (status == X86_DECODE_OK &&
	    (insn.length == 0 || insn.length > X86_MAX_INSN_BYTES || insn.length > available))
		abort();
	if (status == X86_DECODE_TRUNCATED && available >= X86_MAX_INSN_BYTES)
		abort();
	/* Every proper beginning of an instruction is truncated. */
	if (status == X86_DECODE_OK) {
		uint8_t *part = malloc(insn.length);
		memcpy(part, copy, insn.length - 1u);
		struct x86_insn ignored;
		uint8_t *exact = realloc(part, insn.length > 1 ? insn.length - 1u : 1);
		if (x86_decode(exact, insn.length - 1u, &ignored) != X86_DECODE_TRUNCATED)
			abort();
		free(exact);
	}
	if (available)
		decode_compare(copy, available, &tally);
	free(copy);
	if (decode_tally_failures(&tally))
		abort();
	return 0;
}
