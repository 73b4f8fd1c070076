#include "backend/engine/regions.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/vec.h"
#include "engine/inject/injection.h"

/* The record of one process image, checked. */
struct region_image {
	const struct injection *injection; /* whose record it is in */
	uint64_t offset;
	struct record_regions *record; /* a copy; so is all that it leads to */
	char *names;
	uint64_t names_bytes;
	uint32_t n_regions, n_contexts;
	uint32_t *index; /* of local region: in regions->all */
	struct {
		uint32_t first, n;
	} * contexts;
	uint32_t *members; /* indices in regions->all */
	bool count;        /* of a process that is counted */
	struct region_image *next;
};

/* A path as /proc/PID/maps writes it, which is what the runtime compares it with. */
static void as_mapped(char *to, size_t size, const char *path)
{
	for (; *path && size > 5; path++) {
		size_t n = *path == '\n' ? 4 : 1;
		memcpy(to, n == 4 ? "\\012" : path, n);
		to += n, size -= n;
	}
	*to = 0;
}

bool regions_plan(const struct region_asked *asked, size_t n, struct record_region_range **out, size_t *n_ranges,
		  struct error *err)
{
	size_t count = 0;
	*out = NULL;
	*n_ranges = 0;
	for (size_t i = 0; i < n; i++)
		count += asked[i].n_ranges;
	if (n > RECORD_REGIONS_MOST || count > RECORD_REGIONS_MOST)
		return error_set(err, ERROR_LIMIT, "at most %u regions, of as many ranges, can be asked for",
				 RECORD_REGIONS_MOST);
	if (!(*out = calloc(count + 1, sizeof **out)))
		return error_no_memory(err);
	for (size_t i = 0; i < n; i++)
		for (size_t r = 0; r < asked[i].n_ranges; r++) {
			const struct region_range *from = &asked[i].ranges[r];
			struct record_region_range *to = &(*out)[(*n_ranges)++];
			*to = (struct record_region_range){.low = from->low,
							   .high = from->high,
							   .asked = (uint32_t)i,
							   .kind = asked[i].kind == REGION_FUNCTION
									   ? RECORD_REGION_FUNCTION
									   : RECORD_REGION_CODE};
			as_mapped(to->path, sizeof to->path, from->module);
		}
	return true;
}

/* ---- names ---- */

struct region_numbering {
	struct execution_regions *regions;
	VEC(struct counted_region) all;
	uint32_t *slots; /* of names: index plus one; a power of two of them */
	size_t slot_count;
	struct region_image *images;
};

static size_t hash_of(const char *name, size_t bytes)
{
	uint64_t h = 0xcbf29ce484222325u; /* FNV-1a */
	for (size_t i = 0; i < bytes; i++)
		h = (h ^ (uint8_t)name[i]) * 0x100000001b3u;
	return (size_t)(h ^ h >> 32);
}

static uint32_t *slot_of(struct region_numbering *numbering, const char *name, size_t bytes)
{
	size_t i = hash_of(name, bytes) & (numbering->slot_count - 1);
	for (; numbering->slots[i]; i = (i + 1) & (numbering->slot_count - 1)) {
		const struct counted_region *r = &numbering->all.items[numbering->slots[i] - 1];
		if (r->name_bytes == bytes && !memcmp(r->name, name, bytes))
			break;
	}
	return &numbering->slots[i];
}

static bool grow(struct region_numbering *numbering)
{
	if (2 * numbering->all.count < numbering->slot_count)
		return true;
	free(numbering->slots);
	numbering->slot_count = numbering->slot_count ? 2 * numbering->slot_count : 256;
	if (!(numbering->slots = calloc(numbering->slot_count, sizeof *numbering->slots)))
		return false;
	for (size_t i = numbering->regions->n_asked; i < numbering->all.count; i++)
		*slot_of(numbering, numbering->all.items[i].name,
			 numbering->all.items[i].name_bytes) = (uint32_t)i + 1;
	return true;
}

