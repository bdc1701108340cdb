// SPDX-License-Identifier: Apache-2.0
// A ring of one page and a flood it cannot hold: what falls off is counted, and reported where
// it matters, and nowhere else.
#include "lib/claim.h"
#include "lib/kernel/judge.h"
#include "lib/kernel/kernhalf.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/kernel/priv.h"

#define FLOOD		  100000
#define HALF		  (FLOOD / 2)
#define RING		  4096
#define TEXT(number)	  #number
#define RING_TEXT(number) TEXT(number)

/*
 * Such a ring has no room for what happens to containers of others, nor have their tracers for this
 * flood. So it is in a hierarchy that nobody else follows, where this host has one.
 */
static void choose_hierarchy(void)
{
	static const char *const others[] = {"devices", "blkio", "cpuset"};
	struct hier hier;

	for (size_t i = 0; i < LEN(others); i++) {
		setenv("GRACED_TEST_HIERARCHY", others[i], 1);
		if (!hier_detect(&hier))
			break;
		unsetenv("GRACED_TEST_HIERARCHY");
	}
}

static int setup(void **state)
{
	choose_hierarchy();
	return fixture_open(state, "overrun",
			    BOX_ARGV("--signals", "--ring-size", RING_TEXT(RING)));
}

static int teardown(void **state)
{
	unsetenv("GRACED_TEST_HIERARCHY");
	return fixture_close(state);
}

struct totals {
	int64_t emitted, lost, suppressed;
};

static struct totals totals_of(const json_t *rec)
{
	return (struct totals){
		.emitted = jrec_int(rec, "emitted.signal", -1),
		.lost = jrec_int(rec, "lost.signal", -1),
		.suppressed = jrec_int(rec, "suppressed.signal", -1),
	};
}

static int64_t produced(const struct totals *t)
{
	return t->emitted + t->lost + t->suppressed;
}

/* Wait until the tracer has reported that so many signals were produced. */
static void await_produced(struct fixture *f, int64_t count)
{
	struct tracer_want want = {.type = "lost"};
	struct totals t;

	do {
		const json_t *rec = tracer_await(f->tracer, &want);

		assert_non_null(rec);
		t = totals_of(rec);
		want.nth++;
	} while (produced(&t) < count);
}

/* From two processes at once; both count what went out. */
static void flood(struct box_tree *tree, const struct box *box)
{
	struct proc senders[2];
	char pid[16], count[16];
	struct sent sent;

	snprintf(pid, sizeof(pid), "%d", (int)box->init_pid);
	snprintf(count, sizeof(count), "%d", HALF);
	for (size_t i = 0; i < LEN(senders); i++)
		assert_int_equal(send_start(tree, SEND_HOST, NULL,
					    BOX_ARGV("flood", pid, "15", count), &senders[i]),
				 0);
	for (size_t i = 0; i < LEN(senders); i++) {
		assert_int_equal(send_collect(SEND_HOST, NULL, &senders[i], &sent, 1), 1);
		assert_int_equal(sent.result, HALF);
	}
}

static void stop_another(struct fixture *f)
{
	struct truth truth = {.outcome = "graceful", .cause = "stop-signal"};
	struct sent sent;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful", "5")}, &box);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	truth.stop = &sent;
	judge_box(f, &box, truth);
}

/*
 * Who comes and goes in a container without any other process is worth a record of the smallest
 * size, or of others as long as there is room for them.
 */
static void visit(const struct box *box)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid == 0)
		_exit(cg_enter(box->dir, getpid()) != 0);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void fill_ring(const struct box *empty)
{
	for (int i = 0; i < RING / 64; i++)
		visit(empty);
}

/* A container that has ended, and whose cgroup is there. */
static void start_empty(struct fixture *f, struct box *ret)
{
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("exit", "0"), .no_wait = true}, ret);
	assert_int_equal(proc_wait(&ret->proc, &(struct proc_end){}), 0);
	assert_non_null(tracer_await_stop(f->tracer, ret));
}

/* It reads nothing until it may go on, and there is no room for anything. */
static void stop_reading(struct fixture *f, const struct box *empty)
{
	pid_t pid = tracer_pid(f->tracer);
	int status;

	assert_int_equal(kill(pid, SIGSTOP), 0);
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	fill_ring(empty);
}

