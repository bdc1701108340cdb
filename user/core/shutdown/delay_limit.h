/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long logind is to let delay locks hold up a shutdown (InhibitDelayMaxSec), and whether a
 * drop-in of our own has to say so. The kubelet writes one, too, and turns its shutdown
 * manager off for good when the value it wrote does not take effect (docs/kubelet-rules.md, "Delay
 * limit"): ours sorts after it, so ours must never be the smaller one.
 */
#ifndef CORE_SHUTDOWN_DELAY_LIMIT_H
#define CORE_SHUTDOWN_DELAY_LIMIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define DELAYLIMIT_INFINITY   UINT64_MAX
#define DELAYLIMIT_DEFAULT_US 5000000 /* where no file says anything */

/* A file of logind's configuration. */
struct delaylimit_file {
	const char *name; /* borrowed; "" for logind.conf itself */
	bool said;	  /* it gives a value */
	bool broken;	  /* logind reads nothing after it */
	uint64_t us;
};

/* What logind would have from these, in the order of reading. */
uint64_t delaylimit_of_files(const struct delaylimit_file *files, size_t n);

/* The file whose value that is; NULL: none says anything. */
const struct delaylimit_file *delaylimit_last_word(const struct delaylimit_file *files, size_t n);

/* The file that keeps less than us in effect, whatever a drop-in named name says: one that sorts
 * after it, or one before it that cannot be read to its end. NULL: none. */
const struct delaylimit_file *delaylimit_pin(const struct delaylimit_file *files, size_t n,
					     const char *name, uint64_t us);

struct delaylimit_query {
	const struct delaylimit_file *files; /* in the order of reading: the last one wins */
	size_t n;
	const char *own;       /* the name of our drop-in, whether it is there or not */
	uint64_t effective_us; /* what logind does now */
	uint64_t need_us;      /* what is to be had at least; 0: nothing */
};

struct delaylimit_answer {
	/* Our drop-in is to be written, with us. Only when the value logind has is too low, or when
	 * the drop-in is there and lower than something else. */
	bool write;
	uint64_t us; /* whole seconds, or DELAYLIMIT_INFINITY; never below the effective value */
	/* The file that keeps a lower value in effect whatever our drop-in says: one that sorts
	 * after it, or one that cannot be read to its end. NULL: none. */
	const char *pinned_by;
};

void delaylimit_decide(const struct delaylimit_query *query, struct delaylimit_answer *ret);

/* The drop-in's text for a value of delaylimit_decide(). */
#define DELAYLIMIT_TEXT_MAX 160
void delaylimit_text(uint64_t us, char ret[static DELAYLIMIT_TEXT_MAX]);

#endif
