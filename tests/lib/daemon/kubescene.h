/* SPDX-License-Identifier: Apache-2.0 */
/* A kubelet or an API server of the test's own (tests/lib/daemon/kubepeer), the io/sources/kubelet
 * that queries it, and what it reports. */
#ifndef TESTS_LIB_DAEMON_KUBESCENE_H
#define TESTS_LIB_DAEMON_KUBESCENE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "io/sources/kubelet/kubelet.h"
#include "lib/daemon/kubepeer.h"
#include "lib/net/asker.h"

#define KUBESCENE_TOKEN "eyJhbGciOi.se-cret_1"
#define KUBESCENE_SMALL 600 /* bytes of a pod, at least */
#define KUBESCENE_HEAD	"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n"

/* A directory, and in it the CA's file and the token's. */
extern char kubescene_dir[], kubescene_ca[], kubescene_token[];

/* For cmocka's groups, around those of tests/lib/net/tlsc; each test has an asker as its state. */
int kubescene_set_up(void **state);
int kubescene_tear_down(void **state);

struct kubescene {
	struct asker *asker;
	struct kubepeer peer;
	struct source_kubelet_options options;
	struct source_kubelet *k;
	char url[64];
	struct buf answer; /* the last one played as a body or as pods */

	unsigned int pods, gone, containers;
	unsigned int statics; /* of the pods */
	char last_gone[POD_UID_MAX];
	unsigned int lists;	       /* that were reported complete */
	unsigned int gone_before_list; /* ... and who was gone by the last of them */
	struct buf done;	       /* "<uid> <result>\n" each */
	unsigned int n_done;
	const char *ask_again;	      /* refreshed from within done(), once */
	unsigned int turns_with_pods; /* of the loop */
};

/* Options of a source that will trust it, with the token in its file; nothing is played yet. */
void kubescene_open(struct kubescene *s, struct asker *asker);
void kubescene_close(struct kubescene *s);

void kubescene_write(const char *path, const char *text, size_t len);
/* Puts the CA of the "server" that is played into its file. */
void kubescene_trust(void);

/* Plays these bytes with the key of that name (tests/lib/net/tlsc), or in the clear. */
void kubescene_play(struct kubescene *s, const char *name, const char *answer, size_t len,
		    bool stays);
/* A whole answer with this body, announced that many bytes longer than it is. */
void kubescene_play_body(struct kubescene *s, const char *body, size_t len, size_t missing);
void kubescene_play_pods(struct kubescene *s, unsigned int first, unsigned int count,
			 size_t bytes_each);

void kubescene_start(struct kubescene *s);
/* The same, and awaits what comes of the first question. */
struct source_state kubescene_first(struct kubescene *s);
/* Refreshes, and awaits that it is done. */
void kubescene_refresh(struct kubescene *s, const char *uid);
void kubescene_turn(struct kubescene *s);
struct source_state kubescene_state(const struct kubescene *s);

#endif
