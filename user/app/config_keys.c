// SPDX-License-Identifier: Apache-2.0
/* The table of the daemon's settings. */
#include "app/config_priv.h"
#include "app/config_take.h"

/* Sorted as --help shows them: what has no section first, then by section. */
const struct config_setting config_settings[] = {
	{
		.key = "nodeName",
		.argument = "NAME",
		.fallback_is = "NODE_NAME, then the host name",
		.help = "what records call this node",
		.take = config_take_node_name,
	},
	{
		.key = "scope",
		.argument = "SCOPE",
		.fallback = "containers",
		.help = "whose stops are told: pods, containers, services (systemd's, too) or all "
			"(every process that dies of a signal, too)",
		.take = config_take_scope,
	},
	{
		.key = "assumeGrace",
		.argument = "TIME",
		.fallback_is = "none",
		.help = "grace period of stops for which no source tells one",
		.take = config_take_grace,
	},
	{
		.key = "hierarchy",
		.argument = "NAME",
		.fallback_is = "the one that holds containers",
		.help = "cgroup hierarchy of the containers: unified, or a v1 controller",
		.take = config_take_hierarchy,
	},
	{
		.key = "nestedNodes",
		.argument = "PATH",
		.fallback_is = "none",
		.help = "cgroup of a container that is a node of its own (repeatable)",
		.kind = CONFIG_LIST,
		.take = config_take_nested,
	},
	{
		.key = "ringSize",
		.argument = "BYTES",
		.fallback = "2Mi",
		.help = "size of the ring buffer for events, a power of two",
		.take = config_take_ring_size,
	},
	{
		.key = "log.level",
		.argument = "LEVEL",
		.fallback = "info",
		.help = "how much the log on stderr tells: debug, info, warning or error",
		.take = config_take_log_level,
	},
	{
		.key = "log.format",
		.argument = "FORMAT",
		.fallback = "logfmt",
		.help = "logfmt or json",
		.take = config_take_log_format,
	},
	{
		.key = "web.listenAddress",
		.argument = "ADDRESS",
		.fallback = "127.0.0.1:9753",
		.help = "where /metrics is served (repeatable); other hosts reach it only with a "
			"web configuration or --web.insecure",
		.kind = CONFIG_LIST,
		.take = config_take_listen,
	},
	{
		.key = "web.telemetryPath",
		.argument = "PATH",
		.fallback = "/metrics",
		.help = "where the metrics are",
		.take = config_take_telemetry_path,
	},
	{
		.key = "web.configFile",
		.flag = "web.config.file",
		.argument = "FILE",
		.fallback_is = "none",
		.help = "TLS and authentication, as other Prometheus exporters take it",
		.take = config_take_web_config,
	},
	{
		.key = "web.insecure",
		.fallback = "false",
		.help = "serve other hosts without TLS and authentication",
		.kind = CONFIG_BOOL,
		.take = config_take_insecure,
	},
	{
		.key = "names.enabled",
		.fallback = "true",
		.help = "read names of pods and containers from the log directory",
		.kind = CONFIG_BOOL,
		.take = config_take_names,
	},
	{
		.key = "names.logDirectory",
		.argument = "DIR",
		.fallback = "/var/log",
		.help = "where the host's pods/ and containers/ are",
		.take = config_take_log_directory,
	},
	{
		.key = "sinks.stdout",
		.fallback = "false",
		.help = "records to standard output, as JSON lines",
		.kind = CONFIG_BOOL,
		.take = config_take_stdout,
	},
	{
		.key = "sinks.file",
		.argument = "FILE",
		.fallback_is = "none",
		.help = "records to this file, too; SIGHUP opens it anew",
		.take = config_take_file,
	},
	{
		.key = "sinks.journal",
		.argument = "WHEN",
		.fallback = "auto",
		.help = "records to the journal: true, false or auto (where journald listens)",
		.take = config_take_journal,
	},
	{
		.key = "sinks.signals",
		.fallback = "false",
		.help = "a record for each stop signal and SIGKILL, too",
		.kind = CONFIG_BOOL,
		.take = config_take_signals,
	},
	{
		.key = "metrics.maxSeries",
		.argument = "N",
		.fallback = "2000",
		.help = "series of containers kept at most; what is beyond goes into one of overflow",
		.kind = CONFIG_NUMBER,
		.take = config_take_max_series,
	},
	{
		.key = "metrics.maxAge",
		.argument = "TIME",
		.fallback = "1h",
		.help = "how long a series outlives what it is about",
		.take = config_take_max_age,
	},
	{
		.key = "budget.cpu",
		.argument = "SHARE",
		.fallback = "2%",
		.help = "of one CPU; above it what is least needed is shed; off: no budget",
		.take = config_take_budget,
	},
};

const size_t config_n_settings = sizeof(config_settings) / sizeof(*config_settings);

_Static_assert(sizeof(config_settings) / sizeof(*config_settings) <= CONFIG_SETTINGS,
	       "the loader has room for each setting");
