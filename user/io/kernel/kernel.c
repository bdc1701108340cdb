// SPDX-License-Identifier: Apache-2.0
/*
 * Opens, configures, loads and attaches the BPF programs, explains what goes wrong, and reads and
 * writes the maps that they and the daemon share.
 */
#include "io/kernel/kernel.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "core/cgroup/trust.h"
#include "graced.skel.h"
#include "io/files/fd.h"
#include "io/kernel/priv.h"
#include "io/kernel/programs.h"

int kern_probe_btf(void)
{
	_cleanup_(cleanup_btf__free) struct btf *btf = NULL;

	return types_open(&btf);
}

/* --- programs --------------------------------------------------------------------------------- */

#define RING_DEFAULT (2u << 20)
#define BATCH	     512 /* entries of a map that are read at once */

/* Which kernels get a program. */
enum flavour {
	EVERY,
	GROUP_DEAD,
	NO_GROUP_DEAD,
	OOM_TASK,
	OOM_PID,
	REAP,
	AGAIN,
};

/* In the order in which they are attached, and so run. Each is at a tracepoint, but for on_reap,
 * which is at a function. */
static const struct {
	const char *name, *tracepoint;
	enum flavour flavour;
	enum graced_hook hook;
} programs[KERN_PROGRAMS] = {
	{"on_signal", "signal_generate", EVERY, GRACED_HOOK_SIGNAL},
	{"on_exit_dead", "sched_process_exit", GROUP_DEAD, GRACED_HOOK_EXIT},
	{"on_exit_live", "sched_process_exit", NO_GROUP_DEAD, GRACED_HOOK_EXIT},
	{"on_exit_again", "sched_process_exit", AGAIN, GRACED_HOOK_EXIT_AGAIN},
	{"on_exec", "sched_process_exec", EVERY, GRACED_HOOK_EXEC},
	{"on_exec_again", "sched_process_exec", AGAIN, GRACED_HOOK_EXEC_AGAIN},
	{"on_oom_task", "mark_victim", OOM_TASK, GRACED_HOOK_OOM},
	{"on_oom_pid", "mark_victim", OOM_PID, GRACED_HOOK_OOM},
	{"on_deliver", "signal_deliver", EVERY, GRACED_HOOK_DELIVER},
	{"on_reap", "release_task", REAP, GRACED_HOOK_REAP},
	{"on_cgroup_mkdir", "cgroup_mkdir", EVERY, GRACED_HOOK_MKDIR},
	{"on_cgroup_rmdir", "cgroup_rmdir", EVERY, GRACED_HOOK_RMDIR},
	{"on_cgroup_populated", "cgroup_notify_populated", EVERY, GRACED_HOOK_POPULATED},
	{"on_cgroup_attach", "cgroup_attach_task", EVERY, GRACED_HOOK_ATTACH},
};

__attribute__((format(printf, 2, 3))) static void explain(struct kern_why *why, const char *format,
							  ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
}

static void explain_load(struct kern_why *why, int r)
{
	if (r == -EPERM)
		explain(why, "loading BPF programs is not permitted; run as root, or with CAP_BPF "
			     "and CAP_PERFMON");
	else if (r == -ENOMEM)
		explain(why,
			"no memory for the BPF maps or programs; raise the memory limit, or choose a "
			"smaller --ring-size");
	else if (r == -EACCES || r == -EINVAL || r == -E2BIG)
		explain(why,
			"this kernel refuses a BPF program (%s); graced check says which, "
			"--debug says why",
			strerror(-r));
	else
		explain(why, "cannot load the BPF programs: %s; --debug says more", strerror(-r));
}

/* libbpf's hook carries no pointer of ours. */
static void (*debug_fn)(const char *format, va_list args);

static int print_debug(enum libbpf_print_level level, const char *format, va_list args)
{
	debug_fn(format, args);
	return 0;
}

static int probe_ssid(const struct btf *btf, const struct hierarchy *h, int *ret,
		      struct kern_why *why)
{
	char member[64];
	int r;

