// SPDX-License-Identifier: Apache-2.0
// Each remedy of docs/fix.md, as it stands there: built by Docker, audited and stopped, before it
// and after it; those of shells, handlers and traps by Podman and containerd as well. The images
// that the page builds on are one of this host's own programs, as no registry is asked: lines that
// install a package there are left out.
#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/box/page.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/patience.h"
#include "lib/run.h"
#include "lib/runtime/containerd.h"
#include "lib/runtime/docker.h"

#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE	  "docs/fix.md"
#define BASE_TOOL "tests/lib/runtime_base.sh"
#define MARK	  "<!-- file: "
#define LINE_SIZE 1024

static struct runtime_stage stage;
static pid_t dockerd;
static struct runtime_containerd containerd;
static char files[HIER_PATH_MAX]; /* a directory for each container of the page */

/* --- the page --- */

/* The text's last blank-separated words are the paths that the file gets. */
static FILE *open_next(char **names)
{
	char path[2 * HIER_PATH_MAX], *dir, *name = strsep(names, " ");
	FILE *out;

	if (!name || !strcmp(name, "-->"))
		return NULL;
	snprintf(path, sizeof(path), "%s/%s", files, name);
	dir = strdup(path);
	mkdir(dirname(dir), 0755);
	free(dir);
	assert_int_not_equal(access(path, F_OK), 0);
	out = fopen(path, "we");
	assert_non_null(out);
	/* Only scripts need it. */
	assert_int_equal(fchmod(fileno(out), 0755), 0);
	return out;
}

static void write_block(char *names, const char *text)
{
	FILE *out;

	while ((out = open_next(&names))) {
		fputs(text, out);
		assert_int_equal(fclose(out), 0);
	}
}

static void read_block(FILE *page, const char *mark)
{
	_cleanup_(buf_free) struct buf text = {};
	char line[LINE_SIZE], *names = strdup(mark + strlen(MARK)), *all = names;

	assert_non_null(names);
	names[strcspn(names, "\n")] = '\0';
	assert_non_null(fgets(line, sizeof(line), page));
	assert_int_equal(strncmp(line, "```", 3), 0);
	while (fgets(line, sizeof(line), page) && strncmp(line, "```", 3))
		if (strncmp(line, "RUN apt-get ", 12) != 0)
			buf_adds(&text, line);
	write_block(names, buf_str(&text));
	free(all);
}

static void read_page(void)
{
	FILE *page = fopen(PAGE, "re");
	char line[LINE_SIZE];

	assert_non_null(page);
	while (fgets(line, sizeof(line), page))
		if (!strncmp(line, MARK, strlen(MARK)))
			read_block(page, line);
	fclose(page);
}

/* --- containers --- */

#define AUDIT(verdict, reason) "{'verdict':'" verdict "','reason':'" reason "'}"
#define BEHIND(comm) \
	"{'verdict':'deaf','reason':'shell','shell':{'waits':true,'app':{'comm':'" comm "'}}}"
#define WARNED(warning) "{'verdict':'hears','warnings':['" warning "']}"
#define EARLY		"{'kill_signal':null,'deaf':false,'stop_signal':{'result':'delivered'}}"
#define CODE(code)	"{'kill_signal':null,'deaf':false,'exit':{'code':" code "}}"
#define CUT_SHORT	"{'outcome':'killed','cause':'grace-expired','exit':{'signal':9}}"

struct container {
	const char *dir;     /* of the page */
	const char *needs;   /* a program of this host; NULL: nothing but what make deps installs */
	const char *options; /* of docker run; NULL: none */
	const char *audited, *stopped;
	const char *says; /* ... once it was stopped; NULL: anything */
	bool everywhere;  /* also by Podman and containerd */
};

