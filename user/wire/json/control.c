// SPDX-License-Identifier: Apache-2.0
/* Writes and reads lines of the control socket; any other bytes are refused. */
#include "wire/json/control.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/rfc3339.h"
#include "wire/json/writer.h"

static const char *const names[CONTROL_COMMAND_COUNT] = {
	[CONTROL_PODS] = "pods",
	[CONTROL_SETTINGS] = "settings",
	[CONTROL_SHUTDOWN_STATUS] = "shutdown-status",
	[CONTROL_SHUTDOWN_BEGIN] = "shutdown-begin",
	[CONTROL_SHUTDOWN_CANCEL] = "shutdown-cancel",
	[CONTROL_FOLLOW] = "follow",
	[CONTROL_CONTAINERS] = "containers",
	[CONTROL_STOPPING] = "stopping",
};

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

void control_add_request(struct buf *out, const struct control_request *request)
{
	begin(out);
	jsonw_str(out, "command", names[request->command]);
	if (request->command == CONTROL_SHUTDOWN_BEGIN)
		jsonw_str(out, "action", shutdown_action_name(request->action));
	if (request->command == CONTROL_FOLLOW)
		jsonw_bool(out, "signals", request->signals);
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

void control_each_setting(const char *lines, control_setting_fn fn, void *userdata)
{
	for (size_t n; *lines; lines += n + (lines[n] == '\n')) {
		json_auto_t *object = NULL;
		const char *key, *value;

		n = strcspn(lines, "\n");
		object = json_loadb(lines, n, 0, NULL);
		key = json_string_value(json_object_get(object, "key"));
		value = json_string_value(json_object_get(object, "value"));
		if (key && value)
			fn(userdata, key, value);
	}
}

struct wanted {
	const char *key;
	char *ret;
	size_t size;
	bool found;
};

static void on_wanted(void *userdata, const char *key, const char *value)
{
	struct wanted *w = userdata;

	if (w->found || strcmp(key, w->key) != 0 || strlen(value) >= w->size)
		return;
	strcpy(w->ret, value);
	w->found = true;
}

bool control_find_setting(const char *lines, const char *key, char *ret, size_t size)
{
	struct wanted wanted = {.key = key, .ret = ret, .size = size};

	control_each_setting(lines, on_wanted, &wanted);
	return wanted.found;
}

static void add_counts(struct buf *out, const struct shutdown_status *s)
{
	jsonw_object(out, "containers");
	jsonw_u64(out, "known", s->containers);
	jsonw_u64(out, "living", s->living);
	jsonw_u64(out, "stopping", s->stopping);
	jsonw_object_end(out);
	jsonw_object(out, "pods");
	jsonw_u64(out, "known", s->pods);
	jsonw_u64(out, "stopped", s->pods_stopped);
	jsonw_u64(out, "ended", s->pods_ended);
	jsonw_object_end(out);
}

void control_add_shutdown(struct buf *out, const struct control_shutdown *r)
{
	const struct shutdown_status *s = &r->status;
	char time[RFC3339_SIZE];

	jsonw_object(out, NULL);
	jsonw_str(out, "type", "shutdown_status");
	jsonw_u64(out, "schema", 1);
	jsonw_str(out, "time", rfc3339_format(r->wall_ns, time));
	jsonw_u64(out, "boot_ns", r->at_ns);
	jsonw_str(out, "node", r->node);
	jsonw_str(out, "mode", r->off ? "off" : shutdown_mode_name(r->mode));
	jsonw_str(out, "state", r->off ? NULL : shutdown_state_name(s->state));
	jsonw_bool(out, "locked", s->locked);
	jsonw_bool(out, "announced", s->going);
	jsonw_str(out, "action", s->going ? shutdown_action_name(s->action) : NULL);
	jsonw_time(out, "announced_boot_ns", s->announced_ns);
	jsonw_time(out, "deadline_boot_ns", s->deadline_ns);
	add_counts(out, s);
	end(out);
}

static const char *text_of(const json_t *object, const char *key)
{
	return json_string_value(json_object_get(object, key)) ?: "";
}

static uint64_t number_of(const json_t *object, const char *key)
{
	json_int_t value = json_integer_value(json_object_get(object, key));

	return value > 0 ? (uint64_t)value : 0;
}

static int read_shutdown(const json_t *line, struct control_shutdown *ret)
{
	const json_t *containers = json_object_get(line, "containers");
	const json_t *pods = json_object_get(line, "pods");
	struct shutdown_status *s = &ret->status;
	int mode = words_find(&words_shutdown_mode, text_of(line, "mode"));
	int state = words_find(&words_shutdown_state, text_of(line, "state"));

	if (strcmp(text_of(line, "type"), "shutdown_status") != 0)
		return -EBADMSG;
	ret->off = strcmp(text_of(line, "mode"), "off") == 0;
	if (!ret->off && (mode < 0 || state < 0))
		return -EBADMSG;
	if (!ret->off) {
		ret->mode = (enum shutdown_mode)mode;
		s->state = (enum shutdown_state)state;
	}
	ret->at_ns = number_of(line, "boot_ns");
	s->locked = json_is_true(json_object_get(line, "locked"));
	s->going = json_is_true(json_object_get(line, "announced"));
	s->action = shutdown_action_of(text_of(line, "action"));
	s->announced_ns = number_of(line, "announced_boot_ns");
	s->deadline_ns = number_of(line, "deadline_boot_ns");
	s->containers = number_of(containers, "known");
	s->living = number_of(containers, "living");
	s->stopping = number_of(containers, "stopping");
	s->pods = number_of(pods, "known");
	s->pods_stopped = number_of(pods, "stopped");
	s->pods_ended = number_of(pods, "ended");
	return 0;
}

int control_read_shutdown(const char *line, size_t size, struct control_shutdown *ret)
{
	json_auto_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);

	*ret = (struct control_shutdown){};
	return read_shutdown(object, ret);
}

