// SPDX-License-Identifier: Apache-2.0
/*
 * A fleet of simulated nodes for a Prometheus on this host: one process and one port, where node N
 * has its page at /node/N/metrics. Each page is that of a daemon with a history of its own, made of
 * recordings of tests/replay, and its counters grow with the time.
 *
 *   fleet serve NODES RECORDINGS TARGETS [MINUTES STEP]
 *                    serves until SIGTERM. TARGETS is written once it does: a file for
 *                    file_sd_configs, with the path, instance and node of each target. With MINUTES
 *                    the first scrapes of each node have time stamps of its own, from so long ago
 *                    on, STEP seconds apart, until they reach the present: so a Prometheus has a
 *                    history after few scrapes
 *   fleet page NODES RECORDINGS NODE TIME [text|openmetrics|protobuf]
 *                    the page of one node at that time, in seconds since 1970
 *   fleet events NODES RECORDINGS HOURS
 *                    what the nodes write to the API server in that time, with api.report: [events]
 *
 * /fleet has, as JSON, how many nodes still are in the past, pages, their bytes, and the CPU time.
 */
#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "io/http/web.h"
#include "lib/fleet/simpage.h"

#define NODES_MAX     20000
#define STOPS_AN_HOUR 6

/* What a page in the past is followed by; 0: the node's scrapes are of the present. */
struct past {
	int64_t next_s;
	bool over;
};

struct fleet {
	struct simnode_fleet model;
	struct simpage_casts casts;
	int64_t begin_s; /* now, as the nodes are concerned */
	int64_t past_s, step_s;
	struct past *past; /* of each node */
	uint32_t present;  /* nodes that have no past left */
	uint64_t pages, bytes;
};

static void fail(const char *what, const char *why)
{
	fprintf(stderr, "fleet: %s: %s\n", what, why);
	exit(1);
}

static int64_t now_s(void)
{
	return (int64_t)time(NULL);
}

static uint32_t number(const char *text, uint32_t max)
{
	char *end;
	unsigned long value = strtoul(text, &end, 10);

	if (end == text || *end || value > max)
		fail(text, "not a number, or too large");
	return (uint32_t)value;
}

/* --- pages -------------------------------------------------------------------------------------- */

/* Appends a line of OpenMetrics with that time, without its exemplar. */
static void add_timed(struct buf *out, const char *line, size_t len, int64_t at_s)
{
	const char *exemplar = memmem(line, len, " # {", 4);

	buf_add(out, line, exemplar ? (size_t)(exemplar - line) : len);
	if (*line != '#')
		buf_printf(out, " %" PRId64, at_s);
	buf_addc(out, '\n');
}

/* The same page with the time at each sample. */
static void add_time(struct buf *page, int64_t at_s)
{
	struct buf timed = {};

	for (const char *line = buf_str(page), *end; (end = strchr(line, '\n')); line = end + 1)
		add_timed(&timed, line, (size_t)(end - line), at_s);
	buf_free(page);
	*page = timed;
}

/* When the next page of a node is of, if that is in the past; else 0. */
static int64_t take_past(struct fleet *f, uint32_t node)
{
	struct past *past = &f->past[node];
	int64_t at_s;

	if (past->over)
		return 0;
	if (!past->next_s)
		past->next_s = now_s() - f->past_s;
	at_s = past->next_s;
	past->next_s += f->step_s;
	if (f->past_s && at_s + f->step_s <= now_s())
		return at_s;
	past->over = true;
	f->present++;
	return 0;
}

static void answer_node(struct fleet *f, uint32_t n, const struct web_request *request,
			struct web_reply *ret)
{
	const struct simnode node = simnode_of(&f->model, n, f->begin_s);
	int64_t past_s = take_past(f, n);
	enum expo_format format = past_s ? EXPO_OPENMETRICS : request->format;

	ret->type = negotiate_content_type(format);
	ret->status = 200;
	if (simpage_write(&f->casts, &node, past_s ?: now_s(), format, &ret->body) < 0)
		ret->status = 500;
	else if (past_s)
		add_time(&ret->body, past_s);
	f->pages++;
	f->bytes += ret->body.len;
}

