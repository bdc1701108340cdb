/* SPDX-License-Identifier: Apache-2.0 */
/* Docker and Podman, which take the same commands: start a container, have it
 * stopped, and look at its record. A test is a table of scenes. */
#ifndef TESTS_LIB_RUNTIME_CLI_H
#define TESTS_LIB_RUNTIME_CLI_H

#include "lib/runtime/stage.h"

#include <stdbool.h>

struct runtime_cli {
	struct runtime_stage stage;
	const char *runtime;		/* what records call it */
	const char *const *command;	/* the program, and options of every command */
	const char *const *run_options; /* of every `run` */
	bool handler_first;		/* --runtime comes before the command */
};

struct runtime_cli_scene {
	const char *claim; /* the test's name */
	const char *name, *handler, *image, *behaviour;
	const char *run[8];   /* further options of `run` */
	const char *stop[4];  /* of `stop` */
	const char *tried;    /* exit status of `graced try`, which stops it; NULL: it does not */
	const char *audited;  /* of the audit before it is stopped; NULL: not asked */
	const char *names;    /* of the record: pod, container; NULL: by its name, in no pod */
	const char *expected; /* of the record (jrec_match()), beside the names and the sender */
	/* More of it, by what the record says itself; NULL: none. */
	void (*judge)(const json_t *rec);
};

/* Runs a command to its end or fails the test; what it prints belongs to the caller. */
char *runtime_cli_do(const struct runtime_cli *cli, const char *const *args);

/* For cmocka: one test per scene, all with this cli, and what the group ends with. */
int runtime_cli_main(struct runtime_cli *cli, const struct runtime_cli_scene *scenes, size_t n,
		     int (*setup)(void **state), int (*teardown)(void **state));

#endif
