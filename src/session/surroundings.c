#include "session/surroundings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#if defined(__x86_64__)
#include <cpuid.h>
#else
#include <sys/auxv.h>
#endif

#include "base/str.h"

extern char **environ;

/* ---- environment ---- */

enum { VALUE_MOST_BYTES = 2000, VARIABLES_MOST = 64 };

bool surroundings_allow(const char *name, size_t length)
{
	/* NAME, or the beginning of one with '*' */
	static const char *const allowed[] = {
		"BLIS_NUM_THREADS",
		"GLIBC_TUNABLES",
		"GOAMD64",
		"GODEBUG",
		"GOGC",
		"GOMAXPROCS",
		"GOMP_*",
		"KMP_*",
		"LANG",
		"LC_*",
		"LD_BIND_NOW",
		"LD_LIBRARY_PATH",
		"LD_PRELOAD",
		"MALLOC_*",
		"MKL_*",
		"OMPI_COMM_WORLD_RANK",
		"OMPI_COMM_WORLD_SIZE",
		"OMP_*",
		"OPENBLAS_*",
		"PERL_HASH_SEED",
		"PERL_PERTURB_KEYS",
		"PMIX_RANK",
		"PMI_RANK",
		"PMI_SIZE",
		"PYTHONDONTWRITEBYTECODE",
		"PYTHONHASHSEED",
		"PYTHONMALLOC",
		"PYTHONOPTIMIZE",
		"RAYON_NUM_THREADS",
		"SLURM_NTASKS",
		"SLURM_PROCID",
		"TARE_CALIBRATION",
		"TZ",
	};
	for (size_t i = 0; i < sizeof allowed / sizeof *allowed; i++) {
		size_t n = strlen(allowed[i]);
		bool begins = allowed[i][n - 1] == '*';
		n -= begins;
		if (length >= n && (begins || length == n) && memcmp(name, allowed[i], n) == 0)
			return true;
	}
	return false;
}

static int compare_texts(const void *a, const void *b) { return strcmp(*(char *const *)a, *(char *const *)b); }

static const char *const *find_environment(struct arena *arena)
{
	const char **kept = arena_alloc(arena, (VARIABLES_MOST + 1) * sizeof *kept);
	size_t n = 0;
	for (char **variable = environ; kept && variable && *variable && n < VARIABLES_MOST; variable++) {
		const char *equals = strchr(*variable, '=');
		if (!equals || !surroundings_allow(*variable, (size_t)(equals - *variable)))
			continue;
		const char *copy = arena_strndup(
			arena, *variable, strnlen(*variable, (size_t)(equals - *variable) + VALUE_MOST_BYTES));
		if (copy)
			kept[n++] = copy;
	}
	if (kept)
		qsort(kept, n, sizeof *kept, compare_texts);
	return kept;
}

/* ---- the processor ---- */

#if defined(__x86_64__)
enum { EAX, EBX, ECX, EDX };

/* names as arch/x86/include/asm/cpufeatures.h of Linux has them; bits: Intel SDM volume 2A, CPUID; AMD APM volume
 * 3, appendix E */
