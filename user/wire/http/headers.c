// SPDX-License-Identifier: Apache-2.0
/* Reads the Authorization, Accept and Accept-Encoding headers. */
#include "wire/http/headers.h"

#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"

/* Padding may be missing, but not half of it. The number of bytes; 0 for none that can be used. */
static size_t decode(const char *from, size_t n, char ret[static BASICAUTH_SIZE])
{
	size_t pads = 0;

	while (pads < 2 && pads < n && from[n - 1 - pads] == '=')
		pads++;
	if (pads && n % 4)
		return 0;
	n -= pads;
	if (n / 4 * 3 + 3 > BASICAUTH_SIZE)
		return 0;
	return base64_decode(from, n, BASE64_PLAIN, ret);
}

bool basicauth_parse(const char *header, struct basicauth *ret)
{
	char both[BASICAUTH_SIZE];
	const char *colon, *at;
	size_t len;

	if (!header || strncasecmp(header, "Basic ", 6) != 0)
		return false;
	at = header + 6 + strspn(header + 6, " ");
	len = decode(at, strcspn(at, " "), both);
	colon = memchr(both, ':', len);
	if (!colon || memchr(both, '\0', len))
		return false;
	memset(ret, 0, sizeof(*ret));
	memcpy(ret->user, both, (size_t)(colon - both));
	memcpy(ret->password, colon + 1, len - (size_t)(colon - both) - 1);
	explicit_bzero(both, sizeof(both));
	return true;
}

bool basicauth_same(const void *a, const void *b, size_t size)
{
	const volatile unsigned char *x = a, *y = b;
	unsigned char differ = 0;

	for (size_t i = 0; i < size; i++)
		differ |= x[i] ^ y[i];
	return differ == 0;
}

/* Chooses the exposition's format and coding by the weights of a request's headers. */

#define Q_ONE 1000 /* weights are thousandths */

struct span {
	const char *at;
	size_t len;
};

/* One element of Accept or Accept-Encoding. */
struct range {
	struct span name;	     /* "text/plain", "*" */
	struct span version;	     /* at is NULL without one */
	struct span proto, encoding; /* the same */
	int q;
};

/* What we could send, and the best claim to it so far. */
struct offer {
	const char *name, *family, *version;
	const char *proto, *encoding; /* NULL: not asked for */
	int rank;		      /* how closely the range that gave q fits; 0: none did */
	int q;
};

enum { RANK_NONE, RANK_ANY, RANK_FAMILY, RANK_NAME, RANK_VERSION };

static struct span trim(struct span s)
{
	while (s.len && (s.at[0] == ' ' || s.at[0] == '\t'))
		s = (struct span){s.at + 1, s.len - 1};
	while (s.len && (s.at[s.len - 1] == ' ' || s.at[s.len - 1] == '\t'))
		s.len--;
	return s;
}

static bool equals(struct span s, const char *text)
{
	return s.len == strlen(text) && strncasecmp(s.at, text, s.len) == 0;
}

/* Takes what is before the next separator outside quotes; false when nothing is left. */
static bool take_part(struct span *rest, char separator, struct span *ret)
{
	bool quoted = false;
	size_t i;

	if (!rest->at)
		return false;
	for (i = 0; i < rest->len; i++) {
		char c = rest->at[i];

		if (c == '"')
			quoted = !quoted;
		else if (c == '\\' && quoted && i + 1 < rest->len)
			i++;
		else if (c == separator && !quoted)
			break;
	}
	*ret = trim((struct span){rest->at, i});
	*rest = i < rest->len ? (struct span){rest->at + i + 1, rest->len - i - 1}
			      : (struct span){NULL, 0};
	return true;
}

static struct span unquote(struct span s)
{
	if (s.len >= 2 && s.at[0] == '"' && s.at[s.len - 1] == '"')
		return (struct span){s.at + 1, s.len - 2};
	return s;
}

/* "1", "0.75"; -1 for what is no weight. Digits beyond the third are read and dropped. */
static int parse_q(struct span s)
{
	int q, digit = Q_ONE / 10;

	if (s.len == 0 || (s.at[0] != '0' && s.at[0] != '1') || (s.len > 1 && s.at[1] != '.'))
		return -1;
	q = (s.at[0] - '0') * Q_ONE;
	for (size_t i = 2; i < s.len; i++, digit /= 10) {
		if (s.at[i] < '0' || s.at[i] > '9')
			return -1;
		q += (s.at[i] - '0') * digit;
	}
	return q <= Q_ONE ? q : -1;
}

