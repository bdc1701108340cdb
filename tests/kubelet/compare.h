/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When an answer is what a case expects: by value, 30 and 30.0 being the same number, every member
 * in both directions, with the exceptions that the cases themselves name.
 *
 * A rule is met by taking what it covers out of both sides. What is left on either side is compared
 * and, where it differs, reported; so a rule that is not met leaves its members where they are.
 */
#ifndef TESTS_KUBELET_COMPARE_H
#define TESTS_KUBELET_COMPARE_H

#include <jansson.h>
#include <stdbool.h>

/* A module's own rule, before those that hold for all. Both sides are copies, to be changed. */
typedef void (*vectors_rule_fn)(json_t *vector, json_t *expected, json_t *got);

/*
 * Applies RULE (may be NULL) and then the rules for all modules:
 *  - "errors_contain": each text is part of one of the answer's "errors"; an empty list: no errors.
 *  - "conditions_unordered": true: "conditions" are a set.
 *  - "X_min_s" and "X_max_s" bound the answer's "X_s"; an answer that has "X_min_s" itself is
 *    compared by value.
 *  - a list that is absent is empty, at every depth.
 * Returns 0; -ENOMEM. What is expected and not had is in *ret_wanted, and what is had and not
 * expected in *ret_had, both owned by the caller and both empty objects for a right answer.
 */
int vectors_compare(json_t *vector, json_t *got, vectors_rule_fn rule, json_t **ret_wanted,
		    json_t **ret_had);

bool vectors_same(const json_t *a, const json_t *b);

/* For a rule of the form "only the members listed": leaves GOT only what EXPECTED lists, in objects
 * below objects and in list entries at the same place. */
void vectors_keep_listed(const json_t *expected, json_t *got);

bool vectors_has(const json_t *list, const char *text);

/* For rules: whether any string of the list has PART in it. */
bool vectors_any_contains(const json_t *list, const char *part);

#endif
