// SPDX-License-Identifier: Apache-2.0
/* Claims about core/engine: when a container counts as its pod's sandbox, and how sure that is. */
#include "core/engine/engine.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world_pods.h"

/* A container of pod A that no source describes, in A2's place. */
#define CG_X	   26
#define WORLD_ID_X HEX_64("f")

static const struct record_stop *stop_of(const struct world *w, const char *id)
{
	for (size_t i = 0; i < w->n_records; i++) {
		const struct record *r = &w->records[i];

		if (r->type == RECORD_STOP && strcmp(r->stop.container.id, id) == 0)
			return &r->stop;
	}
	fail_msg("no stop of %s", id);
	return NULL;
}

static struct graced_proc proc_of(const char *exe, uint32_t ns_pid, uint64_t start_ns)
{
	struct graced_proc p = P_PAUSE;

	p.pid = 5151;
	p.ns_pid = ns_pid;
	p.start_ns = start_ns;
	p.cgroup_id = p.watch_id = CG_X;
	strcpy(p.comm, exe);
	strcpy(p.exe, exe);
	return p;
}

static void begin_x(struct world *w, uint64_t at, const struct graced_proc *p)
{
	world_made(w, at, CG_X, CG_POD_A, WORLD_ID_X);
	world_init(w, at, CG_X, p);
}

static void kill_x(struct world *w, uint64_t at, const struct graced_proc *p)
{
	world_managed(w, at, CG_X, p, 9);
	world_exit(w, at + MSEC(1), CG_X, p, 9);
	world_empty(w, at + MSEC(1) + 1000, CG_X);
	world_timer(w, at + MSEC(300));
}

#define SANDBOX_GAP GAP(SANDBOX_GUESSED)

static void assert_kind(const struct world *w, const char *id, enum record_container_kind kind,
			bool guessed)
{
	const struct record_stop *s = stop_of(w, id);

	assert_int_equal(s->container.kind, kind);
	assert_int_equal(s->gaps & SANDBOX_GAP, guessed ? SANDBOX_GAP : 0);
}

/* --- the shape ------------------------------------------------------------------------------ */

static void test_guessed(void **state)
{
	const struct record *signal;
	struct world w;

	world_open_pod(&w, false);
	world_stop_sandbox(&w, SEC(20));
	world_answer(&w, SEC(20) + MSEC(2), CG_SANDBOX, WORLD_UID_A, WORLD_ID_SANDBOX);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, SANDBOX_GAP);
	assert_kind(&w, WORLD_ID_SANDBOX, CONTAINER_KIND_SANDBOX, true);
	/* Nothing in the record of a signal could mark it. */
	signal = world_record(&w, RECORD_SIGNAL, 0);
	assert_int_equal(signal->signal.container.kind, CONTAINER_KIND_UNKNOWN);
	world_close(&w);
}

static void test_shapes(void **state)
{
	static const struct {
		const char *what, *exe, *comm;
		uint32_t ns_pid;
		bool guessed;
	} rows[] = {
		{"PID 1 of the pod's own namespace", "pause", "pause", 1, true},
		{"the host's pid namespace", "pause", "pause", 5151, true},
		{"another of a shared pid namespace", "pause", "pause", 7, false},
		{"its number is not known", "pause", "pause", 0, false},
		{"a program by another name that calls itself so", "workload", "pause", 1, true},
		{"a thread's name was changed", "pause", "main", 1, true},
		{"begins like it", "pause-amd64", "pause-amd64", 1, false},
		{"any other program", "java", "java", 1, false},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct graced_proc p = proc_of(rows[i].exe, rows[i].ns_pid, SEC(9));
		struct world w;

		print_message("# %s\n", rows[i].what);
		strcpy(p.comm, rows[i].comm);
		world_open(&w, NULL);
		begin_x(&w, SEC(10), &p);
		kill_x(&w, SEC(20), &p);
		assert_kind(&w, WORLD_ID_X,
			    rows[i].guessed ? CONTAINER_KIND_SANDBOX : CONTAINER_KIND_UNKNOWN,
			    rows[i].guessed);
		world_close(&w);
	}
}

