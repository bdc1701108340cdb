/* SPDX-License-Identifier: Apache-2.0 */
/* What graced why is asked for, and what it finds of it that is not over. */
#ifndef APP_COMMANDS_WHY_H
#define APP_COMMANDS_WHY_H

#include "app/commands/audit.h"
#include "app/config/options.h"
#include "core/story/story.h"
#include "io/control/control.h"

struct why {
	const struct options *options;
	const char *name; /* NULL: what did not go well */
	struct why_names {
		struct filter by_pod, by_container;
		struct filter
			by_both; /* POD/CONTAINER, or NAMESPACE/POD/CONTAINER, as tables have it */
	} names, exact;
	char pod_of_both[512];
	uint32_t pid; /* 0: the name is no number */
};

/* Whether a record of a container is of that name, or lists a process of that pid; and of one that
 * is, whether that is no beginning: it comes before those that are. */
bool why_wants(const struct why *why, const struct record *record);
bool why_is_exact(const struct why *why, const struct record *record);

/* Prints a story, and is done with it. 0 or -errno. */
int why_print(const struct why *why, struct story *story);

/* --- what is not over -------------------------------------------------------------------------- */

struct whynow {
	const struct why *why;
	bool daemon; /* one has answered, with the stops that are under way: */
	struct control_answer answer;
	int look; /* -errno: the containers that run could not be looked at */
	struct audit_list list;
	struct audit_record *records; /* of the containers of that name that run */
	size_t n;
	bool exact; /* those of which the name is a beginning are left out */
	char node[AUDIT_NODE_SIZE];
};

/* Leaves out those of which the name is a beginning, if there is another one. */
void whynow_look(struct whynow *now, const struct why *why);
void whynow_done(struct whynow *now);

/* Leaves them out, for there is another one. */
void whynow_keep_exact(struct whynow *now);
/* Whether a stop of that name is under way. */
bool whynow_is_stopping(const struct whynow *now);

/* Prints the stops of that name that are under way. How many there are, or -errno. */
int whynow_print_stopping(struct whynow *now);
/* Prints what a stop would do to those that run. The same. */
int whynow_print_running(struct whynow *now);
/* Prints which of that name run, after the story of an earlier stop. */
void whynow_print_again(const struct whynow *now);

#endif
