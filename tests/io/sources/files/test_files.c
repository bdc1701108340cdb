// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/files: what engines' own files say is found, and only where root alone
 * could have written it. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "io/sources/files/files.h"
#include "lib/claim.h"

#define ID1    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define ID2    "fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define SECOND 1000000000ull
#define TASKS  "run/io.containerd.runtime.v2.task"
#define DOCKER "docker/containers/" ID1
#define PODMAN "storage/overlay-containers"

#define DOCKER_FILE(id, name) \
	"{\"ID\":\"" id "\",\"Name\":\"/" name "\",\"Config\":{\"Image\":\"i\"}}"
#define BUNDLE(cgroup, notes)                                                                    \
	"{\"ociVersion\":\"1\",\"annotations\":{" notes "},\"linux\":{\"cgroupsPath\":\"" cgroup \
	"\"}}"
#define STOP_QUIT     "\"org.opencontainers.image.stopSignal\":\"3\""
#define CRI	      "\"io.kubernetes.cri.sandbox-id\":\"x\""
#define LISTED(id, n) "[{\"id\":\"" id "\",\"names\":[\"" n "\"]}]"

struct tree {
	char dir[64];
	struct source_files *src;
};

static const char *at(const struct tree *t, const char *path)
{
	static char full[4][1024];
	static unsigned int next;
	char *ret = full[next++ % 4];

	snprintf(ret, sizeof(full[0]), "%s/%s", t->dir, path);
	return ret;
}

/* With every directory on the way to it. */
static void make_dir(const struct tree *t, const char *path)
{
	char part[512];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdir(at(t, part), 0711);
	}
	assert_true(mkdir(at(t, path), 0711) == 0 || errno == EEXIST);
}