/* Pods that only hold room run nothing but this image. */
static void test_pause_application(void **state)
{
	struct graced_proc p = proc_of("pause", 1, SEC(11));
	struct world w;

	world_open_pod(&w, false);
	begin_x(&w, SEC(11), &p);
	kill_x(&w, SEC(15), &p);
	assert_kind(&w, WORLD_ID_X, CONTAINER_KIND_UNKNOWN, false);
	/* The one that was there before them all is the sandbox still. */
	world_stop_sandbox(&w, SEC(20));
	world_timer(&w, SEC(21));
	assert_kind(&w, WORLD_ID_SANDBOX, CONTAINER_KIND_SANDBOX, true);
	world_close(&w);
}

/* The kubelet makes a new one once all of the old are gone. */
static void test_new_sandbox(void **state)
{
	struct graced_proc p = proc_of("pause", 1, SEC(30));
	struct world w;

	world_open_pod(&w, false);
	world_stop_a1(&w, SEC(20));
	world_stop_sandbox(&w, SEC(21));
	begin_x(&w, SEC(30), &p);
	kill_x(&w, SEC(40), &p);
	assert_kind(&w, WORLD_ID_X, CONTAINER_KIND_SANDBOX, true);
	world_close(&w);
}

static void test_outside(void **state)
{
	struct graced_proc p = P_D1;
	struct world w;

	strcpy(p.comm, "pause");
	strcpy(p.exe, "pause");
	world_open(&w, NULL);
	world_init(&w, SEC(10), CG_D1, &p);
	world_managed(&w, SEC(20), CG_D1, &p, 9);
	world_exit(&w, SEC(20) + 1, CG_D1, &p, 9);
	world_empty(&w, SEC(20) + 1000, CG_D1);
	assert_verdict(&w, OUTCOME_KILLED, CAUSE_NO_GRACE, 0);
	assert_int_equal(world_stop(&w)->container.kind, CONTAINER_KIND_CONTAINER);
	world_close(&w);
}

static void test_has_one(void **state)
{
	struct meta_container c = {.source = META_DOCKER, .kind = META_KIND_SANDBOX};
	struct graced_proc p = proc_of("pause", 1, SEC(9)), a1 = P_A1;
	struct world w;

	strcpy(c.id, WORLD_ID_A1);
	strcpy(c.pod_uid, WORLD_UID_A);
	a1.start_ns = SEC(10);
	for (int known = 0; known < 2; known++) {
		world_open(&w, NULL);
		begin_x(&w, SEC(9), &p);
		world_init(&w, SEC(10), CG_A1, &a1);
		if (known)
			world_say_container(&w, SEC(11), &c);
		kill_x(&w, SEC(20), &p);
		assert_kind(&w, WORLD_ID_X, known ? CONTAINER_KIND_UNKNOWN : CONTAINER_KIND_SANDBOX,
			    !known);
		world_close(&w);
	}
}

#define SLICE                                       \
	"/kubepods.slice/kubepods-burstable.slice/" \
	"kubepods-burstable-pod11111111_2222_4333_8444_555555555555.slice"

/* CRI-O's, which has no process. */
static void test_has_bare_one(void **state)
{
	struct graced_proc p = proc_of("pause", 1, SEC(9));
	struct world w;

	for (int bare = 0; bare < 2; bare++) {
		world_open(&w, NULL);
		world_found(&w, SEC(8), 70, SLICE);
		if (bare)
			world_made(&w, SEC(8), 71, 70, "crio-" WORLD_ID_SANDBOX);
		world_made(&w, SEC(9), CG_X, 70, "crio-" WORLD_ID_X ".scope");
		world_init(&w, SEC(9), CG_X, &p);
		kill_x(&w, SEC(20), &p);
		assert_kind(&w, WORLD_ID_X, bare ? CONTAINER_KIND_UNKNOWN : CONTAINER_KIND_SANDBOX,
			    !bare);
		world_close(&w);
	}
}

