// SPDX-License-Identifier: Apache-2.0
/* Takes the largest value that is wanted, and only raises it. */
#include "core/shutdown/delay_limit.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define US_PER_S UINT64_C(1000000)

/* systemd takes what would not fit for an error, and the largest multiple fits. */
static uint64_t whole_seconds(uint64_t us)
{
	uint64_t over = us % US_PER_S;

	if (us == DELAYLIMIT_INFINITY || over == 0)
		return us;
	return us > UINT64_MAX - US_PER_S ? DELAYLIMIT_INFINITY : us - over + US_PER_S;
}

const struct delaylimit_file *delaylimit_last_word(const struct delaylimit_file *files, size_t n)
{
	const struct delaylimit_file *last = NULL;

	for (size_t i = 0; i < n; i++) {
		if (files[i].said)
			last = files + i;
		if (files[i].broken)
			break;
	}
	return last;
}

uint64_t delaylimit_of_files(const struct delaylimit_file *files, size_t n)
{
	const struct delaylimit_file *last = delaylimit_last_word(files, n);

	return last ? last->us : DELAYLIMIT_DEFAULT_US;
}

static const struct delaylimit_file *find_own(const struct delaylimit_query *query)
{
	for (size_t i = 0; i < query->n; i++)
		if (strcmp(query->files[i].name, query->own) == 0)
			return query->files + i;
	return NULL;
}

static uint64_t largest(const struct delaylimit_query *query)
{
	uint64_t us = query->need_us > query->effective_us ? query->need_us : query->effective_us;

	for (size_t i = 0; i < query->n; i++)
		if (query->files[i].said && query->files[i].us > us)
			us = query->files[i].us;
	return us;
}

const struct delaylimit_file *delaylimit_pin(const struct delaylimit_file *files, size_t n,
					     const char *name, uint64_t us)
{
	const struct delaylimit_file *last = NULL;

	for (size_t i = 0; i < n; i++) {
		const struct delaylimit_file *f = files + i;
		int order = strcmp(f->name, name);

		if (f->said && order > 0)
			last = f;
		/* The rest of it is lost, and all that follows; what it said before counts. */
		if (f->broken && order < 0)
			return f;
		if (f->broken)
			break;
	}
	return last && last->us < us ? last : NULL;
}

void delaylimit_decide(const struct delaylimit_query *query, struct delaylimit_answer *ret)
{
	const struct delaylimit_file *own = find_own(query);
	const struct delaylimit_file *pin = NULL;
	uint64_t us = whole_seconds(largest(query));
	bool write;

	if (own)
		write = !own->said || own->broken || own->us < us;
	else
		write = query->effective_us < query->need_us;
	*ret = (struct delaylimit_answer){.write = write, .us = us};
	if (own || write)
		pin = delaylimit_pin(query->files, query->n, query->own, us);
	ret->pinned_by = pin ? pin->name : NULL;
}

void delaylimit_text(uint64_t us, char ret[static DELAYLIMIT_TEXT_MAX])
{
	static const char head[] = "# graced lets a node shutdown take this long; it keeps the "
				   "value up to date.\n[Login]\n";

	if (us == DELAYLIMIT_INFINITY)
		snprintf(ret, DELAYLIMIT_TEXT_MAX, "%sInhibitDelayMaxSec=infinity\n", head);
	else
		snprintf(ret, DELAYLIMIT_TEXT_MAX, "%sInhibitDelayMaxSec=%" PRIu64 "\n", head,
			 us / US_PER_S);
}
