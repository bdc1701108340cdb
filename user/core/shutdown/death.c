// SPDX-License-Identifier: Apache-2.0
#include "core/shutdown/death.h"

#include <string.h>

/* The kernel's form, 8-4-4-4-12 hexadecimal digits: what is cut or garbled names no boot. */
static bool is_boot_id(const char *text)
{
	static const char form[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (!text || strnlen(text, DEATH_BOOT_SIZE) != DEATH_BOOT_SIZE - 1)
		return false;
	for (size_t i = 0; form[i]; i++)
		if (form[i] == '-' ? text[i] != '-' : !strchr("0123456789abcdef", text[i]))
			return false;
	return true;
}

/* What was observed in one boot proves nothing about another. */
static bool is_observed(const struct death_facts *f)
{
	return f->complete && !f->lost && f->populated == 0 && f->mounts_known && f->mounts == 0 &&
	       !f->may_start;
}

bool death_is_proven(const struct death_facts *facts)
{
	if (!is_boot_id(facts->boot) || !is_boot_id(facts->now_boot))
		return false;
	return strcmp(facts->boot, facts->now_boot) != 0 || is_observed(facts);
}

const char *death_refuses(const struct death_node *node, const char *boot, const char *now_boot)
{
	if (!is_boot_id(node->boot))
		return "the node in the API has no boot id";
	if (strcmp(node->boot, boot) != 0)
		return "the node in the API has had another boot since, or is another machine";
	if (strcmp(boot, now_boot) != 0 && node->ready)
		return "the node in the API is still Ready, and its pods go on here";
	return NULL;
}
