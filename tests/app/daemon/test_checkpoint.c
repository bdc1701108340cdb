// SPDX-License-Identifier: Apache-2.0
/* Claims about app/daemon/checkpoint: what it writes, when, and that trouble costs no more than a
 * restart that begins anew. */
#include "app/daemon/checkpoint.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "app/log/log.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "lib/claim.h"

#define SECOND 1000000000ULL

struct stage {
	char dir[64], path[96];
	struct engine *engine;
	struct checkpoint *checkpoint;
	uint64_t at_ns, id;
};

static void on_effect(void *userdata, const struct effect *effect)
{
}

static void step(struct stage *s, struct obs *obs)
{
	obs->at_ns = ++s->at_ns;
	engine_step(s->engine, obs, on_effect, NULL);
}

/* What the engine keeps changes: one container more. */
static void change(struct stage *s)
{
	struct obs found = {.type = OBS_CGROUP_FOUND};
	struct obs init = {.type = OBS_INIT};

	found.cgroup.id = ++s->id;
	found.cgroup.level = 3;
	found.cgroup.kind = GRACED_WATCH_CONTAINER;
	snprintf(found.cgroup.path, sizeof(found.cgroup.path),
		 "/kubepods/burstable/pod%08llx-0000-4000-8000-000000000000/%064llx",
		 (unsigned long long)s->id, (unsigned long long)s->id);
	step(s, &found);
	init.init = (struct obs_init){.id = s->id,
				      .rank = GRACED_INIT_PID1,
				      .proc = {.pid = (uint32_t)s->id + 100,
					       .ns_pid = 1,
					       .start_ns = s->at_ns,
					       .cgroup_id = s->id,
					       .watch_id = s->id}};
	step(s, &init);
}

static void new_engine(struct stage *s)
{
	static const struct engine_config config = {.scope = SCOPE_CONTAINERS};
	struct obs attached = {.type = OBS_ATTACHED};

	s->engine = engine_free(s->engine);
	assert_int_equal(engine_new(&config, &s->engine), 0);
	step(s, &attached);
}

static int setup(void **state)
{
	static struct stage stage;

	stage = (struct stage){};
	strcpy(stage.dir, "/tmp/graced-checkpoint-XXXXXX");
	if (!mkdtemp(stage.dir))
		return -1;
	snprintf(stage.path, sizeof(stage.path), "%s/run/checkpoint", stage.dir);
	new_engine(&stage);
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;
	char run[80];

	checkpoint_free(s->checkpoint);
	engine_free(s->engine);
	snprintf(run, sizeof(run), "%s/run", s->dir);
	unlink(s->path);
	umount2(run, MNT_DETACH);
	rmdir(run);
	return rmdir(s->dir);
}

static struct metrics_checkpoint stats_of(const struct stage *s)
{
	struct metrics_checkpoint stats;

	checkpoint_get_stats(s->checkpoint, &stats);
	return stats;
}

static void tell(struct stage *s, enum record_type type, const char *text)
{
	_cleanup_(buf_free) struct buf line = {};

	buf_printf(&line, "{\"id\":\"%s\"}\n", text);
	checkpoint_add(s->checkpoint, type, &line);
}

static void turn(struct stage *s, uint64_t now_ns)
{
	checkpoint_turn(s->checkpoint, s->engine, now_ns);
}

static void add_gap(void *userdata, struct buf *out, const struct line_gap *gap)
{
	buf_printf(out, "{\"gap\":%llu}\n", (unsigned long long)gap->lines);
}

static void begin(struct stage *s)
{
	s->checkpoint = checkpoint_open(s->path, add_gap, NULL);
	assert_non_null(s->checkpoint);
	turn(s, SECOND);
	assert_int_equal(stats_of(s).writes, 1);
}

static void count(void *userdata, const struct obs *obs)
{
	size_t *n = userdata;

	*n += obs->type != OBS_NONE;
}

/* As the next daemon finds it; it is the stage's from then on. */
static void find_next(struct stage *s, struct buf *lines)
{
	size_t n = 0;

	checkpoint_free(s->checkpoint);
	s->checkpoint = checkpoint_open(s->path, add_gap, NULL);
	assert_non_null(s->checkpoint);
	checkpoint_restore(s->checkpoint, count, &n, lines);
}

