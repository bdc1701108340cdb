// SPDX-License-Identifier: Apache-2.0
/* Sends datagrams to journald's socket without waiting, and holds those it does not take. */
#include "io/sinks/journal.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/proc/clock.h"

/* What waits at most. */
#define WAITING_BYTES (2u << 20)

/* As sd_journal_sendv(): a larger entry is refused, and fewer are under way. */
#define SEND_BYTES (8 << 20)

struct journal {
	int fd;
	struct sockaddr_un address;
	line_gap_fn gap_fn;
	void *userdata;
	struct line_queue queue; /* entries, each behind its size, a size_t */
	struct journal_stats stats;
};

/* The limit of the host (net.core.wmem_max) is for who may not exceed it. */
static void enlarge_buffer(int fd)
{
	int size = SEND_BYTES;

	if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
		setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
}

int journal_new(const char *path, line_gap_fn gap_fn, void *userdata, struct journal **ret)
{
	struct journal *journal;
	int r;

	if (strlen(path) >= sizeof(journal->address.sun_path))
		return -ENAMETOOLONG;
	journal = calloc(1, sizeof(*journal));
	if (!journal)
		return -ENOMEM;
	journal->gap_fn = gap_fn;
	journal->userdata = userdata;
	journal->queue.max = WAITING_BYTES;
	journal->address.sun_family = AF_UNIX;
	strcpy(journal->address.sun_path, path);
	journal->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (journal->fd < 0) {
		r = -errno;
		free(journal);
		return r;
	}
	enlarge_buffer(journal->fd);
	*ret = journal;
	return 0;
}

struct journal *journal_free(struct journal *journal)
{
	if (!journal)
		return NULL;
	close(journal->fd);
	line_queue_free(&journal->queue);
	free(journal);
	return NULL;
}

/* By its path each time: it may be another journald than before. */
static int send_entry(struct journal *journal, const char *entry, size_t size)
{
	ssize_t n;

	do
		n = sendto(journal->fd, entry, size, MSG_NOSIGNAL,
			   (const struct sockaddr *)&journal->address, sizeof(journal->address));
	while (n < 0 && errno == EINTR);
	return n < 0 ? -errno : 0;
}

static void drop(struct journal *journal, uint64_t now_ns)
{
	line_gap_add(&journal->queue.gap, now_ns);
	journal->stats.dropped++;
}

static void add_framed_gap(void *userdata, struct buf *out, const struct line_gap *gap)
{
	const struct journal *journal = userdata;
	size_t at = out->len, size = 0;

	buf_add(out, (const char *)&size, sizeof(size));
	journal->gap_fn(journal->userdata, out, gap);
	if (buf_error(out) < 0)
		return;
	size = out->len - at - sizeof(size);
	memcpy(out->data + at, &size, sizeof(size));
}

/* Behind its size. */
static bool queue_entry(struct journal *journal, const char *entry, size_t size, uint64_t now_ns)
{
	_cleanup_(buf_free) struct buf framed = {};

	buf_add(&framed, (const char *)&size, sizeof(size));
	buf_add(&framed, entry, size);
	return buf_error(&framed) == 0 &&
	       line_queue_add(&journal->queue, buf_str(&framed), framed.len, now_ns);
}

/* 0: the first of those that wait is out, or dropped, as no socket would take it. */
static int send_first(struct journal *journal, const char *at)
{
	size_t size;
	bool stands;
	int r;

	memcpy(&size, at, sizeof(size));
	r = send_entry(journal, at + sizeof(size), size);
	if (r < 0 && r != -EMSGSIZE)
		return r;
	stands = journal->queue.standing.lines > 0;
	line_queue_take(&journal->queue, sizeof(size) + size);
	if (!stands) {
		journal->stats.waiting--;
		if (r < 0)
			drop(journal, journal->queue.gap.last_ns);
		else
			journal->stats.written++;
	}
	return 0;
}

void journal_flush(struct journal *journal)
{
	size_t size;
	int r = 0;

	do {
		const char *at = line_queue_at(&journal->queue, &size);

		if (size)
			r = send_first(journal, at);
	} while (r == 0 && (size || line_queue_end_gap(&journal->queue, add_framed_gap, journal)));
	journal->stats.error = r == -EAGAIN ? 0 : r;
}

void journal_send(struct journal *journal, const char *entry, size_t size, uint64_t now_ns)
{
	int r = journal_is_idle(journal) ? send_entry(journal, entry, size) : -EAGAIN;

	if (r == 0)
		journal->stats.written++;
	else if (r == -EMSGSIZE)
		drop(journal, now_ns);
	else if (queue_entry(journal, entry, size, now_ns))
		journal->stats.waiting++;
	else
		journal->stats.dropped++;
}

void journal_finish(struct journal *journal, int timeout_ms)
{
	uint64_t until_ns = clock_monotonic_ns() + (uint64_t)timeout_ms * 1000000;
	struct pollfd p = {.fd = journal->fd, .events = POLLOUT};
	int left_ms;

	journal_flush(journal);
	/* Only a socket that is connected waits for room in the other's queue. */
	if (connect(journal->fd, (const struct sockaddr *)&journal->address,
		    sizeof(journal->address)) < 0)
		return;
	while (!journal_is_idle(journal) && !journal->stats.error &&
	       (left_ms = clock_left_ms(until_ns))) {
		int n = poll(&p, 1, left_ms);

		if (n == 0 || (n < 0 && errno != EINTR))
			break;
		journal_flush(journal);
	}
}

bool journal_is_idle(const struct journal *journal)
{
	size_t size;

	line_queue_at(&journal->queue, &size);
	return !size && !journal->queue.gap.lines;
}

bool journal_drops(const struct journal *journal)
{
	return journal->queue.gap.lines > 0;
}

void journal_get_stats(const struct journal *journal, struct journal_stats *ret)
{
	*ret = journal->stats;
}

void journal_discard(struct journal *journal, uint64_t now_ns)
{
	line_queue_discard(&journal->queue, journal->stats.waiting, now_ns);
	journal->stats.dropped += journal->stats.waiting;
	journal->stats.waiting = 0;
}
