// SPDX-License-Identifier: Apache-2.0
/* Claims about io/sources/files/homes: what a user's own engines keep is found, and nothing that
 * the user puts in its place leads elsewhere, or costs others anything. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "io/proc/clock.h"
#include "io/sources/files/homes.h"
#include "lib/claim.h"
#include "lib/patience.h"

#define USER	60123
#define OTHER	60124
#define MANY	60200
#define ID(c)	c c c c c c c c c c c c c c c c
#define ID1	ID("1234")
#define ID2	ID("abcd")
#define DOCKER	".local/share/docker/containers/"
#define PODMAN	".local/share/containers/storage/"
#define OVERLAY PODMAN "overlay-containers/"
#define ANSWERS 256
#define MS	1000000ull
#define DOCKER_OF(id, name) \
	"{\"ID\":\"" id "\",\"Name\":\"/" name "\",\"Config\":{\"Image\":\"i\",\"StopTimeout\":4}}"
#define BUNDLE                                                                           \
	"{\"ociVersion\":\"1\",\"annotations\":{\"org.opencontainers.image.stopSignal\"" \
	":\"3\",\"org.systemd.property.TimeoutStopUSec\":\"uint64 7000000\"}}"
#define LISTED(id, name)                         \
	"[{\"id\":\"" id "\",\"names\":[\"" name \
	"\"],\"metadata\":\"{\\\"image-name\\\":\\\"nginx\\\"}\"}]"

struct heard {
	char key[SOURCE_HOMES_KEY_SIZE];
	enum meta_result result;
	struct meta_container found; /* the last one before */
};

struct homes {
	char dir[64], passwd[96];
	sd_event *event;
	struct source_homes *src;
	struct meta_container found;
	struct heard heard[ANSWERS];
	size_t n;
};

static void on_container(void *userdata, const struct meta_container *container)
{
	struct homes *t = userdata;

	t->found = *container;
}

static void on_done(void *userdata, enum meta_source source, const char *key,
		    enum meta_result result)
{
	struct homes *t = userdata;
	struct heard *heard = &t->heard[t->n++];

	assert_true(t->n < ANSWERS);
	snprintf(heard->key, sizeof(heard->key), "%s", key);
	heard->result = result;
	heard->found = t->found;
	t->found = (struct meta_container){};
}

static void reopen(struct homes *t, bool at_once, uint64_t patience_ns)
{
	const struct source_homes_options options = {
		.passwd = t->passwd, .at_once = at_once, .patience_ns = patience_ns};
	const struct source_sink sink = {t, NULL, on_container, on_done, NULL};

	source_homes_free(t->src);
	assert_int_equal(source_homes_new(t->event, &options, &sink, &t->src), 0);
	t->n = 0;
}

static const char *at(const struct homes *t, uint32_t user, const char *path)
{
	static char full[4][1024];
	static unsigned int next;
	char *ret = full[next++ % 4];

	snprintf(ret, sizeof(full[0]), "%s/%u/%s", t->dir, user, path);
	return ret;
}

static void make_dirs(const struct homes *t, uint32_t user, const char *path)
{
	char part[512];

	for (const char *slash = strchr(path, '/'); slash; slash = strchr(slash + 1, '/')) {
		snprintf(part, sizeof(part), "%.*s", (int)(slash - path), path);
		mkdir(at(t, user, part), 0700);
		assert_int_equal(chown(at(t, user, part), user, user), 0);
	}
}

static void put(const struct homes *t, uint32_t user, const char *path, const char *text)
{
	FILE *f;

	make_dirs(t, user, path);
	unlink(at(t, user, path));
	f = fopen(at(t, user, path), "w");
	assert_non_null(f);
	assert_true(fputs(text, f) >= 0);
	assert_int_equal(fclose(f), 0);
	assert_int_equal(chmod(at(t, user, path), 0600), 0);
	assert_int_equal(chown(at(t, user, path), user, user), 0);
}

static void await(struct homes *t, size_t n)
{
	uint64_t until_ns = clock_monotonic_ns() + PATIENCE_NS;

	while (t->n < n && clock_monotonic_ns() < until_ns)
		assert_true(sd_event_run(t->event, 100000) >= 0);
	assert_int_equal(t->n, n);
}

