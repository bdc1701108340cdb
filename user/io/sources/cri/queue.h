/* SPDX-License-Identifier: Apache-2.0 */
/* Look-ups, by where they stand. */
#ifndef IO_SOURCES_CRI_QUEUE_H
#define IO_SOURCES_CRI_QUEUE_H

#include <stdbool.h>
#include <stddef.h>

#include "core/names/meta.h"

enum podsrc_cri_place {
	PLACE_WAITING, /* to be asked singly, or listed */
	PLACE_EXITS,   /* the same for those no list answers */
	PLACE_IDLE,    /* no caller waits for it */
	PLACE_LISTED,  /* a list that is under way answers it */
	PLACE_FLYING,  /* a request is under way */
	PLACE_DOOMED,  /* to be answered that it failed */
	PLACE_COUNT,
};

struct podsrc_cri_lookup {
	struct podsrc_cri_lookup *prev, *next, *chain;
	char id[META_ID_MAX];
	enum podsrc_cri_place place;
	bool exit;	    /* podsrc_cri_exit() */
	bool seen;	    /* in a list */
	bool lacks_signal;  /* there */
	unsigned int asked; /* how often podsrc_cri_find() wants an answer; 0: by itself */
	unsigned int tries; /* before this one */
};

#define PODSRC_CRI_BUCKETS 1024

struct podsrc_cri_queue {
	struct {
		struct podsrc_cri_lookup *first, *last;
		size_t n;
	} places[PLACE_COUNT];
	struct podsrc_cri_lookup *buckets[PODSRC_CRI_BUCKETS];
	size_t n;
};

struct podsrc_cri_lookup *podsrc_cri_queue_get(const struct podsrc_cri_queue *q, const char *id,
					       bool exit);
/* The new one, or NULL: no room (4096, fewer in PLACE_IDLE), or no memory. */
struct podsrc_cri_lookup *podsrc_cri_queue_add(struct podsrc_cri_queue *q, const char *id,
					       bool exit, enum podsrc_cri_place place);
/* Exits that should wait do so in their own place. */
void podsrc_cri_queue_move(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup,
			   enum podsrc_cri_place place);
void podsrc_cri_queue_remove(struct podsrc_cri_queue *q, struct podsrc_cri_lookup *lookup);
void podsrc_cri_queue_done(struct podsrc_cri_queue *q);

#endif
