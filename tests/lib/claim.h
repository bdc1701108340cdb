/* SPDX-License-Identifier: Apache-2.0 */
/* cmocka with what it wants included before it, and tests that are named by the sentence they
 * claim. */
#ifndef TESTS_LIB_CLAIM_H
#define TESTS_LIB_CLAIM_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#define CLAIM(sentence, function)                    \
	{                                            \
		sentence, function, NULL, NULL, NULL \
	}

#define LEN(table) (sizeof(table) / sizeof((table)[0]))

#endif
