/* SPDX-License-Identifier: Apache-2.0 */
/* The last observation of a histogram's bucket, and which record and pod it is of. */
#ifndef CORE_METRICS_EXEMPLAR_H
#define CORE_METRICS_EXEMPLAR_H

#include <stdint.h>

/* The names and values of an exemplar's labels have 128 characters together (OpenMetrics 1.0,
 * "Exemplars"). An id without its boot has 85 at most: 64 of a container, a slash, 20 of a time. */
#define EXEMPLAR_CHARACTERS 128
#define EXEMPLAR_ID_NAME    "id"
#define EXEMPLAR_POD_NAME   "pod"
#define EXEMPLAR_ID_MAX	    85 /* bytes */
#define EXEMPLAR_POD_MAX    38

/* All zero where nothing was observed. Texts are as label_clean() leaves them. */
struct exemplar {
	uint64_t billionths;
	int64_t wall_ns; /* since 1970; 0 and less: unknown */
	char id[EXEMPLAR_ID_MAX + 1];
	char pod[EXEMPLAR_POD_MAX + 1]; /* "": in no pod, or not known */
};

/*
 * id is that of a record, of which all behind its first slash is stored: the time says which boot
 * it is. One that is longer than EXEMPLAR_ID_MAX is left out, for a part of it names no record. A
 * longer name of a pod is stored as an ellipsis and its end: it tells the pods of a workload apart.
 * Both may be NULL.
 */
void exemplar_set(struct exemplar *exemplar, uint64_t billionths, int64_t wall_ns, const char *id,
		  const char *pod);

#endif
