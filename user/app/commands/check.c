// SPDX-License-Identifier: Apache-2.0
/* graced check: what this host offers graced, one line each. */
#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "app/check/check.h"
#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/config/run_dir.h"
#include "app/daemon/checkpoint.h"
#include "app/live/screen.h"
#include "app/live/sources.h"
#include "app/log/say.h"
#include "app/query/describe.h"
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/utf8.h"
#include "io/cgroup/hierarchy.h"
#include "io/control/control.h"
#include "io/files/file.h"
#include "io/files/library.h"
#include "io/kernel/kernel.h"
#include "io/proc/proc.h"
#include "io/proc/self.h"
#include "wire/json/writer.h"
#include "wire/text/wrap.h"

struct need {
	const char *feature;
	uint64_t capabilities; /* all of them: bits 1 << CAP_... */
	bool vital;	       /* without it nothing is traced */
	const char *without;   /* what happens then */
};

#define BIT(capability) (1ull << (capability))

static const struct need needs[] = {
	{"tracing", BIT(CAP_BPF) | BIT(CAP_PERFMON), true,
	 "no BPF program can be loaded: trace, record and run do not start"},
	{"inits from before", BIT(CAP_SYS_PTRACE), false,
	 "their executables cannot be seen (/proc/PID/exe)"},
	{"audit", BIT(CAP_SYS_PTRACE) | BIT(CAP_DAC_READ_SEARCH), false,
	 "it answers unknown where it has to look into other users' processes"},
	{"cgroups by id", BIT(CAP_DAC_READ_SEARCH), false,
	 "one is found only by walking all of them (no open_by_handle_at)"},
};

static const size_t needs_n = sizeof(needs) / sizeof(*needs);

/* The capabilities that any feature needs. */
static uint64_t needs_all(void)
{
	uint64_t all = 0;

	for (size_t i = 0; i < needs_n; i++)
		all |= needs[i].capabilities;
	return all;
}

/* Which of the wanted capabilities are not in have. CAP_SYS_ADMIN stands in for CAP_BPF and
 * CAP_PERFMON, as it does in the kernel. */
static uint64_t needs_lacking(uint64_t wanted, uint64_t have)
{
	if (have & BIT(CAP_SYS_ADMIN))
		have |= BIT(CAP_BPF) | BIT(CAP_PERFMON);
	return wanted & ~have;
}

/* "CAP_BPF", for a capability that some feature needs; NULL for any other. */
static const char *needs_name(unsigned int capability)
{
	switch (capability) {
	case CAP_BPF:
		return "CAP_BPF";
	case CAP_PERFMON:
		return "CAP_PERFMON";
	case CAP_SYS_PTRACE:
		return "CAP_SYS_PTRACE";
	case CAP_DAC_READ_SEARCH:
		return "CAP_DAC_READ_SEARCH";
	default:
		return NULL;
	}
}

/* Adds their names, separated by ", ". */
static void needs_add_names(struct buf *out, uint64_t capabilities)
{
	const char *separator = "";

	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++) {
		const char *name = capabilities & BIT(i) ? needs_name(i) : NULL;

		if (!name)
			continue;
		buf_adds(out, separator);
		buf_adds(out, name);
		separator = ", ";
	}
}

static const struct options_help help = {
	.head = "usage: graced check [OPTIONS]\n"
		"\n"
		"Shows what this host offers graced, one line each: ok, info (it does not apply here), warn\n"
		"(something will be missing) or fail. Below each warn and fail a line \"fix:\" has what to do.\n"
		"The exit status is 1 when tracing cannot work here.\n"
		"-o npd prints one line of at most 80 bytes about the daemon of this host; the exit status is 0\n"
		"when it runs, 1 when it does not, and 2 when that cannot be found out.\n",
	.tail = "EXAMPLES\n"
		"  graced check\n"
		"  graced check -o npd\n"
		"  graced check --config /etc/graced/graced.yaml -o json | jq 'select(.status != \"ok\")'\n",
};

