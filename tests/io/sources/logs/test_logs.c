// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/logs: only well-formed names count, and only for the uid they carry. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/sources/logs/logs.h"
#include "lib/claim.h"

#define UID1 "94dc9966-6b7c-4a2b-9f0e-0123456789ab"
#define UID2 "11111111-2222-4333-8444-555555555555"
#define HASH "0123456789abcdef0123456789abcdef"
#define ID1  "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2  "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define L63  "a23456789012345678901234567890123456789012345678901234567890123"

static const struct name_row {
	const char *name;
	bool container, ok;
} names[] = {
	{"default_web-0_" UID1, false, true},
	{"kube-system_etcd-node.example.com_" HASH, false, true},
	{"default_a.b-c.d_" UID1, false, true},
	{L63 "_x_" UID1, false, true},
	{L63 "4_x_" UID1, false, false},
	{"default_web-0", false, false},
	{"default__" UID1, false, false},
	{"_web_" UID1, false, false},
	{"default_web_0_" UID1, false, false},
	{"Default_web_" UID1, false, false},
	{"default_-web_" UID1, false, false},
	{"default_web-_" UID1, false, false},
	{"default_we..b_" UID1, false, false},
	{"default_web._" UID1, false, false},
	{"default_.web_" UID1, false, false},
	{"default_w-.b_" UID1, false, false},
	{"de.fault_web_" UID1, false, false},
	{"default_w\nb_" UID1, false, false},
	{"default_w\"b_" UID1, false, false},
	{"default_web_94DC9966-6b7c-4a2b-9f0e-0123456789ab", false, false},
	{"default_web_94dc9966x6b7c-4a2b-9f0e-0123456789ab", false, false},
	{"", false, false},
	{"__", false, false},
	{"web-0_default_main-" ID1 ".log", true, true},
	{"web.0_default_m-" ID1 ".log", true, true},
	{"web-0_default_main-" ID1, true, false},
	{"web-0_default_main-" ID1 ".log.gz", true, false},
	{"web-0_default_-" ID1 ".log", true, false},
	{"web-0_default_main" ID1 ".log", true, false},
	{"web-0_default_ma_in-" ID1 ".log", true, false},
	{"web-0_default_main-" HASH ".log", true, false},
	{ID1 ".log", true, false},
	{".log", true, false},
};

static void test_names(void **state)
{
	struct source_logs_name got;

	for (size_t i = 0; i < LEN(names); i++) {
		print_message("# name %zu\n", i);
		if (names[i].container)
			assert_int_equal(source_logs_parse_container(names[i].name, &got),
					 names[i].ok);
		else
			assert_int_equal(source_logs_parse_pod(names[i].name, &got), names[i].ok);
	}
}

struct tree {
	char dir[64];
	struct source_logs *src;
};

static const char *at(const struct tree *t, const char *path)
{
	static char full[4][512];
	static unsigned int next;
	char *ret = full[next++ % 4];

	snprintf(ret, sizeof(full[0]), "%s/%s", t->dir, path);
	return ret;
}

static void make_dir(const struct tree *t, const char *path)
{
	assert_int_equal(mkdir(at(t, path), 0755), 0);
}

static void make_link(const struct tree *t, const char *target, const char *path)
{
	assert_int_equal(symlink(target, at(t, path)), 0);
}

static int setup(void **state)
{
	static struct tree t;

	/* A flood on a disk takes its time. */
	strcpy(t.dir, access("/dev/shm", W_OK) == 0 ? "/dev/shm/graced-logs-XXXXXX"
						    : "/tmp/graced-logs-XXXXXX");
	if (!mkdtemp(t.dir) || source_logs_new(t.dir, &t.src) < 0)
		return -1;
	*state = &t;
	return 0;
}

static int remove_below(const char *dir)
{
	char command[128];

	snprintf(command, sizeof(command), "rm -rf -- '%s'", dir);
	return system(command);
}

static int teardown(void **state)
{
	struct tree *t = *state;

	source_logs_free(t->src);
	return remove_below(t->dir);
}

static void expect(struct tree *t, const char *uid, const char *id, const char *namespace_,
		   const char *pod, const char *container)
{
	struct obs_names got = {};

	source_logs_find(t->src, uid, id, &got);
	assert_string_equal(got.container_id, id);
	assert_string_equal(got.namespace_, namespace_);
	assert_string_equal(got.pod, pod);
	assert_string_equal(got.container, container);
	assert_int_equal(got.found, pod[0] != 0);
}

