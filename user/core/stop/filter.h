/* SPDX-License-Identifier: Apache-2.0 */
/* Which records a user asked to see. */
#ifndef CORE_STOP_FILTER_H
#define CORE_STOP_FILTER_H

#include "core/stop/record.h"

#define FILTER_LISTS_MAX   16
#define FILTER_PATTERN_MAX 255 /* bytes of a pattern */

/*
 * Comma-separated patterns, as a user gave them: a name, or a glob(7). `!` before one leaves out
 * what it matches. One of the others has to match; a name that is not known matches none.
 */
struct filter_names {
	const char *lists[FILTER_LISTS_MAX]; /* borrowed */
	size_t n;
	bool words; /* a beginning ends before a character that is no letter and no digit */
	/* No beginning is enough, of ids neither; a pod also has the name of its workload. */
	bool exact;
};

/* Zeroed, it lets everything through but signals. */
struct filter {
	struct filter_names namespaces;
	/* A pod also by NAMESPACE/NAME, and by the first 8 or more characters of its uid; a
	 * container also by the first 4 or more digits of its id and, outside pods, by its whole
	 * workload, by NAMESPACE/NAME and by NAMESPACE/WORKLOAD. Without a wildcard a pattern is
	 * the name or what it begins with, but no part of a number; one that leaves out ends before
	 * a character that is no letter and no digit. */
	struct filter_names pods, containers;
	const char *sender_comm; /* NULL: any */
	uint64_t sigmask;	 /* bit n-1 for signal n; 0: any */
	uint32_t outcomes;	 /* bit n for outcome n; 0: any */
	uint32_t not_outcomes;	 /* left out */
	bool signals;		 /* signal records too */
};

/* -EINVAL: a pattern is empty or too long; -E2BIG: there are FILTER_LISTS_MAX lists already. */
int filter_names_add(struct filter_names *names, const char *list);

/* Whether it asks for a namespace, a pod or a container by name. */
bool filter_has_names(const struct filter *filter);

/* Records that speak of the tracer itself always match. */
bool filter_matches(const struct filter *filter, const struct record *record);

#endif
