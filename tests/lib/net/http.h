/* SPDX-License-Identifier: Apache-2.0 */
/* One GET over loopback, for pages that are short enough to be held whole. */
#ifndef TESTS_LIB_NET_HTTP_H
#define TESTS_LIB_NET_HTTP_H

#include <stdint.h>

#include "base/buf.h"

/* With further header lines ("A: b\r\n") or NULL. The status, or -errno, after PATIENCE_S of
 * silence -EAGAIN; the body replaces what page held. */
int http_get(uint16_t port, const char *path, const char *headers, struct buf *page);

#endif
