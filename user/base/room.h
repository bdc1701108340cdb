/* SPDX-License-Identifier: Apache-2.0 */
/* Lists that grow: where they are, how many are in them, and for how many there is room. */
#ifndef BASE_ROOM_H
#define BASE_ROOM_H

#include <stdlib.h>

static inline void *room_grow(void *list, size_t n, size_t *room, size_t first, size_t size)
{
	size_t more = *room ? 2 * *room : first;

	if (n < *room)
		return list;
	list = reallocarray(list, more, size);
	if (list)
		*room = more;
	return list;
}

/* Whether there is room for one more, which is made: for `first` at first, then for twice as many.
 * False: there is no memory, and all is as it was. */
#define ROOM_FOR_ONE(list, n, room, first)                                                \
	({                                                                                \
		void *grown_ = room_grow((list), (n), &(room), (first), sizeof(*(list))); \
		if (grown_)                                                               \
			(list) = grown_;                                                  \
		grown_ != NULL;                                                           \
	})

#endif
