// SPDX-License-Identifier: Apache-2.0
/* Claims about core/stop/record and core/stop/outcome_names: the words of graced-records(5),
 * written here again. */
#include "core/stop/outcome.h"
#include "core/stop/record.h"
#include "lib/claim.h"

static void test_outcomes(void **state)
{
	static const char *const words[] = {"unknown",	  "graceful", "terminated", "killed",
					    "oom-killed", "crashed",  "completed",  "failed"};

	assert_int_equal(LEN(words), OUTCOME_COUNT);
	for (unsigned int i = 0; i < OUTCOME_COUNT; i++) {
		assert_string_equal(outcome_name((enum outcome)i), words[i]);
		assert_int_equal(outcome_from_name(words[i]), i);
	}
	assert_int_equal(outcome_from_name(""), OUTCOME_COUNT);
	assert_int_equal(outcome_from_name("Graceful"), OUTCOME_COUNT);
	assert_int_equal(outcome_from_name("gracefully"), OUTCOME_COUNT);
	assert_string_equal(outcome_name((enum outcome)OUTCOME_COUNT), "unknown");
	assert_string_equal(outcome_name((enum outcome) - 1), "unknown");
}

static void test_causes(void **state)
{
	static const char *const words[] = {
		"unknown",	 "stop-signal", "grace-expired", "killed-early",   "no-grace",
		"oom-container", "oom-pod",	"oom-node",	 "oom-unknown",	   "oom-userspace",
		"pid-namespace", "kernel",	"self",		 "same-container", "same-pod",
		"other-pod",	 "host",	"parent-death",	 "deaf-grace",	   "runtime-lost",
	};

	assert_int_equal(LEN(words), CAUSE_COUNT);
	for (unsigned int i = 0; i < CAUSE_COUNT; i++)
		assert_string_equal(cause_name((enum cause)i), words[i]);
	assert_string_equal(cause_name(CAUSE_COUNT), "unknown");
}

static void test_gaps(void **state)
{
	static const char *const words[] = {
		"events-lost",	  "suppressed",	     "attached-late",	"daemon-down",
		"unknown-cgroup", "init-guessed",    "kill-unseen",	"exit-unseen",
		"oom-level",	  "not-empty",	     "name-late",	"source-failed",
		"shed",		  "grace-uncertain", "sender-unknown",	"stop-signal-unknown",
		"time-uncertain", "sandbox-guessed", "init-unseen",	"take-unseen",
		"not-reaped",	  "init-moved",	     "child-uncertain",
	};

	assert_int_equal(LEN(words), GAP_COUNT);
	for (unsigned int i = 0; i < GAP_COUNT; i++)
		assert_string_equal(gap_name((enum gap)i), words[i]);
	assert_string_equal(gap_name(GAP_COUNT), "unknown");
}

static void test_record_words(void **state)
{
	static const char *const senders[] = {"kernel",	 "pod",	 "container", "systemd", "kubelet",
					      "runtime", "host", "graced",    NULL,	 NULL};
	static const char *const kinds[] = {NULL, "container", "sandbox", "service", "process"};
	static const char *const results[] = {"delivered", "ignored", "already_pending", "overflow",
					      "lost_info"};

	assert_int_equal(LEN(senders), SENDER_KIND_COUNT);
	for (unsigned int i = 0; i < LEN(senders); i++)
		if (senders[i])
			assert_string_equal(sender_kind_name((enum sender_kind)i), senders[i]);
		else
			assert_null(sender_kind_name((enum sender_kind)i));
	assert_null(record_container_kind_name(CONTAINER_KIND_UNKNOWN));
	for (unsigned int i = 1; i < LEN(kinds); i++)
		assert_string_equal(record_container_kind_name((enum record_container_kind)i),
				    kinds[i]);
	assert_null(record_container_kind_name((enum record_container_kind)LEN(kinds)));
	for (int i = 0; i < (int)LEN(results); i++)
		assert_string_equal(record_result_name(i), results[i]);
	assert_string_equal(record_result_name(-1), "unknown");
	assert_string_equal(record_result_name(5), "unknown");
	assert_string_equal(record_result_name(INT32_MIN), "unknown");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("outcomes have the documented words, and only those are read", test_outcomes),
		CLAIM("causes have the documented words", test_causes),
		CLAIM("gaps have the documented words in the documented order", test_gaps),
		CLAIM("senders, containers and results have the documented words",
		      test_record_words),
	};

	return cmocka_run_group_tests_name("core/names", tests, NULL, NULL);
}
