// SPDX-License-Identifier: Apache-2.0
/* Answers requests from what the daemon knows. */
#include "app/daemon/pages.h"

#include <string.h>

#include "app/daemon/daemon.h"
#include "app/daemon/snapshot.h"
#include "base/utf8.h"
#include "wire/http/headers.h"

#define PLAIN "text/plain; charset=utf-8"
#define HTML  "text/html; charset=utf-8"

/* However many scrape at once, the metrics are written down once in this time. */
#define KEEP_MS 250

static void landing(const struct daemon *d, struct web_reply *ret)
{
	ret->type = HTML;
	buf_printf(&ret->body,
		   "<!DOCTYPE html>\n<html lang=\"en\">\n<head><title>graced</title></head>\n"
		   "<body>\n<h1>graced</h1>\n"
		   "<p>How containers die on this node. Version %s.</p>\n"
		   "<ul>\n<li><a href=\"%s\">Metrics</a></li>\n"
		   "<li><a href=\"/healthz\">Health</a></li>\n"
		   "<li><a href=\"/readyz\">Readiness</a></li>\n</ul>\n</body>\n</html>\n",
		   GRACED_VERSION, d->config.telemetry_path);
}

static void metrics(struct daemon *d, const struct web_request *request, struct web_reply *ret)
{
	enum negotiate_format format = request->format;

	ret->type = negotiate_content_type(format);
	ret->keep_ms = KEEP_MS;
	tally_look(&d->tally, d->monitor);
	if (snapshot_write(d, format == NEGOTIATE_OPENMETRICS ? EXPO_OPENMETRICS : EXPO_TEXT,
			   &ret->body) >= 0) {
		series_scraped(d->tally.series);
		return;
	}
	ret->status = 500;
	ret->type = PLAIN;
	ret->keep_ms = 0;
	buf_free(&ret->body);
	buf_adds(&ret->body, "out of memory\n");
}

/* A source that is down costs names, not readiness: a line for each that is asked. */
static void add_sources(const struct monitor *m, struct buf *out)
{
	static const char *const words[] = {
		[PODSRC_OFF] = "off",
		[PODSRC_STARTING] = "starting",
		[PODSRC_UP] = "up",
		[PODSRC_DOWN] = "down",
	};
	struct podsrc_state state;

	for (int source = META_NONE + 1; source < META_SOURCE_COUNT; source++) {
		lookup_get_state(monitor_lookup(m), (enum meta_source)source, &state);
		if (state.status == PODSRC_OFF)
			continue;
		buf_printf(out, "%s: %s", meta_source_name((enum meta_source)source),
			   words[state.status]);
		/* A source calls itself and its troubles whatever it likes. */
		if (state.text[0]) {
			buf_adds(out, ", ");
			utf8_add_visible(out, state.text, strlen(state.text));
		}
		buf_addc(out, '\n');
	}
}

static void readiness(const struct daemon *d, struct web_reply *ret)
{
	ret->type = PLAIN;
	if (d->ready && !d->ending) {
		buf_adds(&ret->body, "ready\n");
		add_sources(d->monitor, &ret->body);
		return;
	}
	ret->status = 503;
	buf_adds(&ret->body, d->ending ? "stopping\n" : "starting\n");
}

void pages_answer(void *userdata, const struct web_request *request, struct web_reply *ret)
{
	struct daemon *d = userdata;

	ret->status = 200;
	if (strcmp(request->path, "/") == 0) {
		landing(d, ret);
	} else if (strcmp(request->path, d->config.telemetry_path) == 0) {
		metrics(d, request, ret);
	} else if (strcmp(request->path, "/readyz") == 0) {
		readiness(d, ret);
	} else if (strcmp(request->path, "/healthz") == 0) {
		ret->type = PLAIN;
		buf_adds(&ret->body, "ok\n");
	} else {
		ret->status = 404;
		ret->type = PLAIN;
		buf_adds(&ret->body, "not found\n");
	}
}