	if (h->unified) {
		*ret = -1;
		return 0;
	}
	/* The controller that /proc/cgroups calls blkio is named io in the kernel. */
	snprintf(member, sizeof(member), "%s_cgrp_id", strcmp(h->name, "blkio") ? h->name : "io");
	r = types_enum_value(btf, "cgroup_subsys_id", member, ret);
	if (r < 0)
		explain(why, "this kernel has no cgroup controller '%s'; see /proc/cgroups",
			h->name);
	return r;
}

/* Not every kernel that has a function lets a program be loaded for it. */
static bool probe_function(const struct btf *btf, const char *name)
{
	/* r0 = 0; exit */
	static const struct bpf_insn nothing[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};
	LIBBPF_OPTS(bpf_prog_load_opts, opts, .expected_attach_type = BPF_TRACE_FENTRY);
	int fd, id = types_find_function(btf, name);

	if (id < 0)
		return false;
	opts.attach_btf_id = (__u32)id;
	fd = bpf_prog_load(BPF_PROG_TYPE_TRACING, "probe", "GPL", nothing, 2, &opts);
	if (fd >= 0)
		close(fd);
	return fd >= 0;
}

static int probe(struct kern *kern, const struct btf *btf, const struct kern_options *options,
		 struct kern_why *why)
{
	int r = probe_ssid(btf, options->hierarchy, &kern->ssid, why);

	kern->flavours.group_dead =
		!options->no_group_dead && types_arg_is_bool(btf, "sched_process_exit", 1);
	kern->flavours.oom_task = types_arg_is_struct(btf, "mark_victim", 0, "task_struct");
	kern->flavours.reap = probe_function(btf, "release_task");
	kern->flavours.again = kern->flavours.group_dead && types_preempt_tracepoints(btf);
	for (unsigned int i = 0; r >= 0 && i < KERN_PROGRAMS; i++) {
		if (programs[i].flavour == REAP ||
		    types_find_tracepoint(btf, programs[i].tracepoint) >= 0)
			continue;
		explain(why,
			"this kernel has no tracepoint %s; it is too old, or was built without "
			"CONFIG_TRACEPOINTS",
			programs[i].tracepoint);
		r = -ENOENT;
	}
	return r;
}

static bool is_wanted(const struct kern_flavours *f, enum flavour flavour)
{
	switch (flavour) {
	case GROUP_DEAD:
		return f->group_dead;
	case NO_GROUP_DEAD:
		return !f->group_dead;
	case OOM_TASK:
		return f->oom_task;
	case OOM_PID:
		return !f->oom_task;
	case REAP:
		return f->reap;
	case AGAIN:
		return f->again;
	case EVERY:
		break;
	}
	return true;
}

static struct bpf_program *program_at(const struct kern *kern, unsigned int i)
{
	return bpf_object__find_program_by_name(kern->skel->obj, programs[i].name);
}

static int count_step(void *userdata, const struct graced_step *from, uint32_t part)
{
	++*(uint32_t *)userdata;
	return 0;
}

static int add_step(void *userdata, const struct graced_step *from, uint32_t part)
{
	const int *fd = userdata;

	return bpf_map_update_elem(*fd, from, &part, BPF_ANY) < 0 ? -errno : 0;
}

