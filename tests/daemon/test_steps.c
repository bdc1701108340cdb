// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon's event loop: no answer, no full disk and no silent bus makes one of its
 * steps long. What is looked at is the daemon's own measure, of CPU time, so that it does not
 * matter who else wants the CPU; and what counts as long grows with what all steps together took,
 * so that it does not matter how fast the machine is. Wall time is printed.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/box/box.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/kubepeer.h"
#include "lib/daemon/service.h"

#define HEAD	   "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"
#define LIST	   "{\"kind\":\"PodList\",\"items\":["
#define BODY_BYTES ((16u << 20) - 64)
#define FLOOD	   200
#define WAIT_MS	   60000

struct stage {
	struct box_tree tree;
	struct service *service;
	char disk[128], bus[108];
	int bus_fd;
};

static int setup(void **state)
{
	static struct stage stage;
	const char *why = box_unavailable();

	if (why) {
		print_message("not shown: %s\n", why);
		return 0;
	}
	stage = (struct stage){.bus_fd = -1};
	if (box_tree_open(&stage.tree, "steps") < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	snprintf(stage.disk, sizeof(stage.disk), "%s/disk", stage.tree.tmp);
	snprintf(stage.bus, sizeof(stage.bus), "%s/bus", stage.tree.tmp);
	if (mkdir(stage.disk, 0755) < 0)
		return -1;
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	service_free(stage->service);
	umount2(stage->disk, MNT_DETACH);
	rmdir(stage->disk);
	if (stage->bus_fd >= 0)
		close(stage->bus_fd);
	unlink(stage->bus);
	return box_tree_close(&stage->tree);
}

/* --- the measure -------------------------------------------------------------------------------- */

/* Upper bounds of the buckets that are looked at, in seconds; the last has none. */
static const double bounds[] = {0.05, 0.1, 0.5};
static const char *const labels[] = {"le=\"0.05\"", "le=\"0.1\"", "le=\"0.5\""};

struct steps {
	double count, sum, within[LEN(bounds)];
};

static struct steps read_steps(const char *page, const char *name)
{
	char metric[96];
	struct steps steps;

	snprintf(metric, sizeof(metric), "%s_count", name);
	steps.count = service_sum(page, metric, NULL);
	snprintf(metric, sizeof(metric), "%s_sum", name);
	steps.sum = service_sum(page, metric, NULL);
	snprintf(metric, sizeof(metric), "%s_bucket", name);
	for (size_t i = 0; i < LEN(bounds); i++)
		steps.within[i] = service_sum(page, metric, labels[i]);
	assert_true(steps.count >= 0);
	return steps;
}

struct measure {
	struct steps cpu, wall, delay;
};

static struct measure measure(const struct stage *stage)
{
	_cleanup_(buf_free) struct buf page = {};
	struct measure m;

	assert_int_equal(service_get(stage->service, "/metrics", NULL, &page), 200);
	m.cpu = read_steps(buf_str(&page), "graced_loop_step_cpu_seconds");
	m.wall = read_steps(buf_str(&page), "graced_loop_step_seconds");
	m.delay = read_steps(buf_str(&page), "graced_loop_delay_seconds");
	return m;
}

static void print_steps(const char *what, const struct steps *before, const struct steps *now)
{
	print_message("#   %s: %.0f in %.3f s; longer than 50, 100, 500 ms:", what,
		      now->count - before->count, now->sum - before->sum);
	for (size_t i = 0; i < LEN(bounds); i++)
		print_message(" %.0f",
			      now->count - before->count - (now->within[i] - before->within[i]));
	print_message("\n");
}

/* No step longer than 50 ms, or where the machine is so slow that an eighth of all is more, than
 * that. */
static void expect_short(const struct stage *stage, const struct measure *before, const char *what)
{
	struct measure now = measure(stage);
	double most = (now.cpu.sum - before->cpu.sum) / 8;
	size_t i = 0;

	print_message("# %s\n", what);
	print_steps("steps, CPU time", &before->cpu, &now.cpu);
	print_steps("steps, wall time", &before->wall, &now.wall);
	print_steps("delays", &before->delay, &now.delay);
	while (i < LEN(bounds) - 1 && bounds[i] < most)
		i++;
	assert_true(now.cpu.count > before->cpu.count);
	if (now.cpu.count - before->cpu.count > now.cpu.within[i] - before->cpu.within[i])
		fail_msg("%s: a step used more than %.2f s of %.2f s of CPU time", what, bounds[i],
			 now.cpu.sum - before->cpu.sum);
}

/* --- answers ------------------------------------------------------------------------------------ */

static void repeat(struct buf *out, const char *text, size_t until)
{
	size_t len = strlen(text);

	while (out->len + len <= until)
		buf_add(out, text, len);
}

static void make_deep(struct buf *out)
{
	buf_adds(out, LIST);
	repeat(out, "[", BODY_BYTES / 2);
	repeat(out, "]", BODY_BYTES - 2);
	buf_adds(out, "]}");
}

static void make_string(struct buf *out)
{
	buf_adds(out, LIST "\"");
	repeat(out, "\\\\", BODY_BYTES - 8);
	buf_adds(out, "\"]}");
}

static void make_tiny(struct buf *out)
{
	buf_adds(out, LIST "{}");
	repeat(out, ",{}", 4 << 20);
	buf_adds(out, "]}");
}

static void make_repeated(struct buf *out)
{
	buf_adds(out, "{\"kind\":\"PodList\"");
	repeat(out, ",\"metadata\":{\"resourceVersion\":\"1\"}", 4 << 20);
	buf_adds(out, ",\"items\":[]}");
}

/* As many containers as are read of a pod, in each. */
static void make_crowded(struct buf *out)
{
	buf_adds(out, LIST);
	for (int i = 0; i < 40; i++) {
		buf_printf(out,
			   "%s{\"metadata\":{\"uid\":\"%08x-0000-4000-8000-000000000000\","
			   "\"name\":\"p\",\"namespace\":\"s\"},\"spec\":{\"containers\":[",
			   i ? "," : "", i);
		for (int c = 0; c < 2500; c++)
			buf_printf(out, "%s{\"name\":\"c%d\"}", c ? "," : "", c);
		buf_adds(out, "]}}");
	}
	buf_adds(out, "]}");
}

/* The answer's bytes, in chunks of one each. */
static void make_chunks(struct buf *out)
{
	_cleanup_(buf_free) struct buf body = {};

	buf_adds(&body, LIST "\"");
	repeat(&body, "a", 1 << 20);
	buf_adds(&body, "\"]}");
	for (size_t i = 0; i < body.len; i++)
		buf_printf(out, "1\r\n%c\r\n", body.data[i]);
}

static const struct row {
	const char *what;
	void (*make)(struct buf *out);
	bool chunked, endless;
} rows[] = {
	{"brackets, 8 million deep", make_deep, false, false},
	{"one string of 16 MiB", make_string, false, false},
	{"a million items", make_tiny, false, false},
	{"the same member again and again", make_repeated, false, false},
	{"pods with thousands of containers", make_crowded, false, false},
	{"a chunk for each byte", make_chunks, true, false},
	{"the same, and no end", make_chunks, true, true},
};

static void play(struct kubepeer *peer, const struct row *row)
{
	_cleanup_(buf_free) struct buf answer = {}, body = {};

	row->make(&body);
	if (row->chunked)
		buf_adds(&answer, HEAD "Transfer-Encoding: chunked\r\n\r\n");
	else
		buf_printf(&answer, HEAD "Content-Length: %zu\r\n\r\n", body.len);
	buf_add(&answer, body.data, body.len);
	if (row->chunked && !row->endless)
		buf_adds(&answer, "0\r\n\r\n");
	assert_int_equal(buf_error(&body) | buf_error(&answer), 0);
	kubepeer_play(peer, &(struct kubepeer_part){.answer = answer.data,
						    .len = answer.len,
						    .stays = row->endless});
}

/* Two questions: what came of the first answer is over then. */
static void await_asked(const struct kubepeer *peer)
{
	for (int ms = 0; kubepeer_asked(peer) < 2; ms += 50) {
		assert_true(ms < WAIT_MS);
		usleep(50000);
	}
}

static void test_answers(void **state)
{
	struct stage *stage = *state;
	struct service_spec spec = {.tree = stage ? &stage->tree : NULL};
	struct kubepeer peer;
	char url[64];

	if (!stage)
		skip();
	kubepeer_open(&peer);
	snprintf(url, sizeof(url), "http://127.0.0.1:%u", peer.port);
	play(&peer, &rows[0]);
	spec.args =
		BOX_ARGV("--sinks.journal=false", "--kubelet.url", url, "--kubelet.interval", "1s");
	assert_int_equal(service_start(&spec, &stage->service), 0);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct measure before = measure(stage);

		play(&peer, &rows[i]);
		await_asked(&peer);
		expect_short(stage, &before, rows[i].what);
	}
	kubepeer_close(&peer);
	assert_int_equal(service_stop(stage->service), 0);
	stage->service = service_free(stage->service);
}

