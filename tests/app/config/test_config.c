// SPDX-License-Identifier: Apache-2.0
/* Claims about app/config: where settings come from, who wins, and what each takes. */
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/daemon/confload.h"

/* By another value than its default, and by one that no setting takes. */
static const struct setting {
	const char *key, *flag, *variable; /* GRACED_… */
	const char *fallback, *good, *becomes, *other, *bad, *wants;
} settings[] = {
	{"nodeName", "node-name", "NODE_NAME", "none", "n1", "n1", "n2", "a b", "a name of"},
	{"scope", "scope", "SCOPE", "containers", "all", "all", "pods", "everything",
	 "pods, containers,"},
	{"assumeGrace", "assume-grace", "ASSUME_GRACE", "0", "1.5s", "1500000000", "0", "soon",
	 "a duration"},
	{"hierarchy", "hierarchy", "HIERARCHY", "none", "cpu", "cpu", "unified", "a\tb", "a name"},
	{"nestedNodes", "nested-nodes", "NESTED_NODES", "", "/docker/a", "/docker/a", "/x",
	 "docker", "the path of a cgroup"},
	{"containerRoots", "container-roots", "CONTAINER_ROOTS", "", "/a", "/a", "/", "a",
	 "the path of a cgroup"},
	{"ringSize", "ring-size", "RING_SIZE", "2097152", "256Ki", "262144", "1Mi", "3Mi",
	 "a power of two"},
	{"log.level", "log.level", "LOG_LEVEL", "6", "warn", "4", "info", "loud", "debug, info"},
	{"log.format", "log.format", "LOG_FORMAT", "0", "json", "1", "logfmt", "xml",
	 "logfmt or json"},
	{"web.listenAddress", "web.listen-address", "WEB_LISTEN_ADDRESS", "127.0.0.1:9753",
	 "127.0.0.2:80", "127.0.0.2:80", "127.0.0.3:9753", "9753", "an address like"},
	{"web.hosts", "web.hosts", "WEB_HOSTS", "", "a.example", "a.example", "node-1", "a:80",
	 "the name of a host"},
	{"web.telemetryPath", "web.telemetry-path", "WEB_TELEMETRY_PATH", "/metrics", "/m", "/m",
	 "/metrics", "metrics", "a path like /metrics"},
	{"web.configFile", "web.config.file", "WEB_CONFIG_FILE", "none", "web.yml", "web.yml",
	 "other.yml", "a\tb", "the path of a file"},
	{"web.insecure", "web.insecure", "WEB_INSECURE", "0", "true", "1", "false", "maybe",
	 "true or false"},
	{"control.socket", "control.socket", "CONTROL_SOCKET", "none", "/a", "/a", "none", "a",
	 "an absolute path of"},
	{"checkpoint.file", "checkpoint.file", "CHECKPOINT_FILE", "(default)", "/a", "/a", "none",
	 "a", "an absolute path, or"},
	{"names.enabled", "names.enabled", "NAMES_ENABLED", "1", "false", "0", "true", "maybe",
	 "true or false"},
	{"names.logDirectory", "names.log-directory", "NAMES_LOG_DIRECTORY", "/var/log",
	 "/host/log", "/host/log", "/var/log", "log", "an absolute path"},
	{"sinks.stdout", "sinks.stdout", "SINKS_STDOUT", "0", "true", "1", "false", "2",
	 "true or false"},
	{"sinks.file", "sinks.file", "SINKS_FILE", "none", "/a", "/a", "/b", "a",
	 "an absolute path"},
	{"sinks.fileSize", "sinks.file-size", "SINKS_FILE_SIZE", "0", "64Ki", "65536", "none",
	 "63Ki", "none, or a size like"},
	{"sinks.journal", "sinks.journal", "SINKS_JOURNAL", "0", "false", "1", "auto", "never",
	 "auto, true or false"},
	{"sinks.signals", "sinks.signals", "SINKS_SIGNALS", "0", "yes", "1", "no", "SIGTERM",
	 "true or false"},
	{"shutdown.mode", "shutdown.mode", "SHUTDOWN_MODE", "observe", "assist", "assist", "off",
	 "help", "observe, assist, manage or"},
	{"kubelet.config", "kubelet.config", "KUBELET_CONFIG", "none", "/a", "/a", "/b", "a",
	 "an absolute path"},
	{"kubelet.version", "kubelet.version", "KUBELET_VERSION", "36", "1.20", "20", "1.21", "20",
	 "a version from"},
	{"shutdown.control", "shutdown.control", "SHUTDOWN_CONTROL", "0", "true", "1", "false",
	 "maybe", "true or false"},
	{"kubelet.rootDirectory", "kubelet.root-directory", "KUBELET_ROOT_DIRECTORY",
	 "/var/lib/kubelet", "/a", "/a", "/b", "a", "an absolute path"},
	{"shutdown.volumes", "shutdown.volumes", "SHUTDOWN_VOLUMES", "1", "false", "0", "true",
	 "maybe", "true or false"},
	{"shutdown.extra", "shutdown.extra", "SHUTDOWN_EXTRA", "10000000000", "0", "0", "1m", "11m",
	 "a duration like 5s"},
	{"shutdown.overdueSlack", "shutdown.overdue-slack", "SHUTDOWN_OVERDUE_SLACK", "2000000000",
	 "0", "0", "1s", "soon", "a duration like 5s"},
	{"shutdown.statusWait", "shutdown.status-wait", "SHUTDOWN_STATUS_WAIT", "0", "1m",
	 "60000000000", "2s", "1h", "a duration like 5s"},
	{"shutdown.deafGrace", "shutdown.deaf-grace", "SHUTDOWN_DEAF_GRACE", "0", "2s",
	 "2000000000", "off", "on", "a duration like 2s"},
	{"shutdown.preStop", "shutdown.pre-stop", "SHUTDOWN_PRE_STOP", "exec", "skip", "skip",
	 "exec", "run", "exec or skip"},
	{"shutdown.stopUnits", "shutdown.stop-units", "SHUTDOWN_STOP_UNITS", "", "kubelet.service",
	 "kubelet.service", "a@b.timer", "kubelet", "the full name of a unit"},
	{"shutdown.gracePeriod", "shutdown.grace-period", "SHUTDOWN_GRACE_PERIOD", "0", "1m30s",
	 "90000000000", "30s", "soon", "a duration like 30s"},
	{"shutdown.gracePeriodByPodPriority", "shutdown.grace-period-by-pod-priority",
	 "SHUTDOWN_GRACE_PERIOD_BY_POD_PRIORITY", "", "gracePeriodSeconds=7 priority=-5", "-5:7",
	 "priority=0 gracePeriodSeconds=0", "priority=0", "{priority: N, gracePeriodSeconds: N}"},
	{"shutdown.managed", "shutdown.managed", "SHUTDOWN_MANAGED", "",
	 "scope=docker priority=100", "2//:100", "unit=a.service priority=-1", "scope=docker",
	 "priority, and at least one of scope, unit and label"},
	{"metrics.maxSeries", "metrics.max-series", "METRICS_MAX_SERIES", "10000", "50000", "50000",
	 "700", "50001", "a number from 700 to 50000"},
	{"metrics.maxAge", "metrics.max-age", "METRICS_MAX_AGE", "3600000000000", "90s",
	 "90000000000", "1h", "0", "a duration"},
	{"budget.cpu", "budget.cpu", "BUDGET_CPU", "20000", "0.5%", "5000", "off", "2",
	 "a share of one"},
};

