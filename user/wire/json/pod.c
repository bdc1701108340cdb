// SPDX-License-Identifier: Apache-2.0
/* A pod of the API by its names, and its controller by kind and name. */
#include "wire/json/pod.h"

#include <stdio.h>

#include "base/time.h"
#include "core/kubelet/node_failure.h"
#include "wire/json/record.h"
#include "wire/json/writer.h"

void podobj_json_text(struct buf *out, const char *key, const char *text)
{
	jsonw_str(out, key, text && *text ? text : NULL);
}

void podobj_json_seconds(struct buf *out, const char *key, int64_t seconds)
{
	int64_t ns;

	if (__builtin_mul_overflow(seconds, NS_PER_S, &ns))
		ns = seconds < 0 ? INT64_MIN : INT64_MAX;
	jsonw_i64(out, key, ns);
}

static void add_pod(struct buf *out, const struct podobj_pod *pod)
{
	jsonw_object(out, "pod");
	podobj_json_text(out, "namespace", pod->namespace_);
	podobj_json_text(out, "name", pod->name);
	podobj_json_text(out, "uid", pod->uid);
	jsonw_bool(out, "static", pod->is_static);
	jsonw_bool(out, "deleting", pod->deleting);
	jsonw_object_end(out);
}

void podobj_json_begin(struct buf *out, const char *type, const char *input, unsigned int minor,
		       const struct podobj_pod *pod)
{
	char version[16];

	snprintf(version, sizeof(version), "1.%u", minor);
	jsonw_object(out, NULL);
	jsonw_str(out, "type", type);
	jsonw_u64(out, "schema", RECORD_SCHEMA);
	jsonw_str(out, "input", input);
	jsonw_str(out, "kubernetes", version);
	add_pod(out, pod);
}

int podobj_json_end(struct buf *out)
{
	jsonw_object_end(out);
	buf_addc(out, '\n');
	return buf_error(out);
}

void podobj_json_owner(struct buf *out, const struct podobj_pod *pod)
{
	jsonw_str(out, "controller", nodefail_maker_name(nodefail_maker_of(pod)));
	podobj_json_text(out, "kind", pod->owner_kind);
	podobj_json_text(out, "name", pod->owner);
}