/* The next element that can be read; false at the end. Parameters other than these say how
 * a name is escaped or text encoded, which we do in one way only. */
static bool next_range(struct span *rest, struct range *ret)
{
	struct span item, param;

	while (take_part(rest, ',', &item)) {
		*ret = (struct range){.q = Q_ONE};
		take_part(&item, ';', &ret->name);
		while (take_part(&item, ';', &param)) {
			struct span key;

			take_part(&param, '=', &key);
			param = unquote(trim(param));
			if (equals(key, "q"))
				ret->q = parse_q(param);
			else if (equals(key, "version") && param.at)
				ret->version = param;
			else if (equals(key, "proto"))
				ret->proto = param;
			else if (equals(key, "encoding"))
				ret->encoding = param;
		}
		if (ret->name.len && ret->q >= 0)
			return true;
	}
	return false;
}

/* A message is of use only to who knows which one it is: no wildcard fits. */
static int rank_of_message(const struct offer *offer, const struct range *range)
{
	return equals(range->name, offer->name) && equals(range->proto, offer->proto) &&
			       equals(range->encoding, offer->encoding)
		       ? RANK_VERSION
		       : RANK_NONE;
}

static int rank_of(const struct offer *offer, const struct range *range)
{
	if (offer->proto)
		return rank_of_message(offer, range);
	if (range->version.at && !equals(range->version, offer->version))
		return RANK_NONE;
	if (equals(range->name, offer->name))
		return range->version.at ? RANK_VERSION : RANK_NAME;
	if (range->version.at)
		return RANK_NONE;
	if (equals(range->name, offer->family))
		return RANK_FAMILY;
	return equals(range->name, "*/*") || equals(range->name, "*") ? RANK_ANY : RANK_NONE;
}

/* The range that fits most closely decides, whatever its weight. */
static void consider(struct offer *offer, const struct range *range)
{
	int rank = rank_of(offer, range);

	if (rank == RANK_NONE || rank < offer->rank || (rank == offer->rank && range->q < offer->q))
		return;
	offer->rank = rank;
	offer->q = range->q;
}

static void weigh(const char *header, struct offer *offers, size_t n)
{
	struct span rest = {header, header ? strlen(header) : 0};
	struct range range;

	while (next_range(&rest, &range))
		for (size_t i = 0; i < n; i++)
			consider(offers + i, &range);
}

enum negotiate_format negotiate_format(const char *accept)
{
	struct offer offers[NEGOTIATE_FORMAT_COUNT] = {
		[NEGOTIATE_TEXT] = {.name = "text/plain", .family = "text/*", .version = "0.0.4"},
		[NEGOTIATE_OPENMETRICS] = {.name = "application/openmetrics-text",
					   .family = "application/*",
					   .version = "1.0.0"},
		[NEGOTIATE_PROTOBUF] = {.name = "application/vnd.google.protobuf",
					.proto = "io.prometheus.client.MetricFamily",
					.encoding = "delimited"},
	};
	const struct offer *text = &offers[NEGOTIATE_TEXT], *om = &offers[NEGOTIATE_OPENMETRICS];
	const struct offer *protobuf = &offers[NEGOTIATE_PROTOBUF];

	weigh(accept, offers, NEGOTIATE_FORMAT_COUNT);
	if (protobuf->q > 0 && protobuf->q >= text->q && protobuf->q >= om->q)
		return NEGOTIATE_PROTOBUF;
	if (om->q > text->q || (om->q > 0 && om->q == text->q && om->rank >= RANK_NAME))
		return NEGOTIATE_OPENMETRICS;
	return NEGOTIATE_TEXT;
}

const char *negotiate_content_type(enum negotiate_format format)
{
	static const char *const types[NEGOTIATE_FORMAT_COUNT] = {
		[NEGOTIATE_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[NEGOTIATE_OPENMETRICS] =
			"application/openmetrics-text; version=1.0.0; charset=utf-8",
		[NEGOTIATE_PROTOBUF] =
			"application/vnd.google.protobuf; "
			"proto=io.prometheus.client.MetricFamily; encoding=delimited",
	};

	return types[format];
}

bool negotiate_gzip(const char *accept_encoding)
{
	struct offer offers[] = {{.name = "gzip", .family = "x-gzip", .version = ""},
				 {.name = "identity", .family = "", .version = ""}};
	const struct offer *gzip = &offers[0], *identity = &offers[1];

	weigh(accept_encoding, offers, 2);
	return gzip->q > 0 && (identity->rank < RANK_NAME || gzip->q >= identity->q);
}
