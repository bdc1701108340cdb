// SPDX-License-Identifier: Apache-2.0
// Run the distribution's Prometheus as a child and ask it over its API.
#include "lib/daemon/prom.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "lib/net/http.h"
#include "lib/run.h"

#define START_S 60

struct prom {
	pid_t pid;
	uint16_t port;
	const char *features; /* with them there are rules; NULL: none */
	bool alerts;	      /* minutes are seconds */
	char dir[64];
};

static const char *program(const char *name)
{
	static char path[512];
	const char *dir = getenv("PROMETHEUS");

	snprintf(path, sizeof(path), "%s/%s", dir ? dir : "/usr/bin", name);
	return path;
}

const char *prom_unavailable(void)
{
	if (access(program("prometheus"), X_OK) < 0)
		return "PROMETHEUS does not name the directory of the program";
	return NULL;
}

uint16_t prom_free_port(void)
{
	struct sockaddr_in address = {.sin_family = AF_INET};
	socklen_t size = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	if (fd < 0 || bind(fd, (const struct sockaddr *)&address, size) < 0 ||
	    getsockname(fd, (struct sockaddr *)&address, &size) < 0)
		address.sin_port = 0;
	if (fd >= 0)
		close(fd);
	return ntohs(address.sin_port);
}

static int write_rules(const struct prom *p, const char *const *exprs, size_t n)
{
	char path[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/rules.yml", p->dir);
	file = fopen(path, "w");
	if (!file)
		return -errno;
	fprintf(file, "groups:\n  - name: queries\n    interval: 1s\n    rules:\n");
	for (size_t i = 0; i < n; i++)
		fprintf(file, "      - alert: query%zu\n        expr: >-\n          %s\n", i,
			exprs[i]);
	return fclose(file) ? -errno : 0;
}

static FILE *open_config(const struct prom *p)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/prometheus.yml", p->dir);
	return fopen(path, "w");
}

static int write_config_of_rules(const struct prom *p, uint16_t target)
{
	static const char *const jobs[] = {"graced", "renamed"};
	FILE *file = open_config(p);

	if (!file)
		return -errno;
	fprintf(file, "global:\n  scrape_interval: 1s\n  scrape_timeout: 1s\n"
		      "rule_files: [rules.yml]\nscrape_configs:\n");
	for (size_t i = 0; i < 2; i++)
		fprintf(file,
			"  - job_name: %s\n    honor_labels: %s\n    static_configs:\n"
			"      - targets: ['127.0.0.1:%u']\n"
			"        labels: {namespace: graced, container: graced}\n",
			jobs[i], i ? "false" : "true", target);
	return fclose(file) ? -errno : 0;
}

/* A command that makes the file $0 of deploy/graced.rules.yaml. */
static int edit_rules(const struct prom *p, const char *command)
{
	char path[96];
	struct run_result result;
	int r;

	snprintf(path, sizeof(path), "%s/rules.yml", p->dir);
	r = run(&(struct run_spec){.exe = "/bin/sh",
				   .args = (const char *const[]){"-c", command, path, NULL}},
		&result);
	if (r < 0)
		return r;
	r = result.status ? -EIO : 0;
	run_done(&result);
	return r;
}

/* All groups are evaluated each second, those with an interval of their own, too. */
static int write_rules_each_second(const struct prom *p)
{
	return edit_rules(p,
			  "sed -E 's/^( +interval:) .*/\\1 1s/' deploy/graced.rules.yaml >\"$0\"");
}

static int write_config(const struct prom *p, uint16_t target)
{
	FILE *file = open_config(p);

	if (!file)
		return -errno;
	fprintf(file,
		"global:\n  scrape_interval: %us\n  scrape_timeout: %us\n"
		"  evaluation_interval: 1s\nrule_files: [%s]\n"
		"scrape_configs:\n"
		"  - job_name: graced\n    static_configs:\n      - targets: ['127.0.0.1:%u']\n"
		"  - job_name: itself\n    static_configs:\n      - targets: ['127.0.0.1:%u']\n",
		p->features ? 1 : 2, p->features ? 1 : 2, p->features ? "rules.yml" : "", target,
		p->port);
	return fclose(file) ? -errno : 0;
}

/* Minutes before hours: what was an hour is a minute then. Fails where a duration is left that is
 * as long as in the file. */