/* How long the daemon may take to answer. Whether a node has a problem is not decided by 3 s of
 * load; node-problem-detector waits for 30 s. */
#define ANSWER_MS     3000
#define ANSWER_NPD_MS 10000

/* INFO: it does not apply to this host. */
enum status { OK, INFO, WARN, FAIL };

struct check {
	const struct options *options;
	bool failed;
	struct checknpd npd;
	struct hierarchy hierarchy;
	bool has_hierarchy;
	struct kubeletfile kubelet;
	struct config config;	      /* of --config, else as far as the daemon's is known */
	struct control_answer daemon; /* settings of the one that runs; empty: none answers */
	struct control_why no_daemon;
};

#define TEXT_COLUMN 28
#define FIX_COLUMN  11

/* From a column on, to the end of its line. */
static void add_wrapped(struct buf *line, unsigned int column, const char *text)
{
	_cleanup_(buf_free) struct buf visible = {};

	utf8_add_visible(&visible, text, strlen(text));
	wrap_text(line, buf_str(&visible), column, column, screen_width());
}

/* hint: NULL for ok and info. */
static void print_line(struct check *c, enum status status, const char *name, const char *hint,
		       const struct buf *text)
{
	static const char *const words[] = {"ok", "info", "warn", "fail"};
	_cleanup_(buf_free) struct buf line = {};

	if (c->options->json) {
		jsonw_object(&line, NULL);
		jsonw_str(&line, "type", "check");
		jsonw_u64(&line, "schema", 1);
		jsonw_str(&line, "name", name);
		jsonw_str(&line, "status", words[status]);
		jsonw_str(&line, "text", buf_str(text));
		jsonw_str(&line, "hint", hint);
		jsonw_object_end(&line);
		buf_addc(&line, '\n');
	} else {
		buf_printf(&line, "%-4s  %-20s  ", words[status], name);
		add_wrapped(&line, TEXT_COLUMN, buf_str(text));
		if (hint) {
			buf_adds(&line, "      fix: ");
			add_wrapped(&line, FIX_COLUMN, hint);
		}
	}
	fputs(buf_str(&line), stdout);
}

/* status: OK or INFO. */
__attribute__((format(printf, 4, 5))) static void report(struct check *c, enum status status,
							 const char *name, const char *format, ...)
{
	_cleanup_(buf_free) struct buf text = {};
	va_list args;

	if (c->options->npd)
		return;
	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	print_line(c, status, name, NULL, &text);
}

/* status: WARN or FAIL. hint: what to do about it. */
__attribute__((format(printf, 5, 6), nonnull(4))) static void
report_problem(struct check *c, enum status status, const char *name, const char *hint,
	       const char *format, ...)
{
	_cleanup_(buf_free) struct buf text = {};
	va_list args;

	va_start(args, format);
	buf_vprintf(&text, format, args);
	va_end(args);
	c->failed |= status == FAIL;
	c->npd.n_warn += status == WARN;
	if (!c->options->npd)
		print_line(c, status, name, hint, &text);
	else if (status == FAIL)
		checknpd_fail(&c->npd, name, &text);
}

static void check_btf(struct check *c)
{
	int r = kern_probe_btf();

	if (r < 0) {
		report_problem(c, FAIL, "btf",
			       "boot a kernel that was built with CONFIG_DEBUG_INFO_BTF=y",
			       "none at /sys/kernel/btf/vmlinux");
		return;
	}
	report(c, OK, "btf", "/sys/kernel/btf/vmlinux");
}

/* As bad as the worst it does to a feature. */
static enum status without(uint64_t capability)
{
	for (size_t i = 0; i < needs_n; i++)
		if (needs[i].vital && needs[i].capabilities & capability)
			return FAIL;
	return WARN;
}

