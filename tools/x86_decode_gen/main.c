/* Asks about all opcodes and prints src/engine/x86/decode_tables.h to standard output. */
#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "gen.h"

#define MAX_FORMS 4096
#define MAX_IMPLICIT 128
enum { KEYS = 1 << KEY_BITS };

static struct x86_form forms[MAX_FORMS];
static char form_names[MAX_FORMS][64];
static unsigned form_count = 1; /* 0 is "invalid" */

static struct x86_implicit implicit[MAX_IMPLICIT][2];
static unsigned implicit_count = 1;

static uint16_t roots[ROOTS_COUNT][256];
static uint8_t modrm[2][256];

static uint16_t intern_form(struct form_row *row, const char *name)
{
	unsigned i;
	for (i = 0; i < 2; i++)
		if (!row->implicit[i].flags)
			row->implicit[i] = (struct x86_implicit){ .base = X86_NO_REG };
	if (row->implicit[0].flags) {
		for (i = 1; i < implicit_count; i++)
			if (!memcmp(implicit[i], row->implicit, sizeof implicit[i]))
				break;
		if (i == implicit_count) {
			assert(implicit_count < MAX_IMPLICIT);
			memcpy(implicit[implicit_count++], row->implicit, sizeof implicit[i]);
		}
		row->form.implicit = (uint8_t)i;
	}
	for (i = 1; i < form_count; i++)
		if (!memcmp(&forms[i], &row->form, sizeof row->form))
			break;
	if (i == form_count) {
		assert(form_count < MAX_FORMS);
		forms[form_count++] = row->form;
	}
	size_t used = strlen(form_names[i]);
	char *found = strstr(form_names[i], name);
	bool whole = found && (found[strlen(name)] == ' ' || !found[strlen(name)]) && (found == form_names[i] || found[-1] == ' ');
	if (!whole && used + strlen(name) + 5 < sizeof form_names[i])
		snprintf(form_names[i] + used, sizeof form_names[i] - used, "%s%s", used ? " " : "", name);
	else if (!whole && (used < 3 || strcmp(form_names[i] + used - 3, "...")))
		strcat(form_names[i], " ...");
	return (uint16_t)i;
}

/* Bits of the key that an encoding lacks are those of another key, whose answer holds. */
static uint32_t canonical(const struct slot *s, uint32_t key)
{
	uint32_t drop = 0;
	if (!s->has_modrm)
		drop |= 1u << KEY_MOD3 | 7u << KEY_REG | 7u << KEY_RM;
	if (s->register_form)
		key |= 1u << KEY_MOD3;
	if (!(key >> KEY_MOD3 & 1))
		drop |= 7u << KEY_RM;
	if (s->roots <= ROOTS_3DNOW) {
		drop |= 3u << KEY_L | 1u << KEY_EVEX_B;
		if (s->roots != ROOTS_0 || s->has_modrm)
			drop |= 1u << KEY_REX_B;
		if ((key >> KEY_REP & 3) == 3)
			drop |= 1u << KEY_REP; /* both: as F2 alone */
		if (s->roots == ROOTS_0 && s->opcode == 0x90 && key >> KEY_REX_B & 1)
			drop |= 3u << KEY_REP; /* xchg with r8: not even F3 makes it a pause (measured by decode_cpu) */
	} else {
		drop |= 1u << KEY_66 | 1u << KEY_REX_B;
		if (s->roots < ROOTS_EVEX_0F || s->roots > ROOTS_EVEX_6)
			drop |= 2u << KEY_L | 1u << KEY_EVEX_B;
		/* Only tilerelease looks at rm, and EVEX never does. */
		if (s->roots >= ROOTS_EVEX_0F && s->roots <= ROOTS_EVEX_6)
			drop |= 7u << KEY_RM;
	}
	return key & ~drop;
}

static bool is_prefix(unsigned roots_table, unsigned opcode)
{
	if (roots_table == ROOTS_0)
		return (opcode & 0xf0) == 0x40 || opcode == 0x0f || opcode == 0x26 || opcode == 0x2e || opcode == 0x36 || opcode == 0x3e
			|| (opcode >= 0x64 && opcode <= 0x67) || opcode == 0xf0 || opcode == 0xf2 || opcode == 0xf3 || opcode == 0x62
			|| opcode == 0xc4 || opcode == 0xc5;
	return roots_table == ROOTS_0F && (opcode == 0x0f || opcode == 0x38 || opcode == 0x3a);
}