static void test_defaults(void **state)
{
	struct confload got;

	confload(&(struct confgiven){}, &got);
	assert_true(got.loaded);
	assert_string_equal(got.err, "");
	for (size_t i = 0; i < LEN(settings); i++)
		confload_assert_shows(&got.config, settings[i].key, settings[i].fallback);
	assert_int_equal(got.config.options.filter.outcomes, 0);
	assert_string_equal(got.config.options.command, "run");
	assert_null(got.config.file);
	config_done(&got.config);
}

/* A file in which the setting stands in line 3. */
static void write_setting(struct buf *out, const struct setting *s, const char *value)
{
	const char *dot = strchr(s->key, '.');

	buf_reset(out);
	if (dot)
		buf_printf(out, "# two\n%.*s:\n  %s: %s\n", (int)(dot - s->key), s->key, dot + 1,
			   value);
	else
		buf_printf(out, "# two\n\n%s: %s\n", s->key, value);
}

static void check_taken(const struct confgiven *given, const struct setting *s, const char *value)
{
	struct confload got;

	confload(given, &got);
	if (!got.loaded)
		fail_msg("%s: %s", s->key, got.err);
	assert_string_equal(got.err, "");
	confload_assert_shows(&got.config, s->key, value);
	config_done(&got.config);
}

