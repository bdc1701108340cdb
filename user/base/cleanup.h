/* SPDX-License-Identifier: Apache-2.0 */
/* Ownership that ends with its scope: a variable declared _cleanup_(fn) is released by
 * fn(&variable) on every way out of the block, and TAKE_PTR()/TAKE_FD() hand it on. */
#ifndef GRACED_BASE_CLEANUP_H
#define GRACED_BASE_CLEANUP_H

#include <stdlib.h>
#include <string.h>

#define _cleanup_(fn) __attribute__((cleanup(fn)))

/* For the result of malloc() and its like, of any pointer type: `_cleanup_(cleanup_free) char *s =
 * NULL;`. */
static inline void cleanup_free(void *ptr)
{
	void *owned;

	memcpy(&owned, ptr, sizeof(owned));
	free(owned);
}

/* Defines `static inline void cleanup_<fn>(type *p)`, which calls fn(*p) unless *p is NULL; type is
 * a pointer type: DEFINE_CLEANUP(struct map *, map_free) gives _cleanup_(cleanup_map_free). */
#define DEFINE_CLEANUP(type, fn)                 \
	static inline void cleanup_##fn(type *p) \
	{                                        \
		if (*p)                          \
			fn(*p);                  \
	}                                        \
	struct cleanup_swallow_semicolon

/* Both return the value and leave "nothing owned" (NULL, -1) behind, so that the cleanup is a
 * no-op. */
#define TAKE_PTR(ptr)                                  \
	({                                             \
		__typeof__(ptr) *taken_from_ = &(ptr); \
		__typeof__(ptr) taken_ = *taken_from_; \
		*taken_from_ = NULL;                   \
		taken_;                                \
	})

#define TAKE_FD(fd)                        \
	({                                 \
		int *taken_from_ = &(fd);  \
		int taken_ = *taken_from_; \
		*taken_from_ = -1;         \
		taken_;                    \
	})

#endif
