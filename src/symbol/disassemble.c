#include "symbol/disassemble.h"

#include <stdlib.h>
#include <string.h>

#ifdef TARE_HAS_ZYDIS
#include <Zydis/Zydis.h>
#endif

#include "symbol/places_inside.h"

/* The function's extent as linked. One whose symbol has no size, and one that only the unwind table knows, ends
 * where the next begins. */
static bool extent_of(struct module *m, uint64_t offset, uint64_t *low, uint64_t *high)
{
	uint64_t address;
	if (!m->file.elf || !module_address(m, offset, &address) || !table_functions(m))
		return false;
	const struct range *piece = ranges_find(&m->code, address);
	if (!piece)
		return false;
	*low = piece->low;
	*high = piece->high;
	if (piece->item != NO_ITEM) {
		const struct elf_symbol *symbol = &m->functions.items[piece->item];
		if (symbol->bytes && address - symbol->address < symbol->bytes) {
			*low = symbol->address;
			*high = symbol->address + symbol->bytes;
		}
	}
	return *low < *high;
}

#ifdef TARE_HAS_ZYDIS

struct disassembly {
	struct symbols *symbols;
	struct module *module;
	ZydisDecoder decoder;
	ZydisFormatter formatter;
	VEC(struct symbol_instruction) all;
};

static bool choose_decoder(struct disassembly *d, struct error *err)
{
	GElf_Ehdr header;
	bool known = gelf_getehdr(d->module->file.elf, &header) != NULL;
	bool wide = known && header.e_machine == EM_X86_64, narrow = known && header.e_machine == EM_386;
	if (!wide && !narrow)
		return error_set(err, ERROR_UNSUPPORTED, "cannot disassemble '%s': it is not x86 code",
				 d->module->path);
	static const struct {
		ZydisFormatterProperty property;
		ZyanUPointer value;
	} properties[] = {
		{ZYDIS_FORMATTER_PROP_HEX_UPPERCASE, ZYAN_FALSE},
		{ZYDIS_FORMATTER_PROP_FORCE_RELATIVE_RIPREL, ZYAN_TRUE},
		{ZYDIS_FORMATTER_PROP_ADDR_PADDING_ABSOLUTE, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_ADDR_PADDING_RELATIVE, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_DISP_PADDING, ZYDIS_PADDING_DISABLED},
		{ZYDIS_FORMATTER_PROP_IMM_PADDING, ZYDIS_PADDING_DISABLED},
	};
	bool done = (ZYAN_SUCCESS(ZydisDecoderInit(
			     &d->decoder, wide ? ZYDIS_MACHINE_MODE_LONG_64 : ZYDIS_MACHINE_MODE_LEGACY_32,
			     wide ? ZYDIS_STACK_WIDTH_64 : ZYDIS_STACK_WIDTH_32)) &&
		     ZYAN_SUCCESS(ZydisFormatterInit(&d->formatter, ZYDIS_FORMATTER_STYLE_ATT)));
	for (size_t i = 0; i < sizeof properties / sizeof *properties; i++)
		done = done && ZYAN_SUCCESS(ZydisFormatterSetProperty(&d->formatter, properties[i].property,
								      properties[i].value));
	return done || error_set(err, ERROR_UNSUPPORTED, "cannot start the disassembler");
}

/* " <work+0x12>", of a call's or jump's target. */
static const char *name_target(struct disassembly *d, uint64_t address)
{
	struct arena *arena = &symbols_naming(d->symbols)->arena;
	uint64_t offset;
	if (!module_offset(d->module, address, &offset))
		return "";
	const struct symbol_code *code = symbols_code(d->symbols, d->module->path, offset, NULL);
	if (!code)
		return NULL;
	return offset == code->begins ? arena_printf(arena, " <%s>", code->function)
				      : arena_printf(arena, " <%s+0x%llx>", code->function,
						     (unsigned long long)(offset - code->begins));
}

