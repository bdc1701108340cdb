/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by the parts of podsrc_kubelet alone. */
#ifndef IO_SOURCES_KUBELET_PRIV_H
#define IO_SOURCES_KUBELET_PRIV_H

#include <stdbool.h>
#include <stddef.h>

#include "io/sources/kubelet/kubelet.h"
#include "wire/kubernetes/pods.h"

struct podsrc_kubelet_uid {
	char text[META_UID_MAX];
};

/* Uids in the order they came, or sorted. */
struct podsrc_kubelet_uids {
	struct podsrc_kubelet_uid *list;
	size_t n, room;
	bool full;   /* there were more */
	bool by_api; /* some of them are pods of the API, not static ones */
};

/* Somebody waits for an answer to question number `question`, or a later one. */
struct podsrc_kubelet_lookup {
	struct podsrc_kubelet_uid uid;
	uint64_t question; /* the number of the one whose answer counts; 0: it is over */
	bool found;
};

struct podsrc_kubelet {
	sd_event *event;
	struct fetch *fetch;
	struct podsrc_sink sink;
	enum meta_source source; /* the kubelet or the API server */
	char *url;		 /* with its query */

	char *ca_file, *server_name, *token_file, *client_file;
	uint64_t interval_ns, timeout_ns, gap_ns;

	struct podsrc_state state; /* its where is the URL without the query */
	bool addressed;		   /* an address of its host was known once */
	sd_event_source *timer;	   /* asks */
	sd_event_source *work;	   /* takes the answer apart */

	struct fetch_call *call;     /* NULL: nothing is asked */
	uint64_t questions;	     /* asked so far */
	uint64_t asked_ns, ended_ns; /* the last one; CLOCK_BOOTTIME */
	bool hurried;		     /* the next one is to come soon */
	char *reply;		     /* mapped; NULL: nothing came */
	size_t reply_len;

	uint64_t version;     /* of the last one that was taken; 0: it does not tell */
	unsigned int behind;  /* answers in a row that were older */
	struct podjson *walk; /* NULL: none is taken apart */
	bool leaving_out;     /* the pod whose containers come now */
	struct podsrc_kubelet_uids before, now;
	size_t gone_at; /* of before: the next to be looked for in now; valid without a walk */
	bool comparing;

	struct podsrc_kubelet_lookup lookups[PODSRC_KUBELET_LOOKUPS_MAX];
	size_t n_lookups;
};

/* Judges the options; *ret_url is the caller's then. */
int podsrc_kubelet_check(const struct podsrc_kubelet_options *options, char **ret_url,
			 struct podsrc_kubelet_why *ret_why);

/* Whether libcurl, which opens the file by itself, would not wait for a writer of it: 0, or -errno
 * and a sentence for a person. what: "CA". */
int podsrc_kubelet_file(const char *what, const char *path, struct podsrc_kubelet_why *ret_why);

struct podsrc_kubelet_secrets {
	char *token;  /* NULL: none */
	char *client; /* PEM with certificate and key; NULL: none */
};

/* Reads those of the files that are not NULL. *ret has those that can be read, for the caller to
 * release either way; on failure a sentence for a person and -errno. */
int podsrc_kubelet_secrets_read(const char *token_file, const char *client_file,
				struct podsrc_kubelet_secrets *ret,
				struct podsrc_kubelet_why *ret_why);
/* Overwrites and frees them. */
void podsrc_kubelet_secrets_done(struct podsrc_kubelet_secrets *secrets);
/* The one that expires first; all zero when none tells. */
void podsrc_kubelet_secrets_expiry(const struct podsrc_kubelet_secrets *secrets,
				   struct credential *ret);

/* Sends the question. What comes of it ends in podsrc_kubelet_down() or podsrc_kubelet_take(). */
void podsrc_kubelet_ask(struct podsrc_kubelet *k);
/* Forgets the answer's bytes. */
void podsrc_kubelet_forget(struct podsrc_kubelet *k);

/* Begins to take the answer apart. */
void podsrc_kubelet_take(struct podsrc_kubelet *k);
/* A turn of the loop's worth of it. */
int podsrc_kubelet_on_work(sd_event_source *source, void *userdata);

/* The question is over. Says why, and when the next one is due. */
void podsrc_kubelet_down(struct podsrc_kubelet *k, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
void podsrc_kubelet_up(struct podsrc_kubelet *k, const struct podjson_counts *counts);
/* Marks who waits for this pod. */
void podsrc_kubelet_found(struct podsrc_kubelet *k, const char *uid);

#endif