/* As the engines do: written aside, then renamed. Old enough to be kept in mind. */
static void put(const struct tree *t, const char *dir, const char *name, const char *text)
{
	static const struct timeval old[2] = {{1600000000, 0}, {1600000000, 0}};
	char path[2048], aside[2048];
	FILE *f;

	make_dir(t, dir);
	snprintf(path, sizeof(path), "%s/%s", at(t, dir), name);
	snprintf(aside, sizeof(aside), "%s/.aside", at(t, dir));
	f = fopen(aside, "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(aside, 0600), 0);
	assert_int_equal(utimes(aside, old), 0);
	assert_int_equal(rename(aside, path), 0);
}

static int setup(void **state)
{
	static struct tree t;
	char docker[96], storage[96], run[96];
	struct source_files_options options = {docker, storage, run, NULL, 0};

	strcpy(t.dir, "/tmp/graced-files-XXXXXX");
	if (!mkdtemp(t.dir))
		return -1;
	snprintf(docker, sizeof(docker), "%s/docker", t.dir);
	snprintf(storage, sizeof(storage), "%s/storage", t.dir);
	snprintf(run, sizeof(run), "%s/run", t.dir);
	*state = &t;
	return source_files_new(&options, &t.src);
}

static int teardown(void **state)
{
	struct tree *t = *state;
	char command[128];

	source_files_free(t->src);
	snprintf(command, sizeof(command), "rm -rf -- '%s'", t->dir);
	return system(command);
}

static void expect(struct tree *t, const char *id, enum cgpath_runtime runtime,
		   enum meta_result result, enum meta_source source, const char *name)
{
	struct meta_container got = {};

	assert_int_equal(source_files_find(t->src, id, runtime, &got), result);
	assert_string_equal(got.id, result == META_FOUND ? id : "");
	assert_int_equal(got.source, source);
	assert_string_equal(got.name, name);
}

static void expect_none(struct tree *t, const char *id, enum cgpath_runtime runtime,
			enum meta_result result)
{
	expect(t, id, runtime, result, META_NONE, "");
}

static void test_docker(void **state)
{
	struct tree *t = *state;

	expect_none(t, ID1, CGPATH_RT_DOCKER, META_ABSENT);
	make_dir(t, "docker");
	expect_none(t, ID1, CGPATH_RT_DOCKER, META_ABSENT);
	make_dir(t, DOCKER);
	expect_none(t, ID1, CGPATH_RT_DOCKER, META_ABSENT);
	put(t, DOCKER, "config.v2.json", DOCKER_FILE(ID1, "web"));
	expect(t, ID1, CGPATH_RT_DOCKER, META_FOUND, META_DOCKER, "web");
	expect(t, ID1, CGPATH_RT_UNKNOWN, META_FOUND, META_DOCKER, "web");
	/* docker rename */
	put(t, DOCKER, "config.v2.json", DOCKER_FILE(ID1, "www"));
	expect(t, ID1, CGPATH_RT_DOCKER, META_FOUND, META_DOCKER, "www");
	expect_none(t, ID2, CGPATH_RT_DOCKER, META_ABSENT);
	/* The neighbour's file. */
	put(t, DOCKER, "config.v2.json", DOCKER_FILE(ID2, "neighbour"));
	expect_none(t, ID1, CGPATH_RT_DOCKER, META_FAILED);
	expect_none(t, ID1, CGPATH_RT_CRIO, META_ABSENT);
}

static void test_podman(void **state)
{
	struct tree *t = *state;
	struct meta_container got;

	expect_none(t, ID1, CGPATH_RT_PODMAN, META_ABSENT);
	put(t, PODMAN, "containers.json", LISTED(ID1, "web"));
	expect_none(t, ID1, CGPATH_RT_PODMAN, META_ABSENT);
	put(t, PODMAN "/" ID1 "/userdata", "config.json", BUNDLE("/x", STOP_QUIT));
	assert_int_equal(source_files_find(t->src, ID1, CGPATH_RT_PODMAN, &got), META_FOUND);
	assert_string_equal(got.name, "web");
	assert_int_equal(got.stop_signal, 3);
	assert_int_equal(got.known, 0);
	/* Made with --rm, and in neither list. */
	put(t, PODMAN, "volatile-containers.json", LISTED(ID2, "brief"));
	put(t, PODMAN "/" ID2 "/userdata", "config.json", BUNDLE("/x", STOP_QUIT));
	expect(t, ID2, CGPATH_RT_PODMAN, META_FOUND, META_PODMAN, "brief");
	put(t, PODMAN, "volatile-containers.json", "[]");
	expect(t, ID2, CGPATH_RT_PODMAN, META_FOUND, META_PODMAN, "");
	expect_none(t, ID1, CGPATH_RT_UNKNOWN, META_ABSENT);
}

/* A list is kept in mind once it is a clock tick old, and some. */
static void settle(void)
{
	usleep(150000);
}

static void test_podman_drivers(void **state)
{
	struct tree *t = *state;

	put(t, PODMAN, "containers.json", LISTED(ID1, "over"));
	put(t, PODMAN "/" ID1 "/userdata", "config.json", BUNDLE("/x", ""));
	put(t, "storage/vfs-containers", "containers.json", LISTED(ID2, "plain"));
	put(t, "storage/vfs-containers/" ID2 "/userdata", "config.json", BUNDLE("/x", ""));
	settle();
	for (int i = 0; i < 3; i++) {
		expect(t, ID1, CGPATH_RT_PODMAN, META_FOUND, META_PODMAN, "over");
		expect(t, ID2, CGPATH_RT_PODMAN, META_FOUND, META_PODMAN, "plain");
	}
	put(t, PODMAN "/" ID1 "/userdata", "config.json",
	    BUNDLE("/x", "\"io.kubernetes.cri-o.ContainerID\":\"x\""));
	expect_none(t, ID1, CGPATH_RT_PODMAN, META_ABSENT);
}

static void test_podman_again(void **state)
{
	struct tree *t = *state;

	put(t, PODMAN "/" ID1 "/userdata", "config.json", BUNDLE("/x", ""));
	for (int i = 0; i < 50; i++) {
		put(t, PODMAN, "containers.json", LISTED(ID1, "one"));
		if (i == 0)
			settle();
		expect(t, ID1, CGPATH_RT_PODMAN, META_FOUND, META_PODMAN, "one");
		put(t, PODMAN, "containers.json", LISTED(ID1, "two"));
		expect(t, ID1, CGPATH_RT_PODMAN, META_FOUND, META_PODMAN, "two");
	}
}

static void test_tasks(void **state)
{
	struct tree *t = *state;

	expect_none(t, "web1", CGPATH_RT_UNKNOWN, META_ABSENT);
	put(t, TASKS "/default/web1", "config.json", BUNDLE("/default/web1", ""));
	put(t, TASKS "/default/" ID1, "config.json",
	    BUNDLE("/default/" ID1, "\"nerdctl/namespace\":\"default\",\"nerdctl/name\":\"nerd\""));
	put(t, TASKS "/moby/" ID2, "config.json", BUNDLE("/docker/" ID2, ""));
	put(t, TASKS "/k8s.io/pod1", "config.json", BUNDLE("/k8s.io/pod1", CRI));
	expect(t, "web1", CGPATH_RT_CONTAINERD, META_FOUND, META_CONTAINERD, "web1");
	expect(t, ID1, CGPATH_RT_UNKNOWN, META_FOUND, META_CONTAINERD, "nerd");
	expect_none(t, ID2, CGPATH_RT_UNKNOWN, META_ABSENT);
	expect_none(t, "pod1", CGPATH_RT_UNKNOWN, META_ABSENT);
	expect_none(t, ID1, CGPATH_RT_DOCKER, META_ABSENT);
	/* One id in two namespaces. */
	put(t, TASKS "/prod/web1", "config.json", BUNDLE("/prod/web1", ""));
	expect_none(t, "web1", CGPATH_RT_UNKNOWN, META_ABSENT);
}

#define POD_UID	  "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968"
#define OTHER_UID "2c48913c-b29f-11e7-9350-020968147796"
#define LABELLED(type)                                                                          \
	"{\"ID\":\"" ID1 "\",\"Name\":\"/k8s_x\",\"Config\":{\"Image\":\"i\",\"Labels\":{"      \
	"\"io.kubernetes.docker.type\":\"" type "\",\"io.kubernetes.pod.uid\":\"" POD_UID "\"," \
	"\"io.kubernetes.container.name\":\"POD\"}}}"
#define CRI_NOTES(type, id, uid)                                                                   \
	"\"io.kubernetes.cri.container-type\":\"" type "\",\"io.kubernetes.cri.sandbox-id\":\"" id \
	"\",\"io.kubernetes.cri.sandbox-uid\":\"" uid                                              \
	"\",\"io.kubernetes.cri.container-name\":\"main\""
#define CRIO_NOTES(type, id)                               \
	"\"io.kubernetes.cri-o.ContainerID\":\"" ID1       \
	"\",\"io.kubernetes.cri-o.ContainerType\":\"" type \
	"\",\"io.kubernetes.cri-o.SandboxID\":\"" id "\""

static void expect_in_pod(struct tree *t, enum cgpath_runtime runtime, enum meta_source source,
			  enum meta_container_kind kind, const char *name)
{
	struct meta_container got = {};

	assert_int_equal(source_files_find_in_pod(t->src, ID1, runtime, POD_UID, &got),
			 kind ? META_FOUND : META_ABSENT);
	assert_int_equal(got.source, kind ? source : META_NONE);
	assert_int_equal(got.kind, kind);
	assert_string_equal(got.name, name);
	assert_string_equal(got.id, kind ? ID1 : "");
	assert_string_equal(got.pod_uid, kind ? POD_UID : "");
	assert_int_equal(got.known & META_CTR_GRACE, 0);
}

static void test_docker_pod(void **state)
{
	struct tree *t = *state;

	expect_in_pod(t, CGPATH_RT_DOCKER, META_NONE, META_KIND_UNKNOWN, "");
	put(t, DOCKER, "config.v2.json", LABELLED("podsandbox"));
	expect_in_pod(t, CGPATH_RT_DOCKER, META_DOCKER, META_KIND_SANDBOX, "");
	expect_in_pod(t, CGPATH_RT_UNKNOWN, META_DOCKER, META_KIND_SANDBOX, "");
	expect_in_pod(t, CGPATH_RT_CONTAINERD, META_NONE, META_KIND_UNKNOWN, "");
	put(t, DOCKER, "config.v2.json", LABELLED("container"));
	expect_in_pod(t, CGPATH_RT_DOCKER, META_DOCKER, META_KIND_CONTAINER, "POD");
}

static void test_cri_pod(void **state)
{
	static const struct {
		const char *notes;
		enum meta_container_kind kind;
		const char *name;
	} rows[] = {
		{CRI_NOTES("sandbox", ID1, POD_UID), META_KIND_SANDBOX, ""},
		{CRI_NOTES("container", ID2, POD_UID), META_KIND_CONTAINER, "main"},
		/* Another's sandbox, another's pod. */
		{CRI_NOTES("sandbox", ID2, POD_UID), META_KIND_UNKNOWN, ""},
		{CRI_NOTES("container", ID2, OTHER_UID), META_KIND_UNKNOWN, ""},
		{CRI_NOTES("sandbox", ID1, OTHER_UID), META_KIND_UNKNOWN, ""},
		{CRI, META_KIND_UNKNOWN, ""},
		{"", META_KIND_UNKNOWN, ""},
	};
	struct tree *t = *state;

	for (size_t i = 0; i < LEN(rows); i++) {
		char text[1024];

		print_message("# %s\n", rows[i].notes);
		snprintf(text, sizeof(text), BUNDLE("/x", "%s"), rows[i].notes);
		put(t, TASKS "/k8s.io/" ID1, "config.json", text);
		expect_in_pod(t, CGPATH_RT_CONTAINERD, META_CONTAINERD, rows[i].kind, rows[i].name);
		expect_in_pod(t, CGPATH_RT_UNKNOWN, META_CONTAINERD, rows[i].kind, rows[i].name);
		expect_in_pod(t, CGPATH_RT_DOCKER, META_NONE, META_KIND_UNKNOWN, "");
		expect_in_pod(t, CGPATH_RT_CRIO, META_NONE, META_KIND_UNKNOWN, "");
	}
}

/* Whoever may start tasks by themselves is in another namespace. */
static void test_cri_namespace(void **state)
{
	struct tree *t = *state;

	put(t, TASKS "/default/" ID1, "config.json",
	    BUNDLE("/x", CRI_NOTES("sandbox", ID1, POD_UID)));
	expect_in_pod(t, CGPATH_RT_CONTAINERD, META_NONE, META_KIND_UNKNOWN, "");
}

static void test_crio_pod(void **state)
{
	struct tree *t = *state;

	put(t, PODMAN "/" ID1 "/userdata", "config.json", BUNDLE("/x", CRIO_NOTES("sandbox", ID1)));
	expect_in_pod(t, CGPATH_RT_CRIO, META_PODMAN, META_KIND_SANDBOX, "");
	expect_in_pod(t, CGPATH_RT_CONTAINERD, META_NONE, META_KIND_UNKNOWN, "");
	put(t, PODMAN "/" ID1 "/userdata", "config.json", BUNDLE("/x", CRIO_NOTES("sandbox", ID2)));
	expect_in_pod(t, CGPATH_RT_CRIO, META_NONE, META_KIND_UNKNOWN, "");
	put(t, PODMAN "/" ID1 "/userdata", "config.json",
	    BUNDLE("/x", CRIO_NOTES("container", ID2)));
	expect_in_pod(t, CGPATH_RT_CRIO, META_PODMAN, META_KIND_CONTAINER, "");
}

static void test_identify(void **state)
{
	static const struct {
		const char *path, *name; /* NULL: no container */
	} rows[] = {
		{"/default/web1", "web1"},
		{"/prod/web1", "web1"},
		{"/system.slice/nerdctl-" ID1 ".scope", "nerd"},
		{"/a.slice/a-b.slice/my-ctr-web-2.scope", "web-2"},
		{"/default/web2", NULL},
		{"/default/web3", NULL},
		{"/default/pod1", NULL},
		{"/default/web1/x", NULL},
		{"/x/default/web1", NULL},
		{"/web1", NULL},
		{"default/web1", NULL},
		{"/default/../default/web1", NULL},
		{"/../outside", NULL},
		{"/default/..", NULL},
		{"/user.slice/nerdctl-" ID1 ".scope", NULL},
		{"/user.slice/system.slice/nerdctl-" ID1 ".scope", NULL},
		{"/system.slice/nerdctl-" ID2 ".scope", NULL},
		{"/", NULL},
		{"", NULL},
		{"/default/a0123456789b0123456789c0123456789d0123456789e0123456789f012345678",
		 NULL},
	};
	struct tree *t = *state;

	put(t, TASKS "/default/web1", "config.json", BUNDLE("/default/web1", ""));
	put(t, TASKS "/prod/web1", "config.json", BUNDLE("/prod/web1", ""));
	put(t, "run/outside", "config.json", BUNDLE("/../outside", ""));
	/* In another place than it says, and a pod's. */
	put(t, TASKS "/default/web2", "config.json", BUNDLE("/default/web1", ""));
	put(t, TASKS "/default/web3", "config.json", BUNDLE("/default/web3/x", ""));
	put(t, TASKS "/default/pod1", "config.json", BUNDLE("/default/pod1", CRI));
	put(t, TASKS "/default/" ID1, "config.json",
	    BUNDLE("system.slice:nerdctl:" ID1,
		   "\"nerdctl/namespace\":\"default\",\"nerdctl/name\":\"nerd\""));
	put(t, TASKS "/prod/web-2", "config.json", BUNDLE("a-b.slice:my-ctr:web-2", ""));
	put(t, TASKS "/default/a0123456789b0123456789c0123456789d0123456789e0123456789f012345678",
	    "config.json",
	    BUNDLE("/default/a0123456789b0123456789c0123456789d0123456789e0123456789f012345678",
		   ""));
	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_container got = {};

		print_message("# %s\n", rows[i].path);
		assert_int_equal(source_files_identify(t->src, rows[i].path, &got),
				 rows[i].name ? META_FOUND : META_ABSENT);
		assert_string_equal(got.name, rows[i].name ?: "");
		assert_int_equal(got.source, rows[i].name ? META_CONTAINERD : META_NONE);
	}
}