static const struct heard *ask(struct homes *t, uint32_t user, const char *id,
			       enum cgpath_runtime runtime)
{
	size_t n = t->n;

	source_homes_find(t->src, user, id, runtime);
	await(t, n + 1);
	return &t->heard[t->n - 1];
}

static void expect(struct homes *t, const char *id, enum cgpath_runtime runtime, const char *name)
{
	const struct heard *heard = ask(t, USER, id, runtime);
	char key[SOURCE_HOMES_KEY_SIZE];

	source_homes_key(USER, id, key);
	assert_string_equal(heard->key, key);
	assert_string_equal(heard->found.name, name);
	assert_int_equal(heard->result, *name ? META_FOUND : META_ABSENT);
	assert_int_equal(heard->found.user, *name ? USER : 0);
}

static int setup(void **state)
{
	static struct homes t;
	FILE *f;

	t = (struct homes){};
	*state = &t;
	if (getuid() != 0)
		return 0;
	strcpy(t.dir, "/tmp/graced-homes-XXXXXX");
	if (!mkdtemp(t.dir) || chmod(t.dir, 0711) < 0 || sd_event_new(&t.event) < 0)
		return -1;
	snprintf(t.passwd, sizeof(t.passwd), "%s/passwd", t.dir);
	f = fopen(t.passwd, "w");
	if (!f)
		return -1;
	for (uint32_t user = USER; user < USER + 2; user++) {
		fprintf(f, "u%u:x:%u:%u::%s/%u:/bin/sh\n", user, user, user, t.dir, user);
		if (mkdir(at(&t, user, ""), 0700) < 0 || chown(at(&t, user, ""), user, user) < 0)
			return -1;
	}
	fclose(f);
	reopen(&t, true, 0);
	return 0;
}

static int teardown(void **state)
{
	struct homes *t = *state;
	char command[128];

	if (!t->dir[0])
		return 0;
	source_homes_free(t->src);
	sd_event_unref(t->event);
	snprintf(command, sizeof(command), "rm -rf --one-file-system -- '%s'", t->dir);
	return system(command);
}

static struct homes *need_root(void **state)
{
	struct homes *t = *state;

	if (!t->dir[0]) {
		print_message("files of other users are made by root alone\n");
		skip();
	}
	return t;
}

static void podman_and_docker_are_read(void **state)
{
	struct homes *t = need_root(state);
	const struct heard *heard;

	put(t, USER, DOCKER ID1 "/config.v2.json", DOCKER_OF(ID1, "cache"));
	put(t, USER, OVERLAY ID2 "/userdata/config.json", BUNDLE);
	put(t, USER, OVERLAY "containers.json", LISTED(ID2, "web"));
	heard = ask(t, USER, ID1, CGPATH_RT_DOCKER);
	assert_int_equal(heard->result, META_FOUND);
	assert_string_equal(heard->found.name, "cache");
	assert_string_equal(heard->found.id, ID1);
	assert_int_equal(heard->found.user, USER);
	assert_int_equal(heard->found.source, META_DOCKER);
	assert_int_equal(heard->found.grace_ns, 4000 * MS);
	expect(t, ID1, CGPATH_RT_UNKNOWN, "cache");
	heard = ask(t, USER, ID2, CGPATH_RT_PODMAN);
	assert_int_equal(heard->result, META_FOUND);
	assert_string_equal(heard->found.name, "web");
	assert_string_equal(heard->found.image, "nginx");
	assert_int_equal(heard->found.source, META_PODMAN);
	assert_int_equal(heard->found.stop_signal, 3);
	assert_int_equal(heard->found.grace_ns, 7000 * MS);
	/* --rm, and the driver without overlayfs. */
	put(t, USER, PODMAN "vfs-containers/" ID1 "/userdata/config.json", BUNDLE);
	put(t, USER, PODMAN "vfs-containers/volatile-containers.json", LISTED(ID1, "brief"));
	expect(t, ID1, CGPATH_RT_PODMAN, "brief");
	expect(t, ID("5678"), CGPATH_RT_PODMAN, "");
	expect(t, ID2, CGPATH_RT_DOCKER, "");
	expect(t, ID2, CGPATH_RT_CONTAINERD, "");
	expect(t, "../../../../../../etc/passwd", CGPATH_RT_DOCKER, "");
	assert_int_equal(ask(t, OTHER, ID1, CGPATH_RT_DOCKER)->result, META_ABSENT);
	assert_int_equal(ask(t, 59999, ID1, CGPATH_RT_DOCKER)->result, META_ABSENT);
}

