// SPDX-License-Identifier: Apache-2.0
/* graced plan: what a node shutdown would do now, by the kubelet's configuration. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/plans.h"
#include "app/say.h"
#include "base/cleanup.h"
#include "core/shutview.h"
#include "io/delaydrop.h"
#include "io/fd.h"
#include "wire/kubeletconf.h"
#include "wire/shutview_json.h"
#include "wire/shutview_table.h"

#define NS_PER_US 1000

static const char *config_of(const struct options *options)
{
	return options->kubelet_config ? options->kubelet_config : PLANS_KUBELET_CONFIG;
}

/* Through links, too; of what is too long one byte more than may be. */
static ssize_t read_file(const char *path, char *ret, size_t size)
{
	_cleanup_(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);

	return fd < 0 ? -errno : fd_read_full(fd, ret, size);
}

static const char *why_not(int r)
{
	if (r == -EBADMSG)
		return "a kubelet would not start with it";
	return r == -E2BIG ? "it is too long, or has too many priorities" : strerror(-r);
}

static int read_config(const char *path, struct kubeletconf *ret)
{
	_cleanup_(cleanup_free) char *text = malloc(KUBELETCONF_SIZE_MAX + 1);
	ssize_t size = text ? read_file(path, text, KUBELETCONF_SIZE_MAX + 1) : -ENOMEM;
	int r;

	if (size < 0) {
		say("cannot read the kubelet's configuration %s: %s; --kubelet-config tells where "
		    "it is",
		    path, strerror((int)-size));
		return (int)size;
	}
	r = kubeletconf_read(text, (size_t)size, ret);
	if (r < 0)
		say("cannot use the kubelet's configuration %s: %s", path, why_not(r));
	return r;
}

struct complaint {
	const char *path;
	bool told;
};

/* One line is enough. */
static void on_error(void *userdata, const char *error)
{
	struct complaint *c = userdata;

	if (!c->told)
		say("cannot use the kubelet's configuration %s: %s", c->path, error);
	c->told = true;
}

/* 0, 1 when it was said why not, or -ENOMEM. */
static int read_plan(const char *path, unsigned int minor, struct arena *arena,
		     struct shutplan *ret)
{
	struct complaint complaint = {.path = path};
	struct shutplan_config config;
	struct kubeletconf conf;
	int r;

	if (read_config(path, &conf) < 0)
		return 1;
	config = kubeletconf_plan(&conf, minor);
	if (shutplan_validate(&config, on_error, &complaint) > 0)
		return 1;
	r = shutplan_of_config(&config, shutplan_rules_of(minor), arena, ret);
	if (r < 0)
		return r;
	if (ret->n == 0)
		say("by its configuration %s the kubelet leaves a shutdown to systemd: it has "
		    "neither shutdownGracePeriod nor shutdownGracePeriodByPodPriority",
		    path);
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
	int r = list ? read_plan(config_of(options), rules.minor, &arena, &rules.plan) : -ENOMEM;

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
