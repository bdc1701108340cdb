// SPDX-License-Identifier: Apache-2.0
/* Takes programs from libbpf as it loads them, and loads them by two threads. */
#include "io/kernel/programs.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/map.h"
#include "io/files/fd.h"

#define MAX_PROGRAMS 24
#define LICENSE	     "Dual BSD/GPL" /* as bpf/maps.bpf.c has it */
#define LOG_BYTES    (16u << 20)

/* How programs are loaded, by the section that each is in. libbpf is told that all are
 * BPF_PROG_TYPE_RAW_TRACEPOINT: for BPF_PROG_TYPE_TRACING it would read the kernel's BTF. */
static const struct section {
	const char *name;
	enum bpf_prog_type type;
	enum bpf_attach_type attach;
	int (*find)(const struct btf *kernel, const char *target);
} sections[] = {
	{"tp_btf+", BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP, types_find_tracepoint},
	{"fentry+", BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY, types_find_function},
	{"raw_tp+", BPF_PROG_TYPE_RAW_TRACEPOINT, 0, NULL},
};

#define SECTIONS (sizeof(sections) / sizeof(*sections))

struct taken {
	struct bpf_program *program;
	enum bpf_prog_type type;
	struct bpf_insn *insns;
	size_t n_insns;
	struct bpf_prog_load_opts opts;
	void *func_info, *line_info; /* what opts refers to */
	int fd;			     /* -1: not loaded, or taken */
	int error;
};

struct programs {
	const struct btf *kernel;
	struct taken taken[MAX_PROGRAMS];
	size_t count;
	atomic_size_t next; /* the first that no thread loads yet */
};

/* libbpf has one list of handlers for the process, and nothing takes the last one out of 1.1's. */
static struct programs *taking;

static void *copy(const void *data, size_t size)
{
	void *to = malloc(size ?: 1);

	if (to)
		memcpy(to, data, size);
	return to;
}

/* libbpf frees its own when the object is closed, or the program replaced. */
static int copy_program(struct taken *t, const struct bpf_prog_load_opts *opts)
{
	t->n_insns = bpf_program__insn_cnt(t->program);
	t->insns = copy(bpf_program__insns(t->program), t->n_insns * sizeof(*t->insns));
	t->func_info =
		copy(opts->func_info, (size_t)opts->func_info_cnt * opts->func_info_rec_size);
	t->line_info =
		copy(opts->line_info, (size_t)opts->line_info_cnt * opts->line_info_rec_size);
	if (!t->insns || !t->func_info || !t->line_info)
		return -ENOMEM;
	memcpy(&t->opts, opts, opts->sz < sizeof(t->opts) ? opts->sz : sizeof(t->opts));
	t->opts.sz = sizeof(t->opts);
	t->opts.func_info = t->opts.func_info_cnt ? t->func_info : NULL;
	t->opts.line_info = t->opts.line_info_cnt ? t->line_info : NULL;
	return 0;
}

/* What libbpf loads in its place, and what is said about it. */
static int leave_stub(struct bpf_program *program, struct bpf_prog_load_opts *opts)
{
	/* r0 = 0; exit */
	static struct bpf_insn stub[] = {
		{.code = BPF_ALU64 | BPF_MOV | BPF_K},
		{.code = BPF_JMP | BPF_EXIT},
	};

	opts->prog_btf_fd = 0;
	opts->func_info_cnt = 0;
	opts->line_info_cnt = 0;
	return bpf_program__set_insns(program, stub, 2);
}

static int find_target(const struct section *section, const char *target, struct taken *t)
{
	int id = target ? section->find(taking->kernel, target + 1) : -ENOENT;

	if (id < 0)
		return id;
	t->opts.attach_btf_id = (__u32)id;
	return 0;
}

/* libbpf is about to load it. */
static int take(struct bpf_program *program, struct bpf_prog_load_opts *opts, long index)
{
	const struct section *section = sections + index;
	struct taken *t;
	int r;

	if (!taking || taking->count >= MAX_PROGRAMS)
		return -EINVAL;
	t = taking->taken + taking->count++;
	t->program = program;
	t->type = section->type;
	t->fd = -1;
	r = copy_program(t, opts);
	if (r < 0)
		return r;
	t->opts.expected_attach_type = section->attach;
	if (section->find)
		r = find_target(section, strchr(bpf_program__section_name(program), '/'), t);
	return r < 0 ? r : leave_stub(program, opts);
}

