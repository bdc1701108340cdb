// SPDX-License-Identifier: Apache-2.0
/* Names what made a pod, by its owner, labels or name. */
#include "core/names/workload.h"

#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* What rand.SafeEncodeString() makes of the digits of a 32-bit hash
 * (apimachinery/pkg/util/rand/rand.go): these ten letters, nearly always eight to ten of them. */
#define HASH_LETTERS "456789bcdf"
#define HASH_MIN     6
#define HASH_MAX     10

/* What generated names end in, and what they keep of the name before it
 * (apiserver/pkg/storage/names/generate.go). */
#define RANDOM_LETTERS "bcdfghjklmnpqrstvwxz2456789"
#define RANDOM_LEN     5
#define BASE_MAX       58

static bool is_known(const char *text)
{
	return text && *text;
}

static bool equal(const char *a, const char *b)
{
	return a && strcmp(a, b) == 0;
}

bool workload_kind_is(const char *kind, const char *api_version, const char *wanted,
		      const char *group)
{
	const char *slash;
	size_t len;

	if (!equal(kind, wanted))
		return false;
	if (!is_known(api_version))
		return true;
	slash = strchr(api_version, '/');
	len = slash ? (size_t)(slash - api_version) : 0;
	return len == strlen(group) && memcmp(api_version, group, len) == 0;
}

static bool owner_is(const struct workload_facts *facts, const char *kind, const char *group)
{
	return workload_kind_is(facts->owner_kind, facts->owner_api, kind, group);
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* How long name is without "-<suffix>" at the end of its first len bytes, letters in any case; len
 * when it does not end so, or nothing would be left. */
static size_t without(const char *name, size_t len, const char *suffix, size_t suffix_len)
{
	size_t rest = len - suffix_len;

	if (suffix_len == 0 || suffix_len + 2 > len || name[rest - 1] != '-')
		return len;
	for (size_t i = 0; i < suffix_len; i++) {
		if (lower(name[rest + i]) != lower(suffix[i]))
			return len;
	}
	return rest - 1;
}

/* How long name is without a last part of min to max of letters, joined by a dash; len when it has
 * no such part. */
static size_t without_part(const char *name, size_t len, const char *letters, size_t min,
			   size_t max)
{
	size_t n = 0;

	while (n < len && name[len - 1 - n] != '-') {
		if (!strchr(letters, name[len - 1 - n]))
			return len;
		n++;
	}
	return n >= min && n <= max && n + 2 <= len ? len - n - 1 : len;
}

static size_t without_hash(const char *name, size_t len)
{
	return without_part(name, len, HASH_LETTERS, HASH_MIN, HASH_MAX);
}

/* A CronJob's jobs are numbered by the minute they were due in, before Kubernetes 1.21 by the
 * second. Numbers outside of these years are left alone: 20240101 is a date. */
static size_t without_time(const char *name, size_t len)
{
	size_t rest = without_part(name, len, "0123456789", 8, 10);
	uint64_t value = 0;

	for (size_t i = rest + 1; i < len; i++)
		value = value * 10 + (uint64_t)(name[i] - '0');
	if ((value >= 25000000 && value < 60000000) || (value >= 1450000000 && value < 1700000000))
		return rest;
	return len;
}

/* Without what the API server added to make the name unique; the dash may have been cut off. */
static size_t without_random(const char *name, size_t len)
{
	size_t rest = without_part(name, len, RANDOM_LETTERS, RANDOM_LEN, RANDOM_LEN);

	if (rest == len && len == BASE_MAX + RANDOM_LEN &&
	    strspn(name + BASE_MAX, RANDOM_LETTERS) == RANDOM_LEN)
		return BASE_MAX;
	return rest;
}

/* Cuts the hash from the name of a ReplicaSet's pod, whose random part is gone. A name cut to fit
 * ends within the hash: then cuts what is there of it. */
static size_t without_template(const char *name, size_t len, const char *hash)
{
	size_t hash_len = strlen(hash), rest = without(name, len, hash, hash_len);

	if (len < BASE_MAX - 1)
		return rest;
	while (rest == len && --hash_len > 0)
		rest = without(name, len, hash, hash_len);
	return rest;
}

static size_t by_owner(const struct workload_facts *facts)
{
	const char *name = facts->owner;
	size_t len = strlen(name);

	if (owner_is(facts, "Job", "batch"))
		return without_time(name, len);
	if (!owner_is(facts, "ReplicaSet", "apps"))
		return len;
	if (!is_known(facts->template_hash))
		return without_hash(name, len);
	return without(name, len, facts->template_hash, strlen(facts->template_hash));
}

/* The name alone: "<deployment>-<hash>-<random>" is hardly anything else. */
static size_t by_name(const char *name, size_t len)
{
	size_t base = without_random(name, len), rest = without_hash(name, base);

	return base < len && rest < base ? rest : len;
}

static size_t by_labels(const struct workload_facts *facts)
{
	const char *name = facts->pod;
	size_t len = strlen(name), base;

	if (is_known(facts->template_hash)) {
		base = without_random(name, len);
		return base < len ? without_template(name, base, facts->template_hash) : len;
	}
	if (is_known(facts->statefulset_pod))
		return without_part(name, len, "0123456789", 1, 10);
	if (is_known(facts->revision_hash))
		return without_random(name, len);
	return by_name(name, len);
}

void workload_name(const struct workload_facts *facts, char ret[static META_NAME_MAX])
{
	const char *name = facts->pod ? facts->pod : "";
	size_t len = strlen(name);

	if (facts->is_static || owner_is(facts, "Node", "")) {
		if (is_known(facts->node))
			len = without(name, len, facts->node, strlen(facts->node));
	} else if (is_known(facts->owner)) {
		name = facts->owner;
		len = by_owner(facts);
	} else if (is_known(facts->job)) {
		name = facts->job;
		len = without_time(name, strlen(name));
	} else if (len > 0) {
		len = by_labels(facts);
	}
	len = utf8_fit(name, len, META_NAME_MAX - 1);
	memcpy(ret, name, len);
	ret[len] = '\0';
}

static const char *kind_of_owner(const struct workload_facts *facts)
{
	bool shortened = by_owner(facts) < strlen(facts->owner);

	if (shortened && owner_is(facts, "Job", "batch"))
		return "CronJob";
	if (shortened)
		return is_known(facts->template_hash) ? "Deployment" : "";
	return is_known(facts->owner_kind) ? facts->owner_kind : "";
}

void workload_kind(const struct workload_facts *facts, char ret[static META_KIND_MAX])
{
	const char *kind = "Pod";
	size_t len;

	if (facts->is_static || owner_is(facts, "Node", ""))
		kind = "StaticPod";
	else if (is_known(facts->owner))
		kind = kind_of_owner(facts);
	len = utf8_fit(kind, strlen(kind), META_KIND_MAX - 1);
	memcpy(ret, kind, len);
	ret[len] = '\0';
}
