// SPDX-License-Identifier: Apache-2.0
// Run `graced run` as a child, listen to what it tells systemd, and scrape it.
#include "lib/daemon/service.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "lib/patience.h"

#define ARGS_MAX 48

struct service {
	pid_t pid; /* 0 once reaped */
	int status;
	int notify; /* where it sends its state */
	int log;
	char dir[64];
	char socket[96];     /* for control, in dir */
	struct buf notified; /* all notifications, each followed by an empty line */
};

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static int bind_notify(struct service *s)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/notify", s->dir);
	s->notify = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	if (s->notify < 0 ||
	    bind(s->notify, (const struct sockaddr *)&address, sizeof(address)) < 0)
		return -errno;
	return 0;
}

/* In a mount namespace of its own. */
static void hide_systemd(const char *dir)
{
	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0 ||
	    mount(dir, "/etc/systemd", NULL, MS_BIND, NULL) < 0)
		_exit(126);
}

static void exec_service(const struct service *s, const struct service_spec *spec)
	__attribute__((noreturn));
static void exec_service(const struct service *s, const struct service_spec *spec)
{
	const char *graced = getenv("GRACED"), *argv[ARGS_MAX + 8];
	char notify[96], usec[32];
	size_t n = 0;

	if (spec->systemd)
		hide_systemd(spec->systemd);
	snprintf(notify, sizeof(notify), "%s/notify", s->dir);
	setenv("NOTIFY_SOCKET", notify, 1);
	setenv("RUNTIME_DIRECTORY", spec->dir ? spec->dir : s->dir, 1);
	setenv("STATE_DIRECTORY", spec->dir ? spec->dir : s->dir, 1);
	if (spec->watchdog_us) {
		snprintf(usec, sizeof(usec), "%llu", (unsigned long long)spec->watchdog_us);
		setenv("WATCHDOG_USEC", usec, 1);
	}
	if (!spec->whole_host)
		setenv("GRACED_CONTAINER_ROOTS",
		       spec->tree ? box_tree_relative(spec->tree, spec->tree->root)
				  : "/graced-no-containers",
		       1);
	for (size_t i = 0; spec->env && spec->env[i]; i++)
		putenv((char *)(uintptr_t)spec->env[i]);
	argv[n++] = "graced";
	argv[n++] = "run";
	argv[n++] = "--web.listen-address";
	argv[n++] = "127.0.0.1:0";
	if (getenv("GRACED_TEST_HIERARCHY")) {
		argv[n++] = "--hierarchy";
		argv[n++] = getenv("GRACED_TEST_HIERARCHY");
	}
	for (size_t i = 0; spec->args && spec->args[i] && i < ARGS_MAX; i++)
		argv[n++] = spec->args[i];
	argv[n] = NULL;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (dup2(spec->out ? spec->out : open("/dev/null", O_WRONLY), STDOUT_FILENO) < 0 ||
	    dup2(s->log, STDERR_FILENO) < 0)
		_exit(126);
	execv(graced, (char *const *)(uintptr_t)argv);
	_exit(127);
}

