// SPDX-License-Identifier: Apache-2.0
#include "wire/kubernetes/kubelet_files.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/time.h"
#include "wire/json/writer.h"

/* The feature is on by default since 1.21, with priorities since 1.24. */
#define GATE_ON_SINCE	       21
#define PRIORITY_GATE_ON_SINCE 24

#define KIND	  "KubeletConfiguration"
#define API_GROUP "kubelet.config.k8s.io/"
#define RANGES	  "shutdownGracePeriodByPodPriority"

struct reader {
	yaml_document_t *document;
	struct kubeletconf *conf;
	struct kubeletconf_why *why;
};

/* at NULL: it is of no line. Returns error. */
static int __attribute__((format(printf, 4, 5)))
refuse(const struct reader *r, int error, const yaml_node_t *at, const char *format, ...)
{
	char *to = r->why->text;
	size_t size = sizeof(r->why->text), n = 0;
	va_list args;

	if (at)
		n = (size_t)snprintf(to, size, "line %zu: ", at->start_mark.line + 1);
	va_start(args, format);
	vsnprintf(to + n, size - n, format, args);
	va_end(args);
	return error;
}

/* NULL unless it is a plain value, quoted or not. */
static const char *text_of(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

static bool is_quoted(const yaml_node_t *node)
{
	return node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
}

static bool is_one_of(const char *text, const char *const *words, size_t n)
{
	while (n > 0)
		if (strcmp(text, words[--n]) == 0)
			return true;
	return false;
}

/* What says nothing. */
static bool is_null(const yaml_node_t *node)
{
	static const char *const words[] = {"null", "Null", "NULL", "~"};
	const char *text = text_of(node);

	if (!node)
		return true;
	return text && !is_quoted(node) &&
	       (!*text || is_one_of(text, words, sizeof(words) / sizeof(*words)));
}

/* *ret is NULL if the key is missing. The kubelet takes the last of two equal keys. */
static int member(const struct reader *r, const yaml_node_t *mapping, const char *name,
		  const yaml_node_t **ret)
{
	const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;

	*ret = NULL;
	for (; pair < mapping->data.mapping.pairs.top; pair++) {
		const yaml_node_t *at = yaml_document_get_node(r->document, pair->key);
		const char *key = text_of(at);

		if (!key || strcmp(key, name) != 0)
			continue;
		if (*ret)
			return refuse(r, -EBADMSG, at, "%s is there twice", name);
		*ret = yaml_document_get_node(r->document, pair->value);
	}
	return 0;
}

static int read_duration(const struct reader *r, const yaml_node_t *mapping, const char *name,
			 int64_t *ret)
{
	const yaml_node_t *node;
	const char *text;
	int result = member(r, mapping, name, &node);

	if (result < 0 || is_null(node))
		return result;
	text = text_of(node);
	/* Without a unit or quotes it is a number, 0 as well. */
	if (!text || (!is_quoted(node) && !strchr("smh", text[strlen(text) - 1])) ||
	    goduration_parse(text, ret) < 0)
		return refuse(r, -EBADMSG, node, "%s must be a duration like 30s or 1m30s", name);
	return 0;
}

/* 010 is eight for the kubelet, and ten for most people. */
static bool is_decimal(const char *text)
{
	const char *digits = text + (*text == '-');

	return *digits && !digits[strspn(digits, "0123456789")] && (*digits != '0' || !digits[1]);
}

static int read_number(const struct reader *r, const yaml_node_t *mapping, const char *name,
		       int64_t min, int64_t max, int64_t *ret)
{
	const yaml_node_t *node;
	const char *text;
	long long value = 0;
	int result = member(r, mapping, name, &node);

	if (result < 0 || is_null(node))
		return result;
	text = text_of(node);
	errno = 0;
	if (text && !is_quoted(node) && is_decimal(text))
		value = strtoll(text, NULL, 10);
	else
		errno = EINVAL;
	if (errno || value < min || value > max)
		return refuse(r, -EBADMSG, node,
			      "%s must be a whole number from %" PRId64 " to %" PRId64
			      ", without quotes or leading zeros",
			      name, min, max);
	*ret = value;
	return 0;
}

static int read_range(const struct reader *r, const yaml_node_t *node)
{
	int64_t priority = 0, seconds = 0;
	int result;

	if (!node || node->type != YAML_MAPPING_NODE)
		return refuse(r, -EBADMSG, node, RANGES " has an entry that is no mapping");
	if (r->conf->n_list == KUBELETCONF_RANGES_MAX)
		return refuse(r, -E2BIG, node, RANGES " has more than %d entries",
			      KUBELETCONF_RANGES_MAX);
	result = read_number(r, node, "priority", INT32_MIN, INT32_MAX, &priority);
	if (result == 0)
		result = read_number(r, node, "shutdownGracePeriodSeconds", INT64_MIN, INT64_MAX,
				     &seconds);
	if (result == 0)
		r->conf->list[r->conf->n_list++] =
			(struct shutplan_range){.priority = (int32_t)priority, .seconds = seconds};
	return result;
}

static int read_list(const struct reader *r, const yaml_node_t *root)
{
	const yaml_node_t *node;
	int result = member(r, root, RANGES, &node);

	if (result < 0 || is_null(node))
		return result;
	if (node->type != YAML_SEQUENCE_NODE)
		return refuse(r, -EBADMSG, node, RANGES " must be a list");
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     result == 0 && item < node->data.sequence.items.top; item++)
		result = read_range(r, yaml_document_get_node(r->document, *item));
	return result;
}