/* When it says what was lost, it has read all that was in the ring, or does so next. */
static void go_on_reading(struct fixture *f)
{
	struct tracer_want want = {.type = "lost"};

	want.nth = (unsigned int)tracer_count(f->tracer, &want);
	assert_int_equal(kill(tracer_pid(f->tracer), SIGCONT), 0);
	assert_non_null(tracer_await(f->tracer, &want));
}

static void end_box(struct box *box)
{
	page_go(box->proc.page, 1);
	assert_int_equal(proc_wait(&box->proc, &(struct proc_end){}), 0);
}

/* A cgroup takes what is known of its losses along. */
static void a_lost_exit_is_a_gap_where_the_removal_is_lost_too(void **state)
{
	struct fixture *f = judge_need(state);
	struct box empty, box;
	const json_t *rec;

	start_empty(f, &empty);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, &box);
	stop_another(f);
	stop_reading(f, &empty);
	end_box(&box);
	assert_int_equal(box_remove(&box), 0);
	go_on_reading(f);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'outcome':'unknown','exit':{'code':null}}");
	judge_match(rec, "{'evidence':{'complete':false,'gaps':['events-lost','exit-unseen']}}");
	assert_int_equal(box_remove(&empty), 0);
	stop_another(f);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
}

static void a_life_without_a_record_is_reported(void **state)
{
	struct fixture *f = judge_need(state);
	struct box empty, box;
	const json_t *rec;

	start_empty(f, &empty);
	stop_reading(f, &empty);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, &box);
	end_box(&box);
	go_on_reading(f);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'outcome':'unknown','process':{'pid':null},'exit':{'code':null}}");
	judge_match(rec, "{'evidence':{'gaps':['events-lost','exit-unseen','init-unseen']}}");
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&empty), 0);
	stop_another(f);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
}

/* The records of the first life's end were lost, and all of the second's; the cgroup stays. */
static void a_second_life_without_a_record_is_reported(void **state)
{
	struct fixture *f = judge_need(state);
	struct tracer_want second = {.type = "stop", .nth = 1};
	struct box empty, box;
	const json_t *rec;

	start_empty(f, &empty);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, &box);
	stop_another(f);
	stop_reading(f, &empty);
	end_box(&box);
	go_on_reading(f);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'evidence':{'complete':false,'gaps':['events-lost','exit-unseen']}}");
	stop_reading(f, &empty);
	visit(&box);
	go_on_reading(f);
	second.id = box.id;
	rec = tracer_await(f->tracer, &second);
	assert_non_null(rec);
	judge_match(rec, "{'outcome':'unknown','process':{'pid':null},'exit':{'code':null}}");
	judge_match(rec, "{'evidence':{'gaps':['events-lost','exit-unseen','init-unseen']}}");
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&empty), 0);
	stop_another(f);
	assert_int_equal(judge_count(f, &box, "stop"), 2);
	assert_int_equal(judge_count(f, &box, "empty"), 0);
}

/* Neither its pod's record nor its own came, and it goes on when there is room again. */
static void a_lost_stop_signal_is_a_gap_of_a_container_that_is_found_late(void **state)
{
	struct fixture *f = judge_need(state);
	struct box empty, box;
	struct sent sent;

	start_empty(f, &empty);
	stop_reading(f, &empty);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, &box);
	judge_send(f, SEND_RUNTIME, &box, SIGTERM, &sent);
	go_on_reading(f);
	end_box(&box);
	judge_match(tracer_await_stop(f->tracer, &box),
		    "{'exit':{'code':3},'evidence':{'complete':false,'gaps':['events-lost']}}");
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&empty), 0);
	assert_int_equal(judge_count(f, &box, "stop"), 1);
}

static const json_t *last_of(struct fixture *f, const char *type)
{
	const json_t *last = NULL;

	for (size_t i = 0; i < tracer_records(f->tracer); i++)
		if (!strcmp(jrec_text(tracer_record(f->tracer, i), "type"), type))
			last = tracer_record(f->tracer, i);
	return last;
}

