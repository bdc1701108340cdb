// SPDX-License-Identifier: Apache-2.0
/* The table of the daemon's settings: their names, and how one takes a value. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/config/priv.h"
#include "app/config/take.h"
#include "base/cleanup.h"
#include "base/nearest.h"

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
		.key = "containerRoots",
		.argument = "PATH",
		.fallback_is = "all that root made, but not below /user.slice",
		.help = "look for containers below this cgroup alone, and there also for those "
			"that others than root made (repeatable)",
		.kind = CONFIG_LIST,
		.take = config_take_roots,
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
		.key = "control.socket",
		.argument = "SOCKET",
		.fallback_is = "control.sock in RUNTIME_DIRECTORY or /run/graced",
		.help = "where graced pods asks, in a directory that nobody else enters; or none",
		.take = config_take_control_socket,
	},
	{
		.key = "names.enabled",
		.fallback = "true",
		.help = "ask for names, grace periods and stop signals: false asks no source at all",
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
		.key = "names.wait",
		.argument = "TIME",
		.fallback = "250ms",
		.help = "how long a stop that is over waits for its names before it is told",
		.take = config_take_name_wait,
	},
	{
		.key = "names.dockerRoot",
		.argument = "DIR",
		.fallback = "/var/lib/docker",
		.help = "where Docker keeps its containers' settings",
		.take = config_take_docker_root,
	},
	{
		.key = "names.podmanRoot",
		.argument = "DIR",
		.fallback = "/var/lib/containers/storage",
		.help = "where Podman keeps its containers' settings",
		.take = config_take_podman_root,
	},
	{
		.key = "names.containerdState",
		.argument = "DIR",
		.fallback = "/run/containerd",
		.help = "where containerd keeps what runs outside Kubernetes",
		.take = config_take_containerd_state,
	},
	{
		.key = "cri.endpoint",
		.argument = "SOCKET",
		.fallback_is = "found by itself",
		.help = "the container runtime's socket, or none: names, stop signals, exits",
		.take = config_take_cri_endpoint,
	},
	{
		.key = "kubelet.url",
		.argument = "URL",
		.fallback_is = "none",
		.help = "the kubelet's API, like https://127.0.0.1:10250: grace periods, deletions",
		.take = config_take_kubelet_url,
	},
	{
		.key = "kubelet.ca",
		.argument = "FILE",
		.fallback_is = "none",
		.help = "certificates that vouch for the kubelet's; https needs them",
		.take = config_take_kubelet_ca,
	},
	{
		.key = "kubelet.serverName",
		.argument = "NAME",
		.fallback_is = "the URL's host",
		.help = "whom the kubelet's certificate must name",
		.take = config_take_kubelet_server_name,
	},
	{
		.key = "kubelet.tokenFile",
		.argument = "FILE",
		.fallback_is = "none",
		.help = "a service account's token, read for each request, sent by https only",
		.take = config_take_kubelet_token_file,
	},
	{
		.key = "kubelet.interval",
		.argument = "TIME",
		.fallback = "30s",
		.help = "how often all pods are read; a stop has them read at once",
		.take = config_take_kubelet_interval,
	},
	{
		.key = "api.url",
		.argument = "URL",
		.fallback_is = "none",
		.help = "the API server, like https://10.96.0.1:443: which pods are wanted here",
		.take = config_take_api_url,
	},
	{
		.key = "api.ca",
		.argument = "FILE",
		.fallback_is = "none",
		.help = "certificates that vouch for the API server's; https needs them",
		.take = config_take_api_ca,
	},
	{
		.key = "api.serverName",
		.argument = "NAME",
		.fallback_is = "the URL's host",
		.help = "whom the API server's certificate must name",
		.take = config_take_api_server_name,
	},
	{
		.key = "api.tokenFile",
		.argument = "FILE",
		.fallback_is = "none",
		.help = "a service account's token, read for each request, sent by https only",
		.take = config_take_api_token_file,
	},
	{
		.key = "api.clientFile",
		.argument = "FILE",
		.fallback_is = "none",
		.help = "a client certificate with its key, in place of a token, as the kubelet's",
		.take = config_take_api_client_file,
	},
	{
		.key = "api.interval",
		.argument = "TIME",
		.fallback = "30s",
		.help = "how often the node's pods are read; a stop has them read at once",
		.take = config_take_api_interval,
	},
	{
		.key = "checkpoint.file",
		.argument = "FILE",
		.fallback_is = "checkpoint in RUNTIME_DIRECTORY or /run/graced",
		.help = "what a restart goes on from; or none",
		.take = config_take_checkpoint_file,
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
		.key = "shutdown.mode",
		.argument = "MODE",
		.fallback = "observe",
		.help = "in a shutdown of the node: observe (record, change nothing), assist (hold "
			"logind until pods have ended, end what is overdue) or off",
		.take = config_take_shutdown_mode,
	},
	{
		.key = "shutdown.kubeletConfig",
		.argument = "FILE",
		.fallback_is = "/var/lib/kubelet/config.yaml, if it is there",
		.help = "the kubelet's configuration: its periods for a shutdown",
		.take = config_take_shutdown_kubelet,
	},
	{
		.key = "shutdown.kubeletVersion",
		.argument = "VERSION",
		.fallback = "1.36",
		.help = "whose rules it follows; before 1.23 critical pods end at a fixed time",
		.take = config_take_shutdown_version,
	},
	{
		.key = "shutdown.extra",
		.argument = "TIME",
		.fallback = "10s",
		.help = "what logind is to wait in assist beyond the kubelet's periods",
		.take = config_take_shutdown_extra,
	},
	{
		.key = "shutdown.overdueSlack",
		.argument = "TIME",
		.fallback = "2s",
		.help = "how long after a container's time assist waits for its SIGKILL",
		.take = config_take_overdue_slack,
	},
	{
		.key = "shutdown.statusWait",
		.argument = "TIME",
		.fallback = "0s",
		.help = "how long assist waits for the status of ended pods; 0s: up to the limit",
		.take = config_take_status_wait,
	},
	{
		.key = "shutdown.deafGrace",
		.argument = "TIME",
		.fallback_is = "off",
		.help = "when assist ends a container whose PID 1 cannot hear its stop signal",
		.take = config_take_deaf_grace,
	},
	{
		.key = "metrics.maxSeries",
		.argument = "N",
		.fallback = "10000",
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

/* The strings of a configuration. */
struct store {
	struct store *next;
	char text[];
};

