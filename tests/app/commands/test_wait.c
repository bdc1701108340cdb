// SPDX-License-Identifier: Apache-2.0
/* Claims about graced wait --empty: what may happen while it reads the cgroups. The monitor, the
 * kernel half, the engine and the cgroups are played here (see --wrap in the Makefile). */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/live/monitor.h"
#include "app/live/place.h"
#include "app/log/say.h"
#include "lib/claim.h"

#define BOXES	5
#define REPORTS 16
#define RUNS	(-1) /* it has not ended */
#define OWN	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

enum what { ABSENT, CONTAINER, SANDBOX, BRANCH, OWN_ONE, NEW_ONE };

static struct {
	struct monitor_hooks hooks;
	void (*scenario)(void);
	/* The cgroups, by their ids less one. */
	enum what what[BOXES];
	bool populated[BOXES];
	uint32_t change[BOXES];
	bool unchanged; /* none has changed since it is watched: their files are read */
	bool hidden;	/* its files show no process, for it moves while they are read */
	uint64_t misses, since_ns;
	/* What the kernel half has reported and no one has read. */
	struct obs reports[REPORTS];
	size_t n_reports;
	bool written; /* a report is being written */
	uint64_t lost;
	/* Called after the n-th reading of all, from 1 on. */
	void (*on_read)(unsigned int n);
	unsigned int reads;
	bool unwatched;
	uint32_t skipped;
	int scan_error;
	sd_event_time_handler_t on_timeout;
	void *timeout_userdata;
	int status;
} world;

/* --- what the command sees --------------------------------------------------------------------- */

bool __wrap_say_host_pids(const char *command);
int __wrap_monitor_run(const struct options *options, bool rows, const struct monitor_hooks *hooks);
void __wrap_monitor_end(struct monitor *m, int status);
struct cgfs *__wrap_monitor_cgfs(const struct monitor *m);
struct kern *__wrap_monitor_kern(const struct monitor *m);
struct ring *__wrap_monitor_ring(const struct monitor *m);
sd_event *__wrap_monitor_event(const struct monitor *m);
struct engine *__wrap_monitor_engine(const struct monitor *m);
bool __wrap_engine_get_cgroup(const struct engine *engine, uint64_t id, struct engine_cgroup *ret);
int __wrap_kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret);
int __wrap_kern_read_stats(const struct kern *kern, struct graced_stat *ret);
void __wrap_kern_misses(struct kern *kern, struct kern_misses *ret);
bool __wrap_ring_drain(struct ring *ring);
uint32_t __wrap_held_any(void);
int __wrap_cgfs_scan(struct cgfs *cgfs, const char *from, cgfs_visit_fn visit, void *userdata,
		     struct cgfs_scan *ret);
bool __wrap_cgfs_populated(struct cgfs *cgfs, const char *path);
bool __wrap_cgfs_dir_exists(const struct cgfs_dir *dir);
int __wrap_own_path(struct cgfs *cgfs, struct cgpath *ret);
int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t handler, void *userdata);
int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec);
int __wrap_sd_event_source_set_enabled(sd_event_source *source, int enabled);
sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source);

bool __wrap_say_host_pids(const char *command)
{
	return true;
}

int __wrap_monitor_run(const struct options *options, bool rows, const struct monitor_hooks *hooks)
{
	world.hooks = *hooks;
	assert_int_equal(hooks->open(hooks->userdata, NULL), 0);
	hooks->attached(hooks->userdata);
	world.scenario();
	hooks->close(hooks->userdata);
	return world.status;
}

void __wrap_monitor_end(struct monitor *m, int status)
{
	if (world.status == RUNS)
		world.status = status;
}

struct cgfs *__wrap_monitor_cgfs(const struct monitor *m)
{
	return NULL;
}

struct kern *__wrap_monitor_kern(const struct monitor *m)
{
	return NULL;
}

struct ring *__wrap_monitor_ring(const struct monitor *m)
{
	return NULL;
}

sd_event *__wrap_monitor_event(const struct monitor *m)
{
	return NULL;
}

struct engine *__wrap_monitor_engine(const struct monitor *m)
{
	return NULL;
}

bool __wrap_engine_get_cgroup(const struct engine *engine, uint64_t id, struct engine_cgroup *ret)
{
	enum what what = world.what[id - 1];

	if (what == ABSENT || what == NEW_ONE)
		return false;
	*ret = (struct engine_cgroup){.is_container = what != BRANCH,
				      .is_sandbox = what == SANDBOX};
	ret->container.id = what == OWN_ONE ? OWN : NULL;
	return true;
}

static void note_read(void)
{
	world.reads++;
	if (world.on_read)
		world.on_read(world.reads);
}