static const struct container deaf[] = {
	{"exec-before", .audited = "{'verdict':'deaf','reason':'shell'}", .stopped = CUT_SHORT,
	 .everywhere = true},
	{"script-before", .audited = BEHIND("python3"), .stopped = CUT_SHORT, .everywhere = true},
	{"handler-before", .audited = AUDIT("deaf", "no-handler"), .stopped = CUT_SHORT,
	 .everywhere = true},
	{"init-before", .audited = AUDIT("deaf", "no-handler"), .stopped = CUT_SHORT},
	{"shared-before", .audited = AUDIT("deaf", "no-handler"), .stopped = CUT_SHORT},
	{"trap-before", .audited = WARNED("shell-waits"), .stopped = CUT_SHORT, .everywhere = true},
	{"winch-before", .audited = AUDIT("ignores", "default-ignore"), .stopped = CUT_SHORT},
	{"tstp-before", .audited = AUDIT("deaf", "suspends"), .stopped = CUT_SHORT},
	{"ignored-before", .audited = AUDIT("ignores", "ignored"), .stopped = CUT_SHORT},
	{"inherited-before", .options = "--init", .audited = WARNED("child-ignored"),
	 .stopped = CUT_SHORT},
	{"blocked-before", .audited = AUDIT("deaf", "blocked"), .stopped = CUT_SHORT},
	{"node-before", "/usr/bin/node", .audited = WARNED("may-reraise"), .stopped = CUT_SHORT},
	{"java-before", "/usr/bin/java", .audited = BEHIND("java"), .stopped = CUT_SHORT},
	{"go-before", "/usr/bin/go", .audited = BEHIND("app"), .stopped = CUT_SHORT},
	{"nginx-before", "/usr/sbin/nginx", .audited = BEHIND("nginx"), .stopped = CUT_SHORT},
};

static const struct container hearing[] = {
	{"exec-after", .audited = AUDIT("hears", "handler"), .stopped = CODE("0"),
	 .says = "stopping", .everywhere = true},
	{"script-after", .audited = AUDIT("hears", "handler"), .stopped = CODE("0"),
	 .says = "stopping", .everywhere = true},
	{"handler-after", .audited = AUDIT("hears", "handler"), .stopped = CODE("0"),
	 .says = "stopping", .everywhere = true},
	{"init-after", .options = "--init", .audited = AUDIT("hears", "waiter"),
	 .stopped = CODE("143")},
	{"tini-after", .audited = AUDIT("hears", "waiter"), .stopped = CODE("143")},
	{"shared-after", .options = "--pid=container:pause", .audited = AUDIT("dies", "default"),
	 .stopped = "{'outcome':'terminated','exit':{'signal':15}}"},
	{"trap-after", .audited = "{'verdict':'hears','reason':'handler','warnings':[]}",
	 .stopped = CODE("0"), .says = "stopping", .everywhere = true},
	{"int-after", .audited = AUDIT("hears", "handler"), .stopped = EARLY},
	{"term-after", .audited = AUDIT("hears", "handler"), .stopped = CODE("0"),
	 .says = "stopping"},
	{"ignored-after", .audited = AUDIT("hears", "handler"), .stopped = CODE("0"),
	 .says = "stopping"},
	{"inherited-after", .options = "--init",
	 .audited = "{'verdict':'hears','reason':'waiter','warnings':[]}", .stopped = CODE("143")},
	{"blocked-after", .audited = AUDIT("hears", "waiter"), .stopped = CODE("0")},
	{"node-after", "/usr/bin/node", .audited = WARNED("may-reraise"), .stopped = CODE("0")},
	{"node-init", "/usr/bin/node", .options = "--init", .audited = AUDIT("hears", "waiter"),
	 .stopped = CODE("143")},
	{"java-after", "/usr/bin/java", .audited = AUDIT("hears", "handler"),
	 .stopped = CODE("143"), .says = "stopping"},
	{"go-after", "/usr/bin/go", .audited = AUDIT("hears", "handler"), .stopped = CODE("0"),
	 .says = "stopping"},
	{"nginx-after", "/usr/sbin/nginx",
	 .audited = "{'verdict':'hears','reason':'handler','signal':{'name':'SIGQUIT'}}",
	 .stopped = CODE("0")},
};

