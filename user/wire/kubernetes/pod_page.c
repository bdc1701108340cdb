// SPDX-License-Identifier: Apache-2.0
/* Counts the pods of a page that are still to leave the node. */
#include "wire/kubernetes/pod_page.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "base/cleanup.h"
#include "core/kubelet/node_failure.h"
#include "wire/kubernetes/pod.h"
#include "wire/kubernetes/value.h"

DEFINE_CLEANUP(json_t *, json_decref);

/* What needs no escape in a query. */
#define PLAIN "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."

int podpage_path(struct buf *out, const char *node, const char *next)
{
	buf_printf(out, "/api/v1/pods?fieldSelector=spec.nodeName%%3D%s&limit=%d", node,
		   PODPAGE_LIMIT);
	if (*next)
		buf_printf(out, "&continue=%s", next);
	return buf_error(out);
}

static int read_next(const json_t *list, struct podpage *page)
{
	const json_t *value = apijson_get(apijson_get(list, "metadata"), "continue");
	const char *next = value ? json_string_value(value) : "";
	size_t n = next ? strlen(next) : 0;

	if (!next || n >= sizeof(page->next) || strspn(next, PLAIN) != n)
		return -EBADMSG;
	memcpy(page->next, next, n + 1);
	return 0;
}

static int count(const json_t *items, struct podpage *page)
{
	const json_t *item;
	size_t i;

	json_array_foreach(items, i, item) {
		_cleanup_(arena_free) struct arena arena = {};
		struct podread_error error;
		struct podobj_pod pod;
		int r = podread_pod(item, &arena, &pod, &error);

		if (r < 0)
			return r;
		page->waiting += nodefail_taint_removes(&pod);
	}
	return 0;
}

int podpage_read(const char *text, size_t size, struct podpage *ret)
{
	_cleanup_(cleanup_json_decref) json_t *list = NULL;
	struct podpage page = {};
	struct podread_error error;
	const json_t *items;
	int r = podread_parse(text, size, &list, &error);

	if (r < 0)
		return r;
	items = json_object_get(list, "items");
	/* An empty list of Go's may be null. */
	if (!items || (!json_is_array(items) && !json_is_null(items)))
		return -EBADMSG;
	r = read_next(list, &page);
	if (r == 0)
		r = count(items, &page);
	if (r == 0)
		*ret = page;
	return r;
}
