// SPDX-License-Identifier: Apache-2.0
// Follow a box to its end and compare its record with the truth, failing the cmocka test.
#include "lib/kernel/judge.h"

#include "lib/claim.h"

#include <stdio.h>
#include <string.h>

struct fixture *judge_need(void **state)
{
	if (!*state)
		skip();
	return *state;
}

void judge_start(struct fixture *f, const struct box_spec *spec, struct box *ret)
{
	int r = box_start(&f->tree, spec, ret);

	if (r)
		fail_msg("the box does not start: %s", strerror(-r));
}

void judge_send(struct fixture *f, enum send_from by, const struct box *box, int sig,
		struct sent *ret)
{
	int r = send_signal(&f->tree, by, NULL, box->init_pid, sig, ret);

	if (r)
		fail_msg("signal %d does not go out: %s", sig, strerror(-r));
}

static void fail_record(const json_t *rec, const char *why)
{
	char *text = rec ? json_dumps(rec, JSON_COMPACT) : NULL;

	/* print_error() cuts long lines. */
	fprintf(stderr, "%s\n", text ? text : "no record");
	free(text);
	fail_msg("%s", why);
}

void judge_record(struct fixture *f, struct truth truth, const json_t *rec)
{
	char why[1024];

	truth.tree = &f->tree;
	if (truth_compare(&truth, rec, why, sizeof(why)))
		fail_record(rec, why);
}

void judge_box(struct fixture *f, struct box *box, struct truth truth)
{
	struct proc_end end;
	const json_t *rec;

	assert_int_equal(proc_wait(&box->proc, &end), 0);
	rec = tracer_await_stop(f->tracer, box);
	assert_int_equal(box_remove(box), 0);
	truth.box = box;
	truth.end = &end;
	judge_record(f, truth, rec);
}

void judge_match(const json_t *rec, const char *expected)
{
	char why[1024];

	if (!rec)
		fail_record(NULL, expected);
	if (jrec_match(rec, expected, why, sizeof(why)))
		fail_record(rec, why);
}

size_t judge_count(struct fixture *f, const struct box *box, const char *type)
{
	return tracer_count(f->tracer, &(struct tracer_want){.type = type, .id = box->id});
}
