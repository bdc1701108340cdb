// SPDX-License-Identifier: Apache-2.0
#include "app/query/history.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "core/account/account.h"
#include "io/files/file.h"
#include "io/proc/clock.h"
#include "wire/json/record.h"
#include "wire/text/journal.h"

DEFINE_CLEANUP(struct lines *, lines_free);

/* By the wall clock; boot_ns: when one of them was reported. */
static int64_t dropped_at(const struct record *record, uint64_t boot_ns)
{
	return boot_ns && boot_ns < record->at_ns
		       ? (int64_t)((uint64_t)record->wall_ns - (record->at_ns - boot_ns))
		       : record->wall_ns;
}

static void count_dropped(struct history *h, const struct record *record)
{
	if ((h->since_ns && dropped_at(record, record->dropped.until_ns) < h->since_ns) ||
	    (h->until_ns && dropped_at(record, record->dropped.since_ns) > h->until_ns))
		return;
	h->dropped += record->dropped.records;
}

/* Another text of the same key hides nothing. */
static bool is_repeated(struct history *h, enum record_type type, const char *id)
{
	char text[RECORD_ID_SIZE + 4], *copy;
	const char *had;

	if (!id || !*id)
		return false;
	snprintf(text, sizeof(text), "%u/%s", (unsigned int)type, id);
	had = map_get(&h->ids, map_key(text));
	if (had)
		return strcmp(had, text) == 0;
	copy = strdup(text);
	if (copy && map_put(&h->ids, map_key(text), copy) < 0)
		free(copy);
	return false;
}

static void forget_ids(struct history *h)
{
	size_t pos = 0;
	char *id;

	while ((id = map_next(&h->ids, &pos)))
		free(id);
	map_done(&h->ids);
}

static const char *id_of(const struct record *record)
{
	if (record->type == RECORD_STOP)
		return record->stop.id;
	if (record->type == RECORD_EMPTY)
		return record->empty.id;
	return record->type == RECORD_REAPED ? record->reaped.id : NULL;
}

static void take_line(void *userdata, const char *line, size_t len)
{
	struct history *h = userdata;
	_cleanup_(arena_free) struct arena arena = {};
	struct record record;
	uint32_t types = RECORDS_STOPS | (uint32_t)h->empties << RECORD_EMPTY;
	int r = record_read(line, len, types, &arena, &record);

	if (r < 0) {
		h->newer += r == -EPROTONOSUPPORT;
		h->unreadable += r == -EBADMSG;
		return;
	}
	h->records++;
	h->signals += record.type == RECORD_SIGNAL;
	if (record.type == RECORD_DROPPED)
		count_dropped(h, &record);
	else if ((!h->since_ns || record.wall_ns >= h->since_ns) &&
		 (!h->until_ns || record.wall_ns <= h->until_ns) &&
		 !is_repeated(h, record.type, id_of(&record)))
		h->fn(h->userdata, &record, line, len);
}

int history_each_line(const char *path, size_t max, uint64_t *unreadable, history_line_fn fn,
		      void *userdata)
{
	_cleanup_(cleanup_lines_free) struct lines *lines = NULL;
	struct lines_line line;
	int r = lines_open(path, max, &lines);

	while (r >= 0 && (r = lines_next(lines, &line)) != 0) {
		if (r == -EMSGSIZE) {
			++*unreadable;
			r = lines_skip(lines);
		} else if (r > 0) {
			fn(userdata, line.at, line.len);
		}
	}
	if (r < 0)
		say("cannot read %s: %s", path, strerror(-r));
	return r < 0;
}

static int read_file(struct history *h, const char *path)
{
	return history_each_line(path, RECORD_LINE_MAX, &h->unreadable, take_line, h);
}

static void on_entry(void *userdata, const struct journal_entry *entry)
{
	struct history *h = userdata;

	if (!entry->by_root)
		h->untrusted++;
	else if (!entry->value || entry->size > RECORD_LINE_MAX)
		h->unreadable++;
	else
		take_line(h, entry->value, entry->size);
}

const char *history_file(const struct options *o, char buffer[static PATH_MAX],
			 const char **ret_before)
{
	const char *variable = getenv("GRACED_SINKS_FILE");
	int n;

	*ret_before = NULL;
	if (o->file || o->journal_directory || !variable || variable[0] != '/')
		return o->file;
	n = snprintf(buffer, PATH_MAX, "%s.1", variable);
	if (n < PATH_MAX && access(buffer, F_OK) == 0)
		*ret_before = buffer;
	return variable;
}

static void on_any(void *userdata, const struct journal_entry *entry)
{
	*(bool *)userdata = true;
}

/* Of any boot and type; true as well where not all can be read. */
static bool may_have_records(const char *directory)
{
	const struct journal_query query = {
		.directory = directory, .message_ids = journal_story_ids, .field = JOURNAL_RECORD};
	bool any = false;

	return (!directory && geteuid() != 0) || journal_read(&query, on_any, &any) < 0 || any;
}

