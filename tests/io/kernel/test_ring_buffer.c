// SPDX-License-Identifier: Apache-2.0
/* Claims about io/kernel/ring, held against a file laid out as the kernel lays out the map. */
#include "io/kernel/ring_buffer.h"

#include <linux/bpf.h>
#include <stdbool.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lib/claim.h"

#define SIZE	 16384u
#define TEXT_MAX 8192

struct stage {
	int fd;
	size_t page;
	char *at; /* consumer's page, producer's page, data */
	struct ringbuf *rb;
	unsigned long pos; /* the producer's */
	unsigned int number;

	/* What was read. */
	unsigned int n;
	size_t size;
	char bytes[TEXT_MAX];
	int result; /* of the reader */
};

static void open_stage(struct stage *s, unsigned long pos)
{
	*s = (struct stage){.page = (size_t)sysconf(_SC_PAGESIZE), .pos = pos};
	s->fd = memfd_create("ring", MFD_CLOEXEC);
	assert_int_equal(ftruncate(s->fd, (off_t)(2 * s->page + SIZE)), 0);
	s->at = mmap(NULL, 2 * s->page + SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, s->fd, 0);
	assert_true(s->at != MAP_FAILED);
	*(unsigned long *)s->at = *(unsigned long *)(s->at + s->page) = pos;
	assert_int_equal(ringbuf_open(s->fd, SIZE, &s->rb), 0);
}

static void close_stage(struct stage *s)
{
	assert_null(ringbuf_close(s->rb));
	munmap(s->at, 2 * s->page + SIZE);
	close(s->fd);
}

static char byte_of(unsigned int number, size_t i)
{
	return (char)(number * 31 + i * 7 + i / 251);
}

/* Returns where its header is. */
static uint32_t *produce(struct stage *s, size_t size, uint32_t flags)
{
	char *data = s->at + 2 * s->page;
	uint32_t *header = (void *)(data + s->pos % SIZE);

	*header = (uint32_t)size | flags;
	s->number++;
	for (size_t i = 0; i < size; i++)
		data[(s->pos + BPF_RINGBUF_HDR_SZ + i) % SIZE] = byte_of(s->number, i);
	s->pos = (s->pos + BPF_RINGBUF_HDR_SZ + size + 7) / 8 * 8;
	*(unsigned long *)(s->at + s->page) = s->pos;
	return header;
}

static int keep(void *userdata, void *data, size_t size)
{
	struct stage *s = userdata;

	assert_true(size <= sizeof(s->bytes));
	memcpy(s->bytes, data, size);
	s->size = size;
	s->n++;
	return s->result;
}

static unsigned int read_all(struct stage *s)
{
	unsigned int before = s->n;

	ringbuf_read(s->rb, keep, s);
	return s->n - before;
}

static unsigned long consumed(const struct stage *s)
{
	return *(unsigned long *)s->at;
}

static void assert_last(const struct stage *s, unsigned int number, size_t size)
{
	assert_int_equal(s->size, size);
	for (size_t i = 0; i < size; i++)
		assert_int_equal(s->bytes[i], byte_of(number, i));
}

static void test_everywhere(void **state)
{
	static const size_t sizes[] = {1, 8, 48, 333, 1024, RINGBUF_COPY_MAX};
	struct stage s;

	/* Positions go on for ever, and go round, too. */
	open_stage(&s, 0ul - 3 * SIZE);
	for (size_t k = 0; k < LEN(sizes); k++)
		for (unsigned int i = 0; i < 3 * SIZE / 8; i++) {
			produce(&s, sizes[k], 0);
			assert_int_equal(read_all(&s), 1);
			assert_last(&s, s.number, sizes[k]);
			assert_int_equal(consumed(&s), s.pos);
		}
	close_stage(&s);
}

static void test_busy(void **state)
{
	uint32_t *header;
	struct stage s;

	open_stage(&s, 0);
	produce(&s, 10, 0);
	header = produce(&s, 20, BPF_RINGBUF_BUSY_BIT);
	produce(&s, 30, 0);
	assert_int_equal(read_all(&s), 1);
	assert_last(&s, 1, 10);
	assert_int_equal(read_all(&s), 0);
	*header &= ~BPF_RINGBUF_BUSY_BIT;
	assert_int_equal(read_all(&s), 2);
	assert_last(&s, 3, 30);
	assert_int_equal(read_all(&s), 0);
	close_stage(&s);
}

static bool drain(struct stage *s)
{
	return ringbuf_drain(s->rb, keep, s);
}

/* As another CPU does while a record is read. */
static int produce_more(void *userdata, void *data, size_t size)
{
	struct stage *s = userdata;

	keep(s, data, size);
	produce(s, 8, 0);
	return 0;
}

static void test_drained(void **state)
{
	uint32_t *header;
	struct stage s;

	open_stage(&s, 0ul - 64);
	assert_true(drain(&s));
	produce(&s, 10, 0);
	header = produce(&s, 20, BPF_RINGBUF_BUSY_BIT);
	produce(&s, 30, 0);
	assert_false(drain(&s));
	assert_int_equal(s.n, 1);
	assert_false(drain(&s));
	*header &= ~BPF_RINGBUF_BUSY_BIT;
	assert_true(drain(&s));
	assert_int_equal(s.n, 3);
	produce(&s, 10, 0);
	produce(&s, 20, 0);
	assert_true(ringbuf_drain(s.rb, produce_more, &s));
	assert_int_equal(s.n, 5);
	assert_last(&s, 5, 20);
	close_stage(&s);
}

static void test_discarded(void **state)
{
	struct stage s;

	open_stage(&s, SIZE - 64);
	produce(&s, 100, BPF_RINGBUF_DISCARD_BIT);
	assert_int_equal(read_all(&s), 0);
	assert_int_equal(consumed(&s), s.pos);
	produce(&s, 40, BPF_RINGBUF_DISCARD_BIT);
	produce(&s, 50, 0);
	assert_int_equal(read_all(&s), 1);
	assert_last(&s, 3, 50);
	close_stage(&s);
}

static void test_ended(void **state)
{
	struct stage s;

	open_stage(&s, 0);
	s.result = -1;
	for (int i = 0; i < 3; i++)
		produce(&s, 16, 0);
	for (unsigned int i = 1; i <= 3; i++) {
		assert_int_equal(read_all(&s), 1);
		assert_last(&s, i, 16);
	}
	assert_int_equal(read_all(&s), 0);
	close_stage(&s);
}

static void test_long(void **state)
{
	struct stage s;

	open_stage(&s, 0);
	produce(&s, TEXT_MAX, 0);
	assert_int_equal(read_all(&s), 1);
	assert_last(&s, 1, TEXT_MAX);
	produce(&s, TEXT_MAX, 0);
	assert_int_equal(read_all(&s), 1);
	assert_last(&s, 2, 0);
	assert_int_equal(consumed(&s), s.pos);
	produce(&s, 16, 0);
	assert_int_equal(read_all(&s), 1);
	assert_last(&s, 3, 16);
	close_stage(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a record is whole wherever it lies", test_everywhere),
		CLAIM("one that is being written keeps those behind it waiting", test_busy),
		CLAIM("what was begun before is read, and nothing else, or it is known what is missing",
		      test_drained),
		CLAIM("what was discarded is passed over", test_discarded),
		CLAIM("who wants no more has the rest later", test_ended),
		CLAIM("one that goes round the end and is too long to be copied has no bytes",
		      test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
