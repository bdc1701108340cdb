// SPDX-License-Identifier: Apache-2.0
/*
 * A node with names, for the benchmark: PODS pods of a sandbox and two containers each (their inits
 * deaf), a runtime at DIR/cri.sock that lists them with 1 to 2 KB for each, and, when DIR has
 * kubelet.crt and kubelet.key, kubelets by HTTPS that list them with 20 KB for each.
 *
 * Prints pid and cgroup directory of each pod's first container, then "kubelet PORT..." and
 * "ready". A line "storm SECONDS RATE HOW" on standard input makes so many further containers a
 * second, which live as long as a process that exits at once; the runtime answers well, late (after
 * a second) or never meanwhile. It is over with the line "stormed COUNT NANOSECONDS". Ends, and
 * everything with it, when standard input does.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/box/box.h"
#include "lib/box/many.h"
#include "lib/cri/cripeer.h"
#include "lib/daemon/kubepeer.h"
#include "lib/pods/podgen.h"

#define POD_BYTES	 20000
#define ANNOTATION_BYTES 1000
#define KUBELETS	 2
#define LISTED		 1000 /* containers of a storm the runtime still, or already, knows */
#define AHEAD		 50   /* of them are known before their cgroup is made */
#define TICK_USEC	 10000

enum box_role { SANDBOX, MAIN, PROXY, ROLES };

struct storm {
	struct many many;
	uint64_t from_ns, rate; /* CLOCK_MONOTONIC; lives a second */
	uint32_t first, n, known;
	bool blows;
};

struct node {
	sd_event *event;
	struct box_tree tree;
	struct box *boxes; /* ROLES of each pod */
	size_t pods, base; /* base: what the runtime lists without a storm */
	struct cripeer runtime;
	struct kubepeer kubelets[KUBELETS];
	unsigned int n_kubelets;
	struct storm storm;
	sd_event_source *tick;
	char line[128];
	size_t len;
};

static int fail(const char *what, int r)
{
	fprintf(stderr, "bench_node: %s: %s\n", what, strerror(-r));
	return r;
}

/* --- pods --------------------------------------------------------------------------------------- */

static int start_pod(struct node *node, struct box *boxes)
{
	struct box_spec spec = {.argv = BOX_ARGV("deaf")};
	int r = 0;

	for (int role = 0; !r && role < ROLES; role++) {
		r = box_start(&node->tree, &spec, boxes + role);
		spec.pod_of = boxes;
	}
	if (!r)
		printf("%d %s\n", boxes[MAIN].init_pid, boxes[MAIN].dir);
	return r;
}

static void add_to_runtime(struct node *node, unsigned int pod, const struct box *boxes)
{
	static const char *const names[] = {"", "main", "proxy"};

	for (int role = 0; role < ROLES; role++) {
		struct cripeer_container *c = cripeer_add(
			&node->runtime, pod * ROLES + (unsigned int)role, names[role], pod);

		strcpy(c->id, boxes[role].id);
		snprintf(c->uid, sizeof(c->uid), "%.36s", boxes[role].uid);
		snprintf(c->pod, sizeof(c->pod), "web-%u-7d4b9c6f5d-abcde", pod);
	}
}

static int start_pods(struct node *node)
{
	int r = 0;

	for (size_t i = 0; !r && i < node->pods; i++) {
		r = start_pod(node, node->boxes + i * ROLES);
		if (!r)
			add_to_runtime(node, (unsigned int)i, node->boxes + i * ROLES);
	}
	node->base = node->runtime.n;
	return r;
}

/* --- kubelets ----------------------------------------------------------------------------------- */

/* Replaces it by a text of the same length. */
static void replace(struct buf *text, size_t from, const char *old, const char *new_)
{
	size_t len = strlen(old);
	char *at = text->data + from;

	while ((at = memmem(at, text->len - (size_t)(at - text->data), old, len))) {
		memcpy(at, new_, len);
		at += len;
	}
}

static void add_pod(struct buf *list, unsigned int number, const struct box *boxes)
{
	size_t from = list->len;
	char old[65];

	podgen_pod(list, number, POD_BYTES);
	podgen_uid(number, old);
	replace(list, from, old, boxes[MAIN].uid);
	podgen_id(number, 1, old);
	replace(list, from, old, boxes[MAIN].id);
	podgen_id(number, 200, old);
	replace(list, from, old, boxes[PROXY].id);
}