/* An init before a shell: the container ends, but its app never hears of it. */
static const struct container misled = {
	"script-before",
	.options = "--init",
	.audited = AUDIT("hears", "waiter"),
	.stopped = EARLY,
};

static char *command(const char *const *argv)
{
	return runtime_stage_run(argv);
}

static const char *in_host(const char *name, const char *suffix, char ret[2 * HIER_PATH_MAX])
{
	snprintf(ret, 2 * HIER_PATH_MAX, "%s/%s%s", stage.host->dir, name, suffix);
	return ret;
}

/* Once, whatever engines run it. */
static void build(const struct container *c)
{
	char dir[2 * HIER_PATH_MAX], built[2 * HIER_PATH_MAX];

	if (access(in_host(c->dir, ".built", built), F_OK) == 0)
		return;
	snprintf(dir, sizeof(dir), "%s/%s", files, c->dir);
	if (!strncmp(c->dir, "go-", 3))
		free(command(BOX_ARGV("env", "-C", dir, "CGO_ENABLED=0", "GO111MODULE=off", "go",
				      "build", "-o", "app", "main.go")));
	free(command(BOX_ARGV("docker", "build", "-q", "-t", c->dir, dir)));
	free(command(BOX_ARGV("touch", built)));
}

/* What runs the containers of images that Docker has built. */
struct engine {
	const char *name;
	void (*load)(const struct container *c); /* the image */
	/* The id, to be freed. */
	char *(*start)(const struct container *c, const char *timeout);
	void (*stop)(const struct container *c);
	char *(*logs)(const struct container *c);
	void (*remove)(const struct container *c);
};

/* The id is the last line: above may be warnings. */
static char *last_line(char *out)
{
	char *newline = strrchr(out, '\n'), *id = strdup(newline ? newline + 1 : out);

	free(out);
	assert_non_null(id);
	return id;
}

static void docker_load(const struct container *c)
{
}

static char *docker_start(const struct container *c, const char *timeout)
{
	return last_line(command(BOX_ARGV("docker", "run", "-d", "--name", c->dir, "--network",
					  "none", "--stop-timeout", timeout, "-v", "/usr:/usr:ro",
					  "-v", "/etc/alternatives:/etc/alternatives:ro",
					  c->options ? c->options : "--label=plain", c->dir)));
}

static void docker_stop(const struct container *c)
{
	free(command(BOX_ARGV("docker", "stop", c->dir)));
}

static char *docker_logs(const struct container *c)
{
	return command(BOX_ARGV("docker", "logs", c->dir));
}

static void docker_remove(const struct container *c)
{
	free(command(BOX_ARGV("docker", "rm", "-f", c->dir)));
}

static const char *image_of(const char *where, const struct container *c, char ret[HIER_PATH_MAX])
{
	snprintf(ret, HIER_PATH_MAX, "%s/%s:latest", where, c->dir);
	return ret;
}

static void save(const struct container *c, char ret_archive[2 * HIER_PATH_MAX])
{
	if (access(in_host(c->dir, ".tar", ret_archive), F_OK) == 0)
		return;
	free(command(BOX_ARGV("docker", "save", "-o", ret_archive, c->dir)));
}

#define PODMAN "podman", "--storage-driver", "vfs", "--cgroup-manager", "cgroupfs"

static void podman_load(const struct container *c)
{
	char archive[2 * HIER_PATH_MAX], policy[2 * HIER_PATH_MAX];

	save(c, archive);
	free(command(BOX_ARGV(PODMAN, "load", "--signature-policy",
			      in_host("policy.json", "", policy), "-i", archive)));
}

