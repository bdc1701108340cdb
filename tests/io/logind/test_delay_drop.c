// SPDX-License-Identifier: Apache-2.0
/* Claims about io/logind/delay: all of logind's files are read in its order, one of them is
 * written. */
#include "io/logind/delay.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "lib/claim.h"

#define S 1000000ull

struct scene {
	char root[40];
	struct delaydrop_files files;
};

static int setup(void **state)
{
	static struct scene s;

	s = (struct scene){.root = "/tmp/graced-delaydrop-XXXXXX"};
	*state = &s;
	return mkdtemp(s.root) ? 0 : -1;
}

static int teardown(void **state)
{
	struct scene *s = *state;
	char command[80];

	delaydrop_done(&s->files);
	snprintf(command, sizeof(command), "rm -r %s", s->root);
	return system(command);
}

static void sh(const struct scene *s, const char *script)
{
	char command[1024];

	snprintf(command, sizeof(command),
		 "cd %s && say() { mkdir -p \"${2%%/*}\" && "
		 "printf '[Login]\\nInhibitDelayMaxSec=%%s\\n' \"$1\" > \"$2\"; } && %s",
		 s->root, script);
	assert_int_equal(system(command), 0);
}

static void check(struct scene *s, const struct delaylimit_file *want, size_t n)
{
	delaydrop_done(&s->files);
	assert_int_equal(delaydrop_read(s->root, &s->files), 0);
	assert_int_equal(s->files.n, n);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(s->files.list[i].name, want[i].name);
		assert_int_equal(s->files.list[i].said, want[i].said);
		assert_int_equal(s->files.list[i].us, want[i].us);
	}
}

static void test_read(void **state)
{
	static const struct delaylimit_file want[] = {
		{"", true, false, 9 * S},
		{"10-a.conf", true, false, 2 * S},
		{"20-b.conf", false, false, 0},
		{"30-c.conf", false, false, 0},
		{"40-d.conf", false, false, 0},
		{"50-e.conf", true, false, 7 * S},
		{"99-kubelet.conf", true, false, 30 * S},
	};
	struct scene *s = *state;

	check(s, NULL, 0);
	sh(s, "say 1 usr/lib/systemd/logind.conf.d/10-a.conf; "
	      "say 2 usr/local/lib/systemd/logind.conf.d/10-a.conf; "
	      "say 3 usr/lib/systemd/logind.conf.d/20-b.conf; mkdir -p etc/systemd/logind.conf.d; "
	      "ln -s /dev/null etc/systemd/logind.conf.d/20-b.conf; "
	      "say 4 run/systemd/logind.conf.d/30-c.conf; : > etc/systemd/logind.conf.d/30-c.conf; "
	      "ln -s nowhere etc/systemd/logind.conf.d/40-d.conf; say 7 ./e; "
	      "ln -s ../../../e etc/systemd/logind.conf.d/50-e.conf; "
	      "say 30 etc/systemd/logind.conf.d/99-kubelet.conf; "
	      "say 99 etc/systemd/logind.conf.d/99-kubelet.conf~; "
	      "say 99 etc/systemd/logind.conf.d/.99.conf; say 99 etc/systemd/logind.conf.d/README; "
	      "say 8 usr/lib/systemd/logind.conf; say 9 etc/systemd/logind.conf");
	check(s, want, LEN(want));
}

static void test_odd(void **state)
{
	static const struct delaylimit_file want[] = {
		{"a.conf", false, false, 0},
		{"b.conf", false, false, 0},
	};
	struct scene *s = *state;

	/* Neither waits, nor reads for ever. */
	sh(s, "mkdir -p etc/systemd/logind.conf.d/b.conf; mkfifo etc/systemd/logind.conf.d/a.conf");
	check(s, want, LEN(want));
	sh(s, "rm -r etc/systemd/logind.conf.d/*; "
	      "truncate -s 1G etc/systemd/logind.conf.d/a.conf; "
	      "for i in $(seq 1000); do : > etc/systemd/logind.conf.d/$i.conf; done");
	delaydrop_done(&s->files);
	assert_int_equal(delaydrop_read(s->root, &s->files), 0);
	assert_int_equal(s->files.n, DELAYDROP_FILES_MAX);
}

static void check_file(const struct scene *s, uint64_t us)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[128], want[DELAYLIMIT_TEXT_MAX];
	struct stat st;

	snprintf(path, sizeof(path), "%s" DELAYDROP_DIR "/" DELAYDROP_NAME, s->root);
	assert_true(fd_read_all(AT_FDCWD, path, 4096, &text) > 0);
	delaylimit_text(us, want);
	assert_string_equal(text, want);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
	snprintf(path, sizeof(path), "%s" DELAYDROP_DIR, s->root);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0755);
}

static void test_write(void **state)
{
	struct scene *s = *state;
	mode_t mask = umask(0077);

	assert_int_equal(delaydrop_write(s->root, 40 * S), -ENOENT);
	sh(s, "mkdir -p etc/systemd");
	assert_int_equal(delaydrop_write(s->root, 40 * S), 0);
	check_file(s, 40 * S);
	/* What another left is no way to another file. */
	sh(s, "ln -s ../../../victim etc/systemd/logind.conf.d/." DELAYDROP_NAME ".new");
	assert_int_equal(delaydrop_write(s->root, 50 * S), 0);
	check_file(s, 50 * S);
	sh(s, "test ! -e victim && test $(ls -A etc/systemd/logind.conf.d) = " DELAYDROP_NAME);
	check(s, &(struct delaylimit_file){DELAYDROP_NAME, true, false, 50 * S}, 1);
	assert_int_equal(delaydrop_remove(s->root), 1);
	assert_int_equal(delaydrop_remove(s->root), 0);
	check(s, NULL, 0);
	umask(mask);
}

static void test_whole(void **state)
{
	struct scene *s = *state;

	/* The rename fails: nothing half-done stays. */
	sh(s, "mkdir -p etc/systemd/logind.conf.d/" DELAYDROP_NAME "/x");
	assert_int_equal(delaydrop_write(s->root, 40 * S), -EISDIR);
	sh(s, "test $(ls -A etc/systemd/logind.conf.d) = " DELAYDROP_NAME);
	assert_true(delaydrop_remove(s->root) < 0);
}

#define TEST(sentence, function)                          \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST("files count as logind has them count", test_read),
		TEST("what is no file, or one of too many, says nothing", test_odd),
		TEST("the drop-in is readable to all, and replaced at once", test_write),
		TEST("a drop-in that cannot be written leaves nothing behind", test_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
