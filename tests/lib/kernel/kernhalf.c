// SPDX-License-Identifier: Apache-2.0
/* Attaches the kernel half to a private subtree. */
#include "lib/kernel/kernhalf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/claim.h"
#include "io/cgroup/hierarchy.h"
#include "io/kernel/priv.h"
#include "lib/kernel/tracer.h"
#include "lib/patience.h"

uint64_t kernhalf_id(const char *dir)
{
	struct stat st;

	assert_int_equal(stat(dir, &st), 0);
	return st.st_ino;
}

static int on_record(void *userdata, void *data, size_t size)
{
	const struct graced_hdr *hdr = data;
	struct kernhalf *k = userdata;

	if (hdr->type == GRACED_EV_SIGNAL && size >= sizeof(*k->signals)) {
		if (k->n_signals < KERNHALF_SEEN)
			memcpy(&k->signals[k->n_signals], data, sizeof(*k->signals));
		k->n_signals++;
	}
	if (hdr->type == GRACED_EV_EXIT && size >= sizeof(*k->exits)) {
		if (k->n_exits < KERNHALF_SEEN)
			memcpy(&k->exits[k->n_exits], data, sizeof(*k->exits));
		k->n_exits++;
	}
	if (hdr->type == GRACED_EV_REAPED && size >= sizeof(*k->reaps)) {
		if (k->n_reaps < KERNHALF_SEEN)
			memcpy(&k->reaps[k->n_reaps], data, sizeof(*k->reaps));
		k->n_reaps++;
	}
	if (hdr->type == GRACED_EV_OOM && size >= sizeof(*k->ooms)) {
		if (k->n_ooms < KERNHALF_SEEN)
			memcpy(&k->ooms[k->n_ooms], data, sizeof(*k->ooms));
		k->n_ooms++;
	}
	if (hdr->type == GRACED_EV_INIT && size >= sizeof(*k->inits)) {
		if (k->n_inits < KERNHALF_SEEN)
			memcpy(&k->inits[k->n_inits], data, sizeof(*k->inits));
		k->n_inits++;
	}
	return 0;
}

/* The tree itself and what it is made with; all else is made while attached. */
static int watch_tree(struct kernhalf *k)
{
	static const char *const below[] = {"", "/kubepods", "/kubepods/burstable"};
	int r = 0;

	for (unsigned int i = 0; r >= 0 && i < LEN(below); i++) {
		struct graced_watch watch = {.kind = GRACED_WATCH_BRANCH, .level = i + 1};
		char dir[HIER_PATH_MAX + 32];
		struct stat st;

		snprintf(dir, sizeof(dir), "%s%s", k->tree.root, below[i]);
		r = stat(dir, &st) < 0 ? -errno : kern_watch_add(k->kern, st.st_ino, &watch);
	}
	return r;
}

static int attach(struct kernhalf *k, struct kern_options options)
{
	struct hierarchy hierarchy;
	struct kern_why why;
	int r = hierarchy_detect(k->tree.hier.name, &hierarchy);

	if (r < 0)
		return r;
	options.hierarchy = &hierarchy;
	r = kern_new(&options, &k->kern, &why);
	if (r >= 0)
		r = kern_attach(k->kern, &why);
	if (r < 0) {
		fprintf(stderr, "%s\n", why.text);
		return r;
	}
	k->ring = ring_buffer__new(kern_ring_fd(k->kern), on_record, k, NULL);
	return k->ring ? watch_tree(k) : -errno;
}

static int open_with(void **state, const char *what, struct kern_options options)
{
	struct kernhalf *k = calloc(1, sizeof(*k));
	int r = k ? tracer_open_tree(what, NULL, &k->tree) : -1;

	*state = NULL;
	if (r <= 0) {
		free(k);
		return r;
	}
	*state = k;
	if (attach(k, options) >= 0)
		return 0;
	kernhalf_close(state);
	return -1;
}

int kernhalf_open(void **state, const char *what)
{
	return open_with(state, what, (struct kern_options){});
}

int kernhalf_open_all(void **state, const char *what)
{
	return open_with(state, what, (struct kern_options){.all = true});
}