static int write_alerts(const struct prom *p)
{
	return edit_rules(p,
			  "sed -E 's/\\b([0-9]+)m\\b/\\1s/g; s/\\b([0-9]+)h\\b/\\1m/g; "
			  "s/\\b1d\\b/24m/g; s/ \\* 60\\b//g' deploy/graced.rules.yaml >\"$0\" && "
			  "! grep -E '\\b[0-9]+[hdwy]\\b' \"$0\"");
}

static int write_config_of_alerts(const struct prom *p)
{
	FILE *file = open_config(p);

	if (!file)
		return -errno;
	fprintf(file,
		"global:\n  scrape_interval: %ds\n  scrape_timeout: %ds\n"
		"  evaluation_interval: %ds\nrule_files: [rules.yml]\nscrape_configs:\n"
		"  - job_name: graced\n    honor_labels: true\n    file_sd_configs:\n"
		"      - files: ['%s/targets.json']\n",
		PROM_MINUTE_S, PROM_MINUTE_S, PROM_MINUTE_S, p->dir);
	return fclose(file) ? -errno : 0;
}

int prom_retarget(const struct prom *p, uint16_t target)
{
	char path[96], next[96];
	FILE *file;

	snprintf(path, sizeof(path), "%s/targets.json", p->dir);
	snprintf(next, sizeof(next), "%s/next", p->dir);
	file = fopen(next, "w");
	if (!file)
		return -errno;
	fprintf(file, "[{\"targets\":[\"127.0.0.1:%u\"],\"labels\":{\"node\":\"node-1\"}}]\n",
		target);
	if (fclose(file) || rename(next, path) < 0)
		return -errno;
	return 0;
}

static int write_all_of_alerts(const struct prom *p, uint16_t target)
{
	int r = write_config_of_alerts(p);

	if (!r)
		r = write_alerts(p);
	return r ? r : prom_retarget(p, target);
}

/* Features, or times that are 5, 10 and 60 minutes by default. */
static void add_arguments(const struct prom *p, char features[static 128], const char **argv)
{
	if (p->features) {
		snprintf(features, 128, "--enable-feature=%s", p->features);
		*argv++ = features;
	}
	if (p->alerts) {
		*argv++ = "--query.lookback-delta=5s";
		*argv++ = "--rules.alert.for-grace-period=10s";
		*argv++ = "--rules.alert.for-outage-tolerance=60s";
		*argv++ = "--scrape.discovery-reload-interval=100ms";
	}
	*argv = NULL;
}

static void exec_prom(const struct prom *p) __attribute__((noreturn));
static void exec_prom(const struct prom *p)
{
	char config[128], data[128], listen[64], log[96], features[128];
	const char *argv[16] = {"prometheus", config, data, listen, "--log.level=debug"};
	int fd;

	snprintf(config, sizeof(config), "--config.file=%s/prometheus.yml", p->dir);
	snprintf(data, sizeof(data), "--storage.tsdb.path=%s/data", p->dir);
	snprintf(listen, sizeof(listen), "--web.listen-address=127.0.0.1:%u", p->port);
	snprintf(log, sizeof(log), "%s/log", p->dir);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fd = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
	if (fd < 0 || dup2(fd, 1) < 0 || dup2(fd, 2) < 0)
		_exit(126);
	add_arguments(p, features, argv + 5);
	execv(program("prometheus"), (char *const *)(uintptr_t)argv);
	_exit(127);
}

static int await_ready(struct prom *p)
{
	time_t until = time(NULL) + START_S;
	struct buf page = {};
	int status = 0;

	while (status != 200 && time(NULL) < until) {
		status = http_get(p->port, "/-/ready", NULL, &page);
		usleep(100000);
	}
	buf_free(&page);
	return status == 200 ? 0 : -ETIMEDOUT;
}

static int spawn(struct prom *p)
{
	p->pid = fork();
	if (p->pid == 0)
		exec_prom(p);
	return p->pid < 0 ? -errno : await_ready(p);
}

/* With a directory and a port; NULL without memory. */
static struct prom *new_prom(void)
{
	struct prom *p = calloc(1, sizeof(*p));

	if (!p)
		return NULL;
	strcpy(p->dir, "/tmp/graced-prom-XXXXXX");
	p->port = prom_free_port();
	if (mkdtemp(p->dir))
		return p;
	free(p);
	return NULL;
}

