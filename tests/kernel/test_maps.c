// SPDX-License-Identifier: Apache-2.0
// What the kernel half keeps per cgroup: it comes, counts and goes as it should.
#include "lib/claim.h"
#include "lib/kernel/kernhalf.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/kernel/priv.h"

static int setup(void **state)
{
	return kernhalf_open(state, "maps");
}

static const char *const maps[] = {"watched", "inits", "quotas", "noisy"};

static void entries_go_with_their_cgroups(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct box boxes[8], first;
	unsigned int before[LEN(maps)];

	/* The first box makes what all have in common, and that stays. */
	assert_int_equal(
		box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &first), 0);
	for (size_t i = 0; i < LEN(maps); i++)
		before[i] = kernhalf_entries(k, maps[i]);
	for (size_t i = 0; i < LEN(boxes); i++) {
		struct box_spec spec = {.argv = BOX_ARGV("graceful"),
					.nested = i % 2 ? "in" : NULL};

		assert_int_equal(box_start(&k->tree, &spec, &boxes[i]), 0);
		assert_int_equal(kern_noisy_set(k->kern, kernhalf_id(boxes[i].dir), true), 0);
	}
	for (size_t i = 0; i < LEN(maps); i++)
		assert_true(kernhalf_entries(k, maps[i]) >= before[i] + LEN(boxes));
	for (size_t i = 0; i < LEN(boxes); i++)
		assert_int_equal(box_remove(&boxes[i]), 0);
	for (size_t i = 0; i < LEN(maps); i++)
		assert_int_equal(kernhalf_entries(k, maps[i]), before[i]);
	assert_int_equal(box_remove(&first), 0);
}

static uint32_t populated(const struct kernhalf *k, uint64_t id)
{
	struct graced_watch watch;

	assert_int_equal(kern_watch_get(k->kern, id, &watch), 0);
	return watch.populated;
}

static void each_change_from_populated_to_empty_is_noted(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	char dir[HIER_PATH_MAX + 80], below[HIER_PATH_MAX + 96];
	uint64_t id;
	pid_t pid;

	snprintf(dir, sizeof(dir), "%s/%064d", k->tree.root, 8);
	snprintf(below, sizeof(below), "%s/below", dir);
	assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
	assert_int_equal(hier_make(&k->tree.hier, below, false), 0);
	id = kernhalf_id(dir);
	assert_int_equal(populated(k, id), GRACED_NEVER_POPULATED);
	for (uint32_t life = 0; life < 3; life++) {
		pid = fork();
		if (pid == 0) {
			pause();
			_exit(0);
		}
		assert_int_equal(cg_enter(life == 1 ? below : dir, pid), 0);
		assert_int_equal(populated(k, id), GRACED_NEVER_POPULATED + 2 * life + 1);
		if (life < 2)
			assert_int_equal(cg_enter(life == 1 ? dir : below, pid), 0);
		assert_int_equal(populated(k, id), GRACED_NEVER_POPULATED + 2 * life + 1);
		assert_int_equal(kill(pid, SIGKILL), 0);
		assert_int_equal(waitpid(pid, NULL, 0), pid);
		assert_int_equal(populated(k, id), GRACED_NEVER_POPULATED + 2 * life + 2);
	}
	assert_int_equal(cg_remove(below), 0);
	assert_int_equal(cg_remove(dir), 0);
}

/* Runs a program in the calling process or in a child of it. */
static void run_true(bool in_child)
{
	pid_t pid = in_child ? fork() : 0;

	if (pid == 0)
		execlp("true", "true", (char *)NULL);
	if (pid <= 0 || waitpid(pid, NULL, 0) != pid)
		_exit(1);
}

static void the_init_comes_from_outside(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	char dir[HIER_PATH_MAX + 80];
	struct graced_init init;
	int go[2], status;
	uint64_t id;
	pid_t pid;
	char c;

	snprintf(dir, sizeof(dir), "%s/%064d", k->tree.root, 7);
	assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
	id = kernhalf_id(dir);
	assert_int_equal(pipe(go), 0);
	pid = fork();
	if (pid == 0) {
		if (cg_enter(dir, getpid()))
			_exit(1);
		run_true(true);
		kill(getpid(), SIGSTOP);
		if (read(go[0], &c, 1) != 1)
			_exit(1);
		run_true(false);
	}
	assert_int_equal(waitpid(pid, &status, WUNTRACED), pid);
	assert_true(WIFSTOPPED(status));
	/* The child's exec made no init: its parent is inside. */
	assert_true(bpf_map_lookup_elem(k->kern->inits_fd, &id, &init) < 0);
	kernhalf_drain(k);
	kill(pid, SIGCONT);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	kernhalf_drain(k);
	assert_int_equal(k->n_exits, 1);
	assert_int_equal(k->exits[0].proc.pid, pid);
	assert_int_equal(k->exits[0].hdr.watch_id, id);
	close(go[0]);
	close(go[1]);
	assert_int_equal(cg_remove(dir), 0);
}

