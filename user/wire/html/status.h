/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The daemon's status page: one self-contained HTML document. It works without a script; with the
 * one that is in it the page renews itself in place, without one the browser loads it again.
 *
 * Every name in it may be hostile, and passes html_add_text().
 */
#ifndef WIRE_HTML_STATUS_H
#define WIRE_HTML_STATUS_H

#include "base/buf.h"
#include "core/engine/engine.h"
#include "core/names/meta.h"
#include "core/shutdown/shutdown.h"
#include "core/stop/audit.h"
#include "core/stop/record.h"
#include "wire/prometheus/metrics.h"

/* What the page is sent with: it runs and shows nothing but its own script and style, which are
 * known by their SHA-256, and connects to nothing but where it comes from. */
extern const char htmlstatus_policy[];

/* A container as the page names it; "" where a part is not known. */
struct htmlsubject {
	char namespace_[META_NAME_MAX], pod[META_NAME_MAX], container[META_NAME_MAX];
};

/* A stop as it is shown. */
#define HTMLSTATUS_WHY 256

struct htmlstop {
	int64_t wall_ns;
	struct htmlsubject subject;
	enum outcome outcome;
	enum cause cause;
	bool latency_known, margin_known;
	uint64_t latency_ns;
	int64_t margin_ns; /* of the grace period; below 0: it overran */
	bool complete;	   /* the evidence */
	enum unheard reason;
	char why[HTMLSTATUS_WHY]; /* its sentence, cut; "": it went well */
	uint64_t times;		  /* of a container that is deaf: how often it was stopped so */
};

/* How many containers that run and are deaf are listed; of the others the page says how many. */
#define HTMLSTATUS_DEAF 50

/* A container that runs, on which its stop signal would have no effect. */
struct htmldeaf {
	struct htmlsubject subject;
	enum audit_reason reason;
};

struct htmlsource {
	const char *name, *state, *text; /* text may be "" */
	bool up;
};

struct htmlgroup {
	int32_t priority; /* from which on pods are in it */
	uint64_t ns;	  /* how long it is given */
};

/* How many pods are listed; of the others the page says how many they are. */
#define HTMLSTATUS_PODS 300

struct htmlstatus {
	const char *node, *version;
	const char *state; /* "ready", "starting" or "stopping" */
	const char *scope, *mode;
	const char *metrics_path;
	int64_t wall_ns;
	const struct metrics *metrics;
	const struct htmlstop *stops; /* the last one first */
	size_t n_stops;
	const struct htmlstop *deaf; /* containers that stopped, likewise */
	size_t n_deaf;
	bool audited; /* else it is not known which containers that run are deaf */
	const struct htmldeaf *running_deaf;
	size_t n_running_deaf, n_running_deaf_unlisted;
	const struct htmlsource *sources;
	size_t n_sources;
	bool shutdown_known; /* else shutdowns are not followed */
	struct shutdown_status shutdown;
	const struct htmlgroup *groups;
	size_t n_groups;
	uint64_t need_ns; /* how long logind has to wait for them; 0: not known */
	const struct engine_planned_pod *pods; /* in the plan of a shutdown */
	size_t n_pods, n_pods_unlisted;
};

/* Adds a text in which nothing is markup, in an element or an attribute in double quotes; what is
 * not printable is shown by its code. */
void html_add_text(struct buf *out, const char *text);

/* Adds the document. buf_error(). */
int htmlstatus_write(struct buf *out, const struct htmlstatus *status);

#endif
