/* SPDX-License-Identifier: Apache-2.0 */
/* Durations as Go's time.Duration writes itself, which is how the kubelet's texts have them. */
#ifndef BASE_GODURATION_H
#define BASE_GODURATION_H

#include <stdint.h>

#define GODURATION_SIZE 32

/* "0s", "1ms", "1.5s", "1m30s", "1h0m0s", "-2s": below a second the largest unit that fits (ns, µs,
 * ms), from a second on hours, minutes and seconds; all digits, no trailing zeros. Returns ret. */
const char *goduration_format(int64_t ns, char ret[static GODURATION_SIZE]);

/* Reads what time.ParseDuration() does: "30s", "1h15m", "1.5m", "-2s", "0". 0; -EBADMSG for
 * anything else, and for what nanoseconds in 64 bits do not hold. *ret_ns is untouched then. */
int goduration_parse(const char *text, int64_t *ret_ns);

#endif