static void what_falls_off_is_counted_and_reported_where_it_matters(void **state)
{
	struct fixture *f = judge_need(state);
	struct proc_end end;
	const json_t *rec;
	struct totals t;
	struct box box;

	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("sigign", "3")}, &box);
	flood(&f->tree, &box);
	await_produced(f, FLOOD);

	/* Another container is none the worse for it, and is seen. */
	stop_another(f);

	page_go(box.proc.page, 1);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	rec = tracer_await_stop(f->tracer, &box);
	judge_match(rec, "{'evidence':{'complete':false,'gaps':['events-lost']}}");
	judge_match(rec, "{'outcome':'graceful','cause':'self','exit':{'code':3,'signal':0}}");
	assert_int_equal(box_remove(&box), 0);
	stop_another(f);

	assert_int_equal(tracer_stop(f->tracer), 0);
	rec = last_of(f, "lost");
	t = totals_of(rec);
	assert_true(t.lost > 0);
	assert_int_equal(tracer_count(f->tracer, &(struct tracer_want){.type = "signal"}),
			 t.emitted);
}

static int setup_half(void **state)
{
	choose_hierarchy();
	return kernhalf_open_ring(state, "overrun-half", RING);
}

static int teardown_half(void **state)
{
	unsetenv("GRACED_TEST_HIERARCHY");
	return kernhalf_close(state);
}

/* Only the test's own tree is watched here. */
static void each_signal_is_emitted_lost_or_suppressed(void **state)
{
	struct kern_misses misses;
	struct graced_stat stats[GRACED_STAT_COUNT], *t = &stats[GRACED_EV_SIGNAL];
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts counts;
	struct box box;

	assert_int_equal(box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("sigign")}, &box),
			 0);
	kernhalf_drain(k);
	flood(&k->tree, &box);
	kernhalf_drain(k);
	counts = kernhalf_counts(k, box.dir);
	assert_int_equal(kern_read_stats(k->kern, stats), 0);
	assert_int_equal(t->suppressed, 0);
	assert_int_equal(t->emitted, k->n_signals);
	assert_int_equal(t->lost, counts.lost);
	assert_true(t->lost > 0);
	/* A program that the kernel did not run is counted apart; each may have been a signal's. */
	kern_misses(k->kern, &misses);
	assert_in_range(FLOOD - t->emitted - t->lost, 0, misses.sure + misses.open);
	assert_int_equal(box_remove(&box), 0);
}

static void a_removal_without_a_record_leaves_its_counts(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_watch watch;
	struct box boxes[2];
	uint64_t ids[2];

	kernhalf_drain(k);
	for (int full = 0; full < 2; full++) {
		assert_int_equal(box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("sigign")},
					   &boxes[full]),
				 0);
		ids[full] = kernhalf_id(boxes[full].dir);
		end_box(&boxes[full]);
		kernhalf_drain(k);
		if (full)
			fill_ring(&boxes[full]);
		assert_int_equal(box_remove(&boxes[full]), 0);
	}
	assert_int_equal(kern_watch_get(k->kern, ids[0], &watch), -ENOENT);
	assert_int_equal(kern_watch_get(k->kern, ids[1], &watch), 0);
	assert_int_equal(watch.gone, 1);
	assert_int_equal(watch.counts.exits, 1 + RING / 64);
	assert_true(watch.counts.lost > 0);
	assert_int_equal(kern_watch_delete(k->kern, ids[1]), 0);
	kernhalf_drain(k);
}

#define QUOTA_POD 512
/* No cgroup has such an id. */
#define MADE_UP	  (UINT64_MAX - 1000)

struct kept {
	uint64_t ids[3 * QUOTA_POD];
	size_t n;
};

static int take_kept(void *userdata, uint64_t id, const struct graced_watch *watch)
{
	struct kept *kept = userdata;

	if (watch->gone && kept->n < LEN(kept->ids))
		kept->ids[kept->n++] = id;
	return 0;
}

/* The entries whose removal had no room in the ring: deletes them, each once. */
static size_t delete_kept(struct kernhalf *k)
{
	struct kept kept = {};

	assert_int_equal(kern_watch_each(k->kern, take_kept, &kept), 0);
	for (size_t i = 0; i < kept.n; i++) {
		assert_int_equal(kern_watch_delete(k->kern, kept.ids[i]), 0);
		assert_int_equal(kern_watch_delete(k->kern, kept.ids[i]), -ENOENT);
	}
	return kept.n;
}

/* How many of so many cgroups of the pod, each removed before the next is made, are watched. */
static int count_watched(struct kernhalf *k, const struct box *box, int n)
{
	char dir[HIER_PATH_MAX + 128];
	struct graced_watch watch;
	int watched = 0;

	for (int i = 0; i < n; i++) {
		snprintf(dir, sizeof(dir), "%s/%d", box->pod_dir, i);
		assert_int_equal(mkdir(dir, 0755), 0);
		watched += kern_watch_get(k->kern, kernhalf_id(dir), &watch) == 0;
		assert_int_equal(rmdir(dir), 0);
	}
	return watched;
}

