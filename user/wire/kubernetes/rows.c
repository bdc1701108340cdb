// SPDX-License-Identifier: Apache-2.0
/* Reads JSON and protobuf by rows, and writes JSON. */
#include "wire/kubernetes/rows.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/time.h"
#include "base/utf8.h"
#include "kubelet_pods.pb-c.h"
#include "wire/json/writer.h"

#define EXACT_REAL 9007199254740992.0 /* 2^53 */

#define AT(type, object, place) ((type *)((char *)(object) + (place)))

void apirows_init(const struct apirow *rows, void *object)
{
	for (const struct apirow *row = rows; row->key; row++) {
		if (row->type == API_TEXT)
			*AT(const char *, object, row->at) = row->fallback ? row->fallback : "";
		else if (row->type == API_OBJECT && row->rows)
			apirows_init(row->rows, AT(char, object, row->at));
		if (row->absent)
			*AT(bool, object, row->absent) = true;
	}
}

const struct apirow *apirows_find(const struct apirow *rows, const char *key, size_t len)
{
	for (; rows->key; rows++) {
		if (rows->len == len && (rows->flags & API_MANY) &&
		    memcmp(rows->key, key, len) == 0)
			return rows;
	}
	return NULL;
}

/* --- errors ----------------------------------------------------------------------------------- */

void podread_enter(struct podread *r, const char *key, size_t index)
{
	if (r->depth < PODREAD_DEPTH_MAX) {
		r->path[r->depth].key = key;
		r->path[r->depth].index = index;
	}
	r->depth++;
}

void podread_leave(struct podread *r)
{
	r->depth--;
}

static void add_key(char *text, size_t size, const char *key)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s", len > 0 ? "." : "", key);
}

int podread_fail(struct podread *r, const char *key, const char *problem)
{
	char *text = r->error ? r->error->member : NULL;
	size_t size = sizeof(r->error->member);

	if (!r->error)
		return -EINVAL;
	*text = '\0';
	for (size_t i = 0; i < r->depth && i < PODREAD_DEPTH_MAX; i++) {
		size_t len = strlen(text);

		if (r->path[i].key)
			add_key(text, size, r->path[i].key);
		else
			snprintf(text + len, size - len, "[%zu]", r->path[i].index);
	}
	if (key)
		add_key(text, size, key);
	r->error->problem = problem;
	r->error->line = 0;
	return -EINVAL;
}

/* --- values ----------------------------------------------------------------------------------- */

typedef int (*read_fn)(struct podread *r, const struct apirow *row, const json_t *value,
		       void *object);

static int read_nothing(struct podread *r, const struct apirow *row, const json_t *value,
			void *object)
{
	return 0;
}

static int take_text(struct podread *r, const json_t *value, const char **ret)
{
	const char *text = json_string_value(value);

	if (r->error)
		text = arena_strndup(r->arena, text, json_string_length(value));
	if (!text)
		return -ENOMEM;
	*ret = text;
	return 0;
}

static int read_text(struct podread *r, const struct apirow *row, const json_t *value, void *object)
{
	size_t len = json_string_length(value);

	if (!json_is_string(value))
		return podread_fail(r, row->key, "is not a string");
	if (r->error && len > row->max)
		return podread_fail(r, row->key, "is too long");
	if (strlen(json_string_value(value)) != len)
		return podread_fail(r, row->key, "has a NUL in it");
	return take_text(r, value, AT(const char *, object, row->at));
}

static int read_bool(struct podread *r, const struct apirow *row, const json_t *value, void *object)
{
	if (!json_is_boolean(value))
		return podread_fail(r, row->key, "is neither true nor false");
	if (row->type == API_TRI)
		*AT(uint32_t, object, row->at) = json_is_true(value) ? 2 : 1;
	else
		*AT(bool, object, row->at) = json_is_true(value);
	return 0;
}

/* A whole number, however it is written, taken for 2^53 or its negative where a real is beyond what
 * it holds exactly; false, and *ret as it was, for anything else. */
static bool read_whole(const json_t *value, int64_t *ret)
{
	double real = json_real_value(value);

	if (json_is_integer(value)) {
		*ret = json_integer_value(value);
		return true;
	}
	if (!json_is_real(value) || real != floor(real))
		return false;
	if (real > EXACT_REAL)
		real = EXACT_REAL;
	if (real < -EXACT_REAL)
		real = -EXACT_REAL;
	*ret = (int64_t)real;
	return true;
}

