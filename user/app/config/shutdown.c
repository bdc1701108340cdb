// SPDX-License-Identifier: Apache-2.0
/* Reads the kubelet's file, which wire/kubernetes/kubelet_files takes apart, judges graced's own
 * groups by the kubelet's rules (core/shutdown/plan), and chooses between both. */
#include "app/config/shutdown.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "wire/kubernetes/kubelet_files.h"

/* --- the kubelet's file ----------------------------------------------------------------------- */

static void add_error(void *userdata, const char *error)
{
	struct buf *errors = userdata;

	buf_printf(errors, "%s%s", errors->len ? "; " : "", error);
}

static int __attribute__((format(printf, 3, 4)))
refuse(struct kubeletfile_why *why, int error, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(why->text, sizeof(why->text), format, args);
	va_end(args);
	return error;
}

/* Reads at most one byte more than the limit, so that the parser sees an excess. */
static int read_any(const char *path, struct buf *ret, struct kubeletfile_why *why)
{
	_cleanup_(cleanup_close) int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *to = buf_reserve(ret, KUBELETCONF_SIZE_MAX + 1);
	ssize_t n = fd < 0 ? -errno : to ? 0 : -ENOMEM;

	if (n == 0)
		n = fd_read_full(fd, to, KUBELETCONF_SIZE_MAX + 1);
	if (n < 0)
		return refuse(why, (int)n, "cannot open %s: %s", path, strerror((int)-n));
	buf_commit(ret, (size_t)n);
	return 0;
}

/* Who can write it, or lead it elsewhere, decides how long logind waits. */
static int read_trusted(const char *path, struct buf *ret, struct kubeletfile_why *why)
{
	struct trusted_why trusted;
	struct stat st;
	int r = 0;

	if (lstat(path, &st) == 0 && S_ISLNK(st.st_mode))
		r = trusted_way(path);
	if (r == -EPERM)
		return refuse(
			why, r,
			"%s: it is a link, and others than root may write on the way it leads",
			path);
	if (r < 0)
		return refuse(why, r, "%s: it is a link: %s", path, strerror(-r));
	r = trusted_read(path, false, KUBELETCONF_SIZE_MAX, ret, &trusted);
	return r < 0 ? refuse(why, r, "%s", trusted.text) : 0;
}

static int judge(const struct kubeletfile *file, const char *path, const struct buf *text,
		 struct arena *arena, struct shutplan *ret, struct kubeletfile_why *why)
{
	_cleanup_(buf_free) struct buf errors = {};
	struct kubeletconf_why wrong;
	struct shutplan_config config;
	struct kubeletconf conf;
	int r = kubeletconf_read(buf_str(text), text->len, &conf, &wrong);

	if (r < 0)
		return refuse(why, r, "%s: %s", path, wrong.text);
	config = kubeletconf_plan(&conf, file->minor);
	if (shutplan_validate(&config, add_error, &errors) > 0)
		return refuse(why, -EBADMSG, "%s: a kubelet would not start with it: %s", path,
			      buf_str(&errors));
	r = shutplan_of_config(&config, shutplan_rules_of(file->minor), arena, ret);
	return r < 0 ? refuse(why, r, "%s: %s", path, strerror(-r)) : 0;
}

bool kubeletfile_is_there(const struct kubeletfile *file)
{
	struct stat st;

	return file->path || lstat(KUBELETFILE_DEFAULT, &st) == 0 || errno != ENOENT;
}

/* What a kubelet with that file does in a shutdown. As groups_plan(). */
static int plan_of_file(const struct kubeletfile *file, struct arena *arena, struct shutplan *ret,
			struct kubeletfile_why *ret_why)
{
	const char *path = file->path ? file->path : KUBELETFILE_DEFAULT;
	_cleanup_(buf_free) struct buf text = {};
	struct shutplan plan = {.rules = shutplan_rules_of(file->minor)};
	int r;

	*ret = plan;
	if (!kubeletfile_is_there(file))
		return 0;
	r = file->any_writer ? read_any(path, &text, ret_why) : read_trusted(path, &text, ret_why);
	if (r == 0)
		r = judge(file, path, &text, arena, &plan, ret_why);
	if (r == 0)
		*ret = plan;
	return r;
}

/* --- groups ----------------------------------------------------------------------------------- */

static struct shutplan_config config_of(const struct config_groups *groups)
{
	return (struct shutplan_config){
		.gate = true,
		.priority_gate = true,
		.total_ns = (int64_t)groups->total_ns,
		.critical_ns = (int64_t)groups->critical_ns,
		.list = groups->list,
		.n_list = groups->n_list,
	};
}

bool groups_refuse(const struct config_groups *groups, struct buf *ret_why)
{
	const struct shutplan_config config = config_of(groups);

	return shutplan_validate(&config, add_error, ret_why) > 0;
}

bool groups_are_given(const struct config_groups *groups)
{
	return groups->total_ns || groups->critical_ns || groups->n_list;
}

