/* SPDX-License-Identifier: Apache-2.0 */
/* The kubelet's configuration file, as far as it is about shutdowns of the node. */
#ifndef APP_KUBELETFILE_H
#define APP_KUBELETFILE_H

#include "wire/kubeletconf.h"

#define KUBELETFILE_DEFAULT "/var/lib/kubelet/config.yaml"

/* path NULL: where it is by default, and that it is not there says nothing. 0, -errno, or as
 * kubeletconf_read(), with *ret as if nothing was said. */
int kubeletfile_read(const char *path, struct kubeletconf *ret);
/* What such an error means. */
const char *kubeletfile_why(int error);

#endif
