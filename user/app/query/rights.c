// SPDX-License-Identifier: Apache-2.0
/* Runs a loop of its own until the API server has answered. */
#include "app/query/rights.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "app/config/options.h"
#include "base/buf.h"
#include "io/api/writer.h"
#include "io/proc/clock.h"
#include "wire/json/writer.h"

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

void rights_query(const struct options *options, struct right *rights, size_t n,
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
