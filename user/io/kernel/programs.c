// SPDX-License-Identifier: Apache-2.0
/* Takes programs from libbpf as it loads them, and loads them by two threads. */
#include "io/kernel/programs.h"

#include <assert.h>
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "io/kernel/types.h"

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