/* What stands where a file or a directory should. */
enum lie {
	TRUTH,
	LINK,
	FIFO,
	FOLDER, /* a directory instead of a file, a file instead of a directory */
	SOCKET,
	GROUP_MAY,
	OTHERS_MAY,
	SOMEBODYS,
	BIG,
	GARBAGE,
	EMPTY,
	NOTHING,
};

static void lie(const struct tree *t, const char *path, enum lie kind)
{
	const char *full = at(t, path), *aside = at(t, "aside");
	struct stat st;
	int fd;

	assert_int_equal(stat(full, &st), 0);
	if (kind == GROUP_MAY || kind == OTHERS_MAY) {
		assert_int_equal(chmod(full, kind == GROUP_MAY ? 0720 : 0702), 0);
		return;
	}
	if (kind == SOMEBODYS) {
		assert_int_equal(chown(full, 12345, 0), 0);
		return;
	}
	if (kind == BIG) {
		assert_int_equal(truncate(full, 9 << 20), 0);
		return;
	}
	assert_int_equal(rename(full, aside), 0);
	if (kind == LINK)
		assert_int_equal(symlink(aside, full), 0);
	else if (kind == FIFO)
		assert_int_equal(mkfifo(full, 0600), 0);
	else if (kind == SOCKET)
		assert_int_equal(mknod(full, S_IFSOCK | 0600, 0), 0);
	else if (kind == FOLDER && S_ISREG(st.st_mode))
		assert_int_equal(mkdir(full, 0700), 0);
	if (kind == GARBAGE || kind == EMPTY || (kind == FOLDER && S_ISDIR(st.st_mode))) {
		fd = open(full, O_WRONLY | O_CREAT, 0600);
		assert_true(fd >= 0);
		assert_int_equal(write(fd, "[}\xff", kind == EMPTY ? 0 : 3), kind == EMPTY ? 0 : 3);
		close(fd);
	}
}

