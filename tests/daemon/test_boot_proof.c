// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what a daemon does for the pods of a boot that ended uncleanly: the out-of-service
 * taint, at an API server of the test's own, before systemd may start the kubelet. The note is one
 * that a daemon has really left, with another boot id in it; logind and systemd are
 * python-dbusmock's.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/daemon/apipeer.h"
#include "lib/patience.h"
#include "lib/shutdown/shutscene.h"
#include "wire/recording/boot_note.h"

#define OTHER	   "11111111-2222-3333-4444-555555555555"
#define THIRD	   "21111111-2222-3333-4444-555555555555"
#define POD	   "00000000-0000-4000-8000-00000000000a"
#define STARTS_MAX 10

/* What the node, its API server and its systemd are like after the power came back. */
struct after {
	const char *boot; /* that the node has in the API; NULL: the one that was lost */
	enum apipeer_mood mood;
	bool lists_too, evicts, ready, no_pod;
	bool free;    /* nothing keeps the kubelet from starting */
	bool pod;     /* one of this boot runs */
	bool no_wait; /* for READY=1, but for the taint */
};

static struct apipeer peer;
static char url[64];

static int undo(void **state)
{
	apipeer_close(&peer);
	return shutscene_undo(state);
}

static char *read_note(const struct shutscene *s)
{
	char path[128], *text = NULL;

	snprintf(path, sizeof(path), "%s/" BOOTNOTE_FILE, s->state);
	return fd_read_all(AT_FDCWD, path, BOOTNOTE_MAX_SIZE, &text) < 0 ? NULL : text;
}

static char *await_note(const struct shutscene *s)
{
	for (int i = 0; i < PATIENCE_S * 10; i++) {
		char *text = read_note(s);

		if (text)
			return text;
		usleep(100000);
	}
	fail_msg("there is no note");
	return NULL;
}

/* As if the machine had lost its power and was started again; its API has one pod of that boot. */
static struct shutscene *lose_power(void **state, bool held)
{
	static const char *args[] = {"--node-name=node-1",
				     "--api.url",
				     url,
				     "--api.interval=1h",
				     "--shutdown.out-of-service-taint",
				     NULL};
	char path[128], boot[37];
	struct shutscene *s;
	char *text, *at;

	if (!*state)
		skip();
	apipeer_open(&peer);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", peer.port);
	s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe", .args = args});
	text = await_note(s);
	kill(service_pid(s->service), SIGKILL);
	assert_int_equal(service_wait(s->service), 128 + SIGKILL);
	s->service = service_free(s->service);
	clock_boot_id(boot);
	at = strstr(text, boot);
	assert_non_null(at);
	memcpy(at, OTHER, 36);
	snprintf(path, sizeof(path), "%s/" BOOTNOTE_FILE, s->state);
	assert_int_equal(statefile_write(path, text, strlen(text)), 0);
	free(text);
	logindmock_add_start(&s->mock, held);
	snprintf(peer.shared->uid, sizeof(peer.shared->uid), "%s", POD);
	snprintf(peer.shared->boot, sizeof(peer.shared->boot), "%s", OTHER);
	snprintf(peer.shared->taints, sizeof(peer.shared->taints), "[{\"key\":\"a\"}]");
	return s;
}

static void end_scene(struct shutscene *s)
{
	shutscene_end(s);
	apipeer_close(&peer);
}

static bool has_logged(const struct shutscene *s, const char *text)
{
	_cleanup_(cleanup_free) char *log = service_log(s->service);

	return strstr(log, text);
}

/*
 * Beside a load the answer of systemd may come too late, and beside a flood of another test records
 * may be lost: then the API server is not asked.
 */
static bool is_late(const struct shutscene *s, const struct after *after)
{
	return has_logged(s, "systemd does not answer") ||
	       (!after->pod && has_logged(s, "or lost a record"));
}

