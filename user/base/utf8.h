/* SPDX-License-Identifier: Apache-2.0 */
/* Bytes that claim to be UTF-8: whether they are, and how to show them safely. */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"

/* How many of the eight bytes of word, the first one lowest, come before the first that is not
 * printable ASCII, or is a quote or a backslash: most text consists of such plain bytes, and is
 * read and written faster in words. */
static inline unsigned int utf8_count_plain(uint64_t word)
{
	const uint64_t each = 0x0101010101010101u;
	/* The high bit is set in a byte that has it, and in one from which more is taken than it
	 * holds; what that borrows is from later bytes. */
	uint64_t odd = (word | (word - each * 0x20) | ((word ^ each * '"') - each) |
			((word ^ each * '\\') - each) | ((word ^ each * 0x7f) - each)) &
		       each * 0x80;

	return odd ? (unsigned int)__builtin_ctzll(odd) / 8 : 8;
}

/* The same for any number of bytes. */
size_t utf8_plain(const char *bytes, size_t size);

/* Reads the character at the beginning of size > 0 bytes: returns its length, 1 to 4, and the code
 * point; 0 for what is not UTF-8 (RFC 3629: no surrogate, no overlong form, nothing above U+10FFFF,
 * nothing cut short). */
size_t utf8_decode(const char *bytes, size_t size, uint32_t *ret_code);

/* How many of the first bytes to keep where only room fit: len if all do, else no more than room,
 * up to the end of a character. The text is UTF-8. */
size_t utf8_fit(const char *text, size_t len, size_t room);

/* Writes the 1 to 4 bytes of a code point that is one and returns how many. */
size_t utf8_encode(uint32_t code, char ret[static 4]);

/* True for what would change how a terminal, or a reader, takes the text around it: controls of
 * both sets, marks and overrides of direction, and characters of no width. */
bool utf8_is_treacherous(uint32_t code);

/* Adds the bytes as printable ASCII, which any terminal shows as they are and whose columns are its
 * bytes: everything else as \x1b (a byte: a control, DEL, or not UTF-8), \u202e or \U0001f4a9 (a
 * character), and a backslash as two. */
void utf8_add_visible(struct buf *buf, const char *bytes, size_t size);
/* The same for a sentence: letters of scripts that are written from left to right are added as they
 * are. */
void utf8_add_readable(struct buf *buf, const char *text);
/* A text that has such sentences, for a terminal that takes their bytes for other characters, or
 * for controls: the letters are escaped, too. */
void utf8_add_without_letters(struct buf *buf, const char *text, size_t size);
/* How many columns such a text takes; how many of its bytes fit into so many, up to the end of a
 * character. */
size_t utf8_columns(const char *text, size_t size);
size_t utf8_fit_columns(const char *text, size_t len, size_t columns);

#endif
