// SPDX-License-Identifier: Apache-2.0
// Shows graced at work: four real containers on this host, stopped in four different ways, as
// `graced trace` prints it and as the metrics of `graced run` count it.
#include "lib/box/box.h"
#include "lib/box/send.h"
#include "lib/daemon/lognames.h"
#include "lib/daemon/service.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define MIB	      (1024u * 1024u)
#define GRACE	      "2s"
#define GRACE_MS      "2000"
#define HEADER_MAX_MS 30000
#define ROW_MAX_NS    30000000000ull

enum { WEB, DEAF, HUNGRY, SHELL, CONTAINERS };

static const struct {
	const char *pod, *container;
	const char *argv[4];
	uint64_t memory;
	const char *story;
	bool stopped; /* by a runtime; otherwise it ends by itself */
	int rows;     /* in the table: its signals and its stop */
} plot[CONTAINERS] = {
	[WEB] = {"web-0",
		 "nginx",
		 {"graceful", "0", "40"},
		 0,
		 "handles SIGTERM, cleans up and exits",
		 true,
		 2},
	[DEAF] = {"cache-0",
		  "redis",
		  {"deaf"},
		  0,
		  "PID 1 without a handler: the kernel drops its SIGTERM",
		  true,
		  3},
	[HUNGRY] = {"report-0",
		    "java",
		    {"wait", "oom"},
		    32 * MIB,
		    "takes more memory than its limit",
		    false,
		    2},
	[SHELL] = {"backup-0",
		   "sh",
		   {"shell", "1"},
		   0,
		   "a shell that exits on SIGTERM and does not pass it to its child",
		   true,
		   2},
};

struct tracer_child {
	pid_t pid;
	int fd;
	int err_fd; /* a file in memory: it takes all that is logged, and no reader has to keep up */
	bool lost;  /* it logged that records were */
	char buf[4096]; /* output not yet shown */
	size_t len;
	int rows[CONTAINERS]; /* that have come */
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "demo: %s: %s\n", what, strerror(error < 0 ? -error : error));
	return 1;
}

/*
 * The tracer's output comes through a pipe, so that this program sees when it is attached. It looks
 * at the demonstration's containers alone: what others do takes no room in its ring.
 */