static void test_path_decides(void **state)
{
	struct graced_proc p = proc_of("pause", 1, SEC(9));
	struct world w;

	world_open(&w, NULL);
	world_found(&w, SEC(8), 70, SLICE);
	world_made(&w, SEC(9), CG_X, 70, "crio-" WORLD_ID_X);
	world_init(&w, SEC(9), CG_X, &p);
	assert_true(world_view(&w, "11111111-2222-4333-8444-555555555555").sandbox_running);
	kill_x(&w, SEC(20), &p);
	assert_kind(&w, WORLD_ID_X, CONTAINER_KIND_SANDBOX, false);
	world_close(&w);
}

/* --- a source's word against the shape ------------------------------------------------------- */

static void test_source_decides(void **state)
{
	static const struct {
		enum meta_source source;
		uint32_t kind;
		const char *name;
		enum record_container_kind want;
	} rows[] = {
		{META_CRI, META_KIND_CONTAINER, "main", CONTAINER_KIND_CONTAINER},
		{META_KUBELET, META_KIND_CONTAINER, "main", CONTAINER_KIND_CONTAINER},
		{META_API, META_KIND_CONTAINER, "main", CONTAINER_KIND_CONTAINER},
		{META_DOCKER, META_KIND_CONTAINER, "main", CONTAINER_KIND_CONTAINER},
		{META_CONTAINERD, META_KIND_CONTAINER, "", CONTAINER_KIND_CONTAINER},
		{META_LOGS, META_KIND_UNKNOWN, "main", CONTAINER_KIND_CONTAINER},
		{META_DOCKER, META_KIND_SANDBOX, "", CONTAINER_KIND_SANDBOX},
		{META_CONTAINERD, META_KIND_SANDBOX, "", CONTAINER_KIND_SANDBOX},
		{META_PODMAN, META_KIND_SANDBOX, "", CONTAINER_KIND_SANDBOX},
	};

	for (size_t i = 0; i < 2 * LEN(rows); i++) {
		struct meta_container c = {.source = rows[i / 2].source, .kind = rows[i / 2].kind};
		bool late = i % 2;
		struct world w;

		print_message("# source %u, kind %u, %s\n", c.source, c.kind,
			      late ? "after the exit" : "before");
		strcpy(c.id, WORLD_ID_SANDBOX);
		strcpy(c.pod_uid, WORLD_UID_A);
		strcpy(c.name, rows[i / 2].name);
		world_open_pod(&w, true);
		if (!late)
			world_say_container(&w, SEC(12), &c);
		world_stop_sandbox(&w, SEC(20));
		if (late)
			world_say_container(&w, SEC(20) + MSEC(100), &c);
		world_timer(&w, SEC(21));
		assert_kind(&w, WORLD_ID_SANDBOX, rows[i / 2].want, false);
		world_close(&w);
	}
}

static void test_no_grace(void **state)
{
	struct meta_pod pod = world_pod_a();
	struct world w;

	world_open_pod(&w, true);
	world_say_pod(&w, SEC(11), &pod);
	world_stop_sandbox(&w, SEC(20));
	world_timer(&w, SEC(21));
	assert_int_equal(stop_of(&w, WORLD_ID_SANDBOX)->grace.from, GRACE_UNKNOWN);
	world_close(&w);
}

/* --- the list ------------------------------------------------------------------------------- */

/* Pod A as the kubelet lists it: A1 by its id, and that these are all of them. */
struct list {
	uint64_t at;
	bool complete;
};

static void feed_list(struct world *w, const struct list *list)
{
	struct meta_container a1 = world_main_a1();
	struct meta_pod pod = world_pod_a();

	a1.source = META_KUBELET;
	if (list->complete)
		pod.known |= META_POD_CONTAINERS;
	world_say_pod(w, list->at, &pod);
	world_say_container(w, list->at, &a1);
	world_listed(w, list->at);
}

