// SPDX-License-Identifier: Apache-2.0
// The paragraphs below an audit's table.
#include "base/buf.h"
#include "base/cleanup.h"
#include "core/stop/advice.h"
#include "lib/claim.h"
#include "wire/text/audit.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

static struct audit_record of(const char *name, enum audit_verdict verdict,
			      enum audit_reason reason)
{
	return (struct audit_record){
		.container = {.known = true, .name = name, .cgroup = "/docker/x"},
		.seen = true,
		.process = {.pid = 1012, .ns_pid = 1, .comm = "sh"},
		.has_app = true,
		.app = {.pid = 1015, .ns_pid = 7, .comm = "node"},
		.facts = {.signal = SIGTERM, .shielded = true},
		.audit = {verdict, reason, 0},
	};
}

static void each_trouble_has_one_paragraph(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	const struct audit_record records[] = {
		of("api", AUDIT_DEAF, AUDIT_SHIELD),
		of("fine", AUDIT_HEARS, AUDIT_HANDLER),
		of("web", AUDIT_IGNORES, AUDIT_SIG_IGN),
		of("db", AUDIT_DEAF, AUDIT_SHIELD),
	};

	assert_int_equal(advice_paragraphs(&out, records, LEN(records), 0), 0);
	assert_string_equal(
		buf_str(&out),
		"\nignored\n"
		"  web: sh (pid 1012) ignores SIGTERM (SIG_IGN), which a program also inherits from "
		"what starts it.\n"
		"  What to do: Remove what ignores the signal (nohup, trap '' TERM, SIG_IGN), or have "
		"the program handle it, or name a signal that ends the program by STOPSIGNAL.\n"
		"\nno-handler\n"
		"  api: sh (pid 1012) has no handler for SIGTERM, and the kernel spares PID 1 of a pid "
		"namespace the default action.\n"
		"  db: sh (pid 1012) has no handler for SIGTERM, and the kernel spares PID 1 of a pid "
		"namespace the default action.\n"
		"  What to do: Have the program handle the signal. Where neither it nor a child of it has anything to "
		"finish, an init in front is enough: tini in the image, or outside Kubernetes docker run --init, "
		"init: true in compose.\n");
}

static void where_all_hear_there_is_nothing(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	const struct audit_record r = of("fine", AUDIT_HEARS, AUDIT_HANDLER);

	assert_int_equal(advice_paragraphs(&out, &r, 1, 80), 0);
	assert_int_equal(advice_lines(&out, &r, 80), 0);
	assert_int_equal(out.len, 0);
}

/* Every word of every topic is there, at any width. */
static void lines_are_wrapped_and_nothing_is_cut(void **state)
{
	static const unsigned int widths[] = {60, 80, 120, 200};

	for (size_t i = 0; i < ADVICE_TOPICS * LEN(widths); i++) {
		_cleanup_(buf_free) struct buf wrapped = {}, whole = {};
		unsigned int width = widths[i % LEN(widths)],
			     topic = (unsigned int)(i / LEN(widths));
		struct audit_record r = of("web", AUDIT_DEAF, topic);
		char *a, *b, *at_a, *at_b, *line;

		if (topic >= AUDIT_REASON_COUNT) {
			r.audit.reason = AUDIT_HANDLER;
			r.audit.warnings = 1u << (topic - AUDIT_REASON_COUNT);
		}
		assert_int_equal(advice_paragraphs(&wrapped, &r, 1, width), 0);
		assert_int_equal(advice_paragraphs(&whole, &r, 1, 0), 0);
		assert_int_equal(wrapped.len > 0, advice_is_trouble(topic));
		a = strdup(buf_str(&wrapped));
		b = strdup(buf_str(&whole));
		for (at_a = a, at_b = b; (line = strsep(&at_a, " \n"));) {
			if (!*line)
				continue;
			while (at_b && (*at_b == ' ' || *at_b == '\n'))
				at_b++;
			assert_string_equal(strsep(&at_b, " \n"), line);
		}
		free(a);
		free(b);
		for (const char *c = buf_str(&wrapped); *c; c += strcspn(c, "\n") + 1)
			assert_true(strcspn(c, "\n") <= width);
	}
}

static void many_containers_are_counted(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record records[ADVICE_LISTED_MAX + 3];

	for (size_t i = 0; i < LEN(records); i++)
		records[i] = of("web", AUDIT_DEAF, AUDIT_SHIELD);
	assert_int_equal(advice_paragraphs(&out, records, LEN(records), 0), 0);
	assert_non_null(strstr(buf_str(&out), "\n  ... and 3 more\n  What to do: "));
}

static void containers_have_the_names_of_the_table(void **state)
{
	static const char id[] = "0123456789abcdef0123456789abcdef";
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = of("app\n", AUDIT_DEAF, AUDIT_SHIELD);

	r.pod = (struct record_pod){.known = true, .namespace_ = "shop", .name = "cart-7"};
	advice_paragraphs(&out, &r, 1, 0);
	assert_non_null(strstr(buf_str(&out), "\n  shop/cart-7 app\\x0a: sh "));
	r.pod = (struct record_pod){};
	r.container.name = NULL;
	r.container.id = id;
	advice_paragraphs(&out, &r, 1, 0);
	assert_non_null(strstr(buf_str(&out), "\n  0123456789ab: sh "));
	r.container.id = NULL;
	advice_paragraphs(&out, &r, 1, 0);
	assert_non_null(strstr(buf_str(&out), "\n  /docker/x: sh "));
}

static void one_container_is_explained_in_one_line_a_topic(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = of("web", AUDIT_DEAF, AUDIT_BLOCKED);

	r.audit.warnings = 1u << AUDIT_FROZEN;
	assert_int_equal(advice_lines(&out, &r, 0), 0);
	assert_string_equal(
		buf_str(&out),
		"  blocked: every thread of sh (pid 1012) blocks SIGTERM and none waits for it, so that "
		"it stays pending. Unblock the signal where it is handled, or have a thread wait for it "
		"(sigwait). A mask of blocked signals is inherited by what a process starts.\n"
		"  frozen: the cgroup of sh (pid 1012) is frozen, and it acts on SIGTERM only when it is "
		"thawed. Thaw it (docker unpause, podman unpause, or 0 into the cgroup's "
		"cgroup.freeze).\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each trouble has one paragraph", each_trouble_has_one_paragraph),
		CLAIM("where all hear there is nothing", where_all_hear_there_is_nothing),
		CLAIM("lines are wrapped, and nothing is cut",
		      lines_are_wrapped_and_nothing_is_cut),
		CLAIM("many containers are counted", many_containers_are_counted),
		CLAIM("containers have the names of the table",
		      containers_have_the_names_of_the_table),
		CLAIM("one container is explained in one line a topic",
		      one_container_is_explained_in_one_line_a_topic),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
