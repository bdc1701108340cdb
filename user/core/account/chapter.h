/* SPDX-License-Identifier: Apache-2.0 */
/* The stories of one boot of one node. */
#ifndef CORE_ACCOUNT_CHAPTER_H
#define CORE_ACCOUNT_CHAPTER_H

#include <string.h>

#include "core/account/account.h"

struct chapter_source {
	const struct account_query *query;
	struct account_record **records; /* by time, at least one */
	size_t n;
	/* The node's, of unknown boot: attached and lost. */
	struct account_record **floating;
	size_t n_floating;
	bool only_boot; /* of the node */
};

/* Adds the stories to those of ret, which has room for them. -ENOMEM. */
int chapter_write(const struct chapter_source *from, struct arena *arena,
		  const struct account_log *log, struct account *ret);

/* Puts the end of the boot, if there is a record of it, into the story of the shutdown that was
 * under way, or else into that of the rest, which stands behind the shutdowns. -ENOMEM. */
int ending_write(const struct chapter_source *from, struct arena *arena,
		 struct account_story *stories, size_t n_shutdowns);

/* Whether the filter's namespace and pod are these, by what is known of them. */
bool subject_matches(const struct filter *filter, const struct record_pod *pod);

/* What is not known comes first. */
static inline int compare_text(const char *a, const char *b)
{
	if (!a || !b)
		return !!a - !!b;
	return strcmp(a, b);
}

static inline int compare_number(uint64_t a, uint64_t b)
{
	return a < b ? -1 : a > b;
}

#endif