/* What the API server is like, and whether a pod of this boot runs. */
static void prepare(struct shutscene *s, const struct after *after, struct box *box)
{
	if (after->boot)
		snprintf(peer.shared->boot, sizeof(peer.shared->boot), "%s", after->boot);
	if (after->no_pod)
		peer.shared->uid[0] = '\0';
	peer.shared->mood = after->mood;
	peer.shared->lists_too = after->lists_too;
	peer.shared->evicts = after->evicts;
	peer.shared->ready = after->ready;
	s->no_wait = after->no_wait;
	if (after->pod)
		assert_int_equal(
			box_start(&s->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")}, box), 0);
}

static void await_taint(const struct shutscene *s, const struct after *after)
{
	uint64_t until_ns = clock_boot_ns() + PATIENCE_NS;

	while (!__atomic_load_n(&peer.shared->sets, __ATOMIC_ACQUIRE) && !is_late(s, after)) {
		if (clock_boot_ns() >= until_ns)
			fail_msg("the taint is not set: %s", service_log(s->service));
		usleep(20000);
	}
}

/* The daemon has come to a decision for which systemd had answered. */
static struct shutscene *start(void **state, const struct after *after, struct box *box)
{
	struct shutscene *s;

	for (int i = 0; i < STARTS_MAX; i++) {
		s = lose_power(state, !after->free);
		prepare(s, after, box);
		shutscene_start(s, "observe");
		if (after->no_wait)
			await_taint(s, after);
		if (!is_late(s, after))
			return s;
		if (after->pod)
			assert_int_equal(box_remove(box), 0);
		end_scene(s);
	}
	fail_msg("systemd never answers in time");
	return NULL;
}

/* READY=1 came, and until then that is what the node had. */
static void assert_log(const struct shutscene *s, const char *text)
{
	if (has_logged(s, text))
		return;
	/* cmocka would cut it off. */
	fprintf(stderr, "%s\n", service_log(s->service));
	fail_msg("the log has no \"%s\"", text);
}

static void the_taint_comes_and_goes_before_the_kubelet_may_start(void **state)
{
	struct shutscene *s = start(state, &(struct after){.evicts = true}, NULL);

	assert_int_equal(peer.shared->sets, 1);
	assert_int_equal(peer.shared->node_patches, 2);
	assert_string_equal(peer.shared->taints, "[{\"key\":\"a\"}]");
	assert_string_equal(peer.shared->note, "");
	assert_log(s, "nothing of any pod of boot " OTHER " is left");
	assert_log(s, "the node's pods are gone; the node's start goes on");
	assert_true(service_notified(s->service, "EXTEND_TIMEOUT_USEC=110000000") == 1);
	end_scene(s);
}

static void no_taint_where_it_would_lie(void **state)
{
	static const struct {
		struct after after;
		const char *why;
	} rows[] = {
		{{.free = true}, "nothing keeps the kubelet from starting pods"},
		{{.ready = true}, "is still Ready"},
		{{.boot = THIRD}, "has had another boot since"},
		{{.boot = ""}, "has had another boot since"},
		{{.boot = "none"}, "has no boot id"},
		{{.no_pod = true}, "no pod has to leave the node"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutscene *s = start(state, &rows[i].after, NULL);

		assert_int_equal(peer.shared->node_patches, 0);
		assert_log(s, rows[i].why);
		end_scene(s);
	}
}

/* It was started too late, or the kubelet was started by another way. */
static void no_taint_where_a_pod_of_this_boot_runs(void **state)
{
	struct box box;
	struct shutscene *s = start(state, &(struct after){.pod = true}, &box);

	assert_int_equal(peer.shared->node_patches, 0);
	assert_log(s, "this boot has pods already");
	assert_int_equal(box_remove(&box), 0);
	end_scene(s);
}

static void a_hostile_server_does_not_keep_the_node_from_starting(void **state)
{
	static const char unlisted[] = "did not list the node's pods",
			  unset[] = "the taint was not set";
	static const struct {
		struct after after;
		const char *why;
	} rows[] = {
		{{.mood = APIPEER_DOWN, .lists_too = true}, unlisted},
		{{.mood = APIPEER_SILENT, .lists_too = true}, unlisted},
		{{.mood = APIPEER_BUSY, .lists_too = true}, unlisted},
		{{.mood = APIPEER_GONE, .lists_too = true}, unlisted},
		{{.mood = APIPEER_REVOKED, .lists_too = true}, unlisted},
		{{.mood = APIPEER_SILENT}, unset},
		{{.mood = APIPEER_BUSY}, unset},
		{{.mood = APIPEER_GONE}, unset},
		{{.mood = APIPEER_CONFLICT}, unset},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct shutscene *s = start(state, &rows[i].after, NULL);

		assert_int_equal(peer.shared->sets, 0);
		assert_string_equal(peer.shared->taints, "[{\"key\":\"a\"}]");
		assert_log(s, rows[i].why);
		end_scene(s);
	}
}

/* What it proved is no longer so, and is taken back before anything else. */
static void a_pod_that_turns_up_ends_it(void **state)
{
	struct shutscene *s = start(state, &(struct after){.no_wait = true}, NULL);
	struct box box;

	assert_int_equal(service_notified(s->service, "READY=1"), 0);
	assert_int_equal(box_start(&s->tree, &(struct box_spec){.argv = BOX_ARGV("deaf")}, &box),
			 0);
	assert_true(service_await(s->service, "READY=1", 1));
	assert_int_equal(peer.shared->sets, 1);
	assert_string_equal(peer.shared->taints, "[{\"key\":\"a\"}]");
	assert_log(s, "this boot has pods already");
	assert_int_equal(box_remove(&box), 0);
	end_scene(s);
}

#define PROOF_CLAIM(sentence, function)              \
	{                                            \
		sentence, function, NULL, undo, NULL \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		PROOF_CLAIM("the taint is set, and removed when the pods are gone, before the "
			    "kubelet may start",
			    the_taint_comes_and_goes_before_the_kubelet_may_start),
		PROOF_CLAIM("there is none without a hold, for a node that is Ready, of another "
			    "boot, or without pods",
			    no_taint_where_it_would_lie),
		PROOF_CLAIM("there is none where a pod of this boot runs",
			    no_taint_where_a_pod_of_this_boot_runs),
		PROOF_CLAIM("a server that is down, silent or hostile does not keep the node from "
			    "starting",
			    a_hostile_server_does_not_keep_the_node_from_starting),
		PROOF_CLAIM("a pod that turns up ends it", a_pod_that_turns_up_ends_it),
	};

	return cmocka_run_group_tests_name("daemon: proof of death", tests, shutscene_open,
					   shutscene_close);
}
