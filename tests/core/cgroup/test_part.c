// SPDX-License-Identifier: Apache-2.0
/* Claims about core/cgroup/part: which single components are a pod, a container, a monitor,
 * kubepods or a QoS class, and which only look like one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "core/cgroup/part.h"

#define HEX16	   "0123456789abcdef"
#define ID	   HEX16 HEX16 HEX16 HEX16
#define UID	   "2c48913c-b29f-11e7-9350-020968147796"
#define UID_	   "2c48913c_b29f_11e7_9350_020968147796"
#define HASH	   HEX16 HEX16
#define LEN(table) (sizeof(table) / sizeof((table)[0]))

static const struct cgpart no_parent;

static struct cgpart part(const char *text)
{
	return (struct cgpart){text, strlen(text)};
}

static void test_ids(void **state)
{
	static const struct {
		const char *text;
		enum cgpath_runtime runtime;
	} whole[] = {
		{ID, CGPATH_RT_UNKNOWN},
		{"cri-containerd-" ID ".scope", CGPATH_RT_CONTAINERD},
		{"cri-containerd-" ID, CGPATH_RT_CONTAINERD},
		{"docker-" ID ".scope", CGPATH_RT_DOCKER},
		{"crio-" ID ".scope", CGPATH_RT_CRIO},
		{"crio-" ID, CGPATH_RT_CRIO},
		{"libpod-" ID ".scope", CGPATH_RT_PODMAN},
		{"libpod-" ID, CGPATH_RT_PODMAN},
		{"libpod-payload-" ID, CGPATH_RT_PODMAN},
	};

	for (size_t i = 0; i < LEN(whole); i++) {
		struct cgpart_claim leaf = cgpart_leaf(part(whole[i].text), no_parent);

		if (leaf.kind != CGPATH_CONTAINER || leaf.runtime != whole[i].runtime ||
		    !cgpart_is(leaf.id, ID))
			fail_msg("%s: kind %d runtime %d", whole[i].text, leaf.kind, leaf.runtime);
	}
}

static void test_near_ids(void **state)
{
	static const char *const near[] = {
		"",
		"0123456789abcde" HEX16 HEX16 HEX16,
		"0" ID,
		ID ".scope",
		ID " ",
		"0123456789ABCDEF" HEX16 HEX16 HEX16,
		"0123456789abcdeg" HEX16 HEX16 HEX16,
		"0123456789abcde/" HEX16 HEX16 HEX16,
		"0123456789abcde:" HEX16 HEX16 HEX16,
		"0123456789abcde`" HEX16 HEX16 HEX16,
		"0123456789abcde\xe1" HEX16 HEX16 HEX16,
		"docker-" ID "0.scope",
		"docker-" ID ".scop",
		"docker-" ID ".scope.scope",
		"docker-" ID ".slice",
		"docker-" ID ".service",
		"docker" ID ".scope",
		"docker_" ID ".scope",
		"docker:" ID,
		"Docker-" ID ".scope",
		"xdocker-" ID ".scope",
		"x-docker-" ID ".scope",
		"docker-docker-" ID ".scope",
		"docker-payload-" ID,
		"libpod-payload-payload-" ID,
		"payload-" ID,
		"docker-.scope",
		"docker-",
		"containerd-" ID ".scope",
		"run-" ID ".scope",
		"run-r" HASH ".scope",
		"vte-spawn-" UID ".scope",
		"cri-containerd:" ID,
		"system.slice:cri-containerd:" ID,
		HASH,
		UID,
	};

	for (size_t i = 0; i < LEN(near); i++) {
		struct cgpart_claim leaf = cgpart_leaf(part(near[i]), no_parent);

		if (leaf.kind != CGPATH_NONE || leaf.runtime != CGPATH_RT_NONE || leaf.id.len)
			fail_msg("%s: kind %d", near[i], leaf.kind);
	}
}

static void test_pods(void **state)
{
	static const struct {
		const char *text, *uid;
		enum cgpath_qos qos;
		enum cgpath_driver driver;
	} whole[] = {
		{"pod" UID, UID, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_CGROUPFS},
		{"pod" HASH, HASH, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_CGROUPFS},
		{"a-pod" UID_ ".slice", UID_, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_SYSTEMD},
		{"pod-pod" UID_ ".slice", UID_, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_SYSTEMD},
		{"kubepods-pod" UID_ ".slice", UID_, CGPATH_QOS_GUARANTEED, CGPATH_DRIVER_SYSTEMD},
		{"a-kubepods-pod" HASH ".slice", HASH, CGPATH_QOS_GUARANTEED,
		 CGPATH_DRIVER_SYSTEMD},
		{"akubepods-pod" UID ".slice", UID, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_SYSTEMD},
		{"burstable-pod" UID, UID, CGPATH_QOS_BURSTABLE, CGPATH_DRIVER_CGROUPFS},
		{"a-besteffort-pod" UID, UID, CGPATH_QOS_BESTEFFORT, CGPATH_DRIVER_CGROUPFS},
		{"aburstable-pod" UID, UID, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_CGROUPFS},
		{"burstable-a-pod" UID, UID, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_CGROUPFS},
	};

	for (size_t i = 0; i < LEN(whole); i++) {
		struct cgpart_claim pod;

		if (!cgpart_is_pod(part(whole[i].text), &pod))
			fail_msg("%s is no pod", whole[i].text);
		if (!cgpart_is(pod.uid, whole[i].uid) || pod.qos != whole[i].qos ||
		    pod.driver != whole[i].driver || pod.runtime != CGPATH_RT_NONE || pod.id.len)
			fail_msg("%s: qos %d driver %d", whole[i].text, pod.qos, pod.driver);
	}
}

static void test_near_pods(void **state)
{
	static const char *const near[] = {
		"",
		"pod",
		"pod.slice",
		UID,
		"Pod" UID,
		"podpod" UID,
		"xpod" UID,
		"pod-" UID,
		"pod" UID "0",
		"pod" UID "-",
		"pod" UID ".scope",
		"pod" UID ".service",
		"pod" UID ".slice.slice",
		"pod2C48913C-B29F-11E7-9350-020968147796",
		"pod2c48913c-b29f_11e7-9350_020968147796",
		"pod2c48913c_b29f_11e7_9350-020968147796",
		"pod2c48913cb-29f-11e7-9350-020968147796",
		"pod2c48913c-b29f-11e7-9350-02096814779g",
		"pod2c48913c.b29f.11e7.9350.020968147796",
		"pod2c48913c0b29f011e7093500020968147796",
		"pod2c48913cb29f11e7935002096814779",
		"pod2c48913cb29f11e793500209681477961",
		"pod2C48913CB29F11E79350020968147796",
	};

	for (size_t i = 0; i < LEN(near); i++) {
		struct cgpart_claim pod;

		if (cgpart_is_pod(part(near[i]), &pod))
			fail_msg("%s is taken for a pod", near[i]);
	}
}

static void test_colon_form(void **state)
{
	static const struct {
		const char *text;
		enum cgpath_runtime runtime;
		enum cgpath_driver driver;
	} whole[] = {
		{"a-pod" UID_ ".slice:cri-containerd:" ID, CGPATH_RT_CONTAINERD,
		 CGPATH_DRIVER_SYSTEMD},
		{"a-pod" UID_ ":cri-containerd:" ID, CGPATH_RT_CONTAINERD, CGPATH_DRIVER_CGROUPFS},
		{"pod" HASH ".slice:docker:" ID, CGPATH_RT_DOCKER, CGPATH_DRIVER_SYSTEMD},
		{"pod" UID ".slice:crio:" ID, CGPATH_RT_CRIO, CGPATH_DRIVER_SYSTEMD},
		{"pod" UID ".slice:libpod:" ID, CGPATH_RT_PODMAN, CGPATH_DRIVER_SYSTEMD},
	};

	for (size_t i = 0; i < LEN(whole); i++) {
		struct cgpart_claim pod;

		if (!cgpart_is_pod(part(whole[i].text), &pod))
			fail_msg("%s is no pod", whole[i].text);
		if (pod.runtime != whole[i].runtime || pod.driver != whole[i].driver ||
		    !cgpart_is(pod.id, ID))
			fail_msg("%s: runtime %d driver %d", whole[i].text, pod.runtime,
				 pod.driver);
	}
}

static void test_near_colon_form(void **state)
{
#define SLICE "kubepods-pod" UID_ ".slice"
	static const char *const near[] = {
		SLICE ":",
		SLICE ":cri-containerd",
		SLICE ":cri-containerd:",
		SLICE ":cri-containerd:" HASH,
		SLICE ":cri-containerd:" ID "0",
		SLICE ":cri-containerd:" ID ":",
		SLICE ":cri-containerd:x:" ID,
		SLICE ":cri-containerd-" ID,
		SLICE ":somebody:" ID,
		SLICE "::" ID,
		SLICE ":" ID,
		":cri-containerd:" ID,
		"kubepods.slice:cri-containerd:" ID,
		":",
	};

	for (size_t i = 0; i < LEN(near); i++) {
		struct cgpart_claim pod;

		if (cgpart_is_pod(part(near[i]), &pod))
			fail_msg("%s is taken for a pod", near[i]);
		if (cgpart_leaf(part(near[i]), no_parent).kind != CGPATH_NONE)
			fail_msg("%s is taken for a container", near[i]);
	}
}

static void test_upper(void **state)
{
	static const struct {
		const char *text;
		enum cgpath_kind kind; /* CGPATH_NONE: not one */
		enum cgpath_qos qos;
		enum cgpath_driver driver;
	} want[] = {
		{"kubepods", CGPATH_KUBEPODS_ROOT, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_CGROUPFS},
		{"kubepods.slice", CGPATH_KUBEPODS_ROOT, CGPATH_QOS_UNKNOWN, CGPATH_DRIVER_SYSTEMD},
		{"a-b-kubepods.slice", CGPATH_KUBEPODS_ROOT, CGPATH_QOS_UNKNOWN,
		 CGPATH_DRIVER_SYSTEMD},
		{"burstable", CGPATH_QOS, CGPATH_QOS_BURSTABLE, CGPATH_DRIVER_CGROUPFS},
		{"besteffort", CGPATH_QOS, CGPATH_QOS_BESTEFFORT, CGPATH_DRIVER_CGROUPFS},
		{"kubepods-besteffort.slice", CGPATH_QOS, CGPATH_QOS_BESTEFFORT,
		 CGPATH_DRIVER_SYSTEMD},
		{"a-kubepods-burstable.slice", CGPATH_QOS, CGPATH_QOS_BURSTABLE,
		 CGPATH_DRIVER_SYSTEMD},
		{.text = ""},
		{.text = ".slice"},
		{.text = "KUBEPODS"},
		{.text = "kubepods.scope"},
		{.text = "xkubepods"},
		{.text = "xkubepods.slice"},
		{.text = "a-kubepods"},
		{.text = "kubepods-a.slice"},
		{.text = "kubepods-burstable"},
		{.text = "kubepodsburstable.slice"},
		{.text = "xkubepods-burstable.slice"},
		{.text = "burstable.slice"},
		{.text = "-burstable.slice"},
		{.text = "a-burstable.slice"},
		{.text = "guaranteed"},
		{.text = "kubepods-guaranteed.slice"},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct cgpart_claim upper = {.kind = CGPATH_NONE};

		assert_int_equal(cgpart_is_upper(part(want[i].text), &upper),
				 want[i].kind != CGPATH_NONE);
		if (upper.kind != want[i].kind || upper.qos != want[i].qos ||
		    upper.driver != want[i].driver)
			fail_msg("%s: kind %d qos %d driver %d", want[i].text, upper.kind,
				 upper.qos, upper.driver);
	}
}

