// SPDX-License-Identifier: Apache-2.0
/* Claims about core/cgroup/map: which cgroup is what, who may name whom, and how long it is known. */
#include "core/cgroup/map.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/engine/world.h"

#define POD_A_PATH "/kubepods/burstable/pod" WORLD_UID_A
#define POD_B_PATH "/kubepods/burstable/pod" WORLD_UID_B
#define A1_PATH	   POD_A_PATH "/" WORLD_ID_A1

#define NEW(id_, parent, name_) \
	(&(struct cgmap_new){.id = (id_), .parent_id = (parent), .name = (name_)})

static struct cgnode *found(struct cgmap *map, uint64_t id, const char *path)
{
	struct cgnode *node = NULL;

	assert_int_equal(cgmap_add_path(map, NEW(id, 0, path), &node), 0);
	assert_non_null(node);
	return node;
}

static struct cgnode *made(struct cgmap *map, uint64_t id, uint64_t parent, const char *name)
{
	struct cgnode *node = NULL;

	assert_int_equal(cgmap_add_child(map, NEW(id, parent, name), &node), 0);
	assert_non_null(node);
	return node;
}

static void test_kinds(void **state)
{
	static const struct {
		const char *path;
		uint32_t kind, with_services;
	} want[] = {
		{"/", GRACED_WATCH_BRANCH, GRACED_WATCH_BRANCH},
		{"/kubepods", GRACED_WATCH_BRANCH, GRACED_WATCH_BRANCH},
		{"/kubepods/burstable", GRACED_WATCH_BRANCH, GRACED_WATCH_BRANCH},
		{POD_A_PATH, GRACED_WATCH_POD, GRACED_WATCH_POD},
		{A1_PATH, GRACED_WATCH_CONTAINER, GRACED_WATCH_CONTAINER},
		{"/docker/" WORLD_ID_D1, GRACED_WATCH_CONTAINER, GRACED_WATCH_CONTAINER},
		{POD_A_PATH "/crio-conmon-" WORLD_ID_A1 ".scope", GRACED_WATCH_BRANCH,
		 GRACED_WATCH_BRANCH},
		{"/system.slice/ssh.service", GRACED_WATCH_BRANCH, GRACED_WATCH_SERVICE},
		{"/user.slice/user-1000.slice/user@1000.service", GRACED_WATCH_BRANCH,
		 GRACED_WATCH_BRANCH},
		{"/system.slice/user-hook.service", GRACED_WATCH_BRANCH, GRACED_WATCH_SERVICE},
		{"/init.scope", GRACED_WATCH_BRANCH, GRACED_WATCH_BRANCH},
		{"/system.slice", GRACED_WATCH_BRANCH, GRACED_WATCH_BRANCH},
		{"", GRACED_WATCH_BRANCH, GRACED_WATCH_BRANCH},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		for (int services = 0; services < 2; services++) {
			struct cgmap map = {.services = services};
			uint32_t kind = found(&map, 7, want[i].path)->kind;

			if (kind != (services ? want[i].with_services : want[i].kind))
				fail_msg("%s: kind %u", want[i].path, kind);
			cgmap_done(&map);
		}
	}
}

static void test_children_take_their_parents_path(void **state)
{
	struct cgmap map = {};
	struct cgnode *node;

	found(&map, CG_ROOT, "/");
	assert_string_equal(made(&map, 2, CG_ROOT, "kubepods")->path, "/kubepods");
	made(&map, 3, 2, "burstable");
	made(&map, 4, 3, "pod" WORLD_UID_A);
	node = made(&map, 5, 4, WORLD_ID_A1);
	assert_string_equal(node->path, A1_PATH);
	assert_int_equal(node->kind, GRACED_WATCH_CONTAINER);
	assert_string_equal(node->pod->uid, WORLD_UID_A);
	assert_ptr_equal(node->pod, cgmap_get(&map, 4)->pod);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), node);
	/* Told twice, it is the same node. */
	assert_ptr_equal(made(&map, 5, 4, "another-name"), node);
	assert_ptr_equal(found(&map, 5, "/another/path"), node);
	assert_string_equal(node->path, A1_PATH);
	cgmap_done(&map);
}