/* names: "CAP_BPF, CAP_PERFMON". */
static void report_lacking(struct check *c, enum status status, const char *name, const char *names,
			   const char *text)
{
	_cleanup_(buf_free) struct buf hint = {};

	buf_printf(&hint,
		   "run as root, or grant %s: CapabilityBoundingSet= and AmbientCapabilities= of a "
		   "systemd unit, securityContext.capabilities.add of a pod (without CAP_), "
		   "--cap-add of docker run",
		   names);
	report_problem(c, status, name, buf_str(&hint), "%s", text);
}

static void check_capabilities(struct check *c)
{
	uint64_t have = procfs_own_capabilities(), all = needs_all();

	for (unsigned int i = 0; i <= CAP_LAST_CAP; i++) {
		uint64_t one = 1ull << i;

		if (!(all & one))
			continue;
		if (have & one)
			report(c, OK, needs_name(i), "held");
		else if (!needs_lacking(one, have))
			report(c, OK, needs_name(i), "not held, but CAP_SYS_ADMIN is");
		else
			report_lacking(c, without(one), needs_name(i), needs_name(i), "not held");
	}
	for (size_t i = 0; i < needs_n; i++) {
		uint64_t lacking = needs_lacking(needs[i].capabilities, have);
		_cleanup_(buf_free) struct buf names = {}, text = {};

		if (!lacking)
			continue;
		needs_add_names(&names, lacking);
		buf_printf(&text, "lacks %s: %s", buf_str(&names), needs[i].without);
		report_lacking(c, needs[i].vital ? FAIL : WARN, needs[i].feature, buf_str(&names),
			       buf_str(&text));
	}
}

static void check_pidns(struct check *c)
{
	if (host_in_initial_pidns())
		report(c, OK, "pid namespace", "the host's");
	else
		report_problem(c, FAIL, "pid namespace",
			       "run it on the host; in a pod set hostPID: true, with Docker use "
			       "--pid=host",
			       "not the host's: trace, record and audit do not start, and run does "
			       "not know the inits that ran before it");
}

/* Few make one. */
static void check_timens(struct check *c)
{
	if (!host_in_initial_timens())
		report_problem(c, FAIL, "time namespace", "run it outside of unshare --time",
			       "not the host's: what reads the kernel's records does not start, as "
			       "its clock may be another");
}

static void check_cgroups(struct check *c)
{
	int r = hierarchy_detect(c->options->hierarchy, &c->hierarchy);

	c->has_hierarchy = r >= 0;
	if (r == -EXDEV)
		report_problem(c, FAIL, "cgroups",
			       "mount the host's /sys/fs/cgroup into this container: a hostPath "
			       "volume, or docker run -v /sys/fs/cgroup:/sys/fs/cgroup",
			       "only a part of the hierarchy is visible here");
	else if (r < 0)
		report_problem(
			c, FAIL, "cgroups",
			c->options->hierarchy
				? "name one of those in /proc/self/mountinfo with --hierarchy"
				: "mount -t cgroup2 none /sys/fs/cgroup",
			"no such hierarchy is mounted");
	else if (c->hierarchy.unified)
		report(c, OK, "cgroups", "unified, at %s", c->hierarchy.mount);
	else
		report(c, OK, "cgroups", "v1, by the %s controller (hierarchy %u), at %s",
		       c->hierarchy.name, c->hierarchy.id, c->hierarchy.mount);
}

#define DEBUG_HINT "graced check --debug prints libbpf's messages"

static void report_program(struct check *c, const struct kern_program *program)
{
	if (program->attached)
		report(c, OK, program->name, "%s", program->tracepoint);
	else if (program->wanted)
		report_problem(c, FAIL, program->name, DEBUG_HINT, "not attached to %s",
			       program->tracepoint);
	else if (program->optional)
		report_problem(
			c, WARN, program->name,
			"boot a kernel that takes fentry programs: CONFIG_FUNCTION_TRACER=y, "
			"CONFIG_DYNAMIC_FTRACE=y and CONFIG_BPF_JIT=y; on arm64 Linux 6.4 "
			"or later",
			"not attached to %s: stops do not show when the init was reaped",
			program->tracepoint);
	else
		report(c, INFO, program->name, "not used: this kernel does not need it for %s",
		       program->tracepoint);
}