static int register_sections(void)
{
	static bool registered;
	int r = 0;

	for (size_t i = 0; !registered && r >= 0 && i < SECTIONS; i++) {
		LIBBPF_OPTS(libbpf_prog_handler_opts, opts, .cookie = (long)i,
			    .prog_prepare_load_fn = take);

		r = libbpf_register_prog_handler(sections[i].name, BPF_PROG_TYPE_RAW_TRACEPOINT, 0,
						 &opts);
	}
	if (r < 0)
		return r;
	registered = true;
	return 0;
}

int programs_new(const struct btf *kernel, struct programs **ret)
{
	int r = register_sections();

	if (r < 0)
		return r;
	assert(!taking);
	taking = calloc(1, sizeof(*taking));
	if (!taking)
		return -ENOMEM;
	taking->kernel = kernel;
	*ret = taking;
	return 0;
}

struct programs *programs_free(struct programs *p)
{
	for (size_t i = 0; p && i < p->count; i++) {
		if (p->taken[i].fd >= 0)
			close(p->taken[i].fd);
		free(p->taken[i].insns);
		free(p->taken[i].func_info);
		free(p->taken[i].line_info);
	}
	free(p);
	taking = NULL;
	return NULL;
}

static int load_one(const struct taken *t, struct bpf_prog_load_opts *opts)
{
	return bpf_prog_load(t->type, bpf_program__name(t->program), LICENSE, t->insns, t->n_insns,
			     opts);
}

static void *work(void *userdata)
{
	struct programs *p = userdata;
	size_t i;

	while ((i = atomic_fetch_add(&p->next, 1)) < p->count) {
		int r = load_one(p->taken + i, &p->taken[i].opts);

		p->taken[i].fd = r < 0 ? -1 : r;
		p->taken[i].error = r < 0 ? r : 0;
	}
	return NULL;
}

/* Signals are for the thread that has a loop. */
static bool start_thread(struct programs *p, pthread_t *ret)
{
	sigset_t all, before;
	int r;

	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	r = pthread_create(ret, NULL, work, p);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	return r == 0;
}

static int by_size(const void *a, const void *b)
{
	const struct taken *x = a, *y = b;

	return (x->n_insns < y->n_insns) - (x->n_insns > y->n_insns);
}

__attribute__((format(printf, 2, 3))) static void
say(void (*debug)(const char *format, va_list args), const char *format, ...)
{
	va_list args;

	va_start(args, format);
	debug(format, args);
	va_end(args);
}

/* Once more, since the verifier writes its log only where it is asked to. */
static void explain(const struct taken *t, void (*debug)(const char *format, va_list args))
{
	_cleanup_(cleanup_free) char *log = calloc(1, LOG_BYTES);
	struct bpf_prog_load_opts opts = t->opts;
	int fd;

	if (!log)
		return;
	opts.log_buf = log;
	opts.log_size = LOG_BYTES;
	opts.log_level = 1;
	fd = load_one(t, &opts);
	if (fd >= 0)
		close(fd);
	say(debug, "the kernel refuses the program %s: %s\n%s", bpf_program__name(t->program),
	    strerror(-t->error), log);
}

int programs_load(struct programs *p, void (*debug)(const char *format, va_list args))
{
	bool threaded;
	pthread_t thread;

	/* The one that takes longest must not be the last. */
	qsort(p->taken, p->count, sizeof(*p->taken), by_size);
	threaded = p->count > 1 && start_thread(p, &thread);
	work(p);
	if (threaded)
		pthread_join(thread, NULL);
	for (size_t i = 0; i < p->count; i++) {
		bpf_program__unload(p->taken[i].program);
		if (p->taken[i].error && debug)
			explain(p->taken + i, debug);
	}
	for (size_t i = 0; i < p->count; i++)
		if (p->taken[i].error)
			return p->taken[i].error;
	return 0;
}

int programs_take_fd(struct programs *p, const char *name)
{
	for (size_t i = 0; i < p->count; i++)
		if (strcmp(bpf_program__name(p->taken[i].program), name) == 0)
			return TAKE_FD(p->taken[i].fd);
	return -1;
}

/* --- opening -------------------------------------------------------------------------------- */

static int read_btf(int fd, size_t size, struct btf **ret)
{
	_cleanup_(cleanup_free) char *data = malloc(size);
	ssize_t n = data ? fd_read_full(fd, data, size) : -ENOMEM;

	if (n < 0)
		return (int)n;
	*ret = btf__new(data, (__u32)n);
	return *ret ? 0 : -errno;
}

