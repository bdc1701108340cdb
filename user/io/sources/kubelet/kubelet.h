/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pods that the kubelet lists: requests its /pods from time to time and reports every pod and
 * container in the answer. The node's pods are requested from the API server in the same way, under
 * the same rules.
 *
 * What it costs the cluster: the kubelet sends the token to the API server (a TokenReview; its
 * authentication.webhook.enabled must be true) and queries what it allows (a SubjectAccessReview).
 * The right to `get` nodes/pods is enough where the kubelet's gate KubeletFineGrainedAuthz is on:
 * by default since Kubernetes 1.33, always since 1.36. Older kubelets require `get` nodes/proxy
 * (pkg/kubelet/server/auth.go), which allows far more: with it, commands can be run in every
 * container of the node (a websocket is opened by GET). The read-only port, http://127.0.0.1:10255,
 * needs no authorisation, where it is enabled.
 *
 * The API server may answer from its cache (resourceVersion=0), without a query of its database;
 * the right to `list` pods is enough. One of several servers may be behind another: a list that is
 * older than the one reported last is refused, unless the three before it were refused for that.
 * The whole list is requested at once, and an answer with only a part of it (continue) is refused.
 *
 * A pod that was listed and is not any more is reported as gone, once. A kubelet that has just
 * started lists no pod, or static pods alone, or some of the API's. So its first list with pods of
 * the API is not compared with the one before; and a list without such pods is compared only if the
 * same kubelet process listed some before. It is the same if a pod has the same annotation
 * kubernetes.io/config.seen in both.
 *
 * Where the kubelet has the socket of its pods API (KEP-4188: Kubernetes 1.36 with the feature gate
 * PodsAPI, 1.37 by default) that is asked first: without a token, and what changes is streamed.
 * Each question there is a new stream, which begins with all pods: so a list is never overtaken by
 * an older event, nor an event by an older list. While the stream lasts it is asked for a list ten
 * times more rarely, but soon after the kubelet has finished with a pod: only a list shows that a
 * pod is gone. When it is absent, not trusted, refused, silent or broken, the URL is asked at once
 * and from then on; the socket is tried again with back-off, and at once when it is another.
 *
 * The token and the client certificate are read again for each request, as they are renewed, and
 * sent only to a server whose certificate the CA verifies for its name. An answer is parsed in
 * slices of half a millisecond, when the loop has nothing else to do.
 */
#ifndef IO_SOURCES_KUBELET_KUBELET_H
#define IO_SOURCES_KUBELET_KUBELET_H

#include <stdint.h>
#include <systemd/sd-event.h>

#include "base/cleanup.h"
#include "io/fetch/fetch.h"
#include "io/sources/source.h"

/* Where kubelets have the socket of their pods API, NULL-ended: as they make it, and as KEP-4188
 * names it. */
extern const char *const source_kubelet_places[];

/* Limit of one answer. */
#define SOURCE_KUBELET_REPLY_MAX ((size_t)16 << 20)

/* How many pods are known at once, so that their end can be reported, and how many look-ups
 * wait at once: more are shed. */
#define SOURCE_KUBELET_PODS_MAX	   4096
#define SOURCE_KUBELET_LOOKUPS_MAX 256

/* Strings are copied. Zero stands for the default. */
struct source_kubelet_options {
	/* https://HOST:PORT, to which /pods is added where there is no path; http:// only to
	 * loopback and without a token. The API server's may have a path before its own. */
	const char *url;	 /* NULL: only the socket is asked */
	const char *api_node;	 /* NULL: the kubelet is asked; else the API server for that node */
	const char *ca_file;	 /* PEM; needed for https: verification is never off */
	const char *server_name; /* NULL, or who the certificate must name instead of the host */
	const char *token_file; /* NULL: none is sent. At most 64 KiB, white space around it goes */
	/* NULL: none is shown. A PEM of at most 64 KiB with a certificate and its key, as the
	 * kubelet keeps its own in kubelet-client-current.pem. */
	const char *client_file;
	uint64_t interval_ns; /* 30 s: from an answer to the next question */
	uint64_t timeout_ns;  /* 10 s: for an answer to come whole */
	uint64_t gap_ns;      /* 1 s: between two queries while an answer is awaited */
	/* The kubelet's socket, with or without unix://, or where to search for it, NULL-ended and
	 * borrowed; both NULL: there is none to query. */
	const char *socket;
	const char *const *sockets;
	uint64_t look_ns;		     /* 5 s: between two looks for it */
	uint64_t retry_min_ns, retry_max_ns; /* 1 s, 300 s: for it, after failures */
};

