// SPDX-License-Identifier: Apache-2.0
/* Looks at the host's name, sockets, pid namespace and bus. */
#include "io/host.h"

#include <stdio.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <systemd/sd-bus.h>

#include "base/cleanup.h"

/* include/linux/proc_ns.h */
#define INITIAL_PIDNS_INODE 0xEFFFFFFCu

#define BUS_TIMEOUT_US 2000000

DEFINE_CLEANUP(sd_bus *, sd_bus_flush_close_unref);
DEFINE_CLEANUP(sd_bus_message *, sd_bus_message_unref);

void host_kernel(char *ret, size_t size)
{
	struct utsname name;

	if (uname(&name) < 0)
		snprintf(ret, size, "unknown");
	else
		snprintf(ret, size, "%s %s %s", name.sysname, name.release, name.machine);
}

bool host_is_socket(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISSOCK(st.st_mode);
}

bool host_is_dir(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool host_in_initial_pidns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) < 0 || st.st_ino == INITIAL_PIDNS_INODE;
}

int host_has_logind(void)
{
	_cleanup_(cleanup_sd_bus_flush_close_unref) sd_bus *bus = NULL;
	_cleanup_(cleanup_sd_bus_message_unref) sd_bus_message *reply = NULL;
	int r, has;

	r = sd_bus_open_system(&bus);
	if (r < 0)
		return r;
	sd_bus_set_method_call_timeout(bus, BUS_TIMEOUT_US);
	r = sd_bus_call_method(bus, "org.freedesktop.DBus", "/org/freedesktop/DBus",
			       "org.freedesktop.DBus", "NameHasOwner", NULL, &reply, "s",
			       "org.freedesktop.login1");
	if (r < 0)
		return r;
	r = sd_bus_message_read(reply, "b", &has);
	return r < 0 ? r : has;
}