int types_open(struct btf **ret)
{
	_cleanup_(cleanup_close) int fd = open("/sys/kernel/btf/vmlinux", O_RDONLY | O_CLOEXEC);
	struct btf *btf;
	struct stat st;
	void *data;
	int r;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	data = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (data == MAP_FAILED)
		return read_btf(fd, (size_t)st.st_size, ret);
	btf = btf__new(data, (__u32)st.st_size);
	r = -errno;
	munmap(data, (size_t)st.st_size);
	if (!btf)
		return r;
	*ret = btf;
	return 0;
}

/* --- looking up ----------------------------------------------------------------------------- */

static const struct btf_type *skip_names(const struct btf *btf, __u32 id)
{
	const struct btf_type *t = btf__type_by_id(btf, id);

	while (t && (btf_is_mod(t) || btf_is_typedef(t)))
		t = btf__type_by_id(btf, t->type);
	return t;
}

/* The kernel declares `typedef void (*btf_trace_<name>)(void *data, arguments...)` for each. */
int types_find_tracepoint(const struct btf *kernel, const char *name)
{
	char full[128];
	int id;

	snprintf(full, sizeof(full), "btf_trace_%s", name);
	id = btf__find_by_name_kind(kernel, full, BTF_KIND_TYPEDEF);
	return id < 0 ? -ENOENT : id;
}

int types_find_function(const struct btf *kernel, const char *name)
{
	int id = btf__find_by_name_kind(kernel, name, BTF_KIND_FUNC);

	return id < 0 ? -ENOENT : id;
}

static const struct btf_type *tracepoint_proto(const struct btf *btf, const char *tracepoint)
{
	int id = types_find_tracepoint(btf, tracepoint);
	const struct btf_type *t;

	if (id < 0)
		return NULL;
	t = skip_names(btf, (__u32)id);
	if (!t || !btf_is_ptr(t))
		return NULL;
	t = btf__type_by_id(btf, t->type);
	return t && btf_is_func_proto(t) ? t : NULL;
}

static const struct btf_type *argument(const struct btf *btf, const char *tracepoint, int arg)
{
	const struct btf_type *proto = tracepoint_proto(btf, tracepoint);

	if (!proto || arg < 0 || arg + 1 >= btf_vlen(proto))
		return NULL;
	return skip_names(btf, btf_params(proto)[arg + 1].type);
}

bool types_arg_is_struct(const struct btf *kernel, const char *tracepoint, int arg,
			 const char *name)
{
	const struct btf_type *t = argument(kernel, tracepoint, arg);
	const char *found;

	if (!t || !btf_is_ptr(t))
		return false;
	t = skip_names(kernel, t->type);
	if (!t || !btf_is_struct(t))
		return false;
	found = btf__name_by_offset(kernel, t->name_off);
	return found && strcmp(found, name) == 0;
}

bool types_arg_is_bool(const struct btf *kernel, const char *tracepoint, int arg)
{
	const struct btf_type *t = argument(kernel, tracepoint, arg);

	return t && btf_is_int(t) && btf_int_encoding(t) & BTF_INT_BOOL;
}

bool types_preempt_tracepoints(const struct btf *kernel)
{
	return btf__find_by_name_kind(kernel, "tracepoint_srcu_srcu_data", BTF_KIND_VAR) >= 0;
}

int types_enum_value(const struct btf *kernel, const char *enum_name, const char *member, int *ret)
{
	int id = btf__find_by_name_kind(kernel, enum_name, BTF_KIND_ENUM);
	const struct btf_type *t;

	if (id < 0)
		return -ENOENT;
	t = btf__type_by_id(kernel, (__u32)id);
	for (int i = 0; t && i < btf_vlen(t); i++) {
		const struct btf_enum *e = btf_enum(t) + i;
		const char *name = btf__name_by_offset(kernel, e->name_off);

		if (name && strcmp(name, member) == 0) {
			*ret = e->val;
			return 0;
		}
	}
	return -ENOENT;
}

/* --- extracting ----------------------------------------------------------------------------- */

struct extract {
	const struct btf *from;
	struct btf *to;
	uint32_t *ids; /* in `to`, by those in `from`; 0: not there */
	int pointer;   /* to void: stands for all, since no relocation follows one */
};

/* What is a root of relocations. */
static bool is_root(const struct btf_type *t)
{
	return btf_is_composite(t) || btf_is_any_enum(t) || btf_is_typedef(t);
}

