// SPDX-License-Identifier: Apache-2.0
/* Writes recordings, and judges whether a file is one. */
#include "wire/recording/recording.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/json/writer.h"
#include "wire/recording/fields.h"

#define HEADER_TYPE  "graced-recording"
#define HEADER_BEGIN "{\"type\":\"" HEADER_TYPE "\""

DEFINE_CLEANUP(json_t *, json_decref);

int rec_write_header(struct buf *out, const char *graced_version)
{
	size_t before = out->len;

	jsonw_object(out, NULL);
	jsonw_str(out, "type", HEADER_TYPE);
	jsonw_u64(out, "version", REC_VERSION);
	jsonw_u64(out, "abi", GRACED_ABI);
	jsonw_str(out, "graced", graced_version);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}

static uint64_t load_uint(const void *member, uint16_t size)
{
	uint64_t wide;
	uint32_t narrow;

	if (size == sizeof(wide)) {
		memcpy(&wide, member, sizeof(wide));
		return wide;
	}
	memcpy(&narrow, member, sizeof(narrow));
	return narrow;
}

static int64_t load_int(const void *member, uint16_t size)
{
	uint64_t value = load_uint(member, size);

	return size == sizeof(int32_t) ? (int32_t)value : (int64_t)value;
}

static void begin_member(struct buf *out, const struct rec_field *field)
{
	buf_addc(out, ',');
	buf_add(out, field->key, field->key_len);
}

static void write_field(struct buf *out, const struct rec_field *field, const char *member)
{
	uint64_t number;
	size_t len;

	switch ((enum rec_kind)field->kind) {
	case REC_UINT:
	case REC_INT:
		number = load_uint(member, field->size);
		if (number == 0)
			return;
		begin_member(out, field);
		if (field->kind == REC_UINT)
			buf_add_u64(out, number);
		else
			buf_add_i64(out, load_int(member, field->size));
		return;
	case REC_BOOL:
		if (!*(const bool *)member)
			return;
		begin_member(out, field);
		buf_add(out, "true", 4);
		return;
	case REC_STRING:
		len = strnlen(member, field->size - 1u);
		if (len == 0)
			return;
		begin_member(out, field);
		jsonw_quote(out, member, len, JSONW_SURROGATE);
		return;
	}
}

int rec_write_obs(struct buf *out, const struct obs *obs)
{
	const struct rec_layout *layout = rec_layout(obs->type);
	size_t before = out->len;

	if (!layout)
		return -EINVAL;
	buf_adds(out, "{\"type\":");
	buf_add(out, layout->name, layout->name_len);
	buf_adds(out, ",\"at_ns\":");
	buf_add_u64(out, obs->at_ns);
	for (unsigned int i = 0; i < layout->count; i++)
		write_field(out, &layout->fields[i], (const char *)obs + layout->fields[i].offset);
	buf_add(out, "}\n", 2);
	if (buf_error(out) < 0)
		buf_truncate(out, before);
	return buf_error(out);
}

int rec_read_header(const char *line, size_t len)
{
	_cleanup_(cleanup_json_decref) json_t *header = NULL;
	bool begins_well = len >= sizeof(HEADER_BEGIN) - 1 &&
			   memcmp(line, HEADER_BEGIN, sizeof(HEADER_BEGIN) - 1) == 0;
	json_int_t version = 0, abi = 0;
	const char *type = NULL;

	header = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (json_unpack(header, "{s:s}", "type", &type) < 0 || strcmp(type, HEADER_TYPE) != 0)
		return begins_well ? -EBADMSG : -ENOMSG;
	if (json_unpack(header, "{s:I,s:I}", "version", &version, "abi", &abi) < 0 || version < 1 ||
	    abi < 1)
		return -EBADMSG;
	return version > REC_VERSION || abi > GRACED_ABI ? -EPROTONOSUPPORT : 0;
}