static void other_files_are_not_read(void **state)
{
	const char *const file = DOCKER ID1 "/config.v2.json", *text = DOCKER_OF(ID1, "web");
	struct homes *t = need_root(state);

	put(t, OTHER, file, text);
	put(t, USER, file, text);
	expect(t, ID1, CGPATH_RT_DOCKER, "web");
	/* Another user's, and root's. */
	assert_int_equal(chown(at(t, USER, file), OTHER, OTHER), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
	assert_int_equal(chown(at(t, USER, file), 0, 0), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
	unlink(at(t, USER, file));
	/* Links: the last component, one on the way, and one that stays below. */
	put(t, USER, "aside", text);
	assert_int_equal(symlink(at(t, USER, "aside"), at(t, USER, file)), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
	unlink(at(t, USER, file));
	assert_int_equal(symlink("../../../../../aside", at(t, USER, file)), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
	unlink(at(t, USER, file));
	rename(at(t, USER, ".local/share/docker"), at(t, USER, ".local/share/moved"));
	put(t, USER, ".local/share/moved/containers/" ID1 "/config.v2.json", text);
	assert_int_equal(symlink("moved", at(t, USER, ".local/share/docker")), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
	unlink(at(t, USER, ".local/share/docker"));
	rename(at(t, USER, ".local/share/moved"), at(t, USER, ".local/share/docker"));
	expect(t, ID1, CGPATH_RT_DOCKER, "web");
	/* What is no file, and would be waited for. */
	unlink(at(t, USER, file));
	assert_int_equal(mkfifo(at(t, USER, file), 0600), 0);
	assert_int_equal(chown(at(t, USER, file), USER, USER), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
	unlink(at(t, USER, file));
	assert_int_equal(mkdir(at(t, USER, file), 0700), 0);
	assert_int_equal(chown(at(t, USER, file), USER, USER), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
}

static void a_mount_below_the_home_is_not_entered(void **state)
{
	const char *const file = DOCKER ID1 "/config.v2.json";
	struct homes *t = need_root(state);

	put(t, USER, file, DOCKER_OF(ID1, "web"));
	expect(t, ID1, CGPATH_RT_DOCKER, "web");
	if (mount(at(t, USER, DOCKER), at(t, USER, DOCKER), NULL, MS_BIND, NULL) < 0)
		skip();
	source_homes_find(t->src, USER, ID1, CGPATH_RT_DOCKER);
	await(t, t->n + 1);
	umount2(at(t, USER, DOCKER), MNT_DETACH);
	assert_int_equal(t->heard[t->n - 1].result, META_ABSENT);
}

static void a_home_of_another_is_not_entered(void **state)
{
	struct homes *t = need_root(state);

	put(t, USER, DOCKER ID1 "/config.v2.json", DOCKER_OF(ID1, "web"));
	assert_int_equal(chown(at(t, USER, ""), OTHER, OTHER), 0);
	expect(t, ID1, CGPATH_RT_DOCKER, "");
}

static void nonsense_fails(void **state)
{
	static const char *const texts[] = {"", "{", "[]", "\xff", "{\"ID\":\"" ID1 "\"}"};
	const char *const file = DOCKER ID1 "/config.v2.json";
	struct homes *t = need_root(state);

	for (size_t i = 0; i < LEN(texts); i++) {
		put(t, USER, file, texts[i]);
		assert_int_equal(ask(t, USER, ID1, CGPATH_RT_DOCKER)->result, META_FAILED);
	}
	put(t, USER, file, DOCKER_OF(ID2, "another's"));
	expect(t, ID1, CGPATH_RT_DOCKER, "");
	put(t, USER, file, DOCKER_OF(ID1, "big"));
	assert_int_equal(truncate(at(t, USER, file), (off_t)1 << 40), 0);
	assert_int_equal(ask(t, USER, ID1, CGPATH_RT_DOCKER)->result, META_FAILED);
}

/* A container of Kubernetes' is none of a user's. */
static void a_pod_is_not_claimed(void **state)
{
	const char *const text =
		"{\"ID\":\"" ID1 "\",\"Name\":\"/web\",\"Config\":{\"Labels\":{"
		"\"io.kubernetes.pod.uid\":\"94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968\"}}}";
	struct homes *t = need_root(state);
	const struct heard *heard;

	put(t, USER, DOCKER ID1 "/config.v2.json", text);
	heard = ask(t, USER, ID1, CGPATH_RT_DOCKER);
	assert_string_equal(heard->found.pod_uid, "");
	assert_int_equal(heard->found.kind, META_KIND_CONTAINER);
}

static void many_at_once_are_answered_or_shed(void **state)
{
	struct homes *t = need_root(state);
	unsigned int shed = 0;
	char id[META_ID_MAX];

	reopen(t, false, 0);
	put(t, USER, DOCKER ID1 "/config.v2.json", DOCKER_OF(ID1, "web"));
	for (unsigned int i = 0; i < 100; i++) {
		snprintf(id, sizeof(id), "%064x", i);
		source_homes_find(t->src, USER, id, CGPATH_RT_DOCKER);
	}
	source_homes_find(t->src, OTHER, ID1, CGPATH_RT_DOCKER);
	await(t, 101);
	for (size_t i = 0; i < t->n; i++)
		shed += t->heard[i].result == META_SHED;
	/* One went at once, and a child's questions are not those that wait. */
	assert_int_equal(shed, 100 - 1 - SOURCE_HOMES_WAITING);
	/* The other user waits for none of them. */
	expect(t, ID1, CGPATH_RT_DOCKER, "web");
}

/* The databases hang, as those of a network do: all that a child waits for is alike. */
static void what_hangs_is_given_up(void **state)
{
	struct homes *t = need_root(state);
	uint64_t began_ns;

	unlink(t->passwd);
	assert_int_equal(mkfifo(t->passwd, 0600), 0);
	reopen(t, false, 200 * MS);
	began_ns = clock_monotonic_ns();
	for (uint32_t user = MANY; user <= MANY + SOURCE_HOMES_USERS; user++)
		source_homes_find(t->src, user, ID1, CGPATH_RT_DOCKER);
	/* One more than there are places. */
	assert_int_equal(t->n, 1);
	assert_int_equal(t->heard[0].result, META_SHED);
	await(t, SOURCE_HOMES_USERS + 1);
	for (size_t i = 1; i < t->n; i++)
		assert_int_equal(t->heard[i].result, META_FAILED);
	/* No more than some children are there at a time. */
	assert_true(clock_monotonic_ns() - began_ns >=
		    SOURCE_HOMES_USERS / SOURCE_HOMES_CHILDREN * 200 * MS);
}

static void children_have_pauses(void **state)
{
	struct homes *t = need_root(state);
	uint64_t began_ns;

	put(t, USER, DOCKER ID1 "/config.v2.json", DOCKER_OF(ID1, "web"));
	reopen(t, false, 0);
	began_ns = clock_monotonic_ns();
	for (unsigned int i = 0; i < 16; i++)
		expect(t, ID1, CGPATH_RT_DOCKER, "web");
	assert_true(clock_monotonic_ns() - began_ns >= 1500 * MS);
}

#define HOMES_CLAIM(text, function)                   \
	{                                             \
		text, function, setup, teardown, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		HOMES_CLAIM("names, images, stop signals and timeouts of a user's Podman and "
			    "Docker are found",
			    podman_and_docker_are_read),
		HOMES_CLAIM("links, other users' files, FIFOs and directories are not read",
			    other_files_are_not_read),
		HOMES_CLAIM("a mount below the home is not entered",
			    a_mount_below_the_home_is_not_entered),
		HOMES_CLAIM("a home that is another user's is not entered",
			    a_home_of_another_is_not_entered),
		HOMES_CLAIM("nonsense and files without end fail", nonsense_fails),
		HOMES_CLAIM("no user's container is in a pod", a_pod_is_not_claimed),
		HOMES_CLAIM("many look-ups are answered or shed, and other users' go on",
			    many_at_once_are_answered_or_shed),
		HOMES_CLAIM("what hangs is given up, and only some are waited for at a time",
			    what_hangs_is_given_up),
		HOMES_CLAIM("one user's children have pauses", children_have_pauses),
	};

	return cmocka_run_group_tests_name("io/sources/files/homes", tests, NULL, NULL);
}
