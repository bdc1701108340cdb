// SPDX-License-Identifier: Apache-2.0
/* Maps a ring buffer, and moves the consumer's position through it. */
#include "io/kernel/ring_buffer.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/cleanup.h"

struct ringbuf {
	unsigned long *consumer;       /* ours to write, on a page of its own */
	const unsigned long *producer; /* on the page before the data */
	const char *data;
	size_t size, page;
	char copy[RINGBUF_COPY_MAX];
};

DEFINE_CLEANUP(struct ringbuf *, ringbuf_close);

static int map_pages(struct ringbuf *rb, int map_fd)
{
	void *at = mmap(NULL, rb->page, PROT_READ | PROT_WRITE, MAP_SHARED, map_fd, 0);

	if (at == MAP_FAILED)
		return -errno;
	rb->consumer = at;
	at = mmap(NULL, rb->page + rb->size, PROT_READ, MAP_SHARED, map_fd, (off_t)rb->page);
	if (at == MAP_FAILED)
		return -errno;
	rb->producer = at;
	rb->data = (const char *)at + rb->page;
	return 0;
}

int ringbuf_open(int map_fd, size_t size, struct ringbuf **ret)
{
	_cleanup_(cleanup_ringbuf_close) struct ringbuf *rb = calloc(1, sizeof(*rb));
	int r;

	if (!rb)
		return -ENOMEM;
	rb->page = (size_t)sysconf(_SC_PAGESIZE);
	rb->size = size;
	r = map_pages(rb, map_fd);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(rb);
	return 0;
}

struct ringbuf *ringbuf_close(struct ringbuf *rb)
{
	if (!rb)
		return NULL;
	if (rb->producer)
		munmap((void *)rb->producer, rb->page + rb->size);
	if (rb->consumer)
		munmap(rb->consumer, rb->page);
	free(rb);
	return NULL;
}

/* Headers do not go round the end: records begin at multiples of their size. */
static void *record_at(struct ringbuf *rb, unsigned long pos, size_t *size)
{
	size_t at = (pos + BPF_RINGBUF_HDR_SZ) & (rb->size - 1);
	size_t first = rb->size - at;

	if (*size <= first)
		return (void *)(rb->data + at);
	if (*size > sizeof(rb->copy)) {
		*size = 0;
		return rb->copy;
	}
	memcpy(rb->copy, rb->data + at, first);
	memcpy(rb->copy + first, rb->data, *size - first);
	return rb->copy;
}

/* 1 when there was a record, 0 when there is none, or the next one is being written; else what fn
 * returned. */
static int read_one(struct ringbuf *rb, unsigned long pos, ringbuf_fn fn, void *userdata)
{
	const uint32_t *header = (const void *)(rb->data + (pos & (rb->size - 1)));
	uint32_t length = __atomic_load_n(header, __ATOMIC_ACQUIRE);
	size_t size = length & ~(BPF_RINGBUF_BUSY_BIT | BPF_RINGBUF_DISCARD_BIT);
	unsigned long next = (pos + BPF_RINGBUF_HDR_SZ + size + 7) & ~7ul;
	int r = 0;

	if (length & BPF_RINGBUF_BUSY_BIT)
		return 0;
	if (!(length & BPF_RINGBUF_DISCARD_BIT)) {
		void *data = record_at(rb, pos, &size);

		r = fn(userdata, data, size);
	}
	/* The kernel half may write over it from now on. */
	__atomic_store_n(rb->consumer, next, __ATOMIC_RELEASE);
	return r < 0 ? r : 1;
}

static bool read_to(struct ringbuf *rb, unsigned long end, ringbuf_fn fn, void *userdata)
{
	for (unsigned long pos = *rb->consumer; pos != end; pos = *rb->consumer)
		if (read_one(rb, pos, fn, userdata) <= 0)
			return false;
	return true;
}

/* Looked at as rarely as can be: the producers fight for its cache line. */
static unsigned long end_of(const struct ringbuf *rb)
{
	return __atomic_load_n(rb->producer, __ATOMIC_ACQUIRE);
}

void ringbuf_read(struct ringbuf *rb, ringbuf_fn fn, void *userdata)
{
	unsigned long end;

	while (*rb->consumer != (end = end_of(rb)))
		if (!read_to(rb, end, fn, userdata))
			return;
}

bool ringbuf_drain(struct ringbuf *rb, ringbuf_fn fn, void *userdata)
{
	return read_to(rb, end_of(rb), fn, userdata);
}