static int tracer_begin(struct tracer_child *child, const struct box_tree *tree, const char *logs)
{
	const char *graced = getenv("GRACED");
	int fds[2];

	if (!graced)
		return -ENOENT;
	child->err_fd = memfd_create("stderr", MFD_CLOEXEC);
	if (child->err_fd < 0 || pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	child->pid = fork();
	if (child->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
		dup2(fds[1], STDOUT_FILENO);
		dup2(child->err_fd, STDERR_FILENO);
		execl(graced, "graced", "trace", "--signals", "-n", "demo", "--assume-grace", GRACE,
		      "--names.log-directory", logs, "--container-roots",
		      box_tree_relative(tree, tree->root), (char *)NULL);
		_exit(127);
	}
	close(fds[1]);
	child->fd = fds[0];
	return child->pid < 0 ? -errno : 0;
}

/* Read what is there: > 0 bytes, 0 at the end, -ETIMEDOUT. */
static int tracer_read(struct tracer_child *child, int timeout_ms)
{
	struct pollfd poll_fd = {.fd = child->fd, .events = POLLIN};
	int n = poll(&poll_fd, 1, timeout_ms);
	ssize_t got;

	if (n <= 0)
		return n < 0 ? -errno : -ETIMEDOUT;
	got = read(child->fd, child->buf + child->len, sizeof(child->buf) - child->len);
	if (got < 0)
		return -errno;
	child->len += (size_t)got;
	return (int)got;
}

/* Show the whole lines read so far; count those about the demonstration's own containers. */
static void tracer_show(struct tracer_child *child)
{
	size_t len;
	char *end;

	while ((end = memchr(child->buf, '\n', child->len))) {
		len = (size_t)(end - child->buf) + 1;
		fwrite(child->buf, 1, len, stdout);
		for (int i = 0; i < CONTAINERS; i++)
			child->rows[i] +=
				memmem(child->buf, len, plot[i].pod, strlen(plot[i].pod)) != NULL;
		child->len -= len;
		memmove(child->buf, end + 1, child->len);
	}
	fflush(stdout);
	if (child->len == sizeof(child->buf))
		child->len = 0; /* no table has such lines */
}

static int tracer_await_header(struct tracer_child *child)
{
	int n;

	while (!memchr(child->buf, '\n', child->len)) {
		n = tracer_read(child, HEADER_MAX_MS);
		if (n <= 0)
			return n ? n : -ECHILD;
	}
	return 0;
}

/* Shows what it has logged, once it has ended: of a demonstration that went well what was lost
 * alone, and not that its containers began after it. */
static void tracer_show_log(struct tracer_child *child, bool went_well)
{
	FILE *log = fdopen(child->err_fd, "r");
	char *line = NULL;
	size_t size = 0;

	if (!log) {
		close(child->err_fd);
		return;
	}
	rewind(log);
	while (getline(&line, &size, log) > 0) {
		bool tells_lost = strstr(line, " events were lost");

		if (tells_lost || !went_well)
			fputs(line, stderr);
		child->lost |= tells_lost;
	}
	free(line);
	fclose(log);
}

static int tracer_end(struct tracer_child *child, bool went_well)
{
	int status, r;

	kill(child->pid, SIGINT);
	while (tracer_read(child, 5000) > 0)
		tracer_show(child);
	close(child->fd);
	r = waitpid(child->pid, &status, 0) < 0 ? -errno : 0;
	tracer_show_log(child, went_well);
	if (r)
		return r;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int start_containers(struct box_tree *tree, const struct lognames *names,
			    struct box boxes[CONTAINERS])
{
	int r = 0;

	for (int i = 0; i < CONTAINERS && !r; i++) {
		struct lognames_of of = {names, "demo", plot[i].pod, plot[i].container};

		r = box_start(tree,
			      &(struct box_spec){
				      .argv = plot[i].argv,
				      .memory = plot[i].memory,
				      .named = lognames_of,
				      .userdata = &of,
			      },
			      &boxes[i]);
	}
	return r;
}

static void introduce(void)
{
	puts("Four containers, each the PID 1 of its own pid namespace, in cgroups as the kubelet\n"
	     "makes them. A runtime stops them with SIGTERM and, after a grace period of " GRACE
	     ", SIGKILL.\n");
	for (int i = 0; i < CONTAINERS; i++)
		printf("  %-9s %-6s %s\n", plot[i].pod, plot[i].container, plot[i].story);
	puts("\n$ graced trace --signals -n demo --assume-grace " GRACE);
	fflush(stdout);
}

/* Each is stopped by a `runc` of its own, as a kubelet stops containers side by side. */
static int stop_containers(struct box_tree *tree, struct box boxes[CONTAINERS],
			   struct proc senders[CONTAINERS])
{
	char pid[16];
	int r = 0;

	for (int i = 0; i < CONTAINERS && !r; i++) {
		snprintf(pid, sizeof(pid), "%d", (int)boxes[i].init_pid);
		if (plot[i].stopped)
			r = send_start(tree, SEND_RUNTIME, NULL,
				       BOX_ARGV("stop", pid, "15", GRACE_MS), &senders[i]);
		else
			page_go(boxes[i].proc.page, 1);
	}
	return r;
}

static bool all_shown(const struct tracer_child *child)
{
	for (int i = 0; i < CONTAINERS; i++)
		if (child->rows[i] < plot[i].rows)
			return false;
	return true;
}

/* On a slow machine rows come slowly: each has its own time. */
static int show_rows(struct tracer_child *child)
{
	uint64_t until = page_clock_ns() + ROW_MAX_NS;
	int n;

	tracer_show(child);
	while (!all_shown(child)) {
		n = tracer_read(child, 1000);
		if (n == 0 || (n < 0 && n != -ETIMEDOUT))
			return n ? n : -ECHILD;
		if (n > 0)
			until = page_clock_ns() + ROW_MAX_NS;
		if (page_clock_ns() > until)
			return -ETIMEDOUT;
		tracer_show(child);
	}
	return 0;
}

static int play(struct box_tree *tree, const struct lognames *names, struct tracer_child *child)
{
	struct box boxes[CONTAINERS];
	struct proc senders[CONTAINERS];
	int r;

	for (int i = 0; i < CONTAINERS; i++) {
		senders[i] = (struct proc){.pidfd = -1, .ready_fd = -1};
		boxes[i] = (struct box){.proc = {.pidfd = -1, .ready_fd = -1}};
	}
	r = start_containers(tree, names, boxes);
	if (!r) {
		introduce();
		r = stop_containers(tree, boxes, senders);
	}
	if (!r)
		r = show_rows(child);
	for (int i = 0; i < CONTAINERS; i++) {
		proc_free(&senders[i]);
		if (boxes[i].dir[0])
			box_remove(&boxes[i]);
	}
	return r;
}

/* Whether a line of the page is a sample of the demonstration that changed, and no bucket. */
static bool has_changed(const char *line, size_t len)
{
	return memmem(line, len, "namespace=\"demo\"", 16) && !memmem(line, len, "_bucket{", 8) &&
	       memcmp(line + len - 2, " 0", 2) != 0;
}

static int show_metrics(struct service *service)
{
	struct buf page = {};
	int status;

	if (service_await_metric(service, "graced_container_stops_total", "namespace=\"demo\"",
				 CONTAINERS) < CONTAINERS)
		return -ETIMEDOUT;
	status = service_get(service, "/metrics", NULL, &page);
	puts("\n$ curl -s localhost:9753/metrics        # of `graced run`: what has changed, without buckets");
	for (const char *line = buf_str(&page); *line;) {
		size_t len = strcspn(line, "\n");

		if (has_changed(line, len))
			printf("%.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
	buf_free(&page);
	return status == 200 ? 0 : -EIO;
}

static int show(struct box_tree *tree, const struct lognames *names)
{
	/* On a slow machine names come late, and a stop without a name is not the demonstration's. */
	const char *const args[] = {"--names.log-directory",
				    names->dir,
				    "--names.wait=2s",
				    "--sinks.journal=false",
				    "--assume-grace",
				    GRACE,
				    NULL};
	struct tracer_child child = {.fd = -1};
	struct service *service = NULL;
	int r, ended;

	r = service_start(&(struct service_spec){.args = args, .tree = tree}, &service);
	if (r)
		return fail("graced run did not start", r);
	r = tracer_begin(&child, tree, names->dir);
	if (!r)
		r = tracer_await_header(&child);
	if (!r)
		r = play(tree, names, &child);
	ended = child.pid > 0 ? tracer_end(&child, r == 0) : 0;
	if (r == -ETIMEDOUT && child.lost) {
		fputs("demo: records were lost, and rows with them: another workload floods this "
		      "host; rows that miss something say events-lost\n",
		      stderr);
		show_metrics(service);
	}
	if (!r)
		r = ended ? ended : show_metrics(service);
	if (!r)
		r = service_stop(service);
	service_free(service);
	return r ? fail("the containers' rows did not come", r) : 0;
}

int main(void)
{
	const char *unavailable = box_unavailable();
	struct lognames names;
	struct box_tree tree;
	int r, ended;

	if (unavailable) {
		fprintf(stderr, "demo: %s\n", unavailable);
		return 1;
	}
	r = lognames_open(&names);
	if (r)
		return fail("cannot make a directory of names", r);
	r = box_tree_open(&tree, "demo");
	if (r) {
		lognames_close(&names);
		return fail("cannot make cgroups for the containers", r);
	}
	r = show(&tree, &names);
	lognames_close(&names);
	ended = box_tree_close(&tree);
	if (ended)
		fail("the containers' cgroups cannot be removed", ended);
	return r || ended ? 1 : 0;
}
