// SPDX-License-Identifier: Apache-2.0
/* Claims about io/files/watch: what comes, changes and goes is reported, and nothing else. */
#include "io/files/watch.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/claim.h"

struct scene {
	char dir[40];
	char paths[3][80];
	sd_event *event;
	struct confwatch *watch;
	unsigned int reported[3];
};

static void on_changed(void *userdata, size_t index)
{
	struct scene *s = userdata;

	assert_true(index < 3);
	s->reported[index]++;
}

static int setup(void **state)
{
	static struct scene s;

	s = (struct scene){.dir = "/tmp/graced-confwatch-XXXXXX"};
	if (!mkdtemp(s.dir) || sd_event_new(&s.event) < 0)
		return -1;
	snprintf(s.paths[0], sizeof(s.paths[0]), "%s/etc/a.conf", s.dir);
	snprintf(s.paths[1], sizeof(s.paths[1]), "%s/etc/a.conf.d/", s.dir);
	snprintf(s.paths[2], sizeof(s.paths[2]), "%s/var/lib/b/config", s.dir);
	*state = &s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	char command[80];

	s->watch = confwatch_free(s->watch);
	sd_event_unref(s->event);
	snprintf(command, sizeof(command), "rm -r %s", s->dir);
	return system(command);
}

static void watch(struct scene *s)
{
	const char *paths[] = {s->paths[0], s->paths[1], s->paths[2]};

	assert_int_equal(confwatch_new(s->event, paths, 3, &(struct confwatch_sink){s, on_changed},
				       &s->watch),
			 0);
}

/* A shell in the directory; then all that it did is reported. */
static void sh(struct scene *s, const char *script)
{
	char command[256];

	snprintf(command, sizeof(command), "cd %s && %s", s->dir, script);
	assert_int_equal(system(command), 0);
	memset(s->reported, 0, sizeof(s->reported));
	while (sd_event_run(s->event, 0) > 0)
		;
}

/* At least: what changed; what did not, not at all. */
static void check(struct scene *s, const char *script, bool a, bool b, bool c)
{
	const bool want[] = {a, b, c};

	sh(s, script);
	for (size_t i = 0; i < LEN(want); i++)
		if (want[i] != (s->reported[i] > 0))
			fail_msg("%s: %zu is reported %u times", script, i, s->reported[i]);
}

static void test_changes(void **state)
{
	struct scene *s = *state;

	sh(s, "mkdir -p etc/a.conf.d var/lib/b && echo 1 > var/lib/b/config");
	watch(s);
	check(s, "true", false, false, false);
	check(s, "echo 1 > etc/a.conf", true, false, false);
	check(s, "echo 2 > etc/a.conf", true, false, false);
	check(s, "echo 3 > etc/new && mv etc/new etc/a.conf", true, false, false);
	check(s, "rm etc/a.conf", true, false, false);
	check(s, "echo 1 > etc/b.conf && mkdir etc/c && rm -r etc/c", false, false, false);
	check(s, "echo 1 > etc/a.conf.d/x.conf", false, true, false);
	check(s, "ln -s /dev/null etc/a.conf.d/y.conf", false, true, false);
	check(s, "rm etc/a.conf.d/x.conf", false, true, false);
	check(s, "echo 2 >> var/lib/b/config", false, false, true);
	check(s, "echo 2 > var/lib/b/other; echo > var/lib/x", false, false, false);
	check(s, "cat etc/b.conf var/lib/b/config >/dev/null", false, false, false);
}

static void test_comes_and_goes(void **state)
{
	struct scene *s = *state;

	watch(s);
	check(s, "mkdir other && rmdir other", false, false, false);
	sh(s, "mkdir etc");
	check(s, "mkdir etc/a.conf.d && echo 1 > etc/a.conf.d/x", true, true, true);
	check(s, "echo 1 > etc/a.conf.d/y", false, true, false);
	sh(s, "mkdir -p var/lib/b");
	check(s, "echo 1 > var/lib/b/config", false, false, true);
	check(s, "rm -r etc", true, true, true);
	check(s, "mkdir -p etc/a.conf.d", true, true, true);
	check(s, "echo 1 > etc/a.conf.d/y", false, true, false);
	check(s, "mv etc/a.conf.d elsewhere", true, true, true);
	check(s, "echo 2 > elsewhere/y", false, false, false);
	check(s, "mv elsewhere etc/a.conf.d", true, true, true);
	check(s, "echo 2 > etc/a.conf.d/y", false, true, false);
}

static void test_many(void **state)
{
	struct scene *s = *state;

	/* More than the kernel keeps for a reader. */
	sh(s, "mkdir -p etc/a.conf.d");
	watch(s);
	check(s, "for i in $(seq 6000); do : > etc/a.conf.d/$i; : > etc/$i; : >> etc/$i; done",
	      true, true, true);
	assert_true(s->reported[1] <= 4);
	check(s, "echo 1 > etc/a.conf.d/y", false, true, false);
}

static void test_arguments(void **state)
{
	struct scene *s = *state;
	const char *paths[CONFWATCH_MAX + 1];
	const struct confwatch_sink sink = {s, on_changed};

	for (size_t i = 0; i < LEN(paths); i++)
		paths[i] = "/tmp/";
	assert_int_equal(confwatch_new(s->event, paths, LEN(paths), &sink, &s->watch), -E2BIG);
	paths[0] = "tmp/";
	assert_int_equal(confwatch_new(s->event, paths, 1, &sink, &s->watch), -EINVAL);
	assert_null(s->watch);
	paths[0] = "/no-such-directory-at-all/a/b/c";
	assert_int_equal(confwatch_new(s->event, paths, 1, &sink, &s->watch), 0);
	assert_int_equal(sd_event_run(s->event, 0), 0);
}

#define TEST(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("what is written, moved, linked or removed is reported, for its path alone",
		     test_changes),
		TEST("directories may come later, and go", test_comes_and_goes),
		TEST("what the kernel dropped is reported as a change", test_many),
		TEST("paths are absolute, and not too many", test_arguments),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