int __wrap_kern_watch_get(const struct kern *kern, uint64_t id, struct graced_watch *ret)
{
	enum what what = world.what[id - 1];

	*ret = (struct graced_watch){.kind = GRACED_WATCH_CONTAINER, .since_ns = world.since_ns};
	if (!world.unchanged)
		ret->populated = world.change[id - 1];
	if (ret->populated && !world.misses && (what == CONTAINER || what == NEW_ONE))
		note_read();
	return world.unwatched ? -ENOENT : 0;
}

int __wrap_kern_read_stats(const struct kern *kern, struct graced_stat *ret)
{
	ret[GRACED_EV_CGROUP_EMPTY].lost = world.lost;
	return 0;
}

void __wrap_kern_misses(struct kern *kern, struct kern_misses *ret)
{
	*ret = (struct kern_misses){.sure = world.misses};
}

/* Whatever else dies on this host just now. */
uint32_t __wrap_held_any(void)
{
	return 0;
}

bool __wrap_ring_drain(struct ring *ring)
{
	size_t n = world.written ? 0 : world.n_reports;

	for (size_t i = 0; i < n; i++)
		world.hooks.observe(world.hooks.userdata, &world.reports[i]);
	if (n)
		world.n_reports = 0;
	return !world.written;
}

int __wrap_cgfs_scan(struct cgfs *cgfs, const char *from, cgfs_visit_fn visit, void *userdata,
		     struct cgfs_scan *ret)
{
	ret->skipped = world.skipped;
	for (size_t i = 0; i < BOXES && !world.scan_error; i++) {
		char path[2] = {(char)('0' + i)};
		const struct cgfs_dir dir = {.id = i + 1, .path = path};

		if (world.what[i] != ABSENT)
			visit(userdata, &dir);
	}
	return world.scan_error;
}

bool __wrap_cgfs_populated(struct cgfs *cgfs, const char *path)
{
	bool populated = world.populated[*path - '0'] && !world.hidden;

	note_read();
	return populated;
}

bool __wrap_cgfs_dir_exists(const struct cgfs_dir *dir)
{
	return true;
}

int __wrap_own_path(struct cgfs *cgfs, struct cgpath *ret)
{
	strcpy(ret->container_id, OWN);
	return 0;
}

int __wrap_sd_event_add_time_relative(sd_event *e, sd_event_source **ret, clockid_t clock,
				      uint64_t usec, uint64_t accuracy,
				      sd_event_time_handler_t handler, void *userdata)
{
	/* The last one is that of --timeout. */
	world.on_timeout = handler;
	world.timeout_userdata = userdata;
	return 0;
}

int __wrap_sd_event_source_set_time_relative(sd_event_source *source, uint64_t usec)
{
	return 0;
}

int __wrap_sd_event_source_set_enabled(sd_event_source *source, int enabled)
{
	return 0;
}

sd_event_source *__wrap_sd_event_source_disable_unref(sd_event_source *source)
{
	return NULL;
}

/* --- what happens ------------------------------------------------------------------------------ */

static void report(enum obs_type type, size_t box)
{
	struct obs *obs = &world.reports[world.n_reports++];

	assert_true(world.n_reports <= REPORTS);
	*obs = (struct obs){.type = type};
	if (type == OBS_CGROUP_NEW)
		obs->cgroup.id = box + 1;
	else
		obs->empty.id = box + 1;
}

static void enter(size_t box)
{
	world.populated[box] = true;
	world.change[box] += world.change[box] % 2 ? 2 : 1;
}

static void leave(size_t box)
{
	world.populated[box] = false;
	world.change[box] += world.change[box] % 2 ? 1 : 2;
	report(OBS_CGROUP_EMPTY, box);
}

/* The loop reads what was reported before each turn. */
static int turn(void)
{
	__wrap_ring_drain(NULL);
	world.hooks.turn(world.hooks.userdata);
	return world.status;
}

static void play(void (*scenario)(void), size_t n)
{
	char *argv[] = {(char *)"wait", (char *)"--empty", (char *)"--timeout", (char *)"1m", NULL};

	memset(&world, 0, sizeof(world));
	for (size_t i = 0; i < n; i++)
		world.what[i] = CONTAINER;
	for (size_t i = 0; i < BOXES; i++)
		world.change[i] = GRACED_NEVER_POPULATED;
	world.status = RUNS;
	world.scenario = scenario;
	cmd_wait(4, argv);
}

/* --- claims ------------------------------------------------------------------------------------ */

static void empty_scene(void)
{
	assert_int_equal(turn(), 0);
}

static void one_scene(void)
{
	enter(1);
	assert_int_equal(turn(), RUNS);
	assert_int_equal(turn(), RUNS);
	leave(1);
	assert_int_equal(turn(), 0);
}

