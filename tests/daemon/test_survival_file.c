// SPDX-License-Identifier: Apache-2.0
/* Claims about what a daemon finds that another one left: lines, other people's files, nothing. */
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/restarts.h"

#define STUCK 40 /* containers; their records are more than a pipe holds */

#define FILE_MAX (1 << 20)

static void write_file(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	assert_int_equal(write(fd, text, strlen(text)), strlen(text));
	close(fd);
}

static char *read_file(const char *path)
{
	char *text = calloc(1, FILE_MAX);
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	assert_true(fd >= 0 && read(fd, text, FILE_MAX - 1) >= 0);
	close(fd);
	return text;
}

/* Killed in the middle of its second line. */
static void reported_comes_first(void **state)
{
	static const char first[] = "{\"id\":\"zero\"}\n{\"id\":\"one\"}\n{\"id\":\"one\"}\n"
				    "{\"id\":\"two\"}\n{\"id\":\"three\"}\n{\"type\":\"";
	struct restarts *stage = *state;
	char boot[37], kept[512], *text;

	if (!stage)
		skip();
	clock_boot_id(boot);
	snprintf(kept, sizeof(kept),
		 "graced-checkpoint 1 %s 0.1.0\nt {\"id\":\"zero\"}\n.\nf\nt {\"id\":\"one\"}\n"
		 "t {\"id\":\"two\"}\nt {\"id\":\"three\"}\n.\nt {\"id\":\"not yet\"}\n",
		 boot);
	write_file(stage->checkpoint, kept);
	write_file(stage->file, "{\"id\":\"zero\"}\n{\"id\":\"one\"}\n{\"id\":\"tw");
	restarts_start(stage, true);
	usleep(700000);
	text = read_file(stage->file);
	if (strncmp(text, first, strlen(first)) != 0)
		fail_msg("%s", text);
	assert_null(strstr(text, "not yet"));
	free(text);
	assert_true(service_await_log(stage->service, "3 records reported again"));
	/* They are out by now, and the next one knows. */
	restarts_end_by(stage, SIGKILL);
	restarts_start(stage, true);
	usleep(300000);
	text = read_file(stage->file);
	assert_null(strstr(strstr(text, "three") + 5, "three"));
	free(text);
	restarts_end_by(stage, SIGTERM);
}

/* Its standard output is a pipe that holds a few lines. */
static void start_piped(struct restarts *stage, int pipe_fd)
{
	const struct service_spec spec = {
		.args = BOX_ARGV("--sinks.stdout=true", "--sinks.journal=false",
				 "--names.enabled=false", "--control.socket=none"),
		.dir = stage->dir,
		.out = pipe_fd,
		.tree = &stage->tree,
	};

	assert_int_equal(service_start(&spec, &stage->service), 0);
}

/* Marks the stops of ours that are whole lines of a text; how many are marked then. */
static unsigned int mark(struct restarts *stage, char *text, char seen[STUCK])
{
	const char *root = box_tree_relative(&stage->tree, stage->tree.root);
	unsigned int marked = 0, number;
	char *end, *at;

	for (; (end = strchr(text, '\n')); text = end + 1) {
		*end = 0;
		at = strstr(text, "\"type\":\"stop\"") ? strstr(text, root) : NULL;
		at = at ? strstr(at, "/pod") : NULL;
		if (at && sscanf(at, "/pod%8x", &number) == 1 && number < STUCK)
			seen[number] = 1;
	}
	for (size_t i = 0; i < STUCK; i++)
		marked += seen[i] != 0;
	return marked;
}

/* What comes out of a pipe, until its writers are gone or all are marked. */
static unsigned int drain(struct restarts *stage, int fd, char seen[STUCK])
{
	_cleanup_(buf_free) struct buf text = {};
	struct pollfd p = {.fd = fd, .events = POLLIN};
	unsigned int marked = 0;
	ssize_t n = 1;

	while (n > 0 && marked < STUCK && poll(&p, 1, 20000) > 0) {
		char *at = buf_reserve(&text, 4096), *whole;

		n = read(fd, at, 4096);
		if (n > 0)
			buf_commit(&text, (size_t)n);
		whole = strdup(buf_str(&text));
		marked = mark(stage, whole, seen);
		free(whole);
	}
	close(fd);
	assert_true(text.len > 0);
	return marked;
}

static void slow_reader(void **state)
{
	struct restarts *stage = *state;
	char seen[STUCK] = {};
	int p[2];

	if (!stage)
		skip();
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	fcntl(p[1], F_SETPIPE_SZ, 4096);
	start_piped(stage, p[1]);
	close(p[1]);
	assert_int_equal(many_containers(&stage->tree, 0, STUCK), 0);
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL,
					 STUCK) >= STUCK);
	usleep(600000);
	restarts_end_by(stage, SIGKILL);
	assert_in_range(drain(stage, p[0], seen), 0, STUCK / 2);
	assert_int_equal(pipe2(p, O_CLOEXEC), 0);
	start_piped(stage, p[1]);
	close(p[1]);
	assert_int_equal(drain(stage, p[0], seen), STUCK);
	restarts_end_by(stage, SIGTERM);
}

/* Each line of the file of records is whole; how many stops of ours it has. */
static unsigned int marked_in_file(struct restarts *stage)
{
	char *text = read_file(stage->file), seen[STUCK] = {};
	unsigned int marked;

	for (char *at = text; *at; at = strchr(at, '\n') + 1)
		assert_true(strncmp(at, "{\"type\":\"", 9) == 0 && strstr(at, "}\n"));
	marked = mark(stage, text, seen);
	free(text);
	return marked;
}

