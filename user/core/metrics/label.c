// SPDX-License-Identifier: Apache-2.0
/* Label values: bounded, valid UTF-8, and showing what they are. */
#include "core/metrics/label.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/utf8.h"

#define REPLACEMENT 0xfffd

static bool is_harmless(uint32_t code)
{
	return code == '\n' || !utf8_is_treacherous(code);
}

size_t label_clean(char ret[static LABEL_MAX + 1], const char *text)
{
	size_t n = 0;

	for (size_t len; text && *text; text += len) {
		char bytes[4];
		uint32_t code;
		size_t size;

		/* What most labels are made of. */
		if (*text >= ' ' && *text <= '~') {
			if (n == LABEL_MAX)
				break;
			ret[n++] = *text;
			len = 1;
			continue;
		}
		len = utf8_decode(text, strnlen(text, sizeof(bytes)), &code);
		if (len == 0 || !is_harmless(code))
			code = REPLACEMENT;
		len += len == 0;
		size = utf8_encode(code, bytes);
		if (n + size > LABEL_MAX)
			break;
		memcpy(ret + n, bytes, size);
		n += size;
	}
	ret[n] = '\0';
	return n;
}
