// SPDX-License-Identifier: Apache-2.0
/* The status page, section by section. */
#include "wire/html/status.h"

#include <inttypes.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/duration.h"
#include "base/rfc3339.h"
#include "base/utf8.h"

/* The SHA-256 of the two texts are in the policy: a browser takes no other. */
static const char style[] =
	":root{color-scheme:light dark;--bad:#b3261e;--good:#19692c;--dim:#5f6368;--line:#c4c7cc;--alt:#f3f4f6}\n"
	"@media(prefers-color-scheme:dark){:root{--bad:#ff8a80;--good:#81c995;--dim:#a8adb4;--line:#4a4e54;--alt:#26282c}}\n"
	"body{font:15px/1.45 system-ui,sans-serif;max-width:70rem;margin:0 auto;padding:1rem;overflow-wrap:anywhere}\n"
	"h1{font-size:1.4rem;margin:0}h2{font-size:1.1rem;margin:1.6rem 0 .4rem}\n"
	"p{margin:.3rem 0}.dim{color:var(--dim)}.bad{color:var(--bad);font-weight:600}.good{color:var(--good)}\n"
	"table{border-collapse:collapse;width:100%}\n"
	"th{text-align:left;font-weight:600;color:var(--dim)}\n"
	"th,td{padding:.25rem .6rem .25rem 0;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}\n"
	"tr:nth-child(even) td{background:var(--alt)}\n"
	".n,.t{white-space:nowrap;font-variant-numeric:tabular-nums}\n"
	"@media(max-width:40rem){body{padding:.6rem}thead{display:none}tr{display:block;padding:.3rem 0;border-bottom:1px solid var(--line)}\n"
	"td{display:block;border:0;padding:0}td:empty{display:none}tr:nth-child(even) td{background:none}\n"
	"td[data-h]::before{content:attr(data-h) \": \";color:var(--dim)}}\n";

static const char script[] =
	"\"use strict\";\n"
	"let wait=5;\n"
	"async function renew(){\n"
	" try{\n"
	"  const r=await fetch(location.origin+location.pathname,{cache:\"no-store\"});\n"
	"  if(!r.ok)throw new Error(r.status);\n"
	"  const d=new DOMParser().parseFromString(await r.text(),\"text/html\");\n"
	"  document.querySelector(\"main\").replaceWith(document.adoptNode(d.querySelector(\"main\")));\n"
	"  wait=5;document.getElementById(\"lost\").hidden=true;\n"
	" }catch(e){wait=Math.min(wait*2,60);document.getElementById(\"lost\").hidden=false}\n"
	" setTimeout(renew,wait*1000);\n"
	"}\n"
	"document.documentElement.dataset.renews=\"true\";\n"
	"setTimeout(renew,wait*1000);\n";

const char htmlstatus_policy[] =
	"default-src 'none'; style-src 'sha256-/n4+PJVntGHufDCqh/MNOSX2ccS4tzRMJ2zHugva89k='; "
	"script-src 'sha256-YrNfEN/E2sFzuMHlAhQGu5N0aWOJOPEU5Unr3n1fljQ='; connect-src 'self'; "
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

void html_add_text(struct buf *out, const char *text)
{
	_cleanup_(buf_free) struct buf visible = {};

	utf8_add_readable(&visible, text);
	for (const char *at = buf_str(&visible); *at; at++) {
		switch (*at) {
		case '&':
			buf_adds(out, "&amp;");
			break;
		case '<':
			buf_adds(out, "&lt;");
			break;
		case '>':
			buf_adds(out, "&gt;");
			break;
		case '"':
			buf_adds(out, "&quot;");
			break;
		case '\'':
			buf_adds(out, "&#39;");
			break;
		default:
			buf_addc(out, *at);
		}
	}
}

/* --- parts ------------------------------------------------------------------------------------- */

static void begin_cell(struct buf *out, const char *head, const char *classes)
{
	buf_printf(out, "<td class=\"%s\" data-h=\"%s\">", classes, head);
}

static void add_cell(struct buf *out, const char *head, const char *classes, const char *text)
{
	begin_cell(out, head, classes);
	html_add_text(out, text ? text : "");
	buf_adds(out, "</td>");
}

static void add_duration(struct buf *out, uint64_t ns)
{
	char text[DURATION_SIZE];

	buf_adds(out, duration_format(ns, text));
}

