// SPDX-License-Identifier: Apache-2.0
/* Writes the note of a boot, and reads one strictly: a member that is missing or of another type
 * makes all of it void, for a claim about a boot rests on each. */
#include "wire/recording/boot_note.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "wire/json/writer.h"

#define TIME_MAX (UINT64_C(1) << 61)

void bootnote_done(struct bootnote *note)
{
	bootlog_done(&note->boot);
	bootlog_done(&note->previous);
}

static void add_rows(struct buf *out, const char *key, const struct bootlog_list *list, bool names)
{
	jsonw_object(out, key);
	jsonw_u64(out, "total", list->total);
	jsonw_array(out, "rows");
	for (size_t i = 0; i < list->n && names; i++) {
		const struct bootlog_alive *row = &list->rows[i];

		jsonw_object(out, NULL);
		jsonw_str(out, "id", row->id);
		jsonw_str(out, "namespace", row->namespace_);
		jsonw_str(out, "name", row->name);
		jsonw_u64(out, "containers", row->containers);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
	jsonw_object_end(out);
}

static void add_shutdown(struct buf *out, const struct bootlog_shutdown *s)
{
	jsonw_object(out, "shutdown");
	jsonw_u64(out, "announced_ns", s->announced_ns);
	jsonw_u64(out, "released_ns", s->released_ns);
	jsonw_str(out, "mode", shutdown_mode_name((enum shutdown_mode)s->mode));
	jsonw_str(out, "action", shutdown_action_name((enum shutdown_action)s->action));
	jsonw_str(out, "reason", shutdown_reason_name((enum shutdown_reason)s->reason));
	jsonw_object(out, "outcomes");
	for (int i = 0; i < OUTCOME_COUNT; i++)
		jsonw_u64(out, outcome_name((enum outcome)i), s->outcomes[i]);
	jsonw_object_end(out);
	jsonw_object_end(out);
}

static void add_log(struct buf *out, const char *key, const struct bootlog *log, bool names)
{
	jsonw_object(out, key);
	jsonw_str(out, "boot_id", log->boot_id);
	jsonw_str(out, "node", log->node);
	jsonw_u64(out, "watched_ns", log->watched_ns);
	jsonw_u64(out, "saved_ns", log->saved_ns);
	jsonw_i64(out, "saved_wall_ns", log->saved_wall_ns);
	jsonw_u64(out, "stopped_ns", log->stopped_ns);
	jsonw_str(out, "journal", boot_journal_name(log->journal));
	add_shutdown(out, &log->shutdown);
	add_rows(out, "pods", &log->pods, names);
	add_rows(out, "containers", &log->containers, names);
	jsonw_object_end(out);
}

int bootnote_write(struct buf *out, const struct bootnote *note)
{
	jsonw_object(out, NULL);
	jsonw_u64(out, "version", BOOTNOTE_VERSION);
	jsonw_u64(out, "unclean", note->unclean);
	add_log(out, "boot", &note->boot, true);
	if (note->previous.boot_id[0])
		add_log(out, "previous", &note->previous, false);
	else
		jsonw_null(out, "previous");
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}

/* --- reading ----------------------------------------------------------------------------------- */

static bool read_u64(const json_t *from, const char *key, uint64_t *ret)
{
	const json_t *value = json_object_get(from, key);

	if (!json_is_integer(value) || json_integer_value(value) < 0)
		return false;
	*ret = (uint64_t)json_integer_value(value);
	return true;
}

/* Sums of a few of them stay numbers. */
static bool read_time(const json_t *from, const char *key, uint64_t *ret)
{
	return read_u64(from, key, ret) && *ret <= TIME_MAX;
}

static bool read_text(const json_t *from, const char *key, char *ret, size_t size)
{
	const char *text = json_string_value(json_object_get(from, key));

	if (!text || strlen(text) >= size)
		return false;
	strcpy(ret, text);
	return true;
}

static bool read_boot_id(const json_t *from, char ret[static BOOTLOG_ID_SIZE])
{
	return read_text(from, "boot_id", ret, BOOTLOG_ID_SIZE) &&
	       strlen(ret) == BOOTLOG_ID_SIZE - 1 &&
	       strspn(ret, "0123456789abcdef-") == BOOTLOG_ID_SIZE - 1;
}

static bool read_word(const json_t *from, const char *key, const struct words *words, uint32_t *ret)
{
	const char *text = json_string_value(json_object_get(from, key));
	int found = text ? words_find(words, text) : -1;

	if (found >= 0)
		*ret = (uint32_t)found;
	return found >= 0;
}

static bool read_shutdown(const json_t *from, struct bootlog_shutdown *ret)
{
	const json_t *outcomes = json_object_get(from, "outcomes");
	bool right = read_time(from, "announced_ns", &ret->announced_ns) &&
		     read_time(from, "released_ns", &ret->released_ns) &&
		     read_word(from, "mode", &words_shutdown_mode, &ret->mode) &&
		     read_word(from, "action", &words_shutdown_action, &ret->action) &&
		     read_word(from, "reason", &words_shutdown_reason, &ret->reason);

	for (int i = 0; right && i < OUTCOME_COUNT; i++)
		right = read_u64(outcomes, outcome_name((enum outcome)i), &ret->outcomes[i]);
	return right;
}

static bool read_row(const json_t *from, struct bootlog_list *list)
{
	struct bootlog_alive row;
	uint64_t containers;

	if (!read_text(from, "id", row.id, sizeof(row.id)) ||
	    !read_text(from, "namespace", row.namespace_, sizeof(row.namespace_)) ||
	    !read_text(from, "name", row.name, sizeof(row.name)) ||
	    !read_u64(from, "containers", &containers) || containers > UINT32_MAX)
		return false;
	bootlog_add(list, row.id, row.namespace_, row.name, (uint32_t)containers);
	return true;
}

static bool read_rows(const json_t *from, const char *key, struct bootlog_list *ret)
{
	const json_t *list = json_object_get(from, key), *rows = json_object_get(list, "rows");
	uint64_t total;

	if (!json_is_array(rows) || !read_u64(list, "total", &total) ||
	    json_array_size(rows) > total)
		return false;
	for (size_t i = 0; i < json_array_size(rows); i++)
		if (!read_row(json_array_get(rows, i), ret))
			return false;
	ret->total = total;
	return true;
}

/* null, and a note of a version without it: not read. */
static bool read_journal(const json_t *from, enum boot_journal *ret)
{
	const json_t *value = json_object_get(from, "journal");
	uint32_t found;

	if (!value || json_is_null(value))
		return true;
	if (!read_word(from, "journal", &words_boot_journal, &found))
		return false;
	*ret = (enum boot_journal)found;
	return true;
}

static bool read_log(const json_t *from, struct bootlog *ret)
{
	uint64_t wall_ns;

	if (!read_time(from, "saved_wall_ns", &wall_ns))
		return false;
	ret->saved_wall_ns = (int64_t)wall_ns;
	return read_boot_id(from, ret->boot_id) &&
	       read_text(from, "node", ret->node, sizeof(ret->node)) &&
	       read_time(from, "watched_ns", &ret->watched_ns) &&
	       read_time(from, "saved_ns", &ret->saved_ns) &&
	       read_time(from, "stopped_ns", &ret->stopped_ns) &&
	       read_journal(from, &ret->journal) &&
	       read_shutdown(json_object_get(from, "shutdown"), &ret->shutdown) &&
	       read_rows(from, "pods", &ret->pods) &&
	       read_rows(from, "containers", &ret->containers);
}

static int read_note(const json_t *root, struct bootnote *ret)
{
	const json_t *previous = json_object_get(root, "previous");
	uint64_t version;

	if (!read_u64(root, "version", &version))
		return -EBADMSG;
	if (version != BOOTNOTE_VERSION)
		return -EPROTONOSUPPORT;
	if (!read_u64(root, "unclean", &ret->unclean) ||
	    !read_log(json_object_get(root, "boot"), &ret->boot) ||
	    (!json_is_null(previous) && !read_log(previous, &ret->previous)))
		return -EBADMSG;
	return 0;
}

int bootnote_read(const char *text, size_t size, struct bootnote *ret)
{
	json_auto_t *root = NULL;
	json_error_t error;
	int r;

	if (size > BOOTNOTE_MAX_SIZE)
		return -EFBIG;
	root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (!root && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	r = json_is_object(root) ? read_note(root, ret) : -EBADMSG;
	if (r < 0) {
		bootnote_done(ret);
		ret->unclean = 0;
	}
	return r;
}
