// SPDX-License-Identifier: Apache-2.0
/* Reads and writes the maps that the BPF programs and the daemon share. */
#include "io/kernel/kernel.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>

#include "base/cleanup.h"
#include "io/kernel/priv.h"

#define BATCH 512

int kern_ring_fd(const struct kern *kern)
{
	return kern->ring_fd;
}

int kern_watch_add(struct kern *kern, uint64_t id, const struct graced_watch *watch)
{
	return bpf_map_update_elem(kern->watched_fd, &id, watch, BPF_NOEXIST) < 0 ? -errno : 0;
}

int kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret)
{
	struct graced_watch watch;

	if (bpf_map_lookup_elem(kern->watched_fd, &id, &watch) < 0)
		return -errno;
	*ret = watch;
	return 0;
}

/* Whoever takes an entry away, here or in the kernel half, takes it off the count. */
static int noisy_delete(struct kern *kern, uint64_t id)
{
	if (bpf_map_delete_elem(kern->noisy_fd, &id) < 0)
		return -errno;
	__atomic_fetch_sub(kern->noisy, 1, __ATOMIC_SEQ_CST);
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
	__atomic_fetch_add(kern->noisy, 1, __ATOMIC_SEQ_CST);
	if (bpf_map_update_elem(kern->noisy_fd, &id, &one, BPF_NOEXIST) < 0) {
		r = -errno;
		__atomic_fetch_sub(kern->noisy, 1, __ATOMIC_SEQ_CST);
		return r == -EEXIST ? 0 : r;
	}
	/* Gone before the entry was there, it would never be taken off. */
	r = kern_watch_get(kern, id, &watch);
	if (r < 0)
		noisy_delete(kern, id);
	return r;
}

static void reap_forget(struct kern *kern, uint64_t id)
{
	struct graced_watch watch;
	struct graced_reap reap;

	if (kern_watch_get(kern, id, &watch) < 0 || !watch.reap_pid)
		return;
	if (bpf_map_lookup_elem(kern->reaps_fd, &watch.reap_pid, &reap) < 0 || reap.watch_id != id)
		return;
	if (bpf_map_delete_elem(kern->reaps_fd, &watch.reap_pid) == 0)
		__atomic_fetch_sub(kern->reaps_due, 1, __ATOMIC_SEQ_CST);
}

int kern_watch_delete(struct kern *kern, uint64_t id)
{
	int r;

	reap_forget(kern, id);
	r = bpf_map_delete_elem(kern->watched_fd, &id) < 0 ? -errno : 0;
	bpf_map_delete_elem(kern->inits_fd, &id);
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
	__atomic_store_n(kern->limit_all, on, __ATOMIC_SEQ_CST);
}

uint64_t kern_vain_kills(const struct kern *kern)
{
	return __atomic_load_n(kern->vain_kills, __ATOMIC_RELAXED);
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