/* To the second: "2026-11-21 15:04:05". */
static void add_time(struct buf *out, int64_t wall_ns)
{
	char text[RFC3339_SIZE];

	rfc3339_format(wall_ns, text);
	buf_printf(out, "%.10s %.8s", text, text + 11);
}

static void begin_section(struct buf *out, const char *title)
{
	buf_printf(out, "<section><h2>%s</h2>\n", title);
}

static void end_section(struct buf *out)
{
	buf_adds(out, "</section>\n");
}

static void begin_table(struct buf *out, const char *const *heads)
{
	buf_adds(out, "<table><thead><tr>");
	for (; *heads; heads++)
		buf_printf(out, "<th>%s</th>", *heads);
	buf_adds(out, "</tr></thead><tbody>\n");
}

static void end_table(struct buf *out)
{
	buf_adds(out, "</tbody></table>\n");
}

static void add_number(struct buf *out, const char *what, uint64_t value)
{
	buf_printf(out, "<tr><td>%s</td><td class=\"n\">%" PRIu64 "</td></tr>\n", what, value);
}

static void add_word(struct buf *out, const char *what, const char *value)
{
	buf_printf(out, "<tr><td>%s</td><td>", what);
	html_add_text(out, value);
	buf_adds(out, "</td></tr>\n");
}

/* --- sections ---------------------------------------------------------------------------------- */

static void add_watched(struct buf *out, const struct htmlstatus *s)
{
	const struct metrics *m = s->metrics;
	uint64_t attached = 0, lost = m->recursion_misses;

	for (size_t i = 0; i < m->n_programs; i++)
		attached += m->programs[i].attached;
	for (int i = 0; i < GRACED_EV_COUNT; i++)
		lost += m->totals[i].lost;
	begin_section(out, "What it watches");
	begin_table(out, (const char *const[]){"what", "now", NULL});
	add_word(out, "scope", s->scope);
	add_number(out, "cgroups", m->engine.cgroups);
	add_number(out, "pods with a cgroup", m->engine.pods);
	add_number(out, "stops reported since the start", m->engine.stops);
	add_number(out, "events lost since the start", lost);
	add_number(out, "BPF programs attached", attached);
	end_table(out);
	end_section(out);
}

static void add_subject(struct buf *out, const struct htmlsubject *subject)
{
	begin_cell(out, "container", "");
	if (subject->pod[0]) {
		html_add_text(out, subject->namespace_);
		buf_adds(out, subject->namespace_[0] ? "/" : "");
		html_add_text(out, subject->pod);
		buf_addc(out, '/');
	}
	html_add_text(out, subject->container);
	buf_adds(out, "</td>");
}

static bool went_wrong(const struct htmlstop *stop)
{
	return stop->outcome == OUTCOME_KILLED || stop->outcome == OUTCOME_OOM_KILLED ||
	       stop->outcome == OUTCOME_CRASHED;
}

static void add_margin(struct buf *out, const struct htmlstop *stop)
{
	begin_cell(out, "margin", stop->margin_known && stop->margin_ns < 0 ? "n bad" : "n");
	if (!stop->margin_known) {
		buf_adds(out, "unknown");
	} else if (stop->margin_ns < 0) {
		buf_adds(out, "-");
		add_duration(out, 0 - (uint64_t)stop->margin_ns);
	} else {
		add_duration(out, (uint64_t)stop->margin_ns);
	}
	buf_adds(out, "</td>");
}

static void add_stop(struct buf *out, const struct htmlstop *stop)
{
	buf_adds(out, "<tr>");
	begin_cell(out, "time", "t dim");
	add_time(out, stop->wall_ns);
	buf_adds(out, "</td>");
	add_subject(out, &stop->subject);
	begin_cell(out, "verdict", went_wrong(stop) ? "bad" : "");
	buf_printf(out, "%s, %s", outcome_name(stop->outcome), cause_name(stop->cause));
	if (stop->why[0]) {
		buf_adds(out, ": ");
		html_add_text(out, stop->why);
	}
	buf_adds(out,
		 stop->complete ? "</td>" : " <span class=\"dim\">(evidence has gaps)</span></td>");
	begin_cell(out, "took", "n");
	if (stop->latency_known)
		add_duration(out, stop->latency_ns);
	buf_adds(out, "</td>");
	add_margin(out, stop);
	buf_adds(out, "</tr>\n");
}

