/* SPDX-License-Identifier: Apache-2.0 */
/* The process that checks passwords, and what it is asked and answers. */
#ifndef IO_HTTP_AUTH_CHILD_H
#define IO_HTTP_AUTH_CHILD_H

#include "io/proc/child.h"
#include "wire/http/headers.h"

#define WEBAUTH_HASH_SIZE 64

struct webauth_question {
	char hash[WEBAUTH_HASH_SIZE];
	char password[BASICAUTH_SIZE];
};

enum {
	WEBAUTH_READY = 'r',
	WEBAUTH_NO_LIBRARY = 'l',
	WEBAUTH_NOT_CONFINED = 'c', /* it could do more than it should, and ends */
	WEBAUTH_RIGHT = '1',
	WEBAUTH_WRONG = '0',
};

/* Whether the library of the child is there: 0, or -ELIBACC with *ret_error as dynlib_load(). It
 * stays loaded. */
int webauth_child_check(const char **ret_error);

/*
 * As child_start(). The descriptor takes whole questions; each is answered by one byte, before the
 * first comes WEBAUTH_READY, or _NO_LIBRARY or _NOT_CONFINED as the last. The child ends with the
 * descriptor, or its parent.
 */
int webauth_child_start(struct child *ret);

#endif
