// SPDX-License-Identifier: Apache-2.0
/* Decodes what the kernel half wrote, without believing any of it. */
#include "wire/kernel/event.h"

#include <errno.h>
#include <linux/types.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "graced/event.h"

/* The kernel itself has room for no more. */
#define CPUS_MAX 8192

const char *evname(unsigned int type)
{
	static const char *const names[GRACED_EV_COUNT] = {
		[GRACED_EV_CGROUP_NEW] = "cgroup_new",
		[GRACED_EV_CGROUP_GONE] = "cgroup_gone",
		[GRACED_EV_CGROUP_EMPTY] = "cgroup_empty",
		[GRACED_EV_INIT] = "init",
		[GRACED_EV_SIGNAL] = "signal",
		[GRACED_EV_EXIT] = "exit",
		[GRACED_EV_OOM] = "oom",
		[GRACED_EV_REAPED] = "reaped",
		[GRACED_EV_TAKEN] = "taken",
	};

	return type < GRACED_EV_COUNT ? names[type] : NULL;
}

struct lineage {
	bool known;
	__u32 turn;
	struct graced_proc ancestors[GRACED_ANCESTORS];
};

/* Entries that are never written take no memory. */
struct evdec {
	size_t n;
	struct lineage *lineages;
};

struct evdec *evdec_free(struct evdec *dec)
{
	if (dec)
		free(dec->lineages);
	free(dec);
	return NULL;
}

int evdec_new(size_t cpus, struct evdec **ret)
{
	struct evdec *dec;

	if (!cpus || cpus > CPUS_MAX)
		return -EINVAL;
	dec = calloc(1, sizeof(*dec));
	if (!dec)
		return -ENOMEM;
	dec->n = cpus * GRACED_LINEAGES;
	dec->lineages = calloc(dec->n, sizeof(*dec->lineages));
	if (!dec->lineages) {
		evdec_free(dec);
		return -ENOMEM;
	}
	*ret = dec;
	return 0;
}

/* Each decoder is given as many bytes as its event has, copies them, for they may lie at any
 * address, and writes one member of *ret. */
typedef void (*decode_fn)(const void *data, struct obs *ret);

static void end_proc(struct graced_proc *proc)
{
	proc->comm[sizeof(proc->comm) - 1] = '\0';
	proc->exe[sizeof(proc->exe) - 1] = '\0';
}

static void decode_cgroup_new(const void *data, struct obs *ret)
{
	struct graced_ev_cgroup ev;

	memcpy(&ev, data, sizeof(ev));
	ev.name[sizeof(ev.name) - 1] = '\0';
	ret->cgroup.id = ev.hdr.watch_id;
	ret->cgroup.parent_id = ev.parent_id;
	ret->cgroup.kind = ev.kind;
	ret->cgroup.level = ev.level;
	ret->cgroup.delegated_level = ev.delegated_level;
	memcpy(ret->cgroup.path, ev.name, strlen(ev.name) + 1);
}

static void decode_empty(const void *data, struct obs *ret)
{
	struct graced_ev_empty ev;

	memcpy(&ev, data, sizeof(ev));
	ret->empty = (struct obs_empty){.id = ev.hdr.watch_id,
					.counts = ev.counts,
					.kind = ev.kind,
					.owner_id = ev.owner_id,
					.left_pid = ev.left_pid};
}

static void decode_init(const void *data, struct obs *ret)
{
	struct graced_ev_init ev;

	memcpy(&ev, data, sizeof(ev));
	end_proc(&ev.proc);
	ret->init = (struct obs_init){
		.id = ev.hdr.watch_id,
		.lost = ev.hdr.lost,
		.suppressed = ev.hdr.suppressed,
		.rank = ev.rank,
		.late = ev.flags & GRACED_INIT_LATE,
		.proc = ev.proc,
		.keeper_pid = ev.keeper_pid,
	};
}

/* There may be half a million of these a second, and the observation has what the event has behind
 * its stamp, in the same order: it is copied as one piece. */
#define SIGNAL_FROM offsetof(struct graced_ev_signal, hdr.watch_id)
#define SAME_PLACE(in_event, in_obs)                                              \
	_Static_assert(offsetof(struct graced_ev_signal, in_event) ==             \
			       SIGNAL_FROM + offsetof(struct obs_signal, in_obs), \
		       "one piece of memory")

SAME_PLACE(hdr.watch_id, id);
SAME_PLACE(hdr.lost, lost);
SAME_PLACE(hdr.suppressed, suppressed);
SAME_PLACE(sig, sig);
SAME_PLACE(result, result);
SAME_PLACE(code, code);
SAME_PLACE(flags, flags);
SAME_PLACE(target_pidns, target_pidns);
SAME_PLACE(sender_pidns, sender_pidns);
SAME_PLACE(target, target);
SAME_PLACE(sender, sender);

_Static_assert(offsetof(struct graced_ev_signal, lineage) ==
		       SIGNAL_FROM + offsetof(struct obs_signal, ancestors),
	       "one piece of memory");

static void lineage_set(struct lineage *entry, __u32 turn, const void *ancestors)
{
	entry->known = true;
	entry->turn = turn;
	memcpy(entry->ancestors, ancestors, sizeof(entry->ancestors));
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		end_proc(&entry->ancestors[i]);
}

/* The numbers that a signal has its ancestors by. */
struct lineage_ref {
	__u32 lineage, turn, full;
};