static int read_integer(struct podread *r, const struct apirow *row, const json_t *value,
			void *object)
{
	bool narrow = row->type == API_INT32;
	int64_t number;

	if (!read_whole(value, &number))
		return podread_fail(r, row->key, "is not a whole number");
	if (narrow ? number < INT32_MIN || number > INT32_MAX
		   : r->error && row->limit && (number < row->min || number > row->limit))
		return podread_fail(r, row->key, "is out of range");
	if (narrow)
		*AT(int32_t, object, row->at) = (int32_t)number;
	else
		*AT(int64_t, object, row->at) = number;
	return 0;
}

static int read_number(struct podread *r, const struct apirow *row, const json_t *value,
		       void *object)
{
	return json_is_number(value) ? 0 : podread_fail(r, row->key, "is not a number");
}

/* With any offset, fractions cut at nanoseconds. */
static int read_time(struct podread *r, const struct apirow *row, const json_t *value, void *object)
{
	const char *text = json_string_value(value);

	if (!text || rfc3339_parse(text, AT(int64_t, object, row->at)) < 0)
		return podread_fail(r, row->key, "is not a time as in RFC 3339");
	return 0;
}

/* An empty text is none of the words, as if it was not given. */
static int read_word(struct podread *r, const struct apirow *row, const json_t *value, void *object)
{
	uint32_t word = apijson_word(value, row->words);

	if (word)
		*AT(uint32_t, object, row->at) = word - 1 + row->first;
	if (word || !row->problem)
		return 0;
	if (json_string_length(value) > 0 || (row->flags & API_REQUIRED))
		return podread_fail(r, row->key, row->problem);
	return json_is_string(value) ? 0 : podread_fail(r, row->key, "is not a string");
}

static int read_object(struct podread *r, const struct apirow *row, const json_t *value,
		       void *object)
{
	int e = 0;

	if (!json_is_object(value))
		return podread_fail(r, row->key, "is not an object");
	if (!row->rows)
		return 0;
	podread_enter(r, row->key, 0);
	e = apirows_read(r, value, row->rows, AT(char, object, row->at));
	podread_leave(r);
	return e;
}

static int check_list(struct podread *r, const struct apirow *row, const json_t *value)
{
	if (!json_is_array(value))
		return podread_fail(r, row->key, "is not a list");
	if (r->error && json_array_size(value) > row->max)
		return podread_fail(r, row->key, "has too many elements");
	return 0;
}

/* Puts an array of n in its place. */
static void *make_array(struct podread *r, const struct apirow *row, size_t n, size_t size,
			void *object)
{
	void *items = arena_array(r->arena, n, size);

	if (items) {
		memcpy(AT(char, object, row->at), &items, sizeof(items));
		*AT(size_t, object, row->n) = n;
	}
	return items;
}

static int read_item(struct podread *r, const struct apirow *row, const json_t *value, void *item)
{
	apirows_init(row->rows, item);
	if (!json_is_object(value))
		return r->error ? podread_fail(r, NULL, "is not an object") : 0;
	return apirows_read(r, value, row->rows, item);
}

static int read_list(struct podread *r, const struct apirow *row, const json_t *value, void *object)
{
	char *items;
	int e = check_list(r, row, value);

	if (e < 0)
		return e;
	items = make_array(r, row, json_array_size(value), row->size, object);
	if (!items)
		return -ENOMEM;
	podread_enter(r, row->key, 0);
	for (size_t i = 0; i < json_array_size(value) && e == 0; i++) {
		podread_enter(r, NULL, i);
		e = read_item(r, row, json_array_get(value, i), items + i * row->size);
		podread_leave(r);
	}
	podread_leave(r);
	return e;
}

static int read_texts(struct podread *r, const struct apirow *row, const json_t *value,
		      void *object)
{
	const char **items;
	int e = check_list(r, row, value);

	if (e < 0 || json_array_size(value) == 0)
		return e;
	items = make_array(r, row, json_array_size(value), sizeof(*items), object);
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(value) && e == 0; i++) {
		const json_t *item = json_array_get(value, i);

		if (!json_is_string(item))
			return podread_fail(r, row->key, "is not a list of strings");
		e = take_text(r, item, &items[i]);
	}
	return e;
}

static int read_int32s(struct podread *r, const struct apirow *row, const json_t *value,
		       void *object)
{
	int32_t *items;
	int e = check_list(r, row, value);

	if (e < 0)
		return e;
	items = make_array(r, row, json_array_size(value), sizeof(*items), object);
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(value); i++) {
		int64_t number;

		if (!read_whole(json_array_get(value, i), &number))
			return podread_fail(r, row->key, "has what is not a whole number");
		if (number < INT32_MIN || number > INT32_MAX)
			return podread_fail(r, row->key, "has a number that is out of range");
		items[i] = (int32_t)number;
	}
	return 0;
}