static void begin_lies(struct tree *t)
{
	put(t, DOCKER, "config.v2.json", DOCKER_FILE(ID1, "web"));
	put(t, PODMAN, "containers.json", LISTED(ID1, "web"));
	put(t, PODMAN "/" ID1 "/userdata", "config.json", BUNDLE("/x", ""));
	put(t, TASKS "/default/web1", "config.json", BUNDLE("/default/web1", ""));
}

static enum meta_result ask(struct tree *t, enum meta_source source)
{
	struct meta_container got;

	if (source == META_DOCKER)
		return source_files_find(t->src, ID1, CGPATH_RT_DOCKER, &got);
	if (source == META_PODMAN)
		return source_files_find(t->src, ID1, CGPATH_RT_PODMAN, &got);
	return source_files_identify(t->src, "/default/web1", &got);
}

static void check_lie(const char *path, enum meta_source source, enum lie kind)
{
	enum meta_result want = kind == TRUTH ? META_FOUND : META_FAILED;
	struct source_state fares;
	struct tree *t;
	void *state;

	print_message("# %s %d\n", path, kind);
	assert_int_equal(setup(&state), 0);
	t = state;
	begin_lies(t);
	if (kind != TRUTH)
		lie(t, path, kind);
	if (kind == NOTHING)
		want = META_ABSENT;
	assert_int_equal(ask(t, source), want);
	source_files_get_state(t->src, source, &fares);
	assert_int_equal(fares.status, kind == TRUTH || kind == NOTHING ? SOURCE_UP : SOURCE_DOWN);
	assert_int_equal(fares.failures, want == META_FAILED);
	if (strstr(path, ".json") && (kind == FIFO || kind == SOCKET || kind == FOLDER))
		assert_non_null(strstr(fares.text, "no regular file"));
	assert_true(fares.text[0] != 0);
	teardown(&state);
}

