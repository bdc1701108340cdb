// SPDX-License-Identifier: Apache-2.0
/* The table of settings, and how each takes a value. */
#include "app/config/settings.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "app/config/kubelet_file.h"
#include "app/config/values.h"
#include "base/duration.h"
#include "base/time.h"

#define WAIT_MAX (600 * NS_PER_S)

#define WANT_WAIT     "a duration like 5s, at most 10m"
#define WANT_INTERVAL "a duration like 30s, at least 1s"

/* A setting's place in the daemon's configuration, and that of an option, which commands have. */
#define DAEMON(member) offsetof(struct config, member)
#define OPTION(member) offsetof(struct config, options.member)

_Static_assert(offsetof(struct config, options) == 0, "options begin the configuration");

enum {
	TRACE = 1u << OPTIONS_TRACE,
	RUN = 1u << OPTIONS_RUN,
	AUDIT = 1u << OPTIONS_AUDIT,
	PODS = 1u << OPTIONS_PODS,
	EXPLAIN = 1u << OPTIONS_EXPLAIN,
	PLAN = 1u << OPTIONS_PLAN,
	RESOLVE = 1u << OPTIONS_RESOLVE,
	RECORD = 1u << OPTIONS_RECORD,
	REPLAY = 1u << OPTIONS_REPLAY,
	WAIT = 1u << OPTIONS_WAIT,
	CHECK = 1u << OPTIONS_CHECK,
	SHUTDOWN = 1u << OPTIONS_SHUTDOWN,
	ALL = (1u << OPTIONS_COMMANDS) - 1,
	/* Commands that query sources of names on this host, apart from the daemon. */
	SOURCES = TRACE | RECORD | AUDIT | RESOLVE | WAIT | CHECK,
};

/* In the order of --help: what has no section first, then by section. Options of commands alone
 * come before settings of the daemon. */