static int configure(struct kern *kern, const struct kern_options *options, const char *only)
{
	struct graced_bpf *skel = kern->skel;
	size_t ring = options->ring_bytes ? options->ring_bytes : RING_DEFAULT;
	uint32_t steps = 0;
	int r;

	skel->rodata->cfg_ssid = kern->ssid;
	skel->rodata->cfg_hierarchy_id = options->hierarchy->id;
	skel->rodata->cfg_wake_bytes = ring / 4;
	skel->rodata->cfg_memory_ids = options->hierarchy->memory_ids;
	skel->rodata->cfg_page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
	skel->rodata->cfg_services = options->services;
	skel->rodata->cfg_all = options->all;
	skel->rodata->cfg_again = kern->flavours.again && !only;
	skel->rodata->cfg_delegated = options->roots && *options->roots;
	skel->rodata->cfg_part = cgtrust_part_else(options->roots);
	for (unsigned int i = 0; i < KERN_PROGRAMS; i++) {
		struct bpf_program *prog = program_at(kern, i);

		if (!prog)
			return -ENOENT;
		kern->wanted[i] = is_wanted(&kern->flavours, programs[i].flavour) &&
				  (!only || strcmp(only, programs[i].name) == 0);
		kern->raw[i] = strncmp(bpf_program__section_name(prog), "raw_tp/", 7) == 0;
		bpf_program__set_autoload(prog, kern->wanted[i]);
	}
	bpf_program__set_autoload(skel->progs.set_kind, !only);
	bpf_program__set_autoload(skel->progs.set_stop, !only);
	bpf_program__set_autoload(skel->progs.delete_watch, !only);
	cgtrust_each_step(options->roots, count_step, &steps);
	r = bpf_map__set_max_entries(skel->maps.steps, steps ?: 1);
	return r < 0 ? r : bpf_map__set_max_entries(skel->maps.ring, (__u32)ring);
}

DEFINE_CLEANUP(struct kern *, kern_free);

/* Its relocations look for types in a file, which is written once it is known which these are. */
static int open_with_types(struct kern *kern, const struct btf *btf, int *ret_types)
{
	_cleanup_(cleanup_close) int fd = memfd_create("graced-types", MFD_CLOEXEC);
	LIBBPF_OPTS(bpf_object_open_opts, opts);
	char path[32];
	int r;

	if (fd < 0)
		return -errno;
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	opts.btf_custom_path = path;
	kern->skel = graced_bpf__open_opts(&opts);
	if (!kern->skel)
		return -errno;
	r = types_extract(btf, bpf_object__btf(kern->skel->obj), fd);
	if (r >= 0)
		*ret_types = TAKE_FD(fd);
	return r;
}

/* Where that file cannot be made, libbpf reads the types itself, which takes longer. */
static int open_object(struct kern *kern, const struct btf *btf, int *ret_types)
{
	if (open_with_types(kern, btf, ret_types) >= 0)
		return 0;
	graced_bpf__destroy(kern->skel);
	kern->skel = graced_bpf__open();
	return kern->skel ? 0 : -errno;
}

/* Maps and programs, as configured. */
static int load_object(struct kern *kern, struct programs *set)
{
	int r = graced_bpf__load(kern->skel);

	if (r >= 0)
		r = programs_load(set, debug_fn);
	if (r < 0)
		return r;
	for (unsigned int i = 0; i < KERN_PROGRAMS; i++)
		kern->program_fds[i] = programs_take_fd(set, programs[i].name);
	kern->set_kind_fd = programs_take_fd(set, "set_kind");
	kern->set_stop_fd = programs_take_fd(set, "set_stop");
	kern->delete_fd = programs_take_fd(set, "delete_watch");
	return 0;
}

static int load_configured(struct kern *kern, const struct kern_options *options,
			   const struct btf *btf, const char *only, struct kern_why *why)
{
	_cleanup_(cleanup_programs_free) struct programs *set = NULL;
	_cleanup_(cleanup_close) int types = -1;
	int steps, r = probe(kern, btf, options, why);

	if (r < 0)
		return r;
	r = programs_new(btf, &set);
	if (r >= 0)
		r = open_object(kern, btf, &types);
	if (r >= 0)
		r = configure(kern, options, only);
	if (r < 0) {
		explain(why, "cannot open the BPF object: %s", strerror(-r));
		return r;
	}
	r = load_object(kern, set);
	if (r >= 0) {
		steps = bpf_map__fd(kern->skel->maps.steps);
		r = cgtrust_each_step(options->roots, add_step, &steps);
	}
	if (r < 0)
		explain_load(why, r);
	return r;
}

