// SPDX-License-Identifier: Apache-2.0
/* Claims about core/words: of every list in words.def, whatever its rows. That the words are those
 * of the pages is a matter of tests/tools/test_docs.sh. */
#include "core/words/words.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

#include "lib/claim.h"

static const struct {
	const char *name;
	const struct words *words;
} lists[] = {
#define BEGIN(list, other) {#list, &words_##list},
#define NAME(member, word)
#define END(...)
#include "core/words/words.def"
#undef BEGIN
#undef NAME
#undef END
};

/* Kubernetes has one reason for several causes of a disruption; no level is an unknown one. */
static bool may_repeat(const char *list)
{
	return strcmp(list, "disruption_cause") == 0 || strcmp(list, "oom_level") == 0;
}

static void assert_list(const char *list, const struct words *words)
{
	unsigned int named = 0;

	for (unsigned int i = 0; i < words->n; i++) {
		const char *word = words_name(words, i);
		int found = word ? words_find(words, word) : (int)i;

		if (found != (int)i &&
		    !(may_repeat(list) && strcmp(words->words[found], word) == 0))
			fail_msg("%s: the word of %u, %s, is that of %d", list, i, word, found);
		named += word && *word;
	}
	assert_true(named > 1);
}

static void test_both_ways(void **state)
{
	for (size_t i = 0; i < LEN(lists); i++)
		assert_list(lists[i].name, lists[i].words);
	assert_true(LEN(lists) > 40);
}

static void test_others(void **state)
{
	for (size_t i = 0; i < LEN(lists); i++) {
		const struct words *words = lists[i].words;
		const char *other = words_name(words, words->n);

		assert_ptr_equal(other, words->other);
		assert_ptr_equal(words_name(words, UINT_MAX), words->other);
		assert_ptr_equal(words_name(words, INT_MAX), words->other);
		assert_int_equal(words_find(words, "nothing's word"), -1);
	}
	assert_int_equal(words_find(&words_outcome, ""), -1);
	assert_int_equal(words_find(&words_outcome, "Graceful"), -1);
	assert_int_equal(words_find(&words_outcome, "gracefully"), -1);
}

/* What a record has null for, and what it has a word for. */
static void test_unknown(void **state)
{
	assert_string_equal(outcome_name(OUTCOME_COUNT), "unknown");
	assert_string_equal(cause_name(CAUSE_COUNT), "unknown");
	assert_string_equal(gap_name(GAP_COUNT), "unknown");
	assert_string_equal(record_result_name((enum record_result) - 1), "unknown");
	assert_null(sender_kind_name(SENDER_UNKNOWN));
	assert_null(sender_kind_name(SENDER_UNPLACED));
	assert_null(record_container_kind_name(CONTAINER_KIND_UNKNOWN));
	assert_null(unheard_name(UNHEARD_NONE));
	assert_null(pod_stage_name(POD_STAGE_NONE));
	assert_null(cgpath_qos_name(CGPATH_QOS_UNKNOWN));
	assert_null(cgpath_runtime_name(CGPATH_RT_NONE));
	assert_null(cgpath_driver_name(CGPATH_DRIVER_NONE));
	assert_null(disruption_cause_name(DISRUPTION_LOCAL_STORAGE));
	assert_string_equal(meta_phase_name(META_PHASE_NONE), "");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a word stands for one number, which is found by it", test_both_ways),
		CLAIM("a number that is no member, and an unknown word, are known as such",
		      test_others),
		CLAIM("what is not known is \"unknown\" or null", test_unknown),
	};

	return cmocka_run_group_tests_name("core/words", tests, NULL, NULL);
}