static void test_find(void **state)
{
	struct tree *t = *state;

	expect(t, UID1, ID1, "", "", "");
	make_dir(t, "pods");
	expect(t, UID1, ID1, "", "", "");
	make_dir(t, "pods/default_web-0_" UID1);
	expect(t, UID1, ID1, "default", "web-0", "");
	make_dir(t, "containers");
	make_link(t, "/var/log/pods/default_web-0_" UID1 "/main/0.log",
		  "containers/web-0_default_main-" ID1 ".log");
	expect(t, UID1, ID1, "default", "web-0", "main");
	expect(t, UID1, "", "default", "web-0", "");
	expect(t, "", ID1, "", "", "");
	expect(t, UID2, ID1, "", "", "");
	expect(t, UID1, ID2, "default", "web-0", "");
}

static void test_lies(void **state)
{
	struct tree *t = *state;

	make_dir(t, "pods");
	make_dir(t, "containers");
	make_dir(t, "pods/default_web-0_" UID1);
	/* Links of another pod by name, by target, and without a usable target. */
	make_link(t, "/var/log/pods/default_web-0_" UID1 "/main/0.log",
		  "containers/web-1_default_main-" ID1 ".log");
	make_link(t, "/var/log/pods/default_web-0_" UID2 "/main/0.log",
		  "containers/web-0_default_main-" ID2 ".log");
	expect(t, UID1, ID1, "default", "web-0", "");
	expect(t, UID1, ID2, "default", "web-0", "");
	/* A second name for the same uid. */
	make_dir(t, "pods/kube-system_api_" UID1);
	expect(t, UID1, ID1, "", "", "");
	/* A link is no pod's directory. */
	make_link(t, "/", "pods/default_link_" UID2);
	expect(t, UID2, "", "", "", "");
}

static void test_link_alone(void **state)
{
	struct tree *t = *state;

	make_dir(t, "containers");
	make_link(t, "/x/default_web-0_" UID1 "/main/0.log",
		  "containers/web-0_default_main-" ID1 ".log");
	make_link(t, "/x/default_web-1_" UID1 "/main/0.log",
		  "containers/web-1_default_main-" ID2 ".log");
	expect(t, UID1, ID1, "", "", "");
	expect(t, UID1, ID2, "", "", "");
	make_dir(t, "pods");
	expect(t, UID1, ID1, "", "", "");
	make_dir(t, "pods/default_web-0_" UID1);
	expect(t, UID1, ID1, "default", "web-0", "main");
	expect(t, UID1, ID2, "default", "web-0", "");
}

static void test_targets(void **state)
{
	static const struct {
		const char *target;
		bool named;
	} rows[] = {
		{"/var/log/pods/default_web-0_" UID1 "/main/0.log", true},
		{"default_web-0_" UID1 "/main/0.log", true},
		{"../../default_web-0_" UID1 "/../x", true},
		{"/var/log/pods/default_web-0_" UID1 "/main", false},
		{"/var/log/pods/default_web-0_" UID1 "/main/0.log/x", false},
		{"/var/log/pods/default_web-0_" UID2 "/main/0.log", false},
		{"/var/log/pods/default_web-1_" UID1 "/main/0.log", false},
		{"/var/log/pods/other_web-0_" UID1 "/main/0.log", false},
		{"/default_web-0_" UID1 "\n/main/0.log", false},
		{"0.log", false},
		{"/", false},
		{"///", false},
	};
	struct tree *t = *state;

	make_dir(t, "pods");
	make_dir(t, "containers");
	make_dir(t, "pods/default_web-0_" UID1);
	for (size_t i = 0; i < LEN(rows); i++) {
		print_message("# %s\n", rows[i].target);
		make_link(t, rows[i].target, "containers/web-0_default_main-" ID1 ".log");
		expect(t, UID1, ID1, "default", "web-0", rows[i].named ? "main" : "");
		assert_int_equal(unlink(at(t, "containers/web-0_default_main-" ID1 ".log")), 0);
	}
}

static void fares(struct tree *t, enum source_status status)
{
	struct source_state got;

	source_logs_get_state(t->src, &got);
	assert_string_equal(got.where, t->dir);
	assert_int_equal(got.status, status);
	assert_int_equal(got.text[0] != 0, status != SOURCE_OFF);
}

static void make_file(const struct tree *t, const char *path)
{
	int fd = open(at(t, path), O_WRONLY | O_CREAT | O_EXCL, 0644);

	assert_true(fd >= 0);
	close(fd);
}

