// SPDX-License-Identifier: Apache-2.0
/* Writes and reads any object by its rows. */
#include "wire/json/members.h"

#include <errno.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/signame.h"
#include "base/time.h"
#include "core/stop/record.h"
#include "wire/json/writer.h"

#define NS_DECIMALS   9
/* As a time 146 years; the sum of two fits. */
#define NUMBER_MAX    (INT64_MAX / 2)
#define SECONDS_MAX   1000000000.0
#define AT(type, m)   (*(type *)((char *)object + (m)->at))
#define SEEN(type, m) (*(type const *)((const char *)object + (m)->at))

static uint64_t number_at(const void *object, size_t at, size_t size)
{
	const char *place = (const char *)object + at;

	return size == sizeof(uint64_t) ? *(const uint64_t *)place : *(const uint32_t *)place;
}

static void set_number(void *object, size_t at, size_t size, uint64_t value)
{
	char *place = (char *)object + at;

	if (size == sizeof(uint64_t))
		*(uint64_t *)place = value;
	else
		*(uint32_t *)place = (uint32_t)value;
}

/* --- writing ----------------------------------------------------------------------------------- */

static bool is_text(const struct member *m)
{
	return m->kind == MEMBER_TEXT || m->kind == MEMBER_CHARS;
}

/* The place of the number that none is one of. */
static size_t place_of_number(const struct member *m)
{
	return m->kind == MEMBER_OBJECT ? m->of : m->at;
}

static size_t size_of_number(const struct member *m)
{
	return m->kind == MEMBER_OBJECT ? sizeof(uint32_t) : m->size;
}

static bool is_null(const struct member *m, const void *object)
{
	if (m->known && *((const bool *)object + m->known - 1) == m->unknown)
		return true;
	return m->optional && !is_text(m) &&
	       number_at(object, place_of_number(m), size_of_number(m)) == m->none;
}

static void put_key(struct buf *out, const struct member *m)
{
	jsonw_key(out, m->key, m->len);
}

static void put_null(struct buf *out, const struct member *m)
{
	put_key(out, m);
	buf_add(out, "null", 4);
}

static void put_text(struct buf *out, const struct member *m, const char *text)
{
	if (!text || (m->optional && !*text)) {
		put_null(out, m);
		return;
	}
	put_key(out, m);
	jsonw_quote(out, text, strlen(text), JSONW_REPLACE);
}

static void put_bool(struct buf *out, const struct member *m, bool value)
{
	put_key(out, m);
	buf_adds(out, value ? "true" : "false");
}

static void put_uint(struct buf *out, const struct member *m, uint64_t value)
{
	put_key(out, m);
	buf_add_u64(out, value);
}

static int64_t int_at(const struct member *m, const void *object)
{
	return m->size == sizeof(int64_t) ? SEEN(int64_t, m) : SEEN(int32_t, m);
}

static void put_int(struct buf *out, const struct member *m, const void *object)
{
	put_key(out, m);
	buf_add_i64(out, int_at(m, object));
}

static void put_texts(struct buf *out, const struct member *m, const void *object)
{
	const char *const *texts = (const char *const *)((const char *)object + m->at);

	jsonw_array(out, m->key);
	for (unsigned int i = 0; i < m->n && texts[i]; i++)
		jsonw_str(out, NULL, texts[i]);
	jsonw_array_end(out);
}

static void put_bits(struct buf *out, const struct member *m, uint32_t bits)
{
	jsonw_array(out, m->key);
	for (unsigned int i = 0; i < m->words->n; i++)
		if (bits >> i & 1)
			jsonw_str(out, NULL, m->words->word(i));
	jsonw_array_end(out);
}

static void put_span(struct buf *out, const struct member *m, const void *object)
{
	uint64_t from = number_at(object, m->of, sizeof(from)), to = SEEN(uint64_t, m);

	if (from && to && to >= from)
		put_uint(out, m, to - from);
	else
		put_null(out, m);
}

static void put_counts(struct buf *out, const struct member *m, const void *object)
{
	for (unsigned int i = 0; i < m->words->n; i++)
		jsonw_u64(out, m->words->word(i),
			  number_at(object, m->at + (size_t)i * m->stride, sizeof(uint64_t)));
}

