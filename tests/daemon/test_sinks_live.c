// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about where the daemon writes records and its log: they wait for a full disk, a pipe that
 * nobody reads costs what does not fit, a reader that left costs all, and each that is missing is
 * counted.
 */
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
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

#include "lib/box/box.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"
#include "lib/net/http.h"
#include "lib/patience.h"

/* A record takes a KiB: more than a pipe holds, less than what waits for it. */
#define FLOOD 500

struct stage {
	struct box_tree tree;
	char disk[96]; /* where a small one is mounted, in a mount namespace of our own */
	uint32_t lives;
	struct service *service;
};

static int setup(void **state)
{
	static struct stage stage;

	*state = NULL;
	if (tracer_unavailable()) {
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
		return 0;
	}
	if (box_tree_open(&stage.tree, "sinks") < 0 || unshare(CLONE_NEWNS) < 0 ||
	    mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		return -1;
	snprintf(stage.disk, sizeof(stage.disk), "%s/disk", stage.tree.tmp);
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
	return box_tree_close(&stage->tree);
}

static void live(struct stage *stage, uint32_t n)
{
	assert_int_equal(many_containers(&stage->tree, stage->lives, n), 0);
	stage->lives += n;
}

static void start(struct stage *stage, const char *file, int out)
{
	const struct service_spec spec = {
		.args = BOX_ARGV("--sinks.file", file, "--sinks.stdout=true",
				 "--sinks.journal=false", "--names.enabled=false"),
		.out = out,
		.tree = &stage->tree,
	};

	assert_int_equal(service_start(&spec, &stage->service), 0);
}

/* As many stops as that counted since it started: tracing goes on. */
static void await_stops(struct stage *stage, double n)
{
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL, n) >=
		    n);
}

static void end(struct stage *stage)
{
	assert_int_equal(service_stop(stage->service), 0);
	stage->service = service_free(stage->service);
}

/* What one page says of one sink. */
struct count {
	double written, dropped;
};

static struct count count_of(const char *page, const char *sink)
{
	char label[32];

	snprintf(label, sizeof(label), "sink=\"%s\"", sink);
	return (struct count){service_sum(page, "graced_sink_records_total", label),
			      service_sum(page, "graced_sink_dropped_total", label)};
}

static void read_page(struct stage *stage, struct buf *page)
{
	usleep(300000); /* longer than a page is kept */
	assert_int_equal(service_get(stage->service, "/metrics", NULL, page), 200);
}

/* Each line is a record; how many there are. */
static unsigned int count_records(FILE *in)
{
	unsigned int n = 0;
	char *line = NULL;
	size_t size = 0;

	while (getline(&line, &size, in) > 0) {
		json_t *record = json_loads(line, 0, NULL);

		assert_non_null(record);
		json_decref(record);
		n++;
	}
	free(line);
	return n;
}

static unsigned int count_records_of(const char *path)
{
	FILE *in = fopen(path, "re");
	unsigned int n;

	assert_non_null(in);
	n = count_records(in);
	fclose(in);
	return n;
}

/* The page as it is when the file has so many records: what others stop on this host may come
 * between a page and a look at the file. */
static unsigned int read_still(struct stage *stage, const char *path, struct buf *page)
{
	double before;
	unsigned int n;

	read_page(stage, page);
	do {
		before = count_of(buf_str(page), "file").written;
		n = count_records_of(path);
		read_page(stage, page);
	} while (count_of(buf_str(page), "file").written != before);
	return n;
}

static unsigned int count_text(const char *text, const char *what)
{
	unsigned int n = 0;

	while ((text = strstr(text, what))) {
		text += strlen(what);
		n++;
	}
	return n;
}

static void check_log(struct stage *stage, const char *what, unsigned int n)
{
	char *log;

	if (n)
		service_await_log(stage->service, what);
	log = service_log(stage->service);
	if (count_text(log, what) != n)
		print_message("%s\n", log);
	assert_int_equal(count_text(log, what), n);
	free(log);
}

/* Waits until nothing waits in the daemon; how many records it had. */
static double await_written(struct stage *stage, const char *sink, struct buf *page)
{
	struct count count = {};
	char label[32];

	snprintf(label, sizeof(label), "sink=\"%s\"", sink);
	for (int i = 0; i < 100; i++) {
		read_page(stage, page);
		count = count_of(buf_str(page), sink);
		if (service_sum(buf_str(page), "graced_sink_waiting_records", label) == 0)
			break;
	}
	assert_int_equal(service_sum(buf_str(page), "graced_sink_waiting_records", label), 0);
	return count.written + count.dropped;
}

static void read_whole(const char *path, struct buf *ret)
{
	FILE *in = fopen(path, "re");
	char bytes[65536];
	size_t n;

	assert_non_null(in);
	while ((n = fread(bytes, 1, sizeof(bytes), in)) > 0)
		buf_add(ret, bytes, n);
	fclose(in);
	assert_int_equal(buf_error(ret), 0);
}

