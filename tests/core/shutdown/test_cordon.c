// SPDX-License-Identifier: Apache-2.0
/* Claims about the taint that keeps pods from a node in a shutdown (api.report: unschedulable). */
#include <string.h>

#include "lib/claim.h"
#include "lib/shutdown/shutstage.h"

/* From the announcement to its end nothing is placed on the node. */
static void test_cordon(void **state)
{
	struct shutstage s;

	shutstage_begin_with(&s, &(struct shutdown_config){.mode = SHUTDOWN_MANAGE,
							   .unschedulable = true});
	shutstage_hold(&s);
	shutstage_announce(&s, 60);
	shutstage_holders(&s, "");
	assert_string_equal(shutstage_log(&s), "cordon\nannounced\nstop units\n");
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	assert_non_null(strstr(shutstage_log(&s), "uncordon\n"));
	shutstage_end(&s);
}

static void test_not_asked_for(void **state)
{
	struct shutstage s;

	shutstage_begin_with(&s, &(struct shutdown_config){.mode = SHUTDOWN_MANAGE});
	shutstage_hold(&s);
	shutstage_announce(&s, 60);
	assert_null(strstr(shutstage_log(&s), "cordon"));
	shutstage_plain(&s, SHUTDOWN_EV_CANCELLED);
	assert_null(strstr(shutstage_log(&s), "cordon"));
	shutstage_end(&s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("nothing is placed on the node from the announcement until it is cancelled",
		      test_cordon),
		CLAIM("unless that is not asked for", test_not_asked_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
