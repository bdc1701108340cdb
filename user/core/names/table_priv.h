/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of podtab share. */
#ifndef CORE_NAMES_TABLE_PRIV_H
#define CORE_NAMES_TABLE_PRIV_H

#include "core/names/table.h"

#define PODTAB_KEY_MAX (2 + META_UID_MAX + META_NAME_MAX)

/* What a container is found by: 'i' and its id, 'n' and its pod's uid and its name, 'u' and its
 * unit. Returns ret. */
const char *podtab_key(char kind, const char *first, const char *second,
		       char ret[static PODTAB_KEY_MAX]);

/* The entry, made when there is none, and touched. 0, -ENOMEM, -ENOSPC. */
int podtab_want_pod(struct podtab *tab, const char *uid, uint64_t now_ns, struct podtab_pod **ret);
int podtab_want(struct podtab *tab, const char *key, uint64_t now_ns,
		struct podtab_container **ret);

#endif
