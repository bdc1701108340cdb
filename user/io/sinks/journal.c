// SPDX-License-Identifier: Apache-2.0
/* Sends datagrams to journald's socket without waiting, and counts those it does not take. */
#include "io/sinks/journal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

struct journal {
	int fd;
	struct sockaddr_un address;
	struct journal_stats stats;
};

int journal_new(const char *path, struct journal **ret)
{
	struct journal *journal;
	int r;

	if (strlen(path) >= sizeof(journal->address.sun_path))
		return -ENAMETOOLONG;
	journal = calloc(1, sizeof(*journal));
	if (!journal)
		return -ENOMEM;
	journal->address.sun_family = AF_UNIX;
	strcpy(journal->address.sun_path, path);
	journal->fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (journal->fd < 0) {
		r = -errno;
		free(journal);
		return r;
	}
	*ret = journal;
	return 0;
}

struct journal *journal_free(struct journal *journal)
{
	if (journal)
		close(journal->fd);
	free(journal);
	return NULL;
}

/* By its path each time: it may be another journald than before. */
void journal_send(struct journal *journal, const char *entry, size_t size)
{
	ssize_t n;

	do
		n = sendto(journal->fd, entry, size, MSG_NOSIGNAL,
			   (const struct sockaddr *)&journal->address, sizeof(journal->address));
	while (n < 0 && errno == EINTR);
	journal->stats.error = n < 0 ? -errno : 0;
	if (n < 0)
		journal->stats.dropped++;
	else
		journal->stats.written++;
}

void journal_get_stats(const struct journal *journal, struct journal_stats *ret)
{
	*ret = journal->stats;
}
