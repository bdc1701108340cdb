// SPDX-License-Identifier: Apache-2.0
// Containers without an init are searched in bounded turns, and only where the kernel half knows
// none either. On the hierarchies that this host has.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include "app/live/feed.h"
#include "app/live/scan.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define CROWD	    1500
#define TURN_MOST   800 /* processes that one turn may read */
#define TURNS_MOST  200
#define CONTAINERS  200
#define LONG_AGO_NS 20000000000ull

struct site {
	struct kernhalf *k;
	struct options options;
	sd_event *event;
	struct cgfs *cgfs;
	struct ring *ring;
	struct feed *feed;
	struct scan *scan;
	pid_t crowd[CROWD];
};

static void on_obs(void *userdata, const struct obs *obs)
{
	struct site *s = userdata;

	feed_obs(s->feed, obs);
}

static int setup(void **state)
{
	struct site *s = calloc(1, sizeof(*s));
	const struct feed_sink sink = {};
	struct scan_parts parts;
	void *k = NULL;

	if (!s || kernhalf_open(&k, "search") < 0)
		return -1;
	*state = k ? s : NULL;
	s->k = k;
	if (!k)
		return 0;
	options_init(&s->options, "trace");
	if (feed_new(&s->options.engine, &sink, &s->feed) < 0 || sd_event_new(&s->event) < 0 ||
	    cgfs_open(s->k->tree.hier.mount, s->k->tree.hier.unified, &s->cgfs) < 0 ||
	    ring_new(s->event, s->k->kern, on_obs, s, &s->ring) < 0)
		return -1;
	parts = (struct scan_parts){
		.options = &s->options,
		.feed = s->feed,
		.kern = s->k->kern,
		.cgfs = s->cgfs,
		.ring = s->ring,
	};
	return scan_new(&parts, &s->scan);
}

static int teardown(void **state)
{
	struct site *s = *state;
	void *k;

	if (!s)
		return 0;
	scan_free(s->scan);
	ring_free(s->ring);
	sd_event_unref(s->event);
	cgfs_free(s->cgfs);
	feed_free(s->feed);
	k = s->k;
	free(s);
	return kernhalf_close(&k);
}

static struct site *need(void **state)
{
	if (!*state)
		skip();
	return *state;
}

/* The engine has known it for long. */
static void found(struct site *s, uint64_t id, const char *path)
{
	struct obs obs;

	feed_begin(&obs, OBS_CGROUP_FOUND);
	obs.at_ns -= LONG_AGO_NS;
	obs.cgroup.id = id;
	obs.cgroup.kind = GRACED_WATCH_CONTAINER;
	snprintf(obs.cgroup.path, sizeof(obs.cgroup.path), "%s", path);
	feed_obs(s->feed, &obs);
}

static uint64_t start(struct site *s, struct box *box)
{
	const struct box_spec spec = {.run = page_exit_at_go, .host_pidns = true};
	uint64_t id;

	assert_int_equal(box_start(&s->k->tree, &spec, box), 0);
	id = kernhalf_id(box->dir);
	found(s, id, box->path);
	return id;
}

static void fill(struct site *s, const struct box *box)
{
	for (int i = 0; i < CROWD; i++) {
		s->crowd[i] = fork();
		assert_true(s->crowd[i] >= 0);
		if (s->crowd[i] == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			for (;;)
				pause();
		}
		assert_int_equal(cg_enter(box->dir, s->crowd[i]), 0);
	}
}

static void clear(struct site *s)
{
	for (int i = 0; i < CROWD; i++) {
		assert_int_equal(kill(s->crowd[i], SIGKILL), 0);
		assert_int_equal(waitpid(s->crowd[i], NULL, 0), s->crowd[i]);
	}
}

struct known {
	uint64_t id;
	bool is;
};

static void look(void *userdata, const struct engine_running *running)
{
	struct known *known = userdata;

	known->is |= running->id == known->id;
}

static bool has_init(const struct site *s, uint64_t id)
{
	struct known known = {.id = id};

	engine_each_container(feed_engine(s->feed), look, &known);
	return known.is;
}

/* How many turns it takes. */
static unsigned int find(struct site *s, uint64_t id)
{
	unsigned int turns = 0;

	while (!has_init(s, id)) {
		assert_true(turns < TURNS_MOST);
		scan_find_inits(s->scan, turns++ == 0);
	}
	return turns;
}

