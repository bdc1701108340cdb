// SPDX-License-Identifier: Apache-2.0
/* The kubelet's shutdown state file: two times, of which the zero time is none. */
#include "wire/kubernetes/shutdown_state.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/rfc3339.h"
#include "base/time.h"
#include "wire/json/writer.h"

#define ZERO_TIME "0001-01-01T00:00:00Z"

/* As time.RFC3339Nano: no zeros at the fraction's end, and no fraction of zeros alone. */
static void add_time(struct buf *out, const char *key, bool set, int64_t wall_ns)
{
	char text[RFC3339_SIZE];
	size_t end;

	if (!set) {
		jsonw_str(out, key, ZERO_TIME);
		return;
	}
	end = strlen(rfc3339_format(wall_ns, text)) - 1;
	while (text[end - 1] == '0')
		end--;
	if (text[end - 1] == '.')
		end--;
	text[end] = 'Z';
	jsonw_strn(out, key, text, end + 1);
}

int shutstate_write(struct buf *out, const struct shutstate *state)
{
	jsonw_object(out, NULL);
	add_time(out, "startTime", state->started, state->start_wall_ns);
	add_time(out, "endTime", state->ended, state->end_wall_ns);
	jsonw_object_end(out);
	return buf_error(out);
}

static int read_time(const json_t *root, const char *key, bool *ret_set, int64_t *ret_wall_ns)
{
	const json_t *value = json_object_get(root, key);
	const char *text = json_string_value(value);

	if (!value || json_is_null(value) || (text && strcmp(text, ZERO_TIME) == 0))
		return 0;
	if (!text || rfc3339_parse(text, ret_wall_ns) < 0)
		return -EBADMSG;
	*ret_set = true;
	return 0;
}

int shutstate_read(const char *text, size_t size, struct shutstate *ret)
{
	struct shutstate state = {};
	json_auto_t *root = NULL;
	json_error_t error;

	if (size > SHUTSTATE_MAX_SIZE)
		return -EFBIG;
	if (!text) {
		*ret = state;
		return 0;
	}
	root = json_loadb(text, size, 0, &error);
	if (!root && json_error_code(&error) == json_error_out_of_memory)
		return -ENOMEM;
	if (!json_is_object(root) ||
	    read_time(root, "startTime", &state.started, &state.start_wall_ns) < 0 ||
	    read_time(root, "endTime", &state.ended, &state.end_wall_ns) < 0)
		return -EBADMSG;
	*ret = state;
	return 0;
}

int64_t shutstate_seconds(bool set, int64_t wall_ns)
{
	if (!set)
		return 0;
	return wall_ns / NS_PER_S - (wall_ns % NS_PER_S < 0);
}