static void test_below_a_container(void **state)
{
	static const struct {
		uint64_t parent_id; /* as reported: the container, or unknown */
		const char *path;
	} want[] = {
		{5, A1_PATH "/system.slice"},	 {0, A1_PATH "/system.slice"},
		{0, A1_PATH POD_B_PATH},	 {0, A1_PATH POD_B_PATH "/" WORLD_ID_B1},
		{5, POD_B_PATH "/" WORLD_ID_B1}, {0, A1_PATH "/"},
	};
	struct cgmap map = {};
	struct cgnode *node = NULL;

	found(&map, 4, POD_A_PATH);
	found(&map, 5, A1_PATH);
	assert_int_equal(cgmap_add_child(&map, NEW(6, 5, "pod" WORLD_UID_B), &node), -EEXIST);
	assert_int_equal(cgmap_add_child(&map, NEW(6, 5, WORLD_ID_B1), &node), -EEXIST);
	for (size_t i = 0; i < LEN(want); i++)
		if (cgmap_add_path(&map, NEW(6, want[i].parent_id, want[i].path), &node) != -EEXIST)
			fail_msg("%s", want[i].path);
	assert_null(node);
	assert_null(cgmap_get(&map, 6));
	assert_null(cgmap_by_container_id(&map, WORLD_ID_B1));
	/* One that only begins with the same letters is a neighbour. */
	found(&map, 7, A1_PATH "x");
	cgmap_done(&map);
}

static void test_nested_nodes(void **state)
{
	static const char *const nested[] = {"/docker/" WORLD_ID_D1, NULL};
	struct cgmap map = {.nested_nodes = nested};
	struct cgnode *node;

	found(&map, 1, "/");
	made(&map, 2, 1, "docker");
	node = made(&map, 3, 2, WORLD_ID_D1);
	assert_int_equal(node->kind, GRACED_WATCH_BRANCH);
	assert_null(cgmap_by_container_id(&map, WORLD_ID_D1));
	made(&map, 4, 3, "kubelet.slice");
	assert_int_equal(made(&map, 5, 4, "kubelet.service")->kind, GRACED_WATCH_BRANCH);
	made(&map, 6, 4, "kubepods");
	made(&map, 7, 6, "pod" WORLD_UID_A);
	node = made(&map, 8, 7, WORLD_ID_A1);
	assert_int_equal(node->kind, GRACED_WATCH_CONTAINER);
	assert_string_equal(node->pod->uid, WORLD_UID_A);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), node);
	/* Every other container is one, and nothing below it is read. */
	assert_int_equal(made(&map, 9, 2, WORLD_ID_B1)->kind, GRACED_WATCH_CONTAINER);
	assert_int_equal(cgmap_add_child(&map, NEW(10, 9, "kubepods"), &node), -EEXIST);
	/* The same by whole paths. */
	node = found(&map, 11, "/docker/" WORLD_ID_D1 POD_B_PATH "/" WORLD_ID_B1);
	assert_string_equal(node->pod->uid, WORLD_UID_B);
	assert_int_equal(cgmap_add_path(&map, NEW(12, 0, "/docker/" WORLD_ID_A2 POD_B_PATH), &node),
			 -EEXIST);
	cgmap_done(&map);
}

static void test_unknown(void **state)
{
	struct cgmap map = {};
	struct cgnode *node = NULL, *other = NULL;

	assert_int_equal(cgmap_add_child(&map, NEW(9, 8, "x"), &node), -ENOENT);
	assert_int_equal(cgmap_add_unknown(&map, 8, &node), 0);
	assert_true(cgnode_is_container(node));
	assert_null(node->path);
	/* A child of it cannot be named, and it may be a branch as well as a container. */
	assert_int_equal(cgmap_add_child(&map, NEW(9, 8, "x"), &other), -ENOENT);
	assert_int_equal(cgmap_add_path(&map, NEW(9, 8, "/a/x"), &other), 0);
	assert_ptr_equal(found(&map, 8, A1_PATH), node);
	assert_string_equal(node->path, A1_PATH);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), node);
	cgmap_done(&map);
}

