/*
 * Models and threads of the host. The core has no threads and no lock of its own: who runs one model from several threads (the runtime does, under
 * models_lock) lets one in at a time. So: models of different threads share nothing, and one model that threads take turns in, each its own core,
 * counts what it counts when one thread makes all turns. Under -fsanitize=thread it also shows that a lock around model_run() is all that is needed.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "declared.h"
#include "tap.h"

enum { THREADS = 4, TURNS = 150 /* of each */, BLOCKS = 8, ITEMS = 4, RECORDS = 24, MACHINES = 12 };

struct stream {
	struct trace_block blocks[BLOCKS];
	struct trace_item items[BLOCKS * ITEMS];
	uint64_t entries[THREADS][TURNS][RECORDS * (1 + ITEMS)];
};

static struct trace_program program_of(const struct stream *s)
{
	return (struct trace_program){s->blocks, s->items};
}

/* Loops over a few blocks; of each thread's accesses one in four is to memory of all. */
static void make_stream(struct random *r, struct stream *s)
{
	for (unsigned b = 0; b < BLOCKS; b++) {
		// clang-format off: a table, a row a line
		s->blocks[b] = (struct trace_block){.pc = 0x400000 + b * 40ull,
						    .first_item = b * ITEMS,
						    .items = ITEMS,
						    .values = ITEMS,
						    .length = 40,
						    .insns = ITEMS + 1,
						    .ending = TRACE_END_CONDITIONAL,
						    .ending_length = 2,
						    .target = 0x400000 + random_below(r, BLOCKS) * 40};
		// clang-format on
		for (unsigned i = 0; i < ITEMS; i++)
			// clang-format off: a table, a row a line
			s->items[b * ITEMS + i] = (struct trace_item){.kind = random_in(r, 3) ? TRACE_WRITE
											      : TRACE_READ,
								      .bytes = 8,
								      .value = (uint8_t)i,
								      .second = TRACE_NO_VALUE,
								      .insn = (uint8_t)i,
								      .offset = (uint16_t)(8 * i)};
		// clang-format on
	}
	for (unsigned t = 0; t < THREADS; t++)
		for (unsigned turn = 0; turn < TURNS; turn++) {
			uint64_t *at = s->entries[t][turn];
			for (unsigned record = 0; record < RECORDS; record++) {
				*at++ = random_below(r, BLOCKS);
				for (unsigned i = 0; i < ITEMS; i++)
					*at++ = (random_in(r, 4) ? 0x100000 : 0x1000000 * (t + 1ull)) +
						random_below(r, 8192) * 8;
			}
		}
}

static void run_turn(const struct simulated *of, const struct stream *s, unsigned core, unsigned thread,
		     unsigned turn)
{
	const struct trace_program program = program_of(s);
	model_run(of->model, core, &program, s->entries[thread][turn], RECORDS * (1 + ITEMS), 0);
}

/* ---- a model for each thread ---- */

struct alone {
	struct simulated model;
	const struct stream *stream;
	unsigned thread;
};

static void *run_alone(void *context)
{
	struct alone *a = context;
	for (unsigned turn = 0; turn < TURNS; turn++)
		run_turn(&a->model, a->stream, 0, a->thread, turn);
	return NULL;
}

/* ---- one model, a core for each thread ---- */

struct shared {
	struct simulated *model;
	const struct stream *stream;
	pthread_mutex_t lock;
	pthread_cond_t next;
	const uint8_t *whose; /* [THREADS * TURNS]: the order of turns */
	unsigned turn;
};

struct member {
	struct shared *shared;
	unsigned thread;
};