static void test_precedence(void **state)
{
	for (size_t i = 0; i < LEN(settings); i++) {
		const struct setting *s = &settings[i];
		_cleanup_(buf_free) struct buf flag = {}, variable = {}, weak = {}, file = {};
		struct confgiven given = {};

		print_message("# %s\n", s->key);
		buf_printf(&flag, "--%s=%s", s->flag, s->good);
		buf_printf(&variable, "GRACED_%s=%s", s->variable, s->good);
		buf_printf(&weak, "GRACED_%s=%s", s->variable, s->other);
		write_setting(&file, s, s->good);
		given.yaml = buf_str(&file);
		check_taken(&given, s, s->becomes);

		write_setting(&file, s, s->other);
		given = (struct confgiven){.variable = buf_str(&variable)};
		check_taken(&given, s, s->becomes);
		given.yaml = buf_str(&file);
		check_taken(&given, s, s->becomes);

		given = (struct confgiven){.flags = {buf_str(&flag)}};
		check_taken(&given, s, s->becomes);
		given.variable = buf_str(&weak);
		check_taken(&given, s, s->becomes);
		given.yaml = buf_str(&file);
		check_taken(&given, s, s->becomes);
	}
}

static void test_wrong_values(void **state)
{
	for (size_t i = 0; i < LEN(settings); i++) {
		const struct setting *s = &settings[i];
		_cleanup_(buf_free) struct buf flag = {}, variable = {}, file = {}, begins = {};
		_cleanup_(buf_free) struct buf wants = {};

		print_message("# %s\n", s->key);
		buf_printf(&wants, "wants %s", s->wants);
		buf_printf(&flag, "--%s=%s", s->flag, s->bad);
		buf_printf(&begins, "graced run: --%s wants ", s->flag);
		confload_assert_refused(&(struct confgiven){.flags = {buf_str(&flag)}}, 2,
					buf_str(&begins), buf_str(&wants));

		buf_reset(&begins);
		buf_printf(&begins, "graced run: GRACED_%s wants ", s->variable);
		buf_printf(&variable, "GRACED_%s=%s", s->variable, s->bad);
		confload_assert_refused(&(struct confgiven){.variable = buf_str(&variable)}, 2,
					buf_str(&begins), buf_str(&wants));

		buf_reset(&begins);
		buf_printf(&begins, "graced run: %s:3: %s: wants ", confload_path, s->key);
		write_setting(&file, s, s->bad);
		confload_assert_refused(&(struct confgiven){.yaml = buf_str(&file)}, 1,
					buf_str(&begins), buf_str(&wants));
	}
}

