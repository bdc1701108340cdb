// SPDX-License-Identifier: Apache-2.0
/* graced pods: what the running daemon knows of the pods of this node. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "app/commands/commands.h"
#include "app/commands/pod_watch.h"
#include "app/live/output.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "wire/json/pods.h"
#include "wire/text/pods.h"

static const struct options_help help = {
	.head = "usage: graced pods [OPTIONS]\n"
		"\n"
		"Queries the running daemon (graced run) for the pods that it knows; terminating pods come\n"
		"first. Needs root.\n",
	.tail = "STATE    sync (as it should run), terminating, terminated (nothing of it runs), finished;\n"
		"         gone with --watch\n"
		"SINCE    how long it has been so\n"
		"RUNNING  how many of its containers run, without the sandbox\n"
		"GRACE    its grace period once it is terminating, and what is LEFT of it\n"
		"READY    as the kubelet last reported it\n"
		"MARKS    orphan (it runs, and the kubelet does not list it), deleting, static\n"
		"\n"
		"The exit status is 1 when no daemon answers, or no pod matches -n and -p; 2 after wrong use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced pods                        all of them\n"
		"  graced pods --watch -n default     how they come and go\n"
		"  graced pods -o json | jq -r 'select(.state == \"terminating\") | .pod.name'\n",
};

static int print(const struct options *o, const struct podlist *pods)
{
	_cleanup_(buf_free) struct buf out = {};
	_cleanup_(rows_free_kept) struct rows rows = {};

	if (!o->json && pods->n)
		pods_table_title(&rows);
	for (size_t i = 0; i < pods->n; i++) {
		if (o->json)
			pods_json(&out, &pods->list[i]);
		else
			pods_table_row(&rows, &pods->list[i]);
	}
	pods_table_put(&out, &rows, output_wants_colour());
	fwrite(buf_str(&out), 1, out.len, stdout);
	if (!buf_error(&out))
		return 0;
	say("cannot print the pods: %s", strerror(-buf_error(&out)));
	return 1;
}

/* A misspelt name must not look like a pod that is gone. */
static int tell_none(const struct options *o)
{
	bool in_vain = o->filter.namespace_ || o->filter.pod;

	say(in_vain ? "the daemon knows no such pod" : "the daemon knows no pod");
	return in_vain;
}

/* What ends a watch in good order ends a single question at once. */
static void release_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

static int ask_once(const struct options *o)
{
	struct podlist pods = {};
	struct control_why why;
	int r, status = 1;

	release_signals();
	r = podwatch_ask(o, -1, &pods, &why);
	if (r < 0)
		podwatch_say(o, r, &why);
	else
		status = pods.n ? print(o, &pods) : tell_none(o);
	podlist_free(&pods);
	return status;
}

int cmd_pods(int argc, char **argv)
{
	struct options options;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("pods", "'%s' is one argument too many", argv[options.first]);
	return options.watch ? podwatch_run(&options) : ask_once(&options);
}
