/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as people write and read them, and as Go does. */
#ifndef BASE_DURATION_H
#define BASE_DURATION_H

#include <stdint.h>

#define DURATION_SIZE 16

/* Reads "10s", "250ms", "1h30m", "1.5s" or "5": whole or decimal numbers with the units h, m, s,
 * ms, us (µs) and ns, added up, or one bare number of seconds. *ret_ns is at most INT64_MAX; what
 * is below one of its ns is dropped. -EINVAL for anything else, a sign, a space, or a sum out of
 * range. */
int duration_parse(const char *text, uint64_t *ret_ns);

/* Writes ns rounded to three digits below a minute ("812µs", "1.23s", "30.0s"), then as "1m30s"
 * below an hour, as "2h05m" below 100 hours, else as "4d05h", and returns ret. At most 7 columns
 * below 1,000 days; the µ takes two bytes. */
const char *duration_format(uint64_t ns, char ret[static DURATION_SIZE]);

/* As Go's time.Duration, which is how the kubelet's texts have them. */

#define GODURATION_SIZE 32

/* "0s", "1ms", "1.5s", "1m30s", "1h0m0s", "-2s": below a second the largest unit that fits (ns, µs,
 * ms), from a second on hours, minutes and seconds; all digits, no trailing zeros. Returns ret. */
const char *goduration_format(int64_t ns, char ret[static GODURATION_SIZE]);

/* Reads what time.ParseDuration() does: "30s", "1h15m", "1.5m", "-2s", "0". 0; -EBADMSG for
 * anything else, and for what nanoseconds in 64 bits do not hold. *ret_ns is untouched then. */
int goduration_parse(const char *text, int64_t *ret_ns);

#endif
