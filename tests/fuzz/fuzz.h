/* SPDX-License-Identifier: Apache-2.0 */
/* The one function a fuzz target defines, under the name libFuzzer looks for, and what they share. */
#ifndef GRACED_TESTS_FUZZ_H
#define GRACED_TESTS_FUZZ_H

#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

/* Feeds size bytes to the code under test and returns 0. The bytes may be anything; a target fails
 * only by crashing, by a sanitizer's report or by assert(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* It ends within its array, and is UTF-8. */
static inline void fuzz_check_text(const char *text, size_t size)
{
	size_t left = strnlen(text, size), n;
	uint32_t code;

	assert(left < size);
	for (; left > 0; text += n, left -= n) {
		n = utf8_decode(text, left, &code);
		assert(n > 0);
	}
}

#endif
