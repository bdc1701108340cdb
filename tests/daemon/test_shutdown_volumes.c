// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon that waits in a node's shutdown for volumes: the mounts are real, below a
 * kubelet's root directory of the test's own, and so are the container and the process that stands
 * for the kubelet; logind is python-dbusmock's.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/time.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/shutdown/shutscene.h"

#define RELEASED "{'type':'shutdown','event':'released'}"
#define OF_NODE	 "plugins/kubernetes.io/csi/ebs.csi.aws.com/8f14e45f/globalmount"

static char root[64];	    /* the kubelet's */
static char points[4][256]; /* mounted on */
static size_t n_points;
static pid_t kubelet;
static struct box box;
static bool boxed; /* it runs */

/* The daemon reads the mounts of PID 1. */
static bool init_sees_it(void)
{
	_cleanup_(cleanup_free) char *text = NULL;

	return fd_read_all(AT_FDCWD, "/proc/1/mountinfo", 4u << 20, &text) > 0 &&
	       strstr(text, root);
}

static void make_dirs(char *path)
{
	for (char *slash = path + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	mkdir(path, 0755);
}

/* Mounts the file system that /usr is on. */
static void mount_volume(const char *point)
{
	char *path = points[n_points];

	snprintf(path, sizeof(points[0]), "%s/%s", root, point);
	make_dirs(path);
	assert_int_equal(mount("/usr", path, NULL, MS_BIND, NULL), 0);
	n_points++;
}

static void mount_of_pod(void)
{
	char point[128];

	snprintf(point, sizeof(point), "pods/%s/volumes/kubernetes.io~csi/pvc-1/mount", box.uid);
	mount_volume(point);
}

static void unmount_last(void)
{
	assert_int_equal(umount2(points[--n_points], MNT_DETACH), 0);
}

static void end_kubelet(void)
{
	if (kubelet <= 0)
		return;
	kill(kubelet, SIGKILL);
	waitpid(kubelet, NULL, 0);
	kubelet = 0;
}

/* A process that does nothing and holds the kubelet's lock. */
static void start_kubelet(struct shutscene *s)
{
	char python[200];

	kubelet = fork();
	assert_true(kubelet >= 0);
	if (kubelet == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	snprintf(python, sizeof(python),
		 "global inhibitors\n"
		 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet'] + "
		 "[('shutdown', 'kubelet', 'pods', 'delay', 0, %d)]",
		 (int)kubelet);
	logindmock_run(&s->mock, python);
}

static int undo(void **state)
{
	char command[128];

	while (n_points > 0)
		umount2(points[--n_points], MNT_DETACH);
	end_kubelet();
	if (boxed)
		box_remove(&box);
	boxed = false;
	snprintf(command, sizeof(command), "rm -rf --one-file-system '%s'", root);
	if (*root && system(command) != 0)
		return -1;
	root[0] = '\0';
	return shutscene_undo(state);
}

#define VOLUME_CLAIM(sentence, fn)             \
	{                                      \
		sentence, fn, NULL, undo, NULL \
	}

/* A pod with a volume that is mounted. */
static struct shutscene *begin(void **state, uint64_t limit_us)
{
	static const char *args[] = {"--kubelet.root-directory", root, NULL};
	struct shutscene *s;

	strcpy(root, "/tmp/graced-kubelet-XXXXXX");
	assert_non_null(mkdtemp(root));
	s = shutscene_begin(state, &(struct shutscene_spec){
					   .mode = "assist", .limit_us = limit_us, .args = args});
	start_kubelet(s);
	shutscene_box_of(s, "web", &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	boxed = true;
	mount_of_pod();
	if (!init_sees_it()) {
		print_message("# PID 1 has other mounts than this test\n");
		shutscene_end(s);
		skip();
	}
	return s;
}

#define LISTS " ListInhibitors"

/* The shutdown begins, the runtime stops the container, and the kubelet releases its lock. */
static void stop_pod(struct shutscene *s)
{
	struct proc_end how;
	struct sent sent;
	unsigned int asked = logindmock_logged(&s->mock, LISTS);

	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box.init_pid, SIGTERM, &sent),
			 0);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'group-started'}"));
	assert_int_equal(proc_wait(&box.proc, &how), 0);
	/* graced knows which process holds the kubelet's lock. */
	for (int i = 0; i < PATIENCE_S * 20 && logindmock_logged(&s->mock, LISTS) == asked; i++)
		usleep(50000);
	assert_true(logindmock_logged(&s->mock, LISTS) > asked);
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
}

static void is_held_for_2_s(struct shutscene *s)
{
	json_t *rec;
	_cleanup_(cleanup_free) char *text = NULL;

	sleep(2);
	rec = shutscene_find(s, RELEASED);
	text = rec ? json_dumps(rec, JSON_COMPACT) : NULL;
	json_decref(rec);
	if (text)
		fail_msg("%s", text);
}

static void a_volume_is_waited_for(void **state)
{
	struct shutscene *s = begin(state, 60000000);
	uint64_t unmounted_ns;
	json_t *rec;

	stop_pod(s);
	is_held_for_2_s(s);
	unmounted_ns = clock_boot_ns();
	unmount_last();
	rec = shutscene_await_record(s, RELEASED);
	assert_true((uint64_t)jrec_int(rec, "boot_ns", 0) >= unmounted_ns);
	assert_int_equal(jrec_int(rec, "volumes_left", -1), 0);
	json_decref(rec);
	shutscene_await_locks(s, 0);
	shutscene_end(s);
}

