/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An HTTP client on the event loop: libcurl's multi interface, for the kubelet's API and for gRPC
 * over a runtime's socket. The peer is not trusted: every request has its bounds of time and of
 * bytes.
 *
 * Host names are resolved by io/fetch/resolve. A request waits 2 s for an address at most;
 * addresses that were found once serve while the name servers are silent.
 *
 * Never used, whatever the environment says: proxies, ~/.netrc, redirects, cookies, schemes other
 * than http and https. A certificate is always verified.
 *
 * Callbacks come from the event loop alone, never from within fetch_start(). They may start and
 * cancel requests, but not free the client.
 */
#ifndef IO_FETCH_FETCH_H
#define IO_FETCH_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <systemd/sd-event.h>

#define FETCH_TEXT_MAX 160

struct fetch;
struct fetch_call;

/* A sentence for a person, without a full stop, in printable ASCII. */
struct fetch_why {
	char text[FETCH_TEXT_MAX];
};

struct fetch_result {
	/*
	 * 0: the answer came whole, whatever its status; else it is nothing to build on:
	 * -ETIMEDOUT (any of the three), -ECONNREFUSED, -ENOENT and others of connect(),
	 * -EHOSTUNREACH (no address of the host is known so far), -EKEYREJECTED (its certificate,
	 * or the CA's file), -EACCES (the client's PEM is none), -EPROTO (TLS could not be agreed
	 * on), -EMSGSIZE (more than max_bytes), -EBADMSG (no HTTP, or cut short), -ECONNRESET
	 * (closed before it answered), -ENOMEM, -EIO, or what request.data returned.
	 */
	int error;
	long status; /* of HTTP; 0: none came */
	/* Collected unless there is request.data; never NULL, NUL-terminated behind len bytes. They
	 * are the client's, and gone when the callback returns. */
	const char *body;
	size_t len;
	/* The trailers' (or headers') grpc-status; -1: none came, or it is no number. */
	int grpc_status;
	char grpc_message[FETCH_TEXT_MAX]; /* percent-decoded, cut; printable ASCII */
	uint32_t retry_after_s;		   /* of Retry-After; 0: none, a date, or no number */
	/* What is wrong, as fetch_why; "" when error is 0, the status 200 to 299 and the
	 * grpc_status, if any, 0. */
	char text[FETCH_TEXT_MAX];
};

/* Once for each request that was started and not cancelled, after which its fetch_call is gone. */
typedef void (*fetch_done_fn)(void *userdata, const struct fetch_result *result);
/* A piece of the body as it comes, len > 0. A negative result ends the request with that error. */
typedef int (*fetch_data_fn)(void *userdata, const void *data, size_t len);

/* Copied where it must last, except userdata. All zero is no bound for a time, and GET. */
struct fetch_request {
	const char *url; /* http:// or https://, without user or password */
	/* A socket to connect to instead of the URL's host. Requests share a connection when both
	 * are the same, by HTTP/2 one after the other: who wants more at once, or another
	 * connection than the one that failed, gives the host another name. */
	const char *unix_path;
	bool http2; /* without asking (prior knowledge); else HTTP/1.1 */
	/* NULL: GET without a body, POST with one; else capital letters, 7 at most. */
	const char *method;
	const void *body; /* NULL: none */
	size_t body_len;
	const char *const *headers; /* "Name: value", NULL-ended; or NULL */
	const char *ca_file;	    /* PEM; NULL: the system's */
	/* NULL, or who the certificate must name instead of the URL's host, which is connected to;
	 * sent to the server (SNI, Host). */
	const char *server_name;
	/* NULL, or a PEM text with a certificate and its key without a passphrase, by which the
	 * client shows who it is. A connection is used again only for the same text. */
	const char *client_pem;
	const char *token; /* NULL, or sent as Authorization: Bearer, by https alone */
	size_t max_bytes;  /* of the body, with or without data */
	uint64_t connect_timeout_ns, timeout_ns; /* of all of it */
	uint64_t idle_timeout_ns;		 /* since something came last */
	fetch_data_fn data;			 /* NULL: the body is collected */
	fetch_done_fn done;
	void *userdata;
};

/* Loads libcurl. -ELIBACC when it is not there, *ret_why says so; -ENOMEM. */
int fetch_new(sd_event *event, struct fetch **ret, struct fetch_why *ret_why);
/* Cancels all requests. */
struct fetch *fetch_free(struct fetch *fetch);

/*
 * -EINVAL for an invalid URL, method, header or token, -EPERM for a token or a client's file
 * without TLS, -ENOMEM. Any other failure is reported by done.
 */
int fetch_start(struct fetch *fetch, const struct fetch_request *request, struct fetch_call **ret);
/* Whether an address of the URL's host is known; false for an invalid URL. */
bool fetch_has_address(const struct fetch *fetch, const char *url);
/* There is no callback any more. Takes NULL and returns it. */
struct fetch_call *fetch_cancel(struct fetch_call *call);

#endif
