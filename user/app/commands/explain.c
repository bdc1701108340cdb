// SPDX-License-Identifier: Apache-2.0
/* graced explain: what a kubelet would make of a pod as kubectl prints it, and why. */
#include <stdio.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/query/pod_input.h"
#include "app/config/options.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "core/kubelet/explain.h"
#include "io/proc/clock.h"
#include "wire/json/explain.h"
#include "wire/kubernetes/pod.h"
#include "wire/text/explain.h"

static const struct options_help help = {
	.head = "usage: graced explain [OPTIONS] POD.json|POD.yaml|-\n"
		"\n"
		"Shows the phase and the conditions that a kubelet would give the pod, rule by rule, and what\n"
		"the pod's controller does next. Reads what kubectl get -o json or -o yaml prints, one pod or\n"
		"a list; - is standard input. Needs no privilege and queries no source.\n",
	.tail = "EXAMPLES\n"
		"  kubectl get pod web-0 -o json | graced explain -\n"
		"  kubectl get pods -n shop -o yaml | graced explain -p cart -\n"
		"  graced explain --kubelet.version 1.29 pods.json\n",
};

struct explainer {
	const struct options *options;
	struct podinput input;
	const struct jobpolicy *job; /* NULL: none was given */
	bool printed;
};

static int explain(void *userdata, const struct podobj_pod *pod)
{
	struct explainer *x = userdata;
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf out = {};
	struct explain_in in = {
		.minor = x->options->kubernetes_minor,
		.pod = pod,
		.job = x->job,
		.now_wall_ns = (int64_t)clock_wall_ns(),
	};
	struct grid_view view = screen_view(x->options);
	struct explain e;
	int r = explain_pod(&in, &arena, &e);

	if (r == 0)
		r = x->options->json ? explain_json(&out, x->input.path, &e)
				     : explain_table(&out, &e, &view);
	if (r < 0)
		return r;
	if (x->printed && !x->options->json)
		putchar('\n');
	fputs(buf_str(&out), stdout);
	x->printed = true;
	return 0;
}

static int read_job(const char *path, struct arena *arena, struct jobpolicy *ret)
{
	_cleanup_(podinput_free) struct podinput input = {.verb = "explain", .path = path};
	json_auto_t *json = NULL;
	struct podread_error error = {};
	int e = podinput_load(&input);

	if (e < 0)
		return e;
	e = podread_parse(input.bytes, input.size, &json, &error);
	if (e == 0)
		e = podread_job(json, arena, ret, &error);
	if (input.yaml)
		error.line = 0;
	if (e < 0)
		podinput_refuse(&input, "", e, &error);
	return e;
}

int cmd_explain(int argc, char **argv)
{
	_cleanup_(arena_free) struct arena arena = {};
	struct options options;
	struct explainer x = {.options = &options, .input.verb = "explain"};
	struct jobpolicy job;
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first != argc - 1)
		return say_usage("explain",
				 options.first == argc ? "which pod?" : "one pod or list of pods");
	x.input.path = argv[options.first];
	x.input.filter = &options.filter;
	if (options.job && strcmp(options.job, "-") == 0 && strcmp(x.input.path, "-") == 0)
		return say_usage("explain", "standard input is the pod or the Job, not both");
	if (options.job && read_job(options.job, &arena, &job) < 0)
		return 1;
	x.job = options.job ? &job : NULL;
	return podinput_each(&x.input, NULL, explain, &x);
}
