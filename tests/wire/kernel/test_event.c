// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/kernel/event: every event arrives member by member, and no bytes can mislead
 * it. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/kernel/event.h"

#define AT_NS 1234567890123ull
#define ID    0xfeedfacecafebeefull

static struct graced_hdr header(unsigned int type, size_t size)
{
	return (struct graced_hdr){
		.abi = GRACED_ABI,
		.type = (__u16)type,
		.size = (__u32)size,
		.at_ns = AT_NS,
		.watch_id = ID,
		.lost = 11,
		.suppressed = 12,
	};
}

#define HEADER(type, event) header(type, sizeof(struct event))

static struct graced_proc proc(__u32 seed)
{
	struct graced_proc made = {
		.start_ns = seed + 1,
		.cgroup_id = seed + 2,
		.watch_id = seed + 3,
		.pid = seed + 4,
		.ns_pid = seed + 5,
		.uid = seed + 6,
	};

	/* Neither ends: the kernel half is not believed to have ended them. */
	memset(made.comm, 'c', sizeof(made.comm));
	memset(made.exe, 'e', sizeof(made.exe));
	return made;
}

static struct graced_counts counts(void)
{
	return (struct graced_counts){
		.exits = 21,
		.kills = 22,
		.collateral = 23,
		.oom_kills = 24,
		.lost = 25,
		.suppressed = 26,
		.suppressed_sigs = UINT64_MAX,
	};
}

static void assert_proc(const struct graced_proc *got, __u32 seed)
{
	assert_int_equal(got->start_ns, seed + 1);
	assert_int_equal(got->cgroup_id, seed + 2);
	assert_int_equal(got->watch_id, seed + 3);
	assert_int_equal(got->pid, seed + 4);
	assert_int_equal(got->ns_pid, seed + 5);
	assert_int_equal(got->uid, seed + 6);
	assert_string_equal(got->comm, "ccccccccccccccc");
	assert_string_equal(got->exe, "eeeeeeeeeeeeeee");
}

#define CPUS 2

static struct evdec *decoder;

static int open_decoder(void **state)
{
	return evdec_new(CPUS, &decoder);
}

static int close_decoder(void **state)
{
	decoder = evdec_free(decoder);
	return 0;
}

/* A claim with a decoder of its own. */
#define FRESH(sentence, function)                                     \
	{                                                             \
		sentence, function, open_decoder, close_decoder, NULL \
	}

/* Decodes a copy that ends where its block ends and begins at an odd address. */
static int decode(const void *event, size_t size, struct obs *ret)
{
	_cleanup_(cleanup_free) char *block = malloc(size + 1);

	assert_non_null(block);
	memcpy(block + 1, event, size);
	return evdec_decode(decoder, block + 1, size, ret);
}

static void decode_well(const void *event, size_t size, enum obs_type type, struct obs *ret)
{
	memset(ret, 0xa5, sizeof(*ret));
	assert_int_equal(decode(event, size, ret), 0);
	assert_int_equal(ret->type, type);
	assert_int_equal(ret->at_ns, AT_NS);
}

static void test_cgroup_new(void **state)
{
	struct graced_ev_cgroup ev = {
		.hdr = HEADER(GRACED_EV_CGROUP_NEW, graced_ev_cgroup),
		.parent_id = 31,
		.kind = GRACED_WATCH_POD,
		.level = 33,
		.delegated_level = 34,
		.name = "kubepods-pod\"\n\xff.slice",
	};
	struct obs obs;

	decode_well(&ev, sizeof(ev), OBS_CGROUP_NEW, &obs);
	assert_int_equal(obs.cgroup.id, ID);
	assert_int_equal(obs.cgroup.parent_id, 31);
	assert_int_equal(obs.cgroup.kind, GRACED_WATCH_POD);
	assert_int_equal(obs.cgroup.level, 33);
	assert_int_equal(obs.cgroup.delegated_level, 34);
	assert_string_equal(obs.cgroup.path, ev.name);
	assert_int_equal((unsigned char)obs.cgroup.path[strlen(ev.name) + 1], 0xa5);

	memset(ev.name, 'n', sizeof(ev.name));
	decode_well(&ev, sizeof(ev), OBS_CGROUP_NEW, &obs);
	assert_int_equal(strlen(obs.cgroup.path), GRACED_NAME_LEN - 1);
}

