/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libcurl, loaded when it is first wanted: it brings 30 libraries along, whose memory who asks
 * nobody by HTTP need not pay.
 */
#ifndef IO_FETCH_CURL_H
#define IO_FETCH_CURL_H

#include <curl/curl.h>

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
};
#undef CURL_MEMBER

/* As dynlib_load(). */
int curl_load(struct curl *ret, const char **ret_error);

#endif