/* A sentence for a person, without a full stop. */
struct source_kubelet_why {
	char text[256];
};

struct source_kubelet;

/* Whether options make sense, without a kubelet: 0; -EINVAL, *ret_why says what does not; -ENOMEM. */
int source_kubelet_judge(const struct source_kubelet_options *options,
			 struct source_kubelet_why *ret_why);

/* Reads the token and the client certificate of the options: *ret is the one that expires first,
 * and all zero where none can be read or has a date. -errno and *ret_why when one cannot be
 * read. */
int source_kubelet_credential(const struct source_kubelet_options *options, struct credential *ret,
			      struct source_kubelet_why *ret_why);

/*
 * Asks for the first time as soon as the loop turns. fetch outlives it. Whether the options make
 * sense is all that is judged here: -EINVAL, *ret_why says what does not; -ENOMEM.
 */
int source_kubelet_new(sd_event *event, struct fetch *fetch,
		       const struct source_kubelet_options *options, const struct source_sink *sink,
		       struct source_kubelet **ret, struct source_kubelet_why *ret_why);
/* Look-ups that wait are forgotten, without a word. */
struct source_kubelet *source_kubelet_free(struct source_kubelet *k);
DEFINE_CLEANUP(struct source_kubelet *, source_kubelet_free);

/*
 * Something about the pod is new (it is unknown, or being stopped): queries soon, once for all that
 * wait, and never more often than gap_ns nor a quarter of the time. What it finds is reported as
 * ever; then done() is called for the uid. Only an answer to a question asked after this call
 * counts. Failed at once while the kubelet is down.
 */
void source_kubelet_refresh(struct source_kubelet *k, const char *pod_uid);

/* The next query comes as soon as gap_ns after the last one, if an answer is awaited or the last
 * one failed: however long that took, and however many have failed. For one query: to be called
 * again for the next. */
void source_kubelet_hurry(struct source_kubelet *k);

void source_kubelet_get_state(struct source_kubelet *k, struct source_state *ret);

/* For clients of the same peers: whether the options may be used, and what authenticates this
 * client. */

/* Judges the options; *ret_url is the caller's then. */
int source_kubelet_check(const struct source_kubelet_options *options, char **ret_url,
			 struct source_kubelet_why *ret_why);

/* Says for a person why the request came to nothing: an error, or a status that is not 200. Reads
 * from the options the files, the server's name, the patience, and whether there is an api_node. */
void source_kubelet_explain(const struct source_kubelet_options *options,
			    const struct fetch_result *result, struct source_kubelet_why *ret);

/* Copies of the options' ca_file, server_name, token_file and client_file, for
 * source_kubelet_drop(). -ENOMEM: some of them. */
int source_kubelet_copy(const struct source_kubelet_options *options,
			struct source_kubelet_options *ret);
void source_kubelet_drop(struct source_kubelet_options *copy);

/*
 * Sends the request with what shows who the client is, as its files are now, and has the server
 * verified. *ret_credential is what expires first, as far as the files can be read. -errno with a
 * sentence for a person, which has `cannot` where fetch_start() is at fault.
 */
int source_kubelet_send(const struct source_kubelet_options *options, struct fetch *fetch,
			struct fetch_request *request, const char *cannot, struct fetch_call **ret,
			struct credential *ret_credential, struct source_kubelet_why *ret_why);

#endif
