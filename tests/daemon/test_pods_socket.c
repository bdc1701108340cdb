// SPDX-License-Identifier: Apache-2.0
/* Claims about `graced run` and the kubelet's socket: it is found where kubelets have it, and used
 * and left without a word of configuration. */
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/cri/cripeer.h"
#include "lib/daemon/kubestage.h"
#include "lib/daemon/podstage.h"
#include "lib/jrec.h"
#include "lib/patience.h"
#include "lib/pods/podwire.h"
#include "lib/run.h"

#define SOCKET "/var/lib/kubelet/pods-api/pods-api.sock"

/* A process that plays the kubelet's pods API: each stream begins with the list. What is sent to fd
 * is a new list behind the letter l, or behind e an event for the open streams. */
struct kubelet {
	pid_t pid;
	int fd;
};

static int relay(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	static struct buf list;
	struct cripeer *peer = userdata;
	char bytes[8192];
	ssize_t n = read(fd, bytes, sizeof(bytes));

	if (n <= 0)
		_exit(0);
	if (bytes[0] == 'e') {
		cripeer_tell_bytes(peer, bytes + 1, (size_t)n - 1);
		return 0;
	}
	buf_reset(&list);
	buf_add(&list, bytes + 1, (size_t)n - 1);
	peer->greeting = &list;
	return 0;
}

static void play(const struct buf *list, int fd) __attribute__((noreturn));
static void play(const struct buf *list, int fd)
{
	struct cripeer peer;
	sd_event *event;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	assert_true(sd_event_new(&event) >= 0);
	cripeer_init(&peer, event, SOCKET);
	peer.plays_kubelet = peer.has_events = true;
	peer.greeting = list;
	cripeer_listen(&peer);
	assert_true(sd_event_add_io(event, NULL, fd, EPOLLIN, relay, &peer) >= 0);
	sd_event_loop(event);
	_exit(1);
}

static void kubelet_start(struct kubelet *k, const struct buf *list)
{
	int fds[2];

	/* Each message arrives as one. */
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds), 0);
	fflush(stdout);
	k->pid = fork();
	if (k->pid == 0) {
		close(fds[1]);
		play(list, fds[0]);
	}
	assert_true(k->pid > 0);
	close(fds[0]);
	k->fd = fds[1];
}

static void kubelet_kill(struct kubelet *k)
{
	kill(k->pid, SIGKILL);
	waitpid(k->pid, NULL, 0);
	close(k->fd);
}

/* A list of this pod and, so that it is of the API, another one. */
static void list_of(struct buf *ret, const struct podwire_pod *pod)
{
	static const struct podwire_pod other = {
		.uid = "00000000-0000-4000-8000-000000000000", .name = "other", .seen_s = 1};

	podwire_event(ret, PODPROTO_ADDED, &other);
	if (pod)
		podwire_event(ret, PODPROTO_ADDED, pod);
	podwire_event(ret, PODPROTO_SYNCED, NULL);
}

static void kubelet_send(const struct kubelet *k, enum podproto_type type,
			 const struct podwire_pod *pod)
{
	_cleanup_(buf_free) struct buf event = {};

	buf_addc(&event, 'e');
	podwire_event(&event, type, pod);
	assert_int_equal(write(k->fd, event.data, event.len), (ssize_t)event.len);
}

static void kubelet_list(const struct kubelet *k, const struct podwire_pod *pod)
{
	_cleanup_(buf_free) struct buf list = {};

	buf_addc(&list, 'l');
	list_of(&list, pod);
	assert_int_equal(write(k->fd, list.data, list.len), (ssize_t)list.len);
}

static void await_line(const char *socket, const char *uid, const char *expected)
{
	uint64_t until = podstage_now_ms() + PATIENCE_MS;
	char why[256] = "it is not there";

	while (podstage_now_ms() < until) {
		json_t *line = podstage_ask(socket, uid);
		bool matches = line && jrec_match(line, expected, why, sizeof(why)) == 0;

		json_decref(line);
		if (matches)
			return;
		usleep(50000);
	}
	fail_msg("%s", why);
}

static void check_says(const char *text, const char *option)
{
	const struct run_spec spec = {.args = BOX_ARGV("check", option)};
	struct run_result result;
	const char *row;

	assert_int_equal(run(&spec, &result), 0);
	row = strstr(result.out, "kubelet   ");
	assert_non_null(row);
	print_message("# %.*s\n", (int)strcspn(row, "\n"), row);
	assert_non_null(strstr(row, text));
	run_done(&result);
}

static void the_socket_is_found_and_its_pods_are_named(void **state)
{
	_cleanup_(buf_free) struct buf list = {};
	struct podstage *s = podstage_of(state);
	struct podwire_pod pod = {.name = "cart-0", .ready = true, .seen_s = 1};
	struct kubelet k;
	struct box box;

	podstage_box(s, NULL, &box);
	pod.uid = box.uid;
	/* The daemon runs since before the kubelet. */
	await_line(s->socket, box.uid, "{'desired':null}");
	check_says("no socket of its pods API, and no kubelet.url: not queried", NULL);
	list_of(&list, &pod);
	kubelet_start(&k, &list);
	await_line(s->socket, box.uid,
		   "{'state':'sync','ready':true,'desired':true,'deleting':false,"
		   "'pod':{'namespace':'shop','name':'cart-0'}}");
	assert_true(service_metric(s->service, "graced_metadata_source_up", "source=\"kubelet\"") ==
		    1);
	check_says(SOCKET ": 2 pods, streamed", NULL);
	check_says("kubelet.socket is none, and no kubelet.url: not queried",
		   "--kubelet.socket=none");
	/* By its event, not by a question. */
	pod.deleting = true;
	kubelet_send(&k, PODPROTO_MODIFIED, &pod);
	await_line(s->socket, box.uid,
		   "{'state':'terminating','deleting':true,'desired':true,'grace':{'seconds':30}}");
	kubelet_list(&k, NULL);
	kubelet_send(&k, PODPROTO_DELETED, &pod);
	await_line(s->socket, box.uid, "{'desired':false}");
	kubelet_kill(&k);
	assert_int_equal(box_remove(&box), 0);
}