static void add_stops(struct buf *out, const struct htmlstatus *s)
{
	static const char *const heads[] = {"time, UTC", "container", "verdict",
					    "took",	 "margin",    NULL};

	begin_section(out, "Last stops");
	if (s->n_stops == 0) {
		buf_adds(out, "<p class=\"dim\">None since the daemon was started.</p>\n");
	} else {
		begin_table(out, heads);
		for (size_t i = 0; i < s->n_stops; i++)
			add_stop(out, &s->stops[i]);
		end_table(out);
		buf_adds(out,
			 "<p class=\"dim\">The margin is what was left of the grace period; below "
			 "0 it was overrun.</p>\n");
	}
	end_section(out);
}

static void add_running_deaf(struct buf *out, const struct htmlstatus *s)
{
	static const char *const heads[] = {"container", "why", NULL};

	if (s->n_running_deaf + s->n_running_deaf_unlisted == 0) {
		buf_printf(out,
			   "<p class=\"dim\">%s Run <code>graced audit</code> to look now.</p>\n",
			   s->audited ? "No running container is known to be deaf."
				      : "It is not known yet which running containers are deaf.");
		return;
	}
	buf_adds(out,
		 "<p>Running containers on which their stop signal would have no effect:</p>\n");
	begin_table(out, heads);
	for (size_t i = 0; i < s->n_running_deaf; i++) {
		buf_adds(out, "<tr>");
		add_subject(out, &s->running_deaf[i].subject);
		add_cell(out, "why", "bad", audit_reason_name(s->running_deaf[i].reason));
		buf_adds(out, "</tr>\n");
	}
	end_table(out);
	if (s->n_running_deaf_unlisted)
		buf_printf(out, "<p class=\"dim\">%zu more are not listed.</p>\n",
			   s->n_running_deaf_unlisted);
}

static void add_deaf_stops(struct buf *out, const struct htmlstatus *s)
{
	static const char *const heads[] = {"container", "why", "stops", "last, UTC", NULL};

	buf_adds(out, s->n_deaf ? "<p>Containers that did not act on their stop signal, since the "
				  "daemon was started:</p>\n"
				: "<p class=\"dim\">No deaf container was stopped since the "
				  "daemon was started.</p>\n");
	if (s->n_deaf > 0)
		begin_table(out, heads);
	for (size_t i = 0; i < s->n_deaf; i++) {
		buf_adds(out, "<tr>");
		add_subject(out, &s->deaf[i].subject);
		add_cell(out, "why", "bad", unheard_name(s->deaf[i].reason));
		begin_cell(out, "stops", "n");
		buf_printf(out, "%" PRIu64 "</td>", s->deaf[i].times);
		begin_cell(out, "last", "t dim");
		add_time(out, s->deaf[i].wall_ns);
		buf_adds(out, "</td></tr>\n");
	}
	if (s->n_deaf > 0)
		end_table(out);
}

static void add_deaf(struct buf *out, const struct htmlstatus *s)
{
	begin_section(out, "Deaf containers");
	add_running_deaf(out, s);
	add_deaf_stops(out, s);
	end_section(out);
}

static void add_condition(struct buf *out, const char *name, enum metrics_ready_value value)
{
	if (value == METRICS_READY_ABSENT)
		return;
	buf_printf(out, "<tr><td>%s</td><td class=\"%s\">%s</td></tr>\n", name,
		   value == METRICS_READY_YES ? "good" : "bad",
		   value == METRICS_READY_YES ? "yes" : "no");
}

static void add_readiness(struct buf *out, const struct metrics_shutdown *shutdown)
{
	static const char *const names[METRICS_READY_COUNT] = {
		[METRICS_READY_LOGIND] = "logind answers",
		[METRICS_READY_LOCK] = "the delay lock is held",
		[METRICS_READY_DELAY] = "logind waits long enough",
		[METRICS_READY_UNPINNED] = "no other drop-in shortens that",
		[METRICS_READY_KUBELET] = "the kubelet's configuration can be used",
		[METRICS_READY_GRACE] = "each pod is given the time that it asks for",
	};

	begin_table(out, (const char *const[]){"condition", "holds", NULL});
	for (int i = 0; i < METRICS_READY_COUNT; i++)
		add_condition(out, names[i], shutdown->ready[i]);
	end_table(out);
}

