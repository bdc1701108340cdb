// SPDX-License-Identifier: Apache-2.0
/* How long logind waits for delay locks: assist has it wait as long as the kubelet and what the
 * kubelet leaves take; whoever does not want that any more takes it back. */
#include <string.h>

#include "app/config/kubelet_file.h"
#include "app/daemon/daemon.h"
#include "app/daemon/inhibitor_priv.h"
#include "app/log/log.h"
#include "io/logind/delay_drop.h"

static void on_kubelet(void *userdata)
{
	struct inhibitor *in = userdata;

	log_info("the kubelet's configuration may have changed");
	inhibitor_tell_plan(in);
	if (in->delay)
		delaykeep_need(in->delay, in->need_ns);
}

static void on_config(void *userdata, size_t index)
{
	on_kubelet(userdata);
}

static const char *kubelet_of(const struct inhibitor *in)
{
	return in->options->kubelet_config ? in->options->kubelet_config : KUBELETFILE_DEFAULT;
}

static void open_watch(struct inhibitor *in)
{
	const char *path = kubelet_of(in);
	const struct confwatch_sink sink = {in, on_config};
	int r = confwatch_new(in->manager->event, &path, 1, &sink, &in->watch);

	if (r < 0)
		log_warning("it will not be seen when the kubelet's configuration changes: %s",
			    strerror(-r));
}

static void open_keeper(struct inhibitor *in)
{
	const struct delaykeep_options options = {.kubelet_config = kubelet_of(in)};
	const struct delaykeep_sink sink = {in, on_kubelet};
	int r = delaykeep_new(in->manager->event, in->logind, &options, &sink, &in->delay);

	if (r < 0)
		log_warning("cannot keep logind's InhibitDelayMaxSec high enough: %s",
			    strerror(-r));
	else
		delaykeep_need(in->delay, in->need_ns);
}

void inhibitor_open_delay(struct inhibitor *in)
{
	if (in->options->mode == SHUTDOWN_ASSIST) {
		open_keeper(in);
	} else {
		in->dropped = inhibitor_remove_drop_in();
		open_watch(in);
	}
}

bool inhibitor_remove_drop_in(void)
{
	int r = delaydrop_remove("");

	if (r < 0)
		log_warning("cannot remove " DELAYDROP_DIR "/" DELAYDROP_NAME ": %s", strerror(-r));
	else if (r > 0)
		log_info(DELAYDROP_DIR "/" DELAYDROP_NAME " is removed: shutdown.mode is not "
				       "assist any more");
	return r > 0;
}

void inhibitor_on_limit(void *userdata, uint64_t limit_ns)
{
	struct inhibitor *in = userdata;

	if (in->delay)
		delaykeep_limit(in->delay, limit_ns);
}

void inhibitor_on_reloaded(void *userdata, const char *error)
{
	struct inhibitor *in = userdata;

	if (in->delay)
		delaykeep_reloaded(in->delay, error);
	if (!in->dropped)
		return;
	in->dropped = false;
	if (error)
		log_warning("logind waits as long as before until it is reloaded: %s", error);
	else
		logind_ask_limit(in->logind);
}
