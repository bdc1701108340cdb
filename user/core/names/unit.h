/* SPDX-License-Identifier: Apache-2.0 */
/* Services of a systemd: which one a cgroup is, and what its properties mean for its stop. */
#ifndef CORE_NAMES_UNIT_H
#define CORE_NAMES_UNIT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/names/meta.h"

/*
 * The service whose own cgroup path is, by its full name as systemctl prints it ("nginx.service",
 * "getty@tty1.service", "a\x2db.service": what is escaped in a name stays so). root is the cgroup
 * of the manager: "" or "/" for the host's. systemd.slice(5), systemd.unit(5); a name that could be
 * taken for a file of the kernel's has a "_" before it in the path (cg_escape in systemd's
 * src/basic/cgroup-util.c).
 *
 * False, with ret untouched, for a slice, a scope, a cgroup of another manager or below a unit (a
 * user's manager has units of its own there, a container runtime anything), for a name that is no
 * unit's, and for one that does not fit.
 */
bool unitname_service(const char *root, const char *path, char ret[static META_NAME_MAX]);

/*
 * The service whose cgroup Podman has split for a container, as a quadlet's is (podman-run(1),
 * --cgroups=split): "web" for "/system.slice/web.service/libpod-payload-<id>", where an escape in
 * the name stays. False, with ret untouched, for any other path.
 */
bool unitname_of_split(const char *path, char ret[static META_NAME_MAX]);

/* Bits of unitfacts.known. */
enum unitfacts_known {
	UNITFACTS_CGROUP = 1 << 0,
	UNITFACTS_KILL_MODE = 1 << 1,
	UNITFACTS_KILL_SIGNAL = 1 << 2,
	UNITFACTS_MAIN_PID = 1 << 3,
	UNITFACTS_SEND_SIGKILL = 1 << 4,
	UNITFACTS_STARTED = 1 << 5,
	UNITFACTS_STOP_TIMEOUT = 1 << 6,
};

/* Properties of org.freedesktop.systemd1.Service as they are provided, true or not. */
struct unitfacts {
	uint32_t known;
	int32_t send_sigkill;	  /* SendSIGKILL: a truth value */
	const char *cgroup;	  /* ControlGroup: "" while there is none */
	const char *kill_mode;	  /* KillMode: "control-group", "mixed", "process", "none" */
	int32_t kill_signal;	  /* KillSignal */
	uint32_t main_pid;	  /* MainPID: 0 while there is none */
	uint64_t started_us;	  /* ExecMainStartTimestamp: 0 when it never was */
	uint64_t stop_timeout_us; /* TimeoutStopUSec: UINT64_MAX for "infinity" */
};

/*
 * Judges what a manager said of the unit that cgroup is named after. META_FOUND fills *ret, which
 * is untouched otherwise. META_ABSENT: it has no such unit (systemd has properties for any name),
 * or the unit is elsewhere. META_FAILED: no answer of a systemd.
 *
 * A unit whose cgroup is gone by now keeps its settings. The grace period is provided only where
 * SIGKILL follows it (SendSIGKILL=, TimeoutStopSec=infinity), and nothing of signals where none is
 * sent (KillMode=none); systemd.kill(5). It begins with the signal: ExecStop= has had one of its
 * own. RestartKillSignal= of a unit that is restarted is not provided.
 */
enum meta_result unitfacts_judge(const struct unitfacts *facts, const char *unit,
				 const char *cgroup, struct meta_container *ret);

#endif
