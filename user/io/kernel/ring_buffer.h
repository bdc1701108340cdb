/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A BPF ring buffer map, read by its rules (Documentation/bpf/ringbuf.rst of the kernel). Unlike
 * libbpf this maps the data once, not twice in a row: the second mapping takes no memory, but counts
 * as if it did, in what everybody looks at. A record that goes round the end is copied instead.
 */
#ifndef IO_KERNEL_RING_BUFFER_H
#define IO_KERNEL_RING_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/* Longer records that go round the end are handed over as ones of no bytes. */
#define RINGBUF_COPY_MAX 4096

struct ringbuf;

/* The bytes are valid during the call. A negative result ends the reading behind this record. */
typedef int (*ringbuf_fn)(void *userdata, void *data, size_t size);

/* The descriptor stays the caller's, and is readable when there is something; size is that of the
 * data, a power of two. -errno. */
int ringbuf_open(int map_fd, size_t size, struct ringbuf **ret);
struct ringbuf *ringbuf_close(struct ringbuf *rb);

/* Hands over what there is, until there is nothing more. */
void ringbuf_read(struct ringbuf *rb, ringbuf_fn fn, void *userdata);

/* The same with what was begun before this call. False: one of them is being written, and it and
 * those behind it were not read; or fn ended the reading. */
bool ringbuf_drain(struct ringbuf *rb, ringbuf_fn fn, void *userdata);

#endif
