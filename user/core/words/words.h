/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The lists of words: what records, options and recordings call the members of an enum. Each list
 * stands once, in words.def: from it come its enum LIST, LIST_name(), and words_LIST for the way
 * back.
 */
#ifndef CORE_WORDS_WORDS_H
#define CORE_WORDS_WORDS_H

struct words {
	const char *const *words; /* by number; NULL for a member that has none */
	unsigned int n;
	const char *other; /* for a number that is no member */
};

static inline const char *words_name(const struct words *words, unsigned int number)
{
	return number < words->n ? words->words[number] : words->other;
}

/* The number that has the word; -1: none has. */
int words_find(const struct words *words, const char *word);

/* clang-format off */
#define BEGIN(list, other) enum list {
#define NAME(member, word) member,
#define END(...) __VA_ARGS__ };
/* clang-format on */
#include "core/words/words.def"
#undef BEGIN
#undef NAME
#undef END

#define BEGIN(list, other)                                              \
	extern const struct words words_##list;                         \
	static inline const char *list##_name(enum list number)         \
	{                                                               \
		return words_name(&words_##list, (unsigned int)number); \
	}
#define NAME(member, word)
#define END(...)
#include "core/words/words.def"
#undef BEGIN
#undef NAME
#undef END

#endif