static void test_cgroup_gone(void **state)
{
	struct graced_ev_empty ev = {.hdr = HEADER(GRACED_EV_CGROUP_GONE, graced_ev_empty)};
	struct obs obs;

	ev.counts.collateral = 7;
	ev.kind = GRACED_WATCH_CONTAINER;
	ev.owner_id = 21;
	decode_well(&ev, sizeof(ev), OBS_CGROUP_GONE, &obs);
	assert_int_equal(obs.empty.id, ID);
	assert_int_equal(obs.empty.kind, GRACED_WATCH_CONTAINER);
	assert_int_equal(obs.empty.owner_id, 21);
	assert_int_equal(obs.empty.counts.collateral, 7);
}

static void test_cgroup_empty(void **state)
{
	struct graced_ev_empty ev = {
		.hdr = HEADER(GRACED_EV_CGROUP_EMPTY, graced_ev_empty),
		.counts = counts(),
	};
	struct obs obs;

	decode_well(&ev, sizeof(ev), OBS_CGROUP_EMPTY, &obs);
	assert_int_equal(obs.empty.id, ID);
	assert_memory_equal(&obs.empty.counts, &ev.counts, sizeof(ev.counts));
}

static void test_init(void **state)
{
	struct graced_ev_init ev = {
		.hdr = HEADER(GRACED_EV_INIT, graced_ev_init),
		.proc = proc(100),
		.rank = GRACED_INIT_PID1,
	};
	struct obs obs;

	decode_well(&ev, sizeof(ev), OBS_INIT, &obs);
	assert_int_equal(obs.init.id, ID);
	assert_int_equal(obs.init.rank, GRACED_INIT_PID1);
	assert_false(obs.init.late);
	assert_proc(&obs.init.proc, 100);
	ev.flags = GRACED_INIT_LATE;
	decode_well(&ev, sizeof(ev), OBS_INIT, &obs);
	assert_true(obs.init.late);
}

/* One that includes its ancestors; their numbers begin at seed. */
static struct graced_ev_signal_full full(__u32 lineage, __u32 turn, __u32 seed)
{
	return (struct graced_ev_signal_full){
		.signal.hdr = HEADER(GRACED_EV_SIGNAL, graced_ev_signal_full),
		.signal.lineage = lineage,
		.signal.turn = turn,
		.signal.full = 1,
		.ancestors = {proc(seed), proc(seed + 100), proc(seed + 200), proc(seed + 300)},
	};
}

static struct graced_ev_signal brief(__u32 lineage, __u32 turn)
{
	return (struct graced_ev_signal){
		.hdr = HEADER(GRACED_EV_SIGNAL, graced_ev_signal),
		.lineage = lineage,
		.turn = turn,
	};
}

static void assert_ancestors(const struct obs *obs, __u32 seed)
{
	for (unsigned int i = 0; i < GRACED_ANCESTORS; i++)
		assert_proc(&obs->signal.ancestors[i], seed + 100 * i);
}

static void test_signal(void **state)
{
	struct graced_ev_signal_full ev = full(1, 1, 400);
	struct obs obs;

	ev.signal.sig = 64;
	ev.signal.result = -41;
	ev.signal.code = -42;
	ev.signal.flags = 0xffffffff;
	ev.signal.target_pidns = 43;
	ev.signal.sender_pidns = 44;
	ev.signal.target = proc(200);
	ev.signal.sender = proc(300);

	decode_well(&ev, sizeof(ev), OBS_SIGNAL, &obs);
	assert_int_equal(obs.signal.id, ID);
	assert_int_equal(obs.signal.lost, 11);
	assert_int_equal(obs.signal.suppressed, 12);
	assert_int_equal(obs.signal.sig, 64);
	assert_int_equal(obs.signal.result, -41);
	assert_int_equal(obs.signal.code, -42);
	assert_int_equal(obs.signal.flags, 0xffffffff);
	assert_int_equal(obs.signal.target_pidns, 43);
	assert_int_equal(obs.signal.sender_pidns, 44);
	assert_proc(&obs.signal.target, 200);
	assert_proc(&obs.signal.sender, 300);
	assert_ancestors(&obs, 400);
}