/* X, whatever it runs, A1 at 10 s, and the list. */
struct scene {
	const char *what;
	uint64_t x_start;
	uint32_t x_rank, a1_rank;
	struct list list;
	uint64_t killed, a1_gone;
	struct list again;
	bool another; /* besides X, as old as X, and not listed */
	bool sandbox; /* ... which Docker says is the sandbox */
	bool other;   /* ... or a container */
	bool known;
};

static void play(const struct scene *s)
{
	struct graced_proc x = proc_of("pod", 1, s->x_start), other = P_A2, a1 = P_A1;
	struct meta_container c = {.source = META_DOCKER, .kind = META_KIND_SANDBOX};
	struct world w;

	print_message("# %s\n", s->what);
	strcpy(c.id, WORLD_ID_SANDBOX);
	strcpy(c.pod_uid, WORLD_UID_A);
	a1.start_ns = SEC(10);
	other.start_ns = SEC(8);
	world_open(&w, &WORLD_ALL);
	if (s->another) {
		world_made(&w, SEC(8), CG_SANDBOX, CG_POD_A, WORLD_ID_SANDBOX);
		world_init(&w, SEC(8), CG_SANDBOX, &other);
	}
	if (s->other)
		c.kind = META_KIND_CONTAINER;
	if (s->sandbox || s->other)
		world_say_container(&w, SEC(8), &c);
	world_made(&w, s->x_start, CG_X, CG_POD_A, WORLD_ID_X);
	if (s->x_start < SEC(10))
		world_ranked(&w, s->x_start, CG_X, &x, s->x_rank);
	world_ranked(&w, SEC(10), CG_A1, &a1, s->a1_rank);
	if (s->x_start >= SEC(10))
		world_ranked(&w, s->x_start, CG_X, &x, s->x_rank);
	if (s->list.at && s->list.at < s->killed)
		feed_list(&w, &s->list);
	if (s->again.at && s->again.at < s->killed)
		feed_list(&w, &s->again);
	if (s->a1_gone) {
		world_exit(&w, s->a1_gone, CG_A1, &a1, EXIT(0));
		world_empty(&w, s->a1_gone + 1000, CG_A1);
		world_timer(&w, s->a1_gone + MSEC(300));
		world_gone(&w, s->a1_gone + MSEC(301), CG_A1, NULL);
	}
	world_managed(&w, s->killed, CG_X, &x, 9);
	world_exit(&w, s->killed + MSEC(1), CG_X, &x, 9);
	world_empty(&w, s->killed + MSEC(1) + 1000, CG_X);
	if (s->list.at > s->killed)
		feed_list(&w, &s->list);
	if (s->again.at > s->killed)
		feed_list(&w, &s->again);
	world_timer(&w, s->killed + MSEC(300));
	assert_kind(&w, WORLD_ID_X, s->known ? CONTAINER_KIND_SANDBOX : CONTAINER_KIND_UNKNOWN,
		    false);
	world_close(&w);
}

#define LISTED_AT(s) .list = {SEC(s), true}
#define RANKS	     .x_rank = GRACED_INIT_PID1, .a1_rank = GRACED_INIT_PID1