static void test_removed(void **state)
{
	struct cgmap map = {};
	struct cgnode *a1, *again;

	found(&map, 4, POD_A_PATH);
	a1 = cgnode_ref(found(&map, 5, A1_PATH));
	assert_int_equal(map.n_pods, 1);
	cgmap_remove(&map, 4);
	cgmap_remove(&map, 5);
	cgmap_remove(&map, 5);
	cgmap_remove(&map, 0);
	assert_null(cgmap_get(&map, 5));
	assert_null(cgmap_by_container_id(&map, WORLD_ID_A1));
	assert_string_equal(a1->path, A1_PATH);
	assert_string_equal(a1->pod->uid, WORLD_UID_A);
	/* A second life of the same name is another node, of the same pod. */
	again = found(&map, 6, A1_PATH);
	assert_ptr_not_equal(again, a1);
	assert_ptr_equal(again->pod, a1->pod);
	assert_ptr_equal(again->container, a1->container);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), again);
	assert_null(cgnode_unref(&map, a1));
	cgmap_remove(&map, 6);
	assert_int_equal(map.n_pods, 0);
	assert_int_equal(map.nodes.count, 0);
	assert_int_equal(map.containers.by_key.count, 0);
	cgmap_done(&map);
}

/* The record of the removal was lost: there is only one cgroup of a path at a time. */
static void test_replaced(void **state)
{
	struct cgmap map = {};
	struct cgnode *again;

	found(&map, 5, A1_PATH);
	again = found(&map, 6, A1_PATH);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), again);
	cgmap_remove(&map, 5);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), again);
	cgmap_done(&map);
}

static void test_two_claim_one_id(void **state)
{
	struct cgmap map = {};
	struct cgnode *first;

	first = found(&map, 5, A1_PATH);
	found(&map, 6, "/docker/" WORLD_ID_A1);
	found(&map, 7, POD_B_PATH "/" WORLD_ID_A1);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), first);
	cgmap_remove(&map, 6);
	assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), first);
	cgmap_done(&map);
}

static struct cgnode *lent(struct cgmap *map, uint64_t id, const char *path, uint32_t level)
{
	struct cgnode *node = NULL;

	assert_int_equal(cgmap_add_path(map,
					&(struct cgmap_new){
						.id = id, .delegated_level = level, .name = path},
					&node),
			 0);
	return node;
}

static void test_delegated(void **state)
{
	static const char *const roots[] = {"/", NULL};
	struct cgmap map = {}, rootless = {.roots = roots};
	struct cgnode *node;

	assert_int_equal(lent(&map, 3, "/app/kubepods", 2)->kind, GRACED_WATCH_BRANCH);
	/* What is below it is no more root's than it is. */
	node = made(&map, 4, 3, "pod" WORLD_UID_A);
	assert_int_equal(node->kind, GRACED_WATCH_BRANCH);
	assert_null(node->pod);
	node = made(&map, 5, 4, WORLD_ID_A1);
	assert_int_equal(node->kind, GRACED_WATCH_BRANCH);
	assert_int_equal(node->delegated_level, 2);
	assert_null(cgmap_by_container_id(&map, WORLD_ID_A1));
	assert_int_equal(made(&map, 6, 5, "x")->kind, GRACED_WATCH_BRANCH);
	assert_int_equal(
		lent(&map, 7, "/app/kubepods/pod" WORLD_UID_A "/" WORLD_ID_A1 "/y", 2)->kind,
		GRACED_WATCH_BRANCH);
	assert_null(cgmap_pod(&map, WORLD_UID_A));
	/* A container may belong to whom it runs, and its cgroups with it. */
	assert_int_equal(lent(&map, 8, A1_PATH, 0)->kind, GRACED_WATCH_CONTAINER);
	assert_int_equal(cgmap_add_path(&map,
					&(struct cgmap_new){.id = 9,
							    .delegated_level = 5,
							    .name = A1_PATH "/" WORLD_ID_B1},
					&node),
			 -EEXIST);
	cgmap_done(&map);

	node = lent(&rootless, 5, "/app/kubepods/pod" WORLD_UID_A "/" WORLD_ID_A1, 2);
	assert_int_equal(node->kind, GRACED_WATCH_CONTAINER);
	assert_null(node->pod);
	assert_ptr_equal(cgmap_by_container_id(&rootless, WORLD_ID_A1), node);
	node = found(&rootless, 8, A1_PATH);
	assert_ptr_equal(cgmap_by_container_id(&rootless, WORLD_ID_A1), node);
	lent(&rootless, 9, "/app/" WORLD_ID_A1, 2);
	assert_ptr_equal(cgmap_by_container_id(&rootless, WORLD_ID_A1), node);
	cgmap_done(&rootless);
}

