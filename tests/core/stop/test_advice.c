// SPDX-License-Identifier: Apache-2.0
// The words of an audit: each reason and warning has them, with the processes concerned.
#include "base/buf.h"
#include "base/cleanup.h"
#include "core/stop/advice.h"
#include "lib/claim.h"

#include <signal.h>
#include <string.h>

static struct audit_record plain(void)
{
	struct audit_record r = {
		.seen = true,
		.process = {.pid = 1012, .ns_pid = 1, .comm = "sh"},
		.has_app = true,
		.app = {.pid = 1015, .ns_pid = 7, .comm = "node"},
		.facts = {.signal = SIGTERM, .shielded = true},
		.audit = {AUDIT_DEAF, AUDIT_SHELL, 0},
	};

	for (size_t i = 0; i < AUDIT_PAIRS; i++)
		r.pairs[i] =
			(struct audit_pair){.app = r.app, .by = r.process, .after_ns = 2000000000};
	return r;
}

static const char *why(struct buf *out, unsigned int topic, const struct audit_record *r)
{
	buf_reset(out);
	advice_add_why(out, topic, r);
	assert_int_equal(buf_error(out), 0);
	return buf_str(out);
}

static const char *in_short(struct buf *out, const struct audit_record *r)
{
	buf_reset(out);
	advice_add_short(out, r);
	assert_int_equal(buf_error(out), 0);
	return buf_str(out);
}

static void each_reason_and_warning_says_why_and_what_to_do(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = plain();

	for (unsigned int topic = 0; topic < ADVICE_TOPICS; topic++) {
		const char *text = why(&out, topic, &r), *remedy = advice_remedy(topic);

		assert_non_null(advice_name(topic));
		assert_true(strlen(text) > 20);
		assert_non_null(strstr(text, "(pid 1012)"));
		assert_int_not_equal(text[strlen(text) - 1], '.');
		assert_null(strpbrk(text, "@&~^$%#"));
		assert_non_null(remedy);
		assert_true(strlen(remedy) > 20);
		assert_int_equal(remedy[strlen(remedy) - 1], '.');
		assert_null(strstr(remedy, " @ "));
	}
	assert_null(advice_name(ADVICE_TOPICS));
	assert_null(advice_remedy(ADVICE_TOPICS));
	assert_string_equal(why(&out, ADVICE_TOPICS, &r), "");
}

static void each_trouble_has_a_word_for_the_column(void **state)
{
	_cleanup_(buf_free) struct buf out = {};

	for (unsigned int topic = 0; topic < ADVICE_TOPICS; topic++) {
		struct audit_record r = plain();

		r.audit.reason = topic < AUDIT_REASON_COUNT ? topic : AUDIT_HANDLER;
		if (topic >= AUDIT_REASON_COUNT)
			r.audit.warnings = 1u << (topic - AUDIT_REASON_COUNT);
		assert_true(advice_applies(topic, &r));
		/* What ends at once needs a remedy only in the eyes of its owner. */
		if (topic == AUDIT_DEFAULT)
			assert_true(advice_is_trouble(topic));
		else
			assert_int_equal(in_short(&out, &r)[0] != '\0', advice_is_trouble(topic));
		assert_null(strpbrk(buf_str(&out), "@&~^$%#"));
	}
}

static void the_sentence_names_the_pids_that_matter(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = plain();

	assert_string_equal(
		why(&out, AUDIT_SHELL, &r),
		"sh (pid 1012) is PID 1 and passes nothing on: node (pid 1015) never gets "
		"SIGTERM");
	assert_string_equal(in_short(&out, &r), "exec the app: pid 1015 never gets SIGTERM");
	r.audit = (struct audit){AUDIT_HEARS, AUDIT_HANDLER, 1u << AUDIT_SHELL_WAITS};
	assert_string_equal(in_short(&out, &r),
			    "pid 1015 may not get SIGTERM: exec it, or trap and wait");
	r.audit.warnings = 1u << AUDIT_CHILD_IGNORES;
	assert_string_equal(in_short(&out, &r), "pid 1015 ignores it: handle it there");
	r.audit.warnings = 1u << AUDIT_KILLED_SOON;
	assert_string_equal(in_short(&out, &r), "pid 1015 is killed within 2 s");
	r.pairs[AUDIT_KILLED_SOON - AUDIT_PAIR_FIRST].assumed = true;
	r.pairs[AUDIT_KILLED_SOON - AUDIT_PAIR_FIRST].after_ns = 1600000000;
	assert_string_equal(why(&out, AUDIT_REASON_COUNT + AUDIT_KILLED_SOON, &r),
			    "sh (pid 1012) asks node (pid 1015) to end, and kills it within 1.6 s "
			    "(its default), whatever the grace period");
	r.audit.warnings = 1u << AUDIT_STOPPED;
	assert_string_equal(in_short(&out, &r), "it is stopped: kill -CONT 1012");
}