static void test_list(void **state)
{
	static const struct scene scenes[] = {
		{"older than a listed container, and not listed", SEC(9), RANKS, LISTED_AT(12),
		 SEC(20), .known = true},
		{"the listed one is gone by then, and its cgroup", SEC(9), RANKS, LISTED_AT(12),
		 SEC(20), .a1_gone = SEC(15), .known = true},
		{"no list was read", SEC(9), RANKS, .killed = SEC(20)},
		{"a container without an id may be the one", SEC(9), RANKS,
		 .list = {SEC(12), false}, .killed = SEC(20)},
		{"younger: the status may lag behind it", SEC(11), RANKS, LISTED_AT(12), SEC(20)},
		{"as young, to a tick of /proc", SEC(10) - MSEC(9), RANKS, LISTED_AT(12), SEC(20)},
		{"it was gone when the list was read", SEC(9), RANKS,
		 .list = {SEC(20) + MSEC(50), true}, .killed = SEC(20)},
		{"two are missing in the list", SEC(9), RANKS, LISTED_AT(12), SEC(20),
		 .another = true},
		{"another is known to be the sandbox", SEC(9), RANKS, LISTED_AT(12), SEC(20),
		 .another = true, .sandbox = true},
		{"another is missing, and known to be a container", SEC(9), RANKS, LISTED_AT(12),
		 SEC(20), .another = true, .other = true, .known = true},
		{"a later list, after its end, lacks it as well", SEC(9), RANKS, LISTED_AT(12),
		 SEC(20), .again = {SEC(20) + MSEC(50), true}, .known = true},
		{"a later list is not complete", SEC(9), RANKS, LISTED_AT(12), SEC(20),
		 .again = {SEC(14), false}},
		{"the listed one's init is a guess, and may be younger than that", SEC(9),
		 .x_rank = GRACED_INIT_PID1, .a1_rank = GRACED_INIT_GUESSED, LISTED_AT(12),
		 .killed = SEC(20)},
		{"its own init is a guess", SEC(9), .x_rank = GRACED_INIT_GUESSED,
		 .a1_rank = GRACED_INIT_PID1, LISTED_AT(12), .killed = SEC(20)},
		{"the listed one began anew since the list", SEC(5), RANKS, .list = {SEC(9), true},
		 .killed = SEC(20)},
	};

	for (size_t i = 0; i < LEN(scenes); i++)
		play(&scenes[i]);
}

/* It may have been gone when the list was made. */
static void test_left_unseen(void **state)
{
	struct graced_proc x = proc_of("pod", 1, SEC(9)), a1 = P_A1;
	struct obs probe = {.type = OBS_PROBE, .at_ns = SEC(20)};
	struct list list = {SEC(12), true};
	struct world w;

	a1.start_ns = SEC(10);
	probe.probe.id = CG_X;
	probe.probe.pid = x.pid;
	probe.probe.start_ns = x.start_ns;
	world_open(&w, &WORLD_ALL);
	begin_x(&w, SEC(9), &x);
	world_init(&w, SEC(10), CG_A1, &a1);
	feed_list(&w, &list);
	world_tell(&w, &probe);
	world_timer(&w, SEC(21));
	world_counts(&w, SEC(21), CG_X, false, &(struct graced_counts){.exits = 1});
	assert_false(stop_of(&w, WORLD_ID_X)->exit.known);
	assert_kind(&w, WORLD_ID_X, CONTAINER_KIND_UNKNOWN, false);
	world_close(&w);
}

/* The list has it a moment later. */
static void test_listed_later(void **state)
{
	struct graced_proc p = proc_of("pause", 1, SEC(2));
	struct meta_container c = world_main_a1();
	struct list list = {SEC(12), true};
	struct world w;

	world_open(&w, &WORLD_ALL);
	begin_x(&w, SEC(3), &p);
	world_init(&w, SEC(10), CG_A1, &P_A1);
	feed_list(&w, &list);
	strcpy(c.id, WORLD_ID_X);
	strcpy(c.name, "late");
	c.source = META_KUBELET;
	world_say_container(&w, SEC(13), &c);
	kill_x(&w, SEC(20), &p);
	assert_kind(&w, WORLD_ID_X, CONTAINER_KIND_CONTAINER, false);
	world_close(&w);
}

static void test_pod_goes_on(void **state)
{
	struct graced_proc x = proc_of("pod", 1, SEC(2) + MSEC(1));
	struct list list = {SEC(12), true};
	struct graced_proc a1 = P_A1;
	struct world w;

	a1.start_ns = SEC(10);
	world_open(&w, &WORLD_ALL);
	begin_x(&w, SEC(3), &x);
	world_init(&w, SEC(10), CG_A1, &a1);
	feed_list(&w, &list);
	assert_true(world_view(&w, WORLD_UID_A).sandbox_running);
	assert_int_equal(world_view(&w, WORLD_UID_A).running, 1);
	world_close(&w);
}

