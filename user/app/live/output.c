// SPDX-License-Identifier: Apache-2.0
/* Joins standard output, the filter and an encoding. */
#include "app/live/output.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/log/say.h"

/* https://no-color.org: any value but an empty one. */
bool output_wants_colour(void)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

	return isatty(STDOUT_FILENO) && (!no || !*no) && (!term || strcmp(term, "dumb"));
}

bool output_open(const struct options *options, bool live, struct output *ret)
{
	struct sinks_config config = {
		.filter = &options->filter,
		.json = options->json,
		.colour = output_wants_colour(),
		.count = options->count,
	};
	struct output output = {};
	int r = out_new(STDOUT_FILENO, false, live, &output.out);

	if (r >= 0)
		r = sinks_new(&config, output.out, &output.sinks);
	if (r < 0) {
		say("cannot use standard output: %s", strerror(-r));
		output_close(&output);
		return false;
	}
	*ret = output;
	return true;
}

void output_close(struct output *output)
{
	output->sinks = sinks_free(output->sinks);
	output->out = out_free(output->out);
}
