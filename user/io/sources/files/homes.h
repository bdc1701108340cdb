/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the engines that a user runs (rootless Podman and Docker) say about that user's containers:
 * names, images, stop signals and timeouts, as io/sources/files has them of root's. Their files are
 * below the user's home, and the user may write anything there:
 *
 *	<home>/.local/share/docker/containers/<id>/config.v2.json
 *	<home>/.local/share/containers/storage/<driver>-containers/<id>/userdata/config.json
 *	<home>/.local/share/containers/storage/<driver>-containers/{,volatile-}containers.json
 *
 * So a child process reads them. It opens only regular files of that user, by no link and across
 * no mount below the home, and gives up all privileges before it reads the first byte. A home that
 * hangs leaves its own user's containers without names, and no others.
 */
#ifndef IO_SOURCES_FILES_HOMES_H
#define IO_SOURCES_FILES_HOMES_H

#include <stdbool.h>
#include <stdint.h>
#include <systemd/sd-event.h>

#include "core/cgroup/path.h"
#include "io/sources/source.h"

#define SOURCE_HOMES_USERS    16 /* that are queried about at a time */
#define SOURCE_HOMES_WAITING  32 /* look-ups of a user; more are shed */
#define SOURCE_HOMES_CHILDREN 4	 /* at a time, one of a user */
#define SOURCE_HOMES_KEY_SIZE (sizeof("4294967295/") + META_ID_MAX)

struct source_homes;

struct source_homes_options {
	const char *passwd;   /* a file to find homes in; NULL: by the system's databases */
	bool at_once;	      /* for a command that ends: start a child as often as there is need */
	uint64_t patience_ns; /* with a child; 0: 2 s */
};

/* Starts nothing yet. 0 or -ENOMEM. event and what sink points to are borrowed. */
int source_homes_new(sd_event *event, const struct source_homes_options *options,
		     const struct source_sink *sink, struct source_homes **ret);
/* Look-ups that wait are dropped without a word. */
struct source_homes *source_homes_free(struct source_homes *homes);

/* What sink->done() has for a key: "<uid>/<id>". */
void source_homes_key(uint32_t user, const char *container_id,
		      char ret[static SOURCE_HOMES_KEY_SIZE]);

/*
 * Looks a container of that user up. The sink receives it, if it is found, and then, once, that
 * the look-up is over; possibly before this returns. META_FAILED: the home did not answer in time,
 * or what it has makes no sense. META_ABSENT, too, for files that may not be opened.
 */
void source_homes_find(struct source_homes *homes, uint32_t user, const char *container_id,
		       enum cgpath_runtime runtime);

#endif