/* --- members ---------------------------------------------------------------------------------- */

static void mark_given(const struct apirow *row, void *object)
{
	if (row->state)
		*AT(uint32_t, object, row->state_at) = row->state;
	if (row->given)
		*AT(bool, object, row->given) = true;
	if (row->absent)
		*AT(bool, object, row->absent) = false;
}

/* What stands for a state does so whatever is in it. */
static void mark_unreadable(const struct apirow *row, void *object)
{
	if (row->state)
		mark_given(row, object);
	if (row->unreadable)
		*AT(bool, object, row->unreadable) = true;
}

/* After reading it: 1: it is given; 0: it is not, or unreadable; negative: what reading failed by. */
static int conclude(struct podread *r, const struct apirow *row, int e, void *object)
{
	if (e == 0)
		mark_given(row, object);
	if (e != -EINVAL || r->error)
		return e == 0 ? 1 : e;
	mark_unreadable(row, object);
	return 0;
}

static int read_row(struct podread *r, const struct apirow *row, const json_t *value, void *object)
{
	static const read_fn reads[] = {
		[API_PICKED] = read_nothing, [API_TEXT] = read_text,	 [API_BOOL] = read_bool,
		[API_TRI] = read_bool,	     [API_INT32] = read_integer, [API_INT64] = read_integer,
		[API_NUMBER] = read_number,  [API_TIME] = read_time,	 [API_WORD] = read_word,
		[API_OBJECT] = read_object,  [API_LIST] = read_list,	 [API_TEXTS] = read_texts,
		[API_INT32S] = read_int32s,
	};

	if (value)
		return conclude(r, row, reads[row->type](r, row, value, object), object);
	if (r->error && (row->flags & API_REQUIRED))
		return podread_fail(r, row->key, row->problem ? row->problem : "is missing");
	return 0;
}

int apirows_read(struct podread *r, const json_t *json, const struct apirow *rows, void *object)
{
	unsigned int which = r->error ? API_ONE : API_MANY;

	for (const struct apirow *row = rows; row->key; row++) {
		int e = 0;

		if (row->flags & which)
			e = read_row(r, row, apijson_get(json, row->key), object);
		if (e < 0)
			return e;
		if (e > 0 && (row->flags & API_ALONE))
			break;
	}
	return 0;
}

/* --- protobuf --------------------------------------------------------------------------------- */

#define FIELD(type, message, place) ((const type *)((const char *)(message) + (place)))

/* "container_id" is "containerID". */
static bool is_name_of(const char *field, const char *key)
{
	for (; *field; field++) {
		if (*field == '_')
			continue;
		if (*field != (*key >= 'A' && *key <= 'Z' ? *key - 'A' + 'a' : *key))
			return false;
		key++;
	}
	return !*key;
}

static const struct apirow *row_of(const ProtobufCFieldDescriptor *field, const struct apirow *rows)
{
	for (; rows->key; rows++) {
		if ((rows->flags & API_MANY) && is_name_of(field->name, rows->key))
			return rows;
	}
	return NULL;
}

static bool is_text(const ProtobufCBinaryData *bytes)
{
	const char *at = (const char *)bytes->data;
	uint32_t code;

	for (size_t left = bytes->len, n; left > 0; at += n, left -= n) {
		n = utf8_decode(at, left, &code);
		if (n == 0 || code == 0)
			return false;
	}
	return true;
}

/* What is text by now, of a message or a map. -EINVAL: unreadable. */
static int take_bytes(struct podread *r, const struct apirow *row, const ProtobufCBinaryData *bytes,
		      void *object)
{
	const char *text = "";

	if (bytes->len > 0)
		text = arena_strndup(r->arena, (const char *)bytes->data, bytes->len);
	if (!text)
		return -ENOMEM;
	if (row->type == API_TEXT)
		*AT(const char *, object, row->at) = text;
	if (row->type == API_TIME)
		return rfc3339_parse(text, AT(int64_t, object, row->at)) < 0 ? -EINVAL : 0;
	for (uint32_t i = 0; row->type == API_WORD && row->words[i]; i++) {
		if (strcmp(text, row->words[i]) == 0)
			*AT(uint32_t, object, row->at) = i + row->first;
	}
	return 0;
}

static int read_bytes(struct podread *r, const struct apirow *row, const ProtobufCBinaryData *bytes,
		      void *object)
{
	if (bytes->len > PODJSON_SCALAR_MAX)
		return -EINVAL;
	return is_text(bytes) ? take_bytes(r, row, bytes, object) : -EBADMSG;
}

