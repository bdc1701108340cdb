// SPDX-License-Identifier: Apache-2.0
/* Claims about app/daemon/bootkeep: an earlier boot is reported until that is written, and a note
 * that cannot be written makes no claim. */
#include "app/daemon/bootkeep.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <syslog.h>
#include <unistd.h>

#include "app/log/log.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "io/proc/clock.h"
#include "lib/claim.h"

#define S     1000000000ULL
#define OTHER "11111111-2222-3333-4444-555555555555"
#define NODE  "n"

struct stage {
	char dir[64], path[96];
	struct engine *engine;
	struct bootkeep *keep;
};

static int setup(void **state)
{
	static const struct engine_config config = {.scope = SCOPE_CONTAINERS};
	static struct stage stage;

	log_setup(LOG_EMERG, false, false);
	stage = (struct stage){};
	strcpy(stage.dir, "/tmp/graced-boot-XXXXXX");
	if (!mkdtemp(stage.dir) || engine_new(&config, &stage.engine) < 0)
		return -1;
	snprintf(stage.path, sizeof(stage.path), "%s/boot", stage.dir);
	setenv("STATE_DIRECTORY", stage.dir, 1);
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;

	bootkeep_free(s->keep);
	engine_free(s->engine);
	umount2(s->dir, MNT_DETACH); /* whoever looks at it just now */
	unlink(s->path);
	return rmdir(s->dir);
}

static void read_file(const struct stage *s, struct bootnote *ret)
{
	_cleanup_(cleanup_free) char *text = NULL;
	ssize_t size = fd_read_all(AT_FDCWD, s->path, BOOTNOTE_MAX_SIZE, &text);

	*ret = (struct bootnote){};
	assert_true(size > 0);
	assert_int_equal(bootnote_read(text, (size_t)size, ret), 0);
}

/* What a daemon of another boot has left: a pod, and no end. */
static void forge(const struct stage *s, const char *node)
{
	_cleanup_(buf_free) struct buf out = {};
	struct bootnote note = {.unclean = 4};

	bootlog_begin(&note.boot, OTHER, node, S);
	bootlog_look(&note.boot, 2 * S, 1700000000000000000);
	bootlog_add(&note.boot.pods, "uid", "default", "web", 1);
	assert_int_equal(bootnote_write(&out, &note), 0);
	assert_int_equal(statefile_write(s->path, buf_str(&out), out.len), 0);
	bootnote_done(&note);
}

/* A daemon begins; whether it reports another boot. */
static bool begin(struct stage *s, uint64_t now_ns)
{
	struct record record;
	bool reported;

	s->keep = bootkeep_free(s->keep);
	s->keep = bootkeep_open();
	assert_non_null(s->keep);
	reported = bootkeep_begin(s->keep, NODE, now_ns, &record);
	if (reported) {
		assert_int_equal(record.boot.verdict.end, BOOT_END_UNCLEAN);
		assert_string_equal(record.boot.id, OTHER "/end");
		assert_string_equal(record.boot.log->pods.rows[0].name, "web");
		assert_int_equal(record.at_ns, 2 * S);
	}
	return reported;
}

static void assert_noted(const struct stage *s, bool this_boot, uint64_t unclean)
{
	char boot_id[37];
	struct bootnote note;

	clock_boot_id(boot_id);
	read_file(s, &note);
	assert_string_equal(note.boot.boot_id, this_boot ? boot_id : OTHER);
	assert_string_equal(note.previous.boot_id, this_boot && unclean ? OTHER : "");
	assert_int_equal(note.unclean, this_boot ? unclean : 4);
	bootnote_done(&note);
}

static void test_repeated(void **state)
{
	struct stage *s = *state;

	forge(s, NODE);
	assert_true(begin(s, 10 * S));
	/* Killed at once, and while its sinks are behind. */
	assert_true(begin(s, 11 * S));
	bootkeep_turn(s->keep, s->engine, 12 * S, false);
	assert_noted(s, false, 0);
	assert_true(begin(s, 13 * S));
	bootkeep_stop(s->keep, s->engine, 14 * S);
	bootkeep_finish(s->keep, s->engine, 15 * S, false);
	assert_noted(s, false, 0);
	/* Its record is written. */
	assert_true(begin(s, 15 * S));
	bootkeep_turn(s->keep, s->engine, 16 * S, true);
	assert_noted(s, true, 5);
	assert_false(begin(s, 17 * S));
	bootkeep_turn(s->keep, s->engine, 18 * S, true);
	assert_noted(s, true, 5);
}

static void test_stopped_at_once(void **state)
{
	struct stage *s = *state;
	struct bootnote note;

	forge(s, NODE);
	assert_true(begin(s, 10 * S));
	bootkeep_stop(s->keep, s->engine, 11 * S);
	bootkeep_finish(s->keep, s->engine, 12 * S, true);
	assert_noted(s, true, 5);
	read_file(s, &note);
	assert_int_equal(note.boot.stopped_ns, 11 * S);
	assert_int_equal(note.boot.saved_ns, 12 * S);
	bootnote_done(&note);
}