const struct setting settings[] = {
	{.flag = "output",
	 .letter = 'o',
	 .argument = "table|json",
	 .fallback = "table",
	 .help = "print a table for people, or one JSON object per line",
	 .commands = ALL & ~(RUN | RECORD | WAIT),
	 .take = value_output},
	{.flag = "namespace",
	 .letter = 'n',
	 .argument = "NAME",
	 .help = "show only pods of this namespace",
	 .commands = TRACE | REPLAY | AUDIT | PODS,
	 .type = SETTING_TEXT,
	 .place = OPTION(filter.namespace_)},
	{.flag = "pod",
	 .letter = 'p',
	 .argument = "NAME",
	 .help = "show only this pod, by its name or the beginning of its uid",
	 .commands = TRACE | REPLAY | AUDIT | PODS,
	 .type = SETTING_TEXT,
	 .place = OPTION(filter.pod)},
	{.flag = "container",
	 .letter = 'c',
	 .argument = "NAME",
	 .help = "show only this container, by its name or the beginning of its id",
	 .commands = TRACE | REPLAY | AUDIT,
	 .type = SETTING_TEXT,
	 .place = OPTION(filter.container)},
	{.flag = "signal",
	 .letter = 's',
	 .argument = "SIG[,SIG]",
	 .help = "show only stops with one of these signals",
	 .commands = TRACE | REPLAY,
	 .take = value_signal},
	{.flag = "signal",
	 .letter = 's',
	 .argument = "SIG",
	 .fallback_is = "each container's own, SIGTERM where it is unknown",
	 .help = "examine how containers take this stop signal",
	 .commands = AUDIT,
	 .take = value_signal},
	{.flag = "sender",
	 .argument = "COMM",
	 .help = "show only what a process of this name sent",
	 .commands = TRACE | REPLAY,
	 .take = value_sender},
	{.flag = "outcome",
	 .argument = "OUTCOME",
	 .help = "show only this outcome: " VALUE_OUTCOMES,
	 .commands = TRACE | REPLAY,
	 .take = value_outcome},
	{.flag = "signals",
	 .help = "show a row for each stop signal and SIGKILL, too",
	 .commands = TRACE | REPLAY,
	 .type = SETTING_FLAG,
	 .place = OPTION(filter.signals)},
	{.flag = "count",
	 .argument = "N",
	 .help = "end after N rows",
	 .commands = TRACE | REPLAY,
	 .type = SETTING_COUNT,
	 .place = OPTION(count),
	 .min = 1,
	 .wants = "a number above 0"},
	{.flag = "duration",
	 .argument = "TIME",
	 .help = "end after this time, like 10s",
	 .commands = TRACE | RECORD,
	 .type = SETTING_DURATION,
	 .place = OPTION(duration_ns),
	 .min = 1,
	 .wants = "a duration like 10s"},
	{.flag = "record",
	 .argument = "FILE",
	 .help = "write the observations to FILE, too",
	 .commands = TRACE,
	 .type = SETTING_FILE,
	 .place = OPTION(record)},
	{.flag = "exit-zero",
	 .help = "exit with status 0 also when a container would not react to the signal",
	 .commands = AUDIT,
	 .type = SETTING_FLAG,
	 .place = OPTION(exit_zero)},
	{.flag = "watch",
	 .help = "keep running: draw the table anew each second or, if the output is no terminal, "
		 "print what is new, changed or gone",
	 .commands = PODS,
	 .type = SETTING_FLAG,
	 .place = OPTION(watch)},
	{.flag = "begin",
	 .help = "begin a shutdown: containers are stopped as if the machine went down",
	 .commands = SHUTDOWN,
	 .type = SETTING_FLAG,
	 .place = OPTION(begin)},
	{.flag = "cancel",
	 .help = "cancel one that was begun so",
	 .commands = SHUTDOWN,
	 .type = SETTING_FLAG,
	 .place = OPTION(cancel)},
	{.flag = "status",
	 .help = "print how it is with a shutdown, as without options",
	 .commands = SHUTDOWN,
	 .type = SETTING_FLAG,
	 .place = OPTION(status)},
	{.flag = "type",
	 .argument = "ACTION",
	 .help = "with --begin: what the machine is to do then, for the records: power-off, reboot, "
		 "halt, kexec or soft-reboot",
	 .commands = SHUTDOWN,
	 .type = SETTING_TEXT,
	 .place = OPTION(action)},
	{.flag = "job",
	 .argument = "FILE",
	 .help = "read the pod's Job, to say which rule of its podFailurePolicy matches",
	 .commands = EXPLAIN,
	 .type = SETTING_FILE,
	 .place = OPTION(job)},
	{.flag = "empty",
	 .help = "wait until no container of this node has a process",
	 .commands = WAIT,
	 .type = SETTING_FLAG,
	 .place = OPTION(empty)},
	{.flag = "timeout",
	 .argument = "TIME",
	 .fallback_is = "none",
	 .help = "give up after this time, like 5m, with exit status 1",
	 .commands = WAIT,
	 .type = SETTING_DURATION,
	 .place = OPTION(timeout_ns),
	 .min = 1,
	 .wants = "a duration like 5m"},
	{.flag = "ignore-daemonsets",
	 .help = "do not wait for what kubectl drain --ignore-daemonsets leaves: static pods, and "
		 "those of --pods that a DaemonSet controls",
	 .commands = WAIT,
	 .type = SETTING_FLAG,
	 .place = OPTION(ignore_daemonsets)},
	{.flag = "pods",
	 .argument = "FILE",
	 .help = "read the node's pods: kubectl get pods -A -o json --field-selector "
		 "spec.nodeName=NODE",
	 .commands = PLAN | WAIT,
	 .type = SETTING_FILE,
	 .place = OPTION(pods)},
	{.flag = "deadline",
	 .argument = "TIME",
	 .help = "show in which order to delete the pods of a node that ends after this time, "
		 "like 120s, and which are cut short",
	 .commands = PLAN,
	 .type = SETTING_SECONDS,
	 .place = OPTION(deadline_ns),
	 .min = NS_PER_S,
	 .wants = "whole seconds like 120s"},
	{.flag = "if-node-dies",
	 .help = "show what happens to each pod if its node went silent now",
	 .commands = PLAN,
	 .type = SETTING_FLAG,
	 .place = OPTION(if_node_dies)},
	{.flag = "node-monitor-grace-period",
	 .argument = "TIME",
	 .fallback_is = "50s, 40s before 1.32",
	 .help = "with --if-node-dies: the controller manager's setting of this name",
	 .commands = PLAN,
	 .type = SETTING_SECONDS,
	 .place = OPTION(monitor_grace_ns),
	 .min = NS_PER_S,
	 .wants = "whole seconds like 40s"},
	{.flag = "out-of-service",
	 .help = "with --if-node-dies: assume that the taint "
		 "node.kubernetes.io/out-of-service is set",
	 .commands = PLAN,
	 .type = SETTING_FLAG,
	 .place = OPTION(out_of_service)},
	{.flag = "out-of-service-after",
	 .argument = "TIME",
	 .fallback_is = "as soon as the node is not ready",
	 .help = "when the taint is set",
	 .commands = PLAN,
	 .take = value_taint_after},
	{.flag = "out-of-service-effect",
	 .argument = "EFFECT",
	 .fallback = "NoExecute",
	 .help = "effect of the taint: NoExecute or NoSchedule",
	 .commands = PLAN,
	 .take = value_taint_effect},
	{.flag = "config",
	 .argument = "FILE",
	 .fallback_is = "none; variable: GRACED_CONFIG",
	 .help = "read settings from this file as YAML, see graced.yaml(5)",
	 .commands = RUN,
	 .type = SETTING_TEXT,
	 .place = DAEMON(file)},
	{.flag = "config.check",
	 .help = "check the settings, print what is wrong with them, and exit",
	 .commands = RUN,
	 .type = SETTING_FLAG,
	 .place = DAEMON(check)},
	{.key = "nodeName",
	 .argument = "NAME",
	 .fallback_is = "NODE_NAME, then the host name",
	 .help = "name of this node in records",
	 .commands = RUN,
	 .take = value_node_name},
	{.key = "scope",
	 .argument = "SCOPE",
	 .fallback = "containers",
	 .help = "which stops to report: those in pods, of containers, services (also systemd's) "
		 "or all (also every process that dies of a signal)",
	 .commands = TRACE | RECORD | RUN,
	 .take = value_scope},
	{.flag = "scope",
	 .argument = "SCOPE",
	 .fallback_is = "as recorded",
	 .help = "which stops to report: those in pods, of containers, services or all",
	 .commands = REPLAY,
	 .take = value_scope},
	{.key = "assumeGrace",
	 .argument = "TIME",
	 .fallback_is = "none",
	 .help = "assume this grace period where no source provides one",
	 .commands = TRACE | RECORD | RUN,
	 .take = value_grace},
	{.flag = "assume-grace",
	 .argument = "TIME",
	 .fallback_is = "as recorded",
	 .help = "assume this grace period where no source provides one",
	 .commands = REPLAY,
	 .take = value_grace},
	{.key = "hierarchy",
	 .argument = "NAME",
	 .fallback_is = "the one that holds containers",
	 .help = "cgroup hierarchy of the containers: unified, or a v1 controller",
	 .commands = SOURCES | RUN,
	 .type = SETTING_TEXT,
	 .place = OPTION(hierarchy)},
	{.key = "nestedNodes",
	 .argument = "PATH",
	 .fallback_is = "none",
	 .help = "cgroup of a container that is a node of its own (repeatable)",
	 .commands = TRACE | RECORD | REPLAY | AUDIT | WAIT | RUN,
	 .list = true,
	 .take = value_nested},
	{.key = "containerRoots",
	 .argument = "PATH",
	 .fallback_is = "all that root made, but not below /user.slice",
	 .help = "look for containers below this cgroup alone, there also for those that "
		 "users other than root made (repeatable)",
	 .commands = TRACE | RECORD | REPLAY | AUDIT | WAIT | RUN,
	 .list = true,
	 .take = value_roots},
	{.key = "ringSize",
	 .argument = "BYTES",
	 .fallback = "2Mi",
	 .help = "size of the ring buffer for events, a power of two",
	 .commands = TRACE | RECORD | WAIT | RUN,
	 .take = value_ring_size},
	{.flag = "no-group-dead",
	 .help = "find the last thread of a process as older kernels have to",
	 .commands = TRACE | RECORD | WAIT,
	 .type = SETTING_FLAG,
	 .place = OPTION(no_group_dead)},
	{.flag = "debug",
	 .help = "print libbpf's messages on stderr",
	 .commands = SOURCES,
	 .type = SETTING_FLAG,
	 .place = OPTION(debug)},
	{.key = "log.level",
	 .argument = "LEVEL",
	 .fallback = "info",
	 .help = "how much to log on stderr: debug, info, warning or error",
	 .commands = RUN,
	 .live = true,
	 .take = value_log_level},
	{.key = "log.format",
	 .argument = "FORMAT",
	 .fallback = "logfmt",
	 .help = "form of the log: logfmt or json",
	 .commands = RUN,
	 .live = true,
	 .take = value_log_format},
	{.key = "web.listenAddress",
	 .argument = "ADDRESS",
	 .fallback = "127.0.0.1:9753",
	 .help = "where to serve /metrics (repeatable); other hosts reach it only with a "
		 "web configuration or --web.insecure",
	 .commands = RUN,
	 .list = true,
	 .take = value_listen},
	{.key = "web.telemetryPath",
	 .argument = "PATH",
	 .fallback = "/metrics",
	 .help = "path of the metrics",
	 .commands = RUN,
	 .take = value_telemetry_path},
	{.key = "web.configFile",
	 .flag = "web.config.file",
	 .argument = "FILE",
	 .fallback_is = "none",
	 .help = "TLS and authentication, in the form of other Prometheus exporters",
	 .commands = RUN,
	 .type = SETTING_TEXT,
	 .place = DAEMON(web_config_file),
	 .wants = "the path of a file"},
	{.key = "web.insecure",
	 .fallback = "false",
	 .help = "serve other hosts without TLS and authentication",
	 .commands = RUN,
	 .type = SETTING_FLAG,
	 .place = DAEMON(web_insecure)},
	{.key = "control.socket",
	 .argument = "SOCKET",
	 .fallback_is = "control.sock in RUNTIME_DIRECTORY or /run/graced",
	 .help = "where graced pods, shutdown and check query the daemon, in a directory "
		 "that only root may enter; or none",
	 .commands = RUN,
	 .take = value_control_socket},
	{.flag = "control.socket",
	 .argument = "SOCKET",
	 .fallback_is = "GRACED_CONTROL_SOCKET, then control.sock in RUNTIME_DIRECTORY or "
			"/run/graced",
	 .help = "query the daemon at this socket",
	 .commands = PODS | SHUTDOWN,
	 .type = SETTING_FILE,
	 .place = OPTION(socket)},
	{.key = "names.enabled",
	 .fallback = "true",
	 .help = "query sources for names, grace periods and stop signals; false: no source",
	 .commands = SOURCES | RUN,
	 .take = value_names},
	{.key = "names.logDirectory",
	 .argument = "DIR",
	 .fallback = "/var/log",
	 .help = "where the host's pods/ and containers/ are",
	 .commands = SOURCES | RUN,
	 .type = SETTING_FILE,
	 .place = OPTION(log_dir)},
	{.key = "names.wait",
	 .argument = "TIME",
	 .fallback = "250ms",
	 .help = "how long the record of a stop may wait for names",
	 .commands = RUN,
	 .type = SETTING_DURATION,
	 .place = OPTION(engine.name_wait_ns),
	 .min = 1,
	 .max = 30 * NS_PER_S,
	 .wants = "a duration like 250ms, above 0 and at most 30s"},
	{.key = "names.dockerRoot",
	 .argument = "DIR",
	 .fallback = "/var/lib/docker",
	 .help = "where Docker stores its containers' settings",
	 .commands = SOURCES | RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.docker_root)},
	{.key = "names.podmanRoot",
	 .argument = "DIR",
	 .fallback = "/var/lib/containers/storage",
	 .help = "where Podman stores its containers' settings",
	 .commands = SOURCES | RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.podman_root)},
	{.key = "names.containerdState",
	 .argument = "DIR",
	 .fallback = "/run/containerd",
	 .help = "where containerd stores the state of containers outside Kubernetes",
	 .commands = SOURCES | RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.containerd_state)},
	{.key = "cri.endpoint",
	 .argument = "SOCKET",
	 .fallback_is = "searched for",
	 .help = "the container runtime's socket, or none: names, stop signals, exits",
	 .commands = SOURCES | RUN,
	 .type = SETTING_ENDPOINT,
	 .place = OPTION(sources.cri_endpoint)},
	{.key = "kubelet.url",
	 .argument = "URL",
	 .fallback_is = "none",
	 .help = "the kubelet's API, like https://127.0.0.1:10250: grace periods, deletions",
	 .commands = SOURCES | RUN,
	 .type = SETTING_URL,
	 .place = OPTION(sources.kubelet.url),
	 .wants = "a URL like https://127.0.0.1:10250"},
	{.key = "kubelet.ca",
	 .argument = "FILE",
	 .fallback_is = "none",
	 .help = "CA certificates that verify the kubelet's; required for https",
	 .commands = SOURCES | RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.kubelet.ca)},
	{.key = "kubelet.serverName",
	 .argument = "NAME",
	 .fallback_is = "the URL's host",
	 .help = "name expected in the kubelet's certificate",
	 .commands = SOURCES | RUN,
	 .type = SETTING_TEXT,
	 .place = OPTION(sources.kubelet.server_name),
	 .wants = "a host's name"},
	{.key = "kubelet.tokenFile",
	 .argument = "FILE",
	 .fallback_is = "none",
	 .help = "a service account's token, read for each request, sent by https only",
	 .commands = SOURCES | RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.kubelet.token_file)},
	{.key = "kubelet.interval",
	 .argument = "TIME",
	 .fallback = "30s",
	 .help = "how often to list all pods; a stop lists them at once",
	 .commands = RUN,
	 .type = SETTING_DURATION,
	 .place = OPTION(sources.kubelet.interval_ns),
	 .min = NS_PER_S,
	 .wants = WANT_INTERVAL},
	{.key = "kubelet.config",
	 .argument = "FILE",
	 .fallback_is = KUBELETFILE_DEFAULT ", if it is there",
	 .help = "the kubelet's configuration: its periods for a shutdown",
	 .commands = RUN,
	 .type = SETTING_FILE,
	 .place = DAEMON(shutdown.kubelet_config)},
	{.flag = "kubelet.config",
	 .argument = "FILE",
	 .fallback_is = KUBELETFILE_DEFAULT,
	 .help = "the kubelet's configuration: its periods for a shutdown",
	 .commands = PLAN | CHECK,
	 .type = SETTING_FILE,
	 .place = OPTION(kubelet_config)},
	{.key = "kubelet.version",
	 .argument = "VERSION",
	 .fallback = "1.36",
	 .help = "version of the node's kubelet; before 1.23 critical pods end at a fixed "
		 "time",
	 .commands = RUN,
	 .type = SETTING_VERSION,
	 .place = DAEMON(shutdown.kubelet_minor)},
	{.flag = "kubelet.version",
	 .argument = "VERSION",
	 .fallback = "1.36",
	 .help = "follow the rules of this Kubernetes version, 1.20 to 1.36",
	 .commands = EXPLAIN | PLAN | CHECK,
	 .type = SETTING_VERSION,
	 .place = OPTION(kubernetes_minor)},
	{.key = "kubelet.rootDirectory",
	 .argument = "DIR",
	 .fallback = "/var/lib/kubelet",
	 .help = "the kubelet's root directory, below which it mounts the volumes of pods",
	 .commands = RUN,
	 .type = SETTING_PATH,
	 .place = DAEMON(shutdown.kubelet_root)},
	{.key = "api.url",
	 .argument = "URL",
	 .fallback_is = "none",
	 .help = "the API server, like https://10.96.0.1:443: which pods are wanted here",
	 .commands = RUN,
	 .type = SETTING_URL,
	 .place = OPTION(sources.api.url),
	 .wants = "a URL like https://10.96.0.1:443"},
	{.key = "api.ca",
	 .argument = "FILE",
	 .fallback_is = "none",
	 .help = "CA certificates that verify the API server's; required for https",
	 .commands = RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.api.ca)},
	{.key = "api.serverName",
	 .argument = "NAME",
	 .fallback_is = "the URL's host",
	 .help = "name expected in the API server's certificate",
	 .commands = RUN,
	 .type = SETTING_TEXT,
	 .place = OPTION(sources.api.server_name),
	 .wants = "a host's name"},
	{.key = "api.tokenFile",
	 .argument = "FILE",
	 .fallback_is = "none",
	 .help = "a service account's token, read for each request, sent by https only",
	 .commands = RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.api.token_file)},
	{.key = "api.clientFile",
	 .argument = "FILE",
	 .fallback_is = "none",
	 .help = "a client certificate with its key instead of a token, like the kubelet's",
	 .commands = RUN,
	 .type = SETTING_PATH,
	 .place = OPTION(sources.api.client_file)},
	{.key = "api.interval",
	 .argument = "TIME",
	 .fallback = "30s",
	 .help = "how often to list the node's pods; a stop lists them at once",
	 .commands = RUN,
	 .type = SETTING_DURATION,
	 .place = OPTION(sources.api.interval_ns),
	 .min = NS_PER_S,
	 .wants = WANT_INTERVAL},
	{.key = "checkpoint.file",
	 .argument = "FILE",
	 .fallback_is = "checkpoint in RUNTIME_DIRECTORY or /run/graced",
	 .help = "where to save state for the next start; or none",
	 .commands = RUN,
	 .take = value_checkpoint_file},
	{.key = "sinks.stdout",
	 .fallback = "false",
	 .help = "write records to standard output, as JSON lines",
	 .commands = RUN,
	 .type = SETTING_FLAG,
	 .live = true,
	 .place = DAEMON(sink_stdout)},
	{.key = "sinks.file",
	 .argument = "FILE",
	 .fallback_is = "none",
	 .help = "write records to this file; SIGHUP reopens it",
	 .commands = RUN,
	 .type = SETTING_PATH,
	 .live = true,
	 .place = DAEMON(sink_file)},
	{.key = "sinks.journal",
	 .argument = "WHEN",
	 .fallback = "auto",
	 .help = "write records to the journal: true, false or auto (where journald listens)",
	 .commands = RUN,
	 .live = true,
	 .take = value_journal},
	{.key = "sinks.signals",
	 .fallback = "false",
	 .help = "write a record for each stop signal and SIGKILL, too",
	 .commands = RUN,
	 .type = SETTING_FLAG,
	 .live = true,
	 .place = DAEMON(sink_signals)},
	{.key = "shutdown.mode",
	 .argument = "MODE",
	 .fallback = "observe",
	 .help = "in a shutdown of the node: observe (record, change nothing), assist (delay it "
		 "until pods have ended, kill overdue containers), manage (stop the pods) or off",
	 .commands = RUN,
	 .take = value_shutdown_mode},
	{.key = "shutdown.control",
	 .fallback = "false",
	 .help = "let root begin and cancel a shutdown by graced shutdown, in mode manage",
	 .commands = RUN,
	 .type = SETTING_FLAG,
	 .place = DAEMON(shutdown.control)},
	{.key = "shutdown.extra",
	 .argument = "TIME",
	 .fallback = "10s",
	 .help = "how long logind waits in mode assist beyond the kubelet's periods",
	 .commands = RUN,
	 .type = SETTING_DURATION,
	 .place = DAEMON(shutdown.extra_ns),
	 .max = WAIT_MAX,
	 .wants = WANT_WAIT},
	{.key = "shutdown.overdueSlack",
	 .argument = "TIME",
	 .fallback = "2s",
	 .help = "how long mode assist waits for a container's SIGKILL once it is due",
	 .commands = RUN,
	 .type = SETTING_DURATION,
	 .place = DAEMON(shutdown.overdue_slack_ns),
	 .max = WAIT_MAX,
	 .wants = WANT_WAIT},
	{.key = "shutdown.statusWait",
	 .argument = "TIME",
	 .fallback = "0s",
	 .help = "how long mode assist waits for the status of ended pods; 0s: up to the limit",
	 .commands = RUN,
	 .type = SETTING_DURATION,
	 .place = DAEMON(shutdown.status_wait_ns),
	 .max = WAIT_MAX,
	 .wants = WANT_WAIT},
	{.key = "shutdown.volumes",
	 .fallback = "true",
	 .help = "whether mode assist waits until the kubelet has unmounted the volumes of ended "
		 "pods",
	 .commands = RUN,
	 .type = SETTING_FLAG,
	 .place = DAEMON(shutdown.volumes)},
	{.key = "shutdown.deafGrace",
	 .argument = "TIME",
	 .fallback_is = "off",
	 .help = "how long after its stop signal mode assist kills a container whose PID 1 cannot "
		 "receive it",
	 .commands = RUN,
	 .take = value_deaf_grace},
	{.key = "shutdown.stopUnits",
	 .argument = "UNIT",
	 .fallback_is = "none",
	 .help = "unit that mode manage stops first, and starts again when the shutdown is "
		 "cancelled (repeatable)",
	 .commands = RUN,
	 .list = true,
	 .take = value_stop_units},
	{.key = "metrics.maxSeries",
	 .argument = "N",
	 .fallback = "10000",
	 .help = "how many series of containers to expose; further ones are counted as _other",
	 .commands = RUN,
	 .type = SETTING_COUNT,
	 .place = DAEMON(max_series),
	 .min = 500,
	 /* A page of so many lines is 7 MB or more and keeps the loop busy for about 60 ms,
	  * compressed. */
	 .max = 50000,
	 .wants = "a number from 500 to 50000"},
	{.key = "metrics.maxAge",
	 .argument = "TIME",
	 .fallback = "1h",
	 .help = "how long a series outlives its container",
	 .commands = RUN,
	 .type = SETTING_DURATION,
	 .place = DAEMON(max_age_ns),
	 .min = 1,
	 .wants = "a duration like 30s or 1h"},
	{.key = "budget.cpu",
	 .argument = "SHARE",
	 .fallback = "2%",
	 .help = "share of one CPU above which the least important work is shed; off: no "
		 "budget",
	 .commands = RUN,
	 .live = true,
	 .take = value_budget},
};

