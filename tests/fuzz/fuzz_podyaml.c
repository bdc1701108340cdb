// SPDX-License-Identifier: Apache-2.0
/* Any bytes as YAML: refused with what is wrong, or lines of which each is JSON, of bounded length.
 */
#include <assert.h>
#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "fuzz/fuzz.h"
#include "wire/kubernetes/yaml.h"

/* Bytes of JSON for a byte of YAML: an escape of six, quotes, a comma, a line for each document. */
#define LONGER 16

/* A number may be too large for jansson, and is JSON nonetheless. */
static void check_line(const char *line, size_t len)
{
	json_error_t error;
	json_t *json = json_loadb(line, len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);

	assert(json || json_error_code(&error) == json_error_numeric_overflow);
	json_decref(json);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	_cleanup_(buf_free) struct buf out = {};
	struct podread_error error = {};
	int r = podyaml_to_json((const char *)data, size, &out, &error);
	const char *line = buf_str(&out);

	assert(out.len <= LONGER * (size + 1));
	if (r < 0) {
		assert(r == -EBADMSG && error.problem && error.line >= 0);
		return 0;
	}
	for (size_t len; *line; line += len + 1) {
		len = strcspn(line, "\n");
		assert(line[len] == '\n');
		check_line(line, len);
	}
	return 0;
}