/* With several processes, the application is not known for sure. */
static void what_keeps_a_container_is_not_the_app(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = plain();

	r.audit = (struct audit){AUDIT_DEAF, AUDIT_PLACEHOLDER, 0};
	r.facts.workers = 1;
	assert_string_equal(why(&out, AUDIT_PLACEHOLDER, &r),
			    "sh (pid 1012) is not the application: node (pid 1015) is, and never "
			    "gets SIGTERM");
	r.has_app = false;
	r.facts.workers = 2;
	assert_non_null(strstr(why(&out, AUDIT_PLACEHOLDER, &r), "is, is not known"));
	assert_non_null(strstr(advice_remedy(AUDIT_PLACEHOLDER), "in the foreground as PID 1"));
}

static void what_is_called_a_placeholder(void **state)
{
	static const struct {
		const char *exe, *comm;
		bool is;
	} want[] = {
		{"tail", "tail", true},
		{"sleep", "sleep", true},
		{"cat", "cat", true},
		{"busybox", "tail", true},
		{"", "sleep", true},
		{"coreutils", "cat", true},
		{"bash", "tail", false},
		{"nginx", "sleep", false},
		{"tailscaled", "tailscaled", false},
		{"busybox", "sh", false},
	};

	for (size_t i = 0; i < LEN(want); i++)
		assert_int_equal(audit_is_placeholder(want[i].exe, want[i].comm), want[i].is);
}

static void a_frozen_one_is_thawed_before_anything_else(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = plain();

	r.audit =
		(struct audit){AUDIT_HEARS, AUDIT_HANDLER,
			       1u << AUDIT_SHELL_WAITS | 1u << AUDIT_FROZEN | 1u << AUDIT_GUESSED};
	assert_string_equal(in_short(&out, &r), "it is frozen: hears once thawed");
	/* But what makes it deaf counts more. */
	r.audit.reason = AUDIT_BLOCKED;
	assert_string_equal(in_short(&out, &r), "wait for it, or unblock it");
}

static void what_was_not_seen_is_not_named(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = plain();

	r.has_app = false;
	assert_non_null(strstr(why(&out, AUDIT_SHELL, &r), ": its child never gets SIGTERM"));
	r.seen = false;
	r.audit = (struct audit){AUDIT_UNKNOWN, AUDIT_ACCESS, 0};
	assert_string_equal(why(&out, AUDIT_ACCESS, &r),
			    "none of its processes can be seen from here");
	assert_string_equal(in_short(&out, &r), "look again from the host's namespace");
}

static void names_of_processes_are_made_printable(void **state)
{
	_cleanup_(buf_free) struct buf out = {};
	struct audit_record r = plain();

	r.process.comm = "a\x1b[31m$@";
	assert_string_equal(why(&out, AUDIT_HANDLER, &r),
			    "a\\x1b[31m$@ (pid 1012) has a handler for SIGTERM");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("of an init that is not the application the only worker is named, and of several "
		      "none",
		      what_keeps_a_container_is_not_the_app),
		CLAIM("what shows a file or waits is no application", what_is_called_a_placeholder),
		CLAIM("each reason and warning says why, and what to do",
		      each_reason_and_warning_says_why_and_what_to_do),
		CLAIM("each trouble has a word for the column",
		      each_trouble_has_a_word_for_the_column),
		CLAIM("the sentence names the pids that matter",
		      the_sentence_names_the_pids_that_matter),
		CLAIM("a frozen one is thawed before anything else",
		      a_frozen_one_is_thawed_before_anything_else),
		CLAIM("what was not seen is not named", what_was_not_seen_is_not_named),
		CLAIM("names of processes are made printable",
		      names_of_processes_are_made_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
