/* SPDX-License-Identifier: Apache-2.0 */
/* The options of commands. */
#ifndef APP_CONFIG_OPTIONS_H
#define APP_CONFIG_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buf.h"
#include "core/engine/engine.h"
#include "core/stop/filter.h"
#include "io/sources/kubelet/kubelet.h"
#include "wire/trial/trial.h"

#define OPTIONS_NESTED_MAX  64
#define OPTIONS_ROOTS_MAX   64
#define OPTIONS_HELPERS_MAX 64
#define OPTIONS_NODE_SIZE   256 /* of the node's name */

enum options_command {
	OPTIONS_TRACE,
	OPTIONS_TOP,
	OPTIONS_RUN,
	OPTIONS_AUDIT,
	OPTIONS_PODS,
	OPTIONS_EXPLAIN,
	OPTIONS_PLAN,
	OPTIONS_LOG,
	OPTIONS_WHY,
	OPTIONS_REPORT,
	OPTIONS_RESOLVE,
	OPTIONS_RECORD,
	OPTIONS_REPLAY,
	OPTIONS_WAIT,
	OPTIONS_CHECK,
	OPTIONS_SHUTDOWN,
	OPTIONS_TRY,
	OPTIONS_VERSION,
	OPTIONS_COMMANDS
};

extern const char *const options_commands[OPTIONS_COMMANDS]; /* their names */

/* How graced report prints. */
enum report_format {
	REPORT_TABLE,
	REPORT_JSON,
	REPORT_SVG,
	REPORT_TRACE_EVENT,
	REPORT_OTLP,
};

enum table_color { TABLE_COLOR_AUTO, TABLE_COLOR_ALWAYS, TABLE_COLOR_NEVER };

/* How a command shows its table. */
struct table_options {
	bool wide, no_titles, utc;
	const char *columns, *sort; /* names with commas between; NULL: not given */
	enum table_color color;
};

/* What --help prints before and after the options. */
struct options_help {
	const char *head, *tail;
};

/* A server that lists pods, and how to query it. */
struct sources_peer {
	const char *url; /* NULL: not queried */
	const char *ca, *server_name, *token_file, *client_file;
	uint64_t interval_ns; /* 0: the default */
};

/* Where the sources of metadata are. Strings are borrowed; NULL is the default, or none where there
 * is no default. */
struct sources_options {
	const char *cri_endpoint; /* socket; NULL: searched for; "none": not queried */
	const char *docker_root, *podman_root, *containerd_state;
	const char *kubelet_socket; /* likewise */
	struct sources_peer kubelet, api;
	/* Whose labels are looked for in what Docker keeps. */
	const struct managed_rule *rules;
	size_t n_rules;
};

struct options {
	const char *command; /* its name, for messages */
	enum options_command which;
	bool json, npd; /* npd: one line for node-problem-detector */
	struct table_options table;
	struct filter filter;
	uint64_t count; /* rows to print, 0: no end */

	struct engine_config engine; /* without its lists */
	bool scope_given, grace_given;
	const char *nested[OPTIONS_NESTED_MAX + 1]; /* NULL-ended */
	size_t n_nested;
	const char *roots[OPTIONS_ROOTS_MAX + 1]; /* of containers; likewise */
	size_t n_roots;
	const char *helpers[OPTIONS_HELPERS_MAX + 1]; /* as in struct engine_config */

	uint64_t duration_ns;  /* 0: until a signal comes */
	const char *record;    /* file to write observations to, "-" is stdout; NULL: none */
	const char *node_name; /* NULL: NODE_NAME, then the host name */
	const char *hierarchy;
	size_t ring_bytes;
	const char *log_dir;
	bool no_names;
	struct sources_options sources;
	bool exit_zero;
	unsigned int kubernetes_minor; /* of 1.<minor> */
	const char *job;	       /* file with a Job, "-" is stdin; NULL: none */
	bool watch;
	uint64_t pid;		    /* the process to examine, at most INT32_MAX; 0: containers */
	const char *socket;	    /* of the daemon; NULL: the default */
	bool begin, cancel, status; /* of a shutdown; none of them is the last */
	const char *action;	    /* what the machine is to do then; NULL: not named */
	bool if_node_dies;
	const char *config;	    /* of the daemon; NULL: not read */
	const char *kubelet_config; /* of the kubelet; NULL: the default */
	uint64_t deadline_ns;	    /* until the node ends; 0: not given */
	bool empty, ignore_daemonsets;
	uint64_t timeout_ns;	   /* 0: none */
	const char *pods;	   /* file with pods, "-" is stdin; NULL: none */
	uint64_t monitor_grace_ns; /* in whole seconds; 0: as the version has it */
	bool out_of_service;
	uint64_t taint_after_ns; /* in whole seconds */
	bool taint_after_given;
	bool taint_no_execute; /* unless another effect was given */
	/* A report's; NULL: not given. */
	enum report_format report_format;
	const char *file, *journal_directory, *boot, *since, *until, *endpoint, *endpoint_ca;
	/* A trial's. */
	enum trial_format trial_format;
	const char *ready_log; /* text of its output; NULL: not given */
	uint64_t ready_port;   /* 0: not given */
	uint64_t settle_ns, ready_timeout_ns;
	uint64_t stop_grace_ns; /* 0: not given */
	uint64_t within_ns;	/* 0: not given */
	bool init;		/* put one in front */
	bool makes_own; /* ... what it looks at: other cgroups and processes need not be visible */
	bool no_group_dead;
	bool attach; /* follow no daemon */
	bool running;
	bool debug;

	int first; /* index of the first argument that is no option */
};

/*
 * Parses argv for the command argv[0]; strings point into it. True: go on. False: the command ends
 * with *ret_status, after --help or wrong use (which is logged).
 */
bool options_parse(int argc, char **argv, const struct options_help *help, struct options *ret,
		   int *ret_status);

/*
 * What argv does not give of where this host is looked at (sources of names, the hierarchy, the
 * kubelet's version) becomes what config has; ret and config are the same command's. 0, or the exit
 * status. Strings are borrowed from both.
 */
struct config;
int options_take_sources(int argc, char **argv, struct config *config, struct options *ret);

/* As options_parse() leaves them when no argument is given. Not for run, whose defaults are the
 * configuration's. */
void options_init(struct options *ret, const char *command);

/* Adds the head, the options of a command and the tail. */
void options_add_help(struct buf *out, enum options_command command,
		      const struct options_help *help);

/* What argv gives: settings (indices of the table) in order. The strings are argv's. */
struct options_flag {
	size_t setting;
	const char *value;
};
struct options_flags {
	struct options_flag *given; /* owned */
	size_t n;
	bool help; /* --help: the rest of argv was not read */
	int first; /* index of the first argument that is no option */
};
/* 0, or the exit status after wrong use was logged; options_flags_done() in any case. */
int options_read_flags(int argc, char **argv, enum options_command command,
		       struct options_flags *ret);
void options_flags_done(struct options_flags *flags);

/* How these options query the kubelet or the API server (META_API). node holds the node's name,
 * which the result borrows from it or from o. */
struct source_kubelet_options options_of_lister(const struct options *o, enum meta_source source,
						char node[static OPTIONS_NODE_SIZE]);

/* Whether the kubelet's socket is one to look for. */
bool options_want_kubelet_socket(const struct options *o);

/* Whether the options of the kubelet or of the API server make sense together: NULL, or what does
 * not, in *ret_why. */
const char *options_refuse_lister(const struct options *o, enum meta_source source,
				  struct source_kubelet_why *ret_why);

#endif