static void add_plan(struct buf *out, const struct htmlstatus *s)
{
	static const char *const heads[] = {"group", "pods of priority from", "is given", NULL};

	if (s->n_groups == 0) {
		buf_adds(out, "<p class=\"dim\">No plan: the order of pods in a shutdown is not "
			      "known.</p>\n");
		return;
	}
	begin_table(out, heads);
	for (size_t i = 0; i < s->n_groups; i++) {
		buf_printf(out,
			   "<tr><td data-h=\"group\">%zu</td><td class=\"n\" data-h=\"priority "
			   "from\">%" PRId32 "</td><td class=\"n\" data-h=\"is given\">",
			   i + 1, s->groups[i].priority);
		add_duration(out, s->groups[i].ns);
		buf_adds(out, "</td></tr>\n");
	}
	end_table(out);
}

static void add_under_way(struct buf *out, const struct shutdown_status *status)
{
	if (!status->going)
		return;
	buf_printf(
		out,
		"<p class=\"bad\">A shutdown is under way (%s): %zu of %zu containers run, %zu are "
		"being stopped; %zu of %zu pods have ended.</p>\n",
		shutdown_action_name(status->action), status->living, status->containers,
		status->stopping, status->pods_ended, status->pods);
}

static void add_limits(struct buf *out, const struct htmlstatus *s)
{
	uint64_t limit_ns = s->metrics->shutdown.delay_max_ns;

	if (!s->metrics->shutdown.delay_known)
		return;
	buf_adds(out, "<p>logind waits at most ");
	if (limit_ns == UINT64_MAX)
		buf_adds(out, "for ever");
	else
		add_duration(out, limit_ns);
	if (s->need_ns) {
		buf_adds(out, "; the plan needs ");
		add_duration(out, s->need_ns);
	}
	buf_adds(out, ".</p>\n");
}

static void add_shutdown(struct buf *out, const struct htmlstatus *s)
{
	begin_section(out, "Node shutdown");
	buf_printf(out, "<p>Mode %s", s->mode);
	if (!s->shutdown_known) {
		buf_adds(out, ": shutdowns of the node are not followed.</p>\n");
	} else {
		buf_printf(out, ", state %s.</p>\n", shutdown_state_name(s->shutdown.state));
		add_under_way(out, &s->shutdown);
		if (s->metrics->shutdown.on) {
			add_limits(out, s);
			add_readiness(out, &s->metrics->shutdown);
		} else {
			buf_adds(out, "<p class=\"dim\">No logind is there to announce one.</p>\n");
		}
		add_plan(out, s);
	}
	end_section(out);
}

static void add_pod(struct buf *out, const struct engine_planned_pod *pod)
{
	buf_adds(out, "<tr>");
	begin_cell(out, "group", "n");
	if (pod->priority_known)
		buf_printf(out, "%zu</td>", pod->group + 1);
	else
		buf_adds(out, "unknown</td>");
	begin_cell(out, "pod", "");
	if (pod->name && pod->namespace_) {
		html_add_text(out, pod->namespace_);
		buf_addc(out, '/');
	}
	html_add_text(out, pod->name ? pod->name : pod->uid);
	buf_adds(out, "</td>");
	begin_cell(out, "asks for", "n");
	if (pod->grace_known)
		add_duration(out, pod->grace_ns);
	else
		buf_adds(out, "unknown");
	buf_adds(out, "</td>");
	begin_cell(out, "is given", pod->priority_known && pod->cut_short ? "n bad" : "n");
	if (pod->priority_known) {
		buf_adds(out, pod->grace_known ? "" : "at most ");
		add_duration(out, pod->given_ns);
		buf_adds(out, pod->cut_short ? ", cut short" : "");
	} else {
		buf_adds(out, "unknown");
	}
	buf_adds(out, "</td></tr>\n");
}

/* By group; those of which it is not known come last. */
static void add_pods(struct buf *out, const struct htmlstatus *s)
{
	static const char *const heads[] = {"group", "pod", "asks for", "is given", NULL};

	if (s->n_pods == 0)
		return;
	begin_section(out, "Pods in a node shutdown");
	begin_table(out, heads);
	for (size_t group = 0; group < s->n_groups; group++)
		for (size_t i = 0; i < s->n_pods; i++)
			if (s->pods[i].priority_known && s->pods[i].group == group)
				add_pod(out, &s->pods[i]);
	for (size_t i = 0; i < s->n_pods; i++)
		if (!s->pods[i].priority_known)
			add_pod(out, &s->pods[i]);
	end_table(out);
	if (s->n_pods_unlisted)
		buf_printf(out, "<p class=\"dim\">%zu more are not listed.</p>\n",
			   s->n_pods_unlisted);
	end_section(out);
}