/* r: how the writing of its files went. */
static int start(struct prom *p, int r, struct prom **ret)
{
	if (!r)
		r = spawn(p);
	if (r)
		prom_free(p);
	else
		*ret = p;
	return r;
}

int prom_start_features(uint16_t target, const char *features, struct prom **ret)
{
	struct prom *p = new_prom();
	int r;

	if (!p)
		return -ENOMEM;
	p->features = features;
	r = write_config(p, target);
	if (!r && features)
		r = write_rules_each_second(p);
	return start(p, r, ret);
}

int prom_start(uint16_t target, struct prom **ret)
{
	return prom_start_features(target, NULL, ret);
}

int prom_start_rules(uint16_t target, const char *const *exprs, size_t n_exprs, struct prom **ret)
{
	struct prom *p = new_prom();
	int r;

	if (!p)
		return -ENOMEM;
	r = write_config_of_rules(p, target);
	return start(p, r ? r : write_rules(p, exprs, n_exprs), ret);
}

int prom_start_alerts(uint16_t target, struct prom **ret)
{
	struct prom *p = new_prom();

	if (!p)
		return -ENOMEM;
	p->alerts = true;
	return start(p, write_all_of_alerts(p, target), ret);
}

int prom_restart(struct prom *p, int sig)
{
	kill(p->pid, sig);
	waitpid(p->pid, NULL, 0);
	return spawn(p);
}

struct prom *prom_free(struct prom *p)
{
	struct run_result result;

	if (!p)
		return NULL;
	if (p->pid > 0) {
		kill(p->pid, SIGKILL);
		waitpid(p->pid, NULL, 0);
	}
	if (run(&(struct run_spec){.exe = "/bin/rm",
				   .args = (const char *const[]){"-r", p->dir, NULL}},
		&result) == 0)
		run_done(&result);
	free(p);
	return NULL;
}

static void add_escaped(struct buf *path, const char *query)
{
	for (; *query; query++)
		buf_printf(path, "%%%02x", (unsigned char)*query);
}

/* What the API has under "data". */
static json_t *ask(const struct prom *p, const char *method, const char *query, const char *more)
{
	struct buf path = {}, page = {};
	json_t *root = NULL, *data = NULL;

	buf_printf(&path, "/api/v1/%s?query=", method);
	add_escaped(&path, query);
	buf_adds(&path, more);
	if (http_get(p->port, buf_str(&path), NULL, &page) == 200)
		root = json_loads(buf_str(&page), 0, NULL);
	if (root)
		data = json_incref(json_object_get(root, "data"));
	json_decref(root);
	buf_free(&path);
	buf_free(&page);
	return data;
}

json_t *prom_query(const struct prom *p, const char *query)
{
	json_t *data = ask(p, "query", query, "");
	json_t *result = json_incref(json_object_get(data, "result"));

	json_decref(data);
	return result;
}

json_t *prom_exemplars(const struct prom *p, const char *selector)
{
	char range[64];

	snprintf(range, sizeof(range), "&start=%lld&end=%lld", (long long)time(NULL) - 3600,
		 (long long)time(NULL) + 60);
	return ask(p, "query_exemplars", selector, range);
}

double prom_value(const struct prom *p, const char *query)
{
	json_t *result = prom_query(p, query);
	const json_t *pair = json_object_get(json_array_get(result, 0), "value");
	const char *text = json_string_value(json_array_get(pair, 1));
	double value = json_array_size(result) == 1 && text ? strtod(text, NULL) : -1;

	json_decref(result);
	return value;
}

bool prom_check(const char *page)
{
	char path[] = "/tmp/graced-page-XXXXXX", command[640];
	int fd = mkstemp(path);
	struct run_result result;
	bool clean = false;

	if (fd < 0 || write(fd, page, strlen(page)) != (ssize_t)strlen(page))
		return false;
	close(fd);
	snprintf(command, sizeof(command), "exec %s check metrics < %s", program("promtool"), path);
	if (run(&(struct run_spec){.exe = "/bin/sh",
				   .args = (const char *const[]){"-c", command, NULL}},
		&result) == 0) {
		clean = result.status == 0 && result.out_len + result.err_len == 0;
		if (!clean)
			fprintf(stderr, "promtool: %s%s\n", result.out, result.err);
		run_done(&result);
	}
	unlink(path);
	return clean;
}
