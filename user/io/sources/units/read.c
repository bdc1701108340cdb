// SPDX-License-Identifier: Apache-2.0
/* Reads a service's properties off a message: the few that matter, if they are of their type. */
#include "io/sources/units/read.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

/* systemd 252 has 330 for a service. */
#define PROPERTIES_MAX 2048

static const struct property {
	const char *name;
	const char *type;
	size_t offset;
	uint32_t bit;
} properties[] = {
	{"ControlGroup", "s", offsetof(struct unitfacts, cgroup), UNITFACTS_CGROUP},
	{"ExecMainStartTimestamp", "t", offsetof(struct unitfacts, started_us), UNITFACTS_STARTED},
	{"KillMode", "s", offsetof(struct unitfacts, kill_mode), UNITFACTS_KILL_MODE},
	{"KillSignal", "i", offsetof(struct unitfacts, kill_signal), UNITFACTS_KILL_SIGNAL},
	{"MainPID", "u", offsetof(struct unitfacts, main_pid), UNITFACTS_MAIN_PID},
	{"SendSIGKILL", "b", offsetof(struct unitfacts, send_sigkill), UNITFACTS_SEND_SIGKILL},
	{"TimeoutStopUSec", "t", offsetof(struct unitfacts, stop_timeout_us),
	 UNITFACTS_STOP_TIMEOUT},
};

static const struct property *find(const char *name)
{
	for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]); i++)
		if (strcmp(properties[i].name, name) == 0)
			return properties + i;
	return NULL;
}

/* A property of another type than it should be is skipped. */
static int read_value(sd_bus_message *m, const struct property *p, struct unitfacts *ret)
{
	const char *type = NULL;
	int r;

	if (!p)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_peek_type(m, NULL, &type);
	if (r <= 0)
		return r < 0 ? r : -EBADMSG;
	if (!type || strcmp(type, p->type) != 0)
		return sd_bus_message_skip(m, "v");
	r = sd_bus_message_read(m, "v", p->type, (char *)ret + p->offset);
	if (r > 0)
		ret->known |= p->bit;
	return r;
}

static int read_entry(sd_bus_message *m, struct unitfacts *ret)
{
	const char *name;
	int r = sd_bus_message_read(m, "s", &name);

	if (r > 0)
		r = read_value(m, find(name), ret);
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	return r;
}

int units_read_facts(sd_bus_message *m, struct unitfacts *ret)
{
	struct unitfacts facts = {};
	int r = sd_bus_message_enter_container(m, 'a', "{sv}");

	if (r == 0)
		return -EBADMSG;
	for (unsigned int n = 0; r >= 0; n++) {
		r = sd_bus_message_enter_container(m, 'e', "sv");
		if (r == 0)
			break;
		if (r > 0)
			r = n < PROPERTIES_MAX ? read_entry(m, &facts) : -EBADMSG;
	}
	if (r >= 0)
		r = sd_bus_message_exit_container(m);
	if (r < 0)
		return r;
	*ret = facts;
	return 0;
}
