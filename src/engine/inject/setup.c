/*
 * What programs begin with: the engine's image, the record's first words, and the machines, regions and
 * translations that the options name, in one file that is sealed before the first program starts.
 */
#include <cpuid.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/test_option.h"
#include "engine/inject/injection_internal.h"
#include "engine/inject/kept.h"
#include "engine/wire/calls.h"
#include "engine/wire/kept.h"
#include "engine/wire/region.h"
#include "engine/wire/start.h"

extern const unsigned char engine_image[], engine_image_end[];

/* Of pieces that processes of one run share. */
#define SHARED_MOST_BYTES (128ull << 20)

int memory_file(const char *name)
{
	int fd = memfd_create(
		name, MFD_CLOEXEC | 0x8 /* MFD_NOEXEC_SEAL: Linux 6.3, and demanded where vm.memfd_noexec is 2 */);
	return fd >= 0 || errno != EINVAL ? fd : memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/* Three quarters of it are zeros: memory that the file need not hold, and pages of tare's that need not be
   read. */
bool setup_image(int fd)
{
	size_t bytes = (size_t)(engine_image_end - engine_image);
	uint64_t filled;
	memcpy(&filled, engine_image + START_FILLED_AT, sizeof filled);
	if (filled > bytes)
		filled = bytes;
	return pwrite(fd, engine_image, filled, 0) == (ssize_t)filled;
}

/* Where the bytes are in the image's file; 0 on failure. */
static uint64_t append_image(struct injection *injection, const void *bytes, size_t n)
{
	uint64_t offset = injection->how.image_bytes;
	injection->how.image_bytes += whole_pages(n);
	bool done = ftruncate(injection->how.image_fd, (off_t)injection->how.image_bytes) == 0 &&
		    pwrite(injection->how.image_fd, bytes, n, (off_t)offset) == (ssize_t)n;
	return done ? offset : 0;
}

/* Linux refuses F_SEAL_WRITE with EBUSY where it cannot tell within 150 ms that no page is in use elsewhere
 * (mm/memfd.c, memfd_wait_for_pins), which a busy machine is enough for. Nobody has mapped the image for writing,
 * so that F_SEAL_FUTURE_WRITE (5.1), which does not wait, forbids the same. */
static bool seal(int fd)
{
	const int size = F_SEAL_GROW | F_SEAL_SHRINK | F_SEAL_SEAL;
	if (fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE | size) == 0)
		return true;
	return errno == EBUSY && fcntl(fd, F_ADD_SEALS, F_SEAL_FUTURE_WRITE | size) == 0;
}

/* From now on nobody can change what programs begin with. */
bool setup_seal(struct injection *injection)
{
	injection->how.token = injection->how.record->token;
	injection->how.setup_offset = append_image(injection, injection->how.record,
						   sizeof *injection->how.record);
	return injection->how.setup_offset && seal(injection->how.image_fd);
}

/* What is to be done with the access stream. */
static bool set_trace(struct injection *injection, const struct injection_options *options)
{
	struct record_head *record = injection->how.record;
	size_t bytes = options->machine_count * options->machine_bytes;
	if (options->trace)
		record->flags |= RECORD_TRACE | (options->watch_count ? RECORD_SITES : 0) |
				 (options->watch_count && options->objects ? RECORD_OBJECTS : 0);
	if (options->calls)
		record->flags |= RECORD_TRACE | RECORD_CALLS | RECORD_NOT_INLINE |
				 (options->trace ? RECORD_ACCESSES : 0) |
				 (options->calls_alone ? RECORD_CALLS_ALONE : 0);
	if (options->exclusive)
		record->flags |= RECORD_EXCLUSIVE;
	if (options->times_calls)
		record->flags |= RECORD_CALL_TIMES | (options->caller ? RECORD_CALLED : 0u);
	record->call_event_count = (uint32_t)options->call_event_count;
	if (options->call_event_count)
		memcpy(record->call_events, options->call_events,
		       options->call_event_count * sizeof *options->call_events);
	const char *plain = test_option("TARE_CALLS_PLAIN");
	if (plain && !strcmp(plain, "1"))
		record->flags |= RECORD_CALLS_PLAIN;
	const char *inlined = test_option("TARE_MODEL_INLINE");
	if (inlined && !strcmp(inlined, "0"))
		record->flags |= RECORD_NOT_INLINE;
	if (options->overflow_period)
		record->flags |= RECORD_NOT_INLINE;
	record->overflow_period = options->overflow_period;
	record->overflow_skid = options->overflow_skid;
	record->trace_bytes = options->trace_bytes;
	record->watch_count = (uint32_t)options->watch_count;
	if (options->watch_count)
		memcpy(record->watches, options->watches, options->watch_count * sizeof *options->watches);
	record->machine_count = (uint32_t)options->machine_count;
	if (bytes == 0)
		return true;
	return (record->machines = append_image(injection, options->machines, bytes)) != 0;
}

/* The regions that are counted apart. */
static bool set_regions(struct injection *injection, const struct injection_options *options)
{
	struct record_head *record = injection->how.record;
	size_t bytes = options->region_ranges * sizeof(struct record_region_range);
	record->region_ranges = (uint32_t)options->region_ranges;
	record->region_count = (uint32_t)options->region_count;
	if (bytes == 0)
		return true;
	return (record->regions = append_image(injection, options->regions, bytes)) != 0;
}