static void test_full_disk(void **state)
{
	struct buf page = {}, in_file = {}, in_whole = {};
	struct stage *stage = *state;
	char path[128], whole[128];
	struct count file, out;
	unsigned int records;
	int fd;

	if (!stage)
		skip();
	snprintf(path, sizeof(path), "%s/records", stage->disk);
	snprintf(whole, sizeof(whole), "%s/whole", stage->tree.tmp);
	assert_int_equal(mount("tmpfs", stage->disk, "tmpfs", 0, "size=64k"), 0);
	fd = open(whole, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	assert_true(fd >= 0);
	start(stage, path, fd);
	live(stage, FLOOD);
	await_stops(stage, FLOOD);

	records = read_still(stage, path, &page);
	file = count_of(buf_str(&page), "file");
	assert_int_equal(records, file.written);
	out = count_of(buf_str(&page), "stdout");
	assert_true(file.written > 0 && file.written < FLOOD / 2);
	assert_true(file.dropped == 0 && out.dropped == 0);
	assert_int_equal(file.written + service_sum(buf_str(&page), "graced_sink_waiting_records",
						    "sink=\"file\""),
			 out.written);
	assert_int_equal(service_sum(buf_str(&page), "graced_sink_failures_total", "sink=\"file\""),
			 1);
	check_log(stage, "records are not written to ", 1);
	check_log(stage, "No space left on device; they wait in memory", 1);

	/* It tries again once a second, whether anything happens or not. */
	assert_int_equal(mount(NULL, stage->disk, NULL, MS_REMOUNT, "size=16m"), 0);
	await_written(stage, "file", &page);
	check_log(stage, "records are written to ", 1);
	check_log(stage, "records are not written to ", 1);
	live(stage, 10);
	await_stops(stage, stage->lives);
	read_still(stage, path, &page);
	read_whole(path, &in_file);
	read_whole(whole, &in_whole);
	assert_int_equal(in_file.len, in_whole.len);
	assert_string_equal(buf_str(&in_file), buf_str(&in_whole));
	buf_free(&in_file);
	buf_free(&in_whole);
	buf_free(&page);
	close(fd);
	end(stage);
}

/* Appends what is in the pipe now. */
static void drain(int fd, FILE *to)
{
	char bytes[65536];
	ssize_t n;

	while ((n = read(fd, bytes, sizeof(bytes))) > 0)
		assert_int_equal(fwrite(bytes, 1, (size_t)n, to), n);
}

/* Reads on until nothing waits in the daemon, and nothing came between a page, which is the last,
 * and a look into the pipe. */
static void drain_all(struct stage *stage, int fd, FILE *to, struct buf *page)
{
	struct count out = {-1, -1}, before;

	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	for (int i = 0; i < 100; i++) {
		drain(fd, to);
		read_page(stage, page);
		before = out;
		out = count_of(buf_str(page), "stdout");
		if (out.written == before.written &&
		    out.written + out.dropped == count_of(buf_str(page), "file").written)
			break;
	}
	rewind(to);
}

/* How many records a pipe had, and how many more were missing by records of type dropped. */
static unsigned int count_whole(FILE *in, double *ret_missing)
{
	unsigned int n = 0;
	char *line = NULL;
	size_t size = 0;

	*ret_missing = 0;
	while (getline(&line, &size, in) > 0) {
		json_t *record = json_loads(line, 0, NULL);

		assert_non_null(record);
		if (strcmp(json_string_value(json_object_get(record, "type")), "dropped") == 0) {
			*ret_missing += json_number_value(json_object_get(record, "records"));
			assert_true(json_integer_value(json_object_get(record, "since_boot_ns")) <=
				    json_integer_value(json_object_get(record, "until_boot_ns")));
		} else {
			n++;
		}
		json_decref(record);
	}
	free(line);
	return n;
}

/* The same, once the record of what was dropped has come, which is in no count of the page. */
static unsigned int await_missing(int fd, FILE *got, double dropped, double *ret_missing)
{
	unsigned int n = 0;

	for (int i = 0; i < PATIENCE_S * 10; i++) {
		rewind(got);
		n = count_whole(got, ret_missing);
		if (*ret_missing >= dropped)
			break;
		usleep(100000);
		fseek(got, 0, SEEK_END);
		drain(fd, got);
	}
	return n;
}

static void test_pipe_unread(void **state)
{
	struct stage *stage = *state;
	struct count file, out;
	struct buf page = {};
	FILE *got = tmpfile();
	unsigned int records, lives = 0;
	double missing;
	char path[128];
	int fds[2];

	if (!stage)
		skip();
	snprintf(path, sizeof(path), "%s/beside", stage->tree.tmp);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	start(stage, path, fds[1]);
	close(fds[1]);
	do {
		live(stage, FLOOD);
		lives += FLOOD;
		await_stops(stage, lives);
		read_page(stage, &page);
		out = count_of(buf_str(&page), "stdout");
	} while (out.dropped == 0 && lives < 10 * FLOOD);
	file = count_of(buf_str(&page), "file");
	assert_int_equal(file.dropped, 0);
	assert_true(out.dropped > 0);
	assert_true(out.written > 0);
	assert_true(out.written + out.dropped < file.written);
	/* Now somebody reads: what is whole in there is what was counted as written. */
	drain_all(stage, fds[0], got, &page);
	file = count_of(buf_str(&page), "file");
	out = count_of(buf_str(&page), "stdout");
	assert_int_equal(out.written + out.dropped, file.written);
	assert_int_equal(await_missing(fds[0], got, out.dropped, &missing), out.written);
	assert_int_equal(missing, out.dropped);
	records = read_still(stage, path, &page);
	assert_int_equal(records, count_of(buf_str(&page), "file").written);
	buf_free(&page);
	fclose(got);
	close(fds[0]);
	end(stage);
}

static void test_pipe_closed(void **state)
{
	struct stage *stage = *state;
	struct count file, out;
	struct buf page = {};
	unsigned int records;
	char path[128];
	int fds[2];

	if (!stage)
		skip();
	snprintf(path, sizeof(path), "%s/beside-closed", stage->tree.tmp);
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	start(stage, path, fds[1]);
	close(fds[1]);
	close(fds[0]);
	live(stage, 20);
	await_stops(stage, 20);
	records = read_still(stage, path, &page);
	file = count_of(buf_str(&page), "file");
	out = count_of(buf_str(&page), "stdout");
	/* That it is attached was read, perhaps. */
	assert_true(out.dropped >= 20);
	assert_int_equal(out.written + out.dropped, file.written);
	assert_int_equal(records, file.written);
	check_log(stage, "records are not written to standard output: Broken pipe", 1);
	buf_free(&page);
	end(stage);
}

/* --- the log --- */

static uint16_t free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	assert_true(fd >= 0);
	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
	close(fd);
	return ntohs(address.sin_port);
}