static int copy_type(struct extract *x, uint32_t id);

/* `to` moves when a type is added. */
static struct btf_type *copied(const struct extract *x, uint32_t id)
{
	return (struct btf_type *)btf__type_by_id(x->to, x->ids[id]);
}

static int copy_members(struct extract *x, uint32_t id, const struct btf_type *t)
{
	for (int i = 0; i < btf_vlen(t); i++) {
		int type = copy_type(x, btf_members(t)[i].type);

		if (type < 0)
			return type;
		btf_members(copied(x, id))[i].type = (uint32_t)type;
	}
	return 0;
}

static int copy_array(struct extract *x, uint32_t id, const struct btf_type *t)
{
	int element = copy_type(x, btf_array(t)->type);
	int index = element < 0 ? element : copy_type(x, btf_array(t)->index_type);

	if (index < 0)
		return index;
	btf_array(copied(x, id))->type = (uint32_t)element;
	btf_array(copied(x, id))->index_type = (uint32_t)index;
	return 0;
}

static int copy_named(struct extract *x, uint32_t id, const struct btf_type *t)
{
	int type = copy_type(x, t->type);

	if (type < 0)
		return type;
	copied(x, id)->type = (uint32_t)type;
	return 0;
}

/* With all that it holds by value. Its id in `to`, 0 for void, or -errno. */
static int copy_type(struct extract *x, uint32_t id)
{
	const struct btf_type *t = btf__type_by_id(x->from, id);
	int r;

	if (!id || !t || btf_is_func_proto(t))
		return 0;
	if (btf_is_ptr(t))
		return x->pointer;
	if (x->ids[id])
		return (int)x->ids[id];
	r = btf__add_type(x->to, x->from, t);
	if (r < 0)
		return r;
	x->ids[id] = (uint32_t)r;
	if (btf_is_composite(t))
		r = copy_members(x, id, t);
	else if (btf_is_array(t))
		r = copy_array(x, id, t);
	else if (btf_is_mod(t) || btf_is_typedef(t))
		r = copy_named(x, id, t);
	return r < 0 ? r : (int)x->ids[id];
}

/* As CO-RE has it, the name of struct a___b is a. */
static uint64_t name_key(const struct btf *btf, const struct btf_type *t)
{
	const char *name = btf__name_by_offset(btf, t->name_off), *end;
	char plain[128];

	if (!name || !*name)
		return 0;
	end = strstr(name, "___");
	if (!end)
		return map_key(name);
	snprintf(plain, sizeof(plain), "%.*s", (int)(end - name), name);
	return map_key(plain);
}

static int note_roots(const struct btf *btf, struct map *roots)
{
	int r = 0;

	for (uint32_t id = 1; r >= 0 && id < btf__type_cnt(btf); id++) {
		const struct btf_type *t = btf__type_by_id(btf, id);
		uint64_t key = is_root(t) ? name_key(btf, t) : 0;

		if (key)
			r = map_put(roots, key, roots);
	}
	return r;
}

static int copy_roots(struct extract *x, const struct map *roots)
{
	int r = 0;

	for (uint32_t id = 1; r >= 0 && id < btf__type_cnt(x->from); id++) {
		const struct btf_type *t = btf__type_by_id(x->from, id);
		uint64_t key = is_root(t) ? name_key(x->from, t) : 0;

		if (key && map_get(roots, key))
			r = copy_type(x, id);
	}
	return r < 0 ? r : 0;
}

static int write_btf(const struct btf *btf, int fd)
{
	uint32_t size;
	const void *data = btf__raw_data(btf, &size);

	return data ? fd_write_full(fd, data, size, 0) : -ENOMEM;
}

int types_extract(const struct btf *kernel, const struct btf *names, int fd)
{
	_cleanup_(cleanup_free) uint32_t *ids = calloc(btf__type_cnt(kernel), sizeof(*ids));
	_cleanup_(cleanup_btf__free) struct btf *to = btf__new_empty();
	_cleanup_(map_done) struct map roots = {};
	struct extract x = {.from = kernel, .to = to, .ids = ids};
	int r;

	if (!ids || !to)
		return -ENOMEM;
	x.pointer = btf__add_ptr(to, 0);
	r = x.pointer < 0 ? x.pointer : note_roots(names, &roots);
	if (r >= 0)
		r = copy_roots(&x, &roots);
	return r < 0 ? r : write_btf(to, fd);
}
