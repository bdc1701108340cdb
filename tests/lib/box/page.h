/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The page that a test shares with a process it starts: what the process did and when, by its own
 * clock, and a word by which the test tells it to go on.
 *
 * The process finds the page at descriptor PAGE_FD and the pipe of its "ready" byte at READY_FD; it
 * works without either. This header is all the static helper programs need of tests/lib.
 */
#ifndef TESTS_LIB_BOX_PAGE_H
#define TESTS_LIB_BOX_PAGE_H

#include <linux/futex.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PAGE_FD	   3
#define READY_FD   4
#define PAGE_BYTES 4096

enum note_kind {
	NOTE_NONE = 0,
	NOTE_READY, /* about to say ready */
	NOTE_HEARD, /* a signal was taken: number is the signal */
	NOTE_KILL, /* kill(2) or its like: pid and number, before_ns and after_ns around the call */
	NOTE_CHILD, /* pid is a child just made */
	NOTE_EXIT,  /* about to end: number is the exit code */
};

/* One thing that happened. Times are CLOCK_BOOTTIME in ns; value is the call's result or a count. */
struct note {
	uint32_t kind;
	int32_t pid;
	int32_t number;
	int32_t value;
	uint64_t before_ns;
	uint64_t after_ns;
};

#define PAGE_NOTES ((PAGE_BYTES - 16) / sizeof(struct note))

struct page {
	uint32_t used;	/* notes taken, may exceed PAGE_NOTES: the rest fell off */
	uint32_t go;	/* set by the test, waited for by the process */
	uint32_t ready; /* the ready byte was written */
	uint32_t reserved;
	struct note notes[PAGE_NOTES];
};

_Static_assert(sizeof(struct page) <= PAGE_BYTES, "the page must fit");

/* CLOCK_BOOTTIME in ns. */
static inline uint64_t page_clock_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_BOOTTIME, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The page at PAGE_FD, or a private one where there is none; never NULL. */
static inline struct page *page_attach(void)
{
	void *at = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, PAGE_FD, 0);

	if (at == MAP_FAILED)
		at = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1,
			  0);
	if (at == MAP_FAILED)
		_exit(120);
	return at;
}

/* Take a note; safe from handlers and from several processes at once. */
static inline void page_note(struct page *page, struct note note)
{
	uint32_t slot = __atomic_fetch_add(&page->used, 1, __ATOMIC_ACQ_REL);
	uint32_t kind = note.kind;

	if (slot >= PAGE_NOTES)
		return;
	note.kind = NOTE_NONE;
	page->notes[slot] = note;
	__atomic_store_n(&page->notes[slot].kind, kind, __ATOMIC_RELEASE);
}

/* Say that everything is set up: a test's box_start() returns after this. Once only. */
static inline void page_ready(struct page *page)
{
	struct note note = {.kind = NOTE_READY, .pid = (int32_t)getpid()};
	ssize_t written;

	if (__atomic_exchange_n(&page->ready, 1, __ATOMIC_ACQ_REL))
		return;
	note.before_ns = note.after_ns = page_clock_ns();
	page_note(page, note);
	written = write(READY_FD, "r", 1);
	(void)written;
	close(READY_FD);
}

/* Wait until the go word is at least step; returns also after each signal handler that ran. */
static inline bool page_go_reached(struct page *page, uint32_t step)
{
	uint32_t seen = __atomic_load_n(&page->go, __ATOMIC_ACQUIRE);

	if (seen >= step)
		return true;
	syscall(SYS_futex, &page->go, FUTEX_WAIT, seen, NULL, NULL, 0);
	return __atomic_load_n(&page->go, __ATOMIC_ACQUIRE) >= step;
}

/* Wait until the go word is at least step. */
static inline void page_await_go(struct page *page, uint32_t step)
{
	while (!page_go_reached(page, step))
		;
}

/* What a process does that is ready, and ends when it may. */
static inline void page_exit_at_go(struct page *page)
{
	page_ready(page);
	page_await_go(page, 1);
	_exit(3);
}

/* Let every process that waits for step go on. */
static inline void page_go(struct page *page, uint32_t step)
{
	__atomic_store_n(&page->go, step, __ATOMIC_RELEASE);
	syscall(SYS_futex, &page->go, FUTEX_WAKE, INT32_MAX, NULL, NULL, 0);
}

/* The nth (from 0) note of a kind, or NULL; the note belongs to the page. */
static inline const struct note *page_find(const struct page *page, uint32_t kind, unsigned int nth)
{
	uint32_t used = __atomic_load_n(&page->used, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < used && i < PAGE_NOTES; i++) {
		if (__atomic_load_n(&page->notes[i].kind, __ATOMIC_ACQUIRE) != kind)
			continue;
		if (nth-- == 0)
			return &page->notes[i];
	}
	return NULL;
}

#endif