static void check_next(struct stage *s, const char *want)
{
	_cleanup_(buf_free) struct buf lines = {};

	find_next(s, &lines);
	assert_string_equal(buf_str(&lines), want);
}

static void nothing_new_is_not_written(void **state)
{
	struct stage *s = *state;
	struct metrics_checkpoint before;

	begin(s);
	change(s);
	turn(s, SECOND);
	before = stats_of(s);
	assert_int_equal(before.writes, 2);
	for (int i = 0; i < 100; i++) {
		turn(s, SECOND * (uint64_t)i);
		checkpoint_written(s->checkpoint);
	}
	assert_int_equal(stats_of(s).writes, 2);
	assert_int_equal(stats_of(s).bytes, before.bytes);
}

static void a_line_is_there_until_it_is_out(void **state)
{
	struct stage *s = *state;

	begin(s);
	tell(s, RECORD_STOP, "one");
	tell(s, RECORD_SIGNAL, "no");
	tell(s, RECORD_ATTACHED, "no");
	tell(s, RECORD_LOST, "no");
	tell(s, RECORD_POD, "two");
	check_next(s, "");
	tell(s, RECORD_STOP, "one");
	tell(s, RECORD_POD, "two");
	turn(s, SECOND);
	check_next(s, "{\"id\":\"one\"}\n{\"id\":\"two\"}\n");
	/* Nobody has said that they are out. */
	turn(s, SECOND);
	check_next(s, "{\"id\":\"one\"}\n{\"id\":\"two\"}\n");
	turn(s, SECOND);
	checkpoint_written(s->checkpoint);
	tell(s, RECORD_STOP, "three");
	turn(s, SECOND);
	check_next(s, "{\"id\":\"three\"}\n");
	turn(s, SECOND);
	checkpoint_written(s->checkpoint);
	turn(s, SECOND);
	check_next(s, "");
}

static void what_is_said_in_the_end_is_there(void **state)
{
	struct stage *s = *state;

	begin(s);
	change(s);
	tell(s, RECORD_STOP, "last");
	checkpoint_finish(s->checkpoint, s->engine, SECOND);
	check_next(s, "{\"id\":\"last\"}\n");
	turn(s, SECOND);
	checkpoint_finish(s->checkpoint, s->engine, SECOND);
	checkpoint_written(s->checkpoint);
	turn(s, SECOND);
	check_next(s, "");
}

static void it_stays_small(void **state)
{
	struct stage *s = *state;
	uint64_t most = 0;

	begin(s);
	for (int i = 0; i < 100000; i++) {
		tell(s, RECORD_STOP, "0123456789012345678901234567890123456789");
		turn(s, SECOND);
		checkpoint_written(s->checkpoint);
		if (stats_of(s).bytes > most)
			most = stats_of(s).bytes;
	}
	assert_in_range(most, 1 << 20, (1 << 20) + 4096);
	assert_int_equal(stats_of(s).dropped, 0);
}

/* It never has all of them. */
static void a_slow_reader_costs_the_oldest(void **state)
{
	struct stage *s = *state;
	uint64_t most = 0;
	char text[1001];

	memset(text, 'x', 1000);
	text[1000] = 0;
	begin(s);
	for (int i = 0; i < 20000; i++) {
		tell(s, RECORD_STOP, text);
		turn(s, SECOND);
		if (stats_of(s).bytes > most)
			most = stats_of(s).bytes;
	}
	assert_in_range(most, 4 << 20, 9 << 20);
	assert_in_range(stats_of(s).dropped, 15000, 18500);
	checkpoint_written(s->checkpoint);
	tell(s, RECORD_STOP, "last");
	turn(s, SECOND);
	check_next(s, "{\"id\":\"last\"}\n");
}

/* One more than was added last. */
static void tell_number(struct stage *s, unsigned int *number)
{
	char text[1024];

	snprintf(text, sizeof(text), "%06u%01000d", (*number)++, 0);
	tell(s, RECORD_STOP, text);
}

