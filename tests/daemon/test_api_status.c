// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what a daemon in mode manage writes to an API server of the test's own in a
 * shutdown: the last status of a pod that it has ended, and the taint of a node that is dead.
 * logind and systemd are python-dbusmock's, the container and its end are real.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/daemon/apipeer.h"
#include "lib/daemon/kubestage.h"
#include "lib/patience.h"
#include "lib/shutdown/shutscene.h"

#define LIMIT_S 20

static struct apipeer peer;
static char url[64], root[] = "/tmp/graced-kubelet-XXXXXX";

static int open_all(void **state)
{
	assert_non_null(mkdtemp(root));
	return shutscene_open(state);
}

static int close_all(void **state)
{
	rmdir(root);
	return shutscene_close(state);
}

static int undo(void **state)
{
	apipeer_close(&peer);
	return shutscene_undo(state);
}

/* A daemon that knows the pod shop/web, whose container is deaf or ends when it is asked to. */
static struct shutscene *begin(void **state, const char *program, const char *more, struct box *box)
{
	static const char *args[16];
	const struct box_spec spec = {.argv = BOX_ARGV(program)};
	struct kubestage kube = {};
	char socket[128];
	struct shutscene *s;
	size_t n = 0;

	if (!*state)
		skip();
	apipeer_open(&peer);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", peer.port);
	args[n++] = "--node-name=node-1";
	args[n++] = "--api.url";
	args[n++] = url;
	args[n++] = "--api.interval=1s";
	args[n++] = "--shutdown.stop-units=kubelet.service";
	args[n++] = "--kubelet.root-directory";
	args[n++] = root;
	args[n++] = "--shutdown.status-wait=3s";
	args[n++] = "--api.report=status";
	args[n++] = more;
	args[n] = NULL;
	s = shutscene_begin(state, &(struct shutscene_spec){.mode = "manage",
							    .args = args,
							    .limit_us = LIMIT_S * 1000000ULL});
	logindmock_add_units(&s->mock);
	shutscene_box_of(s, "web", &spec, box);
	snprintf(peer.shared->container, sizeof(peer.shared->container), "%s", box->id);
	snprintf(peer.shared->uid, sizeof(peer.shared->uid), "%s", box->uid);
	snprintf(socket, sizeof(socket), "%s/control.sock", s->state);
	kube.socket = socket;
	json_decref(kubestage_await_line(&kube, box->uid, "{'state':'sync','ready':true}"));
	return s;
}

static void await_end(struct box *box)
{
	struct proc_end end;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
}

/* Its time on CLOCK_BOOTTIME. */
static uint64_t await_released(struct shutscene *s, const char *reason)
{
	char expected[96];
	uint64_t at_ns;
	json_t *rec;

	rec = shutscene_await_record(s, "{'type':'shutdown','event':'released'}");
	at_ns = (uint64_t)jrec_int(rec, "boot_ns", 0);
	snprintf(expected, sizeof(expected), "%s", jrec_text(rec, "reason"));
	json_decref(rec);
	if (strcmp(expected, reason) != 0)
		fail_msg("released %s, not %s: %s", expected, reason, service_log(s->service));
	return at_ns;
}

static json_t *load_patch(void)
{
	json_t *patch = json_loads(peer.shared->patch, 0, NULL);

	assert_non_null(patch);
	return patch;
}

static const char *condition(const json_t *status, const char *type, const char *key)
{
	json_t *item;
	size_t i;

	json_array_foreach(json_object_get(status, "conditions"), i, item)
		if (strcmp(jrec_text(item, "type"), type) == 0)
			return jrec_text(item, key);
	return "";
}