struct turning {
	struct kern *kern;
	uint64_t id;
	atomic_bool done;
	unsigned int turns;
};

static void *turn(void *userdata)
{
	struct turning *t = userdata;

	while (!atomic_load(&t->done) &&
	       kern_watch_set_kind(t->kern, t->id,
				   t->turns % 2 ? GRACED_WATCH_CONTAINER : GRACED_WATCH_SERVICE) ==
		       0)
		t->turns++;
	return NULL;
}

static void a_kind_is_changed_without_losing_a_count(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts before, after;
	struct turning t = {.kern = k->kern};
	pthread_t thread;
	struct box box;

	assert_int_equal(
		box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	t.id = kernhalf_id(box.dir);
	before = kernhalf_counts(k, box.dir);
	assert_int_equal(pthread_create(&thread, NULL, turn, &t), 0);
	kernhalf_end_children(box.dir, 1000, 0);
	atomic_store(&t.done, true);
	assert_int_equal(pthread_join(thread, NULL), 0);
	after = kernhalf_counts(k, box.dir);
	assert_true(t.turns > 0);
	assert_int_equal(after.exits - before.exits, 1001);
	assert_int_equal(box_remove(&box), 0);
}

/* What a stage makes in its new pid namespace: PID 1, which never execs, and another process. */
struct made {
	pid_t init, other;
};

static pid_t make_deaf(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	signal(SIGTERM, SIG_IGN);
	for (;;)
		pause();
}

/* In the cgroup: makes them, and leaves the cgroup at the next go. */
static void run_stage(const char *dir, const char *outside, int report, int go)
{
	struct made made;
	char c;

	if (cg_enter(dir, getpid()) || unshare(CLONE_NEWPID))
		_exit(1);
	made.init = make_deaf();
	made.other = make_deaf();
	if (write(report, &made, sizeof(made)) != sizeof(made) || read(go, &c, 1) != 1 ||
	    cg_enter(outside, getpid()) || write(report, &made, sizeof(made)) != sizeof(made))
		_exit(1);
	while (waitpid(-1, NULL, 0) > 0)
		;
	_exit(0);
}

/* A stage in that cgroup; sigs are sent while it is in there, the first to what is the init. */
static void live_early(struct kernhalf *k, const char *dir, const int sigs[static 2],
		       struct graced_ev_init *ret)
{
	int report[2], go[2];
	struct made made;
	pid_t stage;

	assert_int_equal(pipe(report) | pipe(go), 0);
	kernhalf_drain(k);
	k->n_inits = 0;
	stage = fork();
	if (stage == 0)
		run_stage(dir, k->tree.root, report[1], go[0]);
	assert_int_equal(read(report[0], &made, sizeof(made)), sizeof(made));
	if (sigs[0])
		assert_int_equal(kill(made.init, sigs[0]), 0);
	if (sigs[1])
		assert_int_equal(kill(made.other, sigs[1]), 0);
	assert_int_equal(write(go[1], "", 1), 1);
	assert_int_equal(read(report[0], &made, sizeof(made)), sizeof(made));
	kernhalf_drain(k);
	assert_int_equal(k->n_inits, 0);
	assert_int_equal(kill(made.init, SIGKILL), 0);
	assert_int_equal(waitpid(stage, NULL, 0), stage);
	kernhalf_drain(k);
	assert_int_equal(k->n_inits, 1);
	*ret = k->inits[0];
	for (int i = 0; i < 2; i++) {
		close(report[i]);
		close(go[i]);
	}
}

/* While its parent was in the container it could have been anything's PID 1. */
static void what_init_was_sent_before_it_was_known_is_missing(void **state)
{
	static const struct {
		int sigs[2];
		uint32_t flags;
	} lives[] = {
		{{0, 0}, 0},
		{{SIGUSR1, 0}, 0},
		{{SIGTERM, 0}, GRACED_INIT_LATE},
		{{0, SIGTERM}, 0},
		{{SIGTERM, SIGTERM}, GRACED_INIT_LATE},
		{{0, 0}, 0},
	};
	struct kernhalf *k = kernhalf_need(state);
	char dir[HIER_PATH_MAX + 80];

	/* One after the other in one cgroup: what one life was sent says nothing about the next. */
	snprintf(dir, sizeof(dir), "%s/%064d", k->tree.root, 7);
	assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
	for (size_t i = 0; i < LEN(lives); i++) {
		struct graced_ev_init init;

		live_early(k, dir, lives[i].sigs, &init);
		assert_int_equal(init.rank, GRACED_INIT_PID1);
		if (init.flags != lives[i].flags)
			fail_msg("life %zu: flags %x", i, init.flags);
	}
	assert_int_equal(cg_remove(dir), 0);
}

static uint64_t since(const struct kernhalf *k, uint64_t id)
{
	struct graced_watch watch;

	assert_int_equal(kern_watch_get(k->kern, id, &watch), 0);
	return watch.since_ns;
}

/* A process that begins at that moment or later is recorded from its start. */
static void it_is_known_since_when_a_container_is_watched(void **state)
{
	const uint64_t id = UINT64_MAX - 1000; /* no cgroup's */
	struct kernhalf *k = kernhalf_need(state);
	struct graced_watch watch = {.kind = GRACED_WATCH_CONTAINER, .since_ns = page_clock_ns()};
	uint64_t there;

	/* The clock was read before its entry was there. */
	there = page_clock_ns();
	assert_int_equal(kern_watch_add(k->kern, id, &watch), 0);
	assert_in_range(since(k, id), there, page_clock_ns());
	there = since(k, id);
	assert_int_equal(kern_watch_set_kind(k->kern, id, GRACED_WATCH_SERVICE), 0);
	assert_int_equal(since(k, id), there);
	assert_int_equal(kern_watch_set_kind(k->kern, id, GRACED_WATCH_BRANCH), 0);
	there = page_clock_ns();
	assert_int_equal(kern_watch_set_kind(k->kern, id, GRACED_WATCH_CONTAINER), 0);
	assert_in_range(since(k, id), there, page_clock_ns());
	assert_int_equal(kern_watch_delete(k->kern, id), 0);
}

/* A child of the cgroup that has ended and is not waited for; its parent lives until killed. */
static pid_t start_zombie(const char *dir, pid_t *ret_parent)
{
	int report[2];
	siginfo_t si;
	pid_t pid;

	assert_int_equal(pipe(report), 0);
	*ret_parent = fork();
	if (*ret_parent == 0) {
		pid = cg_enter(dir, getpid()) ? -1 : fork();
		if (pid == 0)
			_exit(0);
		if (pid < 0 || waitid(P_PID, (id_t)pid, &si, WEXITED | WNOWAIT) < 0 ||
		    write(report[1], &pid, sizeof(pid)) != sizeof(pid))
			_exit(1);
		for (;;)
			pause();
	}
	assert_int_equal(read(report[0], &pid, sizeof(pid)), sizeof(pid));
	close(report[0]);
	close(report[1]);
	return pid;
}

static void the_dead_are_not_killed_again(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	struct graced_counts counts;
	pid_t zombie, parent;
	struct box box;

	assert_int_equal(
		box_start(&k->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	zombie = start_zombie(box.dir, &parent);
	counts = kernhalf_counts(k, box.dir);
	assert_int_equal(kill(zombie, SIGKILL), 0);
	assert_int_equal(kernhalf_counts(k, box.dir).kills, counts.kills);
	assert_int_equal(kill(parent, SIGKILL), 0);
	assert_int_equal(kernhalf_counts(k, box.dir).kills, counts.kills + 1);
	assert_int_equal(waitpid(parent, NULL, 0), parent);
	assert_int_equal(box_remove(&box), 0);
}

static uint32_t delegated_level(const struct kernhalf *k, const char *dir)
{
	struct graced_watch watch;

	assert_int_equal(kern_watch_get(k->kern, kernhalf_id(dir), &watch), 0);
	return watch.delegated_level;
}

/* As cgfs_delegated_level() has it for what is there: the kernel half has it from the start. */
static void who_could_name_it_is_known(void **state)
{
	static const struct {
		mode_t mode;
		uid_t uid;
		gid_t gid;
		bool roots;
	} cases[] = {
		{0755, 0, 0, true},	     {0755, 65534, 0, false}, {0775, 0, 65534, false},
		{0757, 0, 0, false},	     {0775, 0, 0, true},      {0755, 0, 65534, true},
		{0755, 65534, 65534, false},
	};
	struct kernhalf *k = kernhalf_need(state);
	char top[HIER_PATH_MAX], child[HIER_PATH_MAX + 2], below[HIER_PATH_MAX + 4];

	for (size_t i = 0; i < LEN(cases); i++) {
		uint32_t level;

		snprintf(top, sizeof(top), "%.480s/lent-%zu", k->tree.root, i);
		snprintf(child, sizeof(child), "%s/c", top);
		snprintf(below, sizeof(below), "%s/d", child);
		assert_int_equal(hier_make(&k->tree.hier, top, false), 0);
		assert_int_equal(delegated_level(k, top), 0);
		assert_int_equal(chown(top, cases[i].uid, cases[i].gid), 0);
		assert_int_equal(chmod(top, cases[i].mode), 0);
		assert_int_equal(hier_make(&k->tree.hier, child, false), 0);
		assert_int_equal(hier_make(&k->tree.hier, below, false), 0);
		level = cases[i].roots ? 0 : 3;
		if (delegated_level(k, child) != level || delegated_level(k, below) != level)
			fail_msg("case %zu: %u and %u", i, delegated_level(k, child),
				 delegated_level(k, below));
		assert_int_equal(cg_sweep(top), 0);
	}
}

/* Makes cgroups below dir, each in the one before it, and appends their path to it. */
static void nest(const struct kernhalf *k, char *dir, unsigned int depth)
{
	for (unsigned int i = 0; i < depth; i++) {
		strcat(dir, "/d");
		assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
	}
}

#define DEEPEST	  64 /* level of an entry; the tree's is 1 */
#define CONTAINER "/0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

/* A container at a level, and processes that end in it and so many cgroups below it. */
static void end_below(const struct kernhalf *k, unsigned int level, unsigned int depth)
{
	char container[HIER_PATH_MAX], dir[HIER_PATH_MAX];
	unsigned int n = 7;

	snprintf(dir, sizeof(dir), "%.150s", k->tree.root);
	nest(k, dir, level - 2);
	kernhalf_end_children(dir, 3, SIGKILL);
	snprintf(container, sizeof(container), "%.400s" CONTAINER, dir);
	assert_int_equal(hier_make(&k->tree.hier, container, false), 0);
	strcpy(dir, container);
	nest(k, dir, depth);
	kernhalf_end_children(dir, n, SIGKILL);
	if (kernhalf_counts(k, container).exits != n + 1 ||
	    kernhalf_counts(k, container).kills != n)
		fail_msg("level %u, %u below it: %llu exits, %llu kills", level, depth,
			 (unsigned long long)kernhalf_counts(k, container).exits,
			 (unsigned long long)kernhalf_counts(k, container).kills);
	assert_int_equal(cg_sweep(container), 0);
	snprintf(dir, sizeof(dir), "%.150s/d", k->tree.root);
	if (level > 2)
		assert_int_equal(cg_sweep(dir), 0);
}

static void a_container_is_found_from_any_depth(void **state)
{
	static const unsigned int levels[] = {2, 5, DEEPEST}, depths[] = {0, 1, 2, 3, 4, 5, 9, 40};
	struct kernhalf *k = kernhalf_need(state);

	for (size_t i = 0; i < LEN(levels); i++)
		for (size_t j = 0; j < LEN(depths); j++)
			end_below(k, levels[i], depths[j]);
}

static uint32_t kind(const struct kernhalf *k, const char *dir)
{
	struct graced_watch watch;

	assert_int_equal(kern_watch_get(k->kern, kernhalf_id(dir), &watch), 0);
	return watch.kind;
}

/* Says of the tree that it is above a listed path, and which name leads out of what is looked at. */
static void list_paths(const struct kernhalf *k, struct graced_watch *watch, uint32_t part)
{
	const struct graced_step users = {.part = GRACED_PART_FIRST, .name = "user.slice"},
				 out = {.part = GRACED_PART_FIRST, .name = "out"};
	const uint32_t outside = GRACED_PART_OUTSIDE;
	uint64_t id = kernhalf_id(k->tree.root);
	int steps = kernhalf_map(k, "steps");

	assert_int_equal(kern_watch_get(k->kern, id, watch), 0);
	watch->part = part;
	assert_int_equal(bpf_map_update_elem(k->kern->watched_fd, &id, watch, BPF_EXIST), 0);
	/* There is room for one. */
	bpf_map_delete_elem(steps, &users);
	assert_int_equal(bpf_map_update_elem(steps, &out, &outside, BPF_ANY), 0);
	close(steps);
}

static void only_what_is_listed_holds_containers(void **state)
{
	static const struct {
		const char *top;
		uint32_t kind;
	} cases[] = {
		{"/out", GRACED_WATCH_BRANCH},
		{"/other", GRACED_WATCH_CONTAINER}, /* without a list all else is inside */
	};
	struct kernhalf *k = kernhalf_need(state);
	char top[HIER_PATH_MAX], dir[HIER_PATH_MAX + 80];
	struct graced_watch watch;

	list_paths(k, &watch, GRACED_PART_FIRST);
	for (size_t i = 0; i < LEN(cases); i++) {
		snprintf(top, sizeof(top), "%.400s%s", k->tree.root, cases[i].top);
		snprintf(dir, sizeof(dir), "%s/a" CONTAINER, top);
		assert_int_equal(hier_make(&k->tree.hier, top, false), 0);
		*strrchr(dir, '/') = 0;
		assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
		strcat(dir, CONTAINER);
		assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
		if (kind(k, dir) != cases[i].kind)
			fail_msg("%s: kind %u", dir, kind(k, dir));
		assert_int_equal(cg_sweep(top), 0);
	}
	list_paths(k, &watch, GRACED_PART_INSIDE);
}

/* Each CPU remembers which cgroups are outside of all containers: here there is one. */
static void what_becomes_a_container_is_counted_from_then_on(void **state)
{
	struct kernhalf *k = kernhalf_need(state);
	char dir[HIER_PATH_MAX], below[HIER_PATH_MAX + 2];
	cpu_set_t before, one;
	uint64_t id;

	snprintf(dir, sizeof(dir), "%.400s/later", k->tree.root);
	snprintf(below, sizeof(below), "%s/b", dir);
	assert_int_equal(hier_make(&k->tree.hier, dir, false), 0);
	assert_int_equal(hier_make(&k->tree.hier, below, false), 0);
	id = kernhalf_id(dir);
	assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
	CPU_ZERO(&one);
	for (int cpu = 0; cpu < CPU_SETSIZE && !CPU_COUNT(&one); cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
	for (unsigned int life = 0; life < 3; life++) {
		kernhalf_end_children(below, 5, SIGKILL);
		assert_int_equal(kernhalf_counts(k, dir).exits, 6 * life);
		assert_int_equal(kern_watch_set_kind(k->kern, id, GRACED_WATCH_CONTAINER), 0);
		assert_int_equal(kern_watch_delete(k->kern, kernhalf_id(below)),
				 life ? -ENOENT : 0);
		kernhalf_end_children(below, 5, SIGKILL);
		assert_int_equal(kernhalf_counts(k, dir).exits, 6 * (life + 1));
		assert_int_equal(kern_watch_set_kind(k->kern, id, GRACED_WATCH_BRANCH), 0);
	}
	assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
	assert_int_equal(cg_sweep(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("entries of watched, inits, quotas and noisy go with their cgroups",
		      entries_go_with_their_cgroups),
		CLAIM("each change of a cgroup from populated to empty is noted, and back",
		      each_change_from_populated_to_empty_is_noted),
		CLAIM("a process that execs is no init when its parent is inside",
		      the_init_comes_from_outside),
		CLAIM("a watch's kind is changed without losing a count",
		      a_kind_is_changed_without_losing_a_count),
		CLAIM("an init that was sent a stop signal before it was known is late",
		      what_init_was_sent_before_it_was_known_is_missing),
		CLAIM("a container that was there is watched since its entry was",
		      it_is_known_since_when_a_container_is_watched),
		CLAIM("of a new cgroup it is known whether others than root could name it",
		      who_could_name_it_is_known),
		CLAIM("what ends at any depth below a container, itself at any, is counted there",
		      a_container_is_found_from_any_depth),
		CLAIM("containers are looked for only where the list of paths says",
		      only_what_is_listed_holds_containers),
		CLAIM("what becomes a container, or one no longer, is counted so from then on",
		      what_becomes_a_container_is_counted_from_then_on),
		CLAIM("a SIGKILL to a process that has ended is no kill",
		      the_dead_are_not_killed_again),
	};

	return cmocka_run_group_tests_name("maps", tests, setup, kernhalf_close);
}