/* SIZE_MAX: memory ran out */
static size_t named(struct region_numbering *numbering, const char *name, size_t bytes)
{
	if (!grow(numbering))
		return SIZE_MAX;
	uint32_t *slot = slot_of(numbering, name, bytes);
	if (!*slot) {
		if (!vec_push(&numbering->all,
			      ((struct counted_region){.name = name,
						       .name_bytes = bytes,
						       .hidden = bytes && *name == REGION_HIDDEN})))
			return SIZE_MAX;
		*slot = (uint32_t)numbering->all.count;
	}
	return *slot - 1;
}

/* ---- images ---- */

static void damaged(struct execution_regions *r)
{
	if (!r->why)
		r->why = "the engine's record of regions is damaged";
}

/* A copy of n entries of an array; NULL: there are none, or the record is damaged. */
static void *copied(struct region_numbering *numbering, const struct region_image *image, uint64_t offset,
		    uint64_t n, size_t entry_bytes)
{
	struct record_regions layout = {0};
	record_regions_lay_out(&layout);
	void *copy = NULL;
	if (n && offset <= layout.bytes && n * entry_bytes <= layout.bytes - offset)
		copy = injection_copy(image->injection, image->offset + offset, n * entry_bytes);
	if (n && !copy)
		damaged(numbering->regions);
	return copy;
}

static bool fill_regions(struct region_numbering *numbering, struct region_image *image)
{
	struct record_region *all = copied(numbering, image, image->record->regions, image->n_regions,
					   sizeof *all);
	uint64_t bytes = 0; /* names do not share any, so looking at all of them ends */
	bool done = true;
	image->names_bytes = image->record->names_used < RECORD_NAMES_BYTES ? image->record->names_used
									    : RECORD_NAMES_BYTES;
	image->names = copied(numbering, image, image->record->names, image->names_bytes, 1);
	for (uint32_t i = 0; i < image->n_regions && done; i++) {
		size_t index = SIZE_MAX;
		if (!all || all[i].asked > numbering->regions->n_asked ||
		    (!all[i].asked && (!image->names || all[i].name > image->names_bytes ||
				       all[i].name_bytes > image->names_bytes - all[i].name ||
				       (bytes += all[i].name_bytes) > RECORD_NAMES_BYTES))) {
			damaged(numbering->regions);
			image->n_regions = i;
			break;
		}
		index = all[i].asked ? all[i].asked - 1
				     : named(numbering, image->names + all[i].name, all[i].name_bytes);
		done = index != SIZE_MAX;
		image->index[i] = (uint32_t)index;
	}
	free(all);
	return done;
}

static void fill_contexts(struct region_numbering *numbering, struct region_image *image, uint32_t n_members)
{
	struct record_context *contexts = copied(numbering, image, image->record->contexts, image->n_contexts,
						 sizeof *contexts);
	uint32_t *members = copied(numbering, image, image->record->members, n_members, sizeof *members);
	for (uint32_t m = 0; members && m < n_members; m++) {
		if (members[m] >> 1 >= image->n_regions) {
			damaged(numbering->regions);
			image->n_contexts = 0;
			break;
		}
		image->members[m] = image->index[members[m] >> 1];
	}
	for (uint32_t c = 0; c < image->n_contexts; c++) {
		if (!contexts || contexts[c].first > n_members || contexts[c].n > n_members - contexts[c].first ||
		    (contexts[c].n && !members)) {
			damaged(numbering->regions);
			image->n_contexts = c;
			break;
		}
		image->contexts[c].first = contexts[c].first, image->contexts[c].n = contexts[c].n;
	}
	free(contexts);
	free(members);
}

static void add_passes(struct region_numbering *numbering, const struct region_image *image)
{
	uint32_t n = image->record->n_passes;
	struct record_pass *passes = n <= RECORD_PASSES_MOST
					     ? copied(numbering, image, image->record->passes, n, sizeof *passes)
					     : NULL;
	for (uint32_t i = 0; i < n; i++) {
		if (!passes || passes[i].region >= image->n_regions) {
			damaged(numbering->regions);
			break;
		}
		struct counted_region *to = &numbering->all.items[image->index[passes[i].region]];
		to->entries += passes[i].entries;
		to->exits += passes[i].exits;
		to->moved += passes[i].moved;
		to->switched += passes[i].switched != 0;
		to->threads += passes[i].entries > 0;
		to->open += passes[i].depth > passes[i].inherited;
		to->unbalanced += passes[i].entries != passes[i].exits || passes[i].strays;
	}
	free(passes);
}

