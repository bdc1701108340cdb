// SPDX-License-Identifier: Apache-2.0
// A user of the host runs containers below their own systemd, as rootless Podman and Docker do.
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID     "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define LIVES  400
#define BURST  256 /* bpf/graced.bpf.h, BUCKET_BURST */
#define PODMAN ".local/share/containers/storage/overlay-containers/"

struct stage {
	struct box_tree tree;
	struct tracer *tracer;
	unsigned int uid;
	char users[HIER_PATH_MAX], slice[HIER_PATH_MAX + 32]; /* root's, of all and of this user */
	char top[HIER_PATH_MAX + 80];			      /* the user's own */
	char dir[HIER_PATH_MAX + 256];			      /* the container's */
	pid_t pid;
};

/* --- the user --------------------------------------------------------------------------------- */

/* What systemd does for a user's manager. */
static void delegate(struct stage *s)
{
	static const char *const files[] = {".", "cgroup.procs", "cgroup.threads",
					    "cgroup.subtree_control"};
	char path[HIER_PATH_MAX + 128];

	snprintf(s->users, sizeof(s->users), "%.400s/user.slice", s->tree.hier.mount);
	snprintf(s->slice, sizeof(s->slice), "%s/user-%u.slice", s->users, s->uid);
	snprintf(s->top, sizeof(s->top), "%s/user@%u.service", s->slice, s->uid);
	assert_int_equal(hier_make(&s->tree.hier, s->users, true), 0);
	assert_int_equal(hier_make(&s->tree.hier, s->slice, true), 0);
	assert_int_equal(hier_make(&s->tree.hier, s->top, true), 0);
	for (size_t i = 0; i < LEN(files); i++) {
		snprintf(path, sizeof(path), "%s/%s", s->top, files[i]);
		assert_true(chown(path, s->uid, s->uid) == 0 || errno == ENOENT);
	}
}

static void become_user(const struct stage *s)
{
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) < 0 || cg_enter(s->top, getpid()) < 0 ||
	    setgroups(0, NULL) < 0 || setgid(s->uid) < 0 || setuid(s->uid) < 0)
		_exit(100);
}

static void make_parents(const struct stage *s)
{
	char path[sizeof(s->dir)];

	snprintf(path, sizeof(path), "%s", s->dir);
	for (char *slash = path + strlen(s->top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	if (mkdir(path, 0755) < 0)
		_exit(101);
}

/* place: of the container's cgroup below the user's. */
static void run_container(struct stage *s, const char *place)
{
	int fds[2];
	char byte;

	snprintf(s->dir, sizeof(s->dir), "%s/%s", s->top, place);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	s->pid = fork();
	if (s->pid == 0) {
		become_user(s);
		make_parents(s);
		if (cg_enter(s->dir, getpid()) < 0)
			_exit(102);
		execl("/bin/sleep", "sleep", "3600", NULL);
		_exit(103);
	}
	close(fds[1]);
	assert_true(s->pid > 0);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	assert_int_equal(waitpid(s->pid, NULL, WNOHANG), 0);
}

static void put(const struct stage *s, const char *path, const char *text)
{
	char full[512], part[512];
	FILE *f;

	snprintf(full, sizeof(full), "%s/home/%s", s->tree.tmp, path);
	for (char *slash = full + strlen(s->tree.tmp) + 1; (slash = strchr(slash, '/')); slash++) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - full), full);
		mkdir(part, 0700);
		assert_int_equal(chown(part, s->uid, s->uid), 0);
	}
	f = fopen(full, "w");
	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chown(full, s->uid, s->uid), 0);
}

/* As podman 4 writes it; the members that graced looks at. */
static void keep_state(const struct stage *s, const char *name)
{
	char text[512];

	put(s, PODMAN ID "/userdata/config.json",
	    "{\"ociVersion\":\"1.0.2-dev\",\"annotations\":{"
	    "\"org.opencontainers.image.stopSignal\":\"15\","
	    "\"org.systemd.property.TimeoutStopUSec\":\"uint64 10000000\"}}");
	snprintf(text, sizeof(text),
		 "[{\"id\":\"" ID "\",\"names\":[\"%s\"],\"image\":\"1\","
		 "\"metadata\":\"{\\\"image-name\\\":\\\"localhost/web:1\\\"}\"}]",
		 name);
	put(s, PODMAN "containers.json", text);
}

/* The system has that user, in a mount namespace of this program. */
static int add_user(const struct stage *s)
{
	char path[128];
	FILE *f;

	snprintf(path, sizeof(path), "%s/passwd", s->tree.tmp);
	f = fopen(path, "we");
	if (!f)
		return -errno;
	fprintf(f, "root:x:0:0::/root:/bin/sh\nuser:x:%u:%u::%s/home:/bin/sh\n", s->uid, s->uid,
		s->tree.tmp);
	fclose(f);
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(path, "/etc/passwd", NULL, MS_BIND, NULL) < 0)
		return -errno;
	return 0;
}

/* --- what is claimed -------------------------------------------------------------------------- */

static void start_tracer(struct stage *s)
{
	assert_int_equal(tracer_start(&(struct tracer_spec){}, &s->tracer), 0);
}

static const json_t *stopped(struct stage *s)
{
	const struct tracer_want want = {.type = "stop", .id = ID};
	const json_t *rec;

	assert_int_equal(kill(s->pid, SIGTERM), 0);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	s->pid = 0;
	rec = tracer_await(s->tracer, &want);
	assert_non_null(rec);
	assert_string_equal(jrec_text(rec, "container.cgroup"),
			    box_tree_relative(&s->tree, s->dir));
	assert_true(jrec_is_null(rec, "pod"));
	return rec;
}

