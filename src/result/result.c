#include "result/result.h"

#include <stdlib.h>

#include "result/prediction.h"

const char *source_name(enum source source)
{
	static const char *const names[] = {"none", "hw", "os", "exact", "model", "scaled", "sampled"};
	return names[source];
}

const char *trust_mark(enum trust trust, enum source source)
{
	if (trust == TRUST_REFUTED)
		return "\u2717";
	if (trust == TRUST_BIASED)
		return "~";
	return trust == TRUST_VERIFIED && source != SOURCE_EXACT ? "\u2713" : "";
}

enum trust trust_weakest(enum trust a, enum trust b)
{
	static const int weakness[] = {
		[TRUST_VERIFIED] = 0, [TRUST_UNVERIFIED] = 1, [TRUST_BIASED] = 2, [TRUST_REFUTED] = 3};
	return weakness[a] > weakness[b] ? a : b;
}

const char *trust_name(enum trust trust)
{
	static const char *const names[] = {"unverified", "verified", "biased", "refuted"};
	return names[trust];
}

void run_free(struct run *run)
{
	arena_free(&run->arena);
	*run = (struct run){0};
}

struct result *result_new(void) { return calloc(1, sizeof(struct result)); }

void result_free(struct result *result)
{
	if (!result)
		return;
	if (result->locations)
		locations_free(result->locations);
	if (result->breakdown)
		breakdown_free(result->breakdown);
	free(result->locations);
	free(result->breakdown);
	arena_free(&result->arena);
	free(result);
}

void prediction_free(struct prediction *prediction)
{
	arena_free(&prediction->arena);
	*prediction = (struct prediction){0};
}
