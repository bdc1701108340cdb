/* SPDX-License-Identifier: Apache-2.0 */
/*
 * shutdown.managed: which containers that are in no pod, and which services, mode manage stops, and
 * with which priority. Containers of pods are managed without a rule.
 *
 * Who may log in, what graced itself needs and what runs containers is stopped by no pattern: only
 * by a rule that names the unit itself.
 */
#ifndef CORE_SHUTDOWN_MANAGED_H
#define CORE_SHUTDOWN_MANAGED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cgroup/path.h"
#include "core/words/words.h"

#define MANAGED_RULES_MAX 32 /* a bit for each in managed_subject.labels */
#define MANAGED_TEXT_MAX  256

/* Units in which a kubelet runs, alone or with others; NULL-ended. */
extern const char *const managed_kubelet_units[];

/* Each condition that is there has to hold. */
struct managed_rule {
	uint32_t scope; /* enum managed_scope */
	int32_t priority;
	/* A pattern of fnmatch(3) for a unit of systemd, the container's own or one that it is in;
	 * a backslash is part of a name; "": none. */
	char unit[MANAGED_TEXT_MAX];
	char label[MANAGED_TEXT_MAX]; /* Docker's: "key=value", or "key" of any value; "": none */
};

/* Reads "scope=docker", "unit=web-*.service", "label=tier=db", "priority=100", in any order, apart
 * by line breaks, or by spaces where there is no line break. NULL, or what is wanted instead, with
 * *ret as it was. */
const char *managed_parse(const char *text, struct managed_rule *ret);

/* Whether the rule can be about a service, and whether it is about nothing else. */
bool managed_may_be_service(const struct managed_rule *rule);
bool managed_is_of_services(const struct managed_rule *rule);

/* A container that is in no pod, or a service. */
struct managed_subject {
	const char *path; /* of its cgroup, absolute; every part of it was chosen by root */
	bool is_service;
	enum cgpath_runtime runtime;
	uint32_t labels; /* bit i: it has the label of rule i, as far as is known */
};

/* The first rule that matches; NULL: none does. */
const struct managed_rule *managed_find(const struct managed_rule *rules, size_t n,
					const struct managed_subject *subject);

#endif