/* Takes what is used of the object from now on: all that libbpf has of it is 280 KiB. */
static int leave_object(struct kern *kern)
{
	const struct {
		struct bpf_map *map;
		int *fd;
	} used[] = {
		{kern->skel->maps.ring, &kern->ring_fd},
		{kern->skel->maps.watched, &kern->watched_fd},
		{kern->skel->maps.inits, &kern->inits_fd},
		{kern->skel->maps.stats, &kern->stats_fd},
		{kern->skel->maps.noisy, &kern->noisy_fd},
		{kern->skel->maps.costs, &kern->costs_fd},
	};
	void *bss = mmap(NULL, sizeof(*kern->bss), PROT_READ | PROT_WRITE, MAP_SHARED,
			 bpf_map__fd(kern->skel->maps.bss), 0);

	if (bss == MAP_FAILED)
		return -errno;
	kern->bss = bss;
	for (size_t i = 0; i < sizeof(used) / sizeof(*used); i++) {
		*used[i].fd = fcntl(bpf_map__fd(used[i].map), F_DUPFD_CLOEXEC, 3);
		if (*used[i].fd < 0)
			return -errno;
	}
	graced_bpf__destroy(kern->skel);
	kern->skel = NULL;
	return 0;
}

static struct kern *alloc_kern(void)
{
	struct kern *kern = calloc(1, sizeof(*kern));

	if (!kern)
		return NULL;
	kern->cpus = libbpf_num_possible_cpus();
	for (unsigned int i = 0; i < KERN_PROGRAMS; i++)
		kern->program_fds[i] = kern->links[i] = -1;
	kern->renames[0] = kern->renames[1] = -1;
	kern->set_kind_fd = kern->set_stop_fd = kern->delete_fd = -1;
	kern->ring_fd = kern->watched_fd = kern->inits_fd = -1;
	kern->stats_fd = kern->noisy_fd = kern->costs_fd = -1;
	return kern;
}

static int new_with(const struct kern_options *options, const char *only, struct kern **ret,
		    struct kern_why *why)
{
	_cleanup_(cleanup_kern_free) struct kern *kern = alloc_kern();
	_cleanup_(cleanup_btf__free) struct btf *btf = NULL;
	int r;

	debug_fn = options->debug;
	libbpf_set_print(debug_fn ? print_debug : NULL);
	explain(why, "out of memory");
	if (!kern)
		return -ENOMEM;
	r = types_open(&btf);
	if (r == -ENOENT)
		explain(why,
			"this kernel offers no BTF at /sys/kernel/btf/vmlinux; it must be built with "
			"CONFIG_DEBUG_INFO_BTF");
	else if (r < 0)
		explain(why, "cannot read /sys/kernel/btf/vmlinux: %s", strerror(-r));
	if (r < 0)
		return r;
	r = load_configured(kern, options, btf, only, why);
	if (r < 0)
		return r;
	r = leave_object(kern);
	if (r < 0) {
		explain(why, "cannot map the variables of the BPF programs: %s", strerror(-r));
		return r;
	}
	*ret = TAKE_PTR(kern);
	return 0;
}

int kern_new(const struct kern_options *options, struct kern **ret, struct kern_why *ret_why)
{
	return new_with(options, NULL, ret, ret_why);
}

int kern_try_program(const struct kern_options *options, const char *name, struct kern_why *ret_why)
{
	struct kern *kern;
	int r = new_with(options, name, &kern, ret_why);

	if (r >= 0)
		kern_free(kern);
	return r;
}

/* A program can be loaded, and only attaching says whether it can be attached. */
static void do_without_reaps(struct kern *kern, unsigned int i)
{
	kern->wanted[i] = false;
	kern->flavours.reap = false;
}

/* A program that is loaded for a type has its tracepoint from there. */
static int attach_program(const struct kern *kern, unsigned int i)
{
	int fd = bpf_raw_tracepoint_open(kern->raw[i] ? programs[i].tracepoint : NULL,
					 kern->program_fds[i]);

	return fd < 0 ? -errno : fd;
}

