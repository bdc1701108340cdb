/* SPDX-License-Identifier: Apache-2.0 */
/* Whether the options may be used, and what authenticates this client. */
#ifndef IO_SOURCES_KUBELET_ACCESS_H
#define IO_SOURCES_KUBELET_ACCESS_H

#include "io/sources/kubelet/kubelet.h"

/* Judges the options; *ret_url is the caller's then. */
int source_kubelet_check(const struct source_kubelet_options *options, char **ret_url,
			 struct source_kubelet_why *ret_why);

/* Says for a person why the request came to nothing: an error, or a status that is not 200. Reads
 * from the options the files, the server's name, the patience, and whether there is an api_node. */
void source_kubelet_explain(const struct source_kubelet_options *options,
			    const struct fetch_result *result, struct source_kubelet_why *ret);

/* What shows who the client is: the token, and the client certificate with its key. */

/* Whether libcurl, which opens the file by itself, would not wait for a writer of it: 0, or -errno
 * and a sentence for a person. what: "CA". */
int source_kubelet_file(const char *what, const char *path, struct source_kubelet_why *ret_why);

struct source_kubelet_secrets {
	char *token;  /* NULL: none */
	char *client; /* PEM with certificate and key; NULL: none */
};

/* Reads those of the files that are not NULL. *ret has those that can be read, for the caller to
 * release either way; on failure a sentence for a person and -errno. */
int source_kubelet_secrets_read(const char *token_file, const char *client_file,
				struct source_kubelet_secrets *ret,
				struct source_kubelet_why *ret_why);
/* Overwrites and frees them. */
void source_kubelet_secrets_done(struct source_kubelet_secrets *secrets);
/* The one that expires first; all zero when neither has a date. */
void source_kubelet_secrets_expiry(const struct source_kubelet_secrets *secrets,
				   struct credential *ret);

#endif
