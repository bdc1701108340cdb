// SPDX-License-Identifier: Apache-2.0
/* Compares words by the number of edits between them. */
#include "base/nearest.h"

#include <stdint.h>
#include <string.h>

#define WORD_MAX   64
#define PREFIX_MIN 4

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* What counts of a word; 0 when that is too much to compare, or nothing. */
static size_t strip(const char *word, char ret[static WORD_MAX])
{
	size_t n = 0;

	for (; *word; word++) {
		if (strchr("-_.", *word))
			continue;
		if (n == WORD_MAX)
			return 0;
		ret[n++] = lower(*word);
	}
	return n;
}

static size_t min3(size_t a, size_t b, size_t c)
{
	size_t d = a < b ? a : b;

	return d < c ? d : c;
}

/* Letters to add, drop or replace. */
static size_t count_edits(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t row[WORD_MAX + 1];

	for (size_t j = 0; j <= n_b; j++)
		row[j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t diagonal = row[0];

		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			size_t above = row[j];

			row[j] = min3(row[j - 1] + 1, above + 1, diagonal + (a[i - 1] != b[j - 1]));
			diagonal = above;
		}
	}
	return row[n_b];
}

/* In half edits, so that a word that was not finished is nearer than one that was misspelt. */
static size_t distance(const char *stripped, size_t n, const char *candidate)
{
	char other[WORD_MAX];
	size_t n_other = strip(candidate, other), edits;

	if (n_other == 0)
		return SIZE_MAX;
	edits = count_edits(stripped, n, other, n_other);
	if (edits > 0 && n >= PREFIX_MIN && n < n_other && memcmp(stripped, other, n) == 0)
		return 1;
	return edits <= (n + 2) / 4 ? 2 * edits : SIZE_MAX;
}

size_t nearest_find(const char *word, const char *const *words, size_t n)
{
	size_t best = n, least = SIZE_MAX, n_stripped;
	char stripped[WORD_MAX];

	n_stripped = strip(word, stripped);
	for (size_t i = 0; i < n && n_stripped > 0; i++) {
		const char *tail = strrchr(words[i], '.');
		size_t whole = distance(stripped, n_stripped, words[i]), d;

		d = tail ? distance(stripped, n_stripped, tail + 1) : SIZE_MAX;
		/* The whole word wins over a tail of another one that fits as well. */
		if (d < SIZE_MAX)
			d++;
		if (whole < d)
			d = whole;
		if (d < least) {
			least = d;
			best = i;
		}
	}
	return best;
}
