// SPDX-License-Identifier: Apache-2.0
/* Claims about app/config: which files are read, all that is reported of one, and reading it again.
 */
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/daemon/confload.h"

static void test_all_errors(void **state)
{
	static const char yaml[] = "web:\n  listenadress: x\n  insecure: maybe\nscop: pods\n"
				   "wbe: {a: 1, b: 2}\nlog: 5\nnodeName: &a x\nnodeName: y\n"
				   "log.level: \"\\e[31m\"\n: [\n";
	static const char *const lines[] = {
		"2: web.listenadress: there is no such setting (did you mean web.listenAddress?)\n",
		"3: web.insecure: wants true or false, not 'maybe'\n",
		"4: scop: there is no such setting (did you mean scope?)\n",
		"5: wbe: there is no such setting (did you mean web?)\n",
		"6: log: wants keys below it, not a value\n",
		"7: nodeName: has an anchor",
		"9: log.level: wants debug, info, warning or error, not '\\x1b[31m'\n",
		"10: is not YAML: ",
	};
	struct confload got;
	const char *at;

	confload(&(struct confgiven){.yaml = yaml}, &got);
	assert_false(got.loaded);
	assert_int_equal(got.status, 1);
	at = got.err;
	for (size_t i = 0; i < LEN(lines); i++) {
		_cleanup_(buf_free) struct buf begins = {};

		buf_printf(&begins, "graced run: %s:%s", confload_path, lines[i]);
		if (strncmp(at, buf_str(&begins), begins.len) != 0)
			fail_msg("'%s' is not at %s", lines[i], at);
		at = strchr(at, '\n') + 1;
	}
	assert_string_equal(at, "");
}

#define GROUP(priority, seconds) "{priority: " priority ", gracePeriodSeconds: " seconds "}"

/* In a shutdown section of line 1. */
static const struct group_case {
	const char *yaml, *becomes, *error; /* error of the file, or NULL */
} group_cases[] = {
	{"gracePeriod: 30.5s\n  gracePeriodCriticalPods: 10.7s", "|", NULL},
	{"gracePeriodByPodPriority:\n  - " GROUP("1000", "20") "\n  - priority: -1\n"
							       "    gracePeriodSeconds: 0",
	 "1000:20,-1:0", NULL},
	{"gracePeriodByPodPriority: [" GROUP("2147483647", "2147483647") "]",
	 "2147483647:2147483647", NULL},
	{"gracePeriod: 20s\n  gracePeriodCriticalPods: 30s", NULL,
	 "shutdown.gracePeriod: invalid configuration: shutdownGracePeriodCriticalPods {30s} must "
	 "be <= shutdownGracePeriod {20s}\n"},
	{"gracePeriodCriticalPods: 500ms", NULL,
	 "shutdown.gracePeriodCriticalPods: invalid configuration: shutdownGracePeriodCriticalPods "
	 "{500ms} must be <= shutdownGracePeriod {0s}; invalid configuration: "
	 "shutdownGracePeriodCriticalPods {500ms} must be either zero or otherwise >= 1 sec\n"},
	{"gracePeriod: 999ms", NULL, "shutdownGracePeriod {999ms} must be either zero or"},
	{"gracePeriod: 1s\n  gracePeriodByPodPriority: [" GROUP("0", "1") "]", NULL,
	 "shutdown.gracePeriod: invalid configuration: Cannot specify both "
	 "shutdownGracePeriodByPodPriority and shutdownGracePeriod at the same time\n"},
	{"gracePeriodByPodPriority: [" GROUP("0", "-1") "]", NULL,
	 ":2: shutdown.gracePeriodByPodPriority: wants {priority: N, gracePeriodSeconds: N} (each "
	 "priority once, 16 of them at most), not {priority: 0, gracePeriodSeconds: -1}\n"},
	{"gracePeriodByPodPriority:\n  - " GROUP("0", "1") "\n  - " GROUP("0", "2"), NULL,
	 ":4: shutdown.gracePeriodByPodPriority: wants {priority: N"},
	{"gracePeriodByPodPriority: [" GROUP("010", "1") "]", NULL, "wants {priority: N"},
	{"gracePeriodByPodPriority: [" GROUP("0", "1s") "]", NULL, "wants {priority: N"},
	{"gracePeriodByPodPriority: [" GROUP("2147483648", "1") "]", NULL, "wants {priority: N"},
	{"gracePeriodByPodPriority: [{priority: 0, seconds: 1}]", NULL, "wants {priority: N"},
	{"gracePeriodByPodPriority: [{}]", NULL, "wants {priority: N"},
	{"gracePeriodByPodPriority: [0]", NULL, "at most), not '0'\n"},
	{"managed: [{scope: dokcer, priority: 1}]", NULL,
	 ":2: shutdown.managed: wants a scope of containers, docker, podman, containerd, ecs or "
	 "services, not {scope: dokcer, priority: 1}\n"},
	{"managed:\n  - {scope: docker, priority: 1}\n  - {unit: nginx, priority: 1}", NULL,
	 ":4: shutdown.managed: wants the name of a unit with its end"},
	{"stopUnits: [{a: b}]", NULL, ":2: shutdown.stopUnits: wants values in its list, not keys"},
};

