#include "profile/collect.h"

#include <stdlib.h>
#include <string.h>

#include "base/str.h"
#include "profile/space.h"

enum { UNWIND_ENDS = UNWIND_BROKEN + 1 };
enum { CALLERS_MOST = 1024 }; /* of one stack: the kernel's own bound is sysctl kernel.perf_event_max_stack */

/* linux/perf_event.h: PERF_CONTEXT_MAX; what is above it in a chain of callers says whose callers follow. */
#define CONTEXT_MARKS ((uint64_t)-4095)
#define CONTEXT_KERNEL ((uint64_t)-128)
#define CONTEXT_USER ((uint64_t)-512)

struct collector {
	struct collect_options options;
	struct profile_builder builder;
	struct spaces spaces;
	uint64_t first_ns, last_ns;
	uint64_t unwound[UNWIND_ENDS]; /* how many stacks ended in which way */
};

/* Mappings that belong to no process. */
#define KERNEL_PID UINT32_MAX

bool collector_new(const struct collect_options *options, struct collector **out, struct error *err)
{
	struct collector *c = *out = calloc(1, sizeof *c);
	if (!c)
		return error_no_memory(err);
	c->options = *options;
	if (profile_builder_open(&c->builder))
		return true;
	free(c);
	*out = NULL;
	return error_no_memory(err);
}

void collector_free(struct collector *c)
{
	if (!c)
		return;
	profile_builder_close(&c->builder);
	spaces_free(&c->spaces);
	free(c);
}

struct profile *collector_profile(struct collector *c) { return c->builder.out; }

bool collector_note(struct collector *c, const char *note, struct error *err)
{
	return profile_builder_note(&c->builder, note) || error_no_memory(err);
}

/* ---- places ---- */

static uint32_t module_of_mapping(struct collector *c, const struct sampled_mapping *mapping)
{
	struct profile_module module = {.kind = MODULE_FILE, .path = mapping->path ? mapping->path : ""};
	if (strcmp(module.path, "[vdso]") == 0)
		module.kind = MODULE_VDSO;
	else if (mapping->pid == KERNEL_PID)
		module = (struct profile_module){.kind = MODULE_KERNEL, .path = "[kernel]"};
	else if (module.path[0] != '/' || module.path[1] == '/') /* "//anon", "[heap]", "" */
		module = (struct profile_module){.kind = MODULE_ANONYMOUS, .path = "", .pid = mapping->pid};
	if (module.kind == MODULE_FILE && mapping->build_id && mapping->build_id_bytes <= sizeof module.build_id) {
		memcpy(module.build_id, mapping->build_id, mapping->build_id_bytes);
		module.build_id_bytes = (uint8_t)mapping->build_id_bytes;
	}
	return profile_builder_module(&c->builder, &module);
}

/* Where an address is. False when memory ran out. */
static bool place_of(struct collector *c, uint32_t pid, bool kernel, uint64_t address, uint32_t *module,
		     uint64_t *offset)
{
	const struct space_mapping *mapping = kernel ? NULL : spaces_find(&c->spaces, pid, address);
	struct profile_module other = {.kind = kernel ? MODULE_KERNEL : MODULE_UNKNOWN,
				       .path = kernel ? "[kernel]" : "[unknown]"};
	*module = mapping ? mapping->module : profile_builder_module(&c->builder, &other);
	*offset = mapping ? mapping->offset + (address - mapping->low) : address;
	return *module != PROFILE_NO_INDEX;
}

static bool mapping(void *context, const struct sampled_mapping *m, struct error *err)
{
	struct collector *c = context;
	if (!m->executable || m->pid == KERNEL_PID)
		return true;
	struct space_mapping place = {.low = m->address,
				      .high = m->address + m->bytes < m->address ? UINT64_MAX
										 : m->address + m->bytes,
				      .module = module_of_mapping(c, m)};
	if (place.module == PROFILE_NO_INDEX)
		return error_no_memory(err);
	enum profile_module_kind kind = c->builder.out->modules[place.module].kind;
	place.offset = kind == MODULE_ANONYMOUS ? m->address : kind == MODULE_VDSO ? 0 : m->offset;
	return spaces_map(&c->spaces, m->pid, &place) || error_no_memory(err);
}

/* ---- stacks ---- */

struct stack {
	uint64_t address[CALLERS_MOST];
	bool kernel[CALLERS_MOST];
	size_t n;
};

static void push_caller(struct stack *stack, uint64_t address, bool kernel)
{
	if (stack->n == CALLERS_MOST)
		return;
	stack->address[stack->n] = address;
	stack->kernel[stack->n++] = kernel;
}

/* For the unwinder: what is mapped in a sample's process. */
struct unwind_space {
	struct collector *collector;
	uint32_t pid;
};

