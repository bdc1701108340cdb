// SPDX-License-Identifier: Apache-2.0
#include "app/trial/probe.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "io/files/fd.h"
#include "io/proc/clock.h"

static int try_at(const struct sockaddr *address, socklen_t len)
{
	/* On this host a connection is taken or refused at once, unless too many wait already. */
	const struct timeval limit = {.tv_usec = 100000};
	_cleanup_(cleanup_close) int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	return connect(fd, address, len) < 0 ? -errno : 0;
}

/* 0: taken; -ECONNREFUSED: by both addresses; else neither is sure. */
static int try(const struct trial_port *port)
{
	const struct sockaddr_in v4 = {.sin_family = AF_INET,
				       .sin_port = htons(port->number),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
					.sin6_port = htons(port->number),
					.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int r = try_at((const struct sockaddr *)&v4, sizeof(v4)), other;

	if (r != -ECONNREFUSED)
		return r;
	other = try_at((const struct sockaddr *)&v6, sizeof(v6));
	/* A host may have no IPv6. */
	return other == 0 || other == -EINPROGRESS ? other : r;
}

bool trial_port_await(struct trial_port *port)
{
	if (!port->answered)
		port->answered = try(port) == 0;
	return port->answered;
}

static bool is_running(pid_t pid)
{
	siginfo_t info = {};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
}

void trial_port_try(struct trial_port *port, pid_t pid)
{
	uint64_t at_ns = clock_boot_ns();

	if (!port->number || try(port) != -ECONNREFUSED || !is_running(pid))
		return;
	port->last_ns = at_ns;
	if (!port->first_ns)
		port->first_ns = at_ns;
}

uint64_t trial_port_refused(const struct trial_port *port, uint64_t exit_ns)
{
	uint64_t until_ns = port->last_ns < exit_ns ? port->last_ns : exit_ns;

	return until_ns > port->first_ns && port->last_ns > port->first_ns
		       ? until_ns - port->first_ns
		       : 0;
}
