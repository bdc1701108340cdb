/* SPDX-License-Identifier: Apache-2.0 */
/* What the parts of io/sources/files share: one part for each engine. They return 0, -ENOENT for a
 * container that is not there, -ENXIO where the engine itself is not, and -errno for what went
 * wrong, which podsrc_files_complain() was told. */
#ifndef IO_SOURCES_FILES_PRIV_H
#define IO_SOURCES_FILES_PRIV_H

#include <stdbool.h>

#include "io/sources/files/dir.h"
#include "io/sources/files/files.h"
#include "wire/runtime/files.h"

#define PODSRC_FILES_CONFIG_MAX ((size_t)1 << 20)
#define PODSRC_FILES_LISTS	2

struct podsrc_files_part {
	char *root; /* "": not asked */
	char text[160];
	uint64_t failures, lookups[META_RESULT_COUNT];
};

struct podsrc_files_list {
	struct podsrc_files_stamp stamp;
	char *text; /* NULL: to be read */
	size_t len;
};

struct podsrc_files {
	struct podsrc_files_part docker, podman, containerd;
	struct podsrc_files_list lists[PODSRC_FILES_LISTS];
};

int podsrc_files_open_part(const struct podsrc_files_part *part, int *ret_fd);

/* Notes what was wrong with a container's file, for people, and returns r. */
int podsrc_files_complain(struct podsrc_files_part *part, const char *what, const char *id, int r);
const char *podsrc_files_reason(int r);

int podsrc_files_bundle(int dirfd, struct ctrjson_bundle *ret);

int podsrc_files_ask_podman(struct podsrc_files *src, const char *id, struct meta_container *ret);
int podsrc_files_ask_crio(struct podsrc_files *src, const char *id, struct ctrjson_bundle *ret);
void podsrc_files_forget_lists(struct podsrc_files *src);

/* What containerd lets be the name of a namespace or a task. */
bool podsrc_files_is_identifier(const char *text);
int podsrc_files_ask_tasks(struct podsrc_files *src, const char *id, struct meta_container *ret);
int podsrc_files_ask_cri_task(struct podsrc_files *src, const char *id, struct ctrjson_bundle *ret);
int podsrc_files_ask_cgroup(struct podsrc_files *src, const char *path, struct meta_container *ret);

#endif