static void report_programs(struct check *c, struct kern *kern)
{
	struct kern_flavours flavours;
	struct kern_program program;

	kern_get_flavours(kern, &flavours);
	report(c, OK, "process exits", "%s",
	       flavours.group_dead ? "the kernel marks the last thread (group_dead)"
				   : "the last thread is found out (no group_dead)");
	report(c, OK, "OOM victims", "%s",
	       flavours.oom_task
		       ? "the kernel reports the task"
		       : "the kernel reports a pid; the task is that of the SIGKILL before");
	for (unsigned int i = 0; kern_get_program(kern, i, &program) >= 0; i++)
		report_program(c, &program);
}

/* One of them is refused, which fails them all: report which. */
static void report_refused(struct check *c, const struct kern_options *options)
{
	struct kern_program program;
	struct kern_why why;

	for (unsigned int i = 0; kern_get_program(NULL, i, &program) >= 0; i++) {
		if (!program.wanted)
			continue;
		if (kern_try_program(options, program.name, &why) < 0)
			report_problem(c, FAIL, program.name,
				       "graced check --debug prints the verifier's log; boot "
				       "another kernel, and report this one",
				       "%s", why.text);
	}
}

/* What to do when the programs cannot be loaded. */
static const char *load_hint(int error)
{
	switch (error) {
	case -EPERM:
		return "run as root, or grant CAP_BPF and CAP_PERFMON; root is refused where "
		       "/sys/kernel/security/lockdown says confidentiality";
	case -ENOMEM:
		return "raise the memory limit: MemoryMax= of the unit, or resources.limits.memory "
		       "of the pod";
	case -EACCES:
	case -EINVAL:
	case -E2BIG:
		return "the lines below name the program; graced check --debug prints the "
		       "verifier's log";
	case -ENOENT:
	case -ESRCH:
		return "boot Linux 5.10 or later, built with CONFIG_DEBUG_INFO_BTF=y and "
		       "CONFIG_TRACEPOINTS=y";
	default:
		return DEBUG_HINT;
	}
}

/* For node-problem-detector programs are loaded to find out why no daemon runs, where that shows
 * it. */
static bool wants_programs(const struct check *c)
{
	uint64_t vital = 0;

	for (size_t i = 0; i < needs_n; i++)
		vital |= needs[i].vital ? needs[i].capabilities : 0;
	return c->has_hierarchy &&
	       (!c->options->npd ||
		(!checknpd_runs(c->npd.asked) && !needs_lacking(vital, procfs_own_capabilities())));
}

static void check_programs(struct check *c)
{
	struct kern_options options = {.hierarchy = &c->hierarchy,
				       .debug = c->options->debug ? say_debug : NULL};
	struct kern_why why;
	struct kern *kern;
	int r;

	if (!wants_programs(c))
		return;
	r = kern_new(&options, &kern, &why);
	if (r < 0) {
		report_problem(c, FAIL, "BPF programs", load_hint(r), "%s", why.text);
		if (r == -EACCES || r == -EINVAL || r == -E2BIG)
			report_refused(c, &options);
		return;
	}
	r = kern_attach(kern, &why);
	if (r < 0)
		report_problem(c, FAIL, "BPF programs", DEBUG_HINT, "%s", why.text);
	report_programs(c, kern);
	kern_free(kern);
}

/* Those that are loaded at run time, and what is disabled without them. */
static const struct library {
	enum dynlib which;
	bool optional; /* only a command or a setting needs it */
	const char *without, *packages;
} libraries[] = {
	{DYNLIB_CURL, false,
	 "the container runtime, the kubelet and the API server are not queried",
	 "libcurl4 or libcurl4t64 (Debian, Ubuntu), libcurl (Fedora, RHEL), libcurl4 (SUSE), curl "
	 "(Arch)"},
	{DYNLIB_MHD, false, "no metrics, no status page",
	 "libmicrohttpd12 or libmicrohttpd12t64 (Debian, Ubuntu), libmicrohttpd (Fedora, RHEL, "
	 "Arch), libmicrohttpd12 (SUSE)"},
	{DYNLIB_GNUTLS, true, "no TLS and no passwords for metrics", NULL},
	{DYNLIB_CRYPT, true, "no passwords for metrics", NULL},
	{DYNLIB_SYSTEMD, true, "log, report and why read records of files, not of the journal",
	 NULL},
	{DYNLIB_CURSES, true, "top has no screen", NULL},
};

