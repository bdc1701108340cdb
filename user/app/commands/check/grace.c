// SPDX-License-Identifier: Apache-2.0
/* Which pods ask for more time than their group has in a shutdown, as far as sources tell. */
#include "app/commands/check/grace.h"

#include <inttypes.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/time.h"

#define NAMED_MAX 8

struct fitting {
	const struct shutplan *plan;
	size_t n, cut, no_grace, no_priority;
	struct buf cut_ones; /* "shop/db-0 (60 s, has 20 s), …" */
};

static void add_cut(struct fitting *f, const struct podtab_pod *pod, int64_t grace_s,
		    int64_t group_s)
{
	if (f->cut++ >= NAMED_MAX)
		return;
	buf_printf(&f->cut_ones, "%s%s/%s (%" PRId64 " s, has %" PRId64 " s)",
		   f->cut > 1 ? ", " : "", pod->namespace_ ? pod->namespace_ : "-",
		   pod->name ? pod->name : pod->uid, grace_s, group_s);
}

static void on_pod(void *userdata, const struct podtab_pod *pod)
{
	struct fitting *f = userdata;
	struct shutplan_pod in = {
		.has_priority = pod->known & META_POD_PRIORITY,
		.priority = (int32_t)pod->priority,
		.is_static = pod->is_static,
		.mirror = pod->is_static,
		.grace = {pod->known & META_POD_GRACE, (int64_t)(pod->grace_ns / NS_PER_S)},
	};
	int64_t group_s;

	if (pod->gone || pod->phase == META_PHASE_SUCCEEDED || pod->phase == META_PHASE_FAILED)
		return;
	f->n++;
	f->no_priority += !in.has_priority;
	f->no_grace += !in.grace.set;
	group_s = f->plan->groups[shutplan_group_of(f->plan, &in)].seconds;
	if (in.grace.set && group_s < in.grace.s)
		add_cut(f, pod, in.grace.s, group_s);
}

static void tell(struct fitting *f, check_shutdown_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};

	if (f->cut)
		buf_printf(&text, "cut short in a shutdown: %s", buf_str(&f->cut_ones));
	else
		buf_printf(&text, "of %zu pods none is known to have a longer one than its group",
			   f->n);
	if (f->cut > NAMED_MAX)
		buf_printf(&text, " and %zu more", f->cut - NAMED_MAX);
	if (f->no_grace)
		buf_printf(&text, "; that of %zu is not told", f->no_grace);
	if (f->no_priority)
		buf_printf(&text, "; the priority of %zu is not told, and taken for 0",
			   f->no_priority);
	fn(userdata, !f->cut, "grace periods", buf_str(&text));
}

void check_grace(const struct describe *describe, const struct kubeletfile *file,
		 check_shutdown_fn fn, void *userdata)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct kubeletfile_why why;
	struct shutplan plan;
	struct fitting fitting = {.plan = &plan};

	if (kubeletfile_plan(file, &arena, &plan, &why) < 0 || plan.n == 0)
		return;
	describe_each_pod(describe, on_pod, &fitting);
	if (fitting.n > 0)
		tell(&fitting, fn, userdata);
	buf_free(&fitting.cut_ones);
}