bool groups_are_own(const struct config_shutdown *options)
{
	return config_manages(options) && groups_are_given(&options->groups);
}

int groups_plan(const struct config_shutdown *options, const struct kubeletfile *file,
		struct arena *arena, struct shutplan *ret, struct kubeletfile_why *ret_why)
{
	const struct shutplan_config config = config_of(&options->groups);
	int r;

	if (!groups_are_own(options))
		return plan_of_file(file, arena, ret, ret_why);
	r = shutplan_of_config(&config, SHUTPLAN_RANGES, arena, ret);
	if (r < 0)
		snprintf(ret_why->text, sizeof(ret_why->text), "%s", strerror(-r));
	return r;
}

/* A kubelet that does nothing in a shutdown needs no time in it. Where graced has no groups, each
 * container has its own grace period, which is the API's default as a rule. */
uint64_t groups_need_ns(const struct config_shutdown *options, const struct shutplan *plan)
{
	uint64_t need_ns = shutplan_requested_ns(plan), sum;

	if (config_manages(options) && plan->n == 0)
		need_ns = SHUTPLAN_GRACE_DEFAULT_S * NS_PER_S;
	if (!need_ns || options->mode == SHUTDOWN_OBSERVE)
		return need_ns;
	return __builtin_add_overflow(need_ns, options->extra_ns, &sum) ? UINT64_MAX : sum;
}

/* --- what is likely to go wrong --------------------------------------------------------------- */

/* The first of the units that are stopped; NULL: none is a kubelet's. */
static const char *find_kubelet(const char *const *units)
{
	for (; *units; units++)
		for (const char *const *kubelet = managed_kubelet_units; *kubelet; kubelet++)
			if (strcmp(*units, *kubelet) == 0)
				return *units;
	return NULL;
}

static void warn_of_status(const char *unit, manage_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};

	buf_printf(
		&text,
		"nothing writes the status of pods while %s is stopped (shutdown.stopUnits): the "
		"API shows those that were stopped as they were before; see api.report",
		unit);
	fn(userdata, MANAGE_POD_STATUS, buf_str(&text));
}

/* One whose configuration cannot be used may run all the same. */
static void warn_of_kubelet(const struct kubeletfile *file, manage_fn fn, void *userdata)
{
	const char *path = file->path ? file->path : KUBELETFILE_DEFAULT;
	_cleanup_(arena_free) struct arena arena = {};
	_cleanup_(buf_free) struct buf text = {};
	struct kubeletfile_why why;
	struct shutplan plan;

	if (plan_of_file(file, &arena, &plan, &why) == -ENOENT)
		return;
	if (plan.n > 0)
		buf_printf(&text,
			   "the kubelet stops pods, too: %s has shutdown grace periods, and "
			   "shutdown.stopUnits does not have its unit; use shutdown.mode assist",
			   path);
	else
		buf_printf(
			&text,
			"a kubelet starts containers again that were stopped: there is %s, and "
			"shutdown.stopUnits does not have its unit; add it, like kubelet.service",
			path);
	fn(userdata, MANAGE_KUBELET_UNIT, buf_str(&text));
}

void manage_warn(const struct config_shutdown *options, const struct kubeletfile *file,
		 manage_fn fn, void *userdata)
{
	const char *unit = find_kubelet(options->stop_units);

	if (!config_manages(options))
		return;
	if (unit && !options->statuses)
		warn_of_status(unit, fn, userdata);
	else if (unit)
		return;
	else if (kubeletfile_is_there(file))
		warn_of_kubelet(file, fn, userdata);
}

bool manage_stops_kubelet(const struct config_shutdown *options)
{
	return find_kubelet(options->stop_units) != NULL;
}

void manage_warn_of_writing(const struct config_shutdown *o, manage_fn fn, void *userdata)
{
	bool acts = !o->off && o->mode != SHUTDOWN_OBSERVE;
	bool kubelet_runs = o->mode == SHUTDOWN_MANAGE && !manage_stops_kubelet(o);

	if (o->statuses && !acts)
		fn(userdata, "api.report: status",
		   "has no effect: shutdown.mode is neither assist nor manage");
	else if (o->statuses && kubelet_runs)
		fn(userdata, "api.report: status",
		   "has no effect: shutdown.stopUnits does not have the kubelet's unit");
	if (o->taint && !acts)
		fn(userdata, "shutdown.outOfServiceTaint",
		   "is not set in a shutdown: shutdown.mode is neither assist nor manage");
	else if (o->taint && !o->volumes)
		fn(userdata, "shutdown.outOfServiceTaint",
		   "is not set in a shutdown: shutdown.volumes is off");
	else if (o->taint && kubelet_runs)
		fn(userdata, "shutdown.outOfServiceTaint",
		   "is not set in a shutdown: shutdown.stopUnits does not have the kubelet's unit");
}