#define SLICE_OF(uid) "/user.slice/user-" uid ".slice/user@" uid ".service/user.slice"

/* Root and two users have a container of one id, in every order of coming. */
static void test_users(void **state)
{
	static const struct {
		const char *path;
		uint32_t level, user;
	} of[] = {
		{"/machine.slice/libpod-" WORLD_ID_A1 ".scope", 0, 0},
		{SLICE_OF("1000") "/libpod-" WORLD_ID_A1 ".scope", 4, 1000},
		{SLICE_OF("1001") "/docker-" WORLD_ID_A1 ".scope", 4, 1001},
	};
	struct cgnode *nodes[LEN(of)];

	for (size_t first = 0; first < LEN(of); first++) {
		struct cgmap map = {};

		for (size_t i = 0; i < LEN(of); i++) {
			size_t n = (first + i) % LEN(of);

			nodes[n] = lent(&map, n + 1, of[n].path, of[n].level);
			assert_int_equal(nodes[n]->kind, GRACED_WATCH_CONTAINER);
			assert_int_equal(nodes[n]->user, of[n].user);
		}
		assert_ptr_equal(cgmap_by_container_id(&map, WORLD_ID_A1), nodes[0]);
		for (size_t n = 0; n < LEN(of); n++)
			assert_ptr_equal(cgmap_user_container(&map, WORLD_ID_A1, of[n].user),
					 nodes[n]);
		assert_null(cgmap_user_container(&map, WORLD_ID_A1, 1002));
		cgmap_remove(&map, 1);
		assert_null(cgmap_by_container_id(&map, WORLD_ID_A1));
		assert_ptr_equal(cgmap_user_container(&map, WORLD_ID_A1, 1000), nodes[1]);
		cgmap_done(&map);
	}
}

static void test_users_layouts(void **state)
{
	static const struct {
		const char *path;
		uint32_t kind;
	} want[] = {
		{SLICE_OF("1000") "/libpod-" WORLD_ID_A1 ".scope", GRACED_WATCH_CONTAINER},
		{SLICE_OF("1000") "/libpod-conmon-" WORLD_ID_A1 ".scope", GRACED_WATCH_BRANCH},
		{SLICE_OF("1000") "/app.slice/web.service/libpod-payload-" WORLD_ID_A1,
		 GRACED_WATCH_CONTAINER},
		{SLICE_OF("1000") "/app.slice/run.scope/libpod-" WORLD_ID_A1,
		 GRACED_WATCH_CONTAINER},
		{SLICE_OF("1000") "/podman-7.scope", GRACED_WATCH_BRANCH},
		{SLICE_OF("1000") "/docker-" WORLD_ID_A1 ".scope", GRACED_WATCH_CONTAINER},
		{SLICE_OF("1000") "/docker.service/docker/" WORLD_ID_A1, GRACED_WATCH_CONTAINER},
		{SLICE_OF("1000") "/kubepods/pod" WORLD_UID_A, GRACED_WATCH_BRANCH},
		{"/user.slice/user-1000.slice/session-1.scope/libpod-" WORLD_ID_A1,
		 GRACED_WATCH_BRANCH},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct cgmap map = {};
		struct cgnode *node = lent(&map, 1, want[i].path, 4);

		if (node->kind != want[i].kind || node->pod)
			fail_msg("%s", want[i].path);
		cgmap_done(&map);
	}
}

