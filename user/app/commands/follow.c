// SPDX-License-Identifier: Apache-2.0
/* Waits for signals, a reader and time at once. */
#include "app/commands/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <sys/signalfd.h>

static sigset_t ends(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

int follow_open_stop(int *ret)
{
	sigset_t set = ends();
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);

	if (fd < 0)
		return -errno;
	*ret = fd;
	return 0;
}

void follow_release_signals(void)
{
	sigset_t set = ends();

	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int follow_wait(int stop_fd, const struct out *out, short events, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = stop_fd, .events = POLLIN},
			       {.fd = out_fd(out), .events = events}};
	int n = poll(fds, 2, timeout_ms);

	if (n < 0 && errno != EINTR)
		return -errno;
	if (n <= 0)
		return 0;
	if (fds[0].revents)
		return -ECANCELED;
	return fds[1].revents & (POLLERR | POLLHUP) ? -EPIPE : 0;
}

int follow_put(int stop_fd, struct out *out, const struct buf *text)
{
	int r = buf_error(text);

	if (r == 0)
		r = out_add(out, buf_str(text), text->len);
	while (r == 0 && (r = out_flush(out)) > 0)
		r = follow_wait(stop_fd, out, POLLOUT, -1);
	return r;
}