static bool find_mapping(void *context, uint64_t address, struct unwind_mapping *out)
{
	const struct unwind_space *space = context;
	const struct space_mapping *m = spaces_find(&space->collector->spaces, space->pid, address);
	if (!m)
		return false;
	*out = (struct unwind_mapping){.address = m->low,
				       .bytes = m->high - m->low,
				       .offset = m->offset,
				       .path = space->collector->builder.out->modules[m->module].path};
	return true;
}

/* After SYSCALL rcx has the address that the program goes on at (AMD64 Architecture Programmer's Manual 3), and
 * its call is in front of that; after an interrupt or a fault the instruction itself is next. */
static uint64_t user_place(const struct sample *s, uint64_t address)
{
	enum { RCX = 2 };
	bool by_call = !s->registers || s->registers[RCX] == address;
	return by_call ? address : address + 1; /* as a return address: 1 is taken off it */
}

/* The callers without the marks, and without the sample's own address in front, which the kernel has there.
 * Returns where the user's callers begin. */
static size_t read_callers(const struct sample *s, struct stack *stack)
{
	bool kernel = s->kernel, first = true, first_of_user = s->kernel;
	size_t user = SIZE_MAX;
	stack->n = 0;
	for (size_t i = 0; i < s->n_callers; i++) {
		uint64_t address = s->callers[i];
		if (address >= CONTEXT_MARKS) {
			kernel = address == CONTEXT_KERNEL || (kernel && address != CONTEXT_USER);
			continue;
		}
		if (!kernel && first_of_user)
			address = user_place(s, address);
		if (!(first && address == s->address))
			push_caller(stack, address, kernel);
		first = false;
		if (!kernel && user == SIZE_MAX)
			user = stack->n;
		first_of_user = first_of_user && kernel;
	}
	return user == SIZE_MAX ? stack->n : user;
}

static struct unwind_sample copied_stack(const struct sample *s, struct unwind_space *space)
{
	return (struct unwind_sample){.machine = UNWIND_X86_64,
				      .registers = s->registers,
				      .stack = s->stack,
				      .stack_bytes = s->stack_bytes,
				      .mapping = find_mapping,
				      .context = space};
}

static void push_unwound(struct collector *c, const struct unwind_sample *copied, struct stack *stack)
{
	struct unwind_frame frames[CALLERS_MOST];
	enum unwind_end end;
	size_t n = unwind(c->options.unwinder, copied, frames, CALLERS_MOST, &end);
	c->unwound[end]++;
	for (size_t i = 0; i < n; i++)
		push_caller(stack, unwind_place(frames[i]) + 1, false);
}

static void insert_caller(struct stack *stack, size_t at, uint64_t address)
{
	if (stack->n == CALLERS_MOST)
		stack->n--;
	memmove(stack->address + at + 1, stack->address + at, (stack->n - at) * sizeof *stack->address);
	memmove(stack->kernel + at + 1, stack->kernel + at, (stack->n - at) * sizeof *stack->kernel);
	stack->address[at] = address;
	stack->kernel[at] = false;
	stack->n++;
}

/* The user's callers begin at `user`. Where the frame pointer is not of the code's own frame, either it still is
 * its caller's, whose callers follow; or the code uses the register for something else, and the chain leads
 * nowhere. */
static void mend_chain(struct collector *c, const struct unwind_sample *copied, size_t user, struct stack *stack)
{
	enum { FRAME_POINTER = 6, FRAME_WORDS = 16 };
	struct unwind_first first;
	enum unwind_end end;
	uint64_t frame_pointer = copied->registers[FRAME_POINTER];
	if (!unwind_first(c->options.unwinder, copied, &first, &end) || first.caller.interrupted ||
	    first.cfa == frame_pointer + FRAME_WORDS)
		return;
	if (first.has_frame_pointer && first.frame_pointer != frame_pointer) {
		stack->n = user;
		push_unwound(c, copied, stack);
	} else {
		insert_caller(stack, user < stack->n ? user : stack->n, first.caller.address);
	}
}

static void find_callers(struct collector *c, const struct sample *s, struct stack *stack)
{
	enum { PROGRAM_COUNTER = 16 };
	struct unwind_space space = {c, s->pid};
	size_t user = read_callers(s, stack);
	if (!c->options.unwinder || !s->stack || !s->registers)
		return;
	const struct unwind_sample copied = copied_stack(s, &space);
	if (c->options.stacks != STACKS_DWARF) {
		mend_chain(c, &copied, user, stack);
		return;
	}
	if (s->kernel)
		push_caller(stack, user_place(s, s->registers[PROGRAM_COUNTER]), false);
	push_unwound(c, &copied, stack);
}

