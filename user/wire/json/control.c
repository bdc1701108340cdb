// SPDX-License-Identifier: Apache-2.0
/* Writes and reads lines of the control socket; any other bytes are refused. */
#include "wire/json/control.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/json/writer.h"

DEFINE_CLEANUP(json_t *, json_decref);

static const char *const names[CONTROL_COMMAND_COUNT] =
	{[CONTROL_PODS] = "pods", [CONTROL_SETTINGS] = "settings"};

static void begin(struct buf *out)
{
	jsonw_object(out, NULL);
	jsonw_u64(out, "version", CONTROL_VERSION);
}

static void end(struct buf *out)
{
	jsonw_object_end(out);
	buf_addc(out, '\n');
}

void control_add_request(struct buf *out, enum control_command command)
{
	begin(out);
	jsonw_str(out, "command", names[command]);
	end(out);
}

void control_add_head(struct buf *out, uint64_t lines)
{
	begin(out);
	jsonw_u64(out, "lines", lines);
	end(out);
}

void control_add_error(struct buf *out, const char *why)
{
	begin(out);
	jsonw_str(out, "error", why);
	end(out);
}

void control_add_setting(struct buf *out, const char *key, const char *value)
{
	jsonw_object(out, NULL);
	jsonw_str(out, "key", key);
	jsonw_str(out, "value", value);
	end(out);
}

static bool read_setting(const char *line, size_t size, const char *key, char *ret, size_t room)
{
	_cleanup_(cleanup_json_decref) json_t *object = json_loadb(line, size, 0, NULL);
	const char *name = json_string_value(json_object_get(object, "key"));
	const char *value = json_string_value(json_object_get(object, "value"));

	if (!name || !value || strcmp(name, key) != 0 || strlen(value) >= room)
		return false;
	strcpy(ret, value);
	return true;
}

bool control_find_setting(const char *lines, const char *key, char *ret, size_t size)
{
	for (size_t n; *lines; lines += n + (lines[n] == '\n')) {
		n = strcspn(lines, "\n");
		if (read_setting(lines, n, key, ret, size))
			return true;
	}
	return false;
}

static int fail(struct control_why *why, int error, const char *text)
{
	snprintf(why->text, sizeof(why->text), "%s", text);
	return error;
}

/* An object of our version. */
static int read_object(const char *line, size_t size, json_t **ret, struct control_why *why)
{
	_cleanup_(cleanup_json_decref) json_t *object =
		json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
	const json_t *version = json_object_get(object, "version");

	if (!json_is_integer(version))
		return fail(why, -EBADMSG, "this is not the control protocol of graced");
	if (json_integer_value(version) != CONTROL_VERSION) {
		snprintf(why->text, sizeof(why->text),
			 "version %" PRIi64 " of the control protocol is not known here, only %d",
			 (int64_t)json_integer_value(version), CONTROL_VERSION);
		return -EPROTONOSUPPORT;
	}
	*ret = TAKE_PTR(object);
	return 0;
}

int control_read_request(const char *line, size_t size, enum control_command *ret,
			 struct control_why *ret_why)
{
	_cleanup_(cleanup_json_decref) json_t *object = NULL;
	const char *command;
	int r = read_object(line, size, &object, ret_why);

	if (r < 0)
		return r;
	command = json_string_value(json_object_get(object, "command"));
	if (!command)
		return fail(ret_why, -EBADMSG, "the request names no command");
	for (unsigned int i = 0; i < CONTROL_COMMAND_COUNT; i++) {
		if (strcmp(command, names[i]) != 0)
			continue;
		*ret = (enum control_command)i;
		return 0;
	}
	snprintf(ret_why->text, sizeof(ret_why->text), "there is no command '%.64s' here", command);
	return -EOPNOTSUPP;
}

int control_read_head(const char *line, size_t size, uint64_t *ret_lines,
		      struct control_why *ret_why)
{
	_cleanup_(cleanup_json_decref) json_t *object = NULL;
	const json_t *lines;
	const char *error;
	int r = read_object(line, size, &object, ret_why);

	if (r < 0)
		return r;
	error = json_string_value(json_object_get(object, "error"));
	if (error)
		return fail(ret_why, -EREMOTEIO, error);
	lines = json_object_get(object, "lines");
	if (!json_is_integer(lines) || json_integer_value(lines) < 0)
		return fail(ret_why, -EBADMSG, "the reply has no number of lines");
	*ret_lines = (uint64_t)json_integer_value(lines);
	return 0;
}
