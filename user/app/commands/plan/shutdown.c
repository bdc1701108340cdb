// SPDX-License-Identifier: Apache-2.0
/* graced plan: what a node shutdown would do now, by the kubelet's configuration. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/plan/plans.h"
#include "app/config/kubelet_file.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "core/shutdown/view.h"
#include "io/logind/delay.h"
#include "wire/json/plan.h"
#include "wire/text/shutdown_view.h"

/* 0, 1 when it was said why not. Whoever names a file knows whose it is. */
static int read_plan(const struct options *options, struct arena *arena, struct shutplan *ret)
{
	const char *named = options->kubelet_config;
	const struct kubeletfile file = {
		.path = named ? named : KUBELETFILE_DEFAULT,
		.minor = options->kubernetes_minor,
		.any_writer = named,
	};
	struct kubeletfile_why why;
	int r = kubeletfile_plan(&file, arena, ret, &why);

	if (r < 0)
		say("the kubelet's configuration cannot be used: %s%s", why.text,
		    r == -ENOENT ? "; --kubelet.config tells where it is" : "");
	else if (ret->n == 0)
		say("by its configuration %s the kubelet leaves a shutdown to systemd: it has "
		    "neither shutdownGracePeriod nor shutdownGracePeriodByPodPriority",
		    file.path);
	return ret->n == 0;
}

/* What logind would have from this host's files. */
static int read_limit(struct shutview_rules *rules)
{
	_cleanup_(cleanup_free) struct delaydrop_files *files = calloc(1, sizeof(*files));
	uint64_t us;
	int r = files ? delaydrop_read("", files) : -ENOMEM;

	if (r < 0)
		return r;
	us = delaylimit_of_files(files->list, files->n);
	delaydrop_done(files);
	rules->has_limit = true;
	if (__builtin_mul_overflow(us, NS_PER_US, &rules->limit_ns))
		rules->limit_ns = UINT64_MAX;
	return 0;
}

static int print(const struct options *options, const struct shutview *view)
{
	int r = 0;

	if (!options->json) {
		_cleanup_(buf_free) struct buf out = {};

		r = shutview_table(&out, view);
		fputs(buf_str(&out), stdout);
		return r;
	}
	for (size_t i = 0; i < view->n && r == 0; i++) {
		_cleanup_(buf_free) struct buf out = {};

		r = shutview_json(&out, options->pods, view, &view->pods[i]);
		fputs(buf_str(&out), stdout);
	}
	return r;
}

int plans_shutdown(const struct options *options, const struct nodepods *pods)
{
	_cleanup_(cleanup_free) struct shutview_pod *list = calloc(pods->n + 1, sizeof(*list));
	struct shutview_rules rules = {.minor = options->kubernetes_minor};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview view;
	int r = list ? read_plan(options, &arena, &rules.plan) : -ENOMEM;

	if (r == 0)
		r = read_limit(&rules);
	if (r != 0)
		return r;
	for (size_t i = 0; i < pods->n; i++)
		list[i] = shutview_pod_of(&rules.plan, pods->list[i]);
	shutview_sort(list, pods->n);
	r = plans_listen(options, &rules.plan, list, pods->n, &arena);
	if (r < 0)
		return r;
	r = shutview_of(&rules, list, pods->n, &arena, &view);
	return r < 0 ? r : print(options, &view);
}
