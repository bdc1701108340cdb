// SPDX-License-Identifier: Apache-2.0
/* A line for each thing that is written to the API server: whether its user has the rights. */
#include "app/check/report.h"

#include <stdio.h>
#include <string.h>

#include "app/config/config.h"
#include "app/query/rights.h"
#include "base/buf.h"
#include "base/cleanup.h"

#define EVENTS "events.k8s.io"
#define NEEDED 2 /* rights for one thing */

struct written {
	const char *name;
	bool (*on)(const struct config *config);
	const char *does; /* behind "ADDRESS: " */
	const char *role; /* grants it */
	struct right needs[NEEDED];
};

static bool on_events(const struct config *config)
{
	return config->report_events;
}

static bool on_status(const struct config *config)
{
	return config->shutdown.statuses;
}

static bool on_unschedulable(const struct config *config)
{
	return config->shutdown.unschedulable && config->shutdown.mode == SHUTDOWN_MANAGE;
}

static bool on_taint(const struct config *config)
{
	return config->shutdown.taint;
}

#define NODES_NEEDED                                                      \
	{                                                                 \
		{.verb = "get", .group = "", .resource = "nodes"},        \
		{                                                         \
			.verb = "patch", .group = "", .resource = "nodes" \
		}                                                         \
	}

static const struct written all[] = {
	{"api events",
	 on_events,
	 "Events are written there",
	 "deploy/rbac-events.yaml",
	 {{.verb = "create", .group = EVENTS, .resource = "events"},
	  {.verb = "patch", .group = EVENTS, .resource = "events"}}},
	{"api status",
	 on_status,
	 "the status of pods is written there in a shutdown",
	 "deploy/rbac-status.yaml",
	 {{.verb = "get", .group = "", .resource = "pods"},
	  {.verb = "patch", .group = "", .resource = "pods", .subresource = "status"}}},
	{"api unschedulable", on_unschedulable, "the node is tainted there in a shutdown",
	 "deploy/rbac-unschedulable.yaml", NODES_NEEDED},
	{"api taint", on_taint, "the node is tainted there when it is dead",
	 "deploy/rbac-taint.yaml", NODES_NEEDED},
};

#define N_ALL (sizeof(all) / sizeof(*all))
_Static_assert(N_ALL *NEEDED <= RIGHTS_MAX, "all rights are asked for at once");

/* As kubectl auth can-i has it: "create events.events.k8s.io", "patch pods/status". */
static void add_right(struct buf *out, const struct right *right)
{
	buf_printf(out, "%s %s", right->verb, right->resource);
	if (right->group[0])
		buf_printf(out, ".%s", right->group);
	if (right->subresource)
		buf_printf(out, "/%s", right->subresource);
}

/* Those with that answer, with "and" between them. How many. */
static size_t add_rights(struct buf *out, const struct right *rights, enum rights_answer answer)
{
	size_t n = 0;

	for (size_t i = 0; i < NEEDED; i++) {
		if (rights[i].answer != answer)
			continue;
		buf_adds(out, n++ ? " and " : "");
		add_right(out, &rights[i]);
	}
	return n;
}

/* A right that is missing is said first: it is known, whatever else is not. */
static void judge(const struct written *w, const struct right *rights, const char *to,
		  const char *why, check_line_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {}, hint = {}, which = {};

	buf_printf(&text, "%s: ", to);
	if (add_rights(&which, rights, RIGHTS_DENIED)) {
		buf_printf(&text, "%s, and its user may not %s", w->does, buf_str(&which));
		buf_printf(&hint, "grant it with %s", w->role);
	} else if (add_rights(&which, rights, RIGHTS_NOT_KNOWN)) {
		buf_printf(&text, "%s; whether its user may %s is not known: %s", w->does,
			   buf_str(&which), why);
		buf_printf(&hint,
			   "see that the API server answers at api.url, and that api.token-file or "
			   "api.client-file belongs to a user who has %s",
			   w->role);
	} else {
		add_rights(&which, rights, RIGHTS_ALLOWED);
		buf_printf(&text, "%s: its user may %s", w->does, buf_str(&which));
	}
	fn(userdata, w->name, hint.len ? buf_str(&hint) : NULL, buf_str(&text));
}

void check_report(const struct config *config, check_line_fn fn, void *userdata)
{
	struct right rights[N_ALL * NEEDED];
	const char *to = config->options.sources.api.url ?: "the API server";
	char why[RIGHTS_WHY_MAX];
	size_t n = 0, at = 0;

	for (size_t i = 0; i < N_ALL; i++) {
		if (!all[i].on(config))
			continue;
		memcpy(&rights[n], all[i].needs, sizeof(all[i].needs));
		n += NEEDED;
	}
	if (n)
		rights_query(&config->options, rights, n, why);
	for (size_t i = 0; i < N_ALL; i++) {
		if (!all[i].on(config))
			continue;
		judge(&all[i], &rights[at], to, why, fn, userdata);
		at += NEEDED;
	}
}