/* Values of the wrong kind: a section, nothing, a list (where one is wanted, a list of lists). */
static void test_wrong_kinds(void **state)
{
	static const char *const kinds[] = {"{a: b}", "~", "", "[[a]]", "[{a: b}]"};

	for (size_t i = 0; i < LEN(settings) * LEN(kinds); i++) {
		const struct setting *s = &settings[i / LEN(kinds)];
		_cleanup_(buf_free) struct buf file = {}, begins = {};
		struct confload got;

		write_setting(&file, s, kinds[i % LEN(kinds)]);
		print_message("# %s %s\n", s->key, kinds[i % LEN(kinds)]);
		buf_printf(&begins, "graced run: %s:3: %s: wants ", confload_path, s->key);
		confload(&(struct confgiven){.yaml = buf_str(&file)}, &got);
		assert_false(got.loaded);
		assert_int_equal(got.status, 1);
		assert_int_equal(strncmp(got.err, buf_str(&begins), begins.len), 0);
	}
}

static const struct value {
	const char *key, *yaml, *becomes; /* NULL: wrong */
} values[] = {
	{"web.listenAddress", "web: {listenAddress: [127.0.0.1:1, '[::1]:2', localhost:3]}",
	 "127.0.0.1:1,[::1]:2,localhost:3"},
	{"web.listenAddress", "web: {listenAddress: 127.0.0.9:1}", "127.0.0.9:1"},
	{"web.listenAddress", "web: {listenAddress: []}", NULL},
	{"web.listenAddress", "web: {listenAddress: [~]}", NULL},
	{"nestedNodes", "nestedNodes: []", ""},
	{"nestedNodes", "nestedNodes: [/a, \"/b c\"]", "/a,/b c"},
	{"containerRoots", "containerRoots: [/, /b]", "/,/b"},
	{"shutdown.stopUnits", "shutdown: {stopUnits: [a.service, 'b\\x2dc@1.socket']}",
	 "a.service,b\\x2dc@1.socket"},
	{"shutdown.stopUnits", "shutdown: {stopUnits: [/a.service]}", NULL},
	{"shutdown.stopUnits", "shutdown: {stopUnits: ['*.service']}", NULL},
	{"shutdown.stopUnits", "shutdown: {stopUnits: [.service]}", NULL},
	{"shutdown.stopUnits", "shutdown: {stopUnits: ['@a.service']}", NULL},
	{"shutdown.stopUnits", "shutdown: {stopUnits: [a.]}", NULL},
	{"shutdown.managed",
	 "shutdown:\n  managed:\n  - {scope: docker, priority: 100}\n"
	 "  - {unit: \"web-*.service\", priority: 0}\n"
	 "  - label: com.example.tier=db x\n    priority: -1000\n",
	 "2//:100,0/web-*.service/:0,0//com.example.tier=db x:-1000"},
	{"shutdown.managed", "shutdown: {managed: []}", ""},
	{"shutdown.managed", "shutdown: {managed: [{priority: 1}]}", NULL},
	{"shutdown.managed", "shutdown: {managed: [{scope: docker}]}", NULL},
	{"shutdown.managed", "shutdown: {managed: [{scope: pods, priority: 1}]}", NULL},
	{"shutdown.managed", "shutdown: {managed: [{scope: docker, priority: 1, x: 1}]}", NULL},
	{"shutdown.managed", "shutdown: {managed: [docker]}", NULL},
	{"shutdown.managed", "shutdown: {managed: {scope: docker, priority: 1}}", NULL},
	{"web.listenAddress", "web:\n", "127.0.0.1:9753"},
	{"web.listenAddress", "web: {}\nlog: ~\n", "127.0.0.1:9753"},
	{"web.listenAddress", "web: []", NULL},
	{"web.listenAddress", "web: 5", NULL},
	{"web.listenAddress", "web: {insecure: true, listenAddress: ':80'}", ":80"},
	{"web.listenAddress", "web: {configFile: web.yml, listenAddress: 0.0.0.0:80}",
	 "0.0.0.0:80"},
	{"web.listenAddress", "web.listenAddress: 127.0.0.1:5", "127.0.0.1:5"},
	{"web.insecure", "web: {insecure: 'true'}", NULL},
	{"web.insecure", "web: {insecure: [true]}", NULL},
	{"web.insecure", "web: {insecure: Yes}", "1"},
	{"web.telemetryPath", "web: {telemetryPath: /healthz}", NULL},
	{"web.telemetryPath", "web: {telemetryPath: /readyz}", NULL},
	{"web.telemetryPath", "web: {telemetryPath: /}", NULL},
	{"web.telemetryPath", "web: {telemetryPath: '/a b'}", NULL},
	{"web.telemetryPath", "web: {telemetryPath: '/m?x'}", NULL},
	{"web.telemetryPath", "web: {telemetryPath: /healthz/m}", "/healthz/m"},
	{"metrics.maxSeries", "metrics: {maxSeries: '5'}", NULL},
	{"metrics.maxSeries", "metrics: {maxSeries: 0}", NULL},
	{"metrics.maxSeries", "metrics: {maxSeries: -1}", NULL},
	{"metrics.maxSeries", "metrics: {maxSeries: 1e3}", NULL},
	{"metrics.maxSeries", "metrics: {maxSeries: 99999999999999999999}", NULL},
	{"metrics.maxSeries", "metrics: {maxSeries: 700}", "700"},
	{"metrics.maxSeries", "metrics: {maxSeries: 599}", NULL},
	{"metrics.maxSeries", "metrics: {maxSeries: 50001}", NULL},
	{"metrics.maxAge", "metrics: {maxAge: -1s}", NULL},
	{"nodeName", "nodeName: 5", "5"},
	{"nodeName", "nodeName: ''", NULL},
	{"nodeName", "nodeName: \"a\\u202eb\"", NULL},
	{"nodeName", "nodeName: \"a\\0b\"", NULL},
	{"ringSize", "ringSize: 65536", "65536"},
	{"ringSize", "ringSize: 1Gi", "1073741824"},
	{"ringSize", "ringSize: 2Gi", NULL},
	{"ringSize", "ringSize: 1M", NULL},
	{"ringSize", "ringSize: 1MiB", NULL},
	{"ringSize", "ringSize: Mi", NULL},
	{"ringSize", "ringSize: 512", NULL},
	{"ringSize", "ringSize: 17592186044416Mi", NULL},
	{"budget.cpu", "budget: {cpu: 2%}", "20000"},
	{"budget.cpu", "budget: {cpu: 0.02}", "20000"},
	{"budget.cpu", "budget: {cpu: 1}", "1000000"},
	{"budget.cpu", "budget: {cpu: 100%}", "1000000"},
	{"budget.cpu", "budget: {cpu: 0.0001%}", "1"},
	{"budget.cpu", "budget: {cpu: 0}", "0"},
	{"budget.cpu", "budget: {cpu: 0.0%}", "0"},
	{"budget.cpu", "budget: {cpu: off}", "0"},
	{"budget.cpu", "budget: {cpu: 0.00001%}", NULL},
	{"budget.cpu", "budget: {cpu: 101%}", NULL},
	{"budget.cpu", "budget: {cpu: 1.000001}", NULL},
	{"budget.cpu", "budget: {cpu: .5}", NULL},
	{"budget.cpu", "budget: {cpu: 5.}", NULL},
	{"budget.cpu", "budget: {cpu: 2 %}", NULL},
	{"budget.cpu", "budget: {cpu: -1%}", NULL},
	{"budget.cpu", "budget: {cpu: 4294967297%}", NULL},
	{"sinks.journal", "sinks: {journal: true}", "2"},
	{"sinks.journal", "sinks: {journal: auto}", "0"},
	{"log.level", "log: {level: debug}", "7"},
	{"log.level", "log: {level: error}", "3"},
	{"log.level", "log: {level: warning}", "4"},
	{"log.level", "log: {level: INFO}", NULL},
};

