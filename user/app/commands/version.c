// SPDX-License-Identifier: Apache-2.0
/* graced version: which program this is and what it understands. */
#include <stdio.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/version.h"
#include "wire/json/writer.h"
#include "wire/recording/recording.h"

static const struct options_help help = {
	.head = "usage: graced version [OPTIONS]\n"
		"\n"
		"Prints the version, the commit, and what the program was built with and understands.\n",
	.tail = "EXAMPLES\n"
		"  graced version -o json | jq -r .version\n",
};

static void print_json(void)
{
	_cleanup_(buf_free) struct buf line = {};

	jsonw_object(&line, NULL);
	jsonw_str(&line, "type", "version");
	jsonw_str(&line, "version", version_string());
	jsonw_str(&line, "commit", version_commit());
	jsonw_str(&line, "features", version_features());
	jsonw_u64(&line, "abi", GRACED_ABI);
	jsonw_u64(&line, "recording", REC_VERSION);
	jsonw_object_end(&line);
	puts(buf_str(&line));
}

int cmd_version(int argc, char **argv)
{
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("version", "'%s' is one argument too many", argv[options.first]);
	if (options.json)
		print_json();
	else
		printf("graced %s (commit %s, %s, ring buffer records %d, recordings %d)\n",
		       version_string(), version_commit(), version_features(), GRACED_ABI,
		       REC_VERSION);
	return 0;
}
