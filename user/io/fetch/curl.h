/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl on the event loop, the URLs that it takes, and what comes back from it. It is loaded when
 * it is first needed: it brings 30 libraries along, whose memory a command without HTTP requests
 * need not pay.
 */
#ifndef IO_FETCH_CURL_H
#define IO_FETCH_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <systemd/sd-event.h>

#include "base/buf.h"
#include "io/fetch/fetch.h"
#include "io/loop/loop.h"

/* curl_<name>() as <curl/curl.h> declares it, for the functions that io/fetch calls. */
#define CURL_FUNCTIONS(X)      \
	X(global_init)         \
	X(global_cleanup)      \
	X(free)                \
	X(slist_append)        \
	X(slist_free_all)      \
	X(url)                 \
	X(url_set)             \
	X(url_get)             \
	X(url_cleanup)         \
	X(easy_init)           \
	X(easy_setopt)         \
	X(easy_getinfo)        \
	X(easy_strerror)       \
	X(easy_cleanup)        \
	X(multi_init)          \
	X(multi_setopt)        \
	X(multi_assign)        \
	X(multi_add_handle)    \
	X(multi_remove_handle) \
	X(multi_socket_action) \
	X(multi_info_read)     \
	X(multi_cleanup)

#define CURL_MEMBER(name) __typeof__(curl_##name) *name;
struct curl {
	CURL_FUNCTIONS(CURL_MEMBER)
	sd_event *event;
	CURLM *multi;
	sd_event_source *timer; /* libcurl's */
	struct defer again;
	LIST_HEAD(, curl_watch) watches;
	uint64_t progress; /* the user counts here what came */
	bool inside;	   /* libcurl is at work, and calls back: it must not be called */
	/* A transfer has ended; transfer is its CURLOPT_PRIVATE. Not called from within libcurl. */
	void (*ended)(void *transfer, CURLcode code);
};
#undef CURL_MEMBER

/* Fills the functions. As dynlib_load(). */
int curl_load(struct curl *ret, const char **ret_error);

/* For a loaded one. event is borrowed. -ENOMEM, -errno. */
int curl_open(struct curl *curl, sd_event *event, void (*ended)(void *transfer, CURLcode code));
/* After the last transfer was removed. */
void curl_close(struct curl *curl);

/* Where a request goes: its URL, taken apart. */

#define FETCH_URL_MAX 2048

/* The URL as it is asked for, and what to connect to instead of its host ("" for the host). */
struct fetch_target {
	char url[FETCH_URL_MAX];
	char connect_to[FETCH_URL_MAX];
	char host[128]; /* who the certificate must name */
	char peer[256]; /* to be connected to */
	char port[8];
	bool secure;
};

/* server_name: as in a request. -EINVAL if url is not an http or https URL; -ENOMEM. */
int fetch_target_read(const struct curl *curl, const char *url, const char *server_name,
		      struct fetch_target *ret);

/* What came of an answer, within its bounds, and how its request ended. */

struct fetch_answer {
	size_t max_bytes, bytes, header_bytes;
	bool head_whole; /* its last line came */
	struct buf body;
	int grpc_status; /* -1: none came */
	char grpc_message[FETCH_TEXT_MAX];
	uint32_t retry_after_s; /* 0: none came */
	CURLcode code;
	int error;		       /* why this side ended it; 0: it did not */
	char trouble[CURL_ERROR_SIZE]; /* libcurl's, or the resolver's */
};

/* A line of the head, or a trailer. -EMSGSIZE when there are too many. */
int fetch_answer_add_header(struct fetch_answer *answer, const char *line, size_t len);
/* Counts len bytes more of the body; the caller collects them. -EMSGSIZE for too many. */
int fetch_answer_count(struct fetch_answer *answer, size_t len);
/* easy: the request that has ended. The body stays the answer's. */
void fetch_answer_result(const struct fetch_answer *answer, const struct curl *curl, CURL *easy,
			 struct fetch_result *ret);

#endif
