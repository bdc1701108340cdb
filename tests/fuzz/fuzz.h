/* SPDX-License-Identifier: Apache-2.0 */
/* The one function a fuzz target defines, under the name libFuzzer looks for. */
#ifndef GRACED_TESTS_FUZZ_H
#define GRACED_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/* Feeds size bytes to the code under test and returns 0. The bytes may be anything; a target fails
 * only by crashing, by a sanitizer's report or by assert(). */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#endif