static void a_crowd_is_read_in_turns(void **state)
{
	struct site *s = need(state);
	struct graced_init init;
	unsigned int turns;
	struct box box;
	uint64_t id = start(s, &box);

	fill(s, &box);
	turns = find(s, id);
	print_message("# %u turns\n", turns);
	assert_true(turns > CROWD / TURN_MOST);
	/* The oldest was chosen. */
	assert_int_equal(kern_init_get(s->k->kern, id, &init), 0);
	assert_int_equal(init.pid, box.init_pid);
	clear(s);
	assert_int_equal(box_remove(&box), 0);
}

/* All but the last turn have read the crowd, and the oldest with it. */
static void one_that_has_left_is_not_chosen(void **state)
{
	struct site *s = need(state);
	struct graced_init init;
	unsigned int turns = 0;
	struct box box, other;
	uint64_t id = start(s, &box);

	assert_int_equal(box_start(&s->k->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")},
				   &other),
			 0);
	fill(s, &box);
	while (turns < CROWD / TURN_MOST + 1) {
		scan_find_inits(s->scan, turns++ == 0);
		assert_false(has_init(s, id));
	}
	assert_int_equal(cg_enter(other.dir, box.init_pid), 0);
	while (!has_init(s, id)) {
		assert_true(turns < TURNS_MOST);
		scan_find_inits(s->scan, turns++ == 0);
	}
	assert_int_equal(kern_init_get(s->k->kern, id, &init), 0);
	print_message("# %u turns\n", turns);
	assert_int_not_equal(init.pid, box.init_pid);
	clear(s);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(box_remove(&other), 0);
}

static void what_the_kernel_half_knows_is_not_searched_for(void **state)
{
	struct site *s = need(state);
	struct graced_init init = {.rank = GRACED_INIT_FIRST};
	struct procfs_proc proc;
	struct box box;
	uint64_t id = start(s, &box);

	fill(s, &box);
	assert_int_equal(procfs_read(box.init_pid, id, &proc), 0);
	init.pid = proc.proc.pid;
	init.start_ns = proc.proc.start_ns;
	assert_int_equal(kern_init_add(s->k->kern, id, &init), 0);
	assert_int_equal(find(s, id), 1);
	clear(s);
	assert_int_equal(box_remove(&box), 0);
}

/* Most of those before it in the round have no process. */
static void many_containers_are_searched_in_turns(void **state)
{
	struct site *s = need(state);
	char dirs[CONTAINERS][HIER_PATH_MAX + 80];
	unsigned int turns = 0, all = 0;
	struct box box, boxes[2];
	uint64_t ids[2];

	assert_int_equal(
		box_start(&s->k->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	for (int i = 0; i < CONTAINERS; i++) {
		snprintf(dirs[i], sizeof(dirs[i]), "%s/%064x", box.pod_dir, i);
		assert_int_equal(hier_make(&s->k->tree.hier, dirs[i], false), 0);
		found(s, kernhalf_id(dirs[i]), box_tree_relative(&s->k->tree, dirs[i]));
	}
	for (int i = 0; i < 2; i++)
		ids[i] = start(s, boxes + i);
	while (all < 2) {
		assert_true(turns < TURNS_MOST);
		scan_find_inits(s->scan, turns++ == 0);
		all = has_init(s, ids[0]) + has_init(s, ids[1]);
	}
	print_message("# %u turns\n", turns);
	for (int i = 0; i < 2; i++)
		assert_int_equal(box_remove(boxes + i), 0);
	for (int i = 0; i < CONTAINERS; i++)
		assert_int_equal(cg_remove(dirs[i]), 0);
	assert_int_equal(box_remove(&box), 0);
}

static int run(const char *hierarchy)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("processes among which an init is searched are read in turns",
		      a_crowd_is_read_in_turns),
		CLAIM("the oldest is not chosen if it has left since it was read",
		      one_that_has_left_is_not_chosen),
		CLAIM("an init that the kernel half knows is not searched for",
		      what_the_kernel_half_knows_is_not_searched_for),
		CLAIM("a round comes to its end, however many containers are in it",
		      many_containers_are_searched_in_turns),
	};
	struct hier hier;

	setenv("GRACED_TEST_HIERARCHY", hierarchy, 1);
	if (hier_detect(&hier)) {
		printf("# %s is not mounted here\n", hierarchy);
		return 0;
	}
	return cmocka_run_group_tests_name(hierarchy, tests, setup, teardown);
}

int main(void)
{
	return run("memory") + run("unified");
}
