// SPDX-License-Identifier: Apache-2.0
/* Writes and reads recordings: a header line with the engine's settings, then one line for each
 * observation. */
#include "wire/recording/recording.h"

#include <endian.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/utf8.h"
#include "wire/json/writer.h"

#define HEADER_TYPE  "graced-recording"
#define HEADER_BEGIN "{\"type\":\"" HEADER_TYPE "\""

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
	json_auto_t *header = NULL;
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

/* Reads the lines of a recording: one pass over the bytes, straight into the observation. */

#define LITERAL(text) (text), sizeof(text) - 1

/* Inlined by force: as long as its address is not taken, the cursor stays in registers, which makes
 * this twice as fast. What is not HOT works on a copy. */
#define HOT static inline __attribute__((always_inline))

/* end is the line's last brace: a single byte may be looked at without asking whether it is there,
 * as what stops at a brace stops in time. */
struct cursor {
	const char *at;
	const char *end;
};

static bool is_space(char c)
{
	return c == ' ' || c == '\t' || c == '\r' || c == '\n';
}

HOT void skip_space(struct cursor *in)
{
	while ((unsigned char)*in->at <= ' ' && is_space(*in->at))
		in->at++;
}

HOT bool take_char(struct cursor *in, char c)
{
	if (*in->at != c)
		return false;
	in->at++;
	return true;
}

HOT bool take(struct cursor *in, const char *text, size_t len)
{
	if ((size_t)(in->end - in->at) < len || memcmp(in->at, text, len) != 0)
		return false;
	in->at += len;
	return true;
}