static struct stage *need(void **state)
{
	struct stage *s = *state;

	if (!s->tree.root[0])
		skip();
	return s;
}

static void assert_named(struct stage *s, bool late)
{
	const json_t *rec = stopped(s);

	assert_string_equal(jrec_text(rec, "container.name"), "web");
	assert_string_equal(jrec_text(rec, "container.image"), "localhost/web:1");
	assert_string_equal(jrec_text(rec, "container.runtime"), "podman");
	assert_string_equal(jrec_text(rec, "outcome"), "terminated");
	assert_int_equal(json_is_true(jrec_get(rec, "evidence.complete")), !late);
}

static void named_by_the_users_engine(void **state)
{
	struct stage *s = need(state);

	keep_state(s, "web");
	start_tracer(s);
	run_container(s, "user.slice/libpod-" ID ".scope");
	assert_named(s, false);
}

static void named_when_attached_late(void **state)
{
	struct stage *s = need(state);

	keep_state(s, "web");
	run_container(s, "user.slice/user-libpod.slice/libpod-" ID ".scope/container");
	start_tracer(s);
	*strrchr(s->dir, '/') = '\0';
	assert_named(s, true);
}

static void nameless_without_state(void **state)
{
	struct stage *s = need(state);

	start_tracer(s);
	run_container(s, "app.slice/web.service/libpod-payload-" ID);
	assert_true(jrec_is_null(stopped(s), "container.name"));
}

/* Where a session is, which is root's, and where the user has given its own cgroup to be. */
static void nothing_else_is_a_container(void **state)
{
	struct stage *s = need(state);
	char session[HIER_PATH_MAX + 64], dir[HIER_PATH_MAX + 160];
	const struct tracer_want want = {.type = "stop", .id = ID};
	struct box box;

	keep_state(s, "web");
	start_tracer(s);
	snprintf(session, sizeof(session), "%s/session-1.scope", s->slice);
	snprintf(dir, sizeof(dir), "%s/libpod-" ID ".scope", session);
	assert_int_equal(hier_make(&s->tree.hier, session, false), 0);
	assert_int_equal(hier_make(&s->tree.hier, dir, false), 0);
	run_container(s, "user.slice/libpod-conmon-" ID ".scope");
	assert_int_equal(cg_enter(dir, s->pid), 0);
	assert_int_equal(kill(s->pid, SIGTERM), 0);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	s->pid = 0;
	/* What comes later has been reported. */
	assert_int_equal(
		box_start(&s->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	assert_non_null(tracer_await_stop(s->tracer, &box));
	assert_int_equal(tracer_count(s->tracer, &want), 0);
	assert_int_equal(box_remove(&box), 0);
}

static void live_often(const struct stage *s)
{
	become_user(s);
	make_parents(s);
	for (int i = 0; i < LIVES; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			if (cg_enter(s->dir, getpid()) < 0)
				_exit(1);
			execl("/bin/true", "true", NULL);
			_exit(1);
		}
		waitpid(pid, NULL, 0);
	}
	_exit(0);
}

static void lives_are_limited(void **state)
{
	const struct tracer_want want = {.type = "stop", .id = ID};
	struct stage *s = need(state);
	const json_t *rec;
	struct box box;
	size_t seen;

	start_tracer(s);
	assert_int_equal(
		box_start(&s->tree, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box), 0);
	snprintf(s->dir, sizeof(s->dir), "%s/user.slice/libpod-" ID ".scope", s->top);
	s->pid = fork();
	if (s->pid == 0)
		live_often(s);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	s->pid = 0;
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	rec = tracer_await_stop(s->tracer, &box);
	assert_non_null(rec);
	assert_true(json_is_true(jrec_get(rec, "evidence.complete")));
	seen = tracer_count(s->tracer, &want);
	print_message("# %zu of %d lives\n", seen, LIVES);
	assert_true(seen < LIVES && seen >= BURST / 2);
	assert_int_equal(box_remove(&box), 0);
}

static int setup(void **state)
{
	static struct stage s;
	const char *why = tracer_unavailable();

	s = (struct stage){.uid = 60000 + (unsigned int)getpid() % 5000};
	*state = &s;
	if (!why)
		why = box_unavailable();
	if (why) {
		print_message("%s\n", why);
		return 0;
	}
	if (box_tree_open(&s.tree, "rootless") || chmod(s.tree.tmp, 0711) < 0 || add_user(&s) < 0)
		return -1;
	delegate(&s);
	return 0;
}

static int teardown(void **state)
{
	char command[128];
	struct stage *s = *state;
	int r;

	tracer_free(s->tracer);
	if (!s->tree.root[0])
		return 0;
	r = cg_sweep(s->slice);
	/* Another run may have a user of its own there. */
	rmdir(s->users);
	umount2("/etc/passwd", MNT_DETACH);
	snprintf(command, sizeof(command), "rm -rf --one-file-system -- '%s/home'", s->tree.tmp);
	if (system(command))
		r = -1;
	return box_tree_close(&s->tree) || r ? -1 : 0;
}

#define OWN(sentence, function)                           \
	{                                                 \
		sentence, function, setup, teardown, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		OWN("a container below a user's own systemd is reported, and named by that user's "
		    "engine",
		    named_by_the_users_engine),
		OWN("... also when attached late, with the container one level below its scope",
		    named_when_attached_late),
		OWN("... and without a name where the user's home has none",
		    nameless_without_state),
		OWN("neither what is in a session nor conmon is one", nothing_else_is_a_container),
		OWN("a user who lets processes come and go has some lives reported, and others' "
		    "stops stay complete",
		    lives_are_limited),
	};

	return _cmocka_run_group_tests("rootless", tests, LEN(tests), NULL, NULL);
}
