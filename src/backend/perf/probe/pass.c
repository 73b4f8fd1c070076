#include "backend/perf/probe/pass.h"

#include <stdlib.h>
#include <string.h>

struct pass {
	bool open, entered, unbalanced;
	bool has_frame;
	uint64_t frame;
	uint64_t enabled_ns, running_ns; /* when it opened */
	int64_t correction;
	uint64_t hits;
	uint64_t asked; /* by passes_inside(), and it was open */
};

struct thread_passes {
	const struct region_asked *regions;
	struct pass_sums *sums;
	int64_t correction; /* of all that this thread has counted so far */
	uint64_t hits;      /* of this thread */
	struct pass *all;   /* [n_regions] */
	uint64_t *begun;    /* [region × n_events + event]: the counters when it opened */
};

struct thread_passes *passes_new(const struct region_asked *regions, struct pass_sums *sums)
{
	struct thread_passes *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	*p = (struct thread_passes){.regions = regions, .sums = sums};
	p->all = calloc(sums->n_regions + 1, sizeof *p->all);
	p->begun = calloc(sums->n_regions * sums->n_events + 1, sizeof *p->begun);
	if (p->all && p->begun)
		return p;
	free(p->all);
	free(p->begun);
	free(p);
	return NULL;
}

static void enter(struct thread_passes *p, size_t region, const struct region_edge *edge, bool has_frame,
		  uint64_t frame, const struct hit *hit)
{
	struct pass *pass = &p->all[region];
	struct pass_sum *sum = &p->sums->regions[region];
	if (pass->open) {
		bool deeper = has_frame && pass->has_frame && frame < pass->frame;
		bool above = has_frame && pass->has_frame && frame > pass->frame;
		if (deeper || (edge->again && !above))
			return;
		pass->unbalanced = true; /* the frame that opened it is gone */
		sum->doubtful += pass->asked;
	}
	*pass = (struct pass){.open = true,
			      .entered = true,
			      .unbalanced = pass->unbalanced,
			      .has_frame = has_frame,
			      .frame = frame,
			      .enabled_ns = hit->enabled_ns,
			      .running_ns = hit->running_ns,
			      .correction = p->correction,
			      .hits = p->hits};
	memcpy(p->begun + region * p->sums->n_events, hit->values, p->sums->n_events * sizeof *p->begun);
	sum->entries++;
}

static void leave(struct thread_passes *p, size_t region, const struct region_edge *edge, bool has_frame,
		  uint64_t frame, const struct hit *hit)
{
	struct pass *pass = &p->all[region];
	struct pass_sum *sum = &p->sums->regions[region];
	if (!pass->open) {
		/* a return without its entry; what else is executed outside of a region does not concern it */
		if (p->regions[region].kind == REGION_FUNCTION && edge->own)
			pass->unbalanced = true;
		return;
	}
	if (has_frame && pass->has_frame && frame < pass->frame)
		return; /* of a deeper frame: the region has also called what comes by here */
	if (edge->lost || (has_frame && pass->has_frame && frame != pass->frame)) {
		pass->open = false;
		pass->unbalanced = true;
		sum->doubtful += pass->asked;
		return;
	}
	pass->open = false;
	sum->exits++;
	sum->enabled_ns += hit->enabled_ns - pass->enabled_ns;
	sum->running_ns += hit->running_ns - pass->running_ns;
	sum->hits += p->hits - pass->hits;
	p->sums->corrections[region] += p->correction - pass->correction + edge->counts;
	for (size_t i = 0; i < p->sums->n_events; i++)
		p->sums->counts[region * p->sums->n_events + i] += hit->values[i] -
								   p->begun[region * p->sums->n_events + i];
}

static uint64_t target_of(const struct region_edge *edge, const struct hit *hit)
{
	return hit->reg(hit->context, edge->jump_register) - hit->ip + edge->offset;
}

static bool is_inside(const struct region_asked *asked, const char *module, uint64_t offset)
{
	for (size_t i = 0; i < asked->n_ranges; i++)
		if (strcmp(asked->ranges[i].module, module) == 0 && offset >= asked->ranges[i].low &&
		    offset < asked->ranges[i].high)
			return true;
	return false;
}