/* "  # 4014 <sink>", of memory that is addressed from the instruction. */
static const char *name_data(struct disassembly *d, uint64_t address)
{
	const struct symbol_data *data = symbols_data(d->symbols, d->module->path, address);
	struct arena *arena = &symbols_naming(d->symbols)->arena;
	return !data || !data->linked_name || data->address != address
		       ? arena_printf(arena, "  # %llx", (unsigned long long)address)
		       : arena_printf(arena, "  # %llx <%s>", (unsigned long long)address, data->name);
}

/* The text of the instruction at `address`; its length in *length. NULL when memory ran out. */
static const char *describe(struct disassembly *d, const uint8_t *bytes, size_t available, uint64_t address,
			    size_t *length)
{
	struct arena *arena = &symbols_naming(d->symbols)->arena;
	ZydisDecodedInstruction instruction;
	ZydisDecodedOperand operands[ZYDIS_MAX_OPERAND_COUNT];
	char text[256];
	const char *target = "";
	*length = 1;
	if (!ZYAN_SUCCESS(ZydisDecoderDecodeFull(&d->decoder, bytes, available, &instruction, operands)))
		return arena_strdup(arena, "(bad)");
	*length = instruction.length;
	if (!ZYAN_SUCCESS(ZydisFormatterFormatInstruction(&d->formatter, &instruction, operands,
							  instruction.operand_count_visible, text, sizeof text,
							  address, ZYAN_NULL)))
		return arena_strdup(arena, "(bad)");
	for (size_t i = 0; i < instruction.operand_count_visible && target && !*target; i++) {
		uint64_t to;
		bool code = operands[i].type == ZYDIS_OPERAND_TYPE_IMMEDIATE && operands[i].imm.is_relative;
		bool data = operands[i].type == ZYDIS_OPERAND_TYPE_MEMORY &&
			    operands[i].mem.base == ZYDIS_REGISTER_RIP;
		if ((code || data) &&
		    ZYAN_SUCCESS(ZydisCalcAbsoluteAddress(&instruction, &operands[i], address, &to)))
			target = code ? name_target(d, to) : name_data(d, to);
	}
	return target ? arena_printf(arena, "%s%s", text, target) : NULL;
}

static bool disassemble(struct disassembly *d, uint64_t low, uint64_t high, struct error *err)
{
	size_t available;
	const uint8_t *bytes = module_bytes(d->module, low, &available);
	if (!bytes)
		return error_set(err, ERROR_NOT_FOUND, "'%s' does not have the function's code", d->module->path);
	if (available > high - low)
		available = (size_t)(high - low);
	for (size_t at = 0, length; at < available && d->all.count < DISASSEMBLED_MOST; at += length) {
		struct symbol_instruction one = {
			.address = low + at, .text = describe(d, bytes + at, available - at, low + at, &length)};
		if (!one.text || !module_offset(d->module, one.address, &one.offset) || !vec_push(&d->all, one))
			return error_no_memory(err);
	}
	return true;
}

bool symbols_disassemble(struct symbols *symbols, const char *module, uint64_t offset,
			 struct symbol_instruction **out, size_t *n, struct error *err)
{
	struct disassembly d = {.symbols = symbols, .module = symbols_module(symbols, module)};
	uint64_t low, high;
	*out = NULL;
	*n = 0;
	if (!d.module)
		return error_no_memory(err);
	if (!extent_of(d.module, offset, &low, &high))
		return error_set(err, ERROR_NOT_FOUND, "no code of '%s' is known at offset 0x%llx", module,
				 (unsigned long long)offset);
	if (!choose_decoder(&d, err) || !disassemble(&d, low, high, err)) {
		vec_free(&d.all);
		return false;
	}
	*out = d.all.items;
	*n = d.all.count;
	return true;
}

#else

bool symbols_disassemble(struct symbols *symbols, const char *module, uint64_t offset,
			 struct symbol_instruction **out, size_t *n, struct error *err)
{
	struct module *m = symbols_module(symbols, module);
	uint64_t low, high;
	*out = NULL;
	*n = 0;
	if (!m || !extent_of(m, offset, &low, &high))
		return error_set(err, ERROR_NOT_FOUND, "no code of '%s' is known at offset 0x%llx", module,
				 (unsigned long long)offset);
	return error_set(err, ERROR_UNSUPPORTED, "this build of tare has no disassembler");
}

#endif