/* Only a v1 hierarchy renames cgroups, and then one goes and one comes. */
static int attach_to_renames(struct kern *kern)
{
	static const enum graced_hook in_order[] = {GRACED_HOOK_RMDIR, GRACED_HOOK_MKDIR};

	if (kern->ssid < 0)
		return 0;
	for (size_t i = 0; i < 2; i++) {
		unsigned int at = 0;

		while (programs[at].hook != in_order[i])
			at++;
		kern->renames[i] = bpf_raw_tracepoint_open("cgroup_rename", kern->program_fds[at]);
		if (kern->renames[i] < 0)
			return -errno;
	}
	return 0;
}

int kern_attach(struct kern *kern, struct kern_why *ret_why)
{
	int r;

	for (unsigned int i = 0; i < KERN_PROGRAMS; i++) {
		if (!kern->wanted[i])
			continue;
		r = kern->links[i] = attach_program(kern, i);
		if (r < 0 && programs[i].flavour == REAP) {
			do_without_reaps(kern, i);
		} else if (r < 0) {
			explain(ret_why, "cannot attach to tracepoint %s: %s",
				programs[i].tracepoint, strerror(-r));
			kern_detach(kern);
			return r;
		}
	}
	kern->bss->reaps_seen = kern->flavours.reap;
	r = attach_to_renames(kern);
	if (r < 0) {
		explain(ret_why, "cannot attach to tracepoint cgroup_rename: %s", strerror(-r));
		kern_detach(kern);
	}
	return r;
}

/* Closes descriptors, and skips negative ones. */
static void close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		cleanup_close(fds + i);
		fds[i] = -1;
	}
}

void kern_detach(struct kern *kern)
{
	close_all(kern->renames, 2);
	close_all(kern->links, KERN_PROGRAMS);
}

struct kern *kern_free(struct kern *kern)
{
	if (kern) {
		int *const fds[] = {&kern->ring_fd,	&kern->watched_fd,  &kern->inits_fd,
				    &kern->stats_fd,	&kern->noisy_fd,    &kern->costs_fd,
				    &kern->set_kind_fd, &kern->set_stop_fd, &kern->delete_fd};

		kern_detach(kern);
		close_all(kern->program_fds, KERN_PROGRAMS);
		for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
			close_all(fds[i], 1);
		if (kern->bss)
			munmap(kern->bss, sizeof(*kern->bss));
		graced_bpf__destroy(kern->skel);
	}
	free(kern);
	return NULL;
}

void kern_get_flavours(const struct kern *kern, struct kern_flavours *ret)
{
	*ret = kern->flavours;
}

unsigned int kern_attached(const struct kern *kern)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < KERN_PROGRAMS; i++)
		n += kern->links[i] >= 0;
	return n;
}

/* What was timed stands for all ticks. Without memory for it the cost is that of nothing. */
static void add_cost(const struct kern *kern, __u32 hook, struct kern_program *program)
{
	_cleanup_(cleanup_free) struct graced_cost *cpu = calloc((size_t)kern->cpus, sizeof(*cpu));

	if (!cpu || bpf_map_lookup_elem(kern->costs_fd, &hook, cpu) < 0)
		return;
	for (int i = 0; i < kern->cpus; i++) {
		program->run_ns += cpu[i].run_ns * GRACED_COST_SHARE;
		program->runs += cpu[i].runs * GRACED_COST_SHARE;
	}
}

static uint64_t misses_of(const struct kern *kern, unsigned int index)
{
	struct bpf_prog_info info = {};
	__u32 size = sizeof(info);

	if (!kern->wanted[index] ||
	    bpf_obj_get_info_by_fd(kern->program_fds[index], &info, &size) < 0)
		return 0;
	return info.recursion_misses;
}

int kern_get_program(const struct kern *kern, unsigned int index, struct kern_program *ret)
{
	if (index >= KERN_PROGRAMS)
		return -ENOENT;
	*ret = (struct kern_program){
		.name = programs[index].name,
		.tracepoint = programs[index].tracepoint,
		.wanted = !kern || kern->wanted[index],
		.attached = kern && kern->links[index] >= 0,
		.optional = programs[index].flavour == REAP,
	};
	if (!kern || !ret->wanted)
		return 0;
	add_cost(kern, programs[index].hook, ret);
	return 0;
}