static void test_ancestors_before(void **state)
{
	struct graced_ev_signal_full first = full(0, 7, 400), second = full(5, 7, 800);
	struct graced_ev_signal of_first = brief(0, 7), of_second = brief(5, 7);
	struct obs obs;

	decode_well(&first, sizeof(first), OBS_SIGNAL, &obs);
	decode_well(&second, sizeof(second), OBS_SIGNAL, &obs);
	decode_well(&of_first, sizeof(of_first), OBS_SIGNAL, &obs);
	assert_ancestors(&obs, 400);
	decode_well(&of_second, sizeof(of_second), OBS_SIGNAL, &obs);
	assert_ancestors(&obs, 800);
	first = full(0, 8, 1200);
	decode_well(&first, sizeof(first), OBS_SIGNAL, &obs);
	assert_int_equal(decode(&of_first, sizeof(of_first), &obs), -EBADMSG);
	of_first.turn = 8;
	decode_well(&of_first, sizeof(of_first), OBS_SIGNAL, &obs);
	assert_ancestors(&obs, 1200);
}

static void test_ancestors_unknown(void **state)
{
	const struct graced_ev_signal rows[] = {
		brief(0, 0),
		brief(CPUS * GRACED_LINEAGES - 1, 1),
		brief(CPUS * GRACED_LINEAGES, 0),
		brief(UINT32_MAX, UINT32_MAX),
	};
	struct graced_ev_signal_full beyond = full(CPUS * GRACED_LINEAGES, 1, 400),
				     odd = full(1, 1, 400), cut = odd;
	struct obs obs;

	for (size_t i = 0; i < LEN(rows); i++)
		assert_int_equal(decode(&rows[i], sizeof(rows[i]), &obs), -EBADMSG);
	assert_int_equal(decode(&beyond, sizeof(beyond), &obs), -EBADMSG);
	odd.signal.full = 2;
	assert_int_equal(decode(&odd, sizeof(odd), &obs), -EBADMSG);
	cut.signal.hdr.size = sizeof(cut) - 1;
	assert_int_equal(decode(&cut, sizeof(cut), &obs), -EBADMSG);
}

static void test_exit(void **state)
{
	struct graced_ev_exit ev = {
		.hdr = HEADER(GRACED_EV_EXIT, graced_ev_exit),
		.status = 0x8b,
		.flags = GRACED_EXIT_INIT,
		.proc = proc(800),
		.counts = counts(),
		.deliver_ns = 61,
		.stop_at_ns = 62,
		.looked_at = 63,
		.caught = 64,
		.ignored = 65,
		.blocked = 66,
	};
	struct obs obs;

	decode_well(&ev, sizeof(ev), OBS_EXIT, &obs);
	assert_int_equal(obs.exit.id, ID);
	assert_int_equal(obs.exit.status, 0x8b);
	assert_int_equal(obs.exit.flags, GRACED_EXIT_INIT);
	assert_int_equal(obs.exit.deliver_ns, 61);
	assert_int_equal(obs.exit.stop_at_ns, 62);
	assert_int_equal(obs.exit.looked_at, 63);
	assert_int_equal(obs.exit.caught, 64);
	assert_int_equal(obs.exit.ignored, 65);
	assert_int_equal(obs.exit.blocked, 66);
	assert_proc(&obs.exit.proc, 800);
	assert_memory_equal(&obs.exit.counts, &ev.counts, sizeof(ev.counts));
}

static void test_oom(void **state)
{
	struct graced_ev_oom ev = {
		.hdr = HEADER(GRACED_EV_OOM, graced_ev_oom),
		.level_id = 51,
		.flags = GRACED_OOM_LEVEL_KNOWN,
		.victim = proc(900),
	};
	struct obs obs;

	decode_well(&ev, sizeof(ev), OBS_OOM, &obs);
	assert_int_equal(obs.oom.id, ID);
	assert_int_equal(obs.oom.level_id, 51);
	assert_int_equal(obs.oom.flags, GRACED_OOM_LEVEL_KNOWN);
	assert_proc(&obs.oom.victim, 900);
}

static void test_reaped(void **state)
{
	struct graced_ev_reaped ev = {
		.hdr = HEADER(GRACED_EV_REAPED, graced_ev_reaped),
		.start_ns = 71,
		.pid = 72,
	};
	struct obs obs;

	decode_well(&ev, sizeof(ev), OBS_REAPED, &obs);
	assert_int_equal(obs.reaped.id, ID);
	assert_int_equal(obs.reaped.start_ns, 71);
	assert_int_equal(obs.reaped.pid, 72);
}

