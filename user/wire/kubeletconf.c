// SPDX-License-Identifier: Apache-2.0
#include "wire/kubeletconf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/cleanup.h"
#include "base/goduration.h"

/* The feature is on by default since 1.21, with priorities since 1.24. */
#define GATE_ON_SINCE	       21
#define PRIORITY_GATE_ON_SINCE 24

struct reader {
	yaml_document_t *document;
	struct kubeletconf *conf;
};

/* NULL unless it is a plain value. */
static const char *text_of(const struct reader *r, int index)
{
	const yaml_node_t *node = yaml_document_get_node(r->document, index);

	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

static const yaml_node_t *member(const struct reader *r, const yaml_node_t *mapping,
				 const char *name)
{
	const yaml_node_pair_t *pair = mapping->data.mapping.pairs.start;

	for (; pair < mapping->data.mapping.pairs.top; pair++) {
		const char *key = text_of(r, pair->key);

		if (key && strcmp(key, name) == 0)
			return yaml_document_get_node(r->document, pair->value);
	}
	return NULL;
}

static const char *value_of(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value
						      : NULL;
}

static int read_duration(const yaml_node_t *node, int64_t *ret)
{
	const char *text = value_of(node);

	if (!node || (text && (!*text || strcmp(text, "null") == 0 || strcmp(text, "~") == 0)))
		return 0;
	return text ? goduration_parse(text, ret) : -EBADMSG;
}

static int read_number(const yaml_node_t *node, int64_t min, int64_t max, int64_t *ret)
{
	const char *text = value_of(node);
	char *end;
	long long value;

	if (!node)
		return 0;
	if (!text || !*text)
		return -EBADMSG;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (errno || *end || value < min || value > max)
		return -EBADMSG;
	*ret = value;
	return 0;
}

static int read_range(const struct reader *r, const yaml_node_t *node)
{
	int64_t priority = 0, seconds = 0;

	if (!node || node->type != YAML_MAPPING_NODE)
		return -EBADMSG;
	if (r->conf->n_list == KUBELETCONF_RANGES_MAX)
		return -E2BIG;
	if (read_number(member(r, node, "priority"), INT32_MIN, INT32_MAX, &priority) < 0 ||
	    read_number(member(r, node, "shutdownGracePeriodSeconds"), INT64_MIN, INT64_MAX,
			&seconds) < 0)
		return -EBADMSG;
	r->conf->list[r->conf->n_list++] =
		(struct shutplan_range){.priority = (int32_t)priority, .seconds = seconds};
	return 0;
}

static int read_list(const struct reader *r, const yaml_node_t *node)
{
	int result = 0;

	if (!node || node->type == YAML_SCALAR_NODE)
		return 0;
	if (node->type != YAML_SEQUENCE_NODE)
		return -EBADMSG;
	for (const yaml_node_item_t *item = node->data.sequence.items.start;
	     result == 0 && item < node->data.sequence.items.top; item++)
		result = read_range(r, yaml_document_get_node(r->document, *item));
	return result;
}

static enum kubeletconf_gate read_gate(const struct reader *r, const yaml_node_t *gates,
				       const char *name)
{
	const char *text;

	if (!gates || gates->type != YAML_MAPPING_NODE)
		return KUBELETCONF_DEFAULT;
	text = value_of(member(r, gates, name));
	if (!text)
		return KUBELETCONF_DEFAULT;
	return strcmp(text, "true") == 0 ? KUBELETCONF_ON : KUBELETCONF_OFF;
}

static int read_root(const struct reader *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(r->document), *gates;
	int result;

	if (!root || root->type != YAML_MAPPING_NODE)
		return -EBADMSG;
	result = read_duration(member(r, root, "shutdownGracePeriod"), &r->conf->total_ns);
	if (result == 0)
		result = read_duration(member(r, root, "shutdownGracePeriodCriticalPods"),
				       &r->conf->critical_ns);
	if (result == 0)
		result = read_list(r, member(r, root, "shutdownGracePeriodByPodPriority"));
	gates = member(r, root, "featureGates");
	r->conf->gate = read_gate(r, gates, "GracefulNodeShutdown");
	r->conf->priority_gate = read_gate(r, gates, "GracefulNodeShutdownBasedOnPodPriority");
	return result;
}

static int read_document(const char *text, size_t size, struct kubeletconf *conf)
{
	_cleanup_(yaml_parser_delete) yaml_parser_t parser = {};
	yaml_document_t document;
	struct reader reader = {.document = &document, .conf = conf};
	int r;

	if (!yaml_parser_initialize(&parser))
		return -ENOMEM;
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	if (!yaml_parser_load(&parser, &document))
		return parser.error == YAML_MEMORY_ERROR ? -ENOMEM : -EBADMSG;
	r = read_root(&reader);
	yaml_document_delete(&document);
	return r;
}

int kubeletconf_read(const char *text, size_t size, struct kubeletconf *ret)
{
	int r = size <= KUBELETCONF_SIZE_MAX ? 0 : -E2BIG;

	memset(ret, 0, sizeof(*ret));
	if (r == 0)
		r = read_document(text, size, ret);
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