static int count(struct podread *r)
{
	return ++r->values > PODJSON_VALUES_MAX ? -E2BIG : 0;
}

/* A map is a list of pairs. Those that cannot be read are left out: only a few keys count. */
static int read_pair(struct podread *r, const struct apirow *rows, const Kube__Pair *pair,
		     void *object)
{
	const struct apirow *row = apirows_find(rows, (const char *)pair->key.data, pair->key.len);
	int e = count(r);

	if (e < 0 || !row || pair->value.len > PODJSON_SCALAR_MAX || !is_text(&pair->value))
		return e;
	e = conclude(r, row, take_bytes(r, row, &pair->value, object), object);
	return e < 0 ? e : 0;
}

/* The elements of a list. */
static int read_messages(struct podread *r, const struct apirow *row,
			 const ProtobufCMessage *const *messages, size_t n, void *object)
{
	char *items;
	int e;

	if (n > PODJSON_VALUES_MAX - r->values)
		return -E2BIG;
	items = make_array(r, row, n, row->size, object);
	e = items ? 0 : -ENOMEM;
	for (size_t i = 0; e == 0 && i < n; i++) {
		apirows_init(row->rows, items + i * row->size);
		e = count(r);
		if (e == 0)
			e = apirows_read_proto(r, messages[i], row->rows, items + i * row->size);
	}
	return e;
}

static int read_repeated(struct podread *r, const struct apirow *row,
			 const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message,
			 void *object)
{
	size_t n = *FIELD(size_t, message, field->quantifier_offset);
	const void *messages = *FIELD(void *, message, field->offset);
	int e = 0;

	if (row->type == API_LIST)
		return read_messages(r, row, messages, n, object);
	for (size_t i = 0; e == 0 && i < n; i++)
		e = read_pair(r, row->rows, ((Kube__Pair *const *)messages)[i],
			      AT(char, object, row->at));
	return e;
}

static int read_seconds(const struct apirow *row, const Kube__Time *time, void *object)
{
	int64_t ns;

	if (__builtin_mul_overflow(time->seconds, (int64_t)NS_PER_S, &ns))
		return -EINVAL;
	*AT(int64_t, object, row->at) = ns;
	return 0;
}

static int read_message(struct podread *r, const struct apirow *row,
			const ProtobufCMessage *message, void *object)
{
	if (row->type == API_TIME)
		return read_seconds(row, (const Kube__Time *)message, object);
	return apirows_read_proto(r, message, row->rows, AT(char, object, row->at));
}

static int take_number(const struct apirow *row, int64_t number, void *object)
{
	if (row->type == API_INT32)
		*AT(int32_t, object, row->at) = (int32_t)number;
	else if (row->type == API_INT64)
		*AT(int64_t, object, row->at) = number;
	return 0;
}

/* A text that is empty is not given, and neither is a time without seconds: so Kubernetes writes
 * what is not set. An object of which only the presence counts is bytes. */
static bool is_given(const struct apirow *row, const ProtobufCFieldDescriptor *field,
		     const ProtobufCMessage *message)
{
	const ProtobufCMessage *const *sub = FIELD(ProtobufCMessage *const, message, field->offset);

	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return *FIELD(size_t, message, field->quantifier_offset) > 0;
	if (field->type == PROTOBUF_C_TYPE_MESSAGE)
		return *sub && (row->type != API_TIME || ((const Kube__Time *)*sub)->has_seconds);
	if (field->type == PROTOBUF_C_TYPE_BYTES && row->type != API_OBJECT)
		return FIELD(ProtobufCBinaryData, message, field->offset)->len > 0;
	return *FIELD(protobuf_c_boolean, message, field->quantifier_offset);
}

static int read_value(struct podread *r, const struct apirow *row,
		      const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message,
		      void *object)
{
	const void *at = FIELD(char, message, field->offset);

	if (field->label == PROTOBUF_C_LABEL_REPEATED)
		return read_repeated(r, row, field, message, object);
	switch (field->type) {
	case PROTOBUF_C_TYPE_MESSAGE:
		return read_message(r, row, *(const ProtobufCMessage *const *)at, object);
	case PROTOBUF_C_TYPE_BYTES:
		return row->type == API_OBJECT ? 0 : read_bytes(r, row, at, object);
	case PROTOBUF_C_TYPE_BOOL:
		*AT(bool, object, row->at) = *(const protobuf_c_boolean *)at;
		return 0;
	case PROTOBUF_C_TYPE_INT32:
		return take_number(row, *(const int32_t *)at, object);
	case PROTOBUF_C_TYPE_INT64:
		return take_number(row, *(const int64_t *)at, object);
	default:
		return 0;
	}
}

