/* SPDX-License-Identifier: Apache-2.0 */
/* A played runtime and io/sources/cri on one loop, and a log of what it reports. */
#ifndef TESTS_LIB_CRI_CRISITE_H
#define TESTS_LIB_CRI_CRISITE_H

#include "io/sources/cri/cri.h"
#include "lib/cri/cripeer.h"
#include "lib/net/asker.h"

#define CRISITE_MAX 8192

/* The last report of each, by the number that is its ID. */
struct crisite_container {
	uint32_t known, kind, stop_signal;
	char name[64];
	int exit_code;
	unsigned int done[META_RESULT_COUNT];
};

struct crisite {
	struct asker *asker;
	struct cripeer peer;
	struct source_cri *cri;
	char dir[64];
	bool deaf;	     /* the peer does not listen yet */
	uint64_t timeout_ns; /* of a request; 10 s unless changed */
	const char *second;  /* another place to look at */
	const char *search[3];
	unsigned int pods, signals, done; /* different ones; with a signal; look-ups ended */
	struct crisite_container *containers;
	char uids[64][POD_UID_MAX];
};

/* For cmocka. */
int crisite_set_up(void **state);
int crisite_tear_down(void **state);

#define CRISITE(sentence, function)                                         \
	{                                                                   \
		sentence, function, crisite_set_up, crisite_tear_down, NULL \
	}

/* The peer listens; the source finds it by itself, or at the endpoint. Its requests end after 200
 * ms, and it is back after 10 ms, at most 50. */
void crisite_open(struct crisite *site, const char *endpoint);
void crisite_await(struct crisite *site, enum source_status status);
void crisite_await_up(struct crisite *site);
bool crisite_has(const struct crisite *site, unsigned int number);
const struct crisite_container *crisite_get(const struct crisite *site, unsigned int number);
/* How often look-ups of it ended so. */
unsigned int crisite_done(const struct crisite *site, unsigned int number, enum meta_result result);
void crisite_find(struct crisite *site, unsigned int number);
/* Asks for it, awaits the end, which must be this one. */
void crisite_expect(struct crisite *site, unsigned int number, enum meta_result result);

#endif