static double finished_pods(const struct podstage *s)
{
	return service_metric(s->service, "graced_pod_transitions_total", "state=\"finished\"");
}

/* The kubelet has finished with it, and the API has it until somebody deletes it. */
static void a_completed_pod_stays_desired_until_its_object_goes(void **state)
{
	_cleanup_(buf_free) struct buf list = {};
	struct podstage *s = podstage_of(state);
	struct podwire_pod pod = {.name = "cart-3", .completed = true, .seen_s = 1};
	struct podwire_pod next = {.name = "cart-4", .seen_s = 1};
	struct box box, later;
	struct kubelet k;
	double finished;

	podstage_box(s, NULL, &box);
	podstage_box(s, NULL, &later);
	pod.uid = box.uid;
	next.uid = later.uid;
	list_of(&list, &pod);
	kubelet_start(&k, &list);
	await_line(s->socket, box.uid, "{'state':'terminating','desired':true}");
	assert_int_equal(box_remove(&box), 0);
	await_line(s->socket, box.uid, "{'state':'finished','desired':true}");
	finished = finished_pods(s);
	kubelet_send(&k, PODPROTO_DELETED, &pod);
	/* What comes behind it has been read. */
	kubelet_send(&k, PODPROTO_ADDED, &next);
	await_line(s->socket, later.uid, "{'desired':true}");
	await_line(s->socket, box.uid, "{'desired':true}");
	/* It has not ended twice. */
	assert_true(finished_pods(s) == finished);
	kubelet_kill(&k);
	assert_int_equal(box_remove(&later), 0);
}

/* What was known stays while it is away, and its next list counts. */
static void a_kubelet_that_is_killed_and_comes_back_is_listened_to_again(void **state)
{
	_cleanup_(buf_free) struct buf list = {}, without = {};
	struct podstage *s = podstage_of(state);
	struct podwire_pod pod = {.name = "cart-1", .ready = true, .seen_s = 1};
	struct kubelet k;
	struct box box;

	podstage_box(s, NULL, &box);
	pod.uid = box.uid;
	list_of(&list, &pod);
	kubelet_start(&k, &list);
	await_line(s->socket, box.uid, "{'desired':true,'pod':{'name':'cart-1'}}");
	kubelet_kill(&k);
	while (service_metric(s->service, "graced_metadata_source_up", "source=\"kubelet\"") != 0)
		usleep(50000);
	await_line(s->socket, box.uid, "{'state':'sync','pod':{'name':'cart-1'}}");
	list_of(&without, NULL);
	kubelet_start(&k, &without);
	await_line(s->socket, box.uid, "{'desired':false,'orphan':true}");
	kubelet_kill(&k);
	assert_int_equal(box_remove(&box), 0);
}

static void the_url_is_asked_while_the_socket_is_of_no_use(void **state)
{
	_cleanup_(buf_free) struct buf list = {};
	struct podstage *s = podstage_of(state);
	struct kubestage_pod listed = {.name = "cart-2", .ready = true};
	struct podwire_pod pod = {.name = "cart-2", .ready = true, .seen_s = 1};
	struct kubestage stage;
	struct kubelet k;
	struct box box;

	podstage_box(s, NULL, &box);
	listed.uid = pod.uid = box.uid;
	list_of(&list, &pod);
	kubelet_start(&k, &list);
	while (access(SOCKET, F_OK) < 0)
		usleep(10000);
	kubestage_open(&stage, &s->tree, &listed, 1);
	assert_true(service_await_log(stage.service,
				      "kubelet: queried at " SOCKET ": 2 pods, streamed"));
	assert_int_equal(kubepeer_asked(&stage.peer), 0);
	kubelet_kill(&k);
	kubestage_await_asked(&stage, 1);
	assert_true(service_await_log(stage.service, "kubelet: queried at http://127.0.0.1:"));
	json_decref(kubestage_await_line(&stage, box.uid, "{'desired':true}"));
	kubestage_close(&stage);
	assert_int_equal(box_remove(&box), 0);
}

/* In which /var/lib/kubelet is the test's own, and the daemons see it. */
static int set_up(void **state)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount("graced-test", "/var/lib", "tmpfs", 0, "mode=0755,size=1m") < 0) {
		fprintf(stderr, "no mounts of one's own here: %s\n", strerror(errno));
		*state = NULL;
		return 0;
	}
	if (mkdir("/var/lib/kubelet", 0750) < 0 || mkdir("/var/lib/kubelet/pods-api", 0750) < 0)
		return -1;
	return podstage_open(state);
}

static int tear_down(void **state)
{
	return *state ? podstage_close(state) : 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("the kubelet's socket is found by itself, and its pods are named",
		      the_socket_is_found_and_its_pods_are_named),
		CLAIM("a completed pod stays desired until its object goes",
		      a_completed_pod_stays_desired_until_its_object_goes),
		CLAIM("a kubelet that is killed and comes back is listened to again",
		      a_kubelet_that_is_killed_and_comes_back_is_listened_to_again),
		CLAIM("the URL is asked while the socket is of no use",
		      the_url_is_asked_while_the_socket_is_of_no_use),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
