// SPDX-License-Identifier: Apache-2.0
/* Compares what is stopped with the units in which a kubelet runs, and with its configuration. */
#include "app/config/manage.h"

#include <errno.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"

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

	if (kubeletfile_plan(file, &arena, &plan, &why) == -ENOENT)
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