/* --- the maps ----------------------------------------------------------------------------------- */

int kern_ring_fd(const struct kern *kern)
{
	return kern->ring_fd;
}

void kern_wake_from(struct kern *kern, enum graced_urgency urgency)
{
	__atomic_store_n(&kern->bss->wakes_from, urgency, __ATOMIC_SEQ_CST);
}

int kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret)
{
	struct graced_watch watch;

	if (bpf_map_lookup_elem(kern->watched_fd, &id, &watch) < 0)
		return -errno;
	*ret = watch;
	return 0;
}

/* What deletes an entry, here or in the kernel half, decrements the count. */
static int noisy_delete(struct kern *kern, uint64_t id)
{
	if (bpf_map_delete_elem(kern->noisy_fd, &id) < 0)
		return -errno;
	__atomic_fetch_sub(&kern->bss->noisy_any, 1, __ATOMIC_SEQ_CST);
	return 0;
}

int kern_noisy_set(struct kern *kern, uint64_t id, bool on)
{
	struct graced_watch watch;
	__u8 one = 1;
	int r;

	if (!on) {
		r = noisy_delete(kern, id);
		return r == -ENOENT ? 0 : r;
	}
	/* Counted first: the kernel half may take it off as soon as it is there. */
	__atomic_fetch_add(&kern->bss->noisy_any, 1, __ATOMIC_SEQ_CST);
	if (bpf_map_update_elem(kern->noisy_fd, &id, &one, BPF_NOEXIST) < 0) {
		r = -errno;
		__atomic_fetch_sub(&kern->bss->noisy_any, 1, __ATOMIC_SEQ_CST);
		return r == -EEXIST ? 0 : r;
	}
	/* Gone before the entry was there, it would never be taken off. */
	r = kern_watch_get(kern, id, &watch);
	if (r < 0)
		noisy_delete(kern, id);
	return r;
}

static int change(int program, uint64_t id, uint64_t value)
{
	__u64 args[] = {id, value};
	LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = args, .ctx_size_in = sizeof(args));

	if (bpf_prog_test_run_opts(program, &run) < 0)
		return -errno;
	return run.retval ? 0 : -ENOENT;
}

int kern_watch_add(struct kern *kern, uint64_t id, const struct graced_watch *watch)
{
	struct graced_watch entry = *watch;

	entry.since_ns = GRACED_SINCE_UNKNOWN;
	if (bpf_map_update_elem(kern->watched_fd, &id, &entry, BPF_NOEXIST) < 0)
		return -errno;
	return kern_watch_set_kind(kern, id, watch->kind);
}

int kern_watch_delete(struct kern *kern, uint64_t id)
{
	return change(kern->delete_fd, id, 0);
}

int kern_watch_set_kind(struct kern *kern, uint64_t id, uint32_t kind)
{
	return change(kern->set_kind_fd, id, kind);
}

int kern_watch_set_stop(struct kern *kern, uint64_t id, unsigned int sig)
{
	if (sig > 64 || sig == SIGCHLD || sig == SIGCONT || sig == SIGURG)
		return -EINVAL;
	return change(kern->set_stop_fd, id, sig);
}

int kern_watch_each(const struct kern *kern, kern_watch_fn fn, void *userdata)
{
	_cleanup_(cleanup_free) struct graced_watch *values = calloc(BATCH, sizeof(*values));
	_cleanup_(cleanup_free) uint64_t *keys = calloc(BATCH, sizeof(*keys));
	uint64_t in, out, *from = NULL;
	bool last = false;
	int r = 0;

	if (!values || !keys)
		return -ENOMEM;
	while (r >= 0 && !last) {
		__u32 n = BATCH;

		if (bpf_map_lookup_batch(kern->watched_fd, from, &out, keys, values, &n, NULL) <
		    0) {
			if (errno != ENOENT)
				return -errno;
			last = true;
		}
		for (__u32 i = 0; r >= 0 && i < n; i++)
			r = fn(userdata, keys[i], values + i);
		in = out;
		from = &in;
	}
	return r < 0 ? r : 0;
}

