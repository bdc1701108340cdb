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

/* Letters to add, drop, replace, or swap with the next. */
static size_t count_edits(const char *a, size_t n_a, const char *b, size_t n_b)
{
	size_t rows[3][WORD_MAX + 1];

	for (size_t j = 0; j <= n_b; j++)
		rows[0][j] = j;
	for (size_t i = 1; i <= n_a; i++) {
		size_t *row = rows[i % 3], *above = rows[(i - 1) % 3];

		row[0] = i;
		for (size_t j = 1; j <= n_b; j++) {
			row[j] = min3(row[j - 1] + 1, above[j] + 1,
				      above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = min3(row[j], rows[(i - 2) % 3][j - 2] + 1, SIZE_MAX);
		}
	}
	return rows[n_a % 3][n_b];
}

/* In half edits, so that a word that was not finished is nearer than one that was misspelt. */
static size_t distance(const char *word, const char *candidate)
{
	char a[WORD_MAX], b[WORD_MAX];
	size_t n_a = strip(word, a), n_b = strip(candidate, b), edits;

	if (n_a == 0 || n_b == 0)
		return SIZE_MAX;
	edits = count_edits(a, n_a, b, n_b);
	if (n_a >= PREFIX_MIN && n_a < n_b && memcmp(a, b, n_a) == 0)
		return 1;
	return edits <= (n_a + 2) / 4 ? 2 * edits : SIZE_MAX;
}

/* NULL, or what follows the last dot. */
static const char *tail_of(const char *word)
{
	const char *dot = strrchr(word, '.');

	return dot ? dot + 1 : NULL;
}

/* As distance(), of two words or else of what follows their last dots, which counts for less. */
static size_t distance_of_parts(const char *word, const char *candidate)
{
	const char *tail = tail_of(candidate);
	size_t whole = distance(word, candidate), d;

	if (!tail)
		return whole;
	d = distance(tail_of(word) ? tail_of(word) : word, tail);
	if (d < SIZE_MAX)
		d++;
	return whole < d ? whole : d;
}

size_t nearest_find(const char *word, const char *const *words, size_t n)
{
	size_t best = n, least = SIZE_MAX;

	for (size_t i = 0; i < n; i++) {
		size_t d = distance_of_parts(word, words[i]);

		if (d < least) {
			least = d;
			best = i;
		}
	}
	return best;
}
