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