/* Pieces that may be used: they are looked at where they cannot change any more. Of what cannot be had, or is not
 * right, nobody is told: the file's bytes are there for nothing then. */
static void take_pieces(struct injection *injection, const struct injection_options *options)
{
	enum { PART_BYTES = 128 << 10 };
	int fd = injection->how.image_fd;
	size_t n = options->kept_bytes, at = 0;
	uint64_t offset = injection->how.image_bytes;
	char *part = malloc(PART_BYTES);
	if (!part || ftruncate(fd, (off_t)(offset + whole_pages(n)))) {
		free(part);
		return;
	}
	injection->how.image_bytes += whole_pages(n);
	while (at < n) {
		ssize_t got = read(options->kept_fd, part, n - at < PART_BYTES ? n - at : PART_BYTES);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0 || pwrite(fd, part, (size_t)got, (off_t)(offset + at)) != got)
			break;
		at += (size_t)got;
	}
	free(part);
	/* private: a file that is mapped shared cannot be sealed */
	void *copy = at == n ? mmap(NULL, n, PROT_READ, MAP_PRIVATE, fd, (off_t)offset) : MAP_FAILED;
	if (copy == MAP_FAILED)
		return;
	if (options->kept_right(options->kept_context, copy, n))
		injection->how.record->kept = offset, injection->how.record->kept_bytes = n;
	munmap(copy, n);
}

/* Translations: those that are kept, and what some are to be made of. */
static bool set_kept(struct injection *injection, const struct injection_options *options)
{
	struct record_head *record = injection->how.record;
	size_t modules = options->make_modules * sizeof *options->make,
	       hints = options->make_hint_count * sizeof *options->make_hints;
	if (options->kept_bytes)
		take_pieces(injection, options);
	if (!modules)
		return true;
	char *both = malloc(modules + hints);
	if (!both)
		return false;
	memcpy(both, options->make, modules);
	memcpy(both + modules, options->make_hints, hints);
	record->make_modules = (uint32_t)options->make_modules;
	record->make_hints = (uint32_t)options->make_hint_count;
	record->make = append_image(injection, both, modules + hints);
	free(both);
	return record->make != 0;
}

bool setup_options(struct injection *injection, const struct injection_options *options)
{
	return set_trace(injection, options) && set_regions(injection, options) && set_kept(injection, options);
}

uint64_t setup_image_bytes(void) { return whole_pages((uint64_t)(engine_image_end - engine_image)); }

bool setup_renew(const struct takeover *how, const void *pieces, size_t bytes, struct takeover *fresh)
{
	struct injection next = {.how = {.image_fd = -1, .image_bytes = setup_image_bytes()}};
	struct record_head setup;
	/* of the image, not the record: that one programs may have written over */
	if (pread(how->image_fd, &setup, sizeof setup, (off_t)how->setup_offset) != (ssize_t)sizeof setup ||
	    setup.machines || setup.regions || bytes > SHARED_MOST_BYTES - setup.kept_bytes)
		return false;
	char *all = malloc(setup.kept_bytes + bytes);
	bool done = all && (setup.kept_bytes == 0 || pread(how->image_fd, all, setup.kept_bytes,
							   (off_t)setup.kept) == (ssize_t)setup.kept_bytes);
	if (done) {
		memcpy(all + setup.kept_bytes, pieces, bytes);
		setup.kept_bytes += bytes;
		next.how.image_fd = memory_file("tare-engine");
		done = kept_sound(all, setup.kept_bytes) && next.how.image_fd >= 0 &&
		       ftruncate(next.how.image_fd, (off_t)next.how.image_bytes) == 0 &&
		       setup_image(next.how.image_fd) &&
		       (setup.kept = append_image(&next, all, setup.kept_bytes)) &&
		       (next.how.setup_offset = append_image(&next, &setup, sizeof setup)) &&
		       seal(next.how.image_fd);
	}
	free(all);
	fresh->image_fd = next.how.image_fd;
	fresh->image_bytes = next.how.image_bytes, fresh->setup_offset = next.how.setup_offset;
	return done;
}

/* FNV-1a, by words: not against those who mean harm. */
uint64_t injection_engine_sum(void)
{
	uint64_t sum = 0xcbf29ce484222325u, filled, word;
	uint32_t r[8] = {0};
	memcpy(&filled, engine_image + START_FILLED_AT, sizeof filled);
	if (filled > (size_t)(engine_image_end - engine_image))
		filled = (size_t)(engine_image_end - engine_image);
	for (uint64_t at = 0; at + 8 <= filled; at += 8) {
		memcpy(&word, engine_image + at, 8);
		sum = (sum ^ word) * 0x100000001b3u;
	}
	__cpuid_count(0, 0, r[0], r[1], r[2], r[3]); /* the vendor: sysenter */
	__cpuid_count(7, 0, r[4], r[5], r[6], r[7]); /* BMI2 */
	return (((sum ^ r[1]) * 0x100000001b3u) ^ r[5]) * 0x100000001b3u;
}
