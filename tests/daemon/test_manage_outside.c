// SPDX-License-Identifier: Apache-2.0
// The daemon drives a shutdown of containers in no pod and of services, by shutdown.managed.
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

#include "lib/claim.h"
#include "lib/shutdown/shutscene.h"

#define HEX "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

#define KILLED(of) "{'type':'shutdown','event':'container-killed','pod':null," of "}"

static const char *const args[] = {"--scope=services",
				   "--names.docker-root=/nonexistent",
				   "--shutdown.grace-period-by-pod-priority",
				   "priority=0 gracePeriodSeconds=4",
				   "--shutdown.grace-period-by-pod-priority",
				   "priority=1000 gracePeriodSeconds=3",
				   "--shutdown.managed",
				   "scope=docker priority=1000",
				   "--shutdown.managed",
				   "unit=*.service priority=0",
				   NULL};

static void start(struct shutscene *s, const char *slice, const char *leaf, const char *workload,
		  struct box *ret)
{
	const struct box_spec spec = {
		.argv = BOX_ARGV(workload),
		.slice = slice,
		.leaf = leaf,
	};

	assert_int_equal(box_start(&s->tree, &spec, ret), 0);
}

static void await_end(struct box *box, int number)
{
	struct proc_end end;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
	if (number)
		assert_int_equal(WTERMSIG(end.status), number);
	else
		assert_true(WIFEXITED(end.status));
	assert_int_equal(box_remove(box), 0);
}

static void assert_lives(struct box *box)
{
	assert_int_equal(waitpid(box->init_pid, NULL, WNOHANG), 0);
	assert_int_equal(box_remove(box), 0);
}

/* A time of the first such record. */
static json_int_t time_of(const struct shutscene *s, const char *expected, const char *part,
			  const char *member)
{
	json_t *rec = shutscene_await_record(s, expected);
	const json_t *of = part ? json_object_get(rec, part) : rec;
	json_int_t ns = json_integer_value(json_object_get(of, member));

	json_decref(rec);
	assert_true(ns > 0);
	return ns;
}

/* A container of the second group is asked once the first is over. */
static void assert_in_order(const struct shutscene *s)
{
	json_int_t done = time_of(s, "{'type':'shutdown','event':'group-done','group':{'index':0}}",
				  NULL, "boot_ns");

	assert_true(time_of(s, KILLED("'container':{'name':'web-2.service','kind':'service'}"),
			    "stop", "asked_boot_ns") < done);
	assert_true(time_of(s, KILLED("'container':{'runtime':'docker','id':'" HEX "2'}"), "stop",
			    "asked_boot_ns") > done);
}

static void rules_stop_group_by_group(void **state)
{
	struct shutscene *s = *state;
	struct box web, mute, docker, deaf, podman, ssh;

	if (!s)
		skip();
	start(s, "system.slice", "web-1.service", "graceful", &web);
	start(s, "system.slice", "web-2.service", "deaf", &mute);
	start(s, "system.slice", "docker-" HEX "1.scope", "graceful", &docker);
	start(s, "system.slice", "docker-" HEX "2.scope", "deaf", &deaf);
	start(s, "machine.slice", "libpod-" HEX "3.scope", "graceful", &podman);
	start(s, "system.slice", "ssh.service", "graceful", &ssh);
	shutscene_begin(state, &(struct shutscene_spec){.mode = "manage", .args = args});
	logindmock_announce(&s->mock, true, "poweroff");
	await_end(&web, 0);
	await_end(&mute, SIGKILL);
	await_end(&docker, 0);
	await_end(&deaf, SIGKILL);
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'released',"
					      "'reason':'all-stopped'}"));
	assert_in_order(s);
	assert_lives(&podman);
	assert_lives(&ssh);
	shutscene_end(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("what rules name is stopped group by group, the deaf killed at "
				"their deadline, and nothing else touched",
				rules_stop_group_by_group),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
