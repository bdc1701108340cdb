/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a test waits for what must come, however slow and busy its machine is. Where it comes
 * nobody waits that long, and nothing is claimed of how long it took.
 */
#ifndef TESTS_LIB_PATIENCE_H
#define TESTS_LIB_PATIENCE_H

#define PATIENCE_S  120
#define PATIENCE_MS (PATIENCE_S * 1000)
#define PATIENCE_NS (PATIENCE_S * 1000000000ull)

#endif