void history_say_unrecorded(const struct options *o)
{
	char buffer[PATH_MAX];
	const char *before;

	if (history_file(o, buffer, &before) || may_have_records(o->journal_directory))
		return;
	say("the journal has no records: graced run writes them from its start on (systemctl "
	    "enable --now graced)");
	say("of what ended without it, docker inspect and kubectl describe pod show the exit code "
	    "(137: SIGKILL, 143: SIGTERM), journalctl -k -g oom-kill the kernel's OOM kills; "
	    "nothing shows who sent a signal");
}

int history_journal_boot(const struct options *o, long offset, char ret[static JOURNAL_BOOT_SIZE])
{
	_cleanup_(cleanup_free) char(*boots)[JOURNAL_BOOT_SIZE] = NULL;
	size_t n = 0, index;
	int r = journal_list_boots(o->journal_directory, &boots, &n);

	if (r < 0) {
		say("cannot read the journal: %s", journal_strerror(r));
		return 1;
	}
	if (!when_boot_index(offset, n, &index)) {
		when_no_boot(offset, n, n ? boots[n - 1] : NULL);
		if (!n)
			history_say_unrecorded(o);
		return 1;
	}
	strcpy(ret, boots[index]);
	return 0;
}

/* 0, or the exit status after what is wrong was logged. */
static int choose_boot(struct history *h)
{
	const char *boot = h->options->boot;
	long offset;

	if (boot && when_parse_boot(boot, &offset))
		return history_journal_boot(h->options, offset, h->boot);
	for (size_t i = 0, at = 0; boot && boot[i] && at < sizeof(h->boot) - 1; i++)
		if (boot[i] != '-')
			h->boot[at++] = boot[i];
	return 0;
}

static int read_journal(struct history *h)
{
	struct journal_query query = {
		.directory = h->options->journal_directory,
		.message_ids = h->options->filter.signals ? journal_signal_ids : journal_stop_ids,
		.field = JOURNAL_RECORD,
	};
	int r = choose_boot(h);

	if (r)
		return r;
	query.boot = *h->boot ? h->boot : NULL;
	r = journal_read(&query, on_entry, h);
	if (r < 0)
		say("cannot read the journal: %s", journal_strerror(r));
	return r < 0;
}

int history_read(struct history *h)
{
	char buffer[PATH_MAX];
	const char *before, *file = history_file(h->options, buffer, &before);
	int r;

	if (!file)
		r = read_journal(h);
	else
		r = (before && read_file(h, before)) || read_file(h, file);
	forget_ids(h);
	return r;
}

void history_say_untrusted(uint64_t n)
{
	if (n)
		say("%" PRIu64 " entries of the journal are not root's, and were left out", n);
}

void history_say_left_out(const struct history *h)
{
	history_say_untrusted(h->untrusted);
	if (h->newer)
		say("%" PRIu64 " %s left out", h->newer,
		    h->newer == 1 ? "record is of a newer graced, and was"
				  : "records are of a newer graced, and were");
	if (h->dropped)
		say("%" PRIu64 " record%s missing there: graced run could not write %s", h->dropped,
		    h->dropped == 1 ? " is" : "s are", h->dropped == 1 ? "it" : "them");
	if (h->unreadable)
		say("%" PRIu64 " %s", h->unreadable,
		    h->unreadable == 1 ? "line is no record" : "lines are no records");
	if (h->options->filter.signals && !h->signals)
		say("no signals are recorded there; graced run --sinks.signals records them");
}

int history_take_options(struct history *h)
{
	const struct options *o = h->options;
	char buffer[PATH_MAX];
	const char *before;

	if (o->file && (o->journal_directory || o->boot))
		return say_usage(o->command,
				 "--file does not go with --journal-directory and --boot");
	if (o->boot && history_file(o, buffer, &before))
		return say_usage(o->command,
				 "--boot is of the journal; the records are in GRACED_SINKS_FILE");
	if (o->since && !when_parse(o->since, &h->since_ns))
		return say_usage(o->command, "--since wants a time, not '%s'", o->since);
	if (o->until && !when_parse(o->until, &h->until_ns))
		return say_usage(o->command, "--until wants a time, not '%s'", o->until);
	if (o->since && o->until && h->since_ns > h->until_ns)
		return say_usage(o->command, "--since is later than --until");
	if (o->since && h->since_ns > (int64_t)clock_wall_ns())
		say("--since %s is yet to come", o->since);
	if (o->boot && !when_parse_boot(o->boot, &(long){0}) && !when_is_boot_id(o->boot))
		return say_usage(o->command, "--boot wants a number or the id of a boot, not '%s'",
				 o->boot);
	return 0;
}

/* --- times and boots as users name them ------------------------------------------------------- */

