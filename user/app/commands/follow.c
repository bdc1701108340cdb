// SPDX-License-Identifier: Apache-2.0
/* Waits for signals, a reader and time at once. */
#include "app/commands/follow.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "app/log/say.h"
#include "io/files/fd.h"

#define INTERVAL_MS 1000

static sigset_t ends(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

bool follow_open(struct follow *ret)
{
	sigset_t set = ends();
	int r;

	ret->stop_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	r = ret->stop_fd < 0 ? -errno : out_new(STDOUT_FILENO, false, true, &ret->out);
	if (r >= 0)
		return true;
	say("cannot watch: %s", strerror(-r));
	cleanup_close(&ret->stop_fd);
	return false;
}

void follow_close(struct follow *follow)
{
	out_free(follow->out);
	cleanup_close(&follow->stop_fd);
}

void follow_release_signals(void)
{
	sigset_t set = ends();

	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

/* Until a signal comes, the reader leaves, the output is ready for events (poll()) or the time is
 * over. -1: it never is. */
static int wait_for(const struct follow *f, short events, int timeout_ms)
{
	struct pollfd fds[] = {{.fd = f->stop_fd, .events = POLLIN},
			       {.fd = out_fd(f->out), .events = events}};
	int n = poll(fds, 2, timeout_ms);

	if (n < 0 && errno != EINTR)
		return -errno;
	if (n <= 0)
		return 0;
	if (fds[0].revents)
		return -ECANCELED;
	return fds[1].revents & (POLLERR | POLLHUP) ? -EPIPE : 0;
}

int follow_put(const struct follow *follow, const struct buf *text)
{
	int r = buf_error(text);

	if (r == 0)
		r = out_add(follow->out, buf_str(text), text->len);
	while (r == 0 && (r = out_flush(follow->out)) > 0)
		r = wait_for(follow, POLLOUT, -1);
	return r;
}

int follow_run(const struct follow *follow, int (*turn)(void *userdata), void *userdata)
{
	int r;

	do {
		r = turn(userdata);
		if (r == 0)
			r = wait_for(follow, 0, INTERVAL_MS);
	} while (r == 0);
	if (r == -ECANCELED || r == -EPIPE)
		return 0;
	if (r != -EALREADY)
		say("cannot go on: %s", strerror(-r));
	return 1;
}
