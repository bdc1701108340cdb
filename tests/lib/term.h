/* SPDX-License-Identifier: Apache-2.0 */
/* What a text does to the terminal that it is printed on. */
#ifndef TESTS_LIB_TERM_H
#define TESTS_LIB_TERM_H

#include "base/buf.h"

/* Fails unless no line takes more columns, and nothing but a newline is a control character or
 * turns the direction of writing. */
void term_check(const struct buf *text, unsigned int columns);

#endif
