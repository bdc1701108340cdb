/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pod and container names by the names of the log directories alone: no API is queried, no file is
 * opened. The kubelet (pkg/kubelet/kuberuntime/helpers.go, BuildPodLogsDirectory and
 * legacyLogSymlink) makes
 *
 *	pods/<namespace>_<pod>_<uid>/<container>/<n>.log
 *	containers/<pod>_<namespace>_<container>-<container id>.log -> that file
 *
 * The least trusted source: a pod that may write there could lie. A name counts only in the form
 * the API server allows (DNS-1123), only for the uid that the cgroup carries, and not at all when
 * two different names claim one uid. A container's name counts only with its pod's directory. No
 * link is followed below the directory that holds both, and of a directory with more than 16,384
 * pods, 32,768 containers or 65,536 names of any kind nothing counts.
 */
#ifndef IO_SOURCES_LOGS_LOGS_H
#define IO_SOURCES_LOGS_LOGS_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "core/facts/observation.h"
#include "io/sources/source.h"

struct source_logs;

/* Parts of a directory's or file's name; they point into it. */
struct source_logs_name {
	const char *namespace_, *pod, *container, *key; /* key: the uid, the container id */
	size_t namespace_len, pod_len, container_len, key_len;
};

/* "<namespace>_<pod>_<uid>"; false for anything else. */
bool source_logs_parse_pod(const char *name, struct source_logs_name *ret);

/* "<pod>_<namespace>_<container>-<64 hex>.log"; false for anything else. */
bool source_logs_parse_container(const char *name, struct source_logs_name *ret);

/* dir holds pods/ and containers/ (usually /var/log); neither need exist now or ever. */
int source_logs_new(const char *dir, struct source_logs **ret);
struct source_logs *source_logs_free(struct source_logs *src);

typedef void (*source_logs_fn)(void *userdata, const struct obs_names *names);

/* Every pod and every container that is named there now. 0 or -ENOMEM. */
int source_logs_each(struct source_logs *src, source_logs_fn fn, void *userdata);

/* Names for a pod's uid and (unless "") a container's id, which *ret repeats; ret->found says
 * whether the pod is named. ret->id and ret->more are the caller's and stay. Reads the directories
 * only when they changed since the last time; where that takes long, somewhat later. */
void source_logs_find(struct source_logs *src, const char *pod_uid, const char *container_id,
		      struct obs_names *ret);

/* How it fares; reads what changed. SOURCE_OFF where there is no pods/. */
void source_logs_get_state(struct source_logs *src, struct source_state *ret);

/*
 * The names in one log directory, for io/sources/logs: read again when the directory changed, and
 * bounded. A directory with more names than the bound is not half believed: a name that contradicts
 * another one might be in the other half, so none counts until it has less.
 */

typedef bool (*source_logs_parse_fn)(const char *name, struct source_logs_name *ret);

struct source_logs_entry {
	char *text; /* owned; name points into it */
	struct source_logs_name name;
};

struct source_logs_table {
	const char *subdir;
	source_logs_parse_fn parse;
	mode_t type; /* of an entry that counts */
	size_t max;
	struct source_logs_entry *list; /* sorted by key, then by text */
	size_t n, room;
	int error;	      /* of the last attempt to open the directory */
	bool overflow;	      /* it holds too much: list is empty */
	int64_t stamp_ns;     /* of the directory when it was read; 0: read it again */
	int64_t credit_ns;    /* CPU time that reading it again may take now */
	uint64_t credited_ns; /* CLOCK_BOOTTIME: when that was so much */
};

/* dir: the open directory, or -errno where it could not be opened; then it holds no names. 0 or
 * -ENOMEM. */
int source_logs_table_refresh(struct source_logs_table *t, int dir);

/* The one entry for a key: NULL when there is none, or several (then *ret_several). */
const struct source_logs_entry *source_logs_table_find(const struct source_logs_table *t,
						       const char *key, bool *ret_several);

#endif
