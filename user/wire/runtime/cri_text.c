// SPDX-License-Identifier: Apache-2.0
/* What is left of a runtime's texts: whole names or none. */
#include <string.h>

#include "base/utf8.h"
#include "wire/runtime/cri_priv.h"

/* How many of the bytes are whole characters of UTF-8 other than NUL, up to max bytes. */
static size_t text_span(ProtobufCBinaryData text, size_t max, bool *ret_bad)
{
	const char *bytes = (const char *)text.data;
	size_t at = 0, n;
	uint32_t code;

	*ret_bad = false;
	while (at < text.len) {
		n = utf8_decode(bytes + at, text.len - at, &code);
		if (n == 0 || code == 0) {
			*ret_bad = true;
			break;
		}
		if (n > max - at)
			break;
		at += n;
	}
	return at;
}

bool cri_text_cut(ProtobufCBinaryData text, char *ret, size_t size)
{
	bool bad;
	size_t len = text_span(text, size - 1, &bad);

	if (bad)
		len = 0;
	if (len > 0)
		memcpy(ret, text.data, len);
	ret[len] = '\0';
	return !bad;
}

bool cri_text_take(ProtobufCBinaryData text, char *ret, size_t size)
{
	if (text.len >= size) {
		ret[0] = '\0';
		return false;
	}
	return cri_text_cut(text, ret, size);
}

static bool is_digit(uint8_t c)
{
	return c >= '0' && c <= '9';
}

static bool is_letter(uint8_t c)
{
	c |= 0x20;
	return c >= 'a' && c <= 'z';
}

static bool is_hex(uint8_t c)
{
	return is_digit(c) || (is_letter(c) && (c | 0x20) <= 'f');
}

bool cri_id_take(ProtobufCBinaryData text, char ret[static META_ID_MAX])
{
	ret[0] = '\0';
	if (text.len == 0 || text.len >= META_ID_MAX)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		uint8_t c = text.data[i];

		if (!is_digit(c) && !is_letter(c) && c != '_' && c != '.' && c != '-')
			return false;
	}
	memcpy(ret, text.data, text.len);
	ret[text.len] = '\0';
	return true;
}

static bool is_uid(ProtobufCBinaryData text)
{
	static const char shape[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";
	bool dashes = text.len == sizeof(shape) - 1;

	if (!dashes && text.len != 32)
		return false;
	for (size_t i = 0; i < text.len; i++) {
		if (dashes && shape[i] == '-' ? text.data[i] != '-' : !is_hex(text.data[i]))
			return false;
	}
	return true;
}

bool cri_uid_take(ProtobufCBinaryData text, char ret[static META_UID_MAX])
{
	ret[0] = '\0';
	if (text.len == 0)
		return true;
	if (!is_uid(text))
		return false;
	for (size_t i = 0; i < text.len; i++)
		ret[i] = (char)(is_letter(text.data[i]) ? text.data[i] | 0x20 : text.data[i]);
	ret[text.len] = '\0';
	return true;
}

ProtobufCBinaryData cri_map_find(struct cri_map map, const char *key, bool *ret_found)
{
	size_t len = strlen(key);

	for (size_t i = map.n; i-- > 0;) {
		const Cri__Pair *pair = map.pairs[i];

		if (pair->key.len != len || memcmp(pair->key.data, key, len) != 0)
			continue;
		if (ret_found)
			*ret_found = true;
		return pair->value;
	}
	if (ret_found)
		*ret_found = false;
	return (ProtobufCBinaryData){};
}
