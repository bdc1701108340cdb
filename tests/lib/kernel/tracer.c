// SPDX-License-Identifier: Apache-2.0
// Run `graced trace` as a child and collect its records.
#include "lib/kernel/tracer.h"

#include "lib/jrec.h"
#include "lib/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define END_S	 60
#define ARGS_MAX 48

/* A record with what it is looked for by, all of it the record's. */
struct kept {
	json_t *record;
	const char *type, *id, *cgroup; /* never NULL */
	int64_t pid;
};

struct tracer {
	pid_t pid; /* 0 once reaped */
	int status;
	FILE *out;
	pthread_t reader;
	bool reading;
	pthread_mutex_t lock; /* of everything below */
	pthread_cond_t more;
	struct kept *records;
	size_t used, room;
	size_t bad_lines;
	bool ended; /* its output has ended */
};

const char *tracer_unavailable(void)
{
	const char *graced = getenv("GRACED");

	if (geteuid() != 0)
		return "needs root";
	if (!graced || access(graced, X_OK) < 0)
		return "GRACED does not name the program";
	return access("/sys/kernel/btf/vmlinux", R_OK) < 0 ? "this kernel has no BTF" : NULL;
}

int tracer_open_tree(const char *what, const char *reason, struct box_tree *ret)
{
	const char *why = tracer_unavailable();

	if (!why)
		why = box_unavailable();
	if (!why)
		why = reason;
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	return box_tree_open(ret, what) < 0 ? -1 : 1;
}

static void keep(struct tracer *tracer, json_t *record)
{
	struct kept *records = tracer->records;
	bool about_signal = !strcmp(jrec_text(record, "type"), "signal");
	const json_t *container = jrec_get(record, about_signal ? "target.container" : "container");

	if (tracer->used == tracer->room) {
		tracer->room = tracer->room ? 2 * tracer->room : 256;
		records = realloc(records, tracer->room * sizeof(*records));
		if (!records)
			abort();
		tracer->records = records;
	}
	tracer->records[tracer->used++] = (struct kept){
		.record = record,
		.type = jrec_text(record, "type"),
		.id = jrec_text(container, "id"),
		.cgroup = jrec_text(container, "cgroup"),
		.pid = jrec_int(record, about_signal ? "target.pid" : "process.pid", -1),
	};
}

static void *read_records(void *arg)
{
	struct tracer *tracer = arg;
	char *line = NULL;
	size_t size = 0;
	json_error_t error;

	while (getline(&line, &size, tracer->out) > 0) {
		json_t *record = json_loads(line, 0, &error);

		pthread_mutex_lock(&tracer->lock);
		if (json_is_object(record)) {
			keep(tracer, record);
		} else {
			tracer->bad_lines++;
			json_decref(record);
		}
		pthread_cond_broadcast(&tracer->more);
		pthread_mutex_unlock(&tracer->lock);
	}
	free(line);
	pthread_mutex_lock(&tracer->lock);
	tracer->ended = true;
	pthread_cond_broadcast(&tracer->more);
	pthread_mutex_unlock(&tracer->lock);
	return NULL;
}

static void exec_tracer(const struct tracer_spec *spec, int out) __attribute__((noreturn));
static void exec_tracer(const struct tracer_spec *spec, int out)
{
	const char *graced = getenv("GRACED"), *argv[ARGS_MAX + 16];
	size_t n = 0;

	argv[n++] = "graced";
	argv[n++] = spec->command ? spec->command : "trace";
	argv[n++] = "-o";
	argv[n++] = "json";
	if (spec->record) {
		argv[n++] = "--record";
		argv[n++] = spec->record;
	}
	if (getenv("GRACED_TEST_HIERARCHY")) {
		argv[n++] = "--hierarchy";
		argv[n++] = getenv("GRACED_TEST_HIERARCHY");
	}
	if (spec->tree || spec->root) {
		argv[n++] = "--container-roots";
		argv[n++] =
			spec->tree ? box_tree_relative(spec->tree, spec->tree->root) : spec->root;
	}
	for (size_t i = 0; spec->args && spec->args[i] && i < ARGS_MAX; i++)
		argv[n++] = spec->args[i];
	argv[n] = NULL;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
	if (dup2(out, STDOUT_FILENO) < 0)
		_exit(126);
	execv(graced, (char *const *)argv);
	_exit(127);
}

static int spawn(struct tracer *tracer, const struct tracer_spec *spec)
{
	int fds[2];

	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	/* Not all streams: another tracer's reader holds the lock of its own while it waits. */
	fflush(stdout);
	fflush(stderr);
	tracer->pid = fork();
	if (tracer->pid == 0)
		exec_tracer(spec, fds[1]);
	close(fds[1]);
	tracer->out = fdopen(fds[0], "r");
	if (tracer->pid < 0 || !tracer->out)
		return -errno;
	if (pthread_create(&tracer->reader, NULL, read_records, tracer))
		return -EAGAIN;
	tracer->reading = true;
	return 0;
}

