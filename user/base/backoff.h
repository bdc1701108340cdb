/* SPDX-License-Identifier: Apache-2.0 */
/* How long to wait between attempts that fail: longer after each failure in a row. */
#ifndef BASE_BACKOFF_H
#define BASE_BACKOFF_H

#include <stdint.h>

/* The wait after a failure that follows so many others: first_ns, doubled for each of these, at
 * most last_ns. */
uint64_t backoff_ns(uint64_t first_ns, uint64_t last_ns, uint64_t failures);

#endif