static void test_values(void **state)
{
	for (size_t i = 0; i < LEN(values); i++) {
		struct confload got;

		print_message("# %s\n", values[i].yaml);
		confload(&(struct confgiven){.yaml = values[i].yaml}, &got);
		assert_int_equal(got.loaded, values[i].becomes != NULL);
		if (!got.loaded) {
			assert_int_equal(got.status, 1);
			assert_non_null(strstr(got.err, ":1: "));
			continue;
		}
		confload_assert_shows(&got.config, values[i].key, values[i].becomes);
		config_done(&got.config);
	}
}

static const struct use {
	struct confgiven given;
	int status;
	const char *err; /* a part; NULL: it is right */
	const char *key, *becomes;
} uses[] = {
	{{.flags = {"--web.listen-address", "127.0.0.1:1", "--web.listen-address=127.0.0.1:2"},
	  .variable = "GRACED_WEB_LISTEN_ADDRESS=127.0.0.1:3"},
	 0,
	 NULL,
	 "web.listenAddress",
	 "127.0.0.1:1,127.0.0.1:2"},
	{{.variable = "GRACED_WEB_LISTEN_ADDRESS=127.0.0.1:3,[::1]:4",
	  .yaml = "web: {listenAddress: [127.0.0.1:5, 127.0.0.1:6, 127.0.0.1:7]}"},
	 0,
	 NULL,
	 "web.listenAddress",
	 "127.0.0.1:3,[::1]:4"},
	{{.flags = {"--nested-nodes=/x"}, .yaml = "nestedNodes: [/a, /b]"},
	 0,
	 NULL,
	 "nestedNodes",
	 "/x"},
	{{.flags = {"--log.level=debug", "--log.level", "error"}}, 0, NULL, "log.level", "3"},
	{{.variable = "GRACED_LOG_LEVEL=", .yaml = "log: {level: debug}"},
	 0,
	 NULL,
	 "log.level",
	 "7"},
	{{.flags = {"--web.insecure"}}, 0, NULL, "web.insecure", "1"},
	{{.flags = {"--web.insecure", "--web.insecure=false"}}, 0, NULL, "web.insecure", "0"},
	{{.flags = {"--no-names.enabled"}, .yaml = "names: {enabled: true}"},
	 0,
	 NULL,
	 "names.enabled",
	 "0"},
	{{.flags = {"--web.insecure"}, .yaml = "web: {listenAddress: ':80'}"},
	 0,
	 NULL,
	 "web.listenAddress",
	 ":80"},
	{{.variable = "GRACED_SERVICE_HOST=10.0.0.1"}, 0, NULL, "nodeName", "none"},
	{{.variable = "GRACED_PORT_9753_TCP_ADDR=10.0.0.1"}, 0, NULL, "nodeName", "none"},

	{{.flags = {"--nope"}}, 2, "there is no option --nope here;", NULL, NULL},
	{{.flags = {"-x"}}, 2, "there is no option -x here", NULL, NULL},
	{{.flags = {"--scope"}}, 2, "--scope needs an argument", NULL, NULL},
	{{.flags = {"--config"}}, 2, "--config needs an argument", NULL, NULL},
	{{.flags = {"--config="}}, 2, "--config wants a file", NULL, NULL},
	{{.flags = {"--config.check=5"}}, 2, "takes no argument", NULL, NULL},
	{{.flags = {"--no-web.insecure=5"}}, 2, "takes no argument", NULL, NULL},
	{{.flags = {"--no-scope"}}, 2, "there is no option --no-scope", NULL, NULL},
	{{.flags = {"extra"}}, 2, "'extra' is one argument too many", NULL, NULL},
	{{.flags = {"--web.insecure", "false"}}, 2, "'false' is one argument too", NULL, NULL},
	{{.flags = {"--web.listen-adress=127.0.0.1:1"}},
	 2,
	 "there is no option --web.listen-adress here (did you mean --web.listen-address?)",
	 NULL,
	 NULL},
	{{.flags = {"--listen-address=:1"}}, 2, "(did you mean --web.listen-address?)", NULL, NULL},
	{{.variable = "GRACED_NESTED_NODES=/a,b"}, 2, "GRACED_NESTED_NODES wants", NULL, NULL},
	{{.variable = "GRACED_NESTED_NODES=/a,"}, 2, "GRACED_NESTED_NODES wants", NULL, NULL},
	{{.flags = {"--web.listen-address=0.0.0.0:80"}},
	 2,
	 "--web.listen-address: 0.0.0.0:80 can be reached from other hosts",
	 NULL,
	 NULL},
	{{.variable = "GRACED_WEB_LISTEN_ADDRESS=127.0.0.1:1,[::]:80"},
	 2,
	 "GRACED_WEB_LISTEN_ADDRESS: [::]:80 can be",
	 NULL,
	 NULL},
	{{.yaml = "web:\n  listenAddress:\n  - 127.0.0.1:1\n  - 10.0.0.1:80\n"},
	 1,
	 ":4: web.listenAddress: 10.0.0.1:80 can be reached",
	 NULL,
	 NULL},
	{{.flags = {"--config=/nowhere/graced.yaml"}},
	 1,
	 "cannot open /nowhere/graced.yaml: No",
	 NULL,
	 NULL},
	{{.variable = "GRACED_CONFIG=/nowhere/graced.yaml"},
	 1,
	 "cannot open /nowhere/gr",
	 NULL,
	 NULL},
};

