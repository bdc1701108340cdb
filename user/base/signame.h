/* SPDX-License-Identifier: Apache-2.0 */
/* Signal numbers and their names, as on x86-64 and arm64. Real-time signals are numbered as libc
 * does, which keeps 32 and 33 for itself: SIGRTMIN is 34, SIGRTMAX is 64. */
#ifndef BASE_SIGNAME_H
#define BASE_SIGNAME_H

#include <stdint.h>

#define SIGNAME_SIZE 16
#define SIGNAME_MAX  64 /* the highest signal */

/* Writes the name and returns ret: "SIGTERM", "SIGRTMIN+3", "SIGRTMAX-2" (the nearer of the two,
 * as the shell's kill -l does); "SIG<number>" for 32, 33 and any number that is no signal. */
const char *signame_format(uint32_t number, char ret[static SIGNAME_SIZE]);

/* Reads a name with or without SIG, in any case, or a number. *ret_number is 1 to SIGNAME_MAX;
 * -EINVAL for anything else. */
int signame_parse(const char *text, uint32_t *ret_number);

#endif