static void test_lies(void **state)
{
	static const struct {
		const char *path;
		enum meta_source source;
		bool dir, list;
	} places[] = {
		{DOCKER "/config.v2.json", META_DOCKER, false, false},
		{DOCKER, META_DOCKER, true, false},
		{"docker/containers", META_DOCKER, true, false},
		{PODMAN "/" ID1 "/userdata/config.json", META_PODMAN, false, false},
		{PODMAN "/" ID1 "/userdata", META_PODMAN, true, false},
		{PODMAN "/" ID1, META_PODMAN, true, false},
		{PODMAN, META_PODMAN, true, false},
		{PODMAN "/containers.json", META_PODMAN, false, true},
		{TASKS "/default/web1/config.json", META_CONTAINERD, false, false},
		{TASKS "/default/web1", META_CONTAINERD, true, false},
		{TASKS "/default", META_CONTAINERD, true, false},
		{TASKS, META_CONTAINERD, true, false},
	};

	for (size_t i = 0; i < LEN(places); i++) {
		for (enum lie kind = TRUTH; kind <= NOTHING; kind++) {
			bool no_dir = kind == BIG || kind == GARBAGE || kind == EMPTY;
			/* A name less is no failure. */
			bool no_list = kind == NOTHING || kind == GARBAGE;

			if ((places[i].dir && no_dir) || (places[i].list && no_list) ||
			    (kind == SOMEBODYS && geteuid() != 0))
				continue;
			check_lie(places[i].path, places[i].source, kind);
		}
	}
}

