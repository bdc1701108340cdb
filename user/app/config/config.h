/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration of the daemon. Every setting has one dotted key (web.listenAddress), a flag
 * made of it (--web.listen-address) and an environment variable (GRACED_WEB_LISTEN_ADDRESS); a flag
 * beats the environment, which beats the file, which beats the default.
 */
#ifndef APP_CONFIG_CONFIG_H
#define APP_CONFIG_CONFIG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "app/config/options.h"
#include "app/config/web_file.h"
#include "base/buf.h"
#include "core/facts/observation.h"
#include "core/shutdown/plan.h"

#define CONFIG_LISTEN_MAX 16
#define CONFIG_HOSTS_MAX  32
#define CONFIG_SETTINGS	  160 /* rows of the table at most */
#define CONFIG_UNITS_MAX  32  /* of shutdown.stopUnits */

enum config_journal { CONFIG_JOURNAL_AUTO, CONFIG_JOURNAL_OFF, CONFIG_JOURNAL_ON };

/* graced's own groups of a shutdown; what is not given is 0. */
struct config_groups {
	uint64_t total_ns;    /* shutdown.gracePeriod */
	uint64_t critical_ns; /* shutdown.gracePeriodCriticalPods */
	struct shutplan_range list[OBS_RANGES_MAX];
	size_t n_list;
};

/* Shutdowns of the node. Strings are borrowed. */
struct config_shutdown {
	bool off;     /* they are not followed */
	bool control; /* one may be begun and cancelled over the control socket */
	enum shutdown_mode mode;
	const char *kubelet_config; /* its file; NULL: where it is by default */
	unsigned int kubelet_minor; /* of its version */
	const char *kubelet_root;   /* its root directory */
	bool volumes;		    /* assist and manage wait until they are unmounted */
	uint64_t overdue_slack_ns, status_wait_ns, deaf_grace_ns;
	const char *stop_units[CONFIG_UNITS_MAX + 1];	/* manage: before all else; NULL-ended */
	struct config_groups groups;			/* manage */
	struct managed_rule managed[MANAGED_RULES_MAX]; /* manage, too */
	size_t n_managed;
	bool skip_hooks;    /* manage: preStop hooks are not run */
	bool statuses;	    /* api.report: assist and manage write the last status of pods */
	bool unschedulable; /* api.report: manage taints the node in a shutdown */
	bool taint;	    /* they set the out-of-service taint where the node is proven dead */
	uint64_t extra_ns;  /* assist, manage: how long logind is to wait beyond the groups */
};

/* graced stops containers itself. */
static inline bool config_manages(const struct config_shutdown *shutdown)
{
	return !shutdown->off && shutdown->mode == SHUTDOWN_MANAGE;
}

struct config {
	struct options
		options;  /* scope, grace, nested nodes, roots, hierarchy, ring, names, debug */
	const char *file; /* --config; NULL: none */
	bool check;	  /* --config.check: say whether it is right, and end */

	int log_level; /* as syslog(3) numbers them, LOG_INFO by default */
	bool log_json; /* logfmt by default */

	const char *listen[CONFIG_LISTEN_MAX]; /* address:port, [address]:port or :port */
	size_t n_listen;
	const char *hosts[CONFIG_HOSTS_MAX]; /* names that requests may be for, besides its own */
	size_t n_hosts;
	const char *telemetry_path;  /* /metrics */
	const char *web_config_file; /* TLS and authentication; NULL: none */
	struct webfile *webfile;     /* what is in it */
	bool web_insecure;	     /* off loopback without either */

	const char *control_socket; /* its path; "none"; NULL: where it is by default */

	const char *checkpoint_file; /* its path; "none"; NULL: where it is by default */

	bool report_events; /* api.report */

	struct config_shutdown shutdown; /* observe, as the newest kubelet does it */

	bool sink_stdout;		  /* JSON lines to standard output */
	const char *sink_file;		  /* and to this file, opened anew on SIGHUP; NULL: none */
	uint64_t sink_file_size;	  /* at which it begins anew; 0: never */
	bool sink_signals;		  /* signal records, too, and not the stops alone */
	enum config_journal sink_journal; /* AUTO: where journald listens */

	uint64_t max_series; /* time series exposed at most, 10000 */
	uint64_t max_age_ns; /* an hour: how long a series outlives what it is about */
	uint32_t budget_ppm; /* budget.cpu, of one CPU: 20000 is 2 %; 0: no budget */

	const char *given[CONFIG_SETTINGS]; /* values as they were given, a list's with commas */

	void *store; /* owns the strings */
};

/*
 * From argv, the environment and the file. True: go on; config_done() frees. False: the command
 * ends with *ret_status, after --help, --config.check, wrong use (2) or a wrong file (1), all of
 * which are logged.
 */
bool config_load(int argc, char **argv, struct config *ret, int *ret_status);

/* The defaults and that file (NULL: none), for a command that is named in messages: 0, or the exit
 * status after what is wrong was logged. */
int config_read(const char *command, const char *file, struct config *ret);

/* Gives a setting another value, in the form of given[]. False: it takes no such value, or memory
 * is out; the setting may be half changed then. */
bool config_set(struct config *config, const char *key, const char *value);

/* Again with the same argv, for SIGHUP: 0, or -EINVAL when the file is wrong, which is logged. */
int config_reload(int argc, char **argv, struct config *ret);

/*
 * What of next takes a restart, seen from what is at work: its keys with commas between them, and
 * each with its value. Errors stick in each.
 */
void config_compare(const struct config *now, const struct config *next, struct buf *ret_keys,
		    struct buf *ret_values);

void config_done(struct config *config);

#endif