static void note_losses(struct execution_regions *r, uint32_t lost)
{
	if ((lost & RECORD_LOST_CONTEXTS) && !r->why)
		r->why = "the program was in more regions at once, or in more combinations of them, than the "
			 "engine can tell apart";
	if ((lost & RECORD_LOST_PASSES) && !r->why)
		r->why = "the threads entered more regions than the engine's record can hold";
	if (lost & RECORD_LOST_ENDS)
		r->why_named = "the program reached the end of a region in a way that the engine cannot tell from "
			       "the region's own instructions";
	if (lost & RECORD_LOST_REGIONS)
		r->lost = "the program named more regions, or longer names, than the engine's record can hold; "
			  "the later ones are missing";
}

static bool load(struct region_numbering *numbering, struct region_image *image, bool count, struct error *err)
{
	image->count = count;
	image->record = image->offset % RECORD_PAGE
				? NULL
				: injection_copy(image->injection, image->offset, sizeof *image->record);
	if (!image->record) {
		damaged(numbering->regions);
		return true;
	}
	const struct record_regions *r = image->record;
	uint32_t n_members = r->n_members;
	image->n_contexts = r->n_contexts;
	image->n_regions = r->n_regions;
	if (image->n_contexts > RECORD_CONTEXTS_MOST || n_members > RECORD_MEMBERS_MOST ||
	    image->n_regions > RECORD_REGIONS_MOST) {
		damaged(numbering->regions);
		image->n_contexts = n_members = image->n_regions = 0;
	}
	image->index = calloc(image->n_regions + 1u, sizeof *image->index);
	image->contexts = calloc(image->n_contexts + 1u, sizeof *image->contexts);
	image->members = calloc(n_members + 1u, sizeof *image->members);
	if (!image->index || !image->contexts || !image->members || !fill_regions(numbering, image))
		return error_no_memory(err);
	fill_contexts(numbering, image, n_members);
	if (count) {
		add_passes(numbering, image);
		note_losses(numbering->regions, r->lost);
	}
	return true;
}

static void free_image(struct region_image *image)
{
	free(image->record);
	free(image->names);
	free(image->index);
	free(image->contexts);
	free(image->members);
	free(image);
}

/* Those of processes that are not counted are also loaded: their blocks may be inherited. */
static bool add_image(struct region_numbering *numbering, const struct view_process *p, bool count,
		      struct error *err)
{
	uint64_t offset = p->record->regions;
	struct region_image *image = numbering->images;
	while (image && (image->offset != offset || image->injection != p->injection))
		image = image->next;
	if (!image) {
		if (!(image = calloc(1, sizeof *image)))
			return error_no_memory(err);
		image->offset = offset;
		image->injection = p->injection;
		image->next = numbering->images;
		numbering->images = image;
		if (!load(numbering, image, count, err))
			return false;
	}
	numbering->regions->images[p->index] = image;
	return true;
}

static bool add_image_models(struct execution_regions *r, const struct region_image *image, struct error *err)
{
	size_t words = r->machines * sizeof(struct model_counts) / sizeof(uint64_t);
	uint64_t got, *all, offset = image->record ? image->record->models : 0;
	uint64_t alone = offset + (uint64_t)RECORD_REGIONS_MOST * words * sizeof(uint64_t);
	if (!image->n_regions)
		return true;
	if (!offset) {
		r->models_why = "the engine kept no counts of the access stream by region";
		return true;
	}
	for (unsigned of_alone = 0; of_alone <= r->exclusive; of_alone++) {
		struct model_counts *sums = r->models + (of_alone ? r->n * r->machines : 0);
		if (!(all = injection_copy_words(image->injection, of_alone ? alone : offset,
						 (uint64_t)image->n_regions * words, &got)))
			return error_no_memory(err);
		for (uint64_t w = 0; w < got; w++) {
			uint64_t *to = (uint64_t *)&sums[image->index[w / words] * r->machines] + w % words;
			if (__builtin_add_overflow(*to, all[w], to))
				r->models_why = "a count of the access stream does not fit in 64 bits";
		}
		free(all);
	}
	return true;
}