static void write_answer(const struct node *node, struct buf *ret)
{
	_cleanup_(buf_free) struct buf list = {.limit = (size_t)64 << 20};

	buf_adds(&list, "{\"kind\":\"PodList\",\"apiVersion\":\"v1\",\"metadata\":{},\"items\":[");
	for (size_t i = 0; i < node->pods; i++) {
		if (i)
			buf_addc(&list, ',');
		add_pod(&list, (unsigned int)i, node->boxes + i * ROLES);
	}
	buf_adds(&list, "]}\n");
	buf_printf(
		ret,
		"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n",
		list.len);
	buf_add(ret, list.data, list.len);
}

static int read_key(const char *dir, const char *name, char **ret)
{
	char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return fd_read_all(AT_FDCWD, path, 1 << 20, ret);
}

static int start_kubelets(struct node *node, const char *dir)
{
	_cleanup_(buf_free) struct buf answer = {.limit = (size_t)64 << 20};
	_cleanup_(cleanup_free) char *cert = NULL, *key = NULL;
	struct kubepeer_part part = {.stays = true};

	if (read_key(dir, "kubelet.crt", &cert) < 0 || read_key(dir, "kubelet.key", &key) < 0)
		return 0;
	write_answer(node, &answer);
	if (buf_error(&answer))
		return buf_error(&answer);
	part.cert = cert;
	part.key = key;
	part.answer = answer.data;
	part.len = answer.len;
	printf("kubelet");
	for (; node->n_kubelets < KUBELETS; node->n_kubelets++) {
		kubepeer_open(node->kubelets + node->n_kubelets);
		printf(" %u", node->kubelets[node->n_kubelets].port);
		fflush(stdout);
		kubepeer_play(node->kubelets + node->n_kubelets, &part);
	}
	putchar('\n');
	return 0;
}

/* --- the storm ---------------------------------------------------------------------------------- */

static void sleep_until(uint64_t at_ns)
{
	struct timespec ts = {.tv_sec = (time_t)(at_ns / NS_PER_S),
			      .tv_nsec = (long)(at_ns % NS_PER_S)};

	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL) == EINTR)
		;
}

/* In a creator's process: each life has its time. Named as cripeer_add() does. */
static void name_life(void *userdata, uint32_t number, struct many_life *ret)
{
	const struct storm *storm = userdata;
	char id[META_ID_MAX];

	sleep_until(storm->from_ns + (number - storm->first) * NS_PER_S / storm->rate);
	snprintf(ret->parent, sizeof(ret->parent),
		 "kubepods/burstable/pod00000000-0000-4000-8000-%012u", number);
	strcpy(ret->leaf, cripeer_id(number, id));
}

/* What the runtime has besides the pods: the last of the storm. */
static void know(struct node *node, uint32_t until)
{
	struct storm *storm = &node->storm;

	for (; storm->known < until; storm->known++) {
		struct cripeer_container *c;
		uint32_t number = storm->first + storm->known;
		size_t place = node->base + storm->known % LISTED;

		c = cripeer_add(&node->runtime, number, "main", number);
		if (place + 1 == node->runtime.n)
			continue;
		node->runtime.containers[place] = *c;
		node->runtime.n--;
	}
}

static void behave(struct node *node, const char *how)
{
	bool never = strcmp(how, "never") == 0;

	node->runtime.delay_usec = strcmp(how, "late") == 0 ? 1000000 : 0;
	for (int method = 0; method < CRI_METHOD_COUNT; method++)
		node->runtime.act[method] = never ? CRIPEER_SILENT : CRIPEER_WELL;
}

static int end_storm(struct node *node)
{
	struct storm *storm = &node->storm;

	printf("stormed %u %llu\n", storm->n,
	       (unsigned long long)(clock_monotonic_ns() - storm->from_ns));
	fflush(stdout);
	behave(node, "well");
	node->runtime.n = node->base;
	storm->first += storm->n;
	storm->blows = false;
	sd_event_source_set_enabled(node->tick, SD_EVENT_OFF);
	return storm->many.error ? fail("storm", storm->many.error) : 0;
}

