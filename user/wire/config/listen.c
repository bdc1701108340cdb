// SPDX-License-Identifier: Apache-2.0
/* Reads the address and port of a socket to listen on, without asking a resolver. */
#include "wire/config/listen.h"

#include <errno.h>
#include <string.h>

#define GROUPS	 8 /* of 16 bits, in an IPv6 address */
#define HOST_MAX 45

struct span {
	const char *at;
	size_t len;
};

static int hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";
	const char *at = c ? strchr(digits, c) : NULL;

	return at ? (int)(at - digits) % 16 : -1;
}

/* The whole of text as a number in base 10 or 16, with at most max_digits digits; -1 if it is none
 * or above max. */
static long parse_number(struct span text, int base, size_t max_digits, long max)
{
	long value = 0;

	if (text.len == 0 || text.len > max_digits)
		return -1;
	for (size_t i = 0; i < text.len; i++) {
		int digit = hex_digit(text.at[i]);

		if (digit < 0 || digit >= base)
			return -1;
		value = value * base + digit;
	}
	return value <= max ? value : -1;
}

/* Takes what is before the next separator, or the rest; false when nothing is left to take. */
static bool take_part(struct span *text, char separator, struct span *ret)
{
	const char *end;

	if (!text->at)
		return false;
	end = memchr(text->at, separator, text->len);
	*ret = (struct span){text->at, end ? (size_t)(end - text->at) : text->len};
	*text = end ? (struct span){end + 1, text->len - ret->len - 1} : (struct span){NULL, 0};
	return true;
}

/* A leading zero is refused: some read it as octal. */
static bool parse_v4(struct span text, uint8_t *ret)
{
	struct span part;
	uint8_t bytes[4];
	size_t n = 0;

	while (take_part(&text, '.', &part)) {
		long byte = parse_number(part, 10, 3, 255);

		if (n == 4 || byte < 0 || (part.len > 1 && part.at[0] == '0'))
			return false;
		bytes[n++] = (uint8_t)byte;
	}
	if (n != 4)
		return false;
	memcpy(ret, bytes, 4);
	return true;
}

/* Groups of hexadecimal digits, the last two of which may be written as IPv4; the bytes written, or
 * -1. An empty text has none. */
static int parse_groups(struct span text, uint8_t ret[static 2 * GROUPS])
{
	struct span part;
	int n = 0;

	if (text.len == 0)
		return 0;
	while (take_part(&text, ':', &part)) {
		long group = parse_number(part, 16, 4, 0xffff);

		if (group < 0 && !text.at && n <= 2 * GROUPS - 4 && parse_v4(part, ret + n))
			return n + 4;
		if (group < 0 || n == 2 * GROUPS)
			return -1;
		ret[n++] = (uint8_t)(group >> 8);
		ret[n++] = (uint8_t)group;
	}
	return n;
}

/* A "::" stands for one group of zeros at least. */
static bool parse_v6(struct span text, uint8_t *ret)
{
	const char *gap = memmem(text.at, text.len, "::", 2);
	uint8_t head[2 * GROUPS], tail[2 * GROUPS];
	struct span rest;
	int n_head, n_tail;

	if (!gap) {
		if (parse_groups(text, head) != 2 * GROUPS)
			return false;
		memcpy(ret, head, sizeof(head));
		return true;
	}
	rest = (struct span){gap + 2, text.len - (size_t)(gap - text.at) - 2};
	n_head = parse_groups((struct span){text.at, (size_t)(gap - text.at)}, head);
	n_tail = parse_groups(rest, tail);
	if (n_head < 0 || n_tail < 0 || n_head + n_tail > 2 * GROUPS - 2 ||
	    memchr(text.at, '.', (size_t)(gap - text.at)))
		return false;
	memset(ret, 0, 2 * GROUPS);
	memcpy(ret, head, (size_t)n_head);
	memcpy(ret + 2 * GROUPS - n_tail, tail, (size_t)n_tail);
	return true;
}

static bool is_loopback(const struct listen_addr *addr)
{
	static const uint8_t one[16] = {[15] = 1};

	return addr->v6 ? memcmp(addr->bytes, one, sizeof(one)) == 0 : addr->bytes[0] == 127;
}

/* An IPv4 address in an IPv6 one's clothes, which a socket for IPv6 alone cannot have. */
static bool is_mapped(const uint8_t *bytes)
{
	static const uint8_t mapped[12] = {[10] = 0xff, [11] = 0xff};

	return memcmp(bytes, mapped, sizeof(mapped)) == 0;
}

static bool parse_host(struct span host, struct listen *ret)
{
	bool is_localhost = host.len == 9 && memcmp(host.at, "localhost", 9) == 0;

	if (host.len == 0 || is_localhost) {
		ret->n_addr = 2;
		ret->addr[1].v6 = true;
		if (is_localhost) {
			memcpy(ret->addr[0].bytes, (uint8_t[]){127, 0, 0, 1}, 4);
			ret->addr[1].bytes[15] = 1;
		}
		return true;
	}
	ret->n_addr = 1;
	if (host.at[0] != '[')
		return parse_v4(host, ret->addr[0].bytes);
	ret->addr[0].v6 = true;
	return host.len > 2 && host.at[host.len - 1] == ']' &&
	       parse_v6((struct span){host.at + 1, host.len - 2}, ret->addr[0].bytes) &&
	       !is_mapped(ret->addr[0].bytes);
}

int listen_parse(const char *text, struct listen *ret)
{
	const char *colon = strrchr(text, ':');
	struct listen listen = {};
	struct span host, port;
	long number;

	if (!colon || (size_t)(colon - text) > HOST_MAX + 2)
		return -EINVAL;
	host = (struct span){text, (size_t)(colon - text)};
	port = (struct span){colon + 1, strlen(colon + 1)};
	number = parse_number(port, 10, 5, 65535);
	if (number < 0 || !parse_host(host, &listen))
		return -EINVAL;
	listen.port = (uint16_t)number;
	listen.loopback = true;
	for (size_t i = 0; i < listen.n_addr; i++)
		listen.loopback &= is_loopback(&listen.addr[i]);
	*ret = listen;
	return 0;
}
