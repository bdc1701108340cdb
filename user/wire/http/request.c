// SPDX-License-Identifier: Apache-2.0
/* Judges requests by their headers and by the host that they are for. */
#include "wire/http/request.h"

#include <arpa/inet.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"

#define NAME_MAX_BYTES 253

#define LEN(array) (sizeof(array) / sizeof((array)[0]))

struct span {
	const char *at;
	size_t len;
};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool is_alnum(char c)
{
	return is_digit(c) || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z');
}

static bool is_same(struct span span, const char *text)
{
	return span.len == strlen(text) && strncasecmp(span.at, text, span.len) == 0;
}

/* --- the headers -------------------------------------------------------------------------------- */

/* The part before the colon begins like a framing header, which another reader takes for one:
 * libmicrohttpd 0.9 joins a folded line to the name. */
static bool begins_framing(struct span name)
{
	static const char *const names[] = {"Content-Length", "Transfer-Encoding"};

	for (size_t i = 0; i < LEN(names); i++) {
		size_t len = strlen(names[i]);

		if (name.len > len && strncasecmp(name.at, names[i], len) == 0)
			return true;
	}
	return false;
}

/* A token (RFC 9110, section 5.6.2). */
static bool is_header_name(struct span name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!is_alnum(name.at[i]) &&
		    (!name.at[i] || !strchr("!#$%&'*+-.^_`|~", name.at[i])))
			return false;
	return name.len > 0;
}

static bool is_header_value(struct span value)
{
	for (size_t i = 0; i < value.len; i++) {
		unsigned char c = (unsigned char)value.at[i];

		if ((c < 0x20 && c != '\t') || c == 0x7f)
			return false;
	}
	return true;
}

static bool is_zero(struct span value)
{
	for (size_t i = 0; i < value.len; i++)
		if (value.at[i] != '0')
			return false;
	return true;
}

/* Whitespace behind a value is not part of it (RFC 9110, section 5.5); not each libmicrohttpd has
 * taken it away. */
static struct span trim_end(struct span value)
{
	while (value.len && (value.at[value.len - 1] == ' ' || value.at[value.len - 1] == '\t'))
		value.len--;
	return value;
}

void reqhead_add(struct reqhead *head, const char *name, size_t name_len, const char *value,
		 size_t value_len)
{
	struct span n = {name, name_len},
		    v = trim_end((struct span){value ?: "", value ? value_len : 0});

	if (!is_header_name(n) || !is_header_value(v) || begins_framing(n))
		head->malformed = true;
	if (is_same(n, "Host")) {
		head->hosts++;
		head->host = v.at;
		head->host_len = v.len;
	} else if (is_same(n, "Content-Length")) {
		head->lengths++;
		head->body |= !is_zero(v);
	} else if (is_same(n, "Transfer-Encoding")) {
		head->codings++;
	}
}

/* --- the host ----------------------------------------------------------------------------------- */

/* "" or ":" and the digits of a port. */
static bool is_port(struct span text)
{
	unsigned int port = 0;

	if (text.len == 0)
		return true;
	for (size_t i = 1; i < text.len; i++) {
		if (!is_digit(text.at[i]) || text.len > 6)
			return false;
		port = port * 10 + (unsigned int)(text.at[i] - '0');
	}
	return text.at[0] == ':' && port <= 65535;
}

static bool is_address(int family, struct span text)
{
	char copy[INET6_ADDRSTRLEN];
	unsigned char address[16];

	if (text.len >= sizeof(copy))
		return false;
	memcpy(copy, text.at, text.len);
	copy[text.len] = '\0';
	return inet_pton(family, copy, address) == 1;
}

/* Letters, digits, - and _, with dots between. */
static bool is_host_name(struct span name)
{
	if (name.len == 0 || name.len > NAME_MAX_BYTES)
		return false;
	for (size_t i = 0; i < name.len; i++) {
		char c = name.at[i];
		bool dot = c == '.';

		if (!is_alnum(c) && c != '-' && c != '_' && !dot)
			return false;
		if (dot && (i == 0 || name.at[i - 1] == '.'))
			return false;
	}
	return name.at[name.len - 1] != '.';
}

static bool is_wanted(struct span name, const char *wanted)
{
	size_t len = strlen(wanted);

	if (wanted[0] != '*')
		return is_same(name, wanted);
	/* "*.example" is also each name below. */
	return len == 1 || (name.len > len - 1 &&
			    strncasecmp(name.at + name.len - (len - 1), wanted + 1, len - 1) == 0);
}

static bool is_accepted(struct span name, const char *const *names, size_t n_names)
{
	if (is_same(name, "localhost"))
		return true;
	for (size_t i = 0; i < n_names; i++)
		if (is_wanted(name, names[i]))
			return true;
	return false;
}