static const void *place_of(const struct member *m, const void *object)
{
	return m->pointed ? SEEN(void *, m) : (const char *)object + m->at;
}

/* Without a number of elements, one that begins with 0 ends them. */
static void put_list(struct buf *out, const struct member *m, const void *object)
{
	const char *place = place_of(m, object);
	size_t n = m->of ? number_at(object, m->of - 1u, sizeof(size_t)) : m->n;

	jsonw_array(out, m->key);
	for (size_t i = 0; i < n && (m->of || *(const uint32_t *)place); i++, place += m->stride)
		members_write_object(out, NULL, m->members, place);
	jsonw_array_end(out);
}

/* A member of more than one value, or of one that a function writes. */
static void put_values(struct buf *out, const struct member *m, const void *object)
{
	switch ((enum member_kind)m->kind) {
	case MEMBER_BITS:
		put_bits(out, m, SEEN(uint32_t, m));
		break;
	case MEMBER_TEXTS:
		put_texts(out, m, object);
		break;
	case MEMBER_COUNTS:
		put_counts(out, m, object);
		break;
	case MEMBER_OBJECT:
		put_key(out, m);
		buf_addc(out, '{');
		members_write(out, m->members, (const char *)object + m->at);
		buf_addc(out, '}');
		break;
	case MEMBER_INLINE:
		members_write(out, m->members, place_of(m, object));
		break;
	case MEMBER_LIST:
		put_list(out, m, object);
		break;
	case MEMBER_DERIVED:
		m->write(out, m, object);
		break;
	default:
		put_null(out, m);
	}
}

static void put_value(struct buf *out, const struct member *m, const void *object)
{
	char text[RFC3339_SIZE];

	switch ((enum member_kind)m->kind) {
	case MEMBER_TEXT:
		put_text(out, m, SEEN(char *, m));
		break;
	case MEMBER_CHARS:
		put_text(out, m, (const char *)object + m->at);
		break;
	case MEMBER_UINT:
		put_uint(out, m, number_at(object, m->at, m->size));
		break;
	case MEMBER_INT:
		put_int(out, m, object);
		break;
	case MEMBER_BOOL:
		put_bool(out, m, SEEN(bool, m));
		break;
	case MEMBER_TRI:
		put_bool(out, m, SEEN(enum record_tri, m) == TRI_TRUE);
		break;
	case MEMBER_WORD:
		put_text(out, m, m->words->word(SEEN(uint32_t, m)));
		break;
	case MEMBER_SIGNAL:
		put_text(out, m, signame_format(SEEN(uint32_t, m), text));
		break;
	case MEMBER_WALL:
		put_text(out, m, rfc3339_format(SEEN(int64_t, m), text));
		break;
	case MEMBER_SECONDS:
		jsonw_decimal(out, m->key, SEEN(uint64_t, m), NS_DECIMALS);
		break;
	case MEMBER_SPAN:
		put_span(out, m, object);
		break;
	default:
		put_values(out, m, object);
	}
}

void members_write(struct buf *out, const struct member *members, const void *object)
{
	for (const struct member *m = members; m->kind != MEMBER_END; m++) {
		bool there = !m->there || m->there(m, object);

		if (there && !is_null(m, object))
			put_value(out, m, object);
		else if (there || !m->omitted)
			put_null(out, m);
	}
}

void members_write_object(struct buf *out, const char *key, const struct member *members,
			  const void *object)
{
	if (!jsonw_object_if(out, key, object))
		return;
	members_write(out, members, object);
	jsonw_object_end(out);
}

/* --- other forms ------------------------------------------------------------------------------- */

void members_each(const struct member *members, const void *object, members_fn fn, void *userdata)
{
	for (const struct member *m = members; m->kind != MEMBER_END; m++) {
		bool is_object = m->kind == MEMBER_OBJECT || m->kind == MEMBER_INLINE;
		bool wanted = m->field || m->attribute;

		if (!(wanted || is_object) || (m->there && !m->there(m, object)) ||
		    is_null(m, object))
			continue;
		if (wanted)
			fn(userdata, m, object);
		if (is_object)
			members_each(m->members, place_of(m, object), fn, userdata);
	}
}

