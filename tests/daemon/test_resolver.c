// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon whose kubelet has a host name, where the name servers are silent: nothing
 * that they do holds the loop, or changes what comes of a node's shutdown. logind is
 * python-dbusmock's, the kubelet and the name servers are the test's own, the containers are real.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/kubestage.h"
#include "lib/net/nameserver.h"
#include "lib/net/tlsc.h"
#include "lib/patience.h"
#include "lib/shutdown/shutscene.h"

#define HOST	 "kubelet.example"
#define LIMIT_US 60000000

/* It is long, so that whether it is waited for does not depend on how fast this machine is. */
#define STATUS_WAIT   "--shutdown.status-wait=30s"
#define STATUS_WAIT_S 30

/* A query goes out 6 times: twice to each of the servers. */
#define ROUNDS	6
/* Answers of /healthz that are wanted between two of them, which are 3 s apart or more. */
#define ANSWERS 5

#define RESOLVER_CLAIM(sentence, fn)                     \
	{                                                \
		sentence, fn, NULL, shutscene_undo, NULL \
	}

static struct nameserver *names;

struct stage {
	struct shutscene *scene;
	struct kubestage kube; /* plays, and has no daemon */
	struct box box;
	bool begun;
	char url[64], ca[64];
	const char *args[8]; /* the first 6 are about the kubelet */
};

static int open_stage(void **state)
{
	const char *why = NULL;

	*state = NULL;
	names = nameserver_open(&why);
	if (!names) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	return tlsc_set_up(state) == 0 ? shutscene_open(state) : -1;
}

static int close_stage(void **state)
{
	int r = shutscene_close(state);

	if (names && tlsc_tear_down(state) != 0)
		r = -1;
	nameserver_close(names);
	return r;
}

/* A node with a kubelet that has a name, and lists a pod of one container. url: the daemon knows
 * that name. */
static void begin(struct stage *s, void **state, enum nameserver_mood mood, const char *mode,
		  bool url)
{
	if (!*state || !tlsc_can())
		skip();
	*s = (struct stage){.begun = true};
	s->kube.cert = tlsc_read("server.crt");
	s->kube.key = tlsc_read("server.key");
	kubepeer_open(&s->kube.peer);
	snprintf(s->url, sizeof(s->url), "https://" HOST ":%u", s->kube.peer.port);
	snprintf(s->ca, sizeof(s->ca), "/tmp/graced-resolver-ca-%d", getpid());
	shutscene_write(s->ca, s->kube.cert);
	kubestage_list(&s->kube, NULL, 0);
	memcpy(s->args,
	       BOX_ARGV("--kubelet.interval=1s", "--kubelet.server-name=localhost", "--kubelet.ca",
			s->ca, "--kubelet.url", s->url, STATUS_WAIT),
	       8 * sizeof(*s->args));
	nameserver_play(names, mood);
	s->scene = shutscene_begin(state, &(struct shutscene_spec){.mode = mode,
								   .args = url ? s->args : NULL});
	shutscene_box(s->scene, "web", &s->box);
}

static void end(struct stage *s)
{
	s->begun = false;
	box_remove(&s->box);
	shutscene_end(s->scene);
	kubepeer_close(&s->kube.peer);
	unlink(s->ca);
	free((char *)(uintptr_t)s->kube.cert);
	free((char *)(uintptr_t)s->kube.key);
}

static void await_heard(unsigned int n)
{
	uint64_t until = clock_boot_ns() + PATIENCE_NS;

	while (nameserver_heard(names) < n) {
		assert_true(clock_boot_ns() < until);
		usleep(1000);
	}
}

static uint64_t ask_healthz(const struct stage *s)
{
	_cleanup_(buf_free) struct buf page = {};
	uint64_t from_ns = clock_boot_ns();

	assert_int_equal(service_get(s->scene->service, "/healthz", NULL, &page), 200);
	return clock_boot_ns() - from_ns;
}

/* Asks until the resolver has sent the last of its queries. */
static void healthz_answers_all_the_time(void **state)
{
	unsigned int answers[ROUNDS + 1] = {}, round;
	uint64_t longest_ns = 0;
	struct stage s;

	begin(&s, state, NAMESERVER_SILENT, "observe", true);
	await_heard(1);
	while ((round = nameserver_heard(names)) < ROUNDS) {
		uint64_t ns = ask_healthz(&s);

		longest_ns = ns > longest_ns ? ns : longest_ns;
		answers[round]++;
		usleep(20000);
	}
	print_message("# the slowest answer took %.1f ms\n", (double)longest_ns / 1e6);
	for (round = 1; round < ROUNDS; round++) {
		print_message("# %u answers after query %u\n", answers[round], round);
		assert_true(answers[round] >= ANSWERS);
	}
	end(&s);
}

static void it_ends_while_a_name_is_resolved(void **state)
{
	uint64_t from_ns;
	struct stage s;

	begin(&s, state, NAMESERVER_SILENT, "observe", true);
	await_heard(1);
	from_ns = clock_boot_ns();
	assert_int_equal(service_stop(s.scene->service), 0);
	print_message("# it took %.2f s to end\n", (double)(clock_boot_ns() - from_ns) / 1e9);
	assert_true(nameserver_heard(names) < ROUNDS);
	end(&s);
}