static char *podman_start(const struct container *c, const char *timeout)
{
	char image[HIER_PATH_MAX], parent[HIER_PATH_MAX];

	snprintf(parent, sizeof(parent), "%s/podman", stage.host->cgroup);
	return last_line(command(BOX_ARGV(
		PODMAN, "--runtime", "crun", "run", "-d", "--name", c->dir, "--network", "none",
		"--cgroup-parent", parent, "--stop-timeout", timeout, "-v", "/usr:/usr:ro", "-v",
		"/etc/alternatives:/etc/alternatives:ro", image_of("localhost", c, image))));
}

static void podman_stop(const struct container *c)
{
	free(command(BOX_ARGV(PODMAN, "stop", c->dir)));
}

static char *podman_logs(const struct container *c)
{
	return command(BOX_ARGV(PODMAN, "logs", c->dir));
}

static void podman_remove(const struct container *c)
{
	free(command(BOX_ARGV(PODMAN, "rm", "-f", c->dir)));
}

/* ctr names the cgroup /<namespace>/<id>: the namespace is what the host's cgroup is called. */
#define CTR "ctr", "-n", stage.host->cgroup + 1

static void ctr_load(const struct container *c)
{
	char archive[2 * HIER_PATH_MAX];

	save(c, archive);
	assert_int_equal(runtime_containerd_import(stage.host->cgroup + 1, archive), 0);
}

static char *ctr_start(const struct container *c, const char *timeout)
{
	char image[HIER_PATH_MAX], log[2 * HIER_PATH_MAX], uri[3 * HIER_PATH_MAX], *id;

	snprintf(uri, sizeof(uri), "file://%s", in_host(c->dir, ".log", log));
	free(command(
		BOX_ARGV(CTR, "run", "-d", "--snapshotter", "native", "--log-uri", uri, "--mount",
			 "type=bind,src=/usr,dst=/usr,options=rbind:ro", "--mount",
			 "type=bind,src=/etc/alternatives,dst=/etc/alternatives,options=rbind:ro",
			 image_of("docker.io/library", c, image), c->dir)));
	id = strdup(c->dir);
	assert_non_null(id);
	return id;
}

/* As an engine stops it, with no grace period for those of which nothing is to be awaited. */
static void ctr_stop(const struct container *c)
{
	free(command(BOX_ARGV(CTR, "task", "kill", "-s", "SIGTERM", c->dir)));
	if (!c->says)
		free(command(BOX_ARGV(CTR, "task", "kill", "-s", "SIGKILL", c->dir)));
}

static char *ctr_logs(const struct container *c)
{
	char log[2 * HIER_PATH_MAX];

	return command(BOX_ARGV("cat", in_host(c->dir, ".log", log)));
}

static void ctr_remove(const struct container *c)
{
	free(command(BOX_ARGV(CTR, "task", "rm", "-f", c->dir)));
	free(command(BOX_ARGV(CTR, "container", "rm", c->dir)));
}

static const struct engine by_docker = {"docker",    docker_load, docker_start,
					docker_stop, docker_logs, docker_remove};
static const struct engine by_podman = {"podman",    podman_load, podman_start,
					podman_stop, podman_logs, podman_remove};
static const struct engine by_containerd = {"containerd", ctr_load, ctr_start,
					    ctr_stop,	  ctr_logs, ctr_remove};

/* nginx says nothing when it is ready. */
static bool is_ready(const struct engine *e, const struct container *c)
{
	char *text = e->logs(c);
	bool ready = strstr(text, "ready") || !strncmp(c->dir, "nginx", 5);

	free(text);
	return ready;
}

static json_t *audit(const char *id)
{
	struct run_result result;
	json_t *rec;

	assert_int_equal(run(&(struct run_spec){.args = BOX_ARGV("audit", "-o", "json", "-c", id)},
			     &result),
			 0);
	rec = json_loads(result.out ? result.out : "", JSON_DISABLE_EOF_CHECK, NULL);
	run_done(&result);
	return rec;
}