static void add_words(struct buf *out, const struct member *m, uint32_t bits)
{
	for (unsigned int i = 0; i < m->words->n; i++) {
		if (!(bits >> i & 1))
			continue;
		if (out->len)
			buf_addc(out, ',');
		buf_adds(out, m->words->word(i));
	}
}

const char *members_text(const struct member *m, const void *object, struct buf *room)
{
	char time[RFC3339_SIZE];

	buf_reset(room);
	switch ((enum member_kind)m->kind) {
	case MEMBER_TEXT:
		return SEEN(char *, m);
	case MEMBER_WORD:
		return m->words->word(SEEN(uint32_t, m));
	case MEMBER_BOOL:
		return SEEN(bool, m) ? "1" : "0";
	case MEMBER_TRI:
		return SEEN(enum record_tri, m) == TRI_TRUE ? "1" : "0";
	case MEMBER_UINT:
		buf_add_u64(room, number_at(object, m->at, m->size));
		break;
	case MEMBER_INT:
		buf_add_i64(room, int_at(m, object));
		break;
	case MEMBER_SPAN:
		buf_add_u64(room, SEEN(uint64_t, m) - number_at(object, m->of, sizeof(uint64_t)));
		break;
	case MEMBER_BITS:
		add_words(room, m, SEEN(uint32_t, m));
		break;
	case MEMBER_WALL:
		buf_adds(room, rfc3339_format(SEEN(int64_t, m), time));
		break;
	default:
		return NULL;
	}
	return buf_str(room);
}

/* --- reading ----------------------------------------------------------------------------------- */

void members_fail(struct members_reading *r, int error)
{
	if (!r->error || error == -ENOMEM || (error == -EPROTONOSUPPORT && r->error == -EBADMSG))
		r->error = error;
}

static uint64_t read_uint(struct members_reading *r, const json_t *value, uint64_t max)
{
	json_int_t n = json_integer_value(value);

	if (json_is_integer(value) && n >= 0 && (uint64_t)n <= max)
		return (uint64_t)n;
	members_fail(r, -EBADMSG);
	return 0;
}

static void read_int(struct members_reading *r, const json_t *value, const struct member *m,
		     void *object)
{
	json_int_t n = json_integer_value(value);
	bool wide = m->size == sizeof(int64_t);

	if (!json_is_integer(value) || (!wide && n != (int32_t)n))
		members_fail(r, -EBADMSG);
	else
		set_number(object, m->at, m->size, (uint64_t)n);
}

static uint64_t max_of(const struct member *m)
{
	if (m->max)
		return m->max;
	return m->size == sizeof(uint64_t) ? NUMBER_MAX : UINT32_MAX;
}

static const char *copy_text(struct members_reading *r, const json_t *value)
{
	const char *text = json_string_value(value), *copy;

	if (!text)
		return NULL;
	copy = arena_strndup(r->arena, text, json_string_length(value));
	if (!copy)
		members_fail(r, -ENOMEM);
	return copy;
}

static void read_chars(const json_t *value, const struct member *m, void *object)
{
	const char *text = json_string_value(value);
	size_t len = text ? strnlen(text, m->size - 1u) : 0;

	memcpy((char *)object + m->at, text ? text : "", len);
	((char *)object)[m->at + len] = '\0';
}

static bool read_word(struct members_reading *r, const json_t *value, const struct member *m,
		      uint32_t *ret)
{
	const char *text = json_string_value(value);

	for (unsigned int i = 0; text && i < m->words->n; i++) {
		const char *word = m->words->word(i);

		if (word && strcmp(word, text) == 0) {
			*ret = i;
			return true;
		}
	}
	members_fail(r, text ? -EPROTONOSUPPORT : -EBADMSG);
	return false;
}

static uint32_t read_bits(struct members_reading *r, const json_t *value, const struct member *m)
{
	uint32_t bits = 0, bit;
	const json_t *one;
	size_t i;

	json_array_foreach(value, i, one)
		if (read_word(r, one, m, &bit))
			bits |= UINT32_C(1) << bit;
	return bits;
}

