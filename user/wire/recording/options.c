// SPDX-License-Identifier: Apache-2.0
/* Writes the engine's settings into a recording's header, and reads them back. */
#include "wire/recording/options.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "wire/json/writer.h"

DEFINE_CLEANUP(json_t *, json_decref);

static void write_list(struct buf *out, const char *name, const char *const *list)
{
	jsonw_array(out, name);
	for (; list && *list; list++)
		jsonw_str(out, NULL, *list);
	jsonw_array_end(out);
}

int rec_options_write(struct buf *out, const struct engine_config *config)
{
	if (out->len < 2 || memcmp(out->data + out->len - 2, "}\n", 2) != 0)
		return -EINVAL;
	buf_truncate(out, out->len - 2);
	jsonw_str(out, "scope", engine_scope_name(config->scope));
	jsonw_u64(out, "assumed_grace_ns", config->assumed_grace_ns);
	jsonw_u64(out, "sources", config->sources);
	jsonw_u64(out, "name_wait_ns", config->name_wait_ns);
	write_list(out, "nested_nodes", config->nested_nodes);
	write_list(out, "container_roots", config->container_roots);
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}

static void read_scope(const json_t *header, struct rec_options *ret)
{
	const char *name = json_string_value(json_object_get(header, "scope")), *known;

	ret->engine.scope = SCOPE_CONTAINERS;
	for (unsigned int i = 0; name && (known = engine_scope_name(i)); i++)
		if (strcmp(name, known) == 0)
			ret->engine.scope = i;
}

static void read_list(const json_t *header, const char *name, char **ret, size_t max)
{
	const json_t *list = json_object_get(header, name);
	size_t n = 0;

	for (size_t i = 0; i < json_array_size(list) && n < max; i++) {
		const char *path = json_string_value(json_array_get(list, i));

		ret[n] = path ? strdup(path) : NULL;
		n += ret[n] != NULL;
	}
}

int rec_options_read(const char *line, size_t len, struct rec_options *ret)
{
	_cleanup_(cleanup_json_decref) json_t *header = json_loadb(line, len, 0, NULL);
	json_int_t grace, wait;

	memset(ret, 0, sizeof(*ret));
	ret->engine.scope = SCOPE_CONTAINERS;
	ret->engine.nested_nodes = (const char *const *)ret->nested;
	ret->engine.container_roots = (const char *const *)ret->roots;
	if (!json_is_object(header))
		return -EBADMSG;
	grace = json_integer_value(json_object_get(header, "assumed_grace_ns"));
	ret->engine.assumed_grace_ns = grace > 0 ? (uint64_t)grace : 0;
	ret->engine.sources = (uint32_t)json_integer_value(json_object_get(header, "sources"));
	wait = json_integer_value(json_object_get(header, "name_wait_ns"));
	ret->engine.name_wait_ns = wait > 0 ? (uint64_t)wait : 0;
	ret->version = json_integer_value(json_object_get(header, "version"));
	ret->abi = json_integer_value(json_object_get(header, "abi"));
	read_scope(header, ret);
	read_list(header, "nested_nodes", ret->nested, REC_OPTIONS_NESTED_MAX);
	read_list(header, "container_roots", ret->roots, REC_OPTIONS_ROOTS_MAX);
	return 0;
}

void rec_options_done(struct rec_options *options)
{
	for (size_t i = 0; options->nested[i]; i++)
		free(options->nested[i]);
	for (size_t i = 0; options->roots[i]; i++)
		free(options->roots[i]);
	memset(options->nested, 0, sizeof(options->nested));
	memset(options->roots, 0, sizeof(options->roots));
}
