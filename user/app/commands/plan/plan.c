// SPDX-License-Identifier: Apache-2.0
/* graced plan: what would become of a node's pods, in a shutdown or when it goes silent. */
#include <string.h>

#include "app/commands/commands.h"
#include "app/commands/plan/plans.h"
#include "app/config/kubelet_file.h"
#include "app/config/options.h"
#include "app/log/say.h"
#include "base/cleanup.h"

static const struct options_help help = {
	.head = "usage: graced plan [OPTIONS] --pods FILE|-\n"
		"       graced plan --if-node-dies [OPTIONS] --pods FILE|-\n"
		"\n"
		"Shows what a node shutdown would do now to each pod: with which group it is ended, when that\n"
		"group is over, which grace period it gets, whether that is cut short, and whether the pod is\n"
		"deaf and wastes it. Times count from the announcement. Nothing is shut down.\n"
		"With --if-node-dies shows what happens to each pod if its node went silent now: when it is\n"
		"marked not ready, asked to go, replaced and gone, and what stays stuck. Times count from the\n"
		"node's last heartbeat.\n"
		"Reads what kubectl get pods -o json prints, one pod or a list; - is standard input. Needs no\n"
		"privilege and queries no API. Deaf pods are found as graced audit finds them, of containers\n"
		"that run on this host: that needs root, and queries their runtime for their stop signals.\n",
};

/* An option that is of no use to the question, NULL: none is. */
static const char *useless(const struct options *o)
{
	if (o->if_node_dies)
		return o->kubelet_config ? "--kubelet.config does not go" : NULL;
	if (o->monitor_grace_ns)
		return "--node-monitor-grace-period goes";
	if (o->out_of_service)
		return "--out-of-service goes";
	if (o->taint_after_given)
		return "--out-of-service-after goes";
	return o->taint_no_execute ? NULL : "--out-of-service-effect goes";
}

/* 0, or the exit status. */
static int check(const struct options *o, int argc, char **argv)
{
	if (o->first < argc)
		return say_usage("plan", "'%s' is one word too many; the pods come by --pods",
				 argv[o->first]);
	if (useless(o))
		return say_usage("plan", "%s with --if-node-dies", useless(o));
	if (!o->pods)
		return say_usage("plan",
				 "--pods is missing: kubectl get pods -A -o json "
				 "--field-selector spec.nodeName=NODE | graced plan%s --pods -",
				 o->if_node_dies ? " --if-node-dies" : "");
	if (o->if_node_dies && !o->out_of_service && (o->taint_after_given || !o->taint_no_execute))
		return say_usage("plan", "--out-of-service-%s goes with --out-of-service",
				 o->taint_after_given ? "after" : "effect");
	return 0;
}

int cmd_plan(int argc, char **argv)
{
	_cleanup_(nodepods_free) struct nodepods pods = {};
	struct options options;
	int status, r;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	status = check(&options, argc, argv);
	if (status)
		return status;
	status = nodepods_read(options.pods, &pods);
	if (status && pods.n == 0)
		return status;
	r = options.if_node_dies ? plans_dies(&options, &pods) : plans_shutdown(&options, &pods);
	if (r < 0)
		say("cannot print the plan: %s", strerror(-r));
	return r != 0 ? 1 : status;
}