static int read_gate(const struct reader *r, const yaml_node_t *gates, const char *name,
		     enum kubeletconf_gate *ret)
{
	static const char *const on[] = {"true", "True", "TRUE", "yes", "Yes",
					 "YES",	 "on",	 "On",	 "ON"};
	static const char *const off[] = {"false", "False", "FALSE", "no", "No",
					  "NO",	   "off",   "Off",   "OFF"};
	const yaml_node_t *node;
	const char *text;
	int result = member(r, gates, name, &node);

	if (result < 0 || !node)
		return result;
	text = text_of(node);
	if (text && !is_quoted(node) && is_one_of(text, on, sizeof(on) / sizeof(*on)))
		*ret = KUBELETCONF_ON;
	else if (is_null(node) ||
		 (text && !is_quoted(node) && is_one_of(text, off, sizeof(off) / sizeof(*off))))
		*ret = KUBELETCONF_OFF;
	else
		return refuse(r, -EBADMSG, node, "%s must be true or false", name);
	return 0;
}

static int read_gates(const struct reader *r, const yaml_node_t *root)
{
	const yaml_node_t *gates;
	int result = member(r, root, "featureGates", &gates);

	if (result < 0 || is_null(gates))
		return result;
	if (gates->type != YAML_MAPPING_NODE)
		return refuse(r, -EBADMSG, gates, "featureGates must be a mapping");
	result = read_gate(r, gates, "GracefulNodeShutdown", &r->conf->gate);
	return result < 0 ? result
			  : read_gate(r, gates, "GracefulNodeShutdownBasedOnPodPriority",
				      &r->conf->priority_gate);
}

/* Which decoder the kubelet takes for it, and whether it has one. */
static int check_type(const struct reader *r, const yaml_node_t *root)
{
	const yaml_node_t *kind, *version;
	int result = member(r, root, "kind", &kind);

	if (result == 0)
		result = member(r, root, "apiVersion", &version);
	if (result < 0)
		return result;
	if (is_null(kind))
		return refuse(r, -EBADMSG, NULL, "Object 'Kind' is missing");
	if (!text_of(kind) || strcmp(text_of(kind), KIND) != 0)
		return refuse(r, -EBADMSG, kind, "kind is not " KIND);
	if (is_null(version))
		return refuse(r, -EBADMSG, NULL, "Object 'apiVersion' is missing");
	if (!text_of(version) || strncmp(text_of(version), API_GROUP, strlen(API_GROUP)) != 0)
		return refuse(r, -EBADMSG, version, "apiVersion is not " API_GROUP "v1beta1");
	return 0;
}

static int read_root(const struct reader *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(r->document);
	int result;

	if (!root)
		return refuse(r, -EBADMSG, NULL, "it is empty");
	if (root->type != YAML_MAPPING_NODE)
		return refuse(r, -EBADMSG, root, "it is no mapping");
	result = check_type(r, root);
	if (result == 0)
		result = read_duration(r, root, "shutdownGracePeriod", &r->conf->total_ns);
	if (result == 0)
		result = read_duration(r, root, "shutdownGracePeriodCriticalPods",
				       &r->conf->critical_ns);
	if (result == 0)
		result = read_list(r, root);
	return result < 0 ? result : read_gates(r, root);
}

static int read_document(const struct reader *r, const char *text, size_t size)
{
	_cleanup_(yaml_parser_delete) yaml_parser_t parser = {};
	int result;

	if (!yaml_parser_initialize(&parser))
		return refuse(r, -ENOMEM, NULL, "out of memory");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (!yaml_parser_load(&parser, r->document))
		return parser.error == YAML_MEMORY_ERROR
			       ? refuse(r, -ENOMEM, NULL, "out of memory")
			       : refuse(r, -EBADMSG, NULL, "line %zu: %s",
					parser.problem_mark.line + 1, parser.problem);
	result = read_root(r);
	yaml_document_delete(r->document);
	return result;
}

int kubeletconf_read(const char *text, size_t size, struct kubeletconf *ret,
		     struct kubeletconf_why *ret_why)
{
	yaml_document_t document;
	const struct reader reader = {.document = &document, .conf = ret, .why = ret_why};
	int r;

	memset(ret, 0, sizeof(*ret));
	if (size > KUBELETCONF_SIZE_MAX)
		r = refuse(&reader, -E2BIG, NULL, "it is bigger than %zu KiB",
			   KUBELETCONF_SIZE_MAX >> 10);
	else
		r = read_document(&reader, text, size);
	if (r < 0)
		memset(ret, 0, sizeof(*ret));
	return r;
}

static bool is_on(enum kubeletconf_gate gate, bool by_default)
{
	return gate == KUBELETCONF_DEFAULT ? by_default : gate == KUBELETCONF_ON;
}

struct shutplan_config kubeletconf_plan(const struct kubeletconf *conf, unsigned int minor)
{
	return (struct shutplan_config){
		.gate = is_on(conf->gate, minor >= GATE_ON_SINCE),
		.priority_gate = is_on(conf->priority_gate, minor >= PRIORITY_GATE_ON_SINCE),
		.total_ns = conf->total_ns,
		.critical_ns = conf->critical_ns,
		.list = conf->list,
		.n_list = conf->n_list,
	};
}

/* --- the shutdown's state --------------------------------------------------------------------- */

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
