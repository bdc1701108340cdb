// SPDX-License-Identifier: Apache-2.0
// Start and end daemons that share a runtime directory.
#include "lib/daemon/restarts.h"

#include "lib/claim.h"
#include "lib/kernel/tracer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int restarts_setup(void **state)
{
	static struct restarts stage;
	int r = tracer_open_tree("survival", NULL, &stage.tree);

	*state = NULL;
	if (r <= 0)
		return r;
	strcpy(stage.dir, "/tmp/graced-survival-XXXXXX");
	if (!mkdtemp(stage.dir))
		return -1;
	snprintf(stage.file, sizeof(stage.file), "%s/records", stage.dir);
	snprintf(stage.checkpoint, sizeof(stage.checkpoint), "%s/checkpoint", stage.dir);
	*state = &stage;
	return 0;
}

int restarts_clear(void **state)
{
	struct restarts *stage = *state;
	char other[128];

	if (!stage)
		return 0;

	stage->service = service_free(stage->service);
	snprintf(other, sizeof(other), "%s.new", stage->checkpoint);
	unlink(other);
	unlink(stage->checkpoint);
	snprintf(other, sizeof(other), "%s/boot", stage->dir);
	unlink(other);
	unlink(stage->file);
	return 0;
}

int restarts_teardown(void **state)
{
	struct restarts *stage = *state;

	if (!stage)
		return 0;
	rmdir(stage->dir);
	return box_tree_close(&stage->tree);
}

void restarts_start(struct restarts *stage, bool wait)
{
	const struct service_spec spec = {
		.args = BOX_ARGV("--sinks.file", stage->file, "--sinks.journal=false",
				 "--names.enabled=false", "--control.socket=none"),
		.tree = &stage->tree,
		.dir = stage->dir,
		.no_wait = !wait,
	};

	assert_int_equal(service_start(&spec, &stage->service), 0);
}

void restarts_end_by(struct restarts *stage, int sig)
{
	kill(service_pid(stage->service), sig);
	assert_int_equal(service_wait(stage->service), sig == SIGTERM ? 0 : 128 + sig);
	stage->service = service_free(stage->service);
}
