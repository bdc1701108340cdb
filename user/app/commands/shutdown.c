// SPDX-License-Identifier: Apache-2.0
/* graced shutdown: how it is with a shutdown of the node, and one that is begun by hand. */
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/config/run_dir.h"
#include "app/log/say.h"
#include "base/time.h"
#include "io/control/control.h"

#define ANSWER_MS 5000

static const struct options_help help = {
	.head = "usage: graced shutdown [--status | --begin [--type ACTION] | --cancel] [OPTIONS]\n"
		"\n"
		"Queries the running daemon (graced run) about a shutdown of the node. On a host without\n"
		"logind it begins one, in which the daemon stops the containers in order, and cancels it; the\n"
		"machine itself stays up. Needs root; beginning and cancelling need shutdown.mode: manage and\n"
		"shutdown.control: true in the daemon's configuration.\n",
	.tail = "A shutdown that has been announced goes on as it is when another begins. The exit status is 1\n"
		"when no daemon answers, or when it refuses; 2 after wrong use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced shutdown --status\n"
		"  graced shutdown --begin --type reboot     stop the containers now, on a host without logind\n",
};

/* False: said. */
static bool read_request(const struct options *o, struct control_request *ret)
{
	*ret = (struct control_request){.command = CONTROL_SHUTDOWN_STATUS};
	if (o->begin + o->cancel + o->status > 1) {
		say_usage("shutdown", "only one of --begin, --cancel and --status can be meant");
		return false;
	}
	if (o->begin)
		ret->command = CONTROL_SHUTDOWN_BEGIN;
	if (o->cancel)
		ret->command = CONTROL_SHUTDOWN_CANCEL;
	if (!o->action)
		return true;
	ret->action = shutdown_action_of(o->action);
	if (!o->begin)
		say_usage("shutdown", "--type belongs to --begin");
	else if (ret->action == SHUTDOWN_UNKNOWN)
		say_usage("shutdown",
			  "--type %s is none of power-off, reboot, halt, kexec, soft-reboot",
			  o->action);
	return o->begin && ret->action != SHUTDOWN_UNKNOWN;
}

static void print_time(const char *key, uint64_t at_ns, uint64_t now_ns)
{
	bool past = at_ns <= now_ns;
	uint64_t ns = past ? now_ns - at_ns : at_ns - now_ns;

	if (at_ns)
		printf("%-12s%s%.1f s%s\n", key, past ? "" : "in ", (double)ns / NS_PER_S,
		       past ? " ago" : "");
}

static void print_table(const struct control_shutdown *r)
{
	const struct shutdown_status *s = &r->status;

	printf("%-12s%s\n", "mode", r->off ? "off" : shutdown_mode_name(r->mode));
	if (r->off)
		return;
	printf("%-12s%s\n", "state", shutdown_state_name(s->state));
	printf("%-12s%s\n", "delay lock", s->locked ? "held" : "not held");
	printf("%-12s%s\n", "shutdown", s->going ? shutdown_action_name(s->action) : "none");
	if (!s->going)
		return;
	print_time("announced", s->announced_ns, r->at_ns);
	print_time("deadline", s->deadline_ns, r->at_ns);
	printf("%-12s%zu left, %zu being stopped\n", "containers", s->living, s->stopping);
	printf("%-12s%zu of %zu stopped, %zu ended\n", "pods", s->pods_stopped, s->pods,
	       s->pods_ended);
}

static int print(const struct options *o, const struct control_answer *answer)
{
	const char *line = buf_str(&answer->text);
	struct control_shutdown record;

	if (control_read_shutdown(line, strcspn(line, "\n"), &record) < 0) {
		say("the daemon's answer is not understood");
		return 1;
	}
	if (o->json)
		fputs(line, stdout);
	else
		print_table(&record);
	return 0;
}

static int query(const struct options *o, const struct control_request *request)
{
	struct control_answer answer = {};
	char buffer[PATH_MAX];
	struct control_why why;
	int r = control_query(control_socket_path(o->socket, buffer), request, ANSWER_MS, -1,
			      &answer, &why);
	int status = 1;

	if (r < 0)
		query_say("shutdown", o->socket, r, &why);
	else
		status = print(o, &answer);
	buf_free(&answer.text);
	return status;
}

int cmd_shutdown(int argc, char **argv)
{
	struct control_request request;
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("shutdown", "'%s' is one argument too many", argv[options.first]);
	return read_request(&options, &request) ? query(&options, &request) : 2;
}