static int on_tick(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct node *node = userdata;
	uint64_t due = (clock_monotonic_ns() - node->storm.from_ns) * node->storm.rate / NS_PER_S;

	if (many_done(&node->storm.many))
		return end_storm(node);
	due += AHEAD;
	know(node, due < node->storm.n ? (uint32_t)due : node->storm.n);
	sd_event_source_set_time_relative(source, TICK_USEC);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

static int begin_storm(struct node *node, double seconds, unsigned int rate, const char *how)
{
	struct storm *storm = &node->storm;
	char workload[HIER_PATH_MAX + 16];
	struct many_spec spec = {
		.root = node->tree.root,
		.workload = workload,
		.first = storm->first,
		.n = (uint32_t)(seconds * rate),
		.fn = name_life,
		.userdata = storm,
	};

	snprintf(workload, sizeof(workload), "%s/workload", node->tree.helpers);
	behave(node, how);
	storm->from_ns = clock_monotonic_ns();
	storm->rate = rate;
	storm->n = spec.n;
	storm->known = 0;
	storm->blows = true;
	know(node, AHEAD < storm->n ? AHEAD : storm->n);
	sd_event_source_set_time_relative(node->tick, TICK_USEC);
	sd_event_source_set_enabled(node->tick, SD_EVENT_ONESHOT);
	return many_start(&spec, &storm->many);
}

/* --- the loop ----------------------------------------------------------------------------------- */

static int obey(struct node *node, const char *line)
{
	unsigned int rate;
	double seconds;
	char how[8];

	if (sscanf(line, "storm %lf %u %7s", &seconds, &rate, how) != 3 || !rate ||
	    !(seconds > 0) || node->storm.blows)
		return fail(line, -EINVAL);
	return begin_storm(node, seconds, rate, how);
}

static int on_stdin(sd_event_source *source, int fd, uint32_t events, void *userdata)
{
	struct node *node = userdata;
	ssize_t n = read(fd, node->line + node->len, sizeof(node->line) - 1 - node->len);
	char *end;
	int r;

	if (n <= 0)
		return sd_event_exit(node->event, 0);
	node->len += (size_t)n;
	node->line[node->len] = 0;
	while ((end = strchr(node->line, '\n'))) {
		*end = 0;
		r = obey(node, node->line);
		if (r < 0)
			return sd_event_exit(node->event, r);
		node->len -= (size_t)(end + 1 - node->line);
		memmove(node->line, end + 1, node->len + 1);
	}
	return 0;
}

static int serve(struct node *node)
{
	int r = sd_event_add_io(node->event, NULL, STDIN_FILENO, EPOLLIN, on_stdin, node);

	if (r >= 0)
		r = sd_event_add_time_relative(node->event, &node->tick, CLOCK_MONOTONIC, 0, 1,
					       on_tick, node);
	if (r < 0)
		return r;
	sd_event_source_set_enabled(node->tick, SD_EVENT_OFF);
	puts("ready");
	fflush(stdout);
	return sd_event_loop(node->event);
}

static int play(struct node *node, const char *dir)
{
	char path[108];
	int r;

	if (snprintf(path, sizeof(path), "%s/cri.sock", dir) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	r = sd_event_new(&node->event);
	if (r < 0)
		return r;
	cripeer_init(&node->runtime, node->event, path);
	node->runtime.annotations = ANNOTATION_BYTES;
	r = start_pods(node);
	if (!r)
		r = start_kubelets(node, dir);
	if (!r) {
		cripeer_listen(&node->runtime);
		r = serve(node);
	}
	cripeer_done(&node->runtime);
	for (unsigned int i = 0; i < node->n_kubelets; i++)
		kubepeer_close(node->kubelets + i);
	sd_event_source_disable_unref(node->tick);
	sd_event_unref(node->event);
	return r;
}

int main(int argc, char **argv)
{
	struct node node = {.pods = argc == 3 ? strtoul(argv[1], NULL, 10) : 0};
	int r;

	if (!node.pods) {
		fputs("usage: bench_node PODS DIR\n", stderr);
		return 2;
	}
	if (box_unavailable()) {
		fprintf(stderr, "bench_node: %s\n", box_unavailable());
		return 1;
	}
	signal(SIGPIPE, SIG_IGN);
	node.storm.first = (uint32_t)node.pods * ROLES;
	node.boxes = calloc(node.pods * ROLES, sizeof(*node.boxes));
	r = node.boxes ? box_tree_open(&node.tree, "bench") : -ENOMEM;
	if (!r) {
		r = play(&node, argv[2]);
		for (size_t i = node.pods * ROLES; i-- > 0;)
			if (node.boxes[i].dir[0])
				box_remove(node.boxes + i);
		box_tree_close(&node.tree);
	}
	free(node.boxes);
	return r < 0 ? !!fail("the node", r) : 0;
}