/* The runtime does what is requested, and no more. */
static void stop_by(struct stage *s, int signal)
{
	struct sent sent;

	assert_int_equal(send_signal(&s->scene->tree, SEND_RUNTIME, NULL, s->box.init_pid, signal,
				     &sent),
			 0);
}

static void announce(struct stage *s)
{
	logindmock_announce(&s->scene->mock, true, "power-off");
	json_decref(shutscene_await_record(s->scene, "{'type':'shutdown','event':'announced'}"));
}

/* How the daemon's part in a shutdown ended. */
struct released {
	char reason[32];
	double seconds; /* after the announcement */
};

/* Frees the record. */
static struct released take_released(json_t *record)
{
	struct released ret;

	snprintf(ret.reason, sizeof(ret.reason), "%s", jrec_text(record, "reason"));
	ret.seconds = (double)(jrec_int(record, "boot_ns", 0) -
			       jrec_int(record, "announced_boot_ns", 0)) /
		      1e9;
	json_decref(record);
	return ret;
}

/* The kubelet is done. */
static struct released await_released(struct stage *s)
{
	logindmock_run(&s->scene->mock,
		       "global inhibitors\n"
		       "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	return take_released(
		shutscene_await_record(s->scene, "{'type':'shutdown','event':'released'}"));
}

/* The same container is killed, then the lock goes, for the same reason and before the time is over
 * in which a status would be waited for. */
static void expect_same(struct released answered, struct released silent)
{
	print_message("# %s after %.1f s, and %s after %.1f s where no name server answers\n",
		      answered.reason, answered.seconds, silent.reason, silent.seconds);
	assert_string_equal(answered.reason, silent.reason);
	assert_true(answered.seconds < STATUS_WAIT_S && silent.seconds < STATUS_WAIT_S);
}

/* url: has the daemon a source of the pods' status? */
static struct released play_overdue(void **state, enum nameserver_mood mood, bool url)
{
	struct proc_end how;
	struct released ret;
	json_t *record;
	struct stage s;

	begin(&s, state, mood, "assist", url);
	announce(&s);
	stop_by(&s, SIGTERM);
	assert_int_equal(proc_wait(&s.box.proc, &how), 0);
	json_decref(
		shutscene_await_record(s.scene, "{'type':'shutdown','event':'container-killed'}"));
	record = shutscene_await_record(s.scene, "{'type':'shutdown','event':'released'}");
	ret = take_released(record);
	assert_string_equal(ret.reason, "api-unreachable");
	end(&s);
	return ret;
}

static void an_overdue_container_is_ended_all_the_same(void **state)
{
	struct released without = play_overdue(state, NAMESERVER_SILENT, false);

	expect_same(without, play_overdue(state, NAMESERVER_SILENT, true));
	expect_same(without, play_overdue(state, NAMESERVER_NXDOMAIN, true));
	expect_same(without, play_overdue(state, NAMESERVER_GARBAGE, true));
}

static void list(struct stage *s, const char *phase, bool ready)
{
	const struct kubestage_pod pod = {.uid = s->box.uid,
					  .name = "web",
					  .main = s->box.id,
					  .phase = phase,
					  .ready = ready};

	kubestage_list(&s->kube, &pod, 1);
	/* The second question comes when the first answer was taken. */
	kubestage_await_asked(&s->kube, 2);
}

static struct released play_status(void **state, enum nameserver_mood then)
{
	struct proc_end how;
	struct released ret;
	struct stage s;

	begin(&s, state, NAMESERVER_LOOPBACK, "assist", true);
	list(&s, NULL, true);
	nameserver_play(names, then);
	announce(&s);
	stop_by(&s, SIGTERM);
	stop_by(&s, SIGKILL);
	assert_int_equal(proc_wait(&s.box.proc, &how), 0);
	list(&s, "Failed", false);
	ret = await_released(&s);
	assert_string_equal(ret.reason, "pods-ended");
	end(&s);
	return ret;
}

static void addresses_outlive_their_name_servers(void **state)
{
	struct released answered = play_status(state, NAMESERVER_LOOPBACK);

	expect_same(answered, play_status(state, NAMESERVER_SILENT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RESOLVER_CLAIM("/healthz answers all the time while the name servers are silent",
			       healthz_answers_all_the_time),
		RESOLVER_CLAIM("the daemon ends while a name is being resolved",
			       it_ends_while_a_name_is_resolved),
		RESOLVER_CLAIM("an overdue container is ended and the lock released though no "
			       "name server ever answers",
			       an_overdue_container_is_ended_all_the_same),
		RESOLVER_CLAIM("a pod's status is waited for at the addresses that are known when "
			       "the name servers fall silent",
			       addresses_outlive_their_name_servers),
	};

	return cmocka_run_group_tests(tests, open_stage, close_stage);
}
