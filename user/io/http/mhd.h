/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libmicrohttpd, loaded when it is first wanted: it brings GnuTLS along, whose 2 MiB the commands
 * without a web server need not pay.
 */
#ifndef IO_HTTP_MHD_H
#define IO_HTTP_MHD_H

#include <microhttpd.h>

/* MHD_<name>() as <microhttpd.h> declares it, for the functions that io/http/web calls. */
#define MHD_FUNCTIONS(X)               \
	X(start_daemon)                \
	X(stop_daemon)                 \
	X(get_daemon_info)             \
	X(get_timeout)                 \
	X(run)                         \
	X(add_connection)              \
	X(suspend_connection)          \
	X(resume_connection)           \
	X(get_connection_info)         \
	X(lookup_connection_value)     \
	X(create_response_from_buffer) \
	X(add_response_header)         \
	X(queue_response)              \
	X(destroy_response)

#define MHD_MEMBER(name) __typeof__(MHD_##name) *name;
struct mhd {
	MHD_FUNCTIONS(MHD_MEMBER)
};
#undef MHD_MEMBER

/*
 * Loads the library and fills the table. It is never unloaded: GnuTLS does not give back all that
 * it takes when it comes in. -ELIBACC: *ret_error says what the loader misses, and is its until it
 * is called again.
 */
int mhd_load(struct mhd *ret, const char **ret_error);

#endif
