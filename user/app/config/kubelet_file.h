/* SPDX-License-Identifier: Apache-2.0 */
/* The kubelet's configuration file, as far as it is about shutdowns of the node. */
#ifndef APP_CONFIG_KUBELET_FILE_H
#define APP_CONFIG_KUBELET_FILE_H

#include "core/shutdown/plan.h"

#define KUBELETFILE_DEFAULT "/var/lib/kubelet/config.yaml"

struct kubeletfile {
	const char *path; /* NULL: where it is by default, and that it is not there says nothing */
	unsigned int minor; /* of the kubelet's version */
	bool any_writer;    /* taken whatever its owner and mode are, and from a pipe */
};

/* A sentence for a person, with the path, without a full stop. */
struct kubeletfile_why {
	char text[1024];
};

/* False: the default file does not exist, so that there may be no kubelet. */
bool kubeletfile_is_there(const struct kubeletfile *file);

/*
 * What a kubelet with that file does in a shutdown; the groups are the arena's. 0; -EBADMSG for
 * what it would not start with, -EPERM for what others may have written, -ENOENT, …: *ret is
 * without groups then, and *ret_why is filled.
 */
int kubeletfile_plan(const struct kubeletfile *file, struct arena *arena, struct shutplan *ret,
		     struct kubeletfile_why *ret_why);

#endif