static void check_libraries(struct check *c)
{
	for (size_t i = 0; i < sizeof(libraries) / sizeof(*libraries); i++) {
		const struct library *library = &libraries[i];
		const char *name = dynlib_name(library->which), *error;
		_cleanup_(buf_free) struct buf hint = {};

		if (dynlib_load(library->which, NULL, 0, NULL, &error) == 0) {
			report(c, OK, name, "can be loaded");
			continue;
		}
		if (library->optional) {
			report(c, INFO, name, "cannot be loaded: %s", library->without);
			continue;
		}
		buf_printf(&hint, "install %s", library->packages);
		report_problem(c, WARN, name, buf_str(&hint), "cannot be loaded: %s",
			       library->without);
	}
}

static void on_line(void *userdata, const char *name, const char *hint, const char *text)
{
	if (hint)
		report_problem(userdata, WARN, name, hint, "%s", text);
	else
		report(userdata, OK, name, "%s", text);
}

/* What to do when a source does not provide what it has. */
static const char *source_hint(enum meta_source source)
{
	switch (source) {
	case META_CRI:
		return "start the runtime (containerd or crio), or name its socket with "
		       "--cri.endpoint; in a container, mount the directory of that socket";
	case META_KUBELET:
		return "see that the kubelet runs; --kubelet.socket names its socket; --kubelet.url "
		       "needs --kubelet.ca and a token that may get nodes/pods "
		       "(deploy/rbac-kubelet.yaml)";
	case META_DOCKER:
		return "run as root; --names.docker-root names Docker's directory (docker info "
		       "prints it as Docker Root Dir)";
	case META_PODMAN:
		return "run as root; --names.podman-root names Podman's directory (podman info "
		       "prints it as graphRoot)";
	case META_CONTAINERD:
		return "run as root; --names.containerd-state names containerd's directory (state "
		       "in /etc/containerd/config.toml)";
	default:
		return "graced-run(8) describes the sources";
	}
}

/* What a source says of itself, when it is asked what it has. */
static void check_source(struct check *c, const struct describe *d, enum meta_source source,
			 const char *absent)
{
	struct source_state state;

	describe_get_state(d, source, &state);
	if (state.status == SOURCE_UP)
		report(c, OK, meta_source_name(source), "%s%s%s", state.where,
		       state.text[0] ? ": " : "", state.text);
	else if (state.status == SOURCE_DOWN)
		report_problem(c, WARN, meta_source_name(source), source_hint(source), "%s: %s",
			       state.where, state.text);
	else if (state.status == SOURCE_STARTING)
		report_problem(c, WARN, meta_source_name(source), source_hint(source),
			       "%s: no answer within 3 s", state.where);
	else if (state.text[0])
		report_problem(c, WARN, meta_source_name(source), source_hint(source), "%s",
			       state.text);
	else if (absent)
		report(c, INFO, meta_source_name(source), "%s", absent);
}

/* A node without Kubernetes has none, and needs none. */
static void check_kubelet(struct check *c, const struct describe *d)
{
	struct source_state state;

	describe_get_state(d, META_KUBELET, &state);
	if (state.status == SOURCE_OFF && !state.text[0])
		report(c, INFO, meta_source_name(META_KUBELET),
		       "%s, and no kubelet.url: not queried",
		       options_want_kubelet_socket(c->options) ? "no socket of its pods API"
							       : "kubelet.socket is none");
	else
		check_source(c, d, META_KUBELET, NULL);
}

