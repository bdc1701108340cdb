/* SPDX-License-Identifier: Apache-2.0 */
/* One pod of a list, from what wire/kubernetes/pods left of its JSON to metadata. */
#ifndef WIRE_KUBERNETES_POD_META_H
#define WIRE_KUBERNETES_POD_META_H

#include <jansson.h>

#include "wire/kubernetes/pods.h"

/* Whether this is a pod with a uid; if so hands it and then its containers to the sink. */
bool podmeta_read(const json_t *pod, const struct podjson_sink *sink);

#endif