static void test_roots(void **state)
{
	struct tree *t = *state;
	struct source_state fares;

	source_files_get_state(t->src, META_DOCKER, &fares);
	assert_int_equal(fares.status, SOURCE_OFF);
	assert_string_equal(fares.where, at(t, "docker"));
	assert_int_equal(ask(t, META_DOCKER), META_ABSENT);
	source_files_get_state(t->src, META_DOCKER, &fares);
	assert_int_equal(fares.lookups[META_ABSENT], 0);
	begin_lies(t);
	/* An administrator may have put it elsewhere. */
	assert_int_equal(rename(at(t, "docker"), at(t, "elsewhere")), 0);
	assert_int_equal(symlink("elsewhere", at(t, "docker")), 0);
	assert_int_equal(ask(t, META_DOCKER), META_FOUND);
	assert_int_equal(chmod(at(t, "elsewhere"), 0777), 0);
	source_files_get_state(t->src, META_DOCKER, &fares);
	assert_int_equal(fares.status, SOURCE_DOWN);
	for (int i = 0; i < 2; i++)
		assert_int_equal(ask(t, META_DOCKER), META_FAILED);
	source_files_get_state(t->src, META_DOCKER, &fares);
	assert_int_equal(fares.failures, 2);
	assert_int_equal(fares.lookups[META_FOUND], 1);
	assert_int_equal(fares.lookups[META_FAILED], 2);
	assert_int_equal(chmod(at(t, "elsewhere"), 0711), 0);
	assert_int_equal(ask(t, META_DOCKER), META_FOUND);
	source_files_get_state(t->src, META_DOCKER, &fares);
	assert_int_equal(fares.status, SOURCE_UP);
	assert_int_equal(fares.failures, 0);
	source_files_get_state(t->src, META_LOGS, &fares);
	assert_int_equal(fares.status, SOURCE_OFF);
}