static void test_uses(void **state)
{
	for (size_t i = 0; i < LEN(uses); i++) {
		struct confload got;

		print_message("# use %zu\n", i);
		confload(&uses[i].given, &got);
		assert_int_equal(got.loaded, uses[i].err == NULL);
		if (got.loaded) {
			assert_string_equal(got.err, "");
			confload_assert_shows(&got.config, uses[i].key, uses[i].becomes);
			config_done(&got.config);
			continue;
		}
		assert_int_equal(got.status, uses[i].status);
		assert_string_equal(got.out, "");
		if (!strstr(got.err, uses[i].err))
			fail_msg("%s", got.err);
		assert_ptr_equal(strchr(got.err, '\n'), got.err + strlen(got.err) - 1);
	}
}

static void test_misspelt_variable(void **state)
{
	struct confload got;

	confload(&(struct confgiven){.variable = "GRACED_WEB_LISTEN_ADRESS=:80"}, &got);
	assert_true(got.loaded);
	assert_string_equal(got.err, "graced run: GRACED_WEB_LISTEN_ADRESS is not read here (did "
				     "you mean GRACED_WEB_LISTEN_ADDRESS?)\n");
	confload_assert_shows(&got.config, "web.listenAddress", "127.0.0.1:9753");
	config_done(&got.config);
}