/* Where no runtime of Kubernetes runs, there are no pods to name. */
static void check_logs(struct check *c, const struct describe *d)
{
	struct source_state cri = {};
	char pods[PATH_MAX];

	snprintf(pods, sizeof(pods), "%s/pods", c->options->log_dir);
	if (d)
		describe_get_state(d, META_CRI, &cri);
	if (host_is_dir(pods))
		report(c, OK, "logs", "%s", pods);
	else if (d && cri.status == SOURCE_OFF)
		report(c, INFO, "logs", "no %s: pods are not named by it", pods);
	else
		report_problem(
			c, WARN, "logs",
			"name the directory that holds pods/ with --names.log-directory; in a "
			"container, mount the host's /var/log",
			"no %s: pods are not named by it", pods);
}

static void check_sources(struct check *c)
{
	struct describe *d = NULL;

	if (c->options->no_names || describe_new(c->options, &d) < 0)
		d = NULL;
	check_logs(c, d);
	if (!d)
		return;
	check_source(c, d, META_CRI, "no runtime's socket: no Kubernetes runtime is running here");
	check_kubelet(c, d);
	check_source(c, d, META_DOCKER, NULL);
	check_source(c, d, META_PODMAN, NULL);
	check_source(c, d, META_CONTAINERD, NULL);
	check_grace(d, &(struct check_rules){&c->config.shutdown, &c->kubelet}, on_line, c);
	describe_free(d);
}

static void query_daemon(struct check *c)
{
	char buffer[PATH_MAX];

	c->npd.asked = control_query(control_socket_path(c->options->socket, buffer),
				     &(struct control_request){.command = CONTROL_SETTINGS},
				     c->options->npd ? ANSWER_NPD_MS : ANSWER_MS, -1, &c->daemon,
				     &c->no_daemon);
}

/* One that the daemon does not report, or that this graced does not take, stays. */
static void use_setting(void *userdata, const char *key, const char *value)
{
	if (*value)
		config_set(userdata, key, value);
}

/* 0, or the exit status. */
static int read_settings(struct check *c, int argc, char **argv, struct options *options)
{
	int status = config_read("check", c->options->config, &c->config);

	if (status)
		return status;
	query_daemon(c);
	if (!c->options->config)
		control_each_setting(buf_str(&c->daemon.text), use_setting, &c->config);
	status = options_take_sources(argc, argv, &c->config, options);
	if (status)
		return status;
	c->kubelet.minor = options->kubernetes_minor;
	c->kubelet.path = c->options->kubelet_config ? c->options->kubelet_config
						     : c->config.shutdown.kubelet_config;
	return 0;
}

static void report_no_daemon(struct check *c, const char *socket)
{
	bool absent = c->npd.asked == -ENOENT || c->npd.asked == -ECONNREFUSED;
	bool refused = c->npd.asked == -EACCES || c->npd.asked == -EPERM;
	const char *checked = c->options->config ? "file of --config is" : "defaults are";

	/* A node that is watched for problems is one on which it should run. */
	if (c->options->npd)
		report_problem(c, FAIL, "daemon", "", "none answers at %s (%s)", socket,
			       c->no_daemon.text);
	else if (absent && !c->options->socket)
		report(c, INFO, "daemon", "none answers at %s (%s): the %s checked", socket,
		       c->no_daemon.text, checked);
	else
		report_problem(c, WARN, "daemon",
			       absent ? "start the daemon that has that socket, or name another one"
			       : refused ? "run graced check as root"
					 : "see its log: journalctl -u graced",
			       "none answers at %s (%s): the %s checked", socket, c->no_daemon.text,
			       checked);
}