/* Status 0, 400 or 421 for a host with or without a port. */
static unsigned int judge_host(struct span authority, const char *const *names, size_t n_names)
{
	bool v6 = authority.len && authority.at[0] == '[';
	const char *end = memchr(authority.at, v6 ? ']' : ':', authority.len);
	struct span host = authority;

	if (end)
		host.len = (size_t)(end - authority.at) + v6;
	if (!is_port((struct span){host.at + host.len, authority.len - host.len}))
		return 400;
	if (v6)
		return end && is_address(AF_INET6, (struct span){host.at + 1, host.len - 2}) ? 0
											     : 400;
	if (is_address(AF_INET, host))
		return 0;
	/* The root of all names may be written. */
	if (host.len > 1 && host.at[host.len - 1] == '.')
		host.len--;
	if (!is_host_name(host))
		return 400;
	return is_accepted(host, names, n_names) ? 0 : 421;
}

/* --- the request -------------------------------------------------------------------------------- */

/* Behind "http://" or "https://"; NULL for a target in another form. */
static const char *find_authority(const char *target)
{
	if (strncasecmp(target, "http://", 7) == 0)
		return target + 7;
	return strncasecmp(target, "https://", 8) == 0 ? target + 8 : NULL;
}

const char *reqhead_path(const char *target)
{
	const char *authority = find_authority(target), *slash;

	if (!authority)
		return target;
	slash = strchr(authority, '/');
	return slash ? slash : "/";
}

/* HTTP/1.0 knows no Host, and no browser speaks it. A host in the target counts instead of the
 * header, which must be there all the same (RFC 9112, sections 3.2 and 3.2.2). */
static unsigned int judge_hosts(const struct reqhead *head, const char *target, const char *version,
				const char *const *names, size_t n_names)
{
	const char *authority = find_authority(target);
	unsigned int status = 0;

	if (head->hosts > 1 || (head->hosts == 0 && strcmp(version, "HTTP/1.0") != 0))
		return 400;
	if (head->hosts)
		status = judge_host((struct span){head->host, head->host_len}, names, n_names);
	if (!authority || status == 400)
		return status;
	return judge_host((struct span){authority, strcspn(authority, "/?#")}, names, n_names);
}

unsigned int reqhead_judge(const struct reqhead *head, const char *method, const char *target,
			   const char *version, const char *const *names, size_t n_names)
{
	unsigned int status;

	if (head->malformed || head->lengths > 1 || head->codings > 1 ||
	    (head->lengths && head->codings))
		return 400;
	status = judge_hosts(head, target, version, names, n_names);
	if (status)
		return status;
	if (strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0)
		return 405;
	return head->codings || head->body ? 413 : 0;
}

bool reqhead_is_name(const char *text)
{
	struct span name = {text, strlen(text)};

	if (strcmp(text, "*") == 0)
		return true;
	if (strncmp(text, "*.", 2) == 0)
		name = (struct span){text + 2, name.len - 2};
	return is_host_name(name);
}

/* --- other headers ---------------------------------------------------------------------------- */

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

enum expo_format negotiate_format(const char *accept)
{
	struct offer offers[EXPO_FORMAT_COUNT] = {
		[EXPO_TEXT] = {.name = "text/plain", .family = "text/*", .version = "0.0.4"},
		[EXPO_OPENMETRICS] = {.name = "application/openmetrics-text",
				      .family = "application/*",
				      .version = "1.0.0"},
		[EXPO_PROTOBUF] = {.name = "application/vnd.google.protobuf",
				   .proto = "io.prometheus.client.MetricFamily",
				   .encoding = "delimited"},
	};
	const struct offer *text = &offers[EXPO_TEXT], *om = &offers[EXPO_OPENMETRICS];
	const struct offer *protobuf = &offers[EXPO_PROTOBUF];

	weigh(accept, offers, EXPO_FORMAT_COUNT);
	if (protobuf->q > 0 && protobuf->q >= text->q && protobuf->q >= om->q)
		return EXPO_PROTOBUF;
	if (om->q > text->q || (om->q > 0 && om->q == text->q && om->rank >= RANK_NAME))
		return EXPO_OPENMETRICS;
	return EXPO_TEXT;
}

const char *negotiate_content_type(enum expo_format format)
{
	static const char *const types[EXPO_FORMAT_COUNT] = {
		[EXPO_TEXT] = "text/plain; version=0.0.4; charset=utf-8",
		[EXPO_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
		[EXPO_PROTOBUF] = "application/vnd.google.protobuf; "
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
