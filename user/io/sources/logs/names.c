// SPDX-License-Identifier: Apache-2.0
/* Takes the names of log directories and files apart, by the rules for names in Kubernetes. */
#include "io/sources/logs/logs.h"

#include <string.h>

#define LABEL_MAX     63
#define SUBDOMAIN_MAX 253
#define ID_LEN	      64
#define UID_LEN	      36
#define HASH_LEN      32

static bool is_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

static bool is_hex(char c)
{
	return (c >= 'a' && c <= 'f') || (c >= '0' && c <= '9');
}

/* RFC 1123: lower-case letters, digits and dashes, no dash at either end. */
static bool is_label(const char *at, size_t len)
{
	if (!len || len > LABEL_MAX || !is_alnum(at[0]) || !is_alnum(at[len - 1]))
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_alnum(at[i]) && at[i] != '-')
			return false;
	return true;
}

/* Labels joined by dots. The API server bounds the whole, not each label. */
static bool is_subdomain(const char *at, size_t len)
{
	bool edge = true; /* at the beginning of a label */

	if (!len || len > SUBDOMAIN_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool last = i + 1 == len || at[i + 1] == '.';

		if (at[i] == '.') {
			if (edge)
				return false;
			edge = true;
			continue;
		}
		if (!is_alnum(at[i]) && (at[i] != '-' || edge || last))
			return false;
		edge = false;
	}
	return !edge;
}

static bool is_hex_run(const char *at, size_t len)
{
	for (size_t i = 0; i < len; i++)
		if (!is_hex(at[i]))
			return false;
	return true;
}

/* A UUID, or the hash that is a static pod's uid. */
static bool is_uid(const char *at, size_t len)
{
	if (len == HASH_LEN)
		return is_hex_run(at, len);
	if (len != UID_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool dash = i == 8 || i == 13 || i == 18 || i == 23;

		if (dash ? at[i] != '-' : !is_hex(at[i]))
			return false;
	}
	return true;
}

/* Splits at the first two underscores; none of the parts may hold a third. */
static bool split(const char *name, size_t len, const char *ret_at[static 3],
		  size_t ret_len[static 3])
{
	const char *one = memchr(name, '_', len), *two;

	if (!one)
		return false;
	two = memchr(one + 1, '_', len - (size_t)(one + 1 - name));
	if (!two)
		return false;
	ret_at[0] = name;
	ret_len[0] = (size_t)(one - name);
	ret_at[1] = one + 1;
	ret_len[1] = (size_t)(two - one - 1);
	ret_at[2] = two + 1;
	ret_len[2] = len - (size_t)(two + 1 - name);
	return true;
}

bool podsrc_logs_parse_pod(const char *name, struct podsrc_logs_name *ret)
{
	const char *at[3];
	size_t len[3];

	if (!split(name, strlen(name), at, len))
		return false;
	if (!is_label(at[0], len[0]) || !is_subdomain(at[1], len[1]) || !is_uid(at[2], len[2]))
		return false;
	*ret = (struct podsrc_logs_name){
		.namespace_ = at[0],
		.namespace_len = len[0],
		.pod = at[1],
		.pod_len = len[1],
		.key = at[2],
		.key_len = len[2],
	};
	return true;
}

bool podsrc_logs_parse_container(const char *name, struct podsrc_logs_name *ret)
{
	size_t total = strlen(name), len[3], tail = ID_LEN + 1;
	const char *at[3];

	if (total < 4 || strcmp(name + total - 4, ".log") || !split(name, total - 4, at, len))
		return false;
	if (len[2] <= tail || at[2][len[2] - tail] != '-' ||
	    !is_hex_run(at[2] + len[2] - ID_LEN, ID_LEN))
		return false;
	len[2] -= tail;
	if (!is_subdomain(at[0], len[0]) || !is_label(at[1], len[1]) || !is_label(at[2], len[2]))
		return false;
	*ret = (struct podsrc_logs_name){
		.namespace_ = at[1],
		.namespace_len = len[1],
		.pod = at[0],
		.pod_len = len[0],
		.container = at[2],
		.container_len = len[2],
		.key = at[2] + len[2] + 1,
		.key_len = ID_LEN,
	};
	return true;
}