static int spawn(struct service *s, const struct service_spec *spec)
{
	char path[96];
	int r;

	strcpy(s->dir, "/tmp/graced-service-XXXXXX");
	if (!mkdtemp(s->dir))
		return -errno;
	snprintf(s->socket, sizeof(s->socket), "%s/control.sock", s->dir);
	r = bind_notify(s);
	if (r < 0)
		return r;
	snprintf(path, sizeof(path), "%s/log", s->dir);
	s->log = open(path, O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
	if (s->log < 0)
		return -errno;
	fflush(stdout);
	s->pid = fork();
	if (s->pid == 0)
		exec_service(s, spec);
	return s->pid < 0 ? -errno : 0;
}

/* Takes over what was sent within that time; false: nothing was. */
static bool take_notification(struct service *s, int wait_ms)
{
	struct pollfd p = {.fd = s->notify, .events = POLLIN};
	char text[4096];
	ssize_t n;

	if (poll(&p, 1, wait_ms) <= 0)
		return false;
	n = recv(s->notify, text, sizeof(text), MSG_DONTWAIT);
	if (n <= 0)
		return false;
	buf_add(&s->notified, text, (size_t)n);
	buf_adds(&s->notified, "\n\n");
	return true;
}

static unsigned int count_lines(const char *text, const char *line)
{
	size_t len = strlen(line);
	unsigned int n = 0;

	for (; *text; text += strcspn(text, "\n"), text += *text == '\n')
		n += strncmp(text, line, len) == 0 && (text[len] == '\n' || !text[len]);
	return n;
}

const char *service_notifications(struct service *s)
{
	while (take_notification(s, 0))
		;
	return buf_str(&s->notified);
}

unsigned int service_notified(struct service *s, const char *line)
{
	return count_lines(service_notifications(s), line);
}

const char *service_socket(const struct service *s)
{
	return s->socket;
}

static bool has_ended(struct service *s)
{
	if (s->pid > 0 && waitpid(s->pid, &s->status, WNOHANG) == s->pid)
		s->pid = 0;
	return s->pid <= 0;
}

bool service_await(struct service *s, const char *line, unsigned int n)
{
	uint64_t until = now_ms() + PATIENCE_MS;

	while (count_lines(buf_str(&s->notified), line) < n) {
		if (take_notification(s, 50))
			continue;
		if (has_ended(s) || now_ms() > until)
			return service_notified(s, line) >= n;
	}
	return true;
}

int service_start(const struct service_spec *spec, struct service **ret)
{
	struct service *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return -ENOMEM;
	s->notify = s->log = -1;
	r = spawn(s, spec);
	if (!r && !spec->no_wait && !service_await(s, "READY=1", 1))
		r = has_ended(s) ? -ECHILD : -ETIMEDOUT;
	if (r) {
		char *log = service_log(s);

		fprintf(stderr, "graced run did not start: %s\n", log);
		free(log);
		service_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

pid_t service_pid(const struct service *s)
{
	return s->pid;
}

char *service_log(const struct service *s)
{
	off_t size = s->log >= 0 ? lseek(s->log, 0, SEEK_END) : 0;
	char *text = calloc(1, (size_t)size + 1);

	if (text && size > 0 && pread(s->log, text, (size_t)size, 0) < 0)
		text[0] = 0;
	return text;
}

bool service_await_log(const struct service *s, const char *text)
{
	uint64_t until = now_ms() + PATIENCE_MS;
	bool found = false;

	while (!found && now_ms() < until) {
		char *log = service_log(s);

		found = log && strstr(log, text);
		free(log);
		if (!found)
			usleep(50000);
	}
	return found;
}

uint16_t service_port(const struct service *s)
{
	static const char before[] = "listening on 127.0.0.1:";
	char *log = service_log(s), *at = log ? strstr(log, before) : NULL;
	unsigned long port = at ? strtoul(at + strlen(before), NULL, 10) : 0;

	free(log);
	return (uint16_t)port;
}

static int wait_for(struct service *s)
{
	uint64_t until = now_ms() + PATIENCE_MS;

	while (!has_ended(s)) {
		if (now_ms() > until)
			return -ETIMEDOUT;
		take_notification(s, 5);
	}
	return WIFEXITED(s->status) ? WEXITSTATUS(s->status) : 128 + WTERMSIG(s->status);
}

int service_wait(struct service *s)
{
	return wait_for(s);
}

int service_stop(struct service *s)
{
	int status;

	if (s->pid > 0)
		kill(s->pid, SIGTERM);
	status = wait_for(s);
	if (status) {
		_cleanup_(cleanup_free) char *log = service_log(s);

		fprintf(stderr, "exit status %d:\n%s\n", status, log ? log : "");
	}
	return status;
}

struct service *service_free(struct service *s)
{
	char path[96];

	if (!s)
		return NULL;
	if (s->pid > 0) {
		kill(s->pid, SIGKILL);
		waitpid(s->pid, NULL, 0);
	}
	if (s->notify >= 0)
		close(s->notify);
	if (s->log >= 0)
		close(s->log);
	snprintf(path, sizeof(path), "%s/notify", s->dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/log", s->dir);
	unlink(path);
	unlink(s->socket);
	snprintf(path, sizeof(path), "%s/graceful_node_shutdown_state", s->dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/boot", s->dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/checkpoint", s->dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/checkpoint.new", s->dir);
	unlink(path);
	rmdir(s->dir);
	buf_free(&s->notified);
	free(s);
	return NULL;
}
