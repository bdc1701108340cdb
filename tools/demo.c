// SPDX-License-Identifier: Apache-2.0
// Shows `graced trace` at work: four real containers on this host, stopped in four different ways.
#include "lib/box.h"
#include "lib/send.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#define MIB	      (1024u * 1024u)
#define GRACE	      "2s"
#define GRACE_MS      "2000"
#define HEADER_MAX_MS 30000
#define ROWS_MAX_NS   20000000000ull

enum { WEB, DEAF, HUNGRY, SHELL, CONTAINERS };

static const struct {
	const char *argv[4];
	uint64_t memory;
	const char *story;
	const char *stop[4]; /* what the runtime does to it, %s being its pid; none: it ends alone */
} plot[CONTAINERS] = {
	[WEB] = {{"graceful", "0", "40"},
		 0,
		 "handles SIGTERM, cleans up and exits",
		 {"stop", "%s", "15", GRACE_MS}},
	[DEAF] = {{"deaf"},
		  0,
		  "PID 1 without a handler: the kernel drops its SIGTERM",
		  {"stop", "%s", "15", GRACE_MS}},
	[HUNGRY] = {{"wait", "oom"}, 32 * MIB, "takes more memory than its limit of 32 MiB", {NULL}},
	[SHELL] = {{"shell", "1"},
		   0,
		   "a shell that exits on SIGTERM without telling its child",
		   {"stop", "%s", "15", GRACE_MS}},
};

struct tracer_child {
	pid_t pid;
	int fd;
	char buf[4096]; /* output not yet shown */
	size_t len;
	bool told[CONTAINERS]; /* whose row has come */
};

static int fail(const char *what, int error)
{
	fprintf(stderr, "demo: %s: %s\n", what, strerror(error < 0 ? -error : error));
	return 1;
}

/* The tracer's output comes through a pipe, so that this program sees when it is attached. */
static int tracer_begin(struct tracer_child *child)
{
	const char *graced = getenv("GRACED");
	int fds[2];

	if (!graced)
		return -ENOENT;
	if (pipe2(fds, O_CLOEXEC) < 0)
		return -errno;
	child->pid = fork();
	if (child->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGTERM);
		signal(SIGINT, SIG_DFL); /* a shell's background jobs ignore it */
		dup2(fds[1], STDOUT_FILENO);
		execl(graced, "graced", "trace", "--assume-grace", GRACE, (char *)NULL);
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

static void tracer_show(struct tracer_child *child)
{
	fwrite(child->buf, 1, child->len, stdout);
	fflush(stdout);
	child->len = 0;
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

static int tracer_end(struct tracer_child *child)
{
	int status;

	kill(child->pid, SIGINT);
	while (tracer_read(child, 5000) > 0)
		tracer_show(child);
	close(child->fd);
	if (waitpid(child->pid, &status, 0) < 0)
		return -errno;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -EIO;
}

static int start_containers(struct box_tree *tree, struct box boxes[CONTAINERS])
{
	int r = 0;

	for (int i = 0; i < CONTAINERS && !r; i++)
		r = box_start(tree,
			      &(struct box_spec){.argv = plot[i].argv, .memory = plot[i].memory},
			      &boxes[i]);
	return r;
}

static void introduce(const struct box boxes[CONTAINERS])
{
	puts("Four containers, each the PID 1 of its own pid namespace, in cgroups as the kubelet\n"
	     "makes them. A runtime stops them with SIGTERM and, after a grace period of " GRACE
	     ", SIGKILL.\n");
	for (int i = 0; i < CONTAINERS; i++)
		printf("  %.12s  %s\n", boxes[i].id, plot[i].story);
	puts("\n$ graced trace --assume-grace " GRACE);
	fflush(stdout);
}

/* Each is stopped by a `runc` of its own, as a kubelet stops containers side by side. */
static int stop_containers(struct box_tree *tree, struct box boxes[CONTAINERS],
			   struct proc senders[CONTAINERS])
{
	const char *argv[5];
	char pid[16];
	int r = 0;

	for (int i = 0; i < CONTAINERS && !r; i++) {
		if (!plot[i].stop[0]) {
			page_go(boxes[i].proc.page, 1);
			continue;
		}
		snprintf(pid, sizeof(pid), "%d", (int)boxes[i].init_pid);
		for (int k = 0; k < 4; k++)
			argv[k] = strcmp(plot[i].stop[k], "%s") ? plot[i].stop[k] : pid;
		argv[4] = NULL;
		r = send_start(tree, SEND_RUNTIME, NULL, argv, &senders[i]);
	}
	return r;
}

/* Other containers of this host may add rows, so ours are told by their ids. */
static int rows_missing(struct tracer_child *child, const struct box boxes[CONTAINERS])
{
	int missing = 0;

	for (int i = 0; i < CONTAINERS; i++) {
		child->told[i] = child->told[i] || memmem(child->buf, child->len, boxes[i].id, 12);
		missing += !child->told[i];
	}
	return missing;
}

static int show_rows(struct tracer_child *child, const struct box boxes[CONTAINERS])
{
	uint64_t until = page_clock_ns() + ROWS_MAX_NS;
	int n;

	tracer_show(child);
	while (page_clock_ns() < until) {
		n = tracer_read(child, 1000);
		if (n == 0 || (n < 0 && n != -ETIMEDOUT))
			return n ? n : -ECHILD;
		if (n > 0 && child->buf[child->len - 1] != '\n' && child->len < sizeof(child->buf))
			continue;
		n = rows_missing(child, boxes);
		tracer_show(child);
		if (!n)
			return 0;
	}
	return -ETIMEDOUT;
}

static int play(struct box_tree *tree, struct tracer_child *child)
{
	struct proc senders[CONTAINERS];
	struct box boxes[CONTAINERS];
	int r;

	for (int i = 0; i < CONTAINERS; i++) {
		senders[i] = (struct proc){.pidfd = -1, .ready_fd = -1};
		boxes[i] = (struct box){.proc = {.pidfd = -1, .ready_fd = -1}};
	}
	r = start_containers(tree, boxes);
	if (!r) {
		introduce(boxes);
		r = stop_containers(tree, boxes, senders);
	}
	if (!r)
		r = show_rows(child, boxes);
	for (int i = 0; i < CONTAINERS; i++) {
		proc_free(&senders[i]);
		if (boxes[i].dir[0])
			box_remove(&boxes[i]);
	}
	return r;
}

int main(void)
{
	const char *unavailable = box_unavailable();
	struct tracer_child child = {.fd = -1};
	struct box_tree tree;
	int r, ended;

	if (unavailable) {
		fprintf(stderr, "demo: %s\n", unavailable);
		return 1;
	}
	r = box_tree_open(&tree, "demo");
	if (r)
		return fail("cannot make cgroups for the containers", r);
	r = tracer_begin(&child);
	if (!r)
		r = tracer_await_header(&child);
	if (!r)
		r = play(&tree, &child);
	ended = child.pid > 0 ? tracer_end(&child) : 0;
	if (r || ended)
		fail(r ? "the containers' rows did not come" : "graced trace did not end well",
		     r ? r : ended);
	r = r ? r : ended;
	ended = box_tree_close(&tree);
	if (ended)
		fail("the containers' cgroups cannot be removed", ended);
	return r || ended ? 1 : 0;
}