/* What the running daemon uses, which may be another file than the default. */
static void check_daemon(struct check *c)
{
	char buffer[PATH_MAX], file[PATH_MAX], mode[32];
	const char *socket = control_socket_path(c->options->socket, buffer), *lines;

	if (c->npd.asked < 0) {
		report_no_daemon(c, socket);
		return;
	}
	lines = buf_str(&c->daemon.text);
	if (!control_find_setting(lines, "config", file, sizeof(file)))
		file[0] = '\0';
	if (!control_find_setting(lines, "shutdown.mode", mode, sizeof(mode)))
		strcpy(mode, "not known");
	report(c, OK, "daemon", "answers at %s: settings from %s, shutdown.mode %s", socket,
	       file[0] ? file : "flags, environment and defaults", mode);
}

/* The running daemon's, else the default one. */
static void check_checkpoint(struct check *c)
{
	char buffer[PATH_MAX], used[PATH_MAX];
	const char *path = rundir_path(CHECKPOINT_NAME, buffer);
	struct keepfile_why why;
	int r;

	if (control_find_setting(buf_str(&c->daemon.text), "checkpoint.file", used, sizeof(used)))
		path = used;
	if (strcmp(path, "none") == 0) {
		report(c, OK, "checkpoint",
		       "none, by the daemon's settings: a restart begins anew");
		return;
	}
	r = keepfile_check(path, &why);
	if (r < 0)
		report_problem(c, WARN, "checkpoint",
			       "name a file in a directory that only root may write with "
			       "checkpoint.file of graced run",
			       "%s: a restart of the daemon begins anew", why.text);
	else
		report(c, OK, "checkpoint", "%s%s", path, r > 0 ? ", to be made" : "");
}

static void check_credential(struct check *c, const char *name, const struct sources_peer *peer)
{
	struct source_kubelet_options options = {.token_file = peer->token_file,
						 .client_file = peer->client_file};
	_cleanup_(buf_free) struct buf text = {};
	struct source_kubelet_why why;
	struct credential credential;
	enum credential_state state;

	if (!peer->token_file && !peer->client_file)
		return;
	if (source_kubelet_credential(&options, &credential, &why) < 0) {
		report_problem(c, WARN, name,
			       "put a readable token or certificate there; docs/shutdown-setup.md "
			       "shows how to make one",
			       "%s", why.text);
		return;
	}
	state = sources_add_expiry(&text, peer, &credential);
	if (state == CREDENTIAL_EXPIRING || state == CREDENTIAL_EXPIRED)
		report_problem(
			c, WARN, name,
			"write a new one into the same file, which is read without a restart; "
			"docs/shutdown-setup.md shows how to make one",
			"%s", buf_str(&text));
	else
		report(c, OK, name, "%s", buf_str(&text));
}

/* Those of the command line, else of the configuration that is judged. */
static void check_credentials(struct check *c)
{
	check_credential(c, "kubelet credential", &c->options->sources.kubelet);
	check_credential(c, "api credential", &c->config.options.sources.api);
}

/* What this process may not do or see itself is no problem of the node. */
static void check_host(struct check *c)
{
	bool npd = c->options->npd;

	if (npd && !host_is_own_root())
		return;
	check_btf(c);
	if (!npd) {
		check_capabilities(c);
		check_pidns(c);
		check_timens(c);
		check_libraries(c);
	}
	check_cgroups(c);
	check_programs(c);
}

int cmd_check(int argc, char **argv)
{
	struct options options;
	struct check c = {.options = &options};
	char kernel[256], socket[PATH_MAX];
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("check", "'%s' is one argument too many", argv[options.first]);
	status = read_settings(&c, argc, argv, &options);
	if (status)
		return options.npd ? checknpd_print_unknown() : status;
	host_kernel(kernel, sizeof(kernel));
	report(&c, OK, "kernel", "%s", kernel);
	check_host(&c);
	check_shutdown(&(struct check_rules){&c.config.shutdown, &c.kubelet}, on_line, &c);
	check_sources(&c);
	check_daemon(&c);
	check_checkpoint(&c);
	check_credentials(&c);
	check_report(&c.config, on_line, &c);
	status = options.npd ? checknpd_print(&c.npd, control_socket_path(options.socket, socket))
			     : c.failed;
	buf_free(&c.daemon.text);
	config_done(&c.config);
	return status;
}
