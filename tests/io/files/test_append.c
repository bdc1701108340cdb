// SPDX-License-Identifier: Apache-2.0
/* Claims about io/files/file: one holder, nothing that is not ours, whole contents. */
#include "io/files/file.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"

/* What a write takes at most, as one that a signal interrupts does. */
static size_t write_max = SIZE_MAX;

ssize_t pwrite(int fd, const void *data, size_t size, off_t at)
{
	return syscall(SYS_pwrite64, fd, data, size < write_max ? size : write_max, at);
}

struct stage {
	char dir[64];
	char path[96]; /* dir/run/keep */
	char run[80];
	struct keepfile_why why;
};

static int setup(void **state)
{
	static struct stage stage;

	strcpy(stage.dir, "/tmp/graced-keepfile-XXXXXX");
	if (!mkdtemp(stage.dir))
		return -1;
	snprintf(stage.run, sizeof(stage.run), "%s/run", stage.dir);
	snprintf(stage.path, sizeof(stage.path), "%s/keep", stage.run);
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;
	char other[128];

	snprintf(other, sizeof(other), "%s.new", s->path);
	unlink(s->path);
	rmdir(s->path);
	unlink(other);
	chmod(s->run, 0700);
	rmdir(s->run);
	return rmdir(s->dir);
}

static struct keepfile *open_it(struct stage *s)
{
	struct keepfile *file;
	int r = keepfile_open(s->path, &file, &s->why);

	if (r < 0)
		fail_msg("%s", s->why.text);
	return file;
}

static void assert_holds(const struct keepfile *file, const char *content)
{
	_cleanup_(buf_free) struct buf got = {};

	assert_int_equal(keepfile_read(file, 1 << 20, &got), 0);
	assert_string_equal(buf_str(&got), content);
	assert_int_equal(keepfile_size(file), strlen(content));
}

