/* SPDX-License-Identifier: Apache-2.0 */
/* What the files about shutdowns of the node share; nobody else includes this. */
#ifndef APP_DAEMON_INHIBITOR_PRIV_H
#define APP_DAEMON_INHIBITOR_PRIV_H

#include "app/daemon/inhibitor.h"
#include "app/daemon/killer.h"
#include "io/files/watch.h"
#include "io/logind/delay_keep.h"
#include "io/logind/logind.h"
#include "wire/kubernetes/shutdown_state.h"

struct inhibitor {
	struct manager *manager;
	const struct config_shutdown *options;
	struct logind *logind;
	struct delaykeep *delay; /* NULL: logind's limit is left as it is */
	struct killer *killer;	 /* the containers that are being killed */
	struct confwatch *watch; /* NULL: delay watches the kubelet's configuration */
	bool dropped;		 /* our drop-in is removed, and logind has not read that */
	bool up, away;		 /* logind can be asked; it cannot, which is told */
	bool flushing;		 /* the engine waits for all records to be out */
	bool unreachable[2];	 /* what lists pods was, when that was told last; by is_static */
	bool absent[2];		 /* no address of it was ever known; likewise */

	bool was_up;	    /* logind answered once */
	bool kubelet_there; /* it has a configuration */
	bool kubelet_bad;   /* its configuration cannot be used */
	uint64_t need_ns;   /* how long logind has to wait */

	struct shutstate times; /* of the last shutdown, as the file has them */
	uint64_t resumed_ns;	/* when one was announced to an earlier process; 0: none */
};

/* inhibitor_plan.c */

/* Tells the engine what the kubelet will do in a shutdown, by its configuration as it is now. */
void inhibitor_tell_plan(struct inhibitor *inhibitor);

/* inhibitor_delay.c: logind's limit. */

/* In assist it is kept high enough from now on; else a drop-in of ours goes. In both the kubelet's
 * configuration is watched. logind is there. */
void inhibitor_open_delay(struct inhibitor *inhibitor);
void inhibitor_on_limit(void *userdata, uint64_t limit_ns);
void inhibitor_on_reloaded(void *userdata, const char *error);

/* inhibitor_times.c: the state file. One that cannot be used is told in the log. */

void inhibitor_read_times(struct inhibitor *inhibitor);
/* logind prepares for none: what an earlier process heard is over. */
void inhibitor_none_goes_on(struct inhibitor *inhibitor);
/* The lock is let go. */
void inhibitor_note_end(struct inhibitor *inhibitor);

#endif