static void test_off(void **state)
{
	const struct source_files_options none = {"", "", "", NULL, 0};
	struct source_files *src;
	struct source_state fares;
	struct meta_container got;

	assert_int_equal(source_files_new(&none, &src), 0);
	assert_int_equal(source_files_find(src, ID1, CGPATH_RT_UNKNOWN, &got), META_ABSENT);
	source_files_get_state(src, META_PODMAN, &fares);
	assert_int_equal(fares.status, SOURCE_OFF);
	assert_null(source_files_free(src));
	assert_null(source_files_free(NULL));
}

static void test_ids(void **state)
{
	static const char *const ids[] = {"",	".",	"..",	"../x", "a/b",	 "-a",
					  "a-", "a..b", "a\nb", "a b",	ID1 "0", "\xff"};
	struct tree *t = *state;

	begin_lies(t);
	put(t, TASKS "/x", "config.json", BUNDLE("/x", ""));
	for (size_t i = 0; i < LEN(ids); i++)
		for (enum cgpath_runtime rt = CGPATH_RT_NONE; rt <= CGPATH_RT_PODMAN; rt++)
			expect_none(t, ids[i], rt, META_ABSENT);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		{"a container of Docker's is found as long as its file is there", test_docker,
		 setup, teardown, NULL},
		{"a container of Podman's has its name from a list, its signal from its own file",
		 test_podman, setup, teardown, NULL},
		{"Podman's storage driver does not matter, and CRI-O's containers are left alone",
		 test_podman_drivers, setup, teardown, NULL},
		{"a list that was written anew is read anew", test_podman_again, setup, teardown,
		 NULL},
		{"a task of containerd's is found by an id that is its alone", test_tasks, setup,
		 teardown, NULL},
		{"Docker's labels show a pod's sandbox", test_docker_pod, setup, teardown, NULL},
		{"containerd's annotations do, of its own pod and under its own id", test_cri_pod,
		 setup, teardown, NULL},
		{"but not those of a task outside of Kubernetes' namespace", test_cri_namespace,
		 setup, teardown, NULL},
		{"CRI-O's do, in the directory that it shares with Podman", test_crio_pod, setup,
		 teardown, NULL},
		{"a cgroup is a container when its task says exactly that", test_identify, setup,
		 teardown, NULL},
		CLAIM("what others could have put there is not believed, and nothing waits",
		      test_lies),
		{"an engine that is not there is off, and one that comes right is up", test_roots,
		 setup, teardown, NULL},
		CLAIM("an engine that is not wanted is not asked", test_off),
		{"an id of any bytes opens nothing", test_ids, setup, teardown, NULL},
	};

	return cmocka_run_group_tests_name("io/sources/files", tests, NULL, NULL);
}
