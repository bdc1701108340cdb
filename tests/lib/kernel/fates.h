/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether what graced audit says of each process of a container comes true: the kernel's own record
 * of who sends which signal to whom (tracefs, in an instance of the test's own) is held against it.
 */
#ifndef TESTS_LIB_KERNEL_FATES_H
#define TESTS_LIB_KERNEL_FATES_H

#include <jansson.h>
#include <stdbool.h>

#include "lib/box/box.h"

/* NULL: signals are recorded; else why they cannot be. */
const char *fates_open(void);
void fates_close(void);

/* The fates of a record's processes in their order, "receives cut", into ret. */
void fates_of(const json_t *rec, char *ret, size_t size);

/*
 * Stops the box by the signal that the record examined, waits for its end as long as that takes, or
 * for at most limit_s (0: no limit) and ends it then, and fails the running test where a process
 * met another fate than the record has. The box is only to be removed afterwards.
 */
void fates_check(const json_t *rec, struct box *box, unsigned int limit_s);

#endif
