// SPDX-License-Identifier: Apache-2.0
// Open and close what tests of `graced pods` start with.
#include "lib/daemon/podstage.h"

#include <time.h>

#include "lib/claim.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

int podstage_open(void **state)
{
	static struct podstage stage;
	int r = tracer_open_tree("pods", NULL, &stage.tree);

	*state = NULL;
	if (r <= 0)
		return r;
	if (service_start(&(struct service_spec){.args = BOX_ARGV("--sinks.journal=false"),
						 .tree = &stage.tree},
			  &stage.service) < 0)
		return -1;
	stage.socket = service_socket(stage.service);
	*state = &stage;
	return 0;
}

int podstage_close(void **state)
{
	struct podstage *stage = *state;

	if (!stage)
		return 0;
	service_free(stage->service);
	return box_tree_close(&stage->tree);
}

struct podstage *podstage_of(void **state)
{
	if (!*state)
		skip();
	return *state;
}

uint64_t podstage_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

void podstage_box(struct podstage *s, const struct box *pod_of, struct box *box)
{
	const struct box_spec spec = {.argv = BOX_ARGV("graceful"), .pod_of = pod_of};

	assert_int_equal(box_start(&s->tree, &spec, box), 0);
}

struct service *podstage_service(const struct podstage *s, const char *socket)
{
	const struct service_spec spec = {.tree = &s->tree,
					  .args = BOX_ARGV("--sinks.journal=false",
							   socket ? "--control.socket"
								  : "--log.level",
							   socket ? socket : "info")};
	struct service *service;

	assert_int_equal(service_start(&spec, &service), 0);
	return service;
}

json_t *podstage_ask(const char *socket, const char *uid)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("pods", "-o", "json", "-p", uid, "--control.socket", socket)};
	struct run_result result;
	json_t *line = NULL;

	assert_int_equal(run(&spec, &result), 0);
	if (result.status == 0)
		line = json_loads(result.out, 0, NULL);
	else
		assert_string_equal(result.err,
				    "graced: the daemon knows no such pod or container\n");
	assert_true(result.status == 0 ? !!line : !result.out_len);
	run_done(&result);
	return line;
}