static void add_boot(struct buf *out, const struct metrics_boot *boot)
{
	const struct bootlog *log = boot->previous;
	struct boot_verdict verdict;

	if (!boot->on || !log)
		return;
	verdict = bootlog_judge(log);
	begin_section(out, "Last boot");
	buf_printf(out, "<p>Its end is <span class=\"%s\">%s</span> (%s). graced looked last at ",
		   verdict.end == BOOT_END_UNCLEAN ? "bad" : "", boot_end_name(verdict.end),
		   boot_reason_name(verdict.reason));
	add_time(out, log->saved_wall_ns);
	buf_printf(out,
		   " UTC. Alive then: pods %" PRIu64 ", containers outside pods %" PRIu64
		   ". Unclean ends so far: %" PRIu64 ".</p>\n",
		   log->pods.total, log->containers.total, boot->unclean);
	end_section(out);
}

static void add_sources(struct buf *out, const struct htmlstatus *s)
{
	begin_section(out, "Sources of names");
	if (s->n_sources == 0)
		buf_adds(out, "<p class=\"dim\">None is used.</p>\n");
	else
		begin_table(out, (const char *const[]){"source", "state", "answer", NULL});
	for (size_t i = 0; i < s->n_sources; i++) {
		buf_adds(out, "<tr>");
		add_cell(out, "source", "", s->sources[i].name);
		add_cell(out, "state", s->sources[i].up ? "good" : "bad", s->sources[i].state);
		add_cell(out, "answer", "dim", s->sources[i].text);
		buf_adds(out, "</tr>\n");
	}
	if (s->n_sources > 0)
		end_table(out);
	end_section(out);
}

/* Millionths as "0.12 %". */
static void add_share(struct buf *out, const char *what, uint64_t ppm)
{
	buf_printf(out, "<tr><td>%s</td><td class=\"n\">%" PRIu64 ".%02" PRIu64 " %%</td></tr>\n",
		   what, ppm / 10000, ppm % 10000 / 100);
}

static void add_cost(struct buf *out, const struct metrics *m)
{
	begin_section(out, "Cost");
	begin_table(out, (const char *const[]){"what", "now", NULL});
	if (m->overhead_known)
		add_share(out, "of one CPU", m->overhead_ppm);
	if (m->budget_ppm)
		add_share(out, "budget", m->budget_ppm);
	if (m->process_known)
		add_number(out, "resident memory, KiB", m->process_resident_bytes / 1024);
	add_word(out, "left out to stay within the budget",
		 m->shed == SHED_NOTHING ? "nothing" : shed_name(m->shed));
	end_table(out);
	end_section(out);
}

static void add_head(struct buf *out, const struct htmlstatus *s)
{
	buf_adds(out, "<!DOCTYPE html>\n<html lang=\"en\">\n<head><meta charset=\"utf-8\">\n"
		      "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
		      "<title>graced: ");
	html_add_text(out, s->node);
	buf_adds(out, "</title>\n"
		      "<noscript><meta http-equiv=\"refresh\" content=\"10\"></noscript>\n<style>");
	buf_adds(out, style);
	buf_adds(out,
		 "</style></head>\n<body>\n<p id=\"lost\" class=\"bad\" hidden>The daemon does "
		 "not answer; this is what it answered last.</p>\n<main>\n<h1>graced on ");
	html_add_text(out, s->node);
	buf_printf(out, "</h1>\n<p>%s; version %s; as of ", s->state, s->version);
	add_time(out, s->wall_ns);
	buf_adds(out, " UTC. <a href=\"");
	html_add_text(out, s->metrics_path);
	buf_adds(out, "\">Metrics</a> <a href=\"/healthz\">Health</a> <a href=\"/readyz\">Readiness"
		      "</a></p>\n");
}

int htmlstatus_write(struct buf *out, const struct htmlstatus *s)
{
	add_head(out, s);
	add_stops(out, s);
	add_deaf(out, s);
	add_shutdown(out, s);
	add_boot(out, &s->metrics->boot);
	add_watched(out, s);
	add_sources(out, s);
	add_cost(out, s->metrics);
	add_pods(out, s);
	buf_adds(out, "</main>\n<script>");
	buf_adds(out, script);
	buf_adds(out, "</script>\n</body>\n</html>\n");
	return buf_error(out);
}
