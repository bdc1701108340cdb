// SPDX-License-Identifier: Apache-2.0
/* Sends datagrams to journald's socket without waiting, and holds those it does not take. */
#include "io/sinks/journal.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <systemd/sd-journal.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "io/files/library.h"
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
	struct line_stats stats;
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

void journal_get_stats(const struct journal *journal, struct line_stats *ret)
{
	*ret = journal->stats;
}

void journal_discard(struct journal *journal, uint64_t now_ns)
{
	line_queue_discard(&journal->queue, journal->stats.waiting, now_ns);
	journal->stats.dropped += journal->stats.waiting;
	journal->stats.waiting = 0;
}

/* --- reading ---------------------------------------------------------------------------------- */

/* A value is cut above it. */
#define FIELD_BYTES ((size_t)256 << 10)
#define BOOTS_MAX   10000
/* Looked at between entries. */
#define TAIL_MAX_NS 2000000000ULL

/* sd_journal_<name>() as <systemd/sd-journal.h> declares it. */
#define JOURNAL_FUNCTIONS(X)  \
	X(open)               \
	X(open_directory)     \
	X(close)              \
	X(set_data_threshold) \
	X(add_match)          \
	X(add_disjunction)    \
	X(flush_matches)      \
	X(seek_head)          \
	X(seek_tail)          \
	X(next)               \
	X(previous)           \
	X(get_data)           \
	X(get_realtime_usec)  \
	X(get_monotonic_usec) \
	X(query_unique)       \
	X(restart_unique)     \
	X(enumerate_available_unique)

#define JOURNAL_MEMBER(name) __typeof__(sd_journal_##name) *name;
static struct sdj {
	JOURNAL_FUNCTIONS(JOURNAL_MEMBER)
} sdj;
#undef JOURNAL_MEMBER

static const struct dynlib_function functions[] = {
#define JOURNAL_ENTRY(name) {"sd_journal_" #name, offsetof(struct sdj, name)},
	JOURNAL_FUNCTIONS(JOURNAL_ENTRY)
#undef JOURNAL_ENTRY
};

const char *journal_strerror(int error)
{
	return error == -ELIBACC ? "cannot load libsystemd" : strerror(-error);
}

static void cleanup_journal(sd_journal **journal)
{
	if (*journal)
		sdj.close(*journal);
}

static int open_journal(const char *directory, sd_journal **ret)
{
	_cleanup_(cleanup_journal) sd_journal *journal = NULL;
	const char *error;
	int r = dynlib_load(DYNLIB_SYSTEMD, functions, sizeof(functions) / sizeof(functions[0]),
			    &sdj, &error);

	if (r < 0)
		return r;
	r = directory ? sdj.open_directory(&journal, directory, 0)
		      : sdj.open(&journal, SD_JOURNAL_LOCAL_ONLY | SD_JOURNAL_SYSTEM);
	if (r < 0)
		return r;
	r = sdj.set_data_threshold(journal, FIELD_BYTES);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(journal);
	return 0;
}

static int match(sd_journal *journal, const char *field, const char *value)
{
	char text[128];
	int n = snprintf(text, sizeof(text), "%s=%s", field, value);

	if (n < 0 || (size_t)n >= sizeof(text))
		return -EINVAL;
	return sdj.add_match(journal, text, (size_t)n);
}

/* The value, which stays the journal's; NULL when the entry has no such field. */
static const char *get(sd_journal *journal, const char *field, size_t *ret_size)
{
	size_t size, name = strlen(field) + 1;
	const void *data;

	if (sdj.get_data(journal, field, &data, &size) < 0 || size < name)
		return NULL;
	*ret_size = size - name;
	return (const char *)data + name;
}

static void get_boot(sd_journal *journal, char ret[static JOURNAL_BOOT_SIZE])
{
	size_t size = 0;
	const char *boot = get(journal, "_BOOT_ID", &size);

	snprintf(ret, JOURNAL_BOOT_SIZE, "%.*s", boot ? (int)size : 0, boot ? boot : "");
}

static void read_entry(sd_journal *journal, const char *field,
		       void (*fn)(void *userdata, const struct journal_entry *entry),
		       void *userdata)
{
	struct journal_entry entry = {};
	size_t size = 0;
	const char *uid = get(journal, "_UID", &size);

	entry.by_root = uid && size == 1 && *uid == '0';
	get_boot(journal, entry.boot);
	/* The last, as what a field's value points to is valid until the next one is read. */
	entry.value = get(journal, field, &entry.size);
	fn(userdata, &entry);
}

int journal_read(const struct journal_query *query,
		 void (*entry)(void *userdata, const struct journal_entry *entry), void *userdata)
{
	_cleanup_(cleanup_journal) sd_journal *journal = NULL;
	int r = open_journal(query->directory, &journal);

	for (size_t i = 0; r >= 0 && query->message_ids[i]; i++)
		r = match(journal, "MESSAGE_ID", query->message_ids[i]);
	if (r >= 0 && query->boot)
		r = match(journal, "_BOOT_ID", query->boot);
	if (r >= 0)
		r = sdj.seek_head(journal);
	while (r >= 0 && (r = sdj.next(journal)) > 0)
		read_entry(journal, query->field, entry, userdata);
	return r < 0 ? r : 0;
}