/* First the pod's, then the node's. */
static void a_mount_for_the_node_is_waited_for(void **state)
{
	struct shutscene *s = begin(state, 60000000);
	json_t *rec;

	mount_volume(OF_NODE);
	stop_pod(s);
	is_held_for_2_s(s);
	assert_int_equal(umount2(points[0], MNT_DETACH), 0);
	is_held_for_2_s(s);
	assert_int_equal(umount2(points[1], MNT_DETACH), 0);
	n_points = 0;
	rec = shutscene_await_record(s, RELEASED);
	assert_int_equal(jrec_int(rec, "volumes_left", -1), 0);
	json_decref(rec);
	shutscene_end(s);
}

/* One of that name, in any place, of that pod ("": of none) and of the driver of the node's mount. */
static void has_volume(const json_t *rec, const char *name, const char *uid)
{
	const json_t *volumes = json_object_get(rec, "volumes"), *volume = NULL;

	for (size_t i = 0; i < json_array_size(volumes); i++) {
		volume = json_array_get(volumes, i);
		if (strcmp(jrec_text(volume, "name"), name) == 0)
			break;
	}
	assert_string_equal(jrec_text(volume, "name"), name);
	assert_string_equal(jrec_text(volume, "plugin"), "kubernetes.io~csi");
	assert_string_equal(jrec_text(volume, "driver"), "ebs.csi.aws.com");
	assert_string_equal(jrec_text(volume, "pod.uid"), uid);
	assert_string_equal(jrec_text(volume, "pod.name"), *uid ? "web" : "");
}

static void one_that_hangs_does_not_pass_the_limit(void **state)
{
	struct shutscene *s = begin(state, 9000000);
	int64_t announced_ns, at_ns;
	json_t *rec;

	mount_volume(OF_NODE);
	stop_pod(s);
	rec = shutscene_await_record(s, RELEASED);
	announced_ns = jrec_int(rec, "announced_boot_ns", 0);
	at_ns = jrec_int(rec, "boot_ns", 0);
	assert_true(at_ns >= announced_ns + 7 * (int64_t)NS_PER_S);
	assert_true(at_ns < announced_ns + 9 * (int64_t)NS_PER_S);
	assert_int_equal(jrec_int(rec, "volumes_left", -1), 2);
	has_volume(rec, "pvc-1", box.uid);
	has_volume(rec, "8f14e45f", "");
	json_decref(rec);
	shutscene_await_locks(s, 0);
	shutscene_end(s);
}

static void without_the_kubelet_nothing_is_waited_for(void **state)
{
	struct shutscene *s = begin(state, 120000000);
	json_t *rec;

	stop_pod(s);
	is_held_for_2_s(s);
	end_kubelet();
	rec = shutscene_await_record(s, RELEASED);
	assert_int_equal(jrec_int(rec, "volumes_left", -1), 1);
	assert_true(jrec_int(rec, "boot_ns", 0) <
		    jrec_int(rec, "announced_boot_ns", 0) + 100 * (int64_t)NS_PER_S);
	json_decref(rec);
	shutscene_end(s);
}

/* The first has a mount that hangs; the second finds it gone. */
static void cancelled_and_announced_anew(void **state)
{
	struct shutscene *s = begin(state, 120000000);
	json_t *rec;

	stop_pod(s);
	is_held_for_2_s(s);
	logindmock_announce(&s->mock, false, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'cancelled'}"));
	unmount_last();
	logindmock_announce(&s->mock, true, "reboot");
	rec = shutscene_await_record(s, RELEASED);
	assert_int_equal(jrec_int(rec, "volumes_left", -1), 0);
	json_decref(rec);
	shutscene_end(s);
}

/* As the kubelet writes it, of a volume without a mount for the node. */
static void write_data(const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/pods/%s/volumes/kubernetes.io~csi/pvc-1/vol_data.json",
		 root, box.uid);
	file = fopen(path, "we");
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	assert_int_equal(fclose(file), 0);
}

static void the_driver_is_read_from_the_kubelets_file(void **state)
{
	struct shutscene *s = begin(state, 9000000);
	json_t *rec;

	write_data("{\"driverName\":\"ebs.csi.aws.com\",\"specVolID\":\"pvc-1\"}\n");
	stop_pod(s);
	rec = shutscene_await_record(s, RELEASED);
	assert_int_equal(jrec_int(rec, "volumes_left", -1), 1);
	has_volume(rec, "pvc-1", box.uid);
	json_decref(rec);
	shutscene_end(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		VOLUME_CLAIM("the lock is held until a volume is unmounted",
			     a_volume_is_waited_for),
		VOLUME_CLAIM("... and until it is for the whole node",
			     a_mount_for_the_node_is_waited_for),
		VOLUME_CLAIM("one that hangs does not pass logind's limit, and is reported",
			     one_that_hangs_does_not_pass_the_limit),
		VOLUME_CLAIM(
			"... with the driver that the kubelet wrote down, if no other mount names it",
			the_driver_is_read_from_the_kubelets_file),
		VOLUME_CLAIM("when the kubelet's process is gone nothing is waited for",
			     without_the_kubelet_nothing_is_waited_for),
		VOLUME_CLAIM("a shutdown that is announced anew reads the mounts anew",
			     cancelled_and_announced_anew),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