/* Each line that was added, once, in order, or in a gap: how many are in gaps. */
static unsigned int check_numbers(const struct buf *lines, unsigned int added)
{
	const char *at = buf_str(lines), *newline;
	unsigned int n = 0, gaps = 0, number, gap;

	for (; (newline = strchr(at, '\n')); at = newline + 1) {
		if (sscanf(at, "{\"gap\":%u}", &gap) == 1) {
			gaps += gap;
			n += gap;
			continue;
		}
		assert_int_equal(sscanf(at, "{\"id\":\"%6u", &number), 1);
		assert_int_equal(number, n++);
	}
	assert_int_equal(n, added);
	return gaps;
}

/* The disk of the records is full: they hold the oldest and drop the rest. */
static void what_a_full_sink_drops_has_a_line_after_a_restart(void **state)
{
	_cleanup_(buf_free) struct buf killed = {}, ended = {}, taken = {};
	struct stage *s = *state;
	unsigned int added = 0, n;

	begin(s);
	checkpoint_hold_oldest(s->checkpoint, true);
	while (added < 10000) {
		tell_number(s, &added);
		turn(s, SECOND + added * (SECOND / 100));
	}
	assert_in_range(stats_of(s).writes, 4000, 5000);
	n = (unsigned int)stats_of(s).dropped;
	assert_in_range(n, 5000, 6500);
	tell_number(s, &added);
	checkpoint_finish(s->checkpoint, s->engine, 200 * SECOND);
	find_next(s, &ended);
	assert_int_equal(check_numbers(&ended, added), n + 1);
	turn(s, 201 * SECOND);

	/* Killed without an end, and full again; then there is room for a while. */
	checkpoint_hold_oldest(s->checkpoint, true);
	tell_number(s, &added);
	tell_number(s, &added);
	turn(s, 202 * SECOND);
	find_next(s, &killed);
	assert_int_equal(check_numbers(&killed, added), n + 3);
	turn(s, 203 * SECOND);
	checkpoint_hold_oldest(s->checkpoint, true);
	tell_number(s, &added);
	turn(s, 204 * SECOND);
	checkpoint_hold_oldest(s->checkpoint, false);
	tell_number(s, &added);
	turn(s, 205 * SECOND);
	find_next(s, &taken);
	assert_non_null(strstr(buf_str(&taken), "{\"gap\":1}\n"));
	assert_ptr_equal(strstr(buf_str(&taken), "{\"gap\":1}\n"),
			 strstr(buf_str(&taken), "{\"gap\":1}\n{\"id\":\"010004"));
	checkpoint_written(s->checkpoint);
	turn(s, 206 * SECOND);
	check_next(s, "");
}

/* A disk of 64 KiB, most of it taken. */
static int fill(struct stage *s, char ballast[128])
{
	char run[80], much[48 << 10] = {};
	int fd;

	snprintf(run, sizeof(run), "%s/run", s->dir);
	if (mkdir(run, 0700) < 0 || mount("none", run, "tmpfs", 0, "size=64k,mode=0700") < 0)
		return -errno;
	snprintf(ballast, 128, "%s/ballast", run);
	fd = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	assert_int_equal(write(fd, much, sizeof(much)), sizeof(much));
	close(fd);
	return 0;
}

static void a_full_disk_costs_the_file_until_there_is_room(void **state)
{
	struct stage *s = *state;
	struct metrics_checkpoint stats;
	char ballast[128];

	if (fill(s, ballast) < 0)
		skip();
	begin(s);
	for (int i = 0; i < 1000; i++) {
		tell(s, RECORD_STOP, "0123456789012345678901234567890123456789");
		turn(s, SECOND);
	}
	stats = stats_of(s);
	/* What was added did not fit in the end, nor did all of it anew. */
	assert_in_range(stats.failed, 2, 20);
	assert_int_equal(stats.bytes, 0);
	turn(s, 10 * SECOND);
	assert_int_equal(stats_of(s).failed, stats.failed);
	turn(s, 11 * SECOND);
	assert_int_equal(stats_of(s).failed, stats.failed + 1);
	/* A reader that is stuck as well. */
	for (int i = 0; i < 200000; i++) {
		tell(s, RECORD_STOP, "0123456789012345678901234567890123456789");
		turn(s, 11 * SECOND);
	}
	assert_in_range(stats_of(s).dropped, 100000, 200000);
	/* Nothing that is not whole is left to a successor. */
	check_next(s, "");
	turn(s, SECOND);
	assert_int_equal(stats_of(s).failed, 0);
	assert_int_equal(unlink(ballast), 0);
	for (int i = 0; i < 200; i++) {
		tell(s, RECORD_STOP, "0123456789012345678901234567890123456789");
		turn(s, SECOND);
	}
	checkpoint_written(s->checkpoint);
	tell(s, RECORD_STOP, "last");
	turn(s, 2 * SECOND);
	assert_int_equal(stats_of(s).failed, 0);
	check_next(s, "{\"id\":\"last\"}\n");
}

