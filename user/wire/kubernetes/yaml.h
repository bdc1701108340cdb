/* SPDX-License-Identifier: Apache-2.0 */
/*
 * YAML as kubectl prints and takes it, turned into the JSON that it stands for.
 *
 * Plain values are what kubectl makes of them: null, numbers, and true, yes, on and their opposites
 * are no texts. Aliases, merge keys and tags are refused, so that what comes out is no longer than
 * a few times what goes in; so is a nesting deeper than PODYAML_DEPTH_MAX, for which libyaml takes
 * quadratic time.
 */
#ifndef WIRE_KUBERNETES_YAML_H
#define WIRE_KUBERNETES_YAML_H

#include <stddef.h>

#include "base/buf.h"
#include "wire/kubernetes/rows.h"

#define PODYAML_DEPTH_MAX 64

/* Adds a line of JSON for each document that is not empty. 0; -EBADMSG with *ret_error; the
 * buffer's error, which sticks. */
int podyaml_to_json(const char *text, size_t size, struct buf *out,
		    struct podread_error *ret_error);

#endif
