/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl on the event loop. It is loaded when it is first wanted: it brings 30 libraries along,
 * whose memory a command without HTTP requests need not pay.
 */
#ifndef IO_FETCH_CURL_H
#define IO_FETCH_CURL_H

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include <systemd/sd-event.h>

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
	sd_event_source *again;
	struct curl_watch *watches;
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

#endif
