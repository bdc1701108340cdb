/* SPDX-License-Identifier: Apache-2.0 */
/* What may be the value of a metric's label: text that anybody may have chosen, made harmless. */
#ifndef CORE_METRICS_LABEL_H
#define CORE_METRICS_LABEL_H

#include <stddef.h>

#define LABEL_MAX 253 /* bytes: the longest name Kubernetes knows (a DNS subdomain) */

/*
 * Writes text as valid UTF-8 of at most LABEL_MAX bytes and a NUL, and returns its length. What is
 * not UTF-8, a control but for the newline, or would change how the text around it reads becomes
 * U+FFFD; what is too long ends after the last character that fits. NULL is "". A clean text stays
 * as it is, so that two that differ after cleaning differ wherever they are printed.
 */
size_t label_clean(char ret[static LABEL_MAX + 1], const char *text);

#endif