/* Or what may make cgroups would fill the map while nobody reads the ring. */
static void what_is_kept_is_charged(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_watch daemons = {.kind = GRACED_WATCH_BRANCH};
	struct box box;

	assert_int_equal(box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("sigign")}, &box),
			 0);
	end_box(&box);
	kernhalf_drain(k);
	delete_kept(k);
	fill_ring(&box);
	daemons.owner_id = kernhalf_id(box.pod_dir);
	/* The container is one of those that the pod may have; what is deleted is given back once,
	 * and what was not charged is not. */
	for (int i = 0; i < 2; i++) {
		assert_int_equal(kern_watch_add(k->kern, MADE_UP, &daemons), 0);
		assert_int_equal(kern_watch_delete(k->kern, MADE_UP), 0);
		assert_int_equal(count_watched(k, &box, 2 * QUOTA_POD), QUOTA_POD - 1);
		assert_int_equal(delete_kept(k), QUOTA_POD - 1);
	}
	/* Where there is room for the record the kernel half deletes it. */
	kernhalf_drain(k);
	for (int i = 0; i < 2 * QUOTA_POD; i += 4) {
		assert_int_equal(count_watched(k, &box, 4), 4);
		kernhalf_drain(k);
	}
	assert_int_equal(delete_kept(k), 0);
	assert_int_equal(box_remove(&box), 0);
	kernhalf_drain(k);
}

static void what_there_was_no_room_for_is_watched_by_its_name(void **state)
{
	static const struct {
		const char *name;
		uint32_t kind;
	} rows[] = {
		{"pod94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968", GRACED_WATCH_POD},
		{"00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff",
		 GRACED_WATCH_CONTAINER},
		{"branch", GRACED_WATCH_MAYBE},
	};
	struct kernhalf *k = kernhalf_need(state);
	char dir[HIER_PATH_MAX + 128];
	struct graced_watch watch;
	struct box box;

	assert_int_equal(box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("sigign")}, &box),
			 0);
	end_box(&box);
	fill_ring(&box);
	for (size_t i = 0; i < LEN(rows); i++) {
		snprintf(dir, sizeof(dir), "%s/kubepods/burstable/%s", k->tree.root, rows[i].name);
		assert_int_equal(mkdir(dir, 0755), 0);
		assert_int_equal(kern_watch_get(k->kern, kernhalf_id(dir), &watch), 0);
		assert_int_equal(watch.kind, rows[i].kind);
		assert_int_equal(watch.counts.lost, 1);
		assert_int_equal(rmdir(dir), 0);
	}
	kernhalf_drain(k);
	assert_int_equal(box_remove(&box), 0);
	kernhalf_drain(k);
}

int main(void)
{
	const struct CMUnitTest half[] = {
		CLAIM("emitted + lost + suppressed is what was produced",
		      each_signal_is_emitted_lost_or_suppressed),
		CLAIM("a cgroup whose record there was no room for is watched by its name",
		      what_there_was_no_room_for_is_watched_by_its_name),
		CLAIM("a removal that there was no room for leaves its counts",
		      a_removal_without_a_record_leaves_its_counts),
		CLAIM("... and its entry is charged until it is deleted", what_is_kept_is_charged),
	};
	const struct CMUnitTest traced[] = {
		CLAIM("a lost exit is a gap where the removal of its cgroup is lost, too",
		      a_lost_exit_is_a_gap_where_the_removal_is_lost_too),
		CLAIM("a life without a single record is reported while its cgroup stays",
		      a_life_without_a_record_is_reported),
		CLAIM("... and so is a second life in the same cgroup",
		      a_second_life_without_a_record_is_reported),
		CLAIM("a lost stop signal is a gap of a container that is found late",
		      a_lost_stop_signal_is_a_gap_of_a_container_that_is_found_late),
		CLAIM("what is lost is counted, and only the container concerned has a gap",
		      what_falls_off_is_counted_and_reported_where_it_matters),
	};

	return cmocka_run_group_tests_name("overrun, kernel half", half, setup_half,
					   teardown_half) +
	       cmocka_run_group_tests_name("overrun", traced, setup, teardown);
}