static uint64_t load8(const char *at)
{
	uint64_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

static uint32_t load4(const char *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* take() for what happens several times for every member: a key, of at least 4 bytes. The ends are
 * compared first because many keys begin alike. */
HOT bool take_text(struct cursor *in, const char *text, size_t len)
{
	const char *at = in->at;

	if ((size_t)(in->end - at) < len)
		return false;
	if (len < 8) {
		if (load4(at) != load4(text) || load4(at + len - 4) != load4(text + len - 4))
			return false;
	} else {
		if (load8(at + len - 8) != load8(text + len - 8))
			return false;
		for (size_t i = 0; i + 8 < len; i += 8) {
			if (load8(at + i) != load8(text + i))
				return false;
		}
	}
	in->at = at + len;
	return true;
}

#define EACH_BYTE(value) (0x0101010101010101u * (value))

/* The next eight bytes, the first one lowest; zeros stand for what is behind the end. */
HOT uint64_t peek8(const char *at, const char *end)
{
	uint64_t word = 0;

	if (end - at >= 8)
		return le64toh(load8(at));
	memcpy(&word, at, (size_t)(end - at));
	return le64toh(word);
}

/* The value of eight digits, the first one in the lowest byte: neighbours are joined to numbers of
 * two, four, eight digits. */
HOT uint64_t join_digits(uint64_t digits)
{
	digits = (digits * 10 + (digits >> 8)) & 0x00ff00ff00ff00ffu;
	digits = (digits * 100 + (digits >> 16)) & 0x0000ffff0000ffffu;
	return (digits * 10000 + (digits >> 32)) & 0xffffffffu;
}

/* JSON's integers: no sign, no leading zero, no fraction, no exponent. */
HOT bool take_digits(struct cursor *in, uint64_t *ret)
{
	static const uint32_t powers[] = {1,	  10,	   100,	     1000,     10000,
					  100000, 1000000, 10000000, 100000000};
	const char *at = in->at;
	uint64_t value = 0;
	ptrdiff_t digits;
	unsigned int n;

	do {
		uint64_t word = peek8(at, in->end) ^ EACH_BYTE('0');
		/* The high bit of each byte that is no digit; what carries goes to later bytes. */
		uint64_t other = (word | (word + EACH_BYTE(0x76))) & EACH_BYTE(0x80);

		n = other ? (unsigned int)__builtin_ctzll(other) / 8 : 8;
		if (n == 0)
			break;
		value = value * powers[n] + join_digits(word << (64 - 8 * n));
		at += n;
	} while (n == 8 && at - in->at <= 16);
	digits = at - in->at;
	if (digits == 0 || digits > 20 || (*in->at == '0' && digits > 1))
		return false;
	/* Numbers of 20 digits that begin with 1 wrap around at most once, and end up below
	 * 10^19. */
	if (digits == 20 && (*in->at != '1' || value < 10000000000000000000u))
		return false;
	in->at = at;
	*ret = value;
	return true;
}

HOT bool take_uint(struct cursor *in, void *member, uint16_t size)
{
	uint64_t value;
	uint32_t narrow;

	if (!take_digits(in, &value))
		return false;
	if (size == sizeof(value)) {
		memcpy(member, &value, sizeof(value));
		return true;
	}
	narrow = (uint32_t)value;
	memcpy(member, &narrow, sizeof(narrow));
	return narrow == value;
}

HOT bool take_int(struct cursor *in, void *member, uint16_t size)
{
	bool negative = take_char(in, '-');
	uint64_t most = size == sizeof(int64_t) ? INT64_MAX : INT32_MAX;
	uint64_t value;
	uint32_t narrow;

	if (!take_digits(in, &value) || value > most + negative || (negative && value == 0))
		return false;
	if (negative)
		value = 0 - value;
	if (size == sizeof(value)) {
		memcpy(member, &value, sizeof(value));
		return true;
	}
	narrow = (uint32_t)value;
	memcpy(member, &narrow, sizeof(narrow));
	return true;
}

HOT bool take_bool(struct cursor *in, bool *ret)
{
	*ret = take(in, LITERAL("true"));
	return *ret || take(in, LITERAL("false"));
}

static bool take_hex4(struct cursor *in, uint32_t *ret)
{
	uint32_t value = 0;

	if (in->end - in->at < 4)
		return false;
	for (int i = 0; i < 4; i++) {
		char c = *in->at++;

		value <<= 4;
		if (c >= '0' && c <= '9')
			value |= (uint32_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value |= (uint32_t)(c - 'a' + 10);
		else if (c >= 'A' && c <= 'F')
			value |= (uint32_t)(c - 'A' + 10);
		else
			return false;
	}
	*ret = value;
	return true;
}

/* What follows "\u". Returns how many bytes it stands for, 0 for what stands for none: a NUL, a
 * surrogate without its other half that is no byte either. */
static size_t take_unicode(struct cursor *in, char ret[static 4])
{
	uint32_t code, low;

	if (!take_hex4(in, &code) || code == 0)
		return 0;
	if (code >= 0xdc00 && code <= 0xdfff) {
		ret[0] = (char)(code - 0xdc00);
		return code >= 0xdc80 && code <= 0xdcff;
	}
	if (code >= 0xd800 && code <= 0xdbff) {
		if (!take(in, LITERAL("\\u")) || !take_hex4(in, &low) || low < 0xdc00 ||
		    low > 0xdfff)
			return 0;
		code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
	}
	return utf8_encode(code, ret);
}

static size_t take_escape(struct cursor *in, char ret[static 4])
{
	static const char letters[] = "\"\\/bfnrt";
	static const char bytes[] = "\"\\/\b\f\n\r\t";
	const char *letter;

	in->at++;
	if (take_char(in, 'u'))
		return take_unicode(in, ret);
	if (in->at >= in->end)
		return 0;
	letter = memchr(letters, *in->at++, sizeof(letters) - 1);
	if (!letter)
		return 0;
	ret[0] = bytes[letter - letters];
	return 1;
}

/* The bytes of one character that is not plain: an escape or UTF-8. 0 for what a string must not
 * hold, controls and broken UTF-8 among them. */
static size_t take_special(struct cursor *in, char ret[static 4])
{
	uint32_t code;
	size_t len;

	if (*in->at == '\\')
		return take_escape(in, ret);
	len = utf8_decode(in->at, (size_t)(in->end - in->at), &code);
	if (len == 0 || code < 0x20)
		return 0;
	memcpy(ret, in->at, len);
	in->at += len;
	return len;
}

/* Copies what is plain, in words as long as they fit: up to seven zeros follow it. */
HOT char *take_plain(struct cursor *in, char *ret, const char *last)
{
	unsigned int n;
	uint64_t word;

	do {
		word = peek8(in->at, in->end);
		n = utf8_count_plain(word);
		if (n < 8)
			word &= (1ull << 8 * n) - 1;
		if (last - ret >= 7 && last - ret >= n) {
			word = htole64(word);
			memcpy(ret, &word, sizeof(word));
		} else {
			n = n < last - ret ? n : (unsigned int)(last - ret);
			memcpy(ret, in->at, n);
		}
		in->at += n;
		ret += n;
	} while (n == 8);
	return ret;
}

/* Reads a string whose bytes and NUL fit into size. */
HOT bool take_string(struct cursor *in, char *ret, size_t size)
{
	const char *last = ret + size - 1;

	if (!take_char(in, '"'))
		return false;
	for (;;) {
		struct cursor rest;
		char bytes[4];
		size_t len;

		ret = take_plain(in, ret, last);
		if (take_char(in, '"'))
			break;
		if (in->at == in->end || utf8_count_plain((unsigned char)*in->at))
			return false;
		rest = *in;
		len = take_special(&rest, bytes);
		if (len == 0 || len > (size_t)(last - ret))
			return false;
		*in = rest;
		memcpy(ret, bytes, len);
		ret += len;
	}
	*ret = '\0';
	return true;
}

HOT bool take_value(struct cursor *in, const struct rec_field *field, char *member)
{
	switch ((enum rec_kind)field->kind) {
	case REC_UINT:
		return take_uint(in, member, field->size);
	case REC_INT:
		return take_int(in, member, field->size);
	case REC_BOOL:
		return take_bool(in, (bool *)member);
	case REC_STRING:
		return take_string(in, member, field->size);
	}
	return false;
}

/* Returns the index of the field whose key stands next, count for none. In a line written by us the
 * keys stand in the table's order, so that the search begins behind the last one. */
HOT unsigned int take_key(struct cursor *in, const struct rec_layout *layout, unsigned int from)
{
	for (unsigned int n = 0; n < layout->count; n++) {
		unsigned int i = from + n < layout->count ? from + n : from + n - layout->count;

		if (take_text(in, layout->fields[i].key, layout->fields[i].key_len))
			return i;
	}
	return layout->count;
}

/* Reads what stands between "at_ns" and the closing brace. */
HOT bool take_members(struct cursor *in, const struct rec_layout *layout, struct obs *ret)
{
	uint64_t seen[REC_FIELDS_MAX / 64] = {};
	unsigned int i = 0;

	for (skip_space(in); take_char(in, ','); skip_space(in)) {
		const struct rec_field *field;

		skip_space(in);
		i = take_key(in, layout, i);
		if (i == layout->count || seen[i / 64] >> i % 64 & 1)
			return false;
		seen[i / 64] |= 1ull << i % 64;
		skip_space(in);
		field = &layout->fields[i++];
		if (!take_value(in, field, (char *)ret + field->offset))
			return false;
	}
	return true;
}

/* Reads `{"type":"<name>"`; OBS_NONE for anything else. */
HOT enum obs_type take_type(struct cursor *in)
{
	skip_space(in);
	if (!take_char(in, '{'))
		return OBS_NONE;
	skip_space(in);
	if (!take(in, LITERAL("\"type\":")))
		return OBS_NONE;
	skip_space(in);
	for (int type = OBS_NONE + 1; type < OBS_TYPE_COUNT; type++) {
		const struct rec_layout *layout = &rec_layouts[type];

		if (take_text(in, layout->name, layout->name_len))
			return (enum obs_type)type;
	}
	return OBS_NONE;
}

HOT bool take_time(struct cursor *in, uint64_t *ret)
{
	skip_space(in);
	if (!take_char(in, ','))
		return false;
	skip_space(in);
	if (!take(in, LITERAL("\"at_ns\":")))
		return false;
	skip_space(in);
	return take_digits(in, ret);
}

int rec_read_line(const char *line, size_t len, struct obs *ret)
{
	struct cursor in = {line, line + len};
	const struct rec_layout *layout;
	uint64_t at_ns;
	enum obs_type type;

	while (in.end > line && is_space(in.end[-1]))
		in.end--;
	if (in.end == line || *--in.end != '}')
		return -EBADMSG;
	type = take_type(&in);
	layout = rec_layout(type);
	if (!layout || !take_time(&in, &at_ns))
		return -EBADMSG;
	ret->type = type;
	ret->at_ns = at_ns;
	memset((char *)ret + layout->blank_offset, 0, layout->blank_size);
	if (!take_members(&in, layout, ret))
		return -EBADMSG;
	return in.at == in.end ? 0 : -EBADMSG;
}

/* Writes the engine's settings into a recording's header, and reads them back. */

static void write_list(struct buf *out, const char *name, const char *const *list)
{
	jsonw_array(out, name);
	for (; list && *list; list++)
		jsonw_str(out, NULL, *list);
	jsonw_array_end(out);
}

int rec_options_write(struct buf *out, const struct engine_config *config)
{
	if (out->len < 2 || memcmp(out->data + out->len - 2, "}\n", 2) != 0)
		return -EINVAL;
	buf_truncate(out, out->len - 2);
	jsonw_str(out, "scope", engine_scope_name(config->scope));
	jsonw_u64(out, "assumed_grace_ns", config->assumed_grace_ns);
	jsonw_u64(out, "sources", config->sources);
	jsonw_u64(out, "name_wait_ns", config->name_wait_ns);
	write_list(out, "nested_nodes", config->nested_nodes);
	write_list(out, "container_roots", config->container_roots);
	write_list(out, "helpers", config->helpers);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}

static void read_scope(const json_t *header, struct rec_options *ret)
{
	const char *name = json_string_value(json_object_get(header, "scope"));
	int scope = name ? words_find(&words_engine_scope, name) : -1;

	ret->engine.scope = scope < 0 ? SCOPE_CONTAINERS : (enum engine_scope)scope;
}

static void read_list(const json_t *header, const char *name, char **ret, size_t max)
{
	const json_t *list = json_object_get(header, name);
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list) && n < max; i++) {
		const char *path = json_string_value(json_array_get(list, i));

		ret[n] = path ? strdup(path) : NULL;
		n += ret[n] != NULL;
	}
}

int rec_options_read(const char *line, size_t len, struct rec_options *ret)
{
	json_auto_t *header = json_loadb(line, len, 0, NULL);
	json_int_t grace, wait;

	memset(ret, 0, sizeof(*ret));
	ret->engine.scope = SCOPE_CONTAINERS;
	ret->engine.nested_nodes = (const char *const *)ret->nested;
	ret->engine.container_roots = (const char *const *)ret->roots;
	ret->engine.helpers = (const char *const *)ret->helpers;
	if (!json_is_object(header))
		return -EBADMSG;
	grace = json_integer_value(json_object_get(header, "assumed_grace_ns"));
	ret->engine.assumed_grace_ns = grace > 0 ? (uint64_t)grace : 0;
	ret->engine.sources = (uint32_t)json_integer_value(json_object_get(header, "sources"));
	wait = json_integer_value(json_object_get(header, "name_wait_ns"));
	ret->engine.name_wait_ns = wait > 0 ? (uint64_t)wait : 0;
	ret->version = json_integer_value(json_object_get(header, "version"));
	ret->abi = json_integer_value(json_object_get(header, "abi"));
	read_scope(header, ret);
	read_list(header, "nested_nodes", ret->nested, REC_OPTIONS_NESTED_MAX);
	read_list(header, "container_roots", ret->roots, REC_OPTIONS_ROOTS_MAX);
	read_list(header, "helpers", ret->helpers, REC_OPTIONS_HELPERS_MAX);
	return 0;
}

static void free_list(char **list)
{
	for (; *list; list++) {
		free(*list);
		*list = NULL;
	}
}

void rec_options_done(struct rec_options *options)
{
	free_list(options->nested);
	free_list(options->roots);
	free_list(options->helpers);
}