/* Whatever stands in the place of pods/, or of a pod's directory in it. */
static void test_instead(void **state)
{
	static const char *const places[] = {"pods", "pods/default_web-0_" UID1, "containers",
					     "containers/web-0_default_main-" ID1 ".log"};

	for (size_t i = 0; i < LEN(places); i++) {
		for (int kind = 0; kind < 5; kind++) {
			bool pods = i < 2, whole = i % 2 == 0;
			struct tree *t;
			void *own;

			print_message("# %s %d\n", places[i], kind);
			assert_int_equal(setup(&own), 0);
			t = own;
			make_dir(t, "pods");
			make_dir(t, "containers");
			make_dir(t, "pods/default_web-0_" UID1);
			make_link(t, "/l/default_web-0_" UID1 "/main/0.log",
				  "containers/web-0_default_main-" ID1 ".log");
			expect(t, UID1, ID1, "default", "web-0", "main");
			fares(t, SOURCE_UP);
			assert_int_equal(rename(at(t, places[i]), at(t, "away")), 0);
			if (kind == 0)
				make_file(t, places[i]);
			else if (kind == 1)
				assert_int_equal(mkfifo(at(t, places[i]), 0644), 0);
			else if (kind == 2 && whole)
				make_link(t, at(t, "away"), places[i]);
			else if (kind == 2 && pods)
				make_link(t, "../away", places[i]);
			else if (kind == 3 && (whole || pods))
				make_link(t, strrchr(at(t, places[i]), '/') + 1, places[i]);
			else if (kind == 3)
				make_dir(t, places[i]);
			expect(t, UID1, ID1, pods ? "" : "default", pods ? "" : "web-0", "");
			if (whole && kind != 4)
				fares(t, SOURCE_DOWN);
			assert_int_equal(teardown(&own), 0);
		}
	}
}

static void test_bytes(void **state)
{
	static const char *const hostile[] = {
		"pods/default_w\x1b[31mb_" UID1, "pods/default_w\"b_" UID1,
		"pods/default_\xff\xfe_" UID1,	 "pods/default_w\nb_" UID1,
		"pods/def ault_web_" UID1,	 "pods/..._web_" UID1,
		"pods/default_web_" UID1 "\n",	 "pods/default_web_" UID1 "_",
		"pods/default_%s%n_" UID1,	 "pods/\xe2\x80\xae_web_" UID1,
	};
	struct tree *t = *state;

	make_dir(t, "pods");
	for (size_t i = 0; i < LEN(hostile); i++)
		make_dir(t, hostile[i]);
	expect(t, UID1, "", "", "", "");
	make_dir(t, "pods/default_web-0_" UID1);
	expect(t, UID1, "", "default", "web-0", "");
	expect(t, UID1 "\n", "", "", "", "");
	expect(t, "", "", "", "", "");
}

static void test_question(void **state)
{
	struct tree *t = *state;
	struct obs_names got = {.id = 7, .more = true, .pod = "old", .found = true};

	source_logs_find(t->src, UID1, ID1, &got);
	assert_int_equal(got.id, 7);
	assert_true(got.more);
	assert_false(got.found);
	assert_string_equal(got.pod, "");
}

/* The pod of that number, or junk. */
static const char *numbered(const struct tree *t, bool pod, unsigned int number)
{
	char path[128];

	snprintf(path, sizeof(path),
		 pod ? "pods/default_p_11111111-2222-4333-8444-%012u" : "pods/junk-%u", number);
	return at(t, path);
}

static void make_many(const struct tree *t, bool pods, unsigned int from, unsigned int to)
{
	for (unsigned int i = from; i < to; i++)
		assert_int_equal(mkdir(numbered(t, pods, i), 0755), 0);
}

/* Reading a flood may take so long that the next reading has to wait. */
static void expect_soon(struct tree *t, const char *uid, const char *pod)
{
	struct obs_names got = {};

	for (int i = 0; i < 3000; i++) {
		source_logs_find(t->src, uid, "", &got);
		if (strcmp(got.pod, pod) == 0)
			return;
		usleep(10000);
	}
	assert_string_equal(got.pod, pod);
}

static void test_flood(void **state)
{
	struct tree *t = *state;

	make_dir(t, "pods");
	make_dir(t, "pods/default_web-0_" UID1);
	make_many(t, true, 1, 16384);
	expect_soon(t, UID1, "web-0");
	fares(t, SOURCE_UP);
	make_many(t, true, 16384, 16385);
	expect_soon(t, UID1, "");
	fares(t, SOURCE_DOWN);
	for (unsigned int i = 1; i < 16385; i++)
		assert_int_equal(rmdir(numbered(t, true, i)), 0);
	expect_soon(t, UID1, "web-0");
	fares(t, SOURCE_UP);
}

