// SPDX-License-Identifier: Apache-2.0
#include "wire/trial/trial.h"

#include <inttypes.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/story/story.h"
#include "wire/html/status.h"
#include "wire/json/why.h"
#include "wire/json/writer.h"
#include "wire/text/why.h"
#include "wire/text/wrap.h"

static void add_verdict(struct buf *out, const struct trial_case *c)
{
	if (c->record)
		trial_add_verdict(out, &c->trial, &c->facts);
	else
		buf_adds(out, c->failure);
}

static uint64_t took(const struct trial_case *c)
{
	return c->record && c->record->stop.latency_known ? c->record->stop.latency_ns : 0;
}

static const char *next_remedy(const struct trial_case *c, unsigned int *reason)
{
	while (*reason < TRIAL_REASON_COUNT) {
		unsigned int i = (*reason)++;

		if (c->trial.reasons >> i & 1 && trial_remedy((enum trial_reason)i))
			return trial_remedy((enum trial_reason)i);
	}
	return NULL;
}

/* --- text -------------------------------------------------------------------------------------- */

static void add_story(struct buf *out, const struct record *record, const struct grid_view *view)
{
	struct story story;

	story_of_stop(&story, record);
	why_story(out, &story, view);
	story_done(&story);
}

/* The answer first. */
static void add_text(struct buf *out, const struct trial_case *c, const struct grid_view *view)
{
	_cleanup_(buf_free) struct buf line = {};
	unsigned int reason = 0;
	const char *remedy;

	utf8_add_readable(&line, c->name);
	buf_adds(&line, ": ");
	add_verdict(&line, c);
	wrap_line(out, 0, buf_str(&line), view->width);
	if (!c->record)
		return;
	buf_addc(out, '\n');
	add_story(out, c->record, view);
	while ((remedy = next_remedy(c, &reason))) {
		buf_reset(&line);
		buf_printf(&line, "What to do: %s", remedy);
		buf_addc(out, '\n');
		wrap_line(out, 0, buf_str(&line), view->width);
	}
}

static void write_text(struct trial_report *r, const struct trial_case *c)
{
	if (r->cases)
		buf_addc(&r->body, '\n');
	add_text(&r->body, c, &r->view);
}

/* --- JSON lines -------------------------------------------------------------------------------- */

static void add_why(struct buf *out, const struct record *record)
{
	struct story story;

	story_of_stop(&story, record);
	why_json_add(out, "why", &story);
	story_done(&story);
}

static void write_json(struct trial_report *r, const struct trial_case *c)
{
	_cleanup_(buf_free) struct buf verdict = {};
	struct buf *out = &r->body;
	unsigned int reason = 0;
	const char *remedy;

	add_verdict(&verdict, c);
	jsonw_object(out, NULL);
	jsonw_str(out, "type", "try");
	jsonw_u64(out, "schema", 1);
	jsonw_str(out, "name", c->name);
	jsonw_str(out, "verdict", trial_verdict_name(c->trial.verdict));
	jsonw_array(out, "reasons");
	for (unsigned int i = 0; i < TRIAL_REASON_COUNT; i++)
		if (c->trial.reasons >> i & 1)
			jsonw_str(out, NULL, trial_reason_name((enum trial_reason)i));
	jsonw_array_end(out);
	jsonw_str(out, "sentence", buf_str(&verdict));
	jsonw_time(out, "latency_ns", took(c));
	jsonw_time(out, "refused_ns", c->facts.refused_ns);
	jsonw_array(out, "remedies");
	while ((remedy = next_remedy(c, &reason)))
		jsonw_str(out, NULL, remedy);
	jsonw_array_end(out);
	if (c->record)
		add_why(out, c->record);
	else
		jsonw_null(out, "why");
	jsonw_object_end(out);
	buf_addc(out, '\n');
}

/* --- JUnit's XML ------------------------------------------------------------------------------- */

static void add_seconds(struct buf *out, uint64_t ns)
{
	buf_printf(out, " time=\"%" PRIu64 ".%03" PRIu64 "\"", ns / NS_PER_S,
		   ns % NS_PER_S / 1000000);
}

