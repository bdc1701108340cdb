// SPDX-License-Identifier: Apache-2.0
/* Claims about base/nearest. */
#include <string.h>

#include "base/nearest.h"
#include "lib/claim.h"

static const char *const words[] = {
	"nodeName",	  "scope",	   "log.level",	 "log.format", "web.listenAddress",
	"web.configFile", "names.enabled", "sinks.file", "budget.cpu", "GRACED_LOG_LEVEL",
};

static const struct meant {
	const char *word, *means; /* NULL: none */
} meant[] = {
	{"web.listenadress", "web.listenAddress"},
	{"web.listen-address", "web.listenAddress"},
	{"web.listen_addresses", "web.listenAddress"},
	{"web.lisetnAddress", "web.listenAddress"},
	{"listenAddress", "web.listenAddress"},
	{"server.listenAddress", "web.listenAddress"},
	{"web.config.file", "web.configFile"},
	{"web.config", "web.configFile"},
	{"scop", "scope"},
	{"cpu", "budget.cpu"},
	{"nodename", "nodeName"},
	{"level", "log.level"},
	{"log.levle", "log.level"},
	{"GRACED_LOG_LEVL", "GRACED_LOG_LEVEL"},
	{"", NULL},
	{".", NULL},
	{"-_.", NULL},
	{"x", NULL},
	{"tls", NULL},
	{"entirely.different", NULL},
	{"GRACED_SERVICE_HOST", NULL},
	{"GRACED_PORT_9753_TCP_ADDR", NULL},
};

static void test_meant(void **state)
{
	for (size_t i = 0; i < LEN(meant); i++) {
		size_t at = nearest_find(meant[i].word, words, LEN(words));

		print_message("# %s\n", meant[i].word);
		if (meant[i].means) {
			assert_in_range(at, 0, LEN(words) - 1);
			assert_string_equal(words[at], meant[i].means);
		} else {
			assert_int_equal(at, LEN(words));
		}
	}
}

static void test_long(void **state)
{
	static char word[100000];
	const char *own = word;

	memset(word, 'a', sizeof(word) - 1);
	assert_int_equal(nearest_find(word, words, LEN(words)), LEN(words));
	assert_int_equal(nearest_find("aaaa", &own, 1), 1);
	assert_int_equal(nearest_find("scope", words, 0), 0);
	word[64] = '\0';
	assert_int_equal(nearest_find(word, &own, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a misspelt word is known for what was meant, another one is not",
		      test_meant),
		CLAIM("words of any length do no harm", test_long),
	};

	return cmocka_run_group_tests_name("nearest", tests, NULL, NULL);
}