/* Shells start their commands some time after they have begun, and so do inits. */
static void await_audit(const struct engine *e, const struct container *c, const char *id)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	char why[1024] = "is not ready";
	json_t *rec = NULL;
	bool ready = false, fits = false;

	while (!fits && page_clock_ns() < until) {
		json_decref(rec);
		ready = ready || is_ready(e, c);
		rec = ready ? audit(id) : NULL;
		fits = rec && !jrec_match(rec, c->audited, why, sizeof(why));
		if (!fits)
			usleep(100000); /* each look starts two programs */
	}
	if (!fits) {
		char *text = e->logs(c), *found = rec ? json_dumps(rec, JSON_COMPACT) : NULL;

		fprintf(stderr, "%s by %s: %s\n%s\n", c->dir, e->name, found ? found : "no audit",
			text);
		free(found);
		free(text);
		fail_msg("%s: %s", c->dir, why);
	}
	json_decref(rec);
}

static void print_figures(const struct engine *e, const struct container *c, const json_t *rec)
{
	int64_t ns =
		jrec_int(rec, "exit.at_boot_ns", 0) - jrec_int(rec, "stop_signal.at_boot_ns", 0);

	printf("# %s by %s: %s after %.3f s\n", c->dir, e->name, jrec_text(rec, "outcome"),
	       (double)ns / 1e9);
}

static bool may_play(const struct container *c)
{
	if (!c->needs || access(c->needs, X_OK) == 0)
		return true;
	fprintf(stderr, "SKIP %s: there is no %s\n", c->dir, c->needs);
	return false;
}

/* A deaf one is given a second, as there is nothing to wait for. */
static void play(const struct engine *e, const struct container *c, const char *timeout)
{
	char *id, *text;

	if (!may_play(c))
		return;
	build(c);
	e->load(c);
	id = e->start(c, timeout);
	await_audit(e, c, id);
	e->stop(c);
	print_figures(e, c, runtime_stage_stopped(&stage, id, c->stopped));
	text = e->logs(c);
	if (c->says && !strstr(text, c->says))
		fail_msg("%s says: %s", c->dir, text);
	free(text);
	e->remove(c);
	free(id);
}

/* --- claims --- */

static void before_it_each_is_found_and_killed(void **state)
{
	runtime_stage_need(&stage);
	for (size_t i = 0; i < LEN(deaf); i++)
		play(&by_docker, deaf + i, "1");
}

static void after_it_each_hears_and_ends_early(void **state)
{
	runtime_stage_need(&stage);
	free(command(BOX_ARGV("docker", "run", "-d", "--name", "pause", "--network", "none",
			      "stops:1", "graceful")));
	for (size_t i = 0; i < LEN(hearing); i++)
		play(&by_docker, hearing + i, "60");
	free(command(BOX_ARGV("docker", "rm", "-f", "pause")));
}

static void an_init_before_a_shell_has_the_app_killed(void **state)
{
	runtime_stage_need(&stage);
	play(&by_docker, &misled, "60");
}

static void play_everywhere(const struct engine *e)
{
	runtime_stage_need(&stage);
	for (size_t i = 0; i < LEN(deaf); i++)
		if (deaf[i].everywhere)
			play(e, deaf + i, "1");
	for (size_t i = 0; i < LEN(hearing); i++)
		if (hearing[i].everywhere)
			play(e, hearing + i, "60");
}

static void podman_differs_in_nothing(void **state)
{
	play_everywhere(&by_podman);
}

static void containerd_differs_in_nothing(void **state)
{
	play_everywhere(&by_containerd);
}

static bool is_played(const char *dir)
{
	for (size_t i = 0; i < LEN(deaf); i++)
		if (!strcmp(deaf[i].dir, dir))
			return true;
	for (size_t i = 0; i < LEN(hearing); i++)
		if (!strcmp(hearing[i].dir, dir))
			return true;
	return false;
}