/* Of all images that are counted. */
static bool add_models(struct execution_regions *r, bool children, const struct region_image *images,
		       struct error *err)
{
	if (r->machines == 0)
		return true;
	if (!(r->models = calloc(r->n * r->machines * (r->exclusive ? 2 : 1) + 1, sizeof *r->models)))
		return error_no_memory(err);
	for (size_t i = 0; i < r->n; i++) {
		r->all[i].models = &r->models[i * r->machines];
		r->all[i].models_alone = r->exclusive ? &r->models[(r->n + i) * r->machines] : NULL;
	}
	for (const struct region_image *image = images; image; image = image->next)
		if ((children || image->count) && !add_image_models(r, image, err))
			return false;
	return true;
}

bool regions_new(const struct view *view, size_t n_asked, bool children, size_t machines,
		 struct execution_regions **out, struct error *err)
{
	struct execution_regions *r = calloc(1, sizeof *r);
	struct region_numbering numbering = {.regions = r};
	bool done = false;
	*out = NULL;
	if (!r || !(r->images = calloc(view->n_processes + 1, sizeof(struct region_image *)))) {
		error_no_memory(err);
		goto out;
	}
	r->view = view, r->n_processes = view->n_processes, r->n_asked = n_asked, r->machines = machines;
	r->exclusive = (injection_record(view->injection)->flags & RECORD_EXCLUSIVE) != 0;
	for (size_t i = 0; i < n_asked; i++)
		if (!vec_push(&numbering.all, ((struct counted_region){.asked = true}))) {
			error_no_memory(err);
			goto out;
		}
	for (size_t i = 0; i < view->n_processes; i++) {
		const struct view_process *p = &view->processes[i];
		if (p->record->state != RECORD_FREE && p->record->regions &&
		    !add_image(&numbering, p, children || !p->descendant, err))
			goto out;
	}
	r->all = numbering.all.items, r->n = numbering.all.count;
	done = add_models(r, children, numbering.images, err);
out:
	if (r) {
		r->all = numbering.all.items, r->n = numbering.all.count;
		if (!done) {
			for (struct region_image *image = numbering.images, *next; image; image = next) {
				next = image->next;
				free_image(image);
			}
			free(r->images), free(r->all), free(r->models), free(r);
			r = NULL;
		}
	}
	free(numbering.slots);
	*out = done ? r : NULL;
	return done;
}

void regions_free(struct execution_regions *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < r->n_processes; i++) {
		struct region_image *image = r->images[i];
		for (size_t k = i; image && k < r->n_processes; k++)
			if (r->images[k] == image)
				r->images[k] = NULL;
		if (image)
			free_image(image);
	}
	free(r->images);
	free(r->all);
	free(r->models);
	free(r);
}

const uint32_t *regions_of(const struct execution_regions *r, const struct view_process *owner, uint32_t context,
			   uint32_t *n, bool *bad)
{
	const struct region_image *image = r->images[owner->index];
	*n = 0;
	if (!image || context >= image->n_contexts) {
		*bad = true;
		return NULL;
	}
	*n = image->contexts[context].n;
	return image->members + image->contexts[context].first;
}

size_t regions_index(const struct execution_regions *r, const struct view_process *process, uint32_t local)
{
	const struct region_image *image = r->images[process->index];
	return image && local < image->n_regions ? image->index[local] : SIZE_MAX;
}

uint32_t regions_local_count(const struct execution_regions *r, const struct view_process *process)
{
	return r->images[process->index] ? r->images[process->index]->n_regions : 0;
}