static void fill_pipe(int fd)
{
	static const char dots[1024] = "before it started\n";
	int flags = fcntl(fd, F_GETFL);

	assert_int_equal(fcntl(fd, F_SETFL, flags | O_NONBLOCK), 0);
	while (write(fd, dots, sizeof(dots)) > 0 || write(fd, dots, 1) > 0)
		;
	assert_int_equal(errno, EAGAIN);
	assert_int_equal(fcntl(fd, F_SETFL, flags), 0);
}

/* With that pipe for a log, which blocks, as a shell's would. At this level libbpf talks, too. */
static pid_t start_with_log(int log, uint16_t port)
{
	char address[32];
	pid_t pid;

	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		dup2(log, STDERR_FILENO);
		execl(getenv("GRACED"), "graced", "run", "--web.listen-address", address,
		      "--sinks.journal=false", "--names.enabled=false", "--control.socket=none",
		      "--checkpoint.file=none", "--log.level", "debug", (char *)NULL);
		_exit(127);
	}
	assert_true(pid > 0);
	return pid;
}

static void await_status(uint16_t port, const char *path, int status)
{
	struct buf page = {};
	int got = 0;

	for (int i = 0; i < PATIENCE_S * 10; i++) {
		got = http_get(port, path, NULL, &page);
		if (got == status)
			break;
		usleep(100000);
	}
	buf_free(&page);
	assert_int_equal(got, status);
}

static void await_sum(uint16_t port, const char *metric, double least)
{
	struct buf page = {};
	double sum = -1;

	for (int i = 0; i < 300 && sum < least; i++) {
		if (http_get(port, "/metrics", NULL, &page) == 200)
			sum = service_sum(buf_str(&page), metric, NULL);
		usleep(100000);
	}
	buf_free(&page);
	assert_true(sum >= least);
}

/* What is in the pipe now. */
static char *take_all(int fd)
{
	const size_t room = 1 << 20;
	char *text = calloc(1, room + 1);
	size_t len = 0;
	ssize_t n;

	assert_non_null(text);
	assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
	while (len < room && (n = read(fd, text + len, room - len)) > 0)
		len += (size_t)n;
	for (size_t i = 0; i < len; i++)
		text[i] = text[i] ? text[i] : '.';
	return text;
}

static void test_log_unread(void **state)
{
	struct stage *stage = *state;
	uint16_t port = free_port();
	int fds[2], status;
	char *text;
	pid_t pid;

	if (!stage)
		skip();
	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	fill_pipe(fds[1]);
	pid = start_with_log(fds[1], port);
	close(fds[1]);
	await_status(port, "/readyz", 200);
	for (int i = 0; i < 20; i++)
		assert_int_equal(kill(pid, SIGHUP), 0);
	live(stage, 20);
	await_sum(port, "graced_container_stops_total", 20);
	/* There is room again: it says first how much was lost. */
	free(take_all(fds[0]));
	assert_int_equal(kill(pid, SIGTERM), 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_int_equal(status, 0);
	text = take_all(fds[0]);
	assert_non_null(strstr(text, "lines of this log were lost"));
	assert_non_null(strstr(text, "msg=\"stopping\""));
	free(text);
	close(fds[0]);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what a full disk does not take is written when there is room, in order",
		      test_full_disk),
		CLAIM("a pipe that nobody reads costs what does not fit, and has how much that is",
		      test_pipe_unread),
		CLAIM("a reader of records that leaves costs records, each is counted",
		      test_pipe_closed),
		CLAIM("a log that nobody reads costs lines and holds nothing up", test_log_unread),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