static void *run_shared(void *context)
{
	const struct member *member = context;
	struct shared *s = member->shared;
	pthread_mutex_lock(&s->lock);
	for (unsigned turn = 0; turn < TURNS; turn++) {
		while (s->whose[s->turn] != member->thread)
			pthread_cond_wait(&s->next, &s->lock);
		if (!turn) /* it begins: in the runtime, too, under the lock */
			simulated_core(s->model, member->thread);
		run_turn(s->model, s->stream, member->thread, member->thread, turn);
		s->turn++;
		pthread_cond_broadcast(&s->next);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void turns(struct random *r, uint8_t *whose)
{
	unsigned left[THREADS] = {TURNS, TURNS, TURNS, TURNS};
	for (unsigned i = 0; i < THREADS * TURNS; i++) {
		unsigned t = (unsigned)random_below(r, THREADS);
		while (!left[t])
			t = (t + 1) % THREADS;
		left[t]--;
		whose[i] = (uint8_t)t;
	}
	whose[THREADS * TURNS] = THREADS; /* nobody's */
}

static bool same(const struct machine *machine, const struct model_counts *a, const struct model_counts *b)
{
	return counts_equal(machine, a, b, true) && !memcmp(a->branch, b->branch, sizeof a->branch);
}

static void predictors(struct machine *machine)
{
	// clang-format off: a table, a row a line
	machine->direction = (struct machine_direction){.kind = PREDICT_TAGE,
							.counter_bits = 2,
							.initial = 1,
							.entries = 256,
							.tables = 3,
							.table_entries = {64, 64, 64},
							.table_history = {4, 10, 25},
							.table_tag_bits = {8, 8, 9},
							.useful_reset = 4096};
	// clang-format on
	machine->targets = (struct machine_targets){.btb_sets = 16, .btb_ways = 4, .return_entries = 8};
}

int main(void)
{
	static struct stream stream;
	bool alone_same = true, shared_same = true, met = false, meetings = true;
	for (unsigned i = 0; i < MACHINES; i++) {
		struct random r = {107ull << 32 | i};
		static uint8_t whose[THREADS * TURNS + 1];
		struct machine machine;
		struct simulated one, several, single[THREADS];
		struct alone own[THREADS];
		// clang-format off: a table, a row a line
		struct shared shared = {.model = &several,
					.stream = &stream,
					.lock = PTHREAD_MUTEX_INITIALIZER,
					.next = PTHREAD_COND_INITIALIZER,
					.whose = whose};
		// clang-format on
		struct member members[THREADS];
		pthread_t threads[THREADS];
		unsigned turn[THREADS] = {0};

		usual_machine(&r, &machine, true);
		predictors(&machine);
		make_stream(&r, &stream);
		turns(&r, whose);

		for (unsigned t = 0; t < THREADS; t++) {
			own[t] = (struct alone){.stream = &stream, .thread = t};
			simulated_make(&own[t].model, &machine);
			simulated_core(&own[t].model, 0);
			pthread_create(&threads[t], NULL, run_alone, &own[t]);
		}
		for (unsigned t = 0; t < THREADS; t++) {
			pthread_join(threads[t], NULL);
			simulated_make(&single[t], &machine);
			simulated_core(&single[t], 0);
			for (unsigned k = 0; k < TURNS; k++)
				run_turn(&single[t], &stream, 0, t, k);
			meetings &= !model_meetings(own[t].model.model);
			alone_same &= same(&machine, own[t].model.counts[0], single[t].counts[0]);
			simulated_free(&single[t]);
			simulated_free(&own[t].model);
		}

		simulated_make(&several, &machine);
		for (unsigned t = 0; t < THREADS; t++) {
			members[t] = (struct member){&shared, t};
			pthread_create(&threads[t], NULL, run_shared, &members[t]);
		}
		for (unsigned t = 0; t < THREADS; t++)
			pthread_join(threads[t], NULL);
		simulated_make(&one, &machine);
		for (unsigned k = 0; k < THREADS * TURNS; k++) {
			if (!turn[whose[k]])
				simulated_core(&one, whose[k]);
			run_turn(&one, &stream, whose[k], whose[k], turn[whose[k]]++);
		}
		for (unsigned t = 0; t < THREADS; t++) {
			shared_same &= same(&machine, several.counts[t], one.counts[t]);
			met |= one.counts[t]->cache[machine.first_data][CACHE_COHERENCE_MISSES] > 0;
		}
		meetings &= model_meetings(several.model) > 0;
		simulated_free(&one);
		simulated_free(&several);
	}
	ok(alone_same, "threads with a model each count what one thread counts with each of them (%d machines)",
	   MACHINES);
	ok(shared_same,
	   "threads that take turns in one model count what one thread does that makes all turns (%d machines)",
	   MACHINES);
	ok(met && meetings, "… and they share lines, which a model of one core says it never saw");
	return done();
}