int tracer_start(const struct tracer_spec *spec, struct tracer **ret)
{
	struct tracer *tracer = calloc(1, sizeof(*tracer));
	pthread_condattr_t attr;
	int r;

	if (!tracer)
		return -ENOMEM;
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&tracer->more, &attr);
	pthread_mutex_init(&tracer->lock, NULL);
	r = spawn(tracer, spec);
	if (!r && !tracer_await(tracer, &(struct tracer_want){.type = "attached"}))
		r = tracer->ended ? -ECHILD : -ETIMEDOUT;
	if (r)
		tracer_free(tracer);
	else
		*ret = tracer;
	return r;
}

pid_t tracer_pid(const struct tracer *tracer)
{
	return tracer->pid;
}

static bool is_wanted(const struct kept *kept, const struct tracer_want *want)
{
	if (want->id && strcmp(kept->id, want->id))
		return false;
	if (want->type && strcmp(kept->type, want->type))
		return false;
	if (want->cgroup && strcmp(kept->cgroup, want->cgroup))
		return false;
	return !want->pid || kept->pid == want->pid;
}

/* The wanted record among those from *from on; *from and *passed go on where the search ended. */
static const json_t *search(struct tracer *tracer, const struct tracer_want *want, size_t *from,
			    unsigned int *passed)
{
	for (; *from < tracer->used; (*from)++) {
		if (!is_wanted(&tracer->records[*from], want))
			continue;
		if (*passed == want->nth)
			return tracer->records[*from].record;
		(*passed)++;
	}
	return NULL;
}

const json_t *tracer_await(struct tracer *tracer, const struct tracer_want *want)
{
	const json_t *found = NULL;
	struct timespec until;
	unsigned int passed = 0;
	size_t from = 0;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += PATIENCE_S;
	pthread_mutex_lock(&tracer->lock);
	while (!(found = search(tracer, want, &from, &passed)) && !tracer->ended && !r)
		r = pthread_cond_timedwait(&tracer->more, &tracer->lock, &until);
	pthread_mutex_unlock(&tracer->lock);
	return found;
}

const json_t *tracer_await_stop(struct tracer *tracer, const struct box *box)
{
	struct tracer_want want = {.type = "stop"};

	if (box->id[0])
		want.id = box->id;
	else
		want.cgroup = box->path;
	return tracer_await(tracer, &want);
}

size_t tracer_records(struct tracer *tracer)
{
	size_t n;

	pthread_mutex_lock(&tracer->lock);
	n = tracer->used;
	pthread_mutex_unlock(&tracer->lock);
	return n;
}

const json_t *tracer_record(struct tracer *tracer, size_t i)
{
	const json_t *record;

	pthread_mutex_lock(&tracer->lock);
	record = i < tracer->used ? tracer->records[i].record : NULL;
	pthread_mutex_unlock(&tracer->lock);
	return record;
}

size_t tracer_count(struct tracer *tracer, const struct tracer_want *want)
{
	size_t n = 0;

	pthread_mutex_lock(&tracer->lock);
	for (size_t i = 0; i < tracer->used; i++)
		n += is_wanted(&tracer->records[i], want);
	pthread_mutex_unlock(&tracer->lock);
	return n;
}

size_t tracer_bad_lines(struct tracer *tracer)
{
	size_t n;

	pthread_mutex_lock(&tracer->lock);
	n = tracer->bad_lines;
	pthread_mutex_unlock(&tracer->lock);
	return n;
}

/* Its output ends with it: the reader thread is what tells. */
static int await_end(struct tracer *tracer)
{
	struct timespec until;
	int r = 0;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += END_S;
	pthread_mutex_lock(&tracer->lock);
	while (!tracer->ended && !r)
		r = pthread_cond_timedwait(&tracer->more, &tracer->lock, &until);
	pthread_mutex_unlock(&tracer->lock);
	return tracer->ended ? 0 : -ETIMEDOUT;
}

int tracer_wait(struct tracer *tracer)
{
	int r = await_end(tracer);

	if (r)
		return r;
	if (tracer->pid > 0) {
		if (waitpid(tracer->pid, &tracer->status, 0) < 0)
			return -errno;
		tracer->pid = 0;
	}
	return WIFEXITED(tracer->status) ? WEXITSTATUS(tracer->status)
					 : 128 + WTERMSIG(tracer->status);
}

int tracer_stop(struct tracer *tracer)
{
	if (tracer->pid > 0)
		kill(tracer->pid, SIGINT);
	return tracer_wait(tracer);
}

struct tracer *tracer_free(struct tracer *tracer)
{
	if (!tracer)
		return NULL;
	if (tracer->pid > 0) {
		kill(tracer->pid, SIGKILL);
		waitpid(tracer->pid, NULL, 0);
	}
	if (tracer->reading)
		pthread_join(tracer->reader, NULL);
	if (tracer->out)
		fclose(tracer->out);
	for (size_t i = 0; i < tracer->used; i++)
		json_decref(tracer->records[i].record);
	free(tracer->records);
	pthread_cond_destroy(&tracer->more);
	pthread_mutex_destroy(&tracer->lock);
	free(tracer);
	return NULL;
}