void kern_limit_all(struct kern *kern, bool on)
{
	__atomic_store_n(&kern->bss->limit_all, on, __ATOMIC_SEQ_CST);
}

uint64_t kern_vain_kills(const struct kern *kern)
{
	return __atomic_load_n(&kern->bss->vain_kills, __ATOMIC_RELAXED);
}

int kern_init_add(struct kern *kern, uint64_t id, const struct graced_init *init)
{
	return bpf_map_update_elem(kern->inits_fd, &id, init, BPF_NOEXIST) < 0 ? -errno : 0;
}

int kern_init_get(const struct kern *kern, uint64_t id, struct graced_init *ret)
{
	struct graced_init init;

	if (bpf_map_lookup_elem(kern->inits_fd, &id, &init) < 0)
		return -errno;
	*ret = init;
	return 0;
}

int kern_init_set(struct kern *kern, uint64_t id, const struct graced_init *init)
{
	return bpf_map_update_elem(kern->inits_fd, &id, init, BPF_ANY) < 0 ? -errno : 0;
}

int kern_init_delete(struct kern *kern, uint64_t id, uint32_t pid)
{
	struct graced_init init;

	if (bpf_map_lookup_elem(kern->inits_fd, &id, &init) < 0)
		return -errno;
	if (init.pid != pid)
		return -ESTALE;
	return bpf_map_delete_elem(kern->inits_fd, &id) < 0 ? -errno : 0;
}

/* --- counters ----------------------------------------------------------------------------------- */

int kern_read_stats(const struct kern *kern, struct graced_stat *ret)
{
	_cleanup_(cleanup_free) struct graced_stat *cpu = NULL;
	struct graced_stat totals[GRACED_STAT_COUNT] = {};

	if (kern->cpus <= 0)
		return -EINVAL;
	cpu = calloc((size_t)kern->cpus, sizeof(*cpu));
	if (!cpu)
		return -ENOMEM;
	for (__u32 i = 0; i < GRACED_STAT_COUNT; i++) {
		if (bpf_map_lookup_elem(kern->stats_fd, &i, cpu) < 0)
			return -errno;
		for (int c = 0; c < kern->cpus; c++) {
			totals[i].emitted += cpu[c].emitted;
			totals[i].lost += cpu[c].lost;
			totals[i].suppressed += cpu[c].suppressed;
		}
	}
	for (__u32 i = 0; i < GRACED_STAT_COUNT; i++)
		ret[i] = totals[i];
	return 0;
}

/* What both programs were dropped for, or for now the first alone. */
static int64_t misses_of_both(const struct kern *kern, unsigned int i, unsigned int which)
{
	uint64_t again = __atomic_load_n(&kern->bss->again_runs[which], __ATOMIC_ACQUIRE);

	return (int64_t)(misses_of(kern, i) - again);
}

/* What on_reap() misses is looked for (core/engine/wait), and what a second program misses counts
 * where the first missed it, too. */
void kern_misses(const struct kern *kern, struct kern_misses *ret)
{
	static const enum graced_hook firsts[] = {GRACED_HOOK_EXIT, GRACED_HOOK_EXEC};

	*ret = (struct kern_misses){};
	for (unsigned int i = 0; i < KERN_PROGRAMS; i++) {
		unsigned int which = kern->flavours.again ? 0 : GRACED_AGAIN_COUNT;

		if (programs[i].flavour == REAP || programs[i].flavour == AGAIN || !kern->wanted[i])
			continue;
		while (which < GRACED_AGAIN_COUNT && firsts[which] != programs[i].hook)
			which++;
		if (which < GRACED_AGAIN_COUNT)
			ret->open += misses_of_both(kern, i, which);
		else
			ret->sure += misses_of(kern, i);
	}
}