/* --- a disk and a bus --------------------------------------------------------------------------- */

static void test_full_disk(void **state)
{
	struct stage *stage = *state;
	struct service_spec spec = {.tree = stage ? &stage->tree : NULL};
	char records[160], checkpoint[160];
	struct measure before;

	if (!stage)
		skip();
	assert_int_equal(mount("tmpfs", stage->disk, "tmpfs", 0, "size=64k"), 0);
	snprintf(records, sizeof(records), "%s/records", stage->disk);
	snprintf(checkpoint, sizeof(checkpoint), "%s/checkpoint", stage->disk);
	spec.args = BOX_ARGV("--sinks.journal=false", "--sinks.file", records, "--checkpoint.file",
			     checkpoint);
	assert_int_equal(service_start(&spec, &stage->service), 0);
	before = measure(stage);
	assert_int_equal(many_containers(&stage->tree, 0, FLOOD), 0);
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL,
					 FLOOD) >= FLOOD);
	assert_true(service_await_metric(stage->service, "graced_sink_failures_total",
					 "sink=\"file\"", 1) >= 1);
	expect_short(stage, &before, "a full disk");
	assert_int_equal(service_stop(stage->service), 0);
	stage->service = service_free(stage->service);
}

/* Connections are made, and nothing that is said is read. */
static void listen_as_bus(struct stage *stage)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	strcpy(address.sun_path, stage->bus);
	stage->bus_fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_true(stage->bus_fd >= 0);
	assert_int_equal(bind(stage->bus_fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(stage->bus_fd, 64), 0);
}