/* Lines stay lines; all else that XML does not take is made visible. */
static void add_lines(struct buf *out, const char *text)
{
	while (*text) {
		size_t n = strcspn(text, "\n");
		_cleanup_(buf_free) struct buf line = {};

		buf_add(&line, text, n);
		html_add_text(out, buf_str(&line));
		text += n + (text[n] == '\n');
		buf_addc(out, '\n');
	}
}

static void add_failure(struct trial_report *r, const struct trial_case *c, const char *kind)
{
	const struct grid_view plain = {.zone = r->view.zone};
	_cleanup_(buf_free) struct buf verdict = {}, text = {};

	add_verdict(&verdict, c);
	add_text(&text, c, &plain);
	buf_printf(&r->body, "<%s message=\"", kind);
	html_add_text(&r->body, buf_str(&verdict));
	buf_printf(&r->body, "\" type=\"%s\">", trial_verdict_name(c->trial.verdict));
	add_lines(&r->body, buf_str(&text));
	buf_printf(&r->body, "</%s>\n", kind);
}

static void write_junit(struct trial_report *r, const struct trial_case *c)
{
	buf_adds(&r->body, "<testcase classname=\"graced.try\" name=\"");
	html_add_text(&r->body, c->name);
	buf_addc(&r->body, '"');
	add_seconds(&r->body, took(c));
	buf_adds(&r->body, ">\n");
	if (c->trial.verdict != TRIAL_WELL)
		add_failure(r, c, c->trial.verdict == TRIAL_NOT_WELL ? "failure" : "error");
	buf_adds(&r->body, "</testcase>\n");
}

static void end_junit(const struct trial_report *r, struct buf *out)
{
	buf_adds(out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
	buf_printf(out, "<testsuite name=\"graced try\" tests=\"%u\" failures=\"%u\" errors=\"%u\"",
		   r->cases, r->failures, r->errors);
	add_seconds(out, r->took_ns);
	buf_printf(out, ">\n%s</testsuite>\n</testsuites>\n", buf_str(&r->body));
}

/* --- annotations of GitHub Actions ------------------------------------------------------------- */

/* https://docs.github.com/actions/reference/workflow-commands-for-github-actions */
static void add_command_text(struct buf *out, const char *text, bool property)
{
	for (; *text; text++) {
		if (*text == '%' || *text == '\n' || *text == '\r' ||
		    (property && (*text == ':' || *text == ',')))
			buf_printf(out, "%%%02X", (unsigned int)(unsigned char)*text);
		else
			buf_addc(out, *text);
	}
}

static void write_github(struct trial_report *r, const struct trial_case *c)
{
	static const char *const levels[] = {
		[TRIAL_WELL] = "notice", [TRIAL_UNKNOWN] = "error", [TRIAL_NOT_WELL] = "error"};
	const struct grid_view plain = {.zone = r->view.zone};
	_cleanup_(buf_free) struct buf name = {}, text = {};

	utf8_add_readable(&name, c->name);
	add_text(&text, c, &plain);
	buf_printf(&r->body, "::%s title=graced try ", levels[c->trial.verdict]);
	add_command_text(&r->body, buf_str(&name), true);
	buf_adds(&r->body, "::");
	add_command_text(&r->body, buf_str(&text), false);
	buf_addc(&r->body, '\n');
}

/* --- all of them ------------------------------------------------------------------------------- */

static void (*const writers[TRIAL_FORMATS])(struct trial_report *r, const struct trial_case *c) = {
	[TRIAL_TEXT] = write_text,
	[TRIAL_JSON] = write_json,
	[TRIAL_JUNIT] = write_junit,
	[TRIAL_GITHUB] = write_github,
};

void trial_report_add(struct trial_report *report, const struct trial_case *c)
{
	writers[report->format](report, c);
	report->cases++;
	report->failures += c->trial.verdict == TRIAL_NOT_WELL;
	report->errors += c->trial.verdict == TRIAL_UNKNOWN;
	report->took_ns += took(c);
}

int trial_report_write(struct trial_report *report, struct buf *out)
{
	if (report->format == TRIAL_JUNIT)
		end_junit(report, out);
	else
		buf_add(out, buf_str(&report->body), report->body.len);
	return buf_error(&report->body) ?: buf_error(out);
}
