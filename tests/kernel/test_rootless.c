// SPDX-License-Identifier: Apache-2.0
// A user of the host runs containers below their own systemd, as rootless Podman and Docker do.
#include "lib/box/box.h"
#include "lib/box/login.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"

#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define ID     "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"
#define LIVES  600
#define BURST  256 /* bpf/graced.bpf.h, BUCKET_BURST */
#define PODMAN ".local/share/containers/storage/overlay-containers/"

struct stage {
	struct box_tree tree;
	struct login user;
	struct tracer *tracer;
	char dir[HIER_PATH_MAX + 256]; /* the container's */
	pid_t pid;
};

/* --- the user --------------------------------------------------------------------------------- */

static void make_parents(const struct stage *s)
{
	char path[sizeof(s->dir)];

	snprintf(path, sizeof(path), "%s", s->dir);
	for (char *slash = path + strlen(s->user.top) + 1; (slash = strchr(slash, '/')); slash++) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
	if (mkdir(path, 0755) < 0)
		_exit(101);
}

/* place: of the container's cgroup below the user's. */
static void run_as(struct stage *s, const char *place, void (*handler)(int))
{
	int fds[2];
	char byte;

	snprintf(s->dir, sizeof(s->dir), "%s/%s", s->user.top, place);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	s->pid = fork();
	if (s->pid == 0) {
		if (login_become(&s->user) < 0)
			_exit(100);
		make_parents(s);
		if (cg_enter(s->dir, getpid()) < 0)
			_exit(102);
		signal(SIGTERM, handler);
		execl("/bin/sleep", "sleep", "3600", NULL);
		_exit(103);
	}
	close(fds[1]);
	assert_true(s->pid > 0);
	assert_int_equal(read(fds[0], &byte, 1), 0);
	close(fds[0]);
	assert_int_equal(waitpid(s->pid, NULL, WNOHANG), 0);
}

static void run_container(struct stage *s, const char *place)
{
	run_as(s, place, SIG_DFL);
}

/* As podman 4 writes it; the members that graced looks at. */
static void keep_state(const struct stage *s, const char *name)
{
	static const char bundle[] = "{\"ociVersion\":\"1.0.2-dev\",\"annotations\":{"
				     "\"org.opencontainers.image.stopSignal\":\"15\","
				     "\"org.systemd.property.TimeoutStopUSec\":"
				     "\"uint64 10000000\"}}";
	char text[512];

	assert_int_equal(login_put(&s->user, PODMAN ID "/userdata/config.json", bundle), 0);
	snprintf(text, sizeof(text),
		 "[{\"id\":\"" ID "\",\"names\":[\"%s\"],\"image\":\"1\","
		 "\"metadata\":\"{\\\"image-name\\\":\\\"localhost/web:1\\\"}\"}]",
		 name);
	assert_int_equal(login_put(&s->user, PODMAN "containers.json", text), 0);
}

/* --- what is claimed -------------------------------------------------------------------------- */

static void start_tracer(struct stage *s)
{
	assert_int_equal(
		tracer_start(&(struct tracer_spec){.args = BOX_ARGV("--names.wait", "20s")},
			     &s->tracer),
		0);
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
	snprintf(session, sizeof(session), "%s/session-1.scope", s->user.slice);
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

static bool has_gap(const json_t *rec, const char *gap)
{
	const json_t *gaps = jrec_get(rec, "evidence.gaps");

	for (size_t i = 0; i < json_array_size(gaps); i++)
		if (strcmp(json_string_value(json_array_get(gaps, i)), gap) == 0)
			return true;
	return false;
}

/* From a process of the user's that is in no container. */
static void signals_are_limited(void **state)
{
	const struct tracer_want want = {.type = "stop", .id = ID};
	struct stage *s = need(state);
	pid_t pid;

	start_tracer(s);
	run_as(s, "user.slice/libpod-" ID ".scope", SIG_IGN);
	pid = fork();
	if (pid == 0) {
		if (login_become(&s->user) < 0)
			_exit(100);
		for (int i = 0; i < 4 * BURST; i++)
			kill(s->pid, SIGTERM);
		kill(s->pid, SIGKILL);
		_exit(0);
	}
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	assert_int_equal(waitpid(s->pid, NULL, 0), s->pid);
	s->pid = 0;
	assert_true(has_gap(tracer_await(s->tracer, &want), "suppressed"));
}

static void live_often(const struct stage *s)
{
	if (login_become(&s->user) < 0)
		_exit(100);
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
	snprintf(s->dir, sizeof(s->dir), "%s/user.slice/libpod-" ID ".scope", s->user.top);
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
	assert_true(seen < 3 * LIVES / 4 && seen >= BURST / 2);
	assert_int_equal(box_remove(&box), 0);
}

static int setup(void **state)
{
	static struct stage s;
	const char *why = tracer_unavailable();

	s = (struct stage){};
	*state = &s;
	if (!why)
		why = box_unavailable();
	if (why) {
		print_message("%s\n", why);
		return 0;
	}
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    box_tree_open(&s.tree, "rootless"))
		return -1;
	return login_open(&s.tree.hier, s.tree.tmp, &s.user);
}

static int teardown(void **state)
{
	struct stage *s = *state;
	int r;

	tracer_free(s->tracer);
	if (!s->tree.root[0])
		return 0;
	r = login_close(&s->user);
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
		OWN("what a user sends to their own container is limited", signals_are_limited),
		OWN("a user who lets processes come and go has some lives reported, and others' "
		    "stops stay complete",
		    lives_are_limited),
	};

	return _cmocka_run_group_tests("rootless", tests, LEN(tests), NULL, NULL);
}
