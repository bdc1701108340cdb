/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Follow a box to its end and hold its stop record against what the test knows. For tests that
 * have a fixture; each function fails the running cmocka test with the record and a sentence.
 */
#ifndef TESTS_LIB_KERNEL_JUDGE_H
#define TESTS_LIB_KERNEL_JUDGE_H

#include "lib/kernel/fixture.h"
#include "lib/kernel/truth.h"

/* The fixture of a test, or skip it where the group could not be set up. */
struct fixture *judge_need(void **state);

/* Start a box or fail. */
void judge_start(struct fixture *f, const struct box_spec *spec, struct box *ret);

/* Signal a box's init or fail; by is as in send_signal(), without a container. */
void judge_send(struct fixture *f, enum send_from by, const struct box *box, int sig,
		struct sent *ret);

/* Compare a record with truth, whose tree is filled in. */
void judge_record(struct fixture *f, struct truth truth, const json_t *rec);

/*
 * Wait for the init's end and for its (first) stop record, remove the box, compare. truth's tree,
 * box and end are filled in.
 */
void judge_box(struct fixture *f, struct box *box, struct truth truth);

/* Fail unless rec has the members of expected (jrec_match()). */
void judge_match(const json_t *rec, const char *expected);

/* How many records of a type there are of a box with an id. */
size_t judge_count(struct fixture *f, const struct box *box, const char *type);

#endif
