// SPDX-License-Identifier: Apache-2.0
/* Reads and writes pods in the short form of the cases. */
#include "kubelet/pod.h"

#include <errno.h>
#include <string.h>

static int word_of(const json_t *value, const char *const *words, size_t n, int *ret)
{
	const char *text = json_string_value(value);

	for (size_t i = 0; text && i < n; i++) {
		if (words[i] && strcmp(words[i], text) == 0) {
			*ret = (int)i;
			return 0;
		}
	}
	return -EINVAL;
}

int vectors_read_policy(const json_t *value, enum meta_restart_policy *ret)
{
	static const char *const words[] = {"", "Always", "OnFailure", "Never"};
	int word = 0, r = value ? word_of(value, words, 4, &word) : 0;

	*ret = (enum meta_restart_policy)word;
	return r;
}

static int read_rule(json_t *json, struct arena *arena, struct podobj_rule *rule)
{
	static const char *const ops[] = {NULL, "In", "NotIn"};
	static const char *const actions[] = {NULL, "Restart", "RestartAllContainers"};
	json_t *op, *action, *values;
	int32_t *codes;
	int op_word, action_word;

	if (json_unpack(json, "{s:o, s:o, s:o!}", "op", &op, "action", &action, "values", &values) <
		    0 ||
	    word_of(op, ops, 3, &op_word) < 0 || word_of(action, actions, 3, &action_word) < 0 ||
	    !json_is_array(values))
		return -EINVAL;
	rule->op = (enum podobj_op)op_word;
	rule->action = (enum podobj_action)action_word;
	codes = arena_array(arena, json_array_size(values), sizeof(*codes));
	if (!codes)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(values); i++)
		codes[i] = (int32_t)json_integer_value(json_array_get(values, i));
	rule->codes = codes;
	rule->n_codes = json_array_size(values);
	return 0;
}

static int read_container(json_t *json, struct arena *arena, struct podobj_container *container)
{
	json_t *policy = NULL, *list = NULL;
	struct podobj_rule *rules;

	*container = (struct podobj_container){.name = "", .image = ""};
	if (json_unpack(json, "{s:s, s?o, s?o!}", "name", &container->name, "restartPolicy",
			&policy, "rules", &list) < 0 ||
	    vectors_read_policy(policy, &container->restart_policy) < 0)
		return -EINVAL;
	rules = arena_array(arena, json_array_size(list), sizeof(*rules));
	if (!rules)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		int r = read_rule(json_array_get(list, i), arena, &rules[i]);

		if (r < 0)
			return r;
	}
	container->rules = rules;
	container->n_rules = json_array_size(list);
	return 0;
}

int vectors_read_containers(const json_t *list, struct arena *arena, struct podobj_containers *ret)
{
	struct podobj_container *items = arena_array(arena, json_array_size(list), sizeof(*items));

	if (list && !json_is_array(list))
		return -EINVAL;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		int r = read_container(json_array_get(list, i), arena, &items[i]);

		if (r < 0)
			return r;
	}
	*ret = (struct podobj_containers){.items = items, .n = json_array_size(list)};
	return 0;
}

static int read_end(json_t *json, struct podobj_container_state *state)
{
	state->kind = PODOBJ_TERMINATED;
	return json_unpack(json, "{s?i, s?s, s?s!}", "exit_code", &state->exit_code, "reason",
			   &state->reason, "message", &state->message) < 0
		       ? -EINVAL
		       : 0;
}

/* Without a "state" there is none. */
static int read_status(json_t *json, struct podobj_status *status)
{
	static const char *const kinds[] = {"none", "waiting", "running", "terminated"};
	json_t *state = NULL, *last = NULL;
	int ready = 0, started = -1, kind = PODOBJ_NONE;

	*status = podobj_no_status("");
	if (json_unpack(json, "{s:s, s?o, s?i, s?s, s?s, s?o, s?b, s?b!}", "name", &status->name,
			"state", &state, "exit_code", &status->state.exit_code, "reason",
			&status->state.reason, "message", &status->state.message, "last_terminated",
			&last, "ready", &ready, "started", &started) < 0)
		return -EINVAL;
	if (state && word_of(state, kinds, 4, &kind) < 0)
		return -EINVAL;
	status->state.kind = (enum podobj_state)kind;
	status->ready = ready;
	if (started >= 0)
		status->started = started ? PODOBJ_STARTED_YES : PODOBJ_STARTED_NO;
	return last && !json_is_null(last) ? read_end(last, &status->last) : 0;
}

int vectors_read_statuses(const json_t *list, struct arena *arena, struct podobj_statuses *ret)
{
	struct podobj_status *items = arena_array(arena, json_array_size(list), sizeof(*items));

	if (list && !json_is_array(list) && !json_is_null(list))
		return -EINVAL;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		int r = read_status(json_array_get(list, i), &items[i]);

		if (r < 0)
			return r;
	}
	*ret = (struct podobj_statuses){
		.items = items, .n = json_array_size(list), .absent = !json_is_array(list)};
	return 0;
}

int vectors_read_conditions(const json_t *list, struct arena *arena, struct podobj_conditions *ret)
{
	struct podobj_condition *items = arena_array(arena, json_array_size(list), sizeof(*items));

	if (list && !json_is_array(list) && !json_is_null(list))
		return -EINVAL;
	if (!items)
		return -ENOMEM;
	for (size_t i = 0; i < json_array_size(list); i++) {
		items[i] = (struct podobj_condition){.reason = "", .message = ""};
		if (json_unpack(json_array_get(list, i), "{s:s, s:s, s?s, s?s!}", "type",
				&items[i].type, "status", &items[i].status, "reason",
				&items[i].reason, "message", &items[i].message) < 0)
			return -EINVAL;
	}
	*ret = (struct podobj_conditions){.items = items, .n = json_array_size(list)};
	return 0;
}

static void add_text(json_t *object, const char *key, const char *text)
{
	if (*text)
		json_object_set_new(object, key, json_string(text));
}

static json_t *write_status(const struct podobj_status *status)
{
	static const char *const kinds[] = {"none", "waiting", "running", "terminated"};
	json_t *json =
		json_pack("{s:s, s:s}", "name", status->name, "state", kinds[status->state.kind]);

	if (status->state.kind == PODOBJ_TERMINATED)
		json_object_set_new(json, "exit_code", json_integer(status->state.exit_code));
	add_text(json, "reason", status->state.reason);
	if (status->last.kind == PODOBJ_TERMINATED) {
		json_t *last = json_pack("{s:i}", "exit_code", status->last.exit_code);

		add_text(last, "reason", status->last.reason);
		json_object_set_new(json, "last_terminated", last);
	}
	return json;
}

json_t *vectors_write_statuses(const struct podobj_statuses *statuses)
{
	json_t *list = json_array();

	for (size_t i = 0; i < statuses->n; i++)
		json_array_append_new(list, write_status(&statuses->items[i]));
	return list;
}

json_t *vectors_write_conditions(const struct podobj_conditions *conditions)
{
	json_t *list = json_array();

	for (size_t i = 0; i < conditions->n; i++) {
		const struct podobj_condition *c = &conditions->items[i];
		json_t *json = json_pack("{s:s, s:s}", "type", c->type, "status", c->status);

		add_text(json, "reason", c->reason);
		add_text(json, "message", c->message);
		json_array_append_new(list, json);
	}
	return list;
}
