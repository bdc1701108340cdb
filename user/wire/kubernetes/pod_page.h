/* SPDX-License-Identifier: Apache-2.0 */
/* One page of the API's list of a node's pods. */
#ifndef WIRE_KUBERNETES_POD_PAGE_H
#define WIRE_KUBERNETES_POD_PAGE_H

#include <stddef.h>

#include "base/buf.h"

#define PODPAGE_LIMIT	     50 /* pods: about 1 MB, where each has 20 KiB */
#define PODPAGE_CONTINUE_MAX 512

struct podpage {
	size_t waiting;			 /* pods that the out-of-service taint is to remove */
	char next[PODPAGE_CONTINUE_MAX]; /* names the page after this one; "": it is the last */
};

/* The path and query of the page that next names; node and next are as they were checked.
 * buf_error(). */
int podpage_path(struct buf *out, const char *node, const char *next);

/* 0; -EBADMSG for what is no such list, or names a next page in a way that no path may have;
 * -E2BIG, -EINVAL, -ENOMEM. A pod that cannot be read is an error, as it may be one that waits. */
int podpage_read(const char *text, size_t size, struct podpage *ret);

#endif