static void refilled_scene(void)
{
	enter(0);
	enter(1);
	assert_int_equal(turn(), RUNS);
	leave(0);
	assert_int_equal(turn(), RUNS);
	enter(0);
	leave(1);
	assert_int_equal(turn(), RUNS);
	leave(0);
	assert_int_equal(turn(), 0);
}

/* The first is populated while the second is read; at no moment are both empty before its end. */
static void swap(unsigned int n)
{
	if (n == 1) {
		enter(0);
		leave(1);
	}
	if (n == 2)
		leave(0);
}

static void swap_scene(void)
{
	enter(1);
	world.on_read = swap;
	/* Both were read as empty twice. */
	assert_int_equal(turn(), RUNS);
	assert_int_equal(world.reads, 4);
	assert_int_equal(turn(), 0);
}

static void enter_between(unsigned int n)
{
	if (n == 2)
		enter(0);
}

static void second_reading_scene(void)
{
	world.on_read = enter_between;
	assert_int_equal(turn(), RUNS);
	leave(0);
	assert_int_equal(turn(), 0);
}

static void make_between(unsigned int n)
{
	if (n != 3)
		return;
	world.what[3] = NEW_ONE;
	enter(3);
	report(OBS_CGROUP_NEW, 3);
}

static void made_scene(void)
{
	world.on_read = make_between;
	assert_int_equal(turn(), RUNS);
	assert_int_equal(turn(), RUNS);
	leave(3);
	assert_int_equal(turn(), 0);
}

static void make_and_remove(unsigned int n)
{
	if (n != 3)
		return;
	report(OBS_CGROUP_NEW, 3);
	report(OBS_CGROUP_GONE, 3);
}

static void short_scene(void)
{
	world.on_read = make_and_remove;
	assert_int_equal(turn(), RUNS);
	assert_int_equal(turn(), 0);
}

static void make_branch(unsigned int n)
{
	if (n != 3)
		return;
	world.what[3] = BRANCH;
	report(OBS_CGROUP_NEW, 3);
}

static void branch_scene(void)
{
	world.on_read = make_branch;
	assert_int_equal(turn(), 0);
}

static void end_sandbox(unsigned int n)
{
	if (n == 2)
		report(OBS_CGROUP_EMPTY, 3);
}

static void sandbox_scene(void)
{
	world.what[3] = SANDBOX;
	world.what[4] = OWN_ONE;
	enter(3);
	enter(4);
	world.on_read = end_sandbox;
	assert_int_equal(turn(), 0);
}

static void known_late_scene(void)
{
	enter(0);
	assert_int_equal(turn(), RUNS);
	world.what[0] = SANDBOX;
	assert_int_equal(turn(), 0);
}

static void lose(unsigned int n)
{
	if (n == 2)
		world.lost++;
}

static void lost_scene(void)
{
	world.on_read = lose;
	assert_int_equal(turn(), RUNS);
	world.reads = 2;
	assert_int_equal(turn(), 0);
}

/* The report that a container is empty is lost: the next look finds it. */
static void lost_empty_scene(void)
{
	const struct obs lost = {.type = OBS_LOST};

	enter(0);
	assert_int_equal(turn(), RUNS);
	leave(0);
	world.reports[0] = lost;
	assert_int_equal(turn(), 0);
}

/* It has a process for a moment between both readings, of which no report has come yet. */
static void come_and_go(unsigned int n)
{
	if (n != 2)
		return;
	enter(0);
	leave(0);
	world.n_reports = 0;
}

static void unreported_scene(void)
{
	world.on_read = come_and_go;
	assert_int_equal(turn(), RUNS);
	assert_int_equal(turn(), 0);
}

/* It has had a process since before it was watched, which is seen, and hides then. */
static void hides_scene(void)
{
	const struct obs lost = {.type = OBS_LOST};

	world.populated[0] = world.unchanged = true;
	assert_int_equal(turn(), RUNS);
	world.hidden = true;
	for (int i = 0; i < 3; i++) {
		world.reports[world.n_reports++] = lost;
		assert_int_equal(turn(), RUNS);
	}
	assert_int_equal(world.reads, 2);
	world.unchanged = false;
	leave(0);
	assert_int_equal(turn(), 0);
}

static void end_second(void)
{
	leave(1);
	assert_int_equal(turn(), RUNS);
}

/* The second ends while the first has got a process, which the entry that was made anew shows not. */
static void remade_scene(void)
{
	world.populated[1] = world.unchanged = true;
	assert_int_equal(turn(), RUNS);
	world.since_ns = 1;
	world.populated[0] = true;
	end_second();
}

static void dropped_scene(void)
{
	world.populated[0] = world.populated[1] = world.unchanged = true;
	assert_int_equal(turn(), RUNS);
	world.what[0] = SANDBOX;
	assert_int_equal(turn(), RUNS);
	world.what[0] = CONTAINER;
	end_second();
}