static void test_help(void **state)
{
	struct confload got;

	confload(&(struct confgiven){.yaml = ": [", .flags = {"--help", "--nope"}}, &got);
	assert_false(got.loaded);
	assert_int_equal(got.status, 0);
	assert_string_equal(got.err, "");
	assert_int_equal(strncmp(got.out, "usage: graced run", 17), 0);
	for (size_t i = 0; i < LEN(settings); i++) {
		_cleanup_(buf_free) struct buf flag = {};

		buf_printf(&flag, "--%s", settings[i].flag);
		assert_non_null(strstr(got.out, buf_str(&flag)));
	}
	assert_non_null(strstr(got.out, "--config FILE"));
	assert_non_null(strstr(got.out, "GRACED_CONFIG"));
	for (char *line = strtok(got.out, "\n"); line; line = strtok(NULL, "\n"))
		assert_in_range(strlen(line), 0, 100);
}

/* Each of these settings is right by itself. */
static void test_kubelet(void **state)
{
	static const char clear[] = "in the clear", unverified[] = "cannot be verified";

	confload_assert_refused(&(struct confgiven){.flags = {"--kubelet.url=https://127.0.0.1:1",
							      "--config.check"}},
				2, "graced run: --kubelet.url: ", unverified);
	confload_assert_refused(
		&(struct confgiven){.variable = "GRACED_KUBELET_URL=https://127.0.0.1:1"}, 2,
		"graced run: GRACED_KUBELET_URL: ", unverified);
	confload_assert_refused(
		&(struct confgiven){
			.yaml = "kubelet:\n  url: http://127.0.0.1:1\n  tokenFile: /t\n"},
		1, "graced run: ", clear);
	confload_assert_refused(&(struct confgiven){.yaml = "kubelet:\n  url: http://127.0.0.1:1\n",
						    .flags = {"--kubelet.token-file=/t"}},
				1, "graced run: ", clear);
	confload_assert_refused(&(struct confgiven){.flags = {"--kubelet.token-file=/t"}}, 2,
				"graced run: kubelet.url: ", "no URL");
	confload_assert_refused(&(struct confgiven){.yaml = "kubelet:\n  ca: /ca\n"}, 2,
				"graced run: kubelet.url: ", "no URL");
	confload_assert_refused(&(struct confgiven){.flags = {"--kubelet.url=http://[::1]:65536"}},
				2, "graced run: --kubelet.url: ", "should look like");
}

