// SPDX-License-Identifier: Apache-2.0
/* Claims about io/proc/mounts, in a mount namespace of the test's own. */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "io/proc/mounts.h"
#include "lib/claim.h"
#include "lib/patience.h"

#define MANY 3000

struct stage {
	char dir[64];
	sd_event *event;
	struct mounts *mounts;
	unsigned int found, lines; /* of this reading */
	unsigned int last, readings;
	char early[80]; /* unmounted in the middle of a reading; "": nothing is */
};

static void on_line(void *userdata, const char *line, size_t len)
{
	struct stage *s = userdata;
	char text[4096] = "";

	assert_null(memchr(line, '\n', len));
	memcpy(text, line, len < sizeof(text) ? len : sizeof(text) - 1);
	s->lines++;
	s->found += strstr(text, s->dir) != NULL;
	if (*s->early && s->found == 2 && umount2(s->early, MNT_DETACH) == 0)
		assert_int_equal(rmdir(s->early), 0);
}

static void on_done(void *userdata, int error)
{
	struct stage *s = userdata;

	assert_int_equal(error, 0);
	assert_true(s->lines > 0);
	s->last = s->found;
	s->found = s->lines = 0;
	s->readings++;
}

/* A table of nothing but this test's. A copy of the host's would change by itself: a mount point
 * that is removed outside is unmounted in each copy. */
static bool isolate(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("none", "/tmp", "tmpfs", 0, NULL) == 0 && chdir("/tmp") == 0 &&
	       mkdir("tmp", 0700) == 0 && mkdir("proc", 0700) == 0 &&
	       mount("/proc", "proc", NULL, MS_BIND, NULL) == 0 &&
	       syscall(SYS_pivot_root, ".", ".") == 0 && umount2(".", MNT_DETACH) == 0 &&
	       chdir("/") == 0;
}

static struct stage begin(void)
{
	struct stage s = {.dir = "/tmp/graced-mounts-XXXXXX"};

	if (!isolate())
		skip();
	assert_non_null(mkdtemp(s.dir));
	assert_true(sd_event_new(&s.event) >= 0);
	return s;
}

static void open_it(struct stage *s)
{
	const struct mounts_sink sink = {s, on_line, on_done};

	assert_int_equal(mounts_new(s->event, (uint32_t)getpid(), &sink, &s->mounts), 0);
}

static void end(struct stage *s)
{
	mounts_free(s->mounts);
	sd_event_unref(s->event);
	while (umount2(s->dir, MNT_DETACH) == 0)
		;
	rmdir(s->dir);
}

static void mount_one(struct stage *s)
{
	assert_int_equal(mount("none", s->dir, "tmpfs", 0, "size=4k"), 0);
}

/* Runs the loop until a reading has found so many. */
static void await(struct stage *s, unsigned int n)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;

	do
		sd_event_run(s->event, 50000);
	while ((s->readings == 0 || s->last != n) && clock_boot_ns() < until);
	assert_int_equal(s->last, n);
}

static void test_changes(void **state)
{
	struct stage s = begin();

	mount_one(&s);
	open_it(&s);
	await(&s, 1);
	mount_one(&s);
	await(&s, 2);
	assert_int_equal(umount2(s.dir, MNT_DETACH), 0);
	await(&s, 1);
	end(&s);
}

/* Nothing is read while nothing changes. */
static void test_idle(void **state)
{
	struct stage s = begin();
	unsigned int before;

	open_it(&s);
	await(&s, 0);
	for (int i = 0; i < 10; i++)
		sd_event_run(s.event, 50000);
	before = s.readings;
	for (int i = 0; i < 20; i++)
		sd_event_run(s.event, 50000);
	assert_int_equal(s.readings, before);
	end(&s);
}

/* A turn reads a part: a node's table is read in several. */
static void test_slices(void **state)
{
	struct stage s = begin();
	unsigned int turns = 0;

	for (int i = 0; i < MANY; i++)
		mount_one(&s);
	open_it(&s);
	for (; s.readings == 0; turns++)
		sd_event_run(s.event, UINT64_MAX);
	assert_int_equal(s.last, MANY);
	assert_true(turns > 3);
	end(&s);
}

/* It was in the part that had been read. */
static void test_change_while_reading(void **state)
{
	struct stage s = begin();

	snprintf(s.early, sizeof(s.early), "%s-early", s.dir);
	assert_int_equal(mkdir(s.early, 0700), 0);
	assert_int_equal(mount("none", s.early, "tmpfs", 0, "size=4k"), 0);
	for (int i = 0; i < MANY; i++)
		mount_one(&s);
	open_it(&s);
	while (s.readings == 0)
		sd_event_run(s.event, UINT64_MAX);
	assert_int_equal(s.last, MANY + 1);
	await(&s, MANY);
	end(&s);
}

/* As many readings as there are pauses, however many changes there are. */
static void test_pauses(void **state)
{
	struct stage s = begin();
	uint64_t began_ns, took_ns;

	open_it(&s);
	await(&s, 0);
	began_ns = clock_boot_ns();
	for (int i = 0; i < 300; i++) {
		mount_one(&s);
		sd_event_run(s.event, 1000);
	}
	took_ns = clock_boot_ns() - began_ns;
	assert_true(s.readings <= 2 + took_ns / (MOUNTS_PAUSE_US * 1000ULL));
	await(&s, 300);
	end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what is mounted and unmounted is in the next reading", test_changes),
		CLAIM("without a change nothing is read", test_idle),
		CLAIM("a large table is read in several turns of the loop", test_slices),
		CLAIM("what changes while it is read is in the next reading",
		      test_change_while_reading),
		CLAIM("between two readings is a pause, and the last change is read", test_pauses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