/* The kernel half may be wrong: it has missed when it became empty, or the opposite. */
static void missed_scene(void)
{
	const struct obs lost = {.type = OBS_LOST};

	enter(0);
	assert_int_equal(turn(), RUNS);
	world.misses = 1;
	world.populated[0] = false;
	world.populated[1] = true;
	world.reports[world.n_reports++] = lost;
	assert_int_equal(turn(), RUNS);
	world.populated[1] = false;
	world.reports[world.n_reports++] = lost;
	assert_int_equal(turn(), 0);
}

static void begin_to_write(unsigned int n)
{
	world.written |= n == 2;
}

static void written_between_scene(void)
{
	world.on_read = begin_to_write;
	assert_int_equal(turn(), RUNS);
	world.on_read = NULL;
	world.written = false;
	assert_int_equal(turn(), 0);
}

static void unwatched_scene(void)
{
	world.unwatched = true;
	assert_int_equal(turn(), 1);
}

static void skipped_scene(void)
{
	world.skipped = 1;
	assert_int_equal(turn(), 1);
}

static void unread_scene(void)
{
	world.scan_error = -EACCES;
	assert_int_equal(turn(), 1);
}

static void timeout_scene(void)
{
	enter(0);
	assert_int_equal(turn(), RUNS);
	world.on_timeout(NULL, 0, world.timeout_userdata);
	assert_int_equal(turn(), 1);
}

/* It has ended meanwhile, though no report of it came. */
static void timeout_empty_scene(void)
{
	enter(0);
	assert_int_equal(turn(), RUNS);
	leave(0);
	world.n_reports = 0;
	world.on_timeout(NULL, 0, world.timeout_userdata);
	assert_int_equal(turn(), 0);
}

static void timeout_unsure_scene(void)
{
	world.on_read = make_and_remove;
	world.on_timeout(NULL, 0, world.timeout_userdata);
	assert_int_equal(turn(), 1);
}

#define SCENE(name, n)                                 \
	static void test_##name(void **state)          \
	{                                              \
		play(name##_scene, n);                 \
		assert_int_not_equal(world.status, 2); \
	}

SCENE(empty, 3)
SCENE(one, 3)
SCENE(refilled, 2)
SCENE(swap, 2)
SCENE(second_reading, 2)
SCENE(made, 2)
SCENE(short, 2)
SCENE(branch, 2)
SCENE(sandbox, 2)
SCENE(known_late, 1)
SCENE(lost, 2)
SCENE(lost_empty, 1)
SCENE(unreported, 2)
SCENE(hides, 2)
SCENE(remade, 2)
SCENE(dropped, 2)
SCENE(missed, 2)
SCENE(written_between, 2)
SCENE(unwatched, 1)
SCENE(skipped, 1)
SCENE(unread, 1)
SCENE(timeout, 1)
SCENE(timeout_empty, 1)
SCENE(timeout_unsure, 2)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("containers without a process are empty", test_empty),
		CLAIM("it waits for the report of the last one", test_one),
		CLAIM("a container that gets a process after it was empty counts", test_refilled),
		CLAIM("two that are never empty together are not, whenever they are read",
		      test_swap),
		CLAIM("a process that comes between both readings is seen", test_second_reading),
		CLAIM("a container that is made between both readings counts", test_made),
		CLAIM("so does one that is removed before it is known", test_short),
		CLAIM("a branch that is made changes nothing", test_branch),
		CLAIM("sandboxes and the command's own container do not count", test_sandbox),
		CLAIM("a container that turns out to be a sandbox is not waited for",
		      test_known_late),
		CLAIM("when a report is lost between both readings, they are repeated", test_lost),
		CLAIM("a container whose last report was lost is read again", test_lost_empty),
		CLAIM("one that had a process between both readings is read again",
		      test_unreported),
		CLAIM("a container without a change since it is watched is read once", test_hides),
		CLAIM("one whose entry was made anew is read again", test_remade),
		CLAIM("so is one that did not count for a moment", test_dropped),
		CLAIM("once the kernel half missed something, the cgroups' files count",
		      test_missed),
		CLAIM("a report that is being written after both readings is awaited",
		      test_written_between),
		CLAIM("with a cgroup that is not watched nothing is proven", test_unwatched),
		CLAIM("with a cgroup that was passed over nothing is proven", test_skipped),
		CLAIM("with cgroups that cannot be read nothing is proven", test_unread),
		CLAIM("when the time is over it ends with 1", test_timeout),
		CLAIM("unless all are empty then", test_timeout_empty),
		CLAIM("when the time is over and it is not sure, it ends with 1",
		      test_timeout_unsure),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
