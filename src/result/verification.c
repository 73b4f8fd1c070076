#include "result/verification.h"

void verification_free(struct verification *v)
{
	vec_free(&v->verdicts);
	vec_free(&v->points);
	vec_free(&v->without_stimulus);
	vec_free(&v->notes);
	arena_free(&v->arena);
	*v = (struct verification){0};
}