const char *config_store(struct config *config, const char *text)
{
	size_t size = strlen(text) + 1;
	struct store *item = malloc(sizeof(*item) + size);

	if (!item)
		return NULL;
	memcpy(item->text, text, size);
	item->next = config->store;
	config->store = item;
	return item->text;
}

void config_done(struct config *config)
{
	struct store *next;

	for (struct store *item = config->store; item; item = next) {
		next = item->next;
		free(item);
	}
	webfile_free(config->webfile);
	memset(config, 0, sizeof(*config));
}

const char *config_flag_name(const struct config_setting *setting, char ret[CONFIG_NAME_SIZE])
{
	const char *from = setting->flag ? setting->flag : setting->key;
	size_t n = 0;

	for (; *from && n + 2 < CONFIG_NAME_SIZE; from++) {
		if (isupper((unsigned char)*from))
			ret[n++] = '-';
		ret[n++] = (char)tolower((unsigned char)*from);
	}
	ret[n] = '\0';
	return ret;
}

const char *config_variable_name(const struct config_setting *setting, char ret[CONFIG_NAME_SIZE])
{
	char flag[CONFIG_NAME_SIZE];

	snprintf(ret, CONFIG_NAME_SIZE, "GRACED_%.*s", CONFIG_NAME_SIZE - 8,
		 config_flag_name(setting, flag));
	for (char *at = ret; *at; at++)
		*at = *at == '.' || *at == '-' ? '_' : (char)toupper((unsigned char)*at);
	return ret;
}

static bool keep_given(struct config *config, size_t setting, const char *own, size_t index)
{
	_cleanup_(buf_free) struct buf list = {};
	const char **given = &config->given[setting];

	if (index == 0) {
		*given = own;
	} else {
		buf_printf(&list, "%s,%s", *given, own);
		*given = buf_error(&list) ? NULL : config_store(config, buf_str(&list));
	}
	return *given;
}

const char *config_take(struct config_loader *loader, size_t setting, const char *value,
			size_t index, enum config_source source)
{
	const char *own = config_store(&loader->config, value);

	if (!own || !keep_given(&loader->config, setting, own, index))
		return "memory";
	loader->sources[setting] = source;
	return config_settings[setting].take(&loader->config, own, index);
}

size_t config_find(const char *key)
{
	size_t i = 0;

	while (i < config_n_settings && strcmp(config_settings[i].key, key) != 0)
		i++;
	return i;
}

const struct config_setting *config_near_key(const char *word)
{
	const char *keys[CONFIG_SETTINGS] = {};
	size_t at;

	for (size_t i = 0; i < config_n_settings; i++)
		keys[i] = config_settings[i].key;
	at = nearest_find(word, keys, config_n_settings);
	return at < config_n_settings ? &config_settings[at] : NULL;
}
