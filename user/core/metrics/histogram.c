// SPDX-License-Identifier: Apache-2.0
/* Histograms with exact sums. */
#include "core/metrics/histogram.h"

size_t histogram_observe(struct histogram *histogram, const struct histogram_bounds *bounds,
			 uint64_t billionths)
{
	uint64_t rest = histogram->sum_billionths + billionths % HISTOGRAM_ONE;
	size_t i = 0;

	while (i < bounds->n && billionths > bounds->at[i])
		i++;
	native_raise(&histogram->buckets[i], 1);
	native_raise(&histogram->count, 1);
	native_observe(&histogram->native, billionths);
	native_raise(&histogram->sum_whole, billionths / HISTOGRAM_ONE + rest / HISTOGRAM_ONE);
	histogram->sum_billionths = (uint32_t)(rest % HISTOGRAM_ONE);
	return i;
}

/* By hand, digit for digit: 128-bit division is a function of the compiler's own library. */
uint64_t histogram_ratio(uint64_t part, uint64_t whole)
{
	uint64_t ratio = part / whole, rest = part % whole;

	if (ratio >= UINT64_MAX / HISTOGRAM_ONE)
		return UINT64_MAX;
	/* So that ten times the rest fits; of 58 years, 16 ns do not count. */
	if (whole > UINT64_MAX / 10) {
		whole = whole / 16 + 1;
		rest /= 16;
	}
	for (uint64_t one = HISTOGRAM_ONE; one > 1; one /= 10) {
		rest *= 10;
		ratio = ratio * 10 + rest / whole;
		rest %= whole;
	}
	return ratio;
}
