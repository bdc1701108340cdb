// SPDX-License-Identifier: Apache-2.0
/* Claims about app/options: what a single option takes. */
#include "app/options.h"
#include "lib/claim.h"

static void test_sender(void **state)
{
	static const struct {
		const char *value;
		bool taken;
	} want[] = {
		{"runc", true},
		{"fifteen bytes..", true},
		{"sixteen bytes...", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < LEN(want); i++) {
		struct options options = {};

		if (!options_take(&options, "sender", want[i].value) != want[i].taken)
			fail_msg("'%s'", want[i].value);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a sender's name that no process can have is refused", test_sender),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