const size_t n_settings = sizeof(settings) / sizeof(*settings);

_Static_assert(sizeof(settings) / sizeof(*settings) <= CONFIG_SETTINGS,
	       "the configuration has room for each setting");

const char *setting_flag(const struct setting *setting, char ret[SETTING_NAME_SIZE])
{
	const char *from = setting->flag ? setting->flag : setting->key;
	size_t n = 0;

	for (; *from && n + 2 < SETTING_NAME_SIZE; from++) {
		if (isupper((unsigned char)*from))
			ret[n++] = '-';
		ret[n++] = (char)tolower((unsigned char)*from);
	}
	ret[n] = '\0';
	return ret;
}

const char *setting_variable(const struct setting *setting, char ret[SETTING_NAME_SIZE])
{
	char flag[SETTING_NAME_SIZE];

	snprintf(ret, SETTING_NAME_SIZE, "GRACED_%.*s", SETTING_NAME_SIZE - 8,
		 setting_flag(setting, flag));
	for (char *at = ret; *at; at++)
		*at = *at == '.' || *at == '-' ? '_' : (char)toupper((unsigned char)*at);
	return ret;
}

size_t setting_find(const char *key)
{
	size_t i = 0;

	while (i < n_settings && (!settings[i].key || strcmp(settings[i].key, key) != 0))
		i++;
	return i;
}

