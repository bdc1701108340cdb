/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the known word that is probably meant by a misspelt one. */
#ifndef BASE_NEAREST_H
#define BASE_NEAREST_H

#include <stddef.h>

/*
 * The index of the word that is most like this one, the first of several; n when none is near. Case
 * and the characters - _ . do not count, and of a dotted word (web.listenAddress) the part behind
 * the last dot will do.
 */
size_t nearest_find(const char *word, const char *const *words, size_t n);

#endif