/* What the log says of the next daemon's beginning. */
static void read_log(struct stage *s, char *text, size_t size)
{
	_cleanup_(cleanup_close) int was = dup(STDERR_FILENO);
	int fds[2];
	ssize_t n;

	assert_int_equal(pipe(fds), 0);
	assert_true(was >= 0 && dup2(fds[1], STDERR_FILENO) >= 0);
	close(fds[1]);
	log_setup(LOG_INFO, false, false);
	check_next(s, "");
	log_setup(LOG_ERR, false, false);
	assert_true(dup2(was, STDERR_FILENO) >= 0);
	n = read(fds[0], text, size - 1);
	close(fds[0]);
	assert_true(n >= 0);
	text[n] = '\0';
}

static void a_torn_end_is_logged(void **state)
{
	struct stage *s = *state;
	char log[512], want[64];
	struct stat st;

	begin(s);
	change(s);
	turn(s, 2 * SECOND);
	checkpoint_finish(s->checkpoint, s->engine, 3 * SECOND);
	read_log(s, log, sizeof(log));
	assert_non_null(strstr(log, "observations, 0 records reported again"));
	assert_null(strstr(log, "torn"));
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(truncate(s->path, st.st_size - 11), 0);
	read_log(s, log, sizeof(log));
	snprintf(want, sizeof(want), "; its end is torn, %lld bytes are left out",
		 (long long)st.st_size - 11);
	assert_non_null(strstr(log, "0 observations, 0 records reported again"));
	assert_non_null(strstr(log, want));
	assert_non_null(strstr(log, "level=warn"));
}

static void where_there_can_be_none_there_is_none(void **state)
{
	assert_null(checkpoint_open("/proc/none-such/checkpoint", add_gap, NULL));
	assert_null(checkpoint_open("/dev/null", add_gap, NULL));
}

#define STAGED(sentence, function)                        \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

/* Begun on a file, the log writes to whatever stderr is at the time. */
static int setup_log(void)
{
	_cleanup_(cleanup_close) int was = dup(STDERR_FILENO);
	_cleanup_(cleanup_close) int file = memfd_create("log", MFD_CLOEXEC);

	if (was < 0 || file < 0 || dup2(file, STDERR_FILENO) < 0)
		return -1;
	log_setup(LOG_ERR, false, false);
	return dup2(was, STDERR_FILENO);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		STAGED("where nothing is new nothing is written", nothing_new_is_not_written),
		STAGED("a line is there from when it is added until it is out",
		       a_line_is_there_until_it_is_out),
		STAGED("what is said in the end is there", what_is_said_in_the_end_is_there),
		STAGED("it stays small, however much was added", it_stays_small),
		STAGED("a reader that is slow, but takes all, costs the oldest lines, counted",
		       a_slow_reader_costs_the_oldest),
		STAGED("what a full sink drops has a line in its place after a restart",
		       what_a_full_sink_drops_has_a_line_after_a_restart),
		STAGED("a full disk costs the file, until there is room",
		       a_full_disk_costs_the_file_until_there_is_room),
		STAGED("a torn end is logged, and how much of it is lost", a_torn_end_is_logged),
		STAGED("where there can be none there is none",
		       where_there_can_be_none_there_is_none),
	};

	if (setup_log() < 0)
		return 1;
	return cmocka_run_group_tests_name("checkpoint", tests, NULL, NULL);
}
