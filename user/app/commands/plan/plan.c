// SPDX-License-Identifier: Apache-2.0
/* graced plan: what would become of a node's pods, in a shutdown or when it goes silent. */
#include <string.h>

#include "app/commands/commands.h"
#include "app/commands/plan/plans.h"
#include "app/config/kubelet_file.h"
#include "app/config/options.h"
#include "app/log/say.h"
#include "base/cleanup.h"

static const char usage[] =
	"usage: graced plan [OPTIONS] --pods FILE|-\n"
	"       graced plan --if-node-dies [OPTIONS] --pods FILE|-\n"
	"\n"
	"Tells what a node shutdown would do now to each pod: with which group it is ended, when\n"
	"that group is over, what grace period it is given, whether it is cut short, and whether it\n"
	"is deaf and wastes that time. Times are since the announcement. Nothing is shut down.\n"
	"With --if-node-dies tells what happens to each pod if its node went silent now: when it is\n"
	"marked not ready, asked to go, replaced and gone, and what stays stuck. Times are since the\n"
	"node's last heartbeat.\n"
	"Reads what kubectl get pods -o json prints, one pod or a list; - is standard input. Needs no\n"
	"privilege and asks nobody. Only who is deaf is found as graced audit does it, of containers\n"
	"that run on this host: as root, and their runtime is asked for their stop signals.\n"
	"\n"
	"  -o, --output table|json     a table for people, or one JSON object per pod\n"
	"      --pods FILE             the pods of the node:\n"
	"                              kubectl get pods -A -o json --field-selector spec.nodeName=NODE\n"
	"      --kubernetes VERSION    the node's or cluster's, 1.20 to 1.36 (default 1.36)\n"
	"      --kubelet-config FILE   the kubelet's (default " KUBELETFILE_DEFAULT ")\n"
	"      --if-node-dies          the other question; what follows goes with it\n"
	"      --node-monitor-grace-period TIME  the controller manager's (default 50s, 40s before 1.32)\n"
	"      --out-of-service        with the taint node.kubernetes.io/out-of-service set by somebody\n"
	"      --out-of-service-after TIME  when (default: as soon as the node is not ready)\n"
	"      --out-of-service-effect NoExecute|NoSchedule  of that taint (default NoExecute)\n";

/* An option that is of no use to the question, NULL: none is. */
static const char *useless(const struct options *o)
{
	if (o->if_node_dies)
		return o->kubelet_config ? "--kubelet-config does not go" : NULL;
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

	if (!options_parse(argc, argv, OPTIONS_FORMAT | OPTIONS_PLAN, usage, &options, &status))
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
