// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/html/status: what is on the page, and that no name is markup. */
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "wire/html/status.h"

#define EVIL "</td><script>alert(1)</script><img src=x onerror=\"alert('2')\">&lt;"
#define TAMED                                                                          \
	"&lt;/td&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;img src=x onerror=&quot;" \
	"alert(&#39;2&#39;)&quot;&gt;&amp;lt;"

static void test_text(void **state)
{
	static const char *const rows[][2] = {
		{"web-0", "web-0"},
		{EVIL, TAMED},
		{"a\n\x1b[1m\x7f", "a\\x0a\\x1b[1m\\x7f"},
		{"\xff<", "\\xff&lt;"},
		{"\xe2\x80\xae", "\\u202e"}, /* right-to-left override */
		{"", ""},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf out = {};

		html_add_text(&out, rows[i][0]);
		assert_string_equal(buf_str(&out), rows[i][1]);
	}
}

static unsigned int count(const char *page, const char *what)
{
	unsigned int n = 0;

	while ((page = strstr(page, what))) {
		page += strlen(what);
		n++;
	}
	return n;
}

static struct htmlsubject a_subject(const char *name)
{
	struct htmlsubject subject;

	strcpy(subject.namespace_, name);
	strcpy(subject.pod, name);
	strcpy(subject.container, name);
	return subject;
}

static struct htmlstop a_stop(const char *name)
{
	struct htmlstop stop = {
		.wall_ns = 1700000000000000000,
		.outcome = OUTCOME_KILLED,
		.cause = CAUSE_GRACE_EXPIRED,
		.latency_known = true,
		.latency_ns = 30500000000,
		.margin_known = true,
		.margin_ns = -500000000,
		.reason = UNHEARD_NO_HANDLER,
		.why = "<app>[1] ignores SIGTERM.",
		.times = 7,
	};

	stop.subject = a_subject(name);
	return stop;
}

static const struct metrics_program programs[] = {{"on_exit", true, 0, 0}, {"on_oom", false, 0, 0}};

/* A page with that name wherever there is one. */
static void write_page(struct buf *out, const char *name, struct metrics *m)
{
	const struct htmlstop stop = a_stop(name);
	const struct htmldeaf deaf = {a_subject(name), AUDIT_SHELL};
	const struct htmlsource source = {name, "down", name, false};
	const struct htmlgroup groups[] = {{0, 30000000000}, {2000000000, 10000000000}};
	const struct engine_planned_pod pods[] = {
		{"", name, name, false, 0, true, 30000000000, 30000000000, false},
		{"", name, name, true, 1, true, 30000000000, 10000000000, true},
		{name, NULL, NULL, true, 0, false, 0, 30000000000, false},
	};
	const struct htmlstatus status = {
		.node = name,
		.version = "1.2.3",
		.state = "ready",
		.scope = "containers",
		.mode = "assist",
		.metrics_path = name,
		.wall_ns = 1700000001000000000,
		.metrics = m,
		.stops = &stop,
		.n_stops = 1,
		.deaf = &stop,
		.n_deaf = 1,
		.audited = true,
		.running_deaf = &deaf,
		.n_running_deaf = 1,
		.n_running_deaf_unlisted = 4,
		.sources = &source,
		.n_sources = 1,
		.shutdown_known = true,
		.shutdown = {.state = SHUTDOWN_GOING,
			     .going = true,
			     .action = SHUTDOWN_REBOOT,
			     .containers = 5,
			     .living = 4,
			     .stopping = 3,
			     .pods = 2,
			     .pods_ended = 1},
		.groups = groups,
		.n_groups = 2,
		.need_ns = 40000000000,
		.pods = pods,
		.n_pods = LEN(pods),
		.n_pods_unlisted = 9,
	};

	assert_int_equal(htmlstatus_write(out, &status), 0);
}

static void test_hostile(void **state)
{
	_cleanup_(buf_free) struct buf page = {}, plain = {};
	struct metrics m = {};

	write_page(&page, EVIL, &m);
	write_page(&plain, "web", &m);
	/* As many elements as with an ordinary name, and each name is there. */
	assert_int_equal(count(buf_str(&page), "<"), count(buf_str(&plain), "<"));
	assert_int_equal(count(buf_str(&page), "\""), count(buf_str(&plain), "\""));
	assert_int_equal(count(buf_str(&page), "alert"), count(buf_str(&page), TAMED) * 2);
	assert_int_equal(count(buf_str(&page), TAMED), 19);
}

