/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the options may be used. */
#ifndef IO_SOURCES_KUBELET_OPTIONS_H
#define IO_SOURCES_KUBELET_OPTIONS_H

#include "io/sources/kubelet/kubelet.h"

/* Judges the options; *ret_url is the caller's then. */
int podsrc_kubelet_check(const struct podsrc_kubelet_options *options, char **ret_url,
			 struct podsrc_kubelet_why *ret_why);

#endif