static void test_silent_bus(void **state)
{
	struct stage *stage = *state;
	struct service_spec spec = {.tree = stage ? &stage->tree : NULL};
	struct measure before, now;
	char bus[160];

	if (!stage)
		skip();
	listen_as_bus(stage);
	snprintf(bus, sizeof(bus), "DBUS_SYSTEM_BUS_ADDRESS=unix:path=%s", stage->bus);
	spec.env = BOX_ARGV(bus);
	spec.args =
		BOX_ARGV("--sinks.journal=false", "--shutdown.mode", "assist", "--scope", "all");
	assert_int_equal(service_start(&spec, &stage->service), 0);
	before = measure(stage);
	assert_int_equal(many_containers(&stage->tree, 1000, FLOOD), 0);
	assert_true(service_await_metric(stage->service, "graced_stops_total", NULL, FLOOD) >=
		    FLOOD);
	now = measure(stage);
	/* It goes on while the bus says nothing. */
	assert_true(now.delay.count >= before.delay.count);
	assert_true(service_metric(stage->service, "graced_shutdown_ready",
				   "condition=\"logind-reachable\"") == 0);
	expect_short(stage, &before, "a silent bus");
	assert_int_equal(service_stop(stage->service), 0);
	stage->service = service_free(stage->service);
}

int main(void)
{
	static const struct CMUnitTest claims[] = {
		{"no answer of a kubelet makes a step of the loop long", test_answers, setup,
		 teardown, NULL},
		{"nor does a full disk", test_full_disk, setup, teardown, NULL},
		{"nor does a bus that is silent", test_silent_bus, setup, teardown, NULL},
	};

	return cmocka_run_group_tests(claims, NULL, NULL);
}