static void test_kinds(void **state)
{
	static const struct {
		const char *parent, *text;
		enum cgpath_kind kind;
		enum cgpath_runtime runtime;
	} want[] = {
		{"a.slice", "crio-" ID, CGPATH_SANDBOX, CGPATH_RT_CRIO},
		{"a.slice", "crio-" ID ".scope", CGPATH_CONTAINER, CGPATH_RT_CRIO},
		{"a", "crio-" ID, CGPATH_CONTAINER, CGPATH_RT_CRIO},
		{"a.slice", "cri-containerd-" ID, CGPATH_CONTAINER, CGPATH_RT_CONTAINERD},
		{"a.slice", "docker-" ID, CGPATH_CONTAINER, CGPATH_RT_DOCKER},
		{"a.slice", ID, CGPATH_CONTAINER, CGPATH_RT_UNKNOWN},
		{"a.slice", "crio-conmon-" ID, CGPATH_CONMON, CGPATH_RT_CRIO},
		{"", "crio-conmon-" ID ".scope", CGPATH_CONMON, CGPATH_RT_CRIO},
		{"", "libpod-conmon-" ID ".scope", CGPATH_CONMON, CGPATH_RT_PODMAN},
		{"libpod_parent", "conmon", CGPATH_CONMON, CGPATH_RT_PODMAN},
		{"a", "conmon", CGPATH_NONE, CGPATH_RT_NONE},
		{"", "crio-conmon", CGPATH_NONE, CGPATH_RT_NONE},
		{"", "docker-conmon-" ID ".scope", CGPATH_NONE, CGPATH_RT_NONE},
		{"", ".mount", CGPATH_MOUNT, CGPATH_RT_NONE},
		{"", ID ".mount", CGPATH_MOUNT, CGPATH_RT_NONE},
		{"", "crio-conmon-" ID ".mount", CGPATH_MOUNT, CGPATH_RT_NONE},
		{"", "mount", CGPATH_NONE, CGPATH_RT_NONE},
	};

	for (size_t i = 0; i < LEN(want); i++) {
		struct cgpart_claim leaf = cgpart_leaf(part(want[i].text), part(want[i].parent));
		bool has_id = leaf.kind == CGPATH_CONTAINER || leaf.kind == CGPATH_SANDBOX;

		if (leaf.kind != want[i].kind || leaf.runtime != want[i].runtime ||
		    leaf.id.len != (has_id ? CGPATH_ID_LEN : 0))
			fail_msg("%s in %s: kind %d runtime %d", want[i].text, want[i].parent,
				 leaf.kind, leaf.runtime);
	}
}

#define CLAIM(sentence, function)                    \
	{                                            \
		sentence, function, NULL, NULL, NULL \
	}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("64 hex digits, alone or after a runtime's name, name a container", test_ids),
		CLAIM("what is longer, shorter, upper case or dressed otherwise names none",
		      test_near_ids),
		CLAIM("pod and a UID is a pod, and its prefix may tell the QoS", test_pods),
		CLAIM("a UID is a whole UUID with equal separators or 32 hex digits",
		      test_near_pods),
		CLAIM("the colon form names pod, runtime and container at once", test_colon_form),
		CLAIM("the colon form needs a known runtime and an ID, and nothing more",
		      test_near_colon_form),
		CLAIM("kubepods and its QoS classes are known by their whole names", test_upper),
		CLAIM("sandboxes, monitors and mount units are no containers", test_kinds),
	};

	return cmocka_run_group_tests_name("core/cgroup/part", tests, NULL, NULL);
}