static void read_texts(struct members_reading *r, const json_t *value, const struct member *m,
		       void *object)
{
	const char **texts = &AT(const char *, m);
	const json_t *one;
	size_t i;

	json_array_foreach(value, i, one)
		if (i < m->n)
			texts[i] = copy_text(r, one);
}

static void read_wall(struct members_reading *r, const json_t *value, const struct member *m,
		      void *object)
{
	const char *text = json_string_value(value);

	if (!text || rfc3339_parse(text, &AT(int64_t, m)) < 0)
		members_fail(r, -EBADMSG);
}

static uint64_t read_seconds(struct members_reading *r, const json_t *value)
{
	double seconds = json_number_value(value);

	if (json_is_number(value) && seconds >= 0 && seconds <= SECONDS_MAX)
		return (uint64_t)(seconds * NS_PER_S + 0.5);
	members_fail(r, -EBADMSG);
	return 0;
}

/* Reads a span: one of its two moments has been read, and gives the other. */
static void read_span(struct members_reading *r, const json_t *value, const struct member *m,
		      void *object)
{
	uint64_t span = read_uint(r, value, NUMBER_MAX);
	uint64_t from = number_at(object, m->of, sizeof(from)), to = AT(uint64_t, m);

	if (from && !to)
		AT(uint64_t, m) = from + span;
	else if (!from && to > span)
		set_number(object, m->of, sizeof(from), to - span);
}

static void read_counts(struct members_reading *r, const json_t *json, const struct member *m,
			void *object)
{
	for (unsigned int i = 0; i < m->words->n; i++) {
		const json_t *value = json_object_get(json, m->words->word(i));

		if (value && !json_is_null(value))
			set_number(object, m->at + (size_t)i * m->stride, sizeof(uint64_t),
				   read_uint(r, value, NUMBER_MAX));
	}
}

/* What the place points to is made if it is not there. */
static void *make_place(struct members_reading *r, const struct member *m, void *object, size_t n)
{
	if (!m->pointed)
		return (char *)object + m->at;
	if (!AT(void *, m))
		AT(void *, m) = arena_array(r->arena, n, m->stride);
	if (!AT(void *, m))
		members_fail(r, -ENOMEM);
	return AT(void *, m);
}

static void read_list(struct members_reading *r, const json_t *value, const struct member *m,
		      void *object)
{
	size_t n = json_array_size(value) < m->n ? json_array_size(value) : m->n, got = 0, i;
	char *place = make_place(r, m, object, n);
	const json_t *one;

	if (!place)
		return;
	json_array_foreach(value, i, one)
		if (got < n && json_is_object(one))
			members_read(r, one, m->members, place + m->stride * got++);
	if (m->of)
		set_number(object, m->of - 1u, sizeof(size_t), got);
}

static void read_values(struct members_reading *r, const json_t *value, const struct member *m,
			void *object)
{
	int error;

	switch ((enum member_kind)m->kind) {
	case MEMBER_BITS:
		AT(uint32_t, m) = read_bits(r, value, m);
		break;
	case MEMBER_TEXTS:
		read_texts(r, value, m, object);
		break;
	case MEMBER_OBJECT:
		members_read(r, value, m->members, (char *)object + m->at);
		break;
	case MEMBER_LIST:
		read_list(r, value, m, object);
		break;
	case MEMBER_DERIVED:
		error = m->read ? m->read(m, value, object) : 0;
		if (error < 0)
			members_fail(r, error);
		break;
	default:
		break;
	}
}

static void read_value(struct members_reading *r, const json_t *value, const struct member *m,
		       void *object)
{
	uint32_t word;

	switch ((enum member_kind)m->kind) {
	case MEMBER_TEXT:
		AT(const char *, m) = copy_text(r, value);
		break;
	case MEMBER_CHARS:
		read_chars(value, m, object);
		break;
	case MEMBER_UINT:
		set_number(object, m->at, m->size, read_uint(r, value, max_of(m)));
		break;
	case MEMBER_INT:
		read_int(r, value, m, object);
		break;
	case MEMBER_BOOL:
		AT(bool, m) = json_is_true(value);
		break;
	case MEMBER_TRI:
		if (json_is_boolean(value))
			AT(enum record_tri, m) = json_is_true(value) ? TRI_TRUE : TRI_FALSE;
		break;
	case MEMBER_WORD:
		if (read_word(r, value, m, &word))
			AT(uint32_t, m) = word;
		break;
	case MEMBER_WALL:
		read_wall(r, value, m, object);
		break;
	case MEMBER_SECONDS:
		AT(uint64_t, m) = read_seconds(r, value);
		break;
	case MEMBER_SPAN:
		read_span(r, value, m, object);
		break;
	default:
		read_values(r, value, m, object);
	}
}

