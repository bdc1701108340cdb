// SPDX-License-Identifier: Apache-2.0
/* A line for each thing that is written to the API server: whether its user has the rights; and the
 * one line for node-problem-detector. */
#include "app/check/check.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "app/config/config.h"
#include "app/config/options.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "io/api/writer.h"
#include "io/proc/clock.h"
#include "io/proc/self.h"
#include "wire/json/writer.h"

/* --- rights at the API server ----------------------------------------------------------------- */

/* What the API server lets the user of api.token-file or api.client-file do, by its own word (a
 * SelfSubjectAccessReview, which every user may make by default). */

enum rights_answer { RIGHTS_NOT_KNOWN, RIGHTS_ALLOWED, RIGHTS_DENIED };

struct right {
	const char *verb, *group, *resource, *subresource; /* group "": the core API's */
	enum rights_answer answer;			   /* set by rights_query() */
};

#define RIGHTS_MAX 8

#define RIGHTS_WHY_MAX 256

#define PATH	    "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
#define PATIENCE_NS 3000000000ULL
#define TURN_US	    50000

DEFINE_CLEANUP(sd_event *, sd_event_unref);
DEFINE_CLEANUP(struct fetch *, fetch_free);

struct question {
	struct right *right;
	char *why;
};

static void on_answer(void *userdata, const struct apiwriter_result *result)
{
	const struct question *q = userdata;
	json_auto_t *review = NULL;
	const json_t *allowed = NULL;

	if (result->end == APIWRITER_DONE) {
		review = json_loadb(result->body, result->len, 0, NULL);
		allowed = json_object_get(json_object_get(review, "status"), "allowed");
	}
	if (json_is_boolean(allowed))
		q->right->answer = json_is_true(allowed) ? RIGHTS_ALLOWED : RIGHTS_DENIED;
	else
		snprintf(q->why, RIGHTS_WHY_MAX, "%s",
			 result->text[0] ? result->text
					 : "its answer is no SelfSubjectAccessReview");
}

static int query(struct apiwriter *writer, struct question *q, uint64_t until_ns)
{
	_cleanup_(buf_free) struct buf body = {};
	struct apiwriter_request request = {
		.method = "POST",
		.path = PATH,
		.deadline_ns = until_ns,
		.done = on_answer,
		.userdata = q,
	};

	jsonw_object(&body, NULL);
	jsonw_str(&body, "apiVersion", "authorization.k8s.io/v1");
	jsonw_str(&body, "kind", "SelfSubjectAccessReview");
	jsonw_object(&body, "spec");
	jsonw_object(&body, "resourceAttributes");
	jsonw_str(&body, "verb", q->right->verb);
	jsonw_str(&body, "group", q->right->group);
	jsonw_str(&body, "resource", q->right->resource);
	if (q->right->subresource)
		jsonw_str(&body, "subresource", q->right->subresource);
	jsonw_object_end(&body);
	jsonw_object_end(&body);
	jsonw_object_end(&body);
	if (buf_error(&body))
		return buf_error(&body);
	request.body = buf_str(&body);
	request.body_len = body.len;
	return apiwriter_add(writer, &request);
}

static int query_all(sd_event *event, struct apiwriter *writer, struct right *rights, size_t n,
		     char *why)
{
	uint64_t until_ns = clock_boot_ns() + PATIENCE_NS;
	struct question questions[RIGHTS_MAX];
	int r = 0;

	for (size_t i = 0; r >= 0 && i < n && i < RIGHTS_MAX; i++) {
		questions[i] = (struct question){&rights[i], why};
		r = query(writer, &questions[i], until_ns);
	}
	while (r >= 0 && !apiwriter_is_idle(writer))
		r = sd_event_run(event, TURN_US);
	return r;
}

/* Asks for n rights (RIGHTS_MAX at most) at once, for 3 s at most. ret_why: why one is not known,
 * without a full stop;
 * "" where all are. */
