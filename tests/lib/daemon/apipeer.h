/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An API server of the test's own, in a process of its own: it lists one pod of the node, serves it
 * and the node, and takes patches of both, or behaves badly.
 */
#ifndef TESTS_LIB_DAEMON_APIPEER_H
#define TESTS_LIB_DAEMON_APIPEER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

/* How it answers what is not a list; with lists_too, lists as well. */
enum apipeer_mood {
	APIPEER_WELL,
	APIPEER_DOWN,	/* closes every connection, lists included */
	APIPEER_SILENT, /* never answers */
	APIPEER_CONFLICT,
	APIPEER_GONE,
	APIPEER_BUSY, /* 429, Retry-After: 60 */
	APIPEER_REVOKED,
	APIPEER_OTHER_POD, /* the object has another UID */
	APIPEER_MOODS,
};

struct apipeer_shared {
	enum apipeer_mood mood;
	char uid[40], container[80];	    /* of the pod shop/web; "": there is none */
	unsigned int patches, node_patches; /* heard */
	uint64_t written_ns; /* CLOCK_BOOTTIME: a patch of the pod was answered with 200 */
	char patch[16384], node_patch[2048]; /* the last bodies */
	char taints[512], note[64];	     /* of the node, as JSON; "": none */
	char closed[64];		     /* its annotation for a shutdown; "": none */
	char boot[40];			     /* that its kubelet has reported; "": this one */
	char denied[96]; /* what a review's text has that it denies; "": it allows everything */
	bool ready, lists_too, evicts; /* evicts: the pod is gone once the node has a taint */
	unsigned int sets;	       /* patches that brought the node a taint */
};

struct apipeer {
	int fd;
	uint16_t port;
	pid_t pid;
	struct apipeer_shared *shared; /* the test may set all but what was heard */
};

void apipeer_open(struct apipeer *peer);
void apipeer_close(struct apipeer *peer);

#endif