static void fill_and_end(struct restarts *stage, int sig)
{
	restarts_start(stage, true);
	assert_int_equal(many_containers(&stage->tree, 0, STUCK), 0);
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL,
					 STUCK) >= STUCK);
	assert_true(service_await_log(stage->service, "No space left on device; they wait"));
	assert_true(service_metric(stage->service, "graced_sink_waiting_records", "sink=\"file\"") >
		    0);
	restarts_end_by(stage, sig);
	assert_in_range(marked_in_file(stage), 0, STUCK / 2);
}

static void full_disk(void **state)
{
	static const int ends[] = {SIGTERM, SIGKILL};
	struct restarts *stage = *state;
	char disk[80], usual[sizeof(stage->file)];

	if (!stage)
		skip();
	snprintf(disk, sizeof(disk), "%s/disk", stage->dir);
	strcpy(usual, stage->file);
	snprintf(stage->file, sizeof(stage->file), "%s/records", disk);
	assert_int_equal(unshare(CLONE_NEWNS), 0);
	assert_int_equal(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL), 0);
	assert_int_equal(mkdir(disk, 0700), 0);
	for (size_t i = 0; i < LEN(ends); i++) {
		unsigned int marked = 0;

		assert_int_equal(mount("none", disk, "tmpfs", 0, "size=16k"), 0);
		fill_and_end(stage, ends[i]);
		restarts_start(stage, true);
		assert_true(
			service_await_log(stage->service, "No space left on device; they wait"));
		assert_int_equal(mount(NULL, disk, NULL, MS_REMOUNT, "size=2m"), 0);
		for (int n = 0; n < 300 && marked < STUCK; n++) {
			usleep(100000);
			marked = marked_in_file(stage);
		}
		assert_int_equal(marked, STUCK);
		assert_true(service_await_log(stage->service, "records are written to "));
		restarts_end_by(stage, SIGTERM);
		assert_int_equal(umount2(disk, MNT_DETACH), 0);
	}
	assert_int_equal(rmdir(disk), 0);
	strcpy(stage->file, usual);
}

static void other_files_do_no_harm(void **state)
{
	static const struct {
		const char *content, *says;
	} cases[] = {
		{"graced-checkpoint 1 00000000-0000-0000-0000-000000000000 0.1.0\nt {\"x\":1}\n.\n",
		 "is of another boot"},
		{"graced-checkpoint 2 later\nt {\"x\":1}\n.\n", "is of another version"},
	};
	struct restarts *stage = *state;

	if (!stage)
		skip();
	for (size_t i = 0; i < LEN(cases); i++) {
		char *text;

		write_file(stage->checkpoint, cases[i].content);
		restarts_start(stage, true);
		assert_true(service_await_log(stage->service, cases[i].says));
		restarts_end_by(stage, SIGTERM);
		text = read_file(stage->file);
		assert_null(strstr(text, "{\"x\":1}"));
		free(text);
		text = read_file(stage->checkpoint);
		assert_int_equal(strncmp(text, "graced-checkpoint 1 ", 20), 0);
		free(text);
		unlink(stage->file);
	}
}

/* As when the setting names the wrong file. */
static void what_is_no_checkpoint_stays_as_it_is(void **state)
{
	struct restarts *stage = *state;
	char *text;

	if (!stage)
		skip();
	write_file(stage->checkpoint, "scope: pods\n");
	restarts_start(stage, true);
	assert_true(
		service_await_log(stage->service, "is not a checkpoint, and is left unchanged"));
	restarts_end_by(stage, SIGTERM);
	text = read_file(stage->checkpoint);
	assert_string_equal(text, "scope: pods\n");
	free(text);
	unlink(stage->checkpoint);
	unlink(stage->file);
}

static void second_daemon(void **state)
{
	struct restarts *stage = *state;
	struct service *first;
	char *text;

	if (!stage)
		skip();
	restarts_start(stage, true);
	first = stage->service;
	restarts_start(stage, true);
	assert_true(service_await_log(stage->service, "another graced daemon has it"));
	assert_true(service_metric(stage->service, "graced_checkpoint_writes_total", NULL) < 0);
	assert_true(service_metric(first, "graced_checkpoint_writes_total", NULL) > 0);
	restarts_end_by(stage, SIGTERM);
	stage->service = first;
	text = read_file(stage->checkpoint);
	assert_int_equal(strncmp(text, "graced-checkpoint 1 ", 20), 0);
	free(text);
	restarts_end_by(stage, SIGTERM);
}

#define SURVIVES(sentence, function)                           \
	{                                                      \
		sentence, function, NULL, restarts_clear, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		SURVIVES("what was reported and may not be written comes first, as it was",
			 reported_comes_first),
		SURVIVES("what a slow reader had not got when it was killed, it gets from the next",
			 slow_reader),
		SURVIVES("what a full disk did not take, it gets from the next daemon when it has "
			 "space",
			 full_disk),
		SURVIVES("a checkpoint of another boot or version does no harm",
			 other_files_do_no_harm),
		SURVIVES("what is no checkpoint stays as it is",
			 what_is_no_checkpoint_stays_as_it_is),
		SURVIVES("a second daemon runs without, and says so", second_daemon),
	};

	return cmocka_run_group_tests_name("survival file", tests, restarts_setup,
					   restarts_teardown);
}
