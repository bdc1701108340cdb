// SPDX-License-Identifier: Apache-2.0
#include "core/words/words.h"

#include <stddef.h>
#include <string.h>

/* clang-format off */
#define BEGIN(list, other) static const char *const list##_list[] = {
#define NAME(member, word) [member] = word,
#define END(...) };
/* clang-format on */
#include "core/words/words.def"
#undef BEGIN
#undef NAME
#undef END

#define BEGIN(list, other)                                                                    \
	const struct words words_##list = {list##_list, sizeof(list##_list) / sizeof(char *), \
					   other};
#define NAME(member, word)
#define END(...)
#include "core/words/words.def"

int words_find(const struct words *words, const char *word)
{
	for (unsigned int i = 0; i < words->n; i++)
		if (words->words[i] && strcmp(words->words[i], word) == 0)
			return (int)i;
	return -1;
}