static void every_container_of_the_page_is_played(void **state)
{
	char pattern[2 * HIER_PATH_MAX];
	glob_t found;

	runtime_stage_need(&stage);
	snprintf(pattern, sizeof(pattern), "%s/*", files);
	assert_int_equal(glob(pattern, 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		if (!is_played(basename(found.gl_pathv[i])))
			fail_msg("%s is not played", found.gl_pathv[i]);
	assert_int_equal(found.gl_pathc, LEN(deaf) + LEN(hearing));
	globfree(&found);
}

static int make_base(void)
{
	static const char *const names[] = {"python:3", "debian:12", "node:20",
					    "eclipse-temurin:17", "nginx:1"};
	char archive[HIER_PATH_MAX], tini[2 * HIER_PATH_MAX];

	snprintf(archive, sizeof(archive), "%s/base.tar", stage.host->dir);
	snprintf(tini, sizeof(tini), "%s/usr/bin/tini-static", stage.host->packages);
	if (runtime_host_run(BOX_ARGV(BASE_TOOL, archive, tini), NULL))
		return -1;
	if (runtime_host_run(BOX_ARGV("docker", "import", "-c",
				      "ENV PATH=/opt/bin:/usr/sbin:/usr/bin", archive, names[0]),
			     NULL))
		return -1;
	for (size_t i = 1; i < LEN(names); i++)
		if (runtime_host_run(BOX_ARGV("docker", "tag", names[0], names[i]), NULL))
			return -1;
	return 0;
}

static int configure_podman(void)
{
	const struct runtime_host *host = stage.host;
	char text[4 * HIER_PATH_MAX], path[2 * HIER_PATH_MAX];

	snprintf(text, sizeof(text),
		 "[containers]\ndefault_ulimits = []\n"
		 "[engine]\nevents_logger = \"file\"\nconmon_path = [\"%s/usr/bin/conmon\"]\n"
		 "[engine.runtimes]\ncrun = [\"%s/bin/crun\"]\n"
		 "[network]\nnetwork_backend = \"cni\"\n",
		 host->packages, host->dir);
	setenv("CONTAINERS_CONF", in_host("containers.conf", "", path), 1);
	return runtime_host_write(host, "containers.conf", 0644, text) ||
			       runtime_host_write(
				       host, "policy.json", 0644,
				       "{\"default\":[{\"type\":\"insecureAcceptAnything\"}]}")
		       ? -1
		       : 0;
}

static int setup(void **state)
{
	if (runtime_stage_open(&stage, "fix"))
		return -1;
	if (!stage.host)
		return 0;
	/* Images are made by the daemon alone. */
	setenv("DOCKER_BUILDKIT", "0", 1);
	snprintf(files, sizeof(files), "%.400s/page", stage.host->dir);
	if (mkdir(files, 0755) || runtime_docker_start(&stage, &dockerd) || make_base() ||
	    runtime_containerd_start(stage.host, &containerd) || configure_podman()) {
		runtime_host_logs(stage.host);
		return -1;
	}
	read_page();
	return runtime_stage_trace(&stage, NULL);
}

static int teardown(void **state)
{
	if (dockerd)
		runtime_host_end(dockerd, SIGTERM);
	return runtime_stage_close(&stage);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("every container of docs/fix.md is played",
		      every_container_of_the_page_is_played),
		CLAIM("before its remedy each is found by the audit, and killed",
		      before_it_each_is_found_and_killed),
		CLAIM("after its remedy each hears its stop signal, and ends early",
		      after_it_each_hears_and_ends_early),
		CLAIM("of shells, handlers and traps Podman's audits and stops are the same",
		      podman_differs_in_nothing),
		CLAIM("and so are containerd's", containerd_differs_in_nothing),
		CLAIM("an init before a shell ends the container, and the app by SIGKILL",
		      an_init_before_a_shell_has_the_app_killed),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