/* What crun makes below a scope is the container, and so is all that the container makes. */
static void test_users_below(void **state)
{
	struct cgmap map = {};
	struct cgnode *node;

	assert_int_equal(
		cgmap_add_path(&map,
			       &(struct cgmap_new){.id = 1,
						   .delegated_level = 4,
						   .name = SLICE_OF("1000") "/libpod-" WORLD_ID_A1
									    ".scope/container"},
			       &node),
		-EEXIST);
	cgmap_done(&map);
}

/* The same uid below three roots, in every order of coming and of going. */
static void test_roots(void **state)
{
	static const char *const paths[] = {
		"/kubepods/pod" WORLD_UID_A,
		"/a/kubepods/pod" WORLD_UID_A,
		"/bb/kubepods.slice/kubepods-pod94dc9966_21b5_4c6e_8f0a_1d2c3b4a5968.slice",
	};
	static const int orders[][3] = {{0, 1, 2}, {0, 2, 1}, {1, 0, 2},
					{1, 2, 0}, {2, 0, 1}, {2, 1, 0}};

	for (size_t i = 0; i < LEN(orders) * LEN(orders); i++) {
		const int *come = orders[i % LEN(orders)], *go = orders[i / LEN(orders)];
		struct cgnode *nodes[3], *best = NULL;
		struct cgmap map = {};

		for (int k = 0; k < 3; k++) {
			nodes[come[k]] = found(&map, (uint64_t)come[k] + 1, paths[come[k]]);
			if (!best ||
			    strlen(nodes[come[k]]->cgroups->root) < strlen(best->cgroups->root))
				best = nodes[come[k]];
			assert_ptr_equal(cgmap_pod(&map, WORLD_UID_A), best->cgroups);
			assert_ptr_equal(cgmap_pod_of(&map, best), best->cgroups);
		}
		assert_int_equal(map.n_pods, 1);
		assert_string_equal(nodes[1]->cgroups->root, "/a");
		assert_null(cgmap_pod_of(&map, nodes[1]));
		assert_null(cgmap_pod_of(&map, nodes[2]));
		for (int k = 0, gone = 0; k < 3; k++) {
			cgmap_remove(&map, (uint64_t)go[k] + 1);
			gone |= go[k] == 0;
			if (gone)
				assert_null(cgmap_pod(&map, WORLD_UID_A));
			else
				assert_ptr_equal(cgmap_pod(&map, WORLD_UID_A), nodes[0]->cgroups);
		}
		assert_int_equal(map.n_pods, 0);
		cgmap_done(&map);
	}
}

/* Both cgroups that a kubelet makes of a pod, and containers that are named after it. */
static void test_one_root(void **state)
{
	struct cgmap map = {};
	struct pod_cgroups *pod;

	pod = found(&map, 1, "/kubepods/burstable/pod" WORLD_UID_A)->cgroups;
	assert_ptr_equal(found(&map, 2,
			       "/kubepods.slice/kubepods-burstable.slice/"
			       "kubepods-burstable-pod94dc9966_21b5_4c6e_8f0a_1d2c3b4a5968.slice")
				 ->cgroups,
			 pod);
	assert_ptr_equal(
		found(&map, 3,
		      "/system.slice/kubepods-burstable-"
		      "pod94dc9966_21b5_4c6e_8f0a_1d2c3b4a5968.slice:cri-containerd:" WORLD_ID_A1)
			->cgroups,
		pod);
	cgmap_done(&map);
}

static void test_bounded(void **state)
{
	struct cgmap map = {.max_nodes = 3};
	struct cgnode *node = NULL;

	found(&map, 1, "/");
	found(&map, 2, "/a");
	found(&map, 3, "/b");
	assert_int_equal(cgmap_add_child(&map, NEW(4, 1, "c"), &node), -ENOSPC);
	assert_int_equal(cgmap_add_path(&map, NEW(4, 0, "/c"), &node), -ENOSPC);
	assert_int_equal(cgmap_add_unknown(&map, 4, &node), -ENOSPC);
	assert_int_equal(map.refused, 3);
	assert_null(node);
	/* What is known stays known, and room comes back. */
	found(&map, 2, "/a");
	cgmap_remove(&map, 2);
	made(&map, 4, 1, "c");
	cgmap_done(&map);
}