/* The node of a sample; PROFILE_NO_INDEX when memory ran out. */
static uint32_t node_of(struct collector *c, const struct sample *s)
{
	struct stack stack;
	uint32_t node = 0, module;
	uint64_t offset;
	find_callers(c, s, &stack);
	for (size_t i = stack.n; i-- > 0 && node != PROFILE_NO_INDEX;) {
		uint64_t address = stack.address[i] ? stack.address[i] - 1 : 0;
		if (!place_of(c, s->pid, stack.kernel[i], address, &module, &offset))
			return PROFILE_NO_INDEX;
		node = profile_builder_node(&c->builder, node, module, offset);
	}
	if (node == PROFILE_NO_INDEX || !place_of(c, s->pid, s->kernel, s->address, &module, &offset))
		return PROFILE_NO_INDEX;
	return profile_builder_node(&c->builder, node, module, offset);
}

static bool sample(void *context, const struct sample *s, struct error *err)
{
	struct collector *c = context;
	if (s->event >= c->options.n_events)
		return error_set(err, ERROR_SYSTEM, "a sample is of event %u, and there are %zu: a defect of tare",
				 s->event, c->options.n_events);
	uint32_t node = node_of(c, s), task = profile_builder_task(&c->builder, s->pid, s->tid);
	if (node == PROFILE_NO_INDEX || task == PROFILE_NO_INDEX ||
	    !profile_builder_add(&c->builder, node, task, s->event, 1))
		return error_no_memory(err);
	if (!c->first_ns || s->time_ns < c->first_ns)
		c->first_ns = s->time_ns;
	if (s->time_ns > c->last_ns)
		c->last_ns = s->time_ns;
	struct profile_sample found = {.time_ns = s->time_ns,
				       .node = node,
				       .task = task,
				       .event = s->event,
				       .cpu = s->cpu,
				       .gap = s->gap};
	return !c->options.keep || c->options.keep(c->options.keep_context, c->builder.out, &found, err);
}

/* ---- tasks ---- */

static bool started(void *context, const struct sampled_task *t, struct error *err)
{
	struct collector *c = context;
	if (!spaces_fork(&c->spaces, t->parent_pid, t->pid))
		return error_no_memory(err);
	/* what it inherits: the name of the one that started it */
	uint32_t parent = profile_builder_task(&c->builder, t->parent_pid, t->parent_tid),
		 task = profile_builder_task(&c->builder, t->pid, t->tid);
	if (parent == PROFILE_NO_INDEX || task == PROFILE_NO_INDEX ||
	    !profile_builder_name_task(&c->builder, task, c->builder.out->tasks[parent].name))
		return error_no_memory(err);
	return true;
}

static bool named(void *context, const struct sampled_task *t, bool by_exec, struct error *err)
{
	struct collector *c = context;
	uint32_t task = profile_builder_task(&c->builder, t->pid, t->tid);
	if (by_exec)
		spaces_clear(&c->spaces, t->pid);
	return (task != PROFILE_NO_INDEX &&
		profile_builder_name_task(&c->builder, task, t->name ? t->name : "")) ||
	       error_no_memory(err);
}

static bool ended(void *context, const struct sampled_task *t, struct error *err)
{
	/* Its mappings stay: other threads may run on, and samples of its last moments may follow. */
	(void)context, (void)t, (void)err;
	return true;
}

struct sampling_sink collector_sink(struct collector *c)
{
	return (struct sampling_sink){.context = c,
				      .sample = sample,
				      .mapping = mapping,
				      .started = started,
				      .named = named,
				      .ended = ended};
}

/* Stacks that are not whole: how many, and why. */
static bool note_stacks(struct collector *c)
{
	uint64_t all = 0;
	struct str text = {0};
	for (size_t end = 0; end < UNWIND_ENDS; end++)
		all += c->unwound[end];
	if (all == c->unwound[UNWIND_WHOLE])
		return true;
	str_appendf(&text,
		    "%llu of %llu unwound stacks are cut:", (unsigned long long)(all - c->unwound[UNWIND_WHOLE]),
		    (unsigned long long)all);
	for (size_t end = 0; end < UNWIND_ENDS; end++)
		if (end != UNWIND_WHOLE && c->unwound[end])
			str_appendf(&text, " %llu %s", (unsigned long long)c->unwound[end],
				    unwind_end_name((enum unwind_end)end));
	bool done = !text.failed && profile_builder_note(&c->builder, text.text);
	str_free(&text);
	return done;
}

bool collector_finish(struct collector *c, struct profile **out, struct error *err)
{
	struct profile *p = c->builder.out;
	if (!note_stacks(c)) {
		collector_free(c);
		*out = NULL;
		return error_no_memory(err);
	}
	if (!p->first_ns)
		p->first_ns = c->first_ns;
	if (!p->last_ns)
		p->last_ns = c->last_ns;
	*out = profile_builder_finish(&c->builder);
	collector_free(c);
	return *out || error_no_memory(err);
}
