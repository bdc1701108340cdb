/* SPDX-License-Identifier: Apache-2.0 */
/* What came of an answer, within its bounds, and how its request ended. */
#ifndef IO_FETCH_ANSWER_H
#define IO_FETCH_ANSWER_H

#include "base/buf.h"
#include "io/fetch/curl.h"
#include "io/fetch/fetch.h"

struct fetch_answer {
	size_t max_bytes, bytes, header_bytes;
	bool head_whole; /* its last line came */
	struct buf body;
	int grpc_status; /* -1: none came */
	char grpc_message[FETCH_TEXT_MAX];
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
