// SPDX-License-Identifier: Apache-2.0
/* Writes and reads whole records by their rows. */
#include "wire/json/record.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "wire/json/rows.h"
#include "wire/json/writer.h"

/* What is alike in each record that has one. */
static const struct member id[] = {
	CHARS(struct record_stop, "id", id),
	MEMBERS_END,
};

static const struct member head[] = {
	WALL(struct record, "time", wall_ns, REQUIRED),
	UINT(struct record, "boot_ns", at_ns, REQUIRED),
	TEXT(struct record, "node", node),
	MEMBERS_END,
};

int record_json(struct buf *out, const struct record *record)
{
	const struct record_rows *rows;
	size_t before = out->len;
	const char *object;

	if ((size_t)record->type >= RECORD_TYPE_COUNT || record->type == RECORD_NONE)
		return -EINVAL;
	rows = &record_rows[record->type];
	object = (const char *)record + rows->at;
	jsonw_object(out, NULL);
	jsonw_str(out, "type", rows->name);
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	if (rows->has_id)
		members_write(out, id, object);
	members_write(out, head, record);
	members_write(out, rows->members, object);
	buf_adds(out, "}\n");
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}

static enum record_type type_of(const json_t *line, uint32_t wanted)
{
	const char *name = json_string_value(json_object_get(line, "type"));

	for (size_t i = 0; name && i < RECORD_TYPE_COUNT; i++)
		if (wanted >> i & 1 && record_rows[i].name &&
		    strcmp(record_rows[i].name, name) == 0)
			return (enum record_type)i;
	return RECORD_NONE;
}

static int check_schema(const json_t *line)
{
	const json_t *schema = json_object_get(line, "schema");

	if (!json_is_integer(schema) || json_integer_value(schema) < 0)
		return -EBADMSG;
	return json_integer_value(schema) > RECORD_SCHEMA ? -EPROTONOSUPPORT : 0;
}

int record_read(const char *line, size_t len, uint32_t wanted, struct arena *arena,
		struct record *ret)
{
	json_auto_t *json = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	struct members_reading r = {.arena = arena};
	enum record_type which = type_of(json, wanted);
	const struct record_rows *rows = &record_rows[which];
	int error;

	if (!json_is_string(json_object_get(json, "type")))
		return -EBADMSG;
	if (which == RECORD_NONE)
		return -ENOMSG;
	*ret = (struct record){.type = which};
	error = check_schema(json);
	if (error < 0)
		members_fail(&r, error);
	if (rows->has_id)
		members_read(&r, json, id, (char *)ret + rows->at);
	members_read(&r, json, head, ret);
	members_read(&r, json, rows->members, (char *)ret + rows->at);
	return r.error;
}

struct record *record_copy(const struct record *record, struct arena *arena)
{
	const struct record_rows *rows = &record_rows[record->type];
	struct record *copy = arena_alloc(arena, rows->at + rows->size);

	if (!copy)
		return NULL;
	memcpy(copy, record, rows->at + rows->size);
	if (members_copy(arena, head, copy) < 0 ||
	    members_copy(arena, rows->members, (char *)copy + rows->at) < 0)
		return NULL;
	return copy;
}
