// SPDX-License-Identifier: Apache-2.0
/* Reads what comes from the environment and from a peer; neither is trusted. */
#include "wire/account/otlp_http.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/cleanup.h"
#include "base/utf8.h"

#define TRACES "v1/traces"

void otlphttp_add_url(struct buf *out, const char *endpoint)
{
	const char *host = strstr(endpoint, "://"), *rest;

	buf_adds(out, endpoint);
	rest = host ? host + 3 + strcspn(host + 3, "/?#") : "?";
	if (!*rest)
		buf_adds(out, "/" TRACES);
	else if (strcmp(rest, "/") == 0)
		buf_adds(out, TRACES);
}

/* --- headers --------------------------------------------------------------------------------- */

/* RFC 9110, section 5.6.2. */
static bool is_token(const char *text, size_t len)
{
	static const char others[] = "!#$%&'*+-.^_`|~";

	for (size_t i = 0; i < len; i++)
		if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'A' && text[i] <= 'Z') ||
		      (text[i] >= 'a' && text[i] <= 'z') || (text[i] && strchr(others, text[i]))))
			return false;
	return len > 0;
}

static bool is_name(const char *text, size_t len, const char *name)
{
	return strlen(name) == len && strncasecmp(text, name, len) == 0;
}

/* What the request says of itself. */
static bool is_ours(const char *text, size_t len)
{
	static const char *const names[] = {
		"content-type", "content-length", "content-encoding", "transfer-encoding", "host",
		"connection",	"expect"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (is_name(text, len, names[i]))
			return true;
	return false;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Decodes in place of ret, which has room for len bytes. Returns how many; -EINVAL. */
static int decode(const char *text, size_t len, char *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int high = 0, low = 0;
		char c = text[i];

		if (c == '%') {
			high = i + 2 < len ? hex_digit(text[i + 1]) : -1;
			low = i + 2 < len ? hex_digit(text[i + 2]) : -1;
			c = (char)(high * 16 + low);
			i += 2;
		}
		if (high < 0 || low < 0 || (unsigned char)c < 0x20 || c == 0x7f)
			return -EINVAL;
		ret[n++] = c;
	}
	return (int)n;
}

static void trim(const char **at, size_t *len)
{
	while (*len && (**at == ' ' || **at == '\t')) {
		++*at;
		--*len;
	}
	while (*len && ((*at)[*len - 1] == ' ' || (*at)[*len - 1] == '\t'))
		--*len;
}

/* One "name=value"; *used counts the bytes of ret->text. */
static int read_header(const char *at, size_t len, struct otlphttp_headers *ret, size_t *used)
{
	const char *equals = memchr(at, '=', len), *value;
	size_t name_len, value_len;
	char *to = ret->text + *used;
	int n;

	if (!equals)
		return -EINVAL;
	name_len = (size_t)(equals - at);
	value = equals + 1;
	value_len = len - name_len - 1;
	trim(&at, &name_len);
	trim(&value, &value_len);
	if (!is_token(at, name_len))
		return -EINVAL;
	if (is_ours(at, name_len))
		return 0;
	if (ret->n == OTLPHTTP_HEADERS_MAX || name_len + value_len + 4 > sizeof(ret->text) - *used)
		return -E2BIG;
	memcpy(to, at, name_len);
	memcpy(to + name_len, ": ", 2);
	n = decode(value, value_len, to + name_len + 2);
	if (n < 0)
		return n;
	to[name_len + 2 + (size_t)n] = '\0';
	*used += name_len + 3 + (size_t)n;
	ret->secret |= is_name(at, name_len, "authorization");
	ret->list[ret->n++] = to;
	return 0;
}

int otlphttp_read_headers(const char *text, struct otlphttp_headers *ret)
{
	size_t used = 0;
	int r = 0;

	ret->n = 0;
	ret->secret = false;
	while (*text && r == 0) {
		size_t len = strcspn(text, ",");

		if (strspn(text, " \t") < len)
			r = read_header(text, len, ret, &used);
		text += len + (text[len] == ',');
	}
	ret->list[ret->n] = NULL;
	return r;
}

/* --- answers --------------------------------------------------------------------------------- */

static bool is_temporary(long status)
{
	return status == 429 || status == 502 || status == 503 || status == 504;
}

/* Adds the text of the member, cut; nothing where it has none. */
static void add_message(struct buf *out, const char *before, const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));
	size_t len = text ? strlen(text) : 0;

	if (!len)
		return;
	buf_adds(out, before);
	utf8_add_visible(out, text, utf8_fit(text, len, OTLPHTTP_TEXT_MAX));
}

/* int64 is a string in this JSON, and read as a number, too. */
static uint64_t count_of(const json_t *object, const char *key)
{
	const json_t *member = json_object_get(object, key);
	const char *text = json_string_value(member);
	char *end;
	long long value = text ? strtoll(text, &end, 10) : json_integer_value(member);

	if (text && (*end || end == text))
		return 0;
	return value > 0 ? (uint64_t)value : 0;
}

static void set_text(struct otlphttp_answer *answer, const struct buf *text)
{
	snprintf(answer->text, sizeof(answer->text), "%s", buf_str(text));
}

/* A web page that is served with status 200 takes no spans. */
static void judge_success(const json_t *body, size_t len, uint64_t sent, struct buf *text,
			  struct otlphttp_answer *ret)
{
	const json_t *partial = json_object_get(body, "partialSuccess");

	if (len && !json_is_object(body)) {
		ret->verdict = OTLPHTTP_REFUSED;
		buf_adds(text, "its answer is not that of a receiver of OTLP");
		return;
	}
	ret->verdict = OTLPHTTP_DELIVERED;
	ret->rejected = count_of(partial, "rejectedSpans");
	if (ret->rejected > sent)
		ret->rejected = sent;
	add_message(text, "", partial, "errorMessage");
}

void otlphttp_judge(long status, const char *body, size_t len, uint64_t sent,
		    struct otlphttp_answer *ret)
{
	json_auto_t *json = len ? json_loadb(body, len, 0, NULL) : NULL;
	_cleanup_(buf_free) struct buf text = {};

	*ret = (struct otlphttp_answer){};
	if (status >= 200 && status < 300) {
		judge_success(json, len, sent, &text, ret);
	} else {
		ret->verdict = is_temporary(status) ? OTLPHTTP_AGAIN : OTLPHTTP_REFUSED;
		buf_printf(&text, "HTTP status %ld", status);
		add_message(&text, ": ", json, "message");
	}
	set_text(ret, &text);
}
