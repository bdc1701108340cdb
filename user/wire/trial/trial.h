/* SPDX-License-Identifier: Apache-2.0 */
/* What graced try found, in the forms of terminals, scripts and CI systems. */
#ifndef WIRE_TRIAL_TRIAL_H
#define WIRE_TRIAL_TRIAL_H

#include "base/buf.h"
#include "core/trial/trial.h"
#include "wire/text/grid.h"

/* One container that was tried. */
struct trial_case {
	const char *name;
	/* Its stop; NULL: there is none, and failure says in a sentence what went wrong. */
	const struct record *record;
	const char *failure;
	struct trial trial;
	struct trial_facts facts;
};

enum trial_format { TRIAL_TEXT, TRIAL_JSON, TRIAL_JUNIT, TRIAL_GITHUB, TRIAL_FORMATS };

/* All of them as they are written; all zero but for format and view begins one. */
struct trial_report {
	enum trial_format format;
	struct grid_view view; /* as why_story() takes it */
	struct buf body;       /* to be freed */
	unsigned int cases, failures, errors;
	uint64_t took_ns;
};

void trial_report_add(struct trial_report *report, const struct trial_case *c);
/* Adds all of it. 0 or buf_error(). */
int trial_report_write(struct trial_report *report, struct buf *out);

#endif