static int read_field(struct podread *r, const struct apirow *row,
		      const ProtobufCFieldDescriptor *field, const ProtobufCMessage *message,
		      void *object)
{
	int e;

	if (!is_given(row, field, message))
		return 0;
	e = count(r);
	if (e == 0)
		e = conclude(r, row, read_value(r, row, field, message, object), object);
	return e < 0 ? e : 0;
}

int apirows_read_proto(struct podread *r, const ProtobufCMessage *message,
		       const struct apirow *rows, void *object)
{
	int e = 0;

	for (unsigned int i = 0; e == 0 && i < message->descriptor->n_fields; i++) {
		const ProtobufCFieldDescriptor *field = &message->descriptor->fields[i];
		const ProtobufCMessage *const *sub =
			FIELD(ProtobufCMessage *const, message, field->offset);
		const struct apirow *row = row_of(field, rows);

		if (row)
			e = read_field(r, row, field, message, object);
		else if (strcmp(field->name, "common") == 0 && *sub)
			e = apirows_read_proto(r, *sub, rows, object);
	}
	return e;
}

/* --- writing ---------------------------------------------------------------------------------- */

#define FROM(type, object, place) (*FIELD(type, object, place))

static void write_time(struct buf *out, const char *key, int64_t wall_ns)
{
	char text[RFC3339_SIZE];
	char *fraction;

	if (wall_ns == 0)
		return;
	rfc3339_format(wall_ns, text);
	fraction = strchr(text, '.');
	if (fraction)
		memcpy(fraction, "Z", 2);
	jsonw_str(out, key, text);
}

static void write_object(struct buf *out, const struct apirow *row, const void *object)
{
	if (row->state && FROM(uint32_t, object, row->state_at) != row->state)
		return;
	jsonw_object(out, row->key);
	apirows_write(out, row->rows, FIELD(char, object, row->at));
	jsonw_object_end(out);
}

static void write_list(struct buf *out, const struct apirow *row, const void *object)
{
	const char *items = FROM(char *, object, row->at);
	size_t n = FROM(size_t, object, row->n);

	if (n == 0)
		return;
	jsonw_array(out, row->key);
	for (size_t i = 0; i < n; i++) {
		jsonw_object(out, NULL);
		apirows_write(out, row->rows, items + i * row->size);
		jsonw_object_end(out);
	}
	jsonw_array_end(out);
}

static void write_integer(struct buf *out, const struct apirow *row, int64_t number)
{
	if (number || (row->flags & API_ALWAYS))
		jsonw_i64(out, row->key, number);
}

static void write_row(struct buf *out, const struct apirow *row, const void *object)
{
	switch ((enum apirow_type)row->type) {
	case API_TEXT:
		if (*FROM(char *, object, row->at) || (row->flags & API_ALWAYS))
			jsonw_str(out, row->key, FROM(char *, object, row->at));
		return;
	case API_BOOL:
		jsonw_bool(out, row->key, FROM(bool, object, row->at));
		return;
	case API_TRI:
		if (FROM(uint32_t, object, row->at))
			jsonw_bool(out, row->key, FROM(uint32_t, object, row->at) == 2);
		return;
	case API_INT32:
		write_integer(out, row, FROM(int32_t, object, row->at));
		return;
	case API_INT64:
		write_integer(out, row, FROM(int64_t, object, row->at));
		return;
	case API_TIME:
		write_time(out, row->key, FROM(int64_t, object, row->at));
		return;
	case API_OBJECT:
		write_object(out, row, object);
		return;
	case API_LIST:
		write_list(out, row, object);
		return;
	default:
		return;
	}
}

void apirows_write(struct buf *out, const struct apirow *rows, const void *object)
{
	for (const struct apirow *row = rows; row->key; row++) {
		if (row->flags & API_WRITTEN)
			write_row(out, row, object);
	}
}

/* --- single values ---------------------------------------------------------------------------- */

const json_t *apijson_get(const json_t *object, const char *key)
{
	const json_t *value = json_object_get(object, key);

	return json_is_null(value) ? NULL : value;
}

uint32_t apijson_word(const json_t *value, const char *const *words)
{
	const char *text = json_string_value(value);

	for (uint32_t i = 0; text && words[i]; i++) {
		if (strcmp(text, words[i]) == 0)
			return i + 1;
	}
	return 0;
}
