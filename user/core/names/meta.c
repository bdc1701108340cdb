// SPDX-License-Identifier: Apache-2.0
/* What sources and results of look-ups are called, whose word counts, and how an image's digest is
 * written. */
#include "core/names/meta.h"

#include <string.h>

#include "core/cgroup/part.h"

bool meta_is_digest(const char *text, size_t len)
{
	static const char algorithm[] = "sha256:";
	const size_t skip = sizeof(algorithm) - 1;

	if (len == skip + 64 && memcmp(text, algorithm, skip) == 0) {
		text += skip;
		len -= skip;
	}
	if (len != 64)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!(text[i] >= '0' && text[i] <= '9') && !(text[i] >= 'a' && text[i] <= 'f'))
			return false;
	return true;
}

uint32_t meta_rank(enum meta_source source)
{
	return source == META_API ? 2 * META_KUBELET - 1 : 2 * (uint32_t)source;
}

enum meta_source meta_lister(uint32_t sources, bool is_static)
{
	return !is_static && sources >> META_API & 1 ? META_API : META_KUBELET;
}

bool meta_uid_take(const char *text, size_t len, char ret[static POD_UID_MAX])
{
	char uid[POD_UID_MAX] = "";

	if (len != POD_UID_LEN && len != CGPART_HASH_UID_LEN)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool dash = len == POD_UID_LEN && (i == 8 || i == 13 || i == 18 || i == 23);
		char c = text[i] >= 'A' && text[i] <= 'F' ? (char)(text[i] | 0x20) : text[i];

		if (dash ? c != '-' : !(c >= '0' && c <= '9') && !(c >= 'a' && c <= 'f'))
			return false;
		uid[i] = c;
	}
	memcpy(ret, uid, sizeof(uid));
	return true;
}

bool meta_is_static_uid(const char *uid)
{
	return strlen(uid) == CGPART_HASH_UID_LEN;
}
