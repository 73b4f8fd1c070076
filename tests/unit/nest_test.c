/* Counts of loop nests by depth (predict/nest.h): nests made by hand, against a walk that executes them, each loop n times. */
#include "predict/nest.h"

#include <string.h>

#include "tap.h"

enum { BLOCKS_MOST = 16, WALK_MOST = 1000000 };

/* A block of 4 bytes at 4·i, as a row of a table: how it ends, to which block, and what it counts of two events. */
struct row {
	enum predicted_end end;
	int target; /* a block; -1: outside, or none */
	uint64_t counts[2];
};

struct code {
	struct predicted_block blocks[BLOCKS_MOST];
	uint64_t counts[BLOCKS_MOST][2];
	struct prediction prediction;
};

static const struct prediction *make(struct code *c, const struct row *rows, size_t n)
{
	*c = (struct code){.prediction = {.place = "f", .n_events = 2, .blocks = c->blocks, .n_blocks = n}};
	for (size_t i = 0; i < n; i++) {
		memcpy(c->counts[i], rows[i].counts, sizeof rows[i].counts);
		c->blocks[i] = (struct predicted_block){
			.low = 4 * i,
			.high = 4 * i + 4,
			.counts = c->counts[i],
			.end = rows[i].end,
			.target_inside = rows[i].target >= 0,
			.target = rows[i].target >= 0 ? 4 * (uint64_t)rows[i].target : 0};
	}
	return &c->prediction;
}

/* Executes it: a branch backward is taken n - 1 times of n, a branch forward never. */
static uint64_t walked(const struct row *rows, size_t n_rows, size_t event, uint64_t n)
{
	uint64_t sum = 0, turns[BLOCKS_MOST] = {0};
	size_t i = 0;
	for (size_t steps = 0; i < n_rows && steps < WALK_MOST; steps++) {
		const struct row *r = &rows[i];
		bool back = r->end == PREDICTED_BRANCH && r->target >= 0 && (size_t)r->target <= i;
		sum += r->counts[event];
		if (r->end == PREDICTED_RETURN)
			break;
		if (back && ++turns[i] < n)
			i = (size_t)r->target;
		else if (r->end == PREDICTED_JUMP)
			i = r->target >= 0 ? (size_t)r->target : n_rows;
		else
			turns[i] = back ? 0 : turns[i], i++;
	}
	return sum;
}

static void agrees(const struct row *rows, size_t n_rows, const char *what)
{
	static struct code c;
	const struct prediction *p = make(&c, rows, n_rows);
	for (size_t event = 0; event < 2; event++) {
		uint64_t at[NEST_DEPTHS];
		struct error err = {0};
		if (!ok(predict_nest(p, event, at, &err), "%s is a nest (event %zu)", what, event)) {
			printf("# %s\n", err.text);
			continue;
		}
		for (uint64_t n = 1; n <= 7; n += 3) {
			uint64_t sum = 0, power = 1;
			for (int d = 0; d < NEST_DEPTHS; d++, power *= n)
				sum += at[d] * power;
			uint64_t expected = walked(rows, n_rows, event, n);
			if (!ok(sum == expected, "%s: what its loops of %d execute", what, (int)n))
				printf("# is %d, expected %d\n", (int)sum, (int)expected);
		}
	}
}

static void refused(const struct row *rows, size_t n_rows, const char *why)
{
	static struct code c;
	uint64_t at[NEST_DEPTHS];
	struct error err = {0};
	ok(!predict_nest(make(&c, rows, n_rows), 0, at, &err) && err.code == ERROR_UNSUPPORTED &&
		   strstr(err.text, why),
	   "no nest: %s (%s)", why, err.text);
}

#define ROWS(...) (const struct row[]){__VA_ARGS__}, sizeof((const struct row[]){__VA_ARGS__}) / sizeof(struct row)