static void test_groups(void **state)
{
	for (size_t i = 0; i < LEN(group_cases); i++) {
		const struct group_case *c = &group_cases[i];
		_cleanup_(buf_free) struct buf yaml = {};
		struct confload got;

		print_message("# %s\n", c->yaml);
		buf_printf(&yaml, "shutdown:\n  %s\n", c->yaml);
		if (c->error) {
			confload_assert_refused(&(struct confgiven){.yaml = buf_str(&yaml)}, 1,
						"graced run: /", c->error);
			continue;
		}
		confload(&(struct confgiven){.yaml = buf_str(&yaml)}, &got);
		assert_string_equal(got.err, "");
		assert_true(got.loaded);
		if (*c->becomes != '|')
			confload_assert_shows(&got.config, "shutdown.gracePeriodByPodPriority",
					      c->becomes);
		config_done(&got.config);
	}
}

static void test_too_many_groups(void **state)
{
	_cleanup_(buf_free) struct buf yaml = {};

	buf_adds(&yaml, "shutdown:\n  gracePeriodByPodPriority:\n");
	for (int i = 0; i <= OBS_RANGES_MAX; i++)
		buf_printf(&yaml, "  - {priority: %d, gracePeriodSeconds: 1}\n", i);
	confload_assert_refused(&(struct confgiven){.yaml = buf_str(&yaml)}, 1, "graced run: /",
				":19: shutdown.gracePeriodByPodPriority: wants ");
}

/* The source that is named is the strongest one. */
static void test_groups_of_flags(void **state)
{
	confload_assert_refused(
		&(struct confgiven){.yaml = "shutdown: {gracePeriod: 20s}\n",
				    .flags = {"--shutdown.grace-period-critical-pods=21s"}},
		2, "graced run: --shutdown.grace-period-critical-pods: invalid configuration: ",
		"{21s} must be <= shutdownGracePeriod {20s}");
	confload_assert_refused(
		&(struct confgiven){.yaml = "shutdown: {gracePeriodCriticalPods: 20s}\n",
				    .variable = "GRACED_SHUTDOWN_GRACE_PERIOD=19s"},
		2, "graced run: GRACED_SHUTDOWN_GRACE_PERIOD: invalid configuration: ",
		"{20s} must be <= shutdownGracePeriod {19s}");
}

static void test_many_errors(void **state)
{
	_cleanup_(buf_free) struct buf yaml = {};
	struct confload got;
	size_t lines = 0;

	for (int i = 0; i < 500; i++)
		buf_printf(&yaml, "zz%d: 1\n", i);
	confload(&(struct confgiven){.yaml = buf_str(&yaml)}, &got);
	assert_false(got.loaded);
	for (const char *at = got.err; *at; at++)
		lines += *at == '\n';
	assert_int_equal(lines, 21);
	assert_non_null(strstr(got.err, ":20: zz19: there is no such setting; see"));
	assert_non_null(strstr(got.err, "and 480 more errors\n"));
}

static const struct mode {
	mode_t mode;
	const char *err;
} modes[] = {
	{0600, NULL},
	{0644, NULL},
	{0444, NULL},
	{0755, NULL},
	{0620, "may be written by its group or others"},
	{0602, "may be written by its group or others"},
	{0666, "may be written by its group or others"},
};

static void load_path(const char *file, struct confload *ret)
{
	char *argv[] = {"run", "--config", (char *)file, NULL};

	memset(ret, 0, sizeof(*ret));
	confload_argv(3, argv, ret);
}