/* A user may nest what is delegated to them for as long as the kernel lets them. */
static void test_deep(void **state)
{
	struct cgmap map = {};
	struct cgnode *node = NULL;
	char name[256];
	size_t bytes = 0;
	uint64_t id;
	int r = 0;

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	found(&map, 1, "/");
	for (id = 2; id < 4000 && r == 0; id++) {
		r = cgmap_add_child(&map, NEW(id, id - 1, name), &node);
		bytes += r == 0 ? strlen(node->path) : 0;
	}
	assert_int_equal(r, -ENOSPC);
	assert_true(strlen(node->path) < CGPATH_MAX);
	assert_true(bytes < 17 * CGPATH_MAX);
	assert_int_equal(map.refused, 1);
	cgmap_done(&map);
}

/* As long as a path may be, and longer than any. */
static void test_long_paths(void **state)
{
	static const size_t lengths[] = {CGPATH_MAX - 2, CGPATH_MAX - 1, CGPATH_MAX, 10000};

	for (size_t i = 0; i < LEN(lengths); i++) {
		char *path = malloc(lengths[i] + 1);
		struct cgmap map = {};
		struct cgnode *node = NULL;

		assert_non_null(path);
		for (size_t k = 0; k < lengths[i]; k++)
			path[k] = k % 2 ? 'a' : '/';
		path[lengths[i]] = '\0';
		assert_int_equal(cgmap_add_path(&map, NEW(1, 0, path), &node), 0);
		memcpy(path, A1_PATH "/", strlen(A1_PATH "/"));
		assert_int_equal(cgmap_add_path(&map, NEW(2, 0, path), &node), -EEXIST);
		cgmap_done(&map);
		free(path);
	}
}

static void test_id_0(void **state)
{
	struct cgmap map = {};
	struct cgnode *node = NULL;

	found(&map, 1, "/");
	assert_int_equal(cgmap_add_child(&map, NEW(0, 1, "x"), &node), -EINVAL);
	assert_int_equal(cgmap_add_path(&map, NEW(0, 0, "/x"), &node), -EINVAL);
	assert_int_equal(cgmap_add_unknown(&map, 0, &node), -EINVAL);
	assert_int_equal(map.nodes.count, 1);
	cgmap_done(&map);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("root's and two users' containers of one id are three", test_users),
		CLAIM("a user's containers are found in each layout, and conmon is none",
		      test_users_layouts),
		CLAIM("... and what is below one is that container", test_users_below),
		CLAIM("a path says what its cgroup is", test_kinds),
		CLAIM("a new cgroup's path is its parent's and its name",
		      test_children_take_their_parents_path),
		CLAIM("no name below a container is read, however it is reported",
		      test_below_a_container),
		CLAIM("a nested node is a branch, and only those the configuration lists are",
		      test_nested_nodes),
		CLAIM("a cgroup that is named before its record is a container until its path is known",
		      test_unknown),
		CLAIM("a removed cgroup is forgotten, and lives on while somebody holds it",
		      test_removed),
		CLAIM("of two nodes with one path the later one is the living one", test_replaced),
		CLAIM("of two cgroups that claim one container id the first keeps it",
		      test_two_claim_one_id),
		CLAIM("what others than root could name is a branch, or a container without a pod",
		      test_delegated),
		CLAIM("of pods with one uid the one nearest to the root counts, and no other ever",
		      test_roots),
		CLAIM("all cgroups of one kubelet's pod are that pod's", test_one_root),
		CLAIM("a full map refuses, counts, and takes again once there is room",
		      test_bounded),
		CLAIM("a path grows to no more than a path may have", test_deep),
		CLAIM("a path of any length is read no further than it goes", test_long_paths),
		CLAIM("no cgroup has the id 0", test_id_0),
	};

	return cmocka_run_group_tests_name("core/cgroup/map", tests, NULL, NULL);
}