int main(void)
{
	// clang-format off: tables, a row a line
	agrees(ROWS({PREDICTED_ON, -1, {3, 1}}, {PREDICTED_RETURN, -1, {2, 0}}), "straight code");
	agrees(ROWS({PREDICTED_ON, -1, {3, 1}}, {PREDICTED_BRANCH, 1, {5, 2}}, {PREDICTED_RETURN, -1, {2, 0}}),
	       "a loop of one block");
	agrees(ROWS({PREDICTED_ON, -1, {1, 7}},     /* 0 */
		    {PREDICTED_ON, -1, {2, 1}},     /* 1: i */
		    {PREDICTED_ON, -1, {3, 0}},     /* 2: j */
		    {PREDICTED_BRANCH, 3, {11, 4}}, /* 3: k */
		    {PREDICTED_BRANCH, 2, {13, 0}}, /* 4 */
		    {PREDICTED_BRANCH, 5, {17, 1}}, /* 5: another k in i */
		    {PREDICTED_BRANCH, 1, {19, 1}}, /* 6 */
		    {PREDICTED_RETURN, -1, {23, 0}}),
	       "a nest of three, and a second loop in the first");
	agrees(ROWS({PREDICTED_BRANCH, 4, {1, 1}}, /* skips all, when there is nothing to do */
		    {PREDICTED_JUMP, 3, {2, 0}},   /* to the first block of a loop */
		    {PREDICTED_RETURN, -1, {100, 0}}, {PREDICTED_BRANCH, 3, {5, 1}},
		    {PREDICTED_RETURN, -1, {7, 0}}),
	       "a jump over another way out");
	agrees(ROWS({PREDICTED_ON, -1, {1, 0}}, {PREDICTED_JUMP, -1, {4, 2}}, {PREDICTED_RETURN, -1, {50, 9}}),
	       "a jump out of the place, behind which nothing is executed");
	agrees(ROWS({PREDICTED_ON, -1, {1, 1}}, {PREDICTED_ON, -1, {1, 1}}, {PREDICTED_ON, -1, {1, 1}},
		    {PREDICTED_ON, -1, {1, 1}}, {PREDICTED_BRANCH, 4, {1, 1}}, {PREDICTED_BRANCH, 3, {1, 1}},
		    {PREDICTED_BRANCH, 2, {1, 1}}, {PREDICTED_BRANCH, 1, {1, 1}}, {PREDICTED_RETURN, -1, {1, 1}}),
	       "four loops within each other");
	agrees(ROWS({PREDICTED_ON, -1, {1, 0}}, {PREDICTED_BRANCH, 3, {2, 1}}, {PREDICTED_JUMP, 4, {4, 2}},
		    {PREDICTED_ON, -1, {50, 9}}, {PREDICTED_BRANCH, 1, {3, 1}}, {PREDICTED_RETURN, -1, {1, 0}}),
	       "a loop that jumps over the other branch of a choice");
	refused(ROWS({PREDICTED_ON, -1, {1, 1}}, {PREDICTED_ON, -1, {1, 1}}, {PREDICTED_ON, -1, {1, 1}},
		     {PREDICTED_ON, -1, {1, 1}}, {PREDICTED_ON, -1, {1, 1}}, {PREDICTED_BRANCH, 4, {1, 1}},
		     {PREDICTED_BRANCH, 3, {1, 1}}, {PREDICTED_BRANCH, 2, {1, 1}}, {PREDICTED_BRANCH, 1, {1, 1}},
		     {PREDICTED_BRANCH, 0, {1, 1}}),
		"too deep");
	refused(ROWS({PREDICTED_ON, -1, {1, 1}}, {PREDICTED_ON, -1, {1, 1}}, {PREDICTED_BRANCH, 0, {1, 1}},
		     {PREDICTED_BRANCH, 1, {1, 1}}, {PREDICTED_RETURN, -1, {1, 1}}),
		"overlap");
	refused(ROWS({PREDICTED_ON, -1, {1, 1}}, {PREDICTED_INDIRECT, -1, {1, 1}}),
		"data says where its code goes on");
	refused(ROWS({PREDICTED_ON, -1, {1, 1}}, {PREDICTED_STOP, -1, {1, 1}}),
		"data says where its code goes on");
	refused(ROWS({PREDICTED_ON, -1, {1, 1}}, {PREDICTED_JUMP, 0, {1, 1}}), "jump backward");
	refused(ROWS({PREDICTED_JUMP, 2, {1, 1}}, {PREDICTED_ON, -1, {9, 1}}, {PREDICTED_BRANCH, 1, {1, 1}},
		     {PREDICTED_RETURN, -1, {1, 1}}),
		"into a loop");
	// clang-format on
	return done();
}