static void it_is_made_for_its_user_alone(void **state)
{
	struct stage *s = *state;
	struct stat st;

	assert_int_equal(keepfile_check(s->path, &s->why), 1);
	assert_null(keepfile_free(open_it(s)));
	assert_int_equal(stat(s->run, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	assert_int_equal(stat(s->path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(keepfile_check(s->path, &s->why), 0);
}

static void what_was_added_is_there_for_the_next_one(void **state)
{
	struct stage *s = *state;
	struct keepfile *file = open_it(s);

	assert_holds(file, "");
	assert_int_equal(keepfile_append(file, "one\n", 4), 0);
	assert_int_equal(keepfile_append(file, "two\n", 4), 0);
	keepfile_free(file);
	file = open_it(s);
	assert_holds(file, "one\ntwo\n");
	assert_int_equal(keepfile_append(file, "three\n", 6), 0);
	assert_holds(file, "one\ntwo\nthree\n");
	assert_int_equal(keepfile_replace(file, "new\n", 4), 0);
	assert_int_equal(keepfile_append(file, "more\n", 5), 0);
	assert_holds(file, "new\nmore\n");
	keepfile_free(file);
	file = open_it(s);
	assert_holds(file, "new\nmore\n");
	assert_int_equal(keepfile_clear(file), 0);
	assert_holds(file, "");
	keepfile_free(file);
}

static void only_one_holds_it_whatever_it_does_to_it(void **state)
{
	struct stage *s = *state;
	struct keepfile *file = open_it(s), *other;
	char expected[256];

	snprintf(expected, sizeof(expected), "%s: another graced daemon has it", s->path);
	assert_int_equal(keepfile_open(s->path, &other, &s->why), -EBUSY);
	assert_string_equal(s->why.text, expected);
	assert_int_equal(keepfile_replace(file, "new\n", 4), 0);
	assert_int_equal(keepfile_open(s->path, &other, &s->why), -EBUSY);
	assert_int_equal(keepfile_check(s->path, &s->why), 0);
	keepfile_free(file);
	keepfile_free(open_it(s));
}

static void who_is_killed_holds_it_no_longer(void **state)
{
	struct stage *s = *state;
	struct keepfile *file;
	int status, ready[2];
	char byte;
	pid_t pid;

	assert_int_equal(pipe2(ready, O_CLOEXEC), 0);
	pid = fork();
	if (pid == 0) {
		file = open_it(s);
		keepfile_append(file, "left\n", 5);
		if (write(ready[1], "x", 1) == 1)
			pause();
		_exit(1);
	}
	assert_int_equal(read(ready[0], &byte, 1), 1);
	assert_int_equal(keepfile_open(s->path, &file, &s->why), -EBUSY);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	file = open_it(s);
	assert_holds(file, "left\n");
	keepfile_free(file);
	close(ready[0]);
	close(ready[1]);
}

static void refused(struct stage *s, int error, const char *path, const char *says)
{
	struct keepfile *file;
	char expected[256];

	snprintf(expected, sizeof(expected), "%s: %s", path, says);
	assert_int_equal(keepfile_open(s->path, &file, &s->why), error);
	assert_string_equal(s->why.text, expected);
	s->why.text[0] = 0;
	assert_int_equal(keepfile_check(s->path, &s->why), error);
	assert_string_equal(s->why.text, expected);
}

static void what_is_not_ours_is_refused(void **state)
{
	struct stage *s = *state;
	char other[140];

	assert_int_equal(mkdir(s->run, 0700), 0);
	assert_int_equal(symlink("/etc/hostname", s->path), 0);
	refused(s, -ELOOP, s->path, "this is a symbolic link");
	unlink(s->path);
	assert_int_equal(mkfifo(s->path, 0600), 0);
	refused(s, -EINVAL, s->path, "this is not a regular file");
	unlink(s->path);
	assert_int_equal(mkdir(s->path, 0700), 0);
	refused(s, -EISDIR, s->path, strerror(EISDIR));
	rmdir(s->path);
	close(open(s->path, O_CREAT | O_WRONLY, 0600));
	snprintf(other, sizeof(other), "%s.too", s->path);
	assert_int_equal(link(s->path, other), 0);
	refused(s, -EINVAL, s->path, "this has other names, too");
	unlink(other);
	for (mode_t mode = S_IWOTH; mode <= S_IWGRP; mode <<= 3) {
		chmod(s->path, 0600 | mode);
		refused(s, -EPERM, s->path, "others may write it; chmod go-w it");
		chmod(s->path, 0600);
		chmod(s->run, 0700 | mode);
		refused(s, -EPERM, s->run, "others may make files in it; chmod go-w it");
		chmod(s->run, 0700);
	}
	if (geteuid() != 0)
		return;
	assert_int_equal(chown(s->path, 65534, 65534), 0);
	refused(s, -EPERM, s->path, "this is somebody else's");
	assert_int_equal(chown(s->path, 0, 0), 0);
	assert_int_equal(chown(s->run, 65534, 65534), 0);
	refused(s, -EPERM, s->run, "the directory is somebody else's");
	assert_int_equal(chown(s->run, 0, 0), 0);
}

static void an_invalid_path_is_refused(void **state)
{
	struct stage *s = *state;
	char long_name[400];
	struct keepfile *file;

	assert_int_equal(keepfile_open("keep", &file, &s->why), -EINVAL);
	assert_int_equal(keepfile_open("/tmp/", &file, &s->why), -EINVAL);
	snprintf(long_name, sizeof(long_name), "/tmp/%0300d", 0);
	assert_int_equal(keepfile_open(long_name, &file, &s->why), -ENAMETOOLONG);
	assert_int_equal(keepfile_open("/tmp/none-such/none-such/keep", &file, &s->why), -ENOENT);
}

static void what_was_left_beside_it_is_in_nobodys_way(void **state)
{
	struct stage *s = *state;
	struct keepfile *file = open_it(s);
	char other[128];

	snprintf(other, sizeof(other), "%s.new", s->path);
	assert_int_equal(symlink("/etc/hostname", other), 0);
	assert_int_equal(keepfile_replace(file, "new\n", 4), 0);
	assert_holds(file, "new\n");
	assert_int_equal(access(other, F_OK), -1);
	keepfile_free(file);
}

static void a_file_that_is_too_big_is_not_read(void **state)
{
	struct stage *s = *state;
	_cleanup_(buf_free) struct buf got = {};
	struct keepfile *file = open_it(s);

	assert_int_equal(keepfile_append(file, "12345", 5), 0);
	assert_int_equal(keepfile_read(file, 4, &got), -EFBIG);
	assert_int_equal(keepfile_read(file, 5, &got), 0);
	assert_string_equal(buf_str(&got), "12345");
	keepfile_free(file);
}

static void a_short_write_is_continued(void **state)
{
	struct stage *s = *state;
	struct keepfile *file = open_it(s);

	write_max = 3;
	assert_int_equal(keepfile_append(file, "one and two\n", 12), 0);
	assert_holds(file, "one and two\n");
	assert_int_equal(keepfile_replace(file, "three and four\n", 15), 0);
	assert_holds(file, "three and four\n");
	write_max = SIZE_MAX;
	keepfile_free(file);
}

/* It may not grow: a part of it is written, and the rest never. */
static void what_ends_a_write_is_its_error(void **state)
{
	struct rlimit limit = {8, RLIM_INFINITY};
	struct stage *s = *state;
	struct keepfile *file = open_it(s);

	assert_int_equal(keepfile_append(file, "one\n", 4), 0);
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_int_equal(keepfile_append(file, "two and three\n", 14), -EFBIG);
	assert_int_equal(keepfile_replace(file, "two and three\n", 14), -EFBIG);
	limit.rlim_cur = RLIM_INFINITY;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
	assert_holds(file, "one\n");
	assert_int_equal(keepfile_append(file, "two\n", 4), 0);
	assert_holds(file, "one\ntwo\n");
	keepfile_free(file);
}

/* A disk of 64 KiB. */
static void a_full_disk_leaves_what_was_there(void **state)
{
	_cleanup_(cleanup_free) char *much = malloc(256 << 10);
	struct stage *s = *state;
	struct keepfile *file;
	char other[128];

	if (geteuid() != 0)
		skip();
	memset(much, 'x', 256 << 10);
	assert_int_equal(mkdir(s->run, 0700), 0);
	assert_int_equal(mount("none", s->run, "tmpfs", 0, "size=64k,mode=0700"), 0);
	file = open_it(s);
	assert_int_equal(keepfile_append(file, "one\n", 4), 0);
	assert_int_equal(keepfile_append(file, much, 256 << 10), -ENOSPC);
	assert_holds(file, "one\n");
	assert_int_equal(keepfile_replace(file, much, 256 << 10), -ENOSPC);
	assert_holds(file, "one\n");
	snprintf(other, sizeof(other), "%s.new", s->path);
	assert_int_equal(access(other, F_OK), -1);
	assert_int_equal(keepfile_append(file, "two\n", 4), 0);
	keepfile_free(file);
	file = open_it(s);
	assert_holds(file, "one\ntwo\n");
	keepfile_free(file);
	assert_int_equal(umount2(s->run, MNT_DETACH), 0);
}

#define STAGED(sentence, function)                        \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STAGED("directory and file are made for no other user",
		       it_is_made_for_its_user_alone),
		STAGED("what was added is there for the next one",
		       what_was_added_is_there_for_the_next_one),
		STAGED("only one holds it, whatever it does to it",
		       only_one_holds_it_whatever_it_does_to_it),
		STAGED("who is killed holds it no longer", who_is_killed_holds_it_no_longer),
		STAGED("links, other kinds of files, other owners and writers are refused",
		       what_is_not_ours_is_refused),
		STAGED("an invalid path is refused", an_invalid_path_is_refused),
		STAGED("what was left beside it is no obstacle",
		       what_was_left_beside_it_is_in_nobodys_way),
		STAGED("a file that is too big is not read", a_file_that_is_too_big_is_not_read),
		STAGED("a short write is continued where it stopped", a_short_write_is_continued),
		STAGED("what ends a write is reported as its error, and nothing of it stays",
		       what_ends_a_write_is_its_error),
		STAGED("a full disk leaves what was there", a_full_disk_leaves_what_was_there),
	};

	umask(022);
	signal(SIGXFSZ, SIG_IGN);
	return cmocka_run_group_tests_name("keepfile", tests, NULL, NULL);
}
