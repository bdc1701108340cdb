// SPDX-License-Identifier: Apache-2.0
/* Runs config_load() with its output caught. */
#include "lib/daemon/confload.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"

char confload_dir[] = "/tmp/graced-config-XXXXXX";
char confload_path[PATH_MAX];

void confload_write(const char *yaml, mode_t mode)
{
	FILE *f;

	unlink(confload_path);
	f = fopen(confload_path, "w");
	assert_non_null(f);
	fputs(yaml, f);
	assert_int_equal(fchmod(fileno(f), mode), 0);
	assert_int_equal(fclose(f), 0);
}

void confload_begin_capture(FILE *stream, int *ret_saved, int *ret_fd)
{
	fflush(stream);
	*ret_saved = dup(fileno(stream));
	*ret_fd = memfd_create("captured", MFD_CLOEXEC);
	assert_true(*ret_saved >= 0 && *ret_fd >= 0);
	assert_true(dup2(*ret_fd, fileno(stream)) >= 0);
}

void confload_end_capture(FILE *stream, int saved, int fd, char *ret, size_t size)
{
	ssize_t n;

	fflush(stream);
	dup2(saved, fileno(stream));
	close(saved);
	n = pread(fd, ret, size - 1, 0);
	ret[n > 0 ? n : 0] = '\0';
	close(fd);
}

void confload_argv(int argc, char **argv, struct confload *ret)
{
	int out, err, saved_out, saved_err;

	ret->status = -1;
	confload_begin_capture(stdout, &saved_out, &out);
	confload_begin_capture(stderr, &saved_err, &err);
	ret->loaded = config_load(argc, argv, &ret->config, &ret->status);
	confload_end_capture(stderr, saved_err, err, ret->err, sizeof(ret->err));
	confload_end_capture(stdout, saved_out, out, ret->out, sizeof(ret->out));
}

void confload(const struct confgiven *given, struct confload *ret)
{
	_cleanup_(cleanup_free) char *variable = given->variable ? strdup(given->variable) : NULL;
	char *argv[CONFLOAD_ARGS_MAX + 4] = {"run"};
	int argc = 1;

	memset(ret, 0, sizeof(*ret));
	if (given->yaml) {
		confload_write(given->yaml, 0600);
		argv[argc++] = "--config";
		argv[argc++] = confload_path;
	}
	for (size_t i = 0; i < CONFLOAD_ARGS_MAX && given->flags[i]; i++)
		argv[argc++] = (char *)given->flags[i];
	if (variable) {
		*strchr(variable, '=') = '\0';
		setenv(variable, strchr(given->variable, '=') + 1, 1);
	}
	confload_argv(argc, argv, ret);
	if (variable)
		unsetenv(variable);
}

static const char *or_none(const char *text)
{
	return text ? text : "none";
}

static void show_managed(struct buf *out, const struct config_shutdown *c)
{
	buf_printf(out, "|shutdown.gracePeriod=%llu|shutdown.gracePeriodCriticalPods=%llu",
		   (unsigned long long)c->groups.total_ns,
		   (unsigned long long)c->groups.critical_ns);
	buf_adds(out, "|shutdown.gracePeriodByPodPriority=");
	for (size_t i = 0; i < c->groups.n_list; i++)
		buf_printf(out, "%s%" PRId32 ":%" PRId64, i ? "," : "", c->groups.list[i].priority,
			   c->groups.list[i].seconds);
	buf_adds(out, "|shutdown.managed=");
	for (size_t i = 0; i < c->n_managed; i++) {
		const struct managed_rule *rule = &c->managed[i];

		buf_printf(out, "%s%u/%s/%s:%" PRId32, i ? "," : "", rule->scope, rule->unit,
			   rule->label, rule->priority);
	}
	buf_printf(out, "|shutdown.preStop=%s", c->skip_hooks ? "skip" : "exec");
	buf_adds(out, "|shutdown.stopUnits=");
	for (const char *const *unit = c->stop_units; *unit; unit++)
		buf_printf(out, "%s%s", unit == c->stop_units ? "" : ",", *unit);
}