static bool has_edge(const struct region_asked *asked, const char *module, uint64_t offset,
		     enum region_edge_kind kind)
{
	for (size_t i = 0; i < asked->n_edges; i++)
		if (asked->edges[i].offset == offset && asked->edges[i].kind == kind && !asked->edges[i].lost &&
		    strcmp(asked->edges[i].module, module) == 0)
			return true;
	return false;
}

/* A function that is left by a jump to where nobody looks. */
static void lose(struct thread_passes *p, size_t region, uint64_t frame)
{
	struct pass *pass = &p->all[region];
	if (!pass->open || (pass->has_frame && frame < pass->frame))
		return;
	pass->open = false;
	pass->unbalanced = true;
	p->sums->regions[region].doubtful += pass->asked;
}

void passes_hit(struct thread_passes *p, const struct edge_ref *edges, size_t n, const struct hit *hit)
{
	/* the trap is in the reading already, its instruction in later ones */
	p->correction -= p->sums->bias.trap;
	p->hits++;
	for (size_t i = 0; i < n; i++) {
		size_t region = edges[i].region;
		const struct region_asked *asked = &p->regions[region];
		const struct region_edge *edge = &asked->edges[edges[i].edge];
		bool has_frame = edge->frame_register != EDGE_NO_REGISTER;
		uint64_t frame = has_frame ? hit->reg(hit->context, edge->frame_register) +
						     (uint64_t)edge->frame_offset
					   : 0;
		enum region_edge_kind kind = edge->kind;
		if (kind == EDGE_JUMP) {
			uint64_t target = target_of(edge, hit);
			bool inside = is_inside(asked, edge->module, target);
			if (asked->kind == REGION_FUNCTION) {
				if (!inside && (target < edge->low || target >= edge->high))
					lose(p, region, frame);
				continue;
			}
			kind = inside ? EDGE_ENTER : EDGE_LEAVE;
			if (has_edge(asked, edge->module, target, kind))
				continue; /* seen there, to the instruction */
		}
		if (kind == EDGE_ENTER)
			enter(p, region, edge, has_frame, frame, hit);
		else
			leave(p, region, edge, has_frame, frame, hit);
	}
	if (n)
		p->correction += p->sums->bias.missed[p->regions[edges[0].region].edges[edges[0].edge].class];
}

bool edge_enters(const struct region_asked *asked, const struct region_edge *edge, const struct hit *hit)
{
	if (edge->kind != EDGE_JUMP)
		return edge->kind == EDGE_ENTER;
	uint64_t target = target_of(edge, hit);
	return asked->kind != REGION_FUNCTION && is_inside(asked, edge->module, target) &&
	       !has_edge(asked, edge->module, target, EDGE_ENTER);
}

void passes_fork(struct thread_passes *p, const struct thread_passes *from)
{
	memcpy(p->all, from->all, p->sums->n_regions * sizeof *p->all);
	for (size_t i = 0; i < p->sums->n_regions; i++)
		p->all[i].asked = 0;
	memcpy(p->begun, from->begun, p->sums->n_regions * p->sums->n_events * sizeof *p->begun);
}

bool passes_inside(struct thread_passes *p, uint64_t stack, bool *above)
{
	*above = false;
	for (size_t i = 0; i < p->sums->n_regions; i++) {
		struct pass *pass = &p->all[i];
		if (!pass->open)
			continue;
		if (!stack || !pass->has_frame || stack <= pass->frame) {
			*above = false;
			pass->asked++;
			return true;
		}
		*above = true;
	}
	return false;
}

void passes_exec(struct thread_passes *p)
{
	for (size_t i = 0; i < p->sums->n_regions; i++) {
		p->all[i].unbalanced |= p->all[i].open;
		p->sums->regions[i].doubtful += p->all[i].open ? p->all[i].asked : 0;
		p->all[i].open = false;
	}
}

void passes_end(struct thread_passes *p)
{
	if (!p)
		return;
	passes_exec(p);
	for (size_t i = 0; i < p->sums->n_regions; i++) {
		p->sums->regions[i].threads += p->all[i].entered;
		p->sums->regions[i].unbalanced += p->all[i].unbalanced;
	}
	free(p->all);
	free(p->begun);
	free(p);
}
