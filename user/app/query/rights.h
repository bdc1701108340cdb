/* SPDX-License-Identifier: Apache-2.0 */
/* What the API server lets the user of api.token-file or api.client-file do, by its own word (a
 * SelfSubjectAccessReview, which every user may make by default). */
#ifndef APP_QUERY_RIGHTS_H
#define APP_QUERY_RIGHTS_H

#include <stddef.h>

struct options;

enum rights_answer { RIGHTS_NOT_KNOWN, RIGHTS_ALLOWED, RIGHTS_DENIED };

struct right {
	const char *verb, *group, *resource, *subresource; /* group "": the core API's */
	enum rights_answer answer;			   /* set by rights_query() */
};

#define RIGHTS_MAX     8
#define RIGHTS_WHY_MAX 256

/* Asks for n rights (RIGHTS_MAX at most) at once, for 3 s at most. ret_why: why one is not known,
 * without a full stop;
 * "" where all are. */
void rights_query(const struct options *options, struct right *rights, size_t n,
		  char ret_why[static RIGHTS_WHY_MAX]);

#endif