/* Those that stand in the object itself. */
static void read_inline(struct members_reading *r, const json_t *json, const struct member *m,
			void *object)
{
	void *place;

	if (m->kind == MEMBER_COUNTS) {
		read_counts(r, json, m, object);
		return;
	}
	place = make_place(r, m, object, 1);
	if (place)
		members_read(r, json, m->members, place);
}

/* Whether the value says that the bool of its row is true, too. */
static bool makes_known(const struct member *m, const json_t *value)
{
	return m->known && (m->kind == MEMBER_OBJECT || m->kind == MEMBER_INT ||
			    (m->kind == MEMBER_BOOL && json_is_boolean(value)) ||
			    (m->kind == MEMBER_UINT && !m->optional));
}

static void read_null(const json_t *value, const struct member *m, void *object)
{
	if (m->unknown)
		*((bool *)object + m->known - 1) = value;
	else if (m->none)
		set_number(object, place_of_number(m), size_of_number(m), m->none);
}

static void read_member(struct members_reading *r, const json_t *value, const struct member *m,
			void *object)
{
	bool is_object = m->kind == MEMBER_OBJECT;
	int error;

	if (!value || json_is_null(value) || (is_object && !json_is_object(value))) {
		read_null(value, m, object);
		if (m->required)
			members_fail(r, -EBADMSG);
	} else {
		read_value(r, value, m, object);
		if (makes_known(m, value))
			*((bool *)object + m->known - 1) = !m->unknown;
	}
	error = is_object && m->read ? m->read(m, value, object) : 0;
	if (error < 0)
		members_fail(r, error);
}

void members_read(struct members_reading *r, const json_t *json, const struct member *members,
		  void *object)
{
	for (const struct member *m = members; m->kind != MEMBER_END; m++) {
		if (m->kind == MEMBER_COUNTS || m->kind == MEMBER_INLINE)
			read_inline(r, json, m, object);
		else
			read_member(r, json_object_get(json, m->key), m, object);
	}
}

/* --- copies ------------------------------------------------------------------------------------ */

static int copy_texts(struct arena *arena, const char **texts, size_t n)
{
	for (size_t i = 0; i < n && texts[i]; i++) {
		texts[i] = arena_share(arena, texts[i]);
		if (!texts[i])
			return -ENOMEM;
	}
	return 0;
}

/* Objects in a row, which may be elsewhere. */
static int copy_objects(struct arena *arena, const struct member *m, void *object)
{
	size_t n = m->kind != MEMBER_LIST ? 1
		   : m->of		  ? number_at(object, m->of - 1u, sizeof(size_t))
					  : m->n;
	char *place = (char *)place_of(m, object);
	int r = 0;

	if (m->pointed) {
		AT(void *, m) = arena_array(arena, n, m->stride);
		if (!AT(void *, m))
			return -ENOMEM;
		place = n ? memcpy(AT(void *, m), place, n * m->stride) : place;
	}
	for (size_t i = 0; r == 0 && i < n; i++)
		r = members_copy(arena, m->members, place + i * m->stride);
	return r;
}

int members_copy(struct arena *arena, const struct member *members, void *object)
{
	int r = 0;

	for (const struct member *m = members; r == 0 && m->kind != MEMBER_END; m++) {
		if (m->kind == MEMBER_TEXT)
			r = copy_texts(arena, &AT(const char *, m), 1);
		else if (m->kind == MEMBER_TEXTS)
			r = copy_texts(arena, &AT(const char *, m), m->n);
		else if (m->members)
			r = copy_objects(arena, m, object);
	}
	return r;
}
