// SPDX-License-Identifier: Apache-2.0
/* How the settings of a node's shutdown take their values. */
#include <string.h>

#include "app/config/take.h"
#include "base/duration.h"
#include "base/time.h"

#define WAIT_MAX (600 * NS_PER_S)

static const char *take_wait(uint64_t *ret, const char *value)
{
	uint64_t ns;

	if (duration_parse(value, &ns) < 0 || ns > WAIT_MAX)
		return "a duration like 5s, at most 10m";
	*ret = ns;
	return NULL;
}

const char *config_take_shutdown_mode(struct config *c, const char *value, size_t index)
{
	c->shutdown.off = strcmp(value, "off") == 0;
	if (c->shutdown.off || shutdown_mode_parse(value, &c->shutdown.mode) == 0)
		return NULL;
	return "observe, assist or off";
}

const char *config_take_shutdown_kubelet(struct config *c, const char *value, size_t index)
{
	c->shutdown.kubelet_config = value;
	return options_want_path(value);
}

const char *config_take_shutdown_version(struct config *c, const char *value, size_t index)
{
	return options_take_kubernetes(value, &c->shutdown.kubelet_minor);
}

const char *config_take_shutdown_extra(struct config *c, const char *value, size_t index)
{
	return take_wait(&c->shutdown.extra_ns, value);
}

const char *config_take_overdue_slack(struct config *c, const char *value, size_t index)
{
	return take_wait(&c->shutdown.overdue_slack_ns, value);
}

const char *config_take_status_wait(struct config *c, const char *value, size_t index)
{
	return take_wait(&c->shutdown.status_wait_ns, value);
}

const char *config_take_deaf_grace(struct config *c, const char *value, size_t index)
{
	if (strcmp(value, "off") == 0) {
		c->shutdown.deaf_grace_ns = 0;
		return NULL;
	}
	return take_wait(&c->shutdown.deaf_grace_ns, value) ? "a duration like 2s, or off" : NULL;
}