static const struct {
	const char *name;
	unsigned leaf, subleaf;
	unsigned char reg, bit;
} features[] = {
	{"sse2", 1, 0, EDX, 26},
	{"pni", 1, 0, ECX, 0},
	{"pclmulqdq", 1, 0, ECX, 1},
	{"ssse3", 1, 0, ECX, 9},
	{"fma", 1, 0, ECX, 12},
	{"cx16", 1, 0, ECX, 13},
	{"sse4_1", 1, 0, ECX, 19},
	{"sse4_2", 1, 0, ECX, 20},
	{"movbe", 1, 0, ECX, 22},
	{"popcnt", 1, 0, ECX, 23},
	{"aes", 1, 0, ECX, 25},
	{"xsave", 1, 0, ECX, 26},
	{"avx", 1, 0, ECX, 28},
	{"f16c", 1, 0, ECX, 29},
	{"rdrand", 1, 0, ECX, 30},
	{"hypervisor", 1, 0, ECX, 31},
	{"lahf_lm", 0x80000001, 0, ECX, 0},
	{"abm", 0x80000001, 0, ECX, 5},
	{"sse4a", 0x80000001, 0, ECX, 6},
	{"fsgsbase", 7, 0, EBX, 0},
	{"bmi1", 7, 0, EBX, 3},
	{"hle", 7, 0, EBX, 4},
	{"avx2", 7, 0, EBX, 5},
	{"bmi2", 7, 0, EBX, 8},
	{"erms", 7, 0, EBX, 9},
	{"rtm", 7, 0, EBX, 11},
	{"avx512f", 7, 0, EBX, 16},
	{"avx512dq", 7, 0, EBX, 17},
	{"rdseed", 7, 0, EBX, 18},
	{"adx", 7, 0, EBX, 19},
	{"avx512ifma", 7, 0, EBX, 21},
	{"avx512cd", 7, 0, EBX, 28},
	{"sha_ni", 7, 0, EBX, 29},
	{"avx512bw", 7, 0, EBX, 30},
	{"avx512vl", 7, 0, EBX, 31},
	{"avx512vbmi", 7, 0, ECX, 1},
	{"gfni", 7, 0, ECX, 8},
	{"vaes", 7, 0, ECX, 9},
	{"vpclmulqdq", 7, 0, ECX, 10},
	{"avx512_vnni", 7, 0, ECX, 11},
	{"fsrm", 7, 0, EDX, 4},
	{"amx_bf16", 7, 0, EDX, 22},
	{"avx512_fp16", 7, 0, EDX, 23},
	{"amx_tile", 7, 0, EDX, 24},
	{"amx_int8", 7, 0, EDX, 25},
	{"avx_vnni", 7, 1, EAX, 4},
	{"avx512_bf16", 7, 1, EAX, 5},
	{"fzrm", 7, 1, EAX, 10},
	{"fsrs", 7, 1, EAX, 11},
};

static const char *find_features(struct arena *arena)
{
	struct str text = {0};
	unsigned r[4] = {0}, leaf = 0, subleaf = 0;
	/* under a hypervisor each CPUID is an exit: one for each leaf */
	for (size_t i = 0; i < sizeof features / sizeof *features; i++) {
		if (features[i].leaf != leaf || features[i].subleaf != subleaf) {
			leaf = features[i].leaf;
			subleaf = features[i].subleaf;
			if (!__get_cpuid_count(leaf, subleaf, &r[EAX], &r[EBX], &r[ECX], &r[EDX]))
				memset(r, 0, sizeof r);
		}
		if (r[features[i].reg] >> features[i].bit & 1)
			str_appendf(&text, "%s%s", text.length ? " " : "", features[i].name);
	}
	const char *kept = text.failed || !text.text ? NULL : arena_strdup(arena, text.text);
	str_free(&text);
	return kept;
}
#else
static const char *find_features(struct arena *arena)
{
	return arena_printf(arena, "hwcap=%#lx hwcap2=%#lx", getauxval(AT_HWCAP), getauxval(AT_HWCAP2));
}
#endif

/* A word of a small file; NULL. */
static const char *word_of_file(struct arena *arena, const char *path)
{
	char word[65] = "";
	FILE *file = fopen(path, "re");
	if (!file)
		return NULL;
	bool got = fscanf(file, "%64s", word) == 1;
	fclose(file);
	return got ? arena_strdup(arena, word) : NULL;
}

void surroundings_find(struct arena *arena, struct surroundings *out)
{
	char *directory = getcwd(NULL, 0);
	*out = (struct surroundings){0};
	if (directory && directory[0] == '/') {
		out->directory = arena_strdup(arena, directory);
		out->git_commit = surroundings_git_commit(arena, directory);
	}
	free(directory);
	out->environment = find_environment(arena);
	out->cpu_features = find_features(arena);
	out->microcode = word_of_file(arena, "/sys/devices/system/cpu/cpu0/microcode/version");
}