static void test_content(void **state)
{
	static const char *const want[] = {
		"<title>graced: web</title>",
		"<noscript><meta http-equiv=\"refresh\"",
		"ready; version 1.2.3; as of 2023-11-14 22:13:21 UTC",
		"<a href=\"web\">Metrics</a>",
		">web/web/web</td>",
		">killed, grace-expired: &lt;app&gt;[1] ignores SIGTERM. ",
		"(evidence has gaps)",
		"class=\"n bad\" data-h=\"margin\">-500ms</td>",
		"<td class=\"n\" data-h=\"stops\">7</td>",
		"would have no effect:</p>\n<table><thead><tr><th>container</th><th>why</th>",
		">web/web/web</td><td class=\"bad\" data-h=\"why\">shell</td></tr>\n"
		"</tbody></table>\n<p class=\"dim\">4 more are not listed.</p>",
		"Mode assist, state going.",
		"under way (reboot): 4 of 5 containers run, 3 are being stopped; 1 of 2 pods have ended",
		"logind waits at most 1m30s; the plan needs 40.0s.",
		"<td>the delay lock is held</td><td class=\"good\">yes</td>",
		"<td>logind waits long enough</td><td class=\"bad\">no</td>",
		">2000000000</td>",
		"<td>BPF programs attached</td><td class=\"n\">1</td>",
		"<td>of one CPU</td><td class=\"n\">1.23 %</td>",
		"<td>budget</td><td class=\"n\">2.00 %</td>",
		">noisy</td>",
		"Its end is <span class=\"bad\">unclean</span> (not-announced)",
		"<td class=\"n\" data-h=\"group\">2</td><td class=\"\" data-h=\"pod\">web/web</td>"
		"<td class=\"n\" data-h=\"asks for\">30.0s</td>"
		"<td class=\"n bad\" data-h=\"is given\">10.0s, cut short</td></tr>\n"
		"<tr><td class=\"n\" data-h=\"group\">unknown</td>",
		"<td class=\"n\" data-h=\"asks for\">unknown</td>"
		"<td class=\"n\" data-h=\"is given\">at most 30.0s</td></tr>\n"
		"<tr><td class=\"n\" data-h=\"group\">2</td>",
		">9 more are not listed.<",
		"Alive then: pods 2, containers outside pods 0. Unclean ends so far: 3.",
	};
	const struct bootlog log = {.saved_wall_ns = 1700000000000000000, .pods = {.total = 2}};
	struct metrics m = {
		.programs = programs,
		.n_programs = 2,
		.overhead_known = true,
		.overhead_ppm = 12345,
		.budget_ppm = 20000,
		.shed = SHED_NOISY,
		.boot = {true, 3, &log},
		.shutdown = {.on = true,
			     .delay_known = true,
			     .delay_max_ns = 90000000000,
			     .ready = {[METRICS_READY_LOCK] = METRICS_READY_YES,
				       [METRICS_READY_DELAY] = METRICS_READY_NO}},
	};
	_cleanup_(buf_free) struct buf page = {};

	write_page(&page, "web", &m);
	for (size_t i = 0; i < LEN(want); i++)
		if (!strstr(buf_str(&page), want[i]))
			fail_msg("the page lacks %s", want[i]);
	/* What does not apply to this host. */
	assert_null(strstr(buf_str(&page), "the kubelet's configuration can be used"));
}

static void test_nothing(void **state)
{
	_cleanup_(buf_free) struct buf page = {};
	struct metrics m = {};
	const struct htmlstatus status = {.node = "n",
					  .version = "1",
					  .state = "starting",
					  .scope = "pods",
					  .mode = "off",
					  .metrics_path = "/metrics",
					  .metrics = &m};

	assert_int_equal(htmlstatus_write(&page, &status), 0);
	assert_non_null(strstr(buf_str(&page), "shutdowns of the node are not followed"));
	assert_non_null(strstr(buf_str(&page), "None since the daemon was started"));
	assert_non_null(strstr(buf_str(&page), "not known yet which running containers are deaf."));
	assert_non_null(strstr(buf_str(&page), "No deaf container was stopped since the daemon"));
	assert_null(strstr(buf_str(&page), "Last boot"));
	assert_null(strstr(buf_str(&page), "Pods in a node shutdown"));
}

static void test_unlisted(void **state)
{
	_cleanup_(buf_free) struct buf page = {};
	struct metrics m = {};
	const struct htmlstatus status = {.node = "n",
					  .version = "1",
					  .state = "ready",
					  .scope = "pods",
					  .mode = "off",
					  .metrics_path = "/metrics",
					  .metrics = &m,
					  .audited = true,
					  .n_running_deaf_unlisted = 3};

	assert_int_equal(htmlstatus_write(&page, &status), 0);
	assert_non_null(strstr(buf_str(&page), ">3 more are not listed.<"));
	assert_null(strstr(buf_str(&page), "No running container is known to be deaf"));
}

/* As many pods as are listed, with the longest names, of which each byte is written in six. */
static void test_many(void **state)
{
	static struct engine_planned_pod pods[HTMLSTATUS_PODS];
	const struct htmlgroup group = {0, 30000000000};
	char name[META_NAME_MAX];
	struct metrics m = {};
	const struct htmlstatus status = {.node = "n",
					  .version = "1",
					  .state = "ready",
					  .scope = "pods",
					  .mode = "assist",
					  .metrics_path = "/metrics",
					  .metrics = &m,
					  .shutdown_known = true,
					  .groups = &group,
					  .n_groups = 1,
					  .pods = pods,
					  .n_pods = HTMLSTATUS_PODS};
	_cleanup_(buf_free) struct buf page = {};

	memset(name, '"', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	for (size_t i = 0; i < LEN(pods); i++)
		pods[i] = (struct engine_planned_pod){
			.namespace_ = name, .name = name, .priority_known = i % 2};
	assert_int_equal(htmlstatus_write(&page, &status), 0);
	assert_int_equal(count(buf_str(&page), "&quot;/&quot;"), HTMLSTATUS_PODS);
	assert_true(page.len < (size_t)1 << 20);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("nothing in a text is markup, and what is not printable is visible",
		      test_text),
		CLAIM("a hostile name adds no element and no attribute", test_hostile),
		CLAIM("the page has what it is to show", test_content),
		CLAIM("a daemon that knows nothing yet has a page", test_nothing),
		CLAIM("deaf containers that are not listed are no absence of them", test_unlisted),
		CLAIM("the page of a full node stays below 1 MiB", test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