/* The same rules, and a name that the API has for the node. */
static void test_api(void **state)
{
	confload_assert_refused(
		&(struct confgiven){.flags = {"--api.url=https://10.96.0.1:443", "--config.check"}},
		2, "graced run: --api.url: ", "cannot be verified");
	confload_assert_refused(&(struct confgiven){.yaml = "api:\n  url: http://127.0.0.1:1\n",
						    .flags = {"--api.token-file=/t"}},
				1, "graced run: ", "in the clear");
	confload_assert_refused(&(struct confgiven){.yaml = "api:\n  ca: /ca\n"}, 2,
				"graced run: api.url: ", "no URL");
	confload_assert_refused(&(struct confgiven){.yaml = "nodeName: Node_1\napi:\n"
							    "  url: http://127.0.0.1:1\n"},
				1, "graced run: ", "not one of Kubernetes");
}

static void test_api_report(void **state)
{
	struct confload got;

	confload(&(struct confgiven){.yaml = "api:\n  url: http://127.0.0.1:1\n"}, &got);
	assert_true(got.loaded && !got.config.report_events);
	config_done(&got.config);
	confload(
		&(struct confgiven){
			.yaml = "api:\n  url: http://127.0.0.1:1\n  report: [events]\n"},
		&got);
	assert_true(got.loaded && got.config.report_events);
	config_done(&got.config);
	confload(&(struct confgiven){.flags = {"--api.url=http://127.0.0.1:1",
					       "--api.report=events", "--api.report=events"}},
		 &got);
	assert_true(got.loaded && got.config.report_events);
	config_done(&got.config);
	confload_assert_refused(&(struct confgiven){.flags = {"--api.report=events"}}, 2,
				"graced run: --api.report: ", "wants an API server");
	confload_assert_refused(&(struct confgiven){.yaml = "api:\n  report: [events]\n"}, 1,
				"graced run: ", "wants an API server");
	confload_assert_refused(&(struct confgiven){.flags = {"--api.report=everything"}}, 2,
				"graced run: ", "events");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("each setting has its default", test_defaults),
		CLAIM("flags win over the environment, which wins over the file", test_precedence),
		CLAIM("a wrong value is reported by its flag, variable, or line and key",
		      test_wrong_values),
		CLAIM("a value of the wrong kind is reported by its line and key",
		      test_wrong_kinds),
		CLAIM("values in a file are taken as they are meant", test_values),
		CLAIM("lists, flags and variables are used rightly and wrongly", test_uses),
		CLAIM("a misspelt variable is reported and does no harm", test_misspelt_variable),
		CLAIM("--help knows every flag and fits the screen", test_help),
		CLAIM("a kubelet that would be asked without trust is refused", test_kubelet),
		CLAIM("what is written to the API server is listed, and needs one",
		      test_api_report),
		CLAIM("an API server that would be, or for another node, is refused", test_api),
	};

	return cmocka_run_group_tests_name("config", tests, confload_set_up, confload_tear_down);
}