static void test_junk(void **state)
{
	struct tree *t = *state;

	make_dir(t, "pods");
	make_dir(t, "pods/default_web-0_" UID1);
	make_many(t, false, 0, 60000);
	expect_soon(t, UID1, "web-0");
	make_many(t, false, 60000, 100000);
	expect_soon(t, UID1, "");
	fares(t, SOURCE_DOWN);
}

static void test_together(void **state)
{
	struct tree *t = *state;

	make_dir(t, "pods");
	make_many(t, true, 0, 3000);
	for (unsigned int i = 3000; i < 3006; i++) {
		make_many(t, true, i, i + 1);
		expect(t, strchr(numbered(t, true, i), '_') + 3, "", "default", "p", "");
	}
}

/* Another process renames, makes and removes while this one reads: what it finds is a name that was
 * there, or none. */
static void test_changing(void **state)
{
	struct tree *t = *state;
	struct obs_names got = {};
	pid_t child;
	int status;

	make_dir(t, "pods");
	make_dir(t, "pods/default_web-0_" UID1);
	make_many(t, true, 1, 200);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		for (unsigned int i = 0; i < 2000; i++) {
			const char *path = numbered(t, true, i % 199 + 1);

			if (rmdir(path) < 0 || mkdir(path, 0755) < 0 ||
			    rename(at(t, "pods/default_web-0_" UID1),
				   at(t, "pods/other_web-1_" UID1)) < 0 ||
			    rename(at(t, "pods/other_web-1_" UID1),
				   at(t, "pods/default_web-0_" UID1)) < 0)
				_exit(1);
		}
		_exit(0);
	}
	do {
		source_logs_find(t->src, UID1, "", &got);
		assert_true(!got.found || !strcmp(got.pod, "web-0") || !strcmp(got.pod, "web-1"));
		if (got.found)
			assert_string_equal(got.namespace_,
					    strcmp(got.pod, "web-0") ? "other" : "default");
	} while (waitpid(child, &status, WNOHANG) == 0);
	assert_int_equal(status, 0);
	expect_soon(t, UID1, "web-0");
}

static void count(void *userdata, const struct obs_names *got)
{
	int *n = userdata;

	assert_true(got->found);
	*n += got->container_id[0] ? 100 : 1;
}

static void test_each(void **state)
{
	struct tree *t = *state;
	int n = 0;

	assert_int_equal(source_logs_each(t->src, count, &n), 0);
	assert_int_equal(n, 0);
	make_dir(t, "pods");
	make_dir(t, "containers");
	make_dir(t, "pods/default_web-0_" UID1);
	make_dir(t, "pods/default_twice_" UID2);
	make_dir(t, "pods/other_twice_" UID2);
	make_dir(t, "pods/nonsense");
	make_link(t, "/l/default_web-0_" UID1 "/main/0.log",
		  "containers/web-0_default_main-" ID1 ".log");
	make_link(t, "/l/default_twice_" UID2 "/main/0.log",
		  "containers/twice_default_main-" ID2 ".log");
	assert_int_equal(source_logs_each(t->src, count, &n), 0);
	assert_int_equal(n, 101);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("only what the API server could have allowed is a name", test_names),
		{"names appear as the directories do, for their uid alone", test_find, setup,
		 teardown, NULL},
		{"a name that another one contradicts does not count", test_lies, setup, teardown,
		 NULL},
		{"a link names a container of a pod that has a directory, and no pod",
		 test_link_alone, setup, teardown, NULL},
		{"a link counts when it points into its own pod's directory", test_targets, setup,
		 teardown, NULL},
		CLAIM("what stands in place of a directory or a link is not taken for it",
		      test_instead),
		{"names of any bytes are no names, and hide none", test_bytes, setup, teardown,
		 NULL},
		{"what the caller says of its question stays", test_question, setup, teardown,
		 NULL},
		{"of a flood of pods none is believed, until it is over", test_flood, setup,
		 teardown, NULL},
		{"nor of one pod among a flood of anything else", test_junk, setup, teardown, NULL},
		{"names that come together are each found at once, among thousands", test_together,
		 setup, teardown, NULL},
		{"a directory that changes while it is read says what it said at some time",
		 test_changing, setup, teardown, NULL},
		{"every pod and container that is named once is reported once", test_each, setup,
		 teardown, NULL},
	};

	return cmocka_run_group_tests_name("io/sources/logs", tests, NULL, NULL);
}