static void test_slow_reader(void **state)
{
	struct stage *s = *state;

	forge(s, NODE);
	assert_true(begin(s, 10 * S));
	bootkeep_turn(s->keep, s->engine, 69 * S, false);
	assert_noted(s, false, 0);
	bootkeep_turn(s->keep, s->engine, 70 * S, false);
	assert_noted(s, true, 5);
}

static void test_foreign(void **state)
{
	struct stage *s = *state;

	forge(s, "another");
	assert_false(begin(s, 10 * S));
	bootkeep_turn(s->keep, s->engine, 11 * S, true);
	assert_noted(s, true, 0);
}

static void test_void(void **state)
{
	static const char *const texts[] = {"", "\0", "{}", "[]", "{\"version\":2}", "\xff"};
	struct stage *s = *state;

	for (size_t i = 0; i < LEN(texts); i++) {
		assert_int_equal(statefile_write(s->path, texts[i], strlen(texts[i]) + 1), 0);
		assert_false(begin(s, 10 * S));
		bootkeep_turn(s->keep, s->engine, 11 * S, true);
		assert_noted(s, true, 0);
	}
	/* Others could have written it. */
	forge(s, NODE);
	assert_int_equal(chmod(s->path, 0666), 0);
	assert_false(begin(s, 10 * S));
	bootkeep_turn(s->keep, s->engine, 11 * S, true);
	assert_noted(s, true, 0);
}

/* When the file was changed last, as a count of its versions. */
static uint64_t version(const struct stage *s)
{
	struct stat st;

	assert_int_equal(stat(s->path, &st), 0);
	return (uint64_t)st.st_ino << 32 ^ (uint64_t)st.st_ctim.tv_nsec ^
	       (uint64_t)st.st_ctim.tv_sec << 20;
}

static void test_each_look(void **state)
{
	struct stage *s = *state;
	uint64_t was;

	assert_false(begin(s, 100 * S));
	bootkeep_turn(s->keep, s->engine, 100 * S, true);
	was = version(s);
	for (uint64_t look = 110; look <= 130; look += 10) {
		for (uint64_t t = look - 9; t < look; t++)
			bootkeep_turn(s->keep, s->engine, t * S, true);
		assert_int_equal(version(s), was);
		bootkeep_turn(s->keep, s->engine, look * S, true);
		assert_int_not_equal(version(s), was);
		was = version(s);
	}
}

static void test_full(void **state)
{
	struct stage *s = *state;
	char more[8192] = {};
	int fd;

	if (mount("none", s->dir, "tmpfs", 0, "size=16k") < 0)
		skip();
	assert_false(begin(s, 10 * S));
	bootkeep_turn(s->keep, s->engine, 10 * S, true);
	assert_noted(s, true, 0);
	snprintf(more, sizeof(more), "%s/more", s->dir);
	fd = open(more, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	while (write(fd, more, sizeof(more)) > 0)
		;
	close(fd);
	/* What it has is true as long as the daemon runs. */
	bootkeep_turn(s->keep, s->engine, 99 * S, true);
	assert_noted(s, true, 0);
	bootkeep_stop(s->keep, s->engine, 100 * S);
	assert_int_equal(access(s->path, F_OK), -1);
	assert_int_equal(errno, ENOENT);
}

static void test_read_only(void **state)
{
	struct stage *s = *state;

	if (mount("none", s->dir, "tmpfs", 0, "size=64k") < 0)
		skip();
	forge(s, NODE);
	assert_int_equal(mount("none", s->dir, NULL, MS_REMOUNT | MS_RDONLY, "size=64k"), 0);
	assert_true(begin(s, 10 * S));
	bootkeep_turn(s->keep, s->engine, 11 * S, true);
	bootkeep_stop(s->keep, s->engine, 12 * S);
	assert_noted(s, false, 0);
	assert_true(begin(s, 13 * S));
	assert_int_equal(bootkeep_note(s->keep)->unclean, 5);
}

#define BOOT_CLAIM(sentence, function)                    \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		BOOT_CLAIM("an earlier boot is reported until its record is written, and then no "
			   "more",
			   test_repeated),
		BOOT_CLAIM("a daemon that is stopped at once has reported it, too",
			   test_stopped_at_once),
		BOOT_CLAIM("a reader that never catches up delays the note for a minute",
			   test_slow_reader),
		BOOT_CLAIM("the note of another node is replaced without a report", test_foreign),
		BOOT_CLAIM("a note that cannot be trusted or read is replaced without a report",
			   test_void),
		BOOT_CLAIM("each look is written, and nothing between two of them", test_each_look),
		BOOT_CLAIM("a daemon that cannot note its end leaves no note", test_full),
		BOOT_CLAIM("on a file system that is read-only the report is repeated",
			   test_read_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
