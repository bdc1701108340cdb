// SPDX-License-Identifier: Apache-2.0
/* Claims about io/podsrc_logs: only well-formed names count, and only for the uid they carry. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/podsrc_logs.h"
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
	struct podsrc_logs_name got;

	(void)state;
	for (size_t i = 0; i < LEN(names); i++) {
		print_message("# name %zu\n", i);
		if (names[i].container)
			assert_int_equal(podsrc_logs_parse_container(names[i].name, &got),
					 names[i].ok);
		else
			assert_int_equal(podsrc_logs_parse_pod(names[i].name, &got), names[i].ok);
	}
}

struct tree {
	char dir[64];
	struct podsrc_logs *src;
};

static void make_dir(const struct tree *t, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", t->dir, path);
	assert_int_equal(mkdir(full, 0755), 0);
}

static void make_link(const struct tree *t, const char *target, const char *path)
{
	char full[512];

	snprintf(full, sizeof(full), "%s/%s", t->dir, path);
	assert_int_equal(symlink(target, full), 0);
}

static int setup(void **state)
{
	static struct tree t;

	strcpy(t.dir, "/tmp/graced-logs-XXXXXX");
	if (!mkdtemp(t.dir) || podsrc_logs_new(t.dir, &t.src) < 0)
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

	podsrc_logs_free(t->src);
	return remove_below(t->dir);
}

static void expect(struct tree *t, const char *uid, const char *id, const char *namespace_,
		   const char *pod, const char *container)
{
	struct obs_names got;

	podsrc_logs_find(t->src, uid, id, &got);
	assert_string_equal(got.pod_uid, uid);
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
	/* Of another pod by its name, by its target, with no target to speak of. */
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
	make_link(t, "0.log", "containers/web-0_default_main-" ID2 ".log");
	expect(t, UID1, ID1, "default", "web-0", "main");
	expect(t, UID1, ID2, "", "", "");
}

static void test_linked_dir(void **state)
{
	struct tree *t = *state;

	make_dir(t, "elsewhere");
	make_dir(t, "elsewhere/default_web-0_" UID1);
	make_link(t, "elsewhere", "pods");
	expect(t, UID1, "", "", "", "");
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

	assert_int_equal(podsrc_logs_each(t->src, count, &n), 0);
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
	assert_int_equal(podsrc_logs_each(t->src, count, &n), 0);
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
		{"a container's link names its pod when its target carries the uid",
		 test_link_alone, setup, teardown, NULL},
		{"a log directory that is a link is not followed", test_linked_dir, setup, teardown,
		 NULL},
		{"every pod and container that is named once is told once", test_each, setup,
		 teardown, NULL},
	};

	return cmocka_run_group_tests_name("io/podsrc_logs", tests, NULL, NULL);
}
