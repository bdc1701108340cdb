// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what a loss of power leaves: the daemon's state is on a file system in an image, and
 * a copy of the image, taken while it is in use, is what the next boot would find on its disk. The
 * file system itself would write what is new every five minutes.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "io/proc/clock.h"
#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"
#include "wire/recording/boot_note.h"

#define OTHER	 "11111111-2222-3333-4444-555555555555"
#define PATIENCE 60 /* copies, one a second */

struct stage {
	struct box_tree tree;
	struct service *service;
	char dir[64];
};

/* Runs it in the stage's directory. */
static int sh(const struct stage *stage, const char *script)
{
	char text[512];
	struct run_result result;
	int status;

	snprintf(text, sizeof(text), "cd %s && { %s; }", stage->dir, script);
	if (run(&(struct run_spec){.exe = "/bin/sh", .args = BOX_ARGV("-c", text)}, &result) < 0)
		return -1;
	status = result.status;
	run_done(&result);
	return status;
}

static const char *open_stage(struct stage *stage)
{
	if (tracer_unavailable())
		return tracer_unavailable();
	if (box_unavailable())
		return box_unavailable();
	strcpy(stage->dir, "/tmp/graced-power-XXXXXX");
	if (!mkdtemp(stage->dir))
		return "no directory in /tmp";
	if (sh(stage, "truncate -s 32M image && mkfs.ext4 -q image && mkdir disk copied && "
		      "mount -o loop,commit=300 image disk") == 0)
		return NULL;
	sh(stage, "rm -rf image disk copied");
	rmdir(stage->dir);
	return "no ext4 in an image can be mounted here";
}

static int setup(void **state)
{
	static struct stage stage;
	const char *why = open_stage(&stage);

	*state = NULL;
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	if (box_tree_open(&stage.tree, "power") < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	service_free(stage->service);
	sh(stage, "umount disk; umount copied; rmdir disk copied; rm -f image copy");
	rmdir(stage->dir);
	return box_tree_close(&stage->tree);
}

static void start(struct stage *stage, const char *disk)
{
	char dir[96];
	const struct service_spec spec = {
		.args = BOX_ARGV("--sinks.journal=false", "--names.enabled=false",
				 "--control.socket=none", "--checkpoint.file=none"),
		.dir = dir,
		.tree = &stage->tree,
	};

	snprintf(dir, sizeof(dir), "%s/%s", stage->dir, disk);
	assert_int_equal(service_start(&spec, &stage->service), 0);
}

/* The note on the copied disk; NULL: there is none. */
static char *read_copied(const struct stage *stage, char ret_path[static 128])
{
	char *text = NULL;

	snprintf(ret_path, 128, "%s/copied/" BOOTNOTE_FILE, stage->dir);
	return fd_read_all(AT_FDCWD, ret_path, BOOTNOTE_MAX_SIZE, &text) < 0 ? NULL : text;
}

/* Loses power again and again, until what is on the disk names the pod. No note that is there is
 * ever torn. */
static char *lose_power(const struct stage *stage, const char *pod_uid, char path[static 128])
{
	for (int i = 0; i < PATIENCE; i++) {
		struct bootnote note = {};
		char *text;

		assert_int_equal(sh(stage, "cp --sparse=always image copy && "
					   "mount -o loop copy copied"),
				 0);
		text = read_copied(stage, path);
		if (text)
			assert_int_equal(bootnote_read(text, strlen(text), &note), 0);
		bootnote_done(&note);
		if (text && strstr(text, pod_uid))
			return text;
		free(text);
		assert_int_equal(sh(stage, "umount copied"), 0);
		sleep(1);
	}
	fail_msg("no copy has the pod");
	return NULL;
}

static void a_pod_is_named(void **state)
{
	struct stage *stage = *state;
	char path[128], boot_id[37], *text, *at;
	struct box box;

	if (!stage)
		skip();
	start(stage, "disk");
	assert_int_equal(
		box_start(&stage->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box), 0);
	text = lose_power(stage, box.uid, path);
	kill(service_pid(stage->service), SIGKILL);
	service_wait(stage->service);
	stage->service = service_free(stage->service);
	clock_boot_id(boot_id);
	at = strstr(text, boot_id);
	assert_non_null(at);
	memcpy(at, OTHER, 36);
	assert_int_equal(statefile_write(path, text, strlen(text)), 0);
	free(text);
	start(stage, "copied");
	assert_true(service_await_metric(stage->service, "graced_last_boot_end", "end=\"unclean\"",
					 1) == 1);
	assert_true(service_metric(stage->service, "graced_last_boot_alive", "kind=\"pod\"") == 1);
	service_stop(stage->service);
	assert_int_equal(box_remove(&box), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("after a loss of power the disk has a note that is whole, and names the pods",
		      a_pod_is_named),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
