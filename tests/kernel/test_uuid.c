// SPDX-License-Identifier: Apache-2.0
// Containers that are named by a UUID, as garden names them.
#include "lib/claim.h"
#include "lib/kernel/judge.h"

#include <stdio.h>
#include <string.h>

#define CONTAINERS 53

static int setup(void **state)
{
	return fixture_open(state, "uuid", NULL);
}

static void one_that_ends_at_once_is_reported(void **state)
{
	struct fixture *f = judge_need(state);

	for (unsigned int i = 0; i < CONTAINERS; i++) {
		struct box_spec spec = {.argv = BOX_ARGV("exit", "3"), .no_wait = true};
		char uuid[40];
		struct box box;

		snprintf(uuid, sizeof(uuid), "f1c2d3e4-0a1b-4c2d-8e3f-%012x", i);
		spec.leaf = uuid;
		judge_start(f, &spec, &box);
		memcpy(box.id, uuid, sizeof(uuid));
		judge_box(f, &box, (struct truth){.outcome = "failed", .cause = "self"});
		judge_match(tracer_await_stop(f->tracer, &box),
			    "{'container':{'runtime':null},'evidence':{'complete':true}}");
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a container that is named by a UUID and ends at once is reported",
		      one_that_ends_at_once_is_reported),
	};

	return cmocka_run_group_tests_name("uuid", tests, setup, fixture_close);
}
