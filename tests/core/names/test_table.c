// SPDX-License-Identifier: Apache-2.0
/* Claims about core/names/table: whose word stands, and what is forgotten. */
#include "core/names/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

#define UID  "94dc9966-21b5-4c6e-8f0a-1d2c3b4a5968"
#define HOUR 3600000000000ULL

static struct namemap pods;
static struct namemap containers;

#define TAB                                              \
	{                                                \
		.pods = &pods, .containers = &containers \
	}

static void close_tab(struct podtab *tab)
{
	podtab_done(tab);
	podmap_done(&pods);
	containermap_done(&containers);
}

static struct meta_pod pod_by(enum meta_source source, const char *name)
{
	struct meta_pod pod = {.source = source, .uid = UID, .namespace_ = "default"};

	snprintf(pod.name, sizeof(pod.name), "%s", name);
	return pod;
}

static struct meta_container container_by(enum meta_source source, const char *name)
{
	struct meta_container c = {.source = source, .id = "c1", .pod_uid = UID};

	snprintf(c.name, sizeof(c.name), "%s", name);
	return c;
}

static void test_rank(void **state)
{
	static const struct {
		enum meta_source first, second;
		const char *stands;
	} want[] = {
		{META_LOGS, META_CRI, "second"},    {META_CRI, META_LOGS, "first"},
		{META_KUBELET, META_CRI, "second"}, {META_CRI, META_KUBELET, "first"},
		{META_CRI, META_CRI, "second"},	    {META_LOGS, META_KUBELET, "second"},
		{META_SYSTEMD, META_LOGS, "first"}, {META_API, META_CRI, "second"},
		{META_KUBELET, META_API, "second"}, {META_API, META_KUBELET, "first"},
		{META_LOGS, META_API, "second"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct meta_container a = container_by(want[i].first, "first");
		struct meta_container b = container_by(want[i].second, "second");
		struct meta_pod p = pod_by(want[i].first, "first");
		struct meta_pod q = pod_by(want[i].second, "second");
		struct podtab tab = TAB;

		assert_int_equal(podtab_take_container(&tab, &a, 1), 0);
		assert_int_equal(podtab_take_container(&tab, &b, 2), 0);
		assert_int_equal(podtab_take_pod(&tab, &p, 1), 0);
		assert_int_equal(podtab_take_pod(&tab, &q, 2), 0);
		assert_string_equal(podtab_container(&tab, "c1")->name, want[i].stands);
		assert_string_equal(podtab_pod(&tab, UID)->name, want[i].stands);
		close_tab(&tab);
	}
}

static void test_fills(void **state)
{
	struct meta_container cri = container_by(META_CRI, "main");
	struct meta_container kubelet = container_by(META_KUBELET, "");
	struct meta_pod pod = pod_by(META_CRI, "web-0"), spec = pod_by(META_KUBELET, "");
	struct podtab tab = TAB;

	cri.stop_signal = 3;
	kubelet.stop_signal = 15;
	kubelet.known = META_CTR_PRESTOP;
	kubelet.prestop = true;
	strcpy(kubelet.image, "nginx");
	spec.known = META_POD_GRACE | META_POD_DELETING;
	spec.grace_ns = 30;
	strcpy(spec.workload, "web");
	strcpy(pod.workload, "web-0");
	podtab_take_container(&tab, &cri, 1);
	podtab_take_container(&tab, &kubelet, 2);
	podtab_take_pod(&tab, &pod, 1);
	podtab_take_pod(&tab, &spec, 2);
	assert_string_equal(podtab_container(&tab, "c1")->name, "main");
	assert_string_equal(podtab_container(&tab, "c1")->image, "nginx");
	assert_int_equal(podtab_container(&tab, "c1")->stop_signal, 3);
	assert_true(podtab_container(&tab, "c1")->prestop);
	assert_string_equal(podtab_pod(&tab, UID)->name, "web-0");
	assert_string_equal(podtab_pod(&tab, UID)->workload, "web");
	assert_int_equal(podtab_pod(&tab, UID)->grace_ns, 30);
	close_tab(&tab);
}

static void test_digest(void **state)
{
	static const char digest[] =
		"sha256:aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct meta_container cri = container_by(META_CRI, "main");
	struct meta_container kubelet = container_by(META_KUBELET, "");
	struct podtab tab = TAB;

	strcpy(cri.image, digest);
	strcpy(kubelet.image, "nginx");
	podtab_take_container(&tab, &cri, 1);
	assert_string_equal(podtab_container(&tab, "c1")->image, digest);
	podtab_take_container(&tab, &kubelet, 2);
	assert_string_equal(podtab_container(&tab, "c1")->image, "nginx");
	podtab_take_container(&tab, &cri, 3);
	assert_string_equal(podtab_container(&tab, "c1")->image, "nginx");
	/* The better source's name stands, as ever. */
	strcpy(cri.image, "docker.io/library/nginx:1");
	podtab_take_container(&tab, &cri, 4);
	podtab_take_container(&tab, &kubelet, 5);
	assert_string_equal(podtab_container(&tab, "c1")->image, "docker.io/library/nginx:1");
	close_tab(&tab);
}

/* A weaker source's name does not replace the stronger one's, and has no kind beside it. */
static void test_kind(void **state)
{
	struct meta_pod cri = pod_by(META_CRI, "web-0"), kubelet = pod_by(META_KUBELET, "web-0");

	strcpy(cri.workload, "guessed");
	strcpy(kubelet.workload, "web");
	strcpy(kubelet.workload_kind, "Deployment");
	for (int first = 0; first < 2; first++) {
		struct podtab tab = TAB;

		podtab_take_pod(&tab, first ? &cri : &kubelet, 1);
		assert_int_equal(podtab_pod(&tab, UID)->workload_kind == NULL, first);
		podtab_take_pod(&tab, first ? &kubelet : &cri, 2);
		assert_string_equal(podtab_pod(&tab, UID)->workload, "web");
		assert_string_equal(podtab_pod(&tab, UID)->workload_kind, "Deployment");
		kubelet.workload_kind[0] = '\0';
		podtab_take_pod(&tab, &kubelet, 3);
		assert_null(podtab_pod(&tab, UID)->workload_kind);
		strcpy(kubelet.workload_kind, "Deployment");
		close_tab(&tab);
	}
}

static void test_apart(void **state)
{
	struct meta_pod cri = pod_by(META_CRI, "web-0"), kubelet = pod_by(META_KUBELET, "web-0");
	struct meta_container a = container_by(META_CRI, "c1"),
			      b = container_by(META_KUBELET, "c1");

	cri.known = META_POD_STATIC;
	kubelet.known = META_POD_GRACE | META_POD_SIDECARS;
	kubelet.grace_ns = 30;
	kubelet.sidecars = true;
	a.known = META_CTR_PRESTOP;
	b.known = META_CTR_PRESTOP | META_CTR_PROBE_GRACE | META_CTR_PROBE;
	b.prestop = b.probe_grace = b.probe = true;
	for (int first = 0; first < 2; first++) {
		struct podtab tab = TAB;

		podtab_take_pod(&tab, first ? &cri : &kubelet, 1);
		podtab_take_pod(&tab, first ? &kubelet : &cri, 2);
		podtab_take_container(&tab, first ? &a : &b, 1);
		podtab_take_container(&tab, first ? &b : &a, 2);
		assert_int_equal(podtab_pod(&tab, UID)->known,
				 META_POD_STATIC | META_POD_GRACE | META_POD_SIDECARS);
		assert_int_equal(podtab_pod(&tab, UID)->grace_ns, 30);
		assert_true(podtab_pod(&tab, UID)->sidecars);
		assert_false(podtab_container(&tab, "c1")->prestop);
		assert_true(podtab_container(&tab, "c1")->probe_grace);
		assert_true(podtab_spec(&tab, UID, "c1")->probe_grace);
		assert_true(podtab_spec(&tab, UID, "c1")->probe);
		close_tab(&tab);
	}
}

static void test_newest(void **state)
{
	struct meta_pod pod = pod_by(META_KUBELET, "web-0");
	struct podtab tab = TAB;

	pod.known = META_POD_DELETING;
	podtab_take_pod(&tab, &pod, 5);
	assert_false(podtab_pod(&tab, UID)->deleting);
	pod.known |= META_POD_DELETION_GRACE;
	pod.deleting = true;
	pod.deletion_grace_ns = 7;
	podtab_take_pod(&tab, &pod, 9);
	assert_true(podtab_pod(&tab, UID)->deleting);
	assert_int_equal(podtab_pod(&tab, UID)->state_ns, 9);
	pod = (struct meta_pod){.source = META_KUBELET, .uid = UID, .gone = true};
	podtab_take_pod(&tab, &pod, 11);
	assert_true(podtab_pod(&tab, UID)->gone);
	assert_true(podtab_pod(&tab, UID)->deleting);
	close_tab(&tab);
}

static void test_ways(void **state)
{
	struct meta_container c = container_by(META_KUBELET, "c1");
	struct podtab tab = TAB;

	c.known = META_CTR_PRESTOP | META_CTR_EXIT;
	c.prestop = true;
	strcpy(c.unit, "c1");
	podtab_take_container(&tab, &c, 1);
	assert_true(podtab_container(&tab, "c1")->known & META_CTR_EXIT);
	assert_true(podtab_spec(&tab, UID, "c1")->prestop);
	/* One container's exit is not that of the next one by this name. */
	assert_false(podtab_spec(&tab, UID, "c1")->known & META_CTR_EXIT);
	assert_non_null(podtab_unit(&tab, "c1"));
	assert_ptr_not_equal(podtab_unit(&tab, "c1"), podtab_container(&tab, "c1"));
	assert_null(podtab_container(&tab, UID "/c1"));
	assert_null(podtab_spec(&tab, UID, ""));
	close_tab(&tab);
}

static void test_of_nothing(void **state)
{
	struct meta_container nobody = {.source = META_CRI, .name = "x"};
	struct meta_container unsourced = container_by(META_NONE, "x");
	struct meta_container beyond = container_by(META_SOURCE_COUNT, "x");
	struct meta_pod pod = {.source = META_CRI}, unknown = {.source = META_CRI, .uid = UID};
	struct podtab tab = TAB;

	unknown.gone = true;
	assert_int_equal(podtab_take_container(&tab, &nobody, 1), -EINVAL);
	assert_int_equal(podtab_take_container(&tab, &unsourced, 1), -EINVAL);
	assert_int_equal(podtab_take_container(&tab, &beyond, 1), -EINVAL);
	assert_int_equal(podtab_take_pod(&tab, &pod, 1), -EINVAL);
	assert_int_equal(podtab_take_pod(&tab, &unknown, 1), 0);
	assert_int_equal(tab.n_pods + tab.n_containers, 0);
	close_tab(&tab);
}

static void test_age(void **state)
{
	struct meta_container c = container_by(META_CRI, "main");
	struct meta_pod pod = pod_by(META_CRI, "web-0");
	struct podtab tab = TAB;

	podtab_take_pod(&tab, &pod, HOUR);
	podtab_take_container(&tab, &c, HOUR);
	assert_true(podtab_is_due(&tab, HOUR));
	podtab_age(&tab, HOUR + PODTAB_KEEP_NS);
	assert_non_null(podtab_pod(&tab, UID));
	assert_false(podtab_is_due(&tab, HOUR + PODTAB_KEEP_NS + 1));
	podtab_pod(&tab, UID)->touched_ns = HOUR + 1;
	podtab_age(&tab, HOUR + PODTAB_KEEP_NS + 1);
	assert_non_null(podtab_pod(&tab, UID));
	assert_null(podtab_container(&tab, "c1"));
	assert_int_equal(tab.n_containers, 0);
	close_tab(&tab);
}

static int take_numbered(struct podtab *tab, unsigned int n, uint64_t now_ns)
{
	struct meta_container c = container_by(META_CRI, "main");

	snprintf(c.id, sizeof(c.id), "id-%u", n);
	return podtab_take_container(tab, &c, now_ns);
}

static void test_bounds(void **state)
{
	struct podtab tab = TAB;

	for (unsigned int i = 0; i < PODTAB_MAX_CONTAINERS; i++)
		assert_int_equal(take_numbered(&tab, i, HOUR), 0);
	assert_int_equal(take_numbered(&tab, 1u << 20, HOUR), -ENOSPC);
	assert_int_equal(tab.refused, 1);
	assert_int_equal(take_numbered(&tab, 7, HOUR), 0);
	/* What lives stays, the rest makes room long before its time. */
	podtab_container(&tab, "id-3")->touched_ns = 2 * HOUR;
	podtab_age(&tab, 2 * HOUR);
	assert_non_null(podtab_container(&tab, "id-3"));
	assert_int_equal(tab.n_containers, 1);
	assert_int_equal(take_numbered(&tab, 1u << 20, 2 * HOUR), 0);
	close_tab(&tab);
}

static void test_users(void **state)
{
	struct meta_container meta = {.source = META_PODMAN, .id = "c1"};
	struct podtab tab = TAB;

	for (uint32_t user = 0; user < 3; user++) {
		meta.user = user;
		snprintf(meta.name, sizeof(meta.name), "of-%u", user);
		assert_int_equal(podtab_take_container(&tab, &meta, 1), 0);
	}
	assert_string_equal(podtab_container(&tab, "c1")->name, "of-0");
	assert_string_equal(podtab_user_container(&tab, "c1", 1)->name, "of-1");
	assert_string_equal(podtab_user_container(&tab, "c1", 2)->name, "of-2");
	assert_null(podtab_user_container(&tab, "c1", 3));
	close_tab(&tab);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what root's engine and two users' say of one id is about three containers",
		      test_users),
		CLAIM("the better source's name stands, whoever came first", test_rank),
		CLAIM("each source fills in what the better ones lack", test_fills),
		CLAIM("an image's digest is provided only where no source has its name",
		      test_digest),
		CLAIM("each fact is of the best source that tells it, whatever else that tells",
		      test_apart),
		CLAIM("of one source the newest word stands", test_newest),
		CLAIM("id, place in the spec and unit are not taken for each other", test_ways),
		CLAIM("what is about nothing, or of nobody, is refused", test_of_nothing),
		CLAIM("what nobody touches is forgotten after a while", test_age),
		CLAIM("a full table refuses, counts, and makes room by age", test_bounds),
		CLAIM("a workload has the kind of the source that named it", test_kind),
	};

	return cmocka_run_group_tests_name("core/names/table", tests, NULL, NULL);
}