static void rights_query(const struct options *options, struct right *rights, size_t n,
			 char ret_why[static RIGHTS_WHY_MAX])
{
	char node[OPTIONS_NODE_SIZE];
	struct source_kubelet_options peer = options_of_lister(options, META_API, node);
	_cleanup_(cleanup_sd_event_unref) sd_event *event = NULL;
	_cleanup_(cleanup_fetch_free) struct fetch *fetch = NULL;
	_cleanup_(cleanup_apiwriter_free) struct apiwriter *writer = NULL;
	struct source_kubelet_why why = {};
	struct fetch_why lacks = {};
	int r;

	ret_why[0] = '\0';
	for (size_t i = 0; i < n; i++)
		rights[i].answer = RIGHTS_NOT_KNOWN;
	if (!peer.url) {
		snprintf(ret_why, RIGHTS_WHY_MAX, "api.url is not set");
		return;
	}
	r = sd_event_new(&event);
	if (r >= 0)
		r = fetch_new(event, &fetch, &lacks);
	if (r >= 0)
		r = apiwriter_new(event, fetch, &(struct apiwriter_options){.peer = &peer}, &writer,
				  &why);
	if (r >= 0)
		r = query_all(event, writer, rights, n, ret_why);
	if (r < 0)
		snprintf(ret_why, RIGHTS_WHY_MAX, "%s",
			 lacks.text[0] ? lacks.text
			 : why.text[0] ? why.text
				       : strerror(-r));
}

/* --- a line for each -------------------------------------------------------------------------- */

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

/* --- a line for node-problem-detector --------------------------------------------------------- */

/* The detector's max_output_length, in bytes. */
#define LINE_MAX_BYTES 80

enum npd_status { NPD_OK, NPD_PROBLEM, NPD_UNKNOWN };

bool checknpd_runs(int asked)
{
	return asked >= 0 || asked == -EREMOTEIO || asked == -EPROTONOSUPPORT;
}

void checknpd_fail(struct checknpd *npd, const char *name, const struct buf *text)
{
	if (npd->n_fail++)
		return;
	buf_printf(&npd->problem, "%s: ", name);
	utf8_add_visible(&npd->problem, buf_str(text), text->len);
}

/* Whether the host may have a daemon all the same: the socket's directory is not in this container.
 */
static bool is_outside(const struct checknpd *npd, const char *socket)
{
	char directory[PATH_MAX];
	const char *end = strrchr(socket, '/');

	if (npd->asked != -ENOENT || !end || host_is_own_root())
		return false;
	snprintf(directory, sizeof(directory), "%.*s", (int)(end - socket), socket);
	return !host_is_dir(directory);
}

/* What else failed is counted in the room that the first one leaves. */
static void print_problem(const struct checknpd *npd)
{
	char more[32] = "";
	size_t fits;

	if (npd->n_fail > 1)
		snprintf(more, sizeof(more), " (%u more)", npd->n_fail - 1);
	fits = utf8_fit(buf_str(&npd->problem), npd->problem.len, LINE_MAX_BYTES - strlen(more));
	printf("%.*s%s\n", (int)fits, buf_str(&npd->problem), more);
}

int checknpd_print(struct checknpd *npd, const char *socket)
{
	int status = NPD_PROBLEM;

	if (checknpd_runs(npd->asked)) {
		printf("graced works here, warnings: %u\n", npd->n_warn);
		status = NPD_OK;
	} else if (npd->asked == -EACCES || npd->asked == -EPERM) {
		puts("only root may ask the daemon: run the plugin as root");
		status = NPD_UNKNOWN;
	} else if (is_outside(npd, socket)) {
		puts("the host's directory of the control socket is not mounted into this container");
		status = NPD_UNKNOWN;
	} else {
		print_problem(npd);
	}
	buf_free(&npd->problem);
	return status;
}

int checknpd_print_unknown(void)
{
	puts("the settings cannot be read");
	return NPD_UNKNOWN;
}