static const struct {
	unsigned int type;
	size_t size;
} EVENTS[] = {
	{GRACED_EV_CGROUP_NEW, sizeof(struct graced_ev_cgroup)},
	{GRACED_EV_CGROUP_GONE, sizeof(struct graced_ev_empty)},
	{GRACED_EV_CGROUP_EMPTY, sizeof(struct graced_ev_empty)},
	{GRACED_EV_INIT, sizeof(struct graced_ev_init)},
	{GRACED_EV_SIGNAL, sizeof(struct graced_ev_signal)},
	{GRACED_EV_EXIT, sizeof(struct graced_ev_exit)},
	{GRACED_EV_OOM, sizeof(struct graced_ev_oom)},
	{GRACED_EV_REAPED, sizeof(struct graced_ev_reaped)},
};

/* Every length from nothing to more than all of it, given truly and given as whole. */
static void test_lengths(void **state)
{
	for (size_t i = 0; i < LEN(EVENTS); i++) {
		char event[sizeof(struct graced_ev_signal_full) + 8] = {};
		struct graced_hdr hdr = header(EVENTS[i].type, 0);
		struct graced_ev_signal_full any = full(0, 0, 400);
		struct obs obs;

		decode_well(&any, sizeof(any), OBS_SIGNAL, &obs);
		for (size_t size = 0; size <= sizeof(event); size++) {
			hdr.size = (__u32)size;
			memcpy(event, &hdr, sizeof(hdr));
			assert_int_equal(decode(event, size, &obs),
					 size < EVENTS[i].size ? -EBADMSG : 0);
			hdr.size = sizeof(event);
			memcpy(event, &hdr, sizeof(hdr));
			assert_int_equal(decode(event, size, &obs),
					 size < sizeof(event) ? -EBADMSG : 0);
		}
	}
}

static void test_foreign(void **state)
{
	static const struct {
		unsigned int abi, type, size;
		int result;
	} rows[] = {
		{0, GRACED_EV_SIGNAL, 600, -EPROTO},
		{GRACED_ABI + 1, GRACED_EV_SIGNAL, 600, -EPROTO},
		{0xffff, 0xffff, 600, -EPROTO},
		{GRACED_ABI, GRACED_EV_NONE, 600, -EBADMSG},
		{GRACED_ABI, GRACED_EV_COUNT, 600, -EBADMSG},
		{GRACED_ABI, 0xffff, 600, -EBADMSG},
		{GRACED_ABI, GRACED_EV_SIGNAL, 601, -EBADMSG},
		{GRACED_ABI, GRACED_EV_SIGNAL, 0, -EBADMSG},
		{GRACED_ABI, GRACED_EV_SIGNAL, UINT32_MAX, -EBADMSG},
		{GRACED_ABI, GRACED_EV_SIGNAL, 600, 0},
	};
	struct graced_ev_signal_full any = full(0, 0, 400);
	struct obs known;

	decode_well(&any, sizeof(any), OBS_SIGNAL, &known);
	for (size_t i = 0; i < LEN(rows); i++) {
		char event[600] = {};
		struct graced_hdr hdr = header(rows[i].type, rows[i].size);
		struct obs obs = {.type = OBS_END, .at_ns = 7};

		hdr.abi = (__u16)rows[i].abi;
		memcpy(event, &hdr, sizeof(hdr));
		assert_int_equal(decode(event, sizeof(event), &obs), rows[i].result);
		if (rows[i].result < 0) {
			assert_int_equal(obs.type, OBS_END);
			assert_int_equal(obs.at_ns, 7);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		FRESH("a new cgroup's name arrives as it is, ended, and nothing behind it is touched",
		      test_cgroup_new),
		FRESH("of a cgroup that is gone the id arrives", test_cgroup_gone),
		FRESH("an emptied cgroup's counts arrive", test_cgroup_empty),
		FRESH("an init arrives with its rank and its process", test_init),
		FRESH("a signal arrives with target, sender and all ancestors", test_signal),
		FRESH("a brief signal has the ancestors of the last full one of its sender",
		      test_ancestors_before),
		FRESH("a signal whose ancestors are not known is refused", test_ancestors_unknown),
		FRESH("an exit arrives with its raw status, its counts and when its stop was heard",
		      test_exit),
		FRESH("an OOM kill arrives with its level and victim", test_oom),
		FRESH("a reaped init arrives with its container, its pid and its start",
		      test_reaped),
		FRESH("a record cut anywhere, or shorter than it says, is refused", test_lengths),
		FRESH("another abi, an unknown type and impossible sizes change nothing",
		      test_foreign),
	};

	return cmocka_run_group_tests_name("wire/kernel/event", tests, NULL, NULL);
}