static bool parse_local(const char *text, int64_t now_ns, int64_t *ret)
{
	static const char *const forms[] = {"%Y-%m-%d %H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%d",
					    "%H:%M:%S", "%H:%M"};
	time_t now = (time_t)(now_ns / NS_PER_S);

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++) {
		struct tm tm;
		const char *end;
		time_t at;
		int day;

		localtime_r(&now, &tm);
		tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
		tm.tm_isdst = -1;
		end = strptime(text, forms[i], &tm);
		day = tm.tm_mday;
		at = end && !*end ? mktime(&tm) : -1;
		/* February 30 would be March 2. */
		if (at < 0 || at > INT64_MAX / NS_PER_S || tm.tm_mday != day)
			continue;
		*ret = (int64_t)at * NS_PER_S;
		return true;
	}
	return false;
}

static bool parse_word(const char *text, int64_t now_ns, int64_t *ret)
{
	time_t now = (time_t)(now_ns / NS_PER_S);
	bool yesterday = strcmp(text, "yesterday") == 0;
	struct tm tm;

	if (!yesterday && strcmp(text, "today") != 0)
		return false;
	localtime_r(&now, &tm);
	tm.tm_hour = tm.tm_min = tm.tm_sec = 0;
	tm.tm_mday -= yesterday;
	tm.tm_isdst = -1;
	*ret = (int64_t)mktime(&tm) * NS_PER_S;
	return true;
}

/* 0: none. An s at the end of a word is that of the plural. */
static uint64_t unit_ns(const char *word, size_t len)
{
	static const struct {
		const char *words;
		uint64_t ns;
	} units[] = {{"|s|sec|second|", NS_PER_S},
		     {"|m|min|minute|", 60 * NS_PER_S},
		     {"|h|hr|hour|", 3600 * NS_PER_S},
		     {"|d|day|", 24 * 3600 * NS_PER_S},
		     {"|w|week|", 7 * 24 * 3600 * NS_PER_S}};
	char whole[16];

	len -= len > 3 && word[len - 1] == 's';
	snprintf(whole, sizeof(whole), "|%.*s|", (int)len, word);
	for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++)
		if (len && strstr(units[i].words, whole))
			return units[i].ns;
	return 0;
}

/* "10 min ago", "1h 30min", "2 days", as journalctl has them. */
static bool parse_span(const char *text, uint64_t *ret)
{
	uint64_t sum = 0, n;

	do {
		char *unit;
		size_t len;

		n = *text >= '0' && *text <= '9' ? strtoull(text, &unit, 10) : 0;
		if (!n)
			return false;
		unit += strspn(unit, " ");
		len = strspn(unit, "abcdefghijklmnopqrstuvwxyz");
		if (len > 7 || __builtin_mul_overflow(n, unit_ns(unit, len), &n) || !n ||
		    __builtin_add_overflow(sum, n, &sum))
			return false;
		text = unit + len + strspn(unit + len, " ");
	} while (*text && strcmp(text, "ago") != 0);
	*ret = sum;
	return true;
}

bool when_parse(const char *text, int64_t *ret)
{
	int64_t now = (int64_t)clock_wall_ns();
	const char *span = text + (*text == '-');
	uint64_t ago = 0;

	if ((strcmp(text, "now") == 0 || duration_parse(span, &ago) == 0 ||
	     parse_span(span, &ago)) &&
	    ago <= (uint64_t)now) {
		*ret = now - (int64_t)ago;
		return true;
	}
	return rfc3339_parse(text, ret) == 0 || parse_word(text, now, ret) ||
	       parse_local(text, now, ret);
}

bool when_parse_boot(const char *text, long *ret)
{
	char *end;

	errno = 0;
	*ret = strtol(text, &end, 10);
	return *text && !*end && !errno && strlen(text) < 8;
}

bool when_is_boot_id(const char *text)
{
	char id[ACCOUNT_BOOT_SIZE];

	account_boot(text, strlen(text), id);
	return strspn(id, "0123456789abcdef") == ACCOUNT_BOOT_SIZE - 1 &&
	       strspn(text, "0123456789abcdefABCDEF-") == strlen(text) && strlen(text) <= 36;
}

bool when_boot_index(long offset, size_t n, size_t *ret)
{
	if (offset > 0 ? (size_t)offset > n : (size_t)-offset >= n)
		return false;
	*ret = offset > 0 ? (size_t)offset - 1 : n - 1 - (size_t)-offset;
	return true;
}

static bool is_present(const char *boot)
{
	char present[37], id[ACCOUNT_BOOT_SIZE];

	return clock_boot_id(present) == 0 &&
	       strcmp(account_boot(present, strlen(present), id), boot) == 0;
}

int when_no_boot(long offset, size_t n, const char *last)
{
	if (n == 0)
		say("there is no boot %ld: there are no records", offset);
	else if (n == 1)
		say("there is no boot %ld: the records are of one boot%s", offset,
		    is_present(last) ? ", the present one" : "");
	else
		say("there is no boot %ld: the records are of %zu boots", offset, n);
	return 1;
}