static bool is_daemon(const struct config *c)
{
	return c->options.which == OPTIONS_RUN;
}

/* What is wanted of a text of this type; NULL: the value is right. */
static const char *judge_text(const struct setting *s, const struct config *c, const char *value)
{
	const char *path = strncmp(value, "unix://", 7) == 0 ? value + 7 : value;
	bool absolute = value[0] == '/' && value_is_clean(value);

	switch (s->type) {
	case SETTING_PATH:
		return absolute ? NULL : "an absolute path";
	case SETTING_FILE:
		if (is_daemon(c))
			return absolute ? NULL : "an absolute path";
		return *value ? NULL : "the path of a file";
	case SETTING_ENDPOINT:
		if (strcmp(value, "none") == 0 || path[0] == '/')
			return NULL;
		return "a socket's absolute path, with or without unix://, or none";
	case SETTING_URL:
		if (strncmp(value, "https://", 8) == 0 || strncmp(value, "http://", 7) == 0)
			return NULL;
		return "a URL";
	default:
		return *value && value_is_clean(value) ? NULL : "a name";
	}
}

static bool parse_figure(const struct setting *s, const char *value, uint64_t *ret)
{
	uint64_t figure;

	if (s->type == SETTING_COUNT ? !value_parse_number(value, &figure)
				     : duration_parse(value, &figure) < 0)
		return false;
	if (figure < s->min || (s->max && figure > s->max) ||
	    (s->type == SETTING_SECONDS && figure % NS_PER_S))
		return false;
	*ret = figure;
	return true;
}

static const char *take_at(const struct setting *s, struct config *c, void *place,
			   const char *value)
{
	const char *wants;

	switch (s->type) {
	case SETTING_FLAG:
		return value_bool(place, value);
	case SETTING_DURATION:
	case SETTING_SECONDS:
	case SETTING_COUNT:
		return parse_figure(s, value, place) ? NULL : "another value";
	case SETTING_VERSION:
		return value_version(value, place);
	default:
		wants = judge_text(s, c, value);
		if (!wants)
			*(const char **)place = value;
		return wants;
	}
}

const char *setting_take(const struct setting *setting, struct config *config, const char *value,
			 size_t index)
{
	const char *wants;

	if (setting->take)
		return setting->take(config, value, index);
	wants = take_at(setting, config, (char *)config + setting->place, value);
	return wants && setting->wants ? setting->wants : wants;
}