int kernhalf_open_ring(void **state, const char *what, size_t ring_bytes)
{
	return open_with(state, what, (struct kern_options){.ring_bytes = ring_bytes});
}

int kernhalf_close(void **state)
{
	struct kernhalf *k = *state;
	int r;

	if (!k)
		return 0;
	ring_buffer__free(k->ring);
	kern_free(k->kern);
	r = box_tree_close(&k->tree);
	free(k);
	*state = NULL;
	return r ? -1 : 0;
}

struct kernhalf *kernhalf_need(void **state)
{
	if (!*state)
		skip();
	return *state;
}

static struct graced_watch watch_of(const struct kernhalf *k, const char *dir)
{
	struct graced_watch watch;

	assert_int_equal(kern_watch_get(k->kern, kernhalf_id(dir), &watch), 0);
	return watch;
}

struct graced_counts kernhalf_counts(const struct kernhalf *k, const char *dir)
{
	return watch_of(k, dir).counts;
}

uint32_t kernhalf_vain_kills(const struct kernhalf *k, const char *dir)
{
	return watch_of(k, dir).vain_kills;
}

uint32_t kernhalf_others_missed(const struct kernhalf *k, const char *dir)
{
	return watch_of(k, dir).others_missed;
}

static bool is_map_called(int fd, const char *name)
{
	struct bpf_map_info info = {};
	__u32 size = sizeof(info);

	assert_int_equal(bpf_obj_get_info_by_fd(fd, &info, &size), 0);
	return strcmp(info.name, name) == 0;
}

/* Of the maps of a program; -1: it has none of that name. */
static int map_of(int program_fd, const char *name)
{
	__u32 ids[32], size = sizeof(struct bpf_prog_info);
	struct bpf_prog_info info = {.map_ids = (uintptr_t)ids, .nr_map_ids = 32};

	assert_int_equal(bpf_obj_get_info_by_fd(program_fd, &info, &size), 0);
	for (__u32 i = 0; i < info.nr_map_ids; i++) {
		int fd = bpf_map_get_fd_by_id(ids[i]);

		assert_true(fd >= 0);
		if (is_map_called(fd, name))
			return fd;
		close(fd);
	}
	return -1;
}

int kernhalf_map(const struct kernhalf *k, const char *name)
{
	int fd = -1;

	for (int i = 0; i < KERN_PROGRAMS && fd < 0; i++)
		if (k->kern->program_fds[i] >= 0)
			fd = map_of(k->kern->program_fds[i], name);
	assert_true(fd >= 0);
	return fd;
}

unsigned int kernhalf_entries(const struct kernhalf *k, const char *map)
{
	int fd = kernhalf_map(k, map);
	uint64_t key, *from = NULL;
	unsigned int n = 0;

	while (bpf_map_get_next_key(fd, from, &key) == 0) {
		from = &key;
		n++;
	}
	close(fd);
	return n;
}

void kernhalf_await_note(const struct box *box, uint32_t kind, unsigned int nth)
{
	for (int i = 0; i < PATIENCE_MS && !page_find(box->proc.page, kind, nth); i++)
		usleep(1000);
	assert_non_null(page_find(box->proc.page, kind, nth));
}

void kernhalf_drain(struct kernhalf *k)
{
	k->n_signals = k->n_exits = k->n_reaps = k->n_ooms = k->n_inits = 0;
	assert_true(ring_buffer__consume(k->ring) >= 0);
}

static void end_children(const char *dir, unsigned int n, int sig) __attribute__((noreturn));
static void end_children(const char *dir, unsigned int n, int sig)
{
	if (cg_enter(dir, getpid()))
		_exit(1);
	for (unsigned int i = 0; i < n; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			while (sig)
				pause();
			_exit(0);
		}
		if (pid < 0 || (sig && kill(pid, sig) < 0) || waitpid(pid, NULL, 0) != pid)
			_exit(1);
	}
	_exit(0);
}

void kernhalf_end_children(const char *dir, unsigned int n, int sig)
{
	pid_t pid = fork();
	int status;

	assert_true(pid >= 0);
	if (pid == 0)
		end_children(dir, n, sig);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
}
