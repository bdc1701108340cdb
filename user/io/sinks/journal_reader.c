// SPDX-License-Identifier: Apache-2.0
/* Loads libsystemd and reads the journal by its sd-journal. */
#include "io/sinks/journal_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-journal.h>

#include "base/cleanup.h"
#include "io/files/library.h"
#include "io/proc/clock.h"

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