/* --- the end of a boot ----------------------------------------------------------------------- */

static int match_term(sd_journal *journal, const char *const *term, const char *boot)
{
	int r = 0;

	for (size_t i = 0; r >= 0 && term[i]; i++)
		r = sdj.add_match(journal, term[i], 0);
	if (r >= 0)
		r = match(journal, "_BOOT_ID", boot);
	return r < 0 ? r : sdj.add_disjunction(journal);
}

/* Before others are added: whether the boot has any entry. */
static int has_boot(sd_journal *journal, const char *boot)
{
	int r = match(journal, "_BOOT_ID", boot);

	if (r >= 0)
		r = sdj.seek_tail(journal);
	if (r >= 0)
		r = sdj.previous(journal);
	sdj.flush_matches(journal);
	return r;
}

static void copy_field(sd_journal *journal, const char *field, char *ret, size_t size)
{
	size_t len = 0;
	const char *value = get(journal, field, &len);

	snprintf(ret, size, "%.*s", value && len < size ? (int)len : 0, value ? value : "");
}

static int read_step(sd_journal *journal, struct journal_step *ret)
{
	sd_id128_t boot;

	copy_field(journal, "MESSAGE_ID", ret->message_id, sizeof(ret->message_id));
	copy_field(journal, "UNIT", ret->unit, sizeof(ret->unit));
	return sdj.get_monotonic_usec(journal, &ret->at_us, &boot);
}

int journal_read_tail(const struct journal_tail *tail,
		      void (*step)(void *userdata, const struct journal_step *step), void *userdata)
{
	_cleanup_(cleanup_journal) sd_journal *journal = NULL;
	uint64_t until_ns = clock_boot_ns() + TAIL_MAX_NS;
	struct journal_step found;
	int r = open_journal(NULL, &journal);

	if (r >= 0)
		r = has_boot(journal, tail->boot);
	if (r <= 0)
		return r;
	for (size_t i = 0; r >= 0 && tail->terms[i]; i++)
		r = match_term(journal, tail->terms[i], tail->boot);
	if (r >= 0)
		r = sdj.seek_tail(journal);
	for (unsigned int i = 0; r >= 0 && i < tail->entries_max; i++) {
		if (clock_boot_ns() > until_ns)
			return -ETIME;
		r = sdj.previous(journal);
		if (r <= 0)
			break;
		r = read_step(journal, &found);
		if (r >= 0)
			step(userdata, &found);
	}
	return r < 0 ? r : 1;
}

/* --- boots ----------------------------------------------------------------------------------- */

struct boot {
	char id[JOURNAL_BOOT_SIZE];
	uint64_t first_us; /* wall clock */
};

static int compare(const void *a, const void *b)
{
	const struct boot *x = a, *y = b;

	if (x->first_us != y->first_us)
		return x->first_us < y->first_us ? -1 : 1;
	return strcmp(x->id, y->id);
}

static int find_first(sd_journal *journal, struct boot *boot)
{
	int r;

	sdj.flush_matches(journal);
	r = match(journal, "_BOOT_ID", boot->id);
	if (r >= 0)
		r = sdj.seek_head(journal);
	if (r >= 0)
		r = sdj.next(journal);
	return r <= 0 ? r : sdj.get_realtime_usec(journal, &boot->first_us);
}

static int list(sd_journal *journal, struct boot **ret, size_t *ret_n)
{
	_cleanup_(cleanup_free) struct boot *boots = NULL;
	const void *data;
	size_t size, n = 0;
	int r = sdj.query_unique(journal, "_BOOT_ID");

	if (r < 0)
		return r;
	sdj.restart_unique(journal);
	while ((r = sdj.enumerate_available_unique(journal, &data, &size)) > 0) {
		struct boot *grown;

		if (n == BOOTS_MAX || size != strlen("_BOOT_ID=") + JOURNAL_BOOT_SIZE - 1)
			continue;
		grown = reallocarray(boots, n + 1, sizeof(*boots));
		if (!grown)
			return -ENOMEM;
		boots = grown;
		snprintf(boots[n].id, sizeof(boots[n].id), "%.*s", JOURNAL_BOOT_SIZE - 1,
			 (const char *)data + strlen("_BOOT_ID="));
		boots[n++].first_us = 0;
	}
	for (size_t i = 0; i < n; i++) {
		r = find_first(journal, &boots[i]);
		if (r < 0)
			return r;
	}
	if (n)
		qsort(boots, n, sizeof(*boots), compare);
	*ret = TAKE_PTR(boots);
	*ret_n = n;
	return 0;
}

int journal_list_boots(const char *directory, char (**ret)[JOURNAL_BOOT_SIZE], size_t *ret_n)
{
	_cleanup_(cleanup_journal) sd_journal *journal = NULL;
	_cleanup_(cleanup_free) struct boot *boots = NULL;
	char(*ids)[JOURNAL_BOOT_SIZE];
	size_t n = 0;
	int r = open_journal(directory, &journal);

	if (r >= 0)
		r = list(journal, &boots, &n);
	if (r < 0)
		return r;
	ids = calloc(n + 1, sizeof(*ids));
	if (!ids)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		memcpy(ids[i], boots[i].id, JOURNAL_BOOT_SIZE);
	*ret = ids;
	*ret_n = n;
	return 0;
}