static void answer_state(const struct fleet *f, struct web_reply *ret)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	ret->status = 200;
	ret->type = "application/json";
	buf_printf(&ret->body,
		   "{\"past\":%u,\"pages\":%" PRIu64 ",\"bytes\":%" PRIu64
		   ",\"cpu_seconds\":%.2f,\"resident_mib\":%ld}\n",
		   f->model.nodes - f->present, f->pages, f->bytes,
		   (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
			   (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6,
		   usage.ru_maxrss / 1024);
}

static void answer(void *userdata, const struct web_request *request, struct web_reply *ret)
{
	struct fleet *f = userdata;
	uint32_t node;
	int end = 0;

	if (strcmp(request->path, "/fleet") == 0) {
		answer_state(f, ret);
	} else if (sscanf(request->path, "/node/%u/metrics%n", &node, &end) == 1 && end &&
		   !request->path[end] && node < f->model.nodes) {
		answer_node(f, node, request, ret);
	} else {
		ret->status = 404;
		ret->type = "text/plain";
	}
}

/* --- commands ----------------------------------------------------------------------------------- */

static void write_targets(const struct fleet *f, const char *path, uint16_t port)
{
	char unfinished[4096];
	FILE *file;

	snprintf(unfinished, sizeof(unfinished), "%s.new", path);
	file = fopen(unfinished, "w");
	if (!file)
		fail(unfinished, strerror(errno));
	for (uint32_t n = 0; n < f->model.nodes; n++)
		fprintf(file,
			"%s{\"targets\":[\"127.0.0.1:%u\"],\"labels\":{\"__metrics_path__\":"
			"\"/node/%u/metrics\",\"instance\":\"10.%u.%u.%u:9753\","
			"\"node\":\"node-%05u\"}}",
			n ? ",\n" : "[", port, n, 1 + n / 62500, n / 250 % 250, 1 + n % 250, n);
	fputs("]\n", file);
	if (fclose(file) || rename(unfinished, path) < 0)
		fail(path, strerror(errno));
}

static int serve(struct fleet *f, const char *targets)
{
	static const char *const listen[] = {"127.0.0.1:0"};
	const struct web_config config = {
		.listen = listen,
		.n_listen = 1,
		.max_connections = 2 * f->model.nodes + 64,
		.max_bodies = 256,
	};
	struct web_why why;
	sd_event *event;
	struct web *web;
	sigset_t set;
	int r;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	r = sd_event_new(&event);
	if (r >= 0)
		r = sd_event_add_signal(event, NULL, SIGTERM, NULL, NULL);
	if (r < 0)
		fail("event loop", strerror(-r));
	if (web_new(event, &config, answer, f, &web, &why) < 0)
		fail("server", why.text);
	write_targets(f, targets, web_port(web, 0));
	r = sd_event_loop(event);
	web_free(web);
	sd_event_unref(event);
	return r < 0;
}

static int print_page(const struct fleet *f, uint32_t n, int64_t at_s, const char *name)
{
	static const char *const names[] = {
		[EXPO_TEXT] = "text",
		[EXPO_OPENMETRICS] = "openmetrics",
		[EXPO_PROTOBUF] = "protobuf",
	};
	/* As if the fleet had been started at a time that does not depend on at_s. */
	const struct simnode node = simnode_of(&f->model, n, at_s / 86400 * 86400);
	struct buf page = {};

	for (unsigned int format = 0; format < 3; format++) {
		if (strcmp(name, names[format]) != 0)
			continue;
		if (simpage_write(&f->casts, &node, at_s, format, &page) < 0)
			fail("page", "no memory");
		fwrite(buf_str(&page), 1, page.len, stdout);
		buf_free(&page);
		return 0;
	}
	fail(name, "no format");
	return 1;
}

static int print_events(const struct fleet *f, uint32_t hours)
{
	struct simpage_events sum = {}, one;
	int64_t until_s = f->begin_s + hours * (int64_t)3600;

	for (uint32_t n = 0; n < f->model.nodes; n++) {
		const struct simnode node = simnode_of(&f->model, n, f->begin_s);

		if (simpage_count_events(&f->casts, &node, f->begin_s, until_s, &one) < 0)
			fail("events", "no memory");
		sum.stops += one.stops;
		sum.created += one.created;
		sum.written += one.written;
		sum.dropped += one.dropped;
	}
	printf("{\"nodes\":%u,\"hours\":%u,\"stops\":%" PRIu64 ",\"created\":%" PRIu64
	       ",\"patched\":%" PRIu64 ",\"dropped\":%" PRIu64 "}\n",
	       f->model.nodes, hours, sum.stops, sum.created, sum.written, sum.dropped);
	return 0;
}

static int run(struct fleet *f, int argc, char **argv)
{
	if (strcmp(argv[1], "serve") == 0 && (argc == 5 || argc == 7)) {
		f->past_s = argc == 7 ? 60 * (int64_t)number(argv[5], 1440) : 0;
		f->step_s = argc == 7 ? number(argv[6], 3600) : 1;
		f->past = calloc(f->model.nodes, sizeof(f->past[0]));
		if (!f->past || !f->step_s)
			fail("serve", "no memory, or a step of 0");
		return serve(f, argv[4]);
	}
	if (strcmp(argv[1], "page") == 0 && (argc == 6 || argc == 7))
		return print_page(f, number(argv[4], f->model.nodes - 1),
				  number(argv[5], UINT32_MAX), argc == 7 ? argv[6] : "text");
	if (strcmp(argv[1], "events") == 0 && argc == 5)
		return print_events(f, number(argv[4], 1000));
	fail("usage", "fleet serve|page|events NODES RECORDINGS ...");
	return 1;
}

int main(int argc, char **argv)
{
	struct fleet f = {.begin_s = now_s(), .model.stops_an_hour = STOPS_AN_HOUR};
	const char *name = "";
	int r;

	if (argc < 4)
		fail("usage", "fleet serve|page|events NODES RECORDINGS ...");
	f.model.nodes = number(argv[2], NODES_MAX);
	if (!f.model.nodes)
		fail(argv[2], "no nodes");
	r = simpage_casts_read(argv[3], &f.casts, &name);
	if (r < 0)
		fail(name, strerror(-r));
	r = run(&f, argc, argv);
	simpage_casts_done(&f.casts);
	free(f.past);
	return fflush(stdout) ? 1 : r;
}