#define CROWD	 400
#define CG_CROWD 1000

static struct graced_proc one_of_crowd(uint64_t i, uint64_t start_ns)
{
	struct graced_proc p = proc_of("pod", 1, start_ns);

	p.pid = (uint32_t)(10000 + i);
	p.cgroup_id = p.watch_id = CG_CROWD + i;
	return p;
}

static void begin_one(struct world *w, uint64_t i, uint64_t at)
{
	const struct graced_proc p = one_of_crowd(i, at);
	char id[65];

	snprintf(id, sizeof(id), "%064llx", (unsigned long long)i);
	world_made(w, at, CG_CROWD + i, CG_POD_A, id);
	world_init(w, at, CG_CROWD + i, &p);
}

static void end_one(struct world *w, uint64_t i, uint64_t at, uint64_t start_ns)
{
	const struct graced_proc p = one_of_crowd(i, start_ns);

	world_exit(w, at, CG_CROWD + i, &p, EXIT(0));
	world_empty(w, at + 1000, CG_CROWD + i);
	world_gone(w, at + 2000, CG_CROWD + i, NULL);
}

/*
 * Half of them are older than the only one that is listed, half are younger, and no source
 * describes any: each look at one of the older has all of the younger in it. Work that grows with
 * the cube of their number would go on for minutes.
 */
static void test_crowd(void **state)
{
	struct list list = {SEC(12), true};
	struct graced_proc a1 = P_A1;
	struct world w;

	a1.start_ns = SEC(10);
	world_open(&w, &WORLD_ALL);
	for (uint64_t i = 0; i < CROWD / 2; i++)
		begin_one(&w, i, SEC(3) + MSEC(i));
	world_init(&w, SEC(10), CG_A1, &a1);
	feed_list(&w, &list);
	for (uint64_t i = CROWD / 2; i < CROWD; i++)
		begin_one(&w, i, SEC(13) + MSEC(i));
	for (uint64_t i = CROWD; i-- > 0;)
		end_one(&w, i, SEC(20) + MSEC(CROWD - i),
			(i < CROWD / 2 ? SEC(3) : SEC(13)) + MSEC(i));
	world_timer(&w, SEC(30));
	assert_int_equal(world_count(&w, RECORD_STOP), CROWD);
	for (size_t i = 0; i < CROWD / 2; i++)
		assert_int_equal(world_record(&w, RECORD_STOP, i)->stop.container.kind,
				 CONTAINER_KIND_UNKNOWN);
	world_close(&w);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what looks like a sandbox is one by guess, which is a gap", test_guessed),
		CLAIM("it is called pause, and PID 1 of its namespace or in the host's",
		      test_shapes),
		CLAIM("an application that runs pause beside an older container is no sandbox",
		      test_pause_application),
		CLAIM("a new sandbox is one, once the old containers are gone", test_new_sandbox),
		CLAIM("beside a sandbox that is known there is no other", test_has_one),
		CLAIM("nor beside one without a process", test_has_bare_one),
		CLAIM("a path that only a sandbox has is no guess", test_path_decides),
		CLAIM("outside of pods there is no sandbox", test_outside),
		CLAIM("a guess gives way to any source, until the record is written",
		      test_source_decides),
		CLAIM("a guessed sandbox has no grace period", test_no_grace),
		CLAIM("the one that a complete list lacks is the sandbox, if it is the oldest",
		      test_list),
		CLAIM("one that left unseen may have been gone when the list was made",
		      test_left_unseen),
		CLAIM("a container that the list has later is no sandbox", test_listed_later),
		CLAIM("a crowd of containers that no source describes is looked at in no time",
		      test_crowd),
		CLAIM("the pod's view has the sandbox apart that the list left", test_pod_goes_on),
	};

	return cmocka_run_group_tests_name("core/engine: sandboxes", tests, NULL, NULL);
}