/* NULL: they are not known. */
static const struct lineage *lineage_of(struct evdec *dec, const char *data, size_t size)
{
	struct lineage_ref ref;
	struct lineage *entry;

	memcpy(&ref, data + offsetof(struct graced_ev_signal, lineage), sizeof(ref));
	if (ref.lineage >= dec->n)
		return NULL;
	entry = &dec->lineages[ref.lineage];
	if (!ref.full)
		return entry->known && entry->turn == ref.turn ? entry : NULL;
	if (ref.full != 1 || size < sizeof(struct graced_ev_signal_full))
		return NULL;
	lineage_set(entry, ref.turn, data + offsetof(struct graced_ev_signal_full, ancestors));
	return entry;
}

/* Its ancestors are there already. */
static void decode_signal(const void *data, struct obs *ret)
{
	struct obs_signal *signal = &ret->signal;

	memcpy(signal, (const char *)data + SIGNAL_FROM, offsetof(struct obs_signal, ancestors));
	end_proc(&signal->target);
	end_proc(&signal->sender);
}

static void decode_exit(const void *data, struct obs *ret)
{
	struct graced_ev_exit ev;

	memcpy(&ev, data, sizeof(ev));
	end_proc(&ev.proc);
	ret->exit = (struct obs_exit){
		.id = ev.hdr.watch_id,
		.status = ev.status,
		.flags = ev.flags,
		.stop_at_ns = ev.stop_at_ns,
		.deliver_ns = ev.deliver_ns,
		.exec_ns = ev.exec_ns,
		.looked_at = ev.looked_at,
		.caught = ev.caught,
		.ignored = ev.ignored,
		.blocked = ev.blocked,
		.parent_pid = ev.parent_pid,
		.others_missed = ev.others_missed,
		.proc = ev.proc,
		.counts = ev.counts,
	};
}

static void decode_oom(const void *data, struct obs *ret)
{
	struct graced_ev_oom ev;

	memcpy(&ev, data, sizeof(ev));
	end_proc(&ev.victim);
	ret->oom = (struct obs_oom){
		.id = ev.hdr.watch_id,
		.level_id = ev.level_id,
		.flags = ev.flags,
		.victim = ev.victim,
		.limit = ev.limit,
		.level_limit = ev.level_limit,
	};
}

static void decode_reaped(const void *data, struct obs *ret)
{
	struct graced_ev_reaped ev;

	memcpy(&ev, data, sizeof(ev));
	ret->reaped = (struct obs_reaped){
		.id = ev.hdr.watch_id,
		.pid = ev.pid,
		.start_ns = ev.start_ns,
	};
}

static void decode_taken(const void *data, struct obs *ret)
{
	struct graced_ev_taken ev;

	memcpy(&ev, data, sizeof(ev));
	ret->taken = (struct obs_taken){
		.id = ev.hdr.watch_id,
		.lost = ev.hdr.lost,
		.pid = ev.pid,
		.sig = ev.sig,
		.flags = ev.flags,
	};
}

static const struct {
	enum obs_type type;
	size_t size;
	decode_fn decode;
} EVENTS[GRACED_EV_COUNT] = {
	[GRACED_EV_CGROUP_NEW] = {OBS_CGROUP_NEW, sizeof(struct graced_ev_cgroup),
				  decode_cgroup_new},
	[GRACED_EV_CGROUP_GONE] = {OBS_CGROUP_GONE, sizeof(struct graced_ev_empty), decode_empty},
	[GRACED_EV_CGROUP_EMPTY] = {OBS_CGROUP_EMPTY, sizeof(struct graced_ev_empty), decode_empty},
	[GRACED_EV_INIT] = {OBS_INIT, sizeof(struct graced_ev_init), decode_init},
	[GRACED_EV_SIGNAL] = {OBS_SIGNAL, sizeof(struct graced_ev_signal), decode_signal},
	[GRACED_EV_EXIT] = {OBS_EXIT, sizeof(struct graced_ev_exit), decode_exit},
	[GRACED_EV_OOM] = {OBS_OOM, sizeof(struct graced_ev_oom), decode_oom},
	[GRACED_EV_REAPED] = {OBS_REAPED, sizeof(struct graced_ev_reaped), decode_reaped},
	[GRACED_EV_TAKEN] = {OBS_TAKEN, sizeof(struct graced_ev_taken), decode_taken},
};

int evdec_decode(struct evdec *dec, const void *data, size_t size, struct obs *ret)
{
	const struct lineage *entry;
	struct graced_hdr hdr;

	if (size < sizeof(hdr))
		return -EBADMSG;
	memcpy(&hdr, data, sizeof(hdr));
	if (hdr.abi != GRACED_ABI)
		return -EPROTO;
	if (hdr.type >= GRACED_EV_COUNT || !EVENTS[hdr.type].decode)
		return -EBADMSG;
	if (hdr.size > size || hdr.size < EVENTS[hdr.type].size)
		return -EBADMSG;
	if (hdr.type == GRACED_EV_SIGNAL) {
		entry = lineage_of(dec, data, hdr.size);
		if (!entry)
			return -EBADMSG;
		memcpy(ret->signal.ancestors, entry->ancestors, sizeof(entry->ancestors));
	}
	ret->type = EVENTS[hdr.type].type;
	ret->at_ns = hdr.at_ns;
	EVENTS[hdr.type].decode(data, ret);
	return 0;
}