/* All settings, in the order of the table below. */
static void show(struct buf *out, const struct config *c)
{
	char ring[32];

	snprintf(ring, sizeof(ring), "%zu", c->options.ring_bytes);
	buf_printf(out, "|nodeName=%s|scope=%s|assumeGrace=%llu|hierarchy=%s",
		   or_none(c->options.node_name), engine_scope_name(c->options.engine.scope),
		   (unsigned long long)c->options.engine.assumed_grace_ns,
		   or_none(c->options.hierarchy));
	buf_adds(out, "|nestedNodes=");
	for (size_t i = 0; i < c->options.n_nested; i++)
		buf_printf(out, "%s%s", i ? "," : "", c->options.nested[i]);
	assert_null(c->options.nested[c->options.n_nested]);
	buf_adds(out, "|containerRoots=");
	for (size_t i = 0; i < c->options.n_roots; i++)
		buf_printf(out, "%s%s", i ? "," : "", c->options.roots[i]);
	assert_null(c->options.roots[c->options.n_roots]);
	buf_printf(out, "|ringSize=%s|log.level=%d|log.format=%d|web.listenAddress=", ring,
		   c->log_level, c->log_json);
	for (size_t i = 0; i < c->n_listen; i++)
		buf_printf(out, "%s%s", i ? "," : "", c->listen[i]);
	buf_adds(out, "|web.hosts=");
	for (size_t i = 0; i < c->n_hosts; i++)
		buf_printf(out, "%s%s", i ? "," : "", c->hosts[i]);
	buf_printf(out, "|web.telemetryPath=%s|web.configFile=%s|web.insecure=%d",
		   c->telemetry_path, or_none(c->web_config_file), c->web_insecure);
	buf_printf(out, "|names.enabled=%d|names.logDirectory=%s|sinks.stdout=%d|sinks.file=%s",
		   !c->options.no_names, c->options.log_dir, c->sink_stdout, or_none(c->sink_file));
	buf_printf(out, "|sinks.fileSize=%llu", (unsigned long long)c->sink_file_size);
	buf_printf(out, "|control.socket=%s", or_none(c->control_socket));
	buf_printf(out, "|checkpoint.file=%s",
		   c->checkpoint_file ? c->checkpoint_file : "(default)");
	buf_printf(out, "|shutdown.mode=%s|kubelet.config=%s|kubelet.version=%u",
		   c->shutdown.off ? "off" : shutdown_mode_name(c->shutdown.mode),
		   or_none(c->shutdown.kubelet_config), c->shutdown.kubelet_minor);
	buf_printf(out, "|kubelet.rootDirectory=%s|shutdown.volumes=%d", c->shutdown.kubelet_root,
		   c->shutdown.volumes);
	buf_printf(out, "|shutdown.control=%d|shutdown.extra=%llu", c->shutdown.control,
		   (unsigned long long)c->shutdown.extra_ns);
	buf_printf(out,
		   "|shutdown.overdueSlack=%llu|shutdown.statusWait=%llu|shutdown.deafGrace=%llu",
		   (unsigned long long)c->shutdown.overdue_slack_ns,
		   (unsigned long long)c->shutdown.status_wait_ns,
		   (unsigned long long)c->shutdown.deaf_grace_ns);
	show_managed(out, &c->shutdown);
	buf_printf(out, "|sinks.journal=%d|sinks.signals=%d|metrics.maxSeries=%llu",
		   c->sink_journal, c->sink_signals, (unsigned long long)c->max_series);
	buf_printf(out, "|metrics.maxAge=%llu|budget.cpu=%u|", (unsigned long long)c->max_age_ns,
		   c->budget_ppm);
}

void confload_assert_shows(const struct config *config, const char *key, const char *value)
{
	_cleanup_(buf_free) struct buf shown = {}, wanted = {};

	show(&shown, config);
	buf_printf(&wanted, "|%s=%s|", key, value);
	if (!strstr(buf_str(&shown), buf_str(&wanted)))
		fail_msg("%s is not in %s", buf_str(&wanted), buf_str(&shown));
}

void confload_assert_refused(const struct confgiven *given, int status, const char *begins,
			     const char *holds)
{
	struct confload got;

	confload(given, &got);
	assert_false(got.loaded);
	assert_string_equal(got.out, "");
	if (got.status != status || strncmp(got.err, begins, strlen(begins)) != 0 ||
	    !strstr(got.err, holds) || strchr(got.err, '\n') != got.err + strlen(got.err) - 1)
		fail_msg("%d, '%s' … '%s': %d, %s", status, begins, holds, got.status, got.err);
}

/* The caller may have settings of its own; all else of the environment is the test program's. */
static void forget_settings(void)
{
	size_t i = 0;

	unsetenv("NODE_NAME");
	while (environ[i]) {
		char name[256] = "";

		if (strncmp(environ[i], "GRACED_", strlen("GRACED_")) != 0) {
			i++;
			continue;
		}
		snprintf(name, sizeof(name), "%.*s", (int)strcspn(environ[i], "="), environ[i]);
		/* Moves the next one here; a name too long to be a setting's stays. */
		if (strlen(name) == sizeof(name) - 1 || unsetenv(name) < 0)
			i++;
	}
}

static const char *const web_names[] = {"web.yml", "other.yml"};

int confload_set_up(void **state)
{
	forget_settings();
	if (!mkdtemp(confload_dir) || chdir(confload_dir) < 0)
		return -1;
	for (size_t i = 0; i < LEN(web_names); i++) {
		snprintf(confload_path, sizeof(confload_path), "%s/%s", confload_dir, web_names[i]);
		confload_write("basic_auth_users:\n  joe: "
			       "$2b$04$abcdefghijklmnopqrstuu2r9OfJnfCsdneAXAGHnS4UpFFP8WIrW\n",
			       0600);
	}
	snprintf(confload_path, sizeof(confload_path), "%s/graced.yaml", confload_dir);
	return 0;
}

int confload_tear_down(void **state)
{
	unlink(confload_path);
	for (size_t i = 0; i < LEN(web_names); i++)
		unlink(web_names[i]);
	return chdir("/") < 0 ? -1 : rmdir(confload_dir);
}