static void a_deaf_pod_is_failed_before_the_lock_is_released(void **state)
{
	struct box box;
	struct shutscene *s = begin(state, "deaf", NULL, &box);
	const json_t *status, *end;
	uint64_t released_ns;
	json_t *patch;

	logindmock_announce(&s->mock, true, "poweroff");
	await_end(&box);
	released_ns = await_released(s, "all-stopped");
	assert_true(peer.shared->written_ns && peer.shared->written_ns < released_ns);
	patch = load_patch();
	assert_string_equal(jrec_text(json_object_get(patch, "metadata"), "uid"), box.uid);
	status = json_object_get(patch, "status");
	assert_string_equal(jrec_text(status, "phase"), "Failed");
	assert_string_equal(jrec_text(status, "reason"), "Terminated");
	assert_string_equal(condition(status, "Ready", "status"), "False");
	assert_string_equal(condition(status, "Ready", "reason"), "PodFailed");
	assert_string_equal(condition(status, "DisruptionTarget", "status"), "True");
	assert_string_equal(condition(status, "DisruptionTarget", "reason"),
			    "TerminationByKubelet");
	end = json_array_get(json_object_get(status, "containerStatuses"), 0);
	end = json_object_get(json_object_get(end, "state"), "terminated");
	assert_int_equal(jrec_int(end, "exitCode", 0), 137);
	assert_string_equal(jrec_text(end, "reason"), "Error");
	json_decref(patch);
	assert_int_equal(peer.shared->patches, 1);
	assert_int_equal(peer.shared->node_patches, 0);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

/* Each ends the wait in its own way; none beyond 3 s, logind's limit being 20. */
static void a_hostile_server_neither_holds_the_lock_nor_is_believed(void **state)
{
	static const struct {
		enum apipeer_mood mood;
		const char *reason;
		bool patched;
	} rows[] = {
		{APIPEER_DOWN, "status-late", false},	   {APIPEER_SILENT, "status-late", false},
		{APIPEER_CONFLICT, "all-stopped", true},   {APIPEER_GONE, "all-stopped", false},
		{APIPEER_BUSY, "status-late", false},	   {APIPEER_REVOKED, "all-stopped", false},
		{APIPEER_OTHER_POD, "all-stopped", false},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct box box;
		struct shutscene *s = begin(state, "graceful", NULL, &box);
		_cleanup_(cleanup_free) char *log = NULL;
		uint64_t released_ns, announced_ns = clock_boot_ns();

		peer.shared->mood = rows[i].mood;
		logindmock_announce(&s->mock, true, "poweroff");
		await_end(&box);
		released_ns = await_released(s, rows[i].reason);
		assert_true(released_ns < announced_ns + (LIMIT_S - 2) * 1000000000ULL);
		assert_true(peer.shared->written_ns == 0);
		assert_true(rows[i].patched == (peer.shared->patches > 0));
		log = service_log(s->service);
		assert_null(strstr(log, "wrote the last status"));
		assert_int_equal(box_remove(&box), 0);
		shutscene_end(s);
		apipeer_close(&peer);
	}
}

static void await_written(const struct shutscene *s)
{
	uint64_t until_ns = clock_boot_ns() + PATIENCE_NS;

	while (!__atomic_load_n(&peer.shared->written_ns, __ATOMIC_ACQUIRE)) {
		if (clock_boot_ns() >= until_ns)
			fail_msg("no status is written: %s", service_log(s->service));
		usleep(20000);
	}
}

/* The first daemon has seen how the container ended, and got no answer; its cgroup is gone when the
 * second begins. */
static void what_one_daemon_has_seen_the_next_one_writes(void **state)
{
	struct box box;
	struct shutscene *s = begin(state, "graceful", NULL, &box);
	const json_t *status, *end;
	json_t *patch;

	peer.shared->mood = APIPEER_DOWN;
	logindmock_announce(&s->mock, true, "poweroff");
	await_end(&box);
	json_decref(shutscene_await_record(s, "{'type':'stop'}"));
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	assert_true(peer.shared->written_ns == 0);
	peer.shared->mood = APIPEER_WELL;
	shutscene_start(s, "manage");
	await_written(s);
	patch = load_patch();
	status = json_object_get(patch, "status");
	assert_string_equal(jrec_text(status, "phase"), "Succeeded");
	end = json_array_get(json_object_get(status, "containerStatuses"), 0);
	end = json_object_get(json_object_get(end, "state"), "terminated");
	assert_int_equal(jrec_int(end, "exitCode", -1), 0);
	assert_string_equal(jrec_text(end, "reason"), "Completed");
	json_decref(patch);
	shutscene_end(s);
}

static void await_node_patches(const struct shutscene *s, unsigned int n)
{
	uint64_t until_ns = clock_boot_ns() + PATIENCE_NS;

	while (__atomic_load_n(&peer.shared->node_patches, __ATOMIC_ACQUIRE) < n) {
		if (clock_boot_ns() >= until_ns)
			fail_msg("%u patches of the node: %s", peer.shared->node_patches,
				 service_log(s->service));
		usleep(20000);
	}
}

static void a_dead_node_has_the_taint_until_the_start_after(void **state)
{
	struct box box;
	struct shutscene *s = begin(state, "graceful", "--shutdown.out-of-service-taint", &box);
	char boot[37];

	assert_int_equal(clock_boot_id(boot), 0);
	/* What an operator has set, and what others have, stays. */
	assert_int_equal(peer.shared->node_patches, 0);
	snprintf(peer.shared->taints, sizeof(peer.shared->taints),
		 "[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]");
	logindmock_announce(&s->mock, true, "poweroff");
	await_end(&box);
	await_released(s, "all-stopped");
	assert_int_equal(peer.shared->node_patches, 1);
	assert_string_equal(peer.shared->taints,
			    "[{\"key\":\"a\",\"effect\":\"NoSchedule\"},{\"key\":"
			    "\"node.kubernetes.io/out-of-service\",\"value\":\"nodeshutdown\","
			    "\"effect\":\"NoExecute\"}]");
	assert_string_equal(peer.shared->note, boot);
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	/* One that begins within the shutdown proves it dead anew. */
	logindmock_announce(&s->mock, false, "poweroff");
	shutscene_start(s, "manage");
	await_node_patches(s, 2);
	assert_string_equal(peer.shared->taints, "[{\"key\":\"a\",\"effect\":\"NoSchedule\"}]");
	assert_string_equal(peer.shared->note, "");
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

#define CLOSED "[{\"key\":\"a\"},{\"key\":\"graced.io/node-shutdown\",\"effect\":\"NoSchedule\"}]"

/* From the announcement on, until that is cancelled, or the next start. */
static void no_pod_is_placed_on_a_node_in_a_shutdown(void **state)
{
	struct box box;
	struct shutscene *s = begin(state, "graceful", "--api.report=unschedulable", &box);
	char boot[37];

	assert_int_equal(clock_boot_id(boot), 0);
	snprintf(peer.shared->taints, sizeof(peer.shared->taints), "[{\"key\":\"a\"}]");
	logindmock_announce(&s->mock, true, "poweroff");
	await_node_patches(s, 1);
	assert_string_equal(peer.shared->taints, CLOSED);
	assert_string_equal(peer.shared->closed, boot);
	logindmock_announce(&s->mock, false, "poweroff");
	await_node_patches(s, 2);
	assert_string_equal(peer.shared->taints, "[{\"key\":\"a\"}]");
	assert_string_equal(peer.shared->closed, "");
	/* What a boot before has left. */
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	snprintf(peer.shared->taints, sizeof(peer.shared->taints), CLOSED);
	snprintf(peer.shared->closed, sizeof(peer.shared->closed), "other");
	shutscene_start(s, "manage");
	await_node_patches(s, 3);
	assert_string_equal(peer.shared->taints, "[{\"key\":\"a\"}]");
	box_remove(&box);
	shutscene_end(s);
}

/* Nothing may be written: the shutdown goes on as without it. */
static void a_node_that_may_not_be_patched_goes_down_all_the_same(void **state)
{
	struct box box;
	struct shutscene *s = begin(state, "graceful", "--api.report=unschedulable", &box);

	peer.shared->mood = APIPEER_REVOKED;
	logindmock_announce(&s->mock, true, "poweroff");
	await_end(&box);
	await_released(s, "all-stopped");
	assert_true(service_await_log(s->service,
				      "api: cannot set the taint graced.io/node-shutdown: "));
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

/* A second pod goes on: it is none of those that mode manage knows. */
static void a_node_on_which_something_lives_has_no_taint(void **state)
{
	struct box box, unnamed;
	struct shutscene *s = begin(state, "graceful", "--shutdown.out-of-service-taint", &box);

	assert_int_equal(
		box_start(&s->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &unnamed), 0);
	assert_true(service_await_metric(s->service, "graced_known_pods", NULL, 2) == 2);
	logindmock_announce(&s->mock, true, "poweroff");
	await_end(&box);
	await_released(s, "all-stopped");
	assert_true(peer.shared->written_ns != 0);
	assert_int_equal(peer.shared->node_patches, 0);
	assert_int_equal(box_remove(&unnamed), 0);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

#define STATUS_CLAIM(sentence, function)             \
	{                                            \
		sentence, function, NULL, undo, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		STATUS_CLAIM("a deaf pod is Failed in the API before the lock is released",
			     a_deaf_pod_is_failed_before_the_lock_is_released),
		STATUS_CLAIM("a hostile server neither holds the lock to its limit nor is believed",
			     a_hostile_server_neither_holds_the_lock_nor_is_believed),
		STATUS_CLAIM("what one daemon has seen the next one writes",
			     what_one_daemon_has_seen_the_next_one_writes),
		STATUS_CLAIM("a dead node has the taint until the start after the shutdown",
			     a_dead_node_has_the_taint_until_the_start_after),
		STATUS_CLAIM("no pod is placed on a node in a shutdown",
			     no_pod_is_placed_on_a_node_in_a_shutdown),
		STATUS_CLAIM("a node that may not be patched goes down all the same",
			     a_node_that_may_not_be_patched_goes_down_all_the_same),
		STATUS_CLAIM("a node on which something lives has no taint",
			     a_node_on_which_something_lives_has_no_taint),
	};

	return cmocka_run_group_tests_name("daemon: statuses", tests, open_all, close_all);
}