static void ask_opcode(unsigned table, unsigned opcode)
{
	static uint16_t value[KEYS];
	struct slot slot = { .roots = (int)table, .opcode = (uint8_t)opcode };
	if (is_prefix(table, opcode)) {
		roots[table][opcode] = NODE_IS_FORM;
		return;
	}
	probe_slot(&slot);
	if (table <= ROOTS_0F)
		modrm[table][opcode] = slot.register_form ? MODRM_REGISTER : slot.has_modrm ? MODRM_PRESENT : MODRM_NONE;
	for (uint32_t key = 0; key < KEYS; key++) {
		struct form_row row;
		ZydisMnemonic mnemonic;
		uint32_t same = canonical(&slot, key);
		if (same != key) {
			if (same < key)
				value[key] = value[same];
			continue;
		}
		const char *name;
		if (probe_form(&slot, key, &row, &mnemonic))
			value[key] = intern_form(&row, ZydisMnemonicGetString(mnemonic));
		else
			value[key] = newer_form(&slot, key, &row, &name) ? intern_form(&row, name) : 0;
	}
	for (uint32_t key = 0; key < KEYS; key++)
		value[key] = value[canonical(&slot, key)];
	roots[table][opcode] = tree_build(value);
}

static void print_words(const char *declaration, const uint16_t *words, unsigned count)
{
	printf("%s = {", declaration);
	for (unsigned i = 0; i < count; i++)
		printf("%s%u,", i % 20 ? " " : "\n\t", words[i]);
	printf("\n};\n\n");
}

static void print_forms(void)
{
	printf("static const struct x86_form forms[%u] = {\n", form_count);
	for (unsigned i = 0; i < form_count; i++) {
		const struct x86_form *f = &forms[i];
		printf("\t{ 0x%x, 0x%x, 0x%x, 0x%x, 0x%x, 0x%x, %u, 0x%x, 0x%x, 0x%x, 0x%x, %u, %u, 0x%x, 0x%x, 0x%x, %u, %u, 0x%x, 0x%x }, /* %u %s */\n",
			f->class, f->gpr_read, f->gpr_written, f->roles, f->limits, f->memory_flags, f->memory_width, f->flags_read,
			f->flags_written, f->flags_maybe, f->flags_undefined, f->flow, f->special, f->immediate, f->sizes, f->fp,
			f->fp_operations, f->implicit, f->detail, f->flags_overwritten, i, i ? form_names[i] : "(invalid)");
	}
	printf("};\n\n");
}

static void print_implicit(void)
{
	printf("static const struct x86_implicit implicit_memory[%u][2] = {\n", implicit_count);
	for (unsigned i = 0; i < implicit_count; i++) {
		printf("\t{");
		for (unsigned j = 0; j < 2; j++) {
			const struct x86_implicit *m = &implicit[i][j];
			if (!i || !m->flags)
				printf(" { .base = X86_NO_REG },");
			else
				printf(" { 0x%x, %u, %d, %u, %u, %u },", m->flags, m->width, m->displacement, m->base, m->index, m->segment);
		}
		printf(" },\n");
	}
	printf("};\n\n");
}

static void print_modrm(void)
{
	printf("/* Two bits per opcode, see MODRM_NONE. */\nstatic const uint8_t modrm_kinds[2][64] = {\n");
	for (unsigned m = 0; m < 2; m++) {
		printf("\t{");
		for (unsigned i = 0; i < 64; i++)
			printf("%s%u,", i % 32 ? " " : "\n\t\t",
				modrm[m][4 * i] | modrm[m][4 * i + 1] << 2 | modrm[m][4 * i + 2] << 4 | modrm[m][4 * i + 3] << 6);
		printf("\n\t},\n");
	}
	printf("};\n");
}

int main(void)
{
	for (unsigned table = 0; table < ROOTS_COUNT; table++)
		for (unsigned opcode = 0; opcode < 256; opcode++)
			ask_opcode(table, opcode);
	printf("/* Generated by tools/x86_decode_gen from Zydis %u.%u and the corrections there: do not edit. */\n\n",
		(unsigned)ZYDIS_VERSION_MAJOR(ZydisGetVersion()), (unsigned)ZYDIS_VERSION_MINOR(ZydisGetVersion()));
	print_forms();
	print_implicit();
	print_words("static const uint16_t nodes[]", tree_nodes, tree_node_count);
	printf("static const uint16_t roots[%u][256] = {\n", ROOTS_COUNT);
	for (unsigned t = 0; t < ROOTS_COUNT; t++) {
		printf("\t{");
		for (unsigned i = 0; i < 256; i++)
			printf("%s%u,", i % 20 ? " " : "\n\t\t", roots[t][i]);
		printf("\n\t},\n");
	}
	printf("};\n\n");
	print_modrm();
	fprintf(stderr, "%u forms of %zu bytes, %u node words, %u implicit rows: %zu bytes\n", form_count, sizeof forms[0],
		tree_node_count, implicit_count, form_count * sizeof forms[0] + tree_node_count * 2 + sizeof roots + 128
		+ implicit_count * sizeof implicit[0]);
	return 0;
}