static void test_modes(void **state)
{
	struct confload got;

	for (size_t i = 0; i < LEN(modes); i++) {
		print_message("# mode %o\n", modes[i].mode);
		confload_write("scope: pods\n", modes[i].mode);
		load_path(confload_path, &got);
		assert_int_equal(got.loaded, modes[i].err == NULL);
		if (got.loaded) {
			config_done(&got.config);
			continue;
		}
		assert_int_equal(got.status, 1);
		assert_non_null(strstr(got.err, modes[i].err));
		assert_non_null(strstr(got.err, confload_path));
	}
}

static void test_no_files(void **state)
{
	char link[PATH_MAX + 8];
	struct confload got;

	unlink(confload_path);
	assert_int_equal(mkfifo(confload_path, 0600), 0);
	load_path(confload_path, &got);
	assert_non_null(strstr(got.err, "is not a regular file"));
	load_path(confload_dir, &got);
	assert_non_null(strstr(got.err, "is not a regular file"));
	load_path("/dev/null", &got);
	assert_non_null(strstr(got.err, "is not a regular file"));
	/* Kubernetes shows the files of a ConfigMap as links. */
	confload_write("scope: pods\n", 0644);
	snprintf(link, sizeof(link), "%s.link", confload_path);
	assert_int_equal(symlink(confload_path, link), 0);
	load_path(link, &got);
	assert_true(got.loaded);
	config_done(&got.config);
	unlink(link);
	confload_write("", 0600);
	assert_int_equal(truncate(confload_path, 1 << 21), 0);
	load_path(confload_path, &got);
	assert_non_null(strstr(got.err, "is bigger than 1024 KiB"));
	if (geteuid() != 0)
		return;
	confload_write("scope: pods\n", 0600);
	assert_int_equal(chown(confload_path, 65534, 0), 0);
	load_path(confload_path, &got);
	assert_non_null(strstr(got.err, "belongs to somebody else"));
}

static void test_check(void **state)
{
	struct confload got;

	confload(&(struct confgiven){.yaml = "scope: pods\n", .flags = {"--config.check"}}, &got);
	assert_false(got.loaded);
	assert_int_equal(got.status, 0);
	assert_non_null(strstr(got.out, confload_path));
	assert_non_null(strstr(got.out, ": right\n"));
	assert_string_equal(got.err, "");
	confload_assert_refused(&(struct confgiven){.yaml = "scop: pods\n",
						    .flags = {"--config.check"}},
				1, "graced run: /", ":1: scop: ");
	confload(&(struct confgiven){.flags = {"--config.check"}}, &got);
	assert_false(got.loaded);
	assert_int_equal(got.status, 0);
}

static void test_reload(void **state)
{
	char *argv[] = {"run", "--config", confload_path, "--log.level", "error", NULL};
	struct config again = {};
	struct confload got = {};
	int saved, fd;

	confload_write("scope: pods\nlog: {level: debug}\n", 0600);
	confload_argv(5, argv, &got);
	assert_true(got.loaded);
	confload_write("scope: all\nlog: {level: debug}\n", 0600);
	assert_int_equal(config_reload(5, argv, &again), 0);
	confload_assert_shows(&again, "scope", "all");
	confload_assert_shows(&again, "log.level", "3");
	config_done(&again);
	confload_write("scope: nonsense\n", 0600);
	confload_begin_capture(stderr, &saved, &fd);
	assert_int_equal(config_reload(5, argv, &again), -EINVAL);
	confload_end_capture(stderr, saved, fd, got.err, sizeof(got.err));
	assert_non_null(strstr(got.err, ":1: scope: wants pods, "));
	confload_assert_shows(&got.config, "scope", "pods");
	config_done(&got.config);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("all errors of a file are reported, in the order of its lines",
		      test_all_errors),
		{"groups of a shutdown are refused together, in the kubelet's words", test_groups,
		 NULL, NULL, NULL},
		{"there are as many groups as the engine takes", test_too_many_groups, NULL, NULL,
		 NULL},
		{"groups that are wrong together are refused by their strongest source",
		 test_groups_of_flags, NULL, NULL, NULL},
		CLAIM("of many errors twenty are reported", test_many_errors),
		CLAIM("a file that others may write is refused", test_modes),
		CLAIM("only regular files of root and of the caller are read", test_no_files),
		CLAIM("--config.check says whether it is right, and ends", test_check),
		CLAIM("a reload takes what is new, and leaves what is wrong", test_reload),
	};

	return cmocka_run_group_tests_name("config_file", tests, confload_set_up,
					   confload_tear_down);
}