static int fail(struct control_why *why, int error, const char *text)
{
	snprintf(why->text, sizeof(why->text), "%s", text);
	return error;
}

/* An object of our version. */
static int read_object(const char *line, size_t size, json_t **ret, struct control_why *why)
{
	json_auto_t *object = json_loadb(line, size, JSON_REJECT_DUPLICATES, NULL);
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

/* One that is not named is unknown. */
static int read_action(const json_t *object, enum shutdown_action *ret, struct control_why *why)
{
	const json_t *member = json_object_get(object, "action");
	const char *name = json_string_value(member);

	*ret = SHUTDOWN_UNKNOWN;
	if (!member || (name && strcmp(name, shutdown_action_name(SHUTDOWN_UNKNOWN)) == 0))
		return 0;
	if (name)
		*ret = shutdown_action_of(name);
	if (*ret != SHUTDOWN_UNKNOWN)
		return 0;
	return fail(why, -EBADMSG, "the request names no action of a shutdown");
}

int control_read_request(const char *line, size_t size, struct control_request *ret,
			 struct control_why *ret_why)
{
	json_auto_t *object = NULL;
	struct control_request request = {};
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
		request.command = (enum control_command)i;
		request.signals = json_is_true(json_object_get(object, "signals"));
		if (request.command == CONTROL_SHUTDOWN_BEGIN)
			r = read_action(object, &request.action, ret_why);
		if (r >= 0)
			*ret = request;
		return r;
	}
	snprintf(ret_why->text, sizeof(ret_why->text), "there is no command '%.64s' here", command);
	return -EOPNOTSUPP;
}

int control_read_head(const char *line, size_t size, uint64_t *ret_lines,
		      struct control_why *ret_why)
{
	json_auto_t *object = NULL;
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

void control_add_follow(struct buf *out, const struct control_follow *follow)
{
	begin(out);
	jsonw_str(out, "terms", follow->terms);
	jsonw_bool(out, "pods", follow->pods);
	end(out);
}

int control_read_follow(const char *line, size_t size, struct control_follow *ret,
			struct control_why *ret_why)
{
	json_auto_t *object = NULL;
	const char *error, *terms;
	int r = read_object(line, size, &object, ret_why);

	if (r < 0)
		return r;
	error = json_string_value(json_object_get(object, "error"));
	if (error)
		return fail(ret_why, -EREMOTEIO, error);
	terms = json_string_value(json_object_get(object, "terms"));
	if (!terms || strlen(terms) >= sizeof(ret->terms))
		return fail(ret_why, -EBADMSG, "the reply does not say what the daemon watches");
	strcpy(ret->terms, terms);
	ret->pods = json_is_true(json_object_get(object, "pods"));
	return 0;
}

void control_add_querying(struct buf *out, uint64_t containers)
{
	jsonw_object(out, NULL);
	jsonw_u64(out, "asking", containers);
	end(out);
}

uint64_t control_read_querying(const char *line, size_t size)
{
	json_auto_t *object = json_loadb(line, size, 0, NULL);

	return number_of(object, "asking");
}
