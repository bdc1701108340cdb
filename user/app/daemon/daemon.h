/* SPDX-License-Identifier: Apache-2.0 */
/* The daemon: a monitor with sinks, metrics, pages and a budget. Everything of `graced run` hangs
 * off struct daemon. */
#ifndef APP_DAEMON_DAEMON_H
#define APP_DAEMON_DAEMON_H

#include "app/api/statuses.h"
#include "app/config/config.h"
#include "app/daemon/bootkeep.h"
#include "app/daemon/checkpoint.h"
#include "app/daemon/costs.h"
#include "app/daemon/events.h"
#include "app/daemon/hearings.h"
#include "app/daemon/inhibitor.h"
#include "app/daemon/pages.h"
#include "app/daemon/recorders.h"
#include "app/daemon/tally.h"
#include "app/live/monitor.h"
#include "io/control/control.h"
#include "io/control/streams.h"
#include "io/http/web.h"

/* Names that a request of the web server may be for. */
struct daemon_hosts {
	char node[256], host[256];
	const char *names[CONFIG_HOSTS_MAX + 2];
	size_t n;
};

struct daemon {
	int argc;
	char **argv;
	struct config config;
	struct monitor *monitor;

	struct recorders *recorders;
	struct buf line;	       /* of the record in hand */
	struct checkpoint *checkpoint; /* NULL: there is none */
	struct bootkeep *boot;	       /* likewise */
	struct history history;
	struct tally tally;
	struct costs *costs;
	struct hearings *hearings; /* NULL: not attached yet */
	struct web *web;
	struct daemon_hosts hosts;
	struct control *control;     /* NULL: there is none */
	struct streams *streams;     /* of those who follow; likewise */
	struct inhibitor *inhibitor; /* NULL: shutdowns are not followed */
	struct inhibitor_lock lock;  /* of systemd's store, until the inhibitor has it */
	struct events *events;	     /* NULL: api.report has none */
	struct statuses *statuses;   /* NULL: nothing is written to the API in a shutdown */
	sd_event_source *minute, *again;

	bool ready, ending;
	bool earlier_unclean; /* the boot before, which the note has, ended uncleanly */
	bool reload_failed;
	struct buf unapplied; /* what of the last configuration read takes a restart */
	int64_t reload_ok_wall_ns;
};

/* Runs the daemon with a configuration, which it owns from then on, until a signal ends it. Logs
 * what goes wrong. The exit status. */
int daemon_run(int argc, char **argv, struct config *config);

#endif
