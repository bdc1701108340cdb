/* SPDX-License-Identifier: Apache-2.0 */
/* Makes expectations wrong, one place at a time: a comparison is worth what it notices. */
#ifndef TESTS_KUBELET_SPOIL_H
#define TESTS_KUBELET_SPOIL_H

#include <jansson.h>
#include <stddef.h>

/*
 * A copy of the case whose expectation is wrong at place, counted from 0: a value is another one, a
 * list has an entry more or one less, an empty object has a member. What only says how to compare
 * is left alone. 1 with the copy in *ret (NULL without memory) and in what the place; 0 when there
 * are no more.
 */
int vectors_spoil(json_t *vector, size_t place, json_t **ret, char *what, size_t size);

#endif
