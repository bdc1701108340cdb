// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/runtime/files: what engines write is read as they mean it, and nothing else in
 * their files matters. The real files (Docker 20.10, Podman 4.3, containerd 1.6) are the fuzz
 * corpus. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "wire/runtime/files.h"

#define ID	"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define OTHER	"fedcba9876543210fedcba9876543210fedcba9876543210fedcba9876543210"
#define SECOND	1000000000ull
#define UNKNOWN UINT64_MAX
#define UID	"94dc9966-6b7c-4a2b-9f0e-0123456789ab"
#define TEN	"0123456789"
#define HUNDRED TEN TEN TEN TEN TEN TEN TEN TEN TEN TEN

static char *read_real(const char *name, size_t *ret_len)
{
	char path[256], *text = malloc(65536);
	FILE *f;

	snprintf(path, sizeof(path), "tests/fuzz/corpus/ctrjson/%s", name);
	f = fopen(path, "rb");
	assert_non_null(f);
	assert_non_null(text);
	*ret_len = fread(text, 1, 65536, f);
	fclose(f);
	return text;
}

static uint64_t grace_of(const struct meta_container *c)
{
	return c->known & META_CTR_GRACE ? c->grace_ns : UNKNOWN;
}

static void test_real_docker(void **state)
{
	static const struct {
		const char *file, *name, *image;
		uint32_t signal;
		uint64_t grace;
	} rows[] = {
		{"docker-web", "web", "bb:1", 15, 5 * SECOND},
		{"docker-webq", "webq", "bbq:1", 3, 10 * SECOND},
		{"docker-deaf", "deaf", "bb:1", 15, 10 * SECOND},
		{"docker-webi", "webi", "bb:1", 15, 10 * SECOND},
		{"docker-webc", "webc", "bb:1", 15, 10 * SECOND},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_container got;
		size_t len;
		char *text = read_real(rows[i].file, &len);

		print_message("# %s\n", rows[i].file);
		assert_int_equal(ctrjson_docker(text, len, ID, &got), 0);
		assert_int_equal(got.source, META_DOCKER);
		assert_int_equal(got.kind, META_KIND_CONTAINER);
		assert_string_equal(got.id, ID);
		assert_string_equal(got.name, rows[i].name);
		assert_string_equal(got.image, rows[i].image);
		assert_string_equal(got.pod_uid, "");
		assert_int_equal(got.stop_signal, rows[i].signal);
		assert_int_equal(grace_of(&got), rows[i].grace);
		assert_true(got.known & META_CTR_ATTEMPT);
		assert_int_equal(got.attempt, 0);
		free(text);
	}
}

static void test_real_storage(void **state)
{
	static const struct {
		const char *id, *name, *image;
		int r;
	} rows[] = {
		{"92f25599191bb435bfe0d86972a2d8ae0fe6f312d98cd103f1072620f72b83bb", "web",
		 "docker.io/library/bb:1", 0},
		{ID, "webq", "docker.io/library/bbq:1", 0},
		{"55e7771331816fbf0066a5e1603ca79776b1a5350d083b9405b24637e7c811b0", "webi",
		 "docker.io/library/bb:1", 0},
		{OTHER, "", "", -ENOENT},
		/* A layer's id, an image's, half an id, and a key. */
		{"e8f8841c9f2e539db90786164f5a2d8318395dbbcedd424d7d4e9865e2c10552", "", "",
		 -ENOENT},
		{"356c7e4ed9b53639667256875e417a08ad802f1fd9fa48c690b45e2af34b7a83", "", "",
		 -ENOENT},
		{"92f25599191b", "", "", -ENOENT},
		{"names", "", "", -ENOENT},
		{"", "", "", -ENOENT},
	};
	size_t len;
	char *text = read_real("storage", &len);

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_container got = {};

		print_message("# %s\n", rows[i].id);
		assert_int_equal(ctrjson_storage(text, len, rows[i].id, &got), rows[i].r);
		assert_string_equal(got.name, rows[i].name);
		assert_string_equal(got.image, rows[i].image);
		assert_int_equal(got.source, rows[i].r ? META_NONE : META_PODMAN);
	}
	free(text);
}

static void test_real_bundles(void **state)
{
	static const struct {
		const char *file, *cgroup, *name;
		uint32_t signal;
		uint64_t grace;
		bool cri;
	} rows[] = {
		{"podman-web", "/machine.slice/libpod-" ID, "", 15, UNKNOWN, false},
		{"podman-webq", "/machine.slice/libpod-" ID, "", 3, UNKNOWN, false},
		{"podman-new", "machine.slice:libpod:" ID, "", 28, 10 * SECOND, false},
		{"ctr-web1", "/default/web1", "", 0, UNKNOWN, false},
		{"nerdctl", "system.slice:nerdctl:" ID, "web", 0, 30 * SECOND, false},
		{"cri", "system.slice:nerdctl:" ID, "", 0, UNKNOWN, true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		static struct ctrjson_bundle got;
		size_t len;
		char *text = read_real(rows[i].file, &len);

		print_message("# %s\n", rows[i].file);
		assert_int_equal(ctrjson_bundle(text, len, &got), 0);
		assert_string_equal(got.cgroups_path, rows[i].cgroup);
		assert_string_equal(got.name, rows[i].name);
		assert_int_equal(got.stop_signal, rows[i].signal);
		assert_int_equal(got.has_grace ? got.grace_ns : UNKNOWN, rows[i].grace);
		assert_int_equal(got.cri, rows[i].cri);
		free(text);
	}
}

static void test_docker_values(void **state)
{
	static const struct {
		const char *config;
		uint32_t signal;
		uint64_t grace;
	} rows[] = {
		{"", 15, 10 * SECOND},
		{"\"StopSignal\":null,\"StopTimeout\":null", 15, 10 * SECOND},
		{"\"StopSignal\":\"\",\"StopTimeout\":0", 15, 0},
		{"\"StopSignal\":\"SIGQUIT\",\"StopTimeout\":30", 3, 30 * SECOND},
		{"\"StopSignal\":\"QUIT\",\"StopTimeout\":-1", 3, UNKNOWN},
		{"\"StopSignal\":\"3\",\"StopTimeout\":2147483647", 3, 2147483647 * SECOND},
		{"\"StopSignal\":\"RTMIN+3\",\"StopTimeout\":2147483648", 37, UNKNOWN},
		{"\"StopSignal\":\"SIGRTMAX-14\",\"StopTimeout\":99999999999999999999999", 50,
		 UNKNOWN},
		{"\"StopSignal\":\"SIGNONE\",\"StopTimeout\":1.5", 0, UNKNOWN},
		{"\"StopSignal\":\"0\",\"StopTimeout\":\"5\"", 0, UNKNOWN},
		{"\"StopSignal\":\"65\",\"StopTimeout\":true", 0, UNKNOWN},
		{"\"StopSignal\":9,\"StopTimeout\":[5]", 0, UNKNOWN},
		{"\"StopSignal\":\"SIGTERM\\u0000\",\"StopTimeout\":{}", 0, UNKNOWN},
		{"\"StopSignal\":\"SIGTERMSIGTERMSIGTERM\",\"StopTimeout\":5", 0, 5 * SECOND},
		{"\"StopSignal\":[\"SIGTERM\"],\"StopTimeout\":5", 0, 5 * SECOND},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_container got;
		char text[512];
		int n = snprintf(text, sizeof(text), "{\"ID\":\"" ID "\",\"Config\":{%s}}",
				 rows[i].config);

		print_message("# %s\n", rows[i].config);
		assert_int_equal(ctrjson_docker(text, (size_t)n, ID, &got), 0);
		assert_int_equal(got.stop_signal, rows[i].signal);
		assert_int_equal(grace_of(&got), rows[i].grace);
	}
}

static void test_docker_pods(void **state)
{
	struct meta_container got;
	size_t len;
	char *text = read_real("kube-docker", &len);

	assert_int_equal(ctrjson_docker(text, len, ID, &got), 0);
	/* "POD" or what else: it is no name of a container. */
	assert_string_equal(got.name, "");
	assert_string_equal(got.pod_uid, UID);
	assert_int_equal(got.kind, META_KIND_SANDBOX);
	assert_int_equal(got.stop_signal, 37);
	assert_int_equal(grace_of(&got), UNKNOWN);
	assert_int_equal(got.attempt, 3);
	free(text);
}

static void test_names(void **state)
{
	static const struct {
		const char *json, *want;
	} rows[] = {
		{"\"/web\"", "web"},
		{"\"web\"", "web"},
		{"\"/\"", ""},
		{"\"\"", ""},
		{"\"//a\"", "/a"},
		{"\"/a\\\"b\\\\c\\n\\u001b[31m\"", "a\"b\\c\n\033[31m"},
		{"\"/\\ud83d\\ude00\\u202e\"", "\xf0\x9f\x98\x80\xe2\x80\xae"},
		{"\"/a\\u0000b\"", ""},
		{"\"/\\ud800\"", ""},
		{"\"/\xff\"", ""},
		{"7", ""},
		{"null", ""},
		{"{\"Name\":\"x\"}", ""},
		{"\"/" HUNDRED HUNDRED HUNDRED "\"", HUNDRED HUNDRED TEN TEN TEN TEN TEN "012"},
		{"\"/" HUNDRED HUNDRED TEN TEN TEN TEN TEN "01\xc3\xa9\"",
		 HUNDRED HUNDRED TEN TEN TEN TEN TEN "01"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_container got;
		char text[512];
		int n = snprintf(text, sizeof(text),
				 "{\"Name\":%s,\"ID\":\"" ID "\",\"Config\":{}}", rows[i].json);

		print_message("# name %zu\n", i);
		assert_int_equal(ctrjson_docker(text, (size_t)n, ID, &got), 0);
		assert_string_equal(got.name, rows[i].want);
	}
}

#define PROJECT	 "\"com.docker.compose.project\":"
#define SERVICE	 "\"com.docker.compose.service\":"
#define TWOKILO	 HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED HUNDRED
#define FOURKILO TWOKILO TWOKILO TWOKILO TWOKILO
#define LONGEST	 HUNDRED HUNDRED TEN TEN TEN TEN TEN "012"

static void test_compose(void **state)
{
	static const struct {
		const char *labels, *namespace_, *workload;
	} rows[] = {
		{"{" PROJECT "\"shop\"," SERVICE "\"web\"}", "shop", "web"},
		{"{" SERVICE "\"web\",\"x\":{}," PROJECT "\"shop\"}", "shop", "web"},
		{"{" PROJECT "\"shop\"}", "shop", ""},
		/* A service of no project is none of compose's. */
		{"{" SERVICE "\"web\"}", "", ""},
		{"{" PROJECT "\"\"," SERVICE "\"web\"}", "", ""},
		{"{" PROJECT "7," SERVICE "\"web\"}", "", ""},
		{"{" PROJECT "null," SERVICE "\"web\"}", "", ""},
		{"{" PROJECT "[\"shop\"]," SERVICE "\"web\"}", "", ""},
		{"{" PROJECT "\"shop\"," SERVICE "{\"a\":\"web\"}}", "shop", ""},
		{"{" PROJECT "\"a\\u0000b\"," SERVICE "\"web\"}", "", ""},
		{"{" PROJECT "\"a\\n\\u001b[31m\"," SERVICE "\"\\u202e\"}", "a\n\033[31m",
		 "\xe2\x80\xae"},
		{"{" PROJECT "\"" LONGEST "\"," SERVICE "\"" LONGEST "\"}", LONGEST, LONGEST},
		{"{" PROJECT "\"" LONGEST "3\"," SERVICE "\"web\"}", "", ""},
		{"{" PROJECT "\"shop\"," SERVICE "\"" LONGEST "3\"}", "shop", ""},
		{"{" PROJECT "\"" FOURKILO "\"," SERVICE "\"" FOURKILO "\"}", "", ""},
		{"{\"x\":{" PROJECT "\"shop\"}}", "", ""},
		{"[]", "", ""},
		{"null", "", ""},
		/* What Kubernetes runs is its pod's. */
		{"{" PROJECT "\"shop\"," SERVICE "\"web\",\"io.kubernetes.pod.uid\":\"" UID "\","
		 "\"io.kubernetes.container.name\":\"main\"}",
		 "", ""},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct meta_container got;
		static char text[16384];
		int n = snprintf(text, sizeof(text),
				 "{\"Name\":\"/n\",\"ID\":\"" ID "\",\"Config\":{\"Labels\":%s}}",
				 rows[i].labels);

		print_message("# labels %zu\n", i);
		assert_int_equal(ctrjson_docker(text, (size_t)n, ID, &got), 0);
		assert_string_equal(got.name, got.pod_uid[0] ? "main" : "n");
		assert_string_equal(got.namespace_, rows[i].namespace_);
		assert_string_equal(got.workload, rows[i].workload);
	}
}

static void test_not_such_files(void **state)
{
	static const struct {
		const char *text;
		int docker, storage, bundle;
	} rows[] = {
		{"", -EBADMSG, -EBADMSG, -EBADMSG},
		{"null", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"[]", -EBADMSG, -ENOENT, -EBADMSG},
		{"[\"" ID "\"]", -EBADMSG, -ENOENT, -EBADMSG},
		{"[{\"id\":\"" ID "\"", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ID\":\"" OTHER "\",\"Config\":{}}", -ENOENT, -EBADMSG, -EBADMSG},
		{"{\"ID\":\"" ID "0\",\"Config\":{}}", -ENOENT, -EBADMSG, -EBADMSG},
		{"{\"ID\":\"" ID "\"}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ID\":\"" ID "\",\"Config\":{}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ID\":\"" ID "\",\"Config\":{}}}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ID\":\"" ID "\",\"Config\":{}}{}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\"", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\"}", -EBADMSG, -EBADMSG, 0},
		{"{\"ociVersion\"}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"x\":\"ociVersion\"}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"x\":{\"ociVersion\":1}}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\",\"x\":[}]}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\",\"x\":word}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\",\"x\":1\"annotations\":{}}", -EBADMSG, -EBADMSG,
		 -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\",\"x\":1\"y\":2}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\",\"x\":null[]}", -EBADMSG, -EBADMSG, -EBADMSG},
		{"{\"ociVersion\":\"1.0.2\",\"x\":?}", -EBADMSG, -EBADMSG, -EBADMSG},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		static struct ctrjson_bundle bundle;
		struct meta_container got;
		size_t len = strlen(rows[i].text);

		print_message("# %s\n", rows[i].text);
		assert_int_equal(ctrjson_docker(rows[i].text, len, ID, &got), rows[i].docker);
		assert_int_equal(ctrjson_storage(rows[i].text, len, ID, &got), rows[i].storage);
		assert_int_equal(ctrjson_bundle(rows[i].text, len, &bundle), rows[i].bundle);
	}
}

/* A block of exactly that size each time, for the sanitizer. */
static void test_cut_anywhere(void **state)
{
	size_t len, whole;
	char *text = read_real("docker-webq", &len);

	for (whole = len; text[whole - 1] != '}'; whole--)
		;
	for (size_t n = 0; n < whole; n++) {
		struct meta_container got;
		char *cut = malloc(n ? n : 1);

		assert_non_null(cut);
		memcpy(cut, text, n);
		assert_int_equal(ctrjson_docker(cut, n, ID, &got), -EBADMSG);
		assert_in_range(ctrjson_storage(cut, n, ID, &got), -EBADMSG, -ENOENT);
		free(cut);
	}
	free(text);
}

static void test_rest_is_nothing(void **state)
{
	static const char *const rests[] = {
		"18446744073709551615", "1e999",
		"\"\\u0000\"",		"\"\xff\xfe\"",
		"\"\\ud800\"",		"{\"ID\":\"x\",\"Name\":\"/no\",\"Config\":7}",
		"\"}]\\\"\"",		"\"\\\\\"",
		"[[[[{\"a\":[]}]]]]",	"{\"Name\":\"/no\"},\"y\":\"Name\"",
	};

	for (size_t i = 0; i < LEN(rests); i++) {
		struct meta_container got;
		char text[1024];
		int n = snprintf(
			text, sizeof(text),
			" {\"x\" : %s , \"ID\":\t\"" ID "\",\n\"Config\":{\"z\":%s,"
			"\"Image\":\"i\",\"StopTimeout\":7},\"Name\":\"/web\",\"w\":%s,\"Name\":\"/no\"}\r\n",
			rests[i], rests[i], rests[i]);

		print_message("# %s\n", rests[i]);
		assert_int_equal(ctrjson_docker(text, (size_t)n, ID, &got), 0);
		assert_string_equal(got.name, "web");
		assert_string_equal(got.image, "i");
		assert_int_equal(got.grace_ns, 7 * SECOND);
	}
}

static void test_annotations(void **state)
{
	static const struct {
		const char *annotations;
		uint32_t signal;
		uint64_t grace;
	} rows[] = {
		{"{}", 0, UNKNOWN},
		{"null", 0, UNKNOWN},
		{"{\"org.opencontainers.image.stopSignal\":\"SIGRTMIN+3\"}", 37, UNKNOWN},
		{"{\"org.opencontainers.image.stopSignal\":15}", 0, UNKNOWN},
		{"{\"org.opencontainers.image.stopSignal\":\"\"}", 0, UNKNOWN},
		{"{\"org.systemd.property.TimeoutStopUSec\":\"uint64 1500000\"}", 0,
		 1500 * (SECOND / 1000)},
		{"{\"org.systemd.property.TimeoutStopUSec\":\"uint64 0\"}", 0, 0},
		{"{\"org.systemd.property.TimeoutStopUSec\":\"uint64 18446744073709551615\"}", 0,
		 UNKNOWN},
		{"{\"org.systemd.property.TimeoutStopUSec\":\"uint64 2147483648000000\"}", 0,
		 UNKNOWN},
		{"{\"org.systemd.property.TimeoutStopUSec\":\"uint64 -1\"}", 0, UNKNOWN},
		{"{\"org.systemd.property.TimeoutStopUSec\":\"1\"}", 0, UNKNOWN},
		{"{\"nerdctl/namespace\":\"default\"}", 0, 10 * SECOND},
		{"{\"nerdctl/namespace\":\"d\",\"nerdctl/stop-timeout\":\"3\"}", 0, 3 * SECOND},
		{"{\"nerdctl/namespace\":\"d\",\"nerdctl/stop-timeout\":\"-1\"}", 0, UNKNOWN},
		{"{\"nerdctl/namespace\":\"d\",\"nerdctl/stop-timeout\":\"99999999999\"}", 0,
		 UNKNOWN},
		{"{\"nerdctl/stop-timeout\":\"3\"}", 0, UNKNOWN},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		static struct ctrjson_bundle got;
		char text[512];
		int n = snprintf(text, sizeof(text), "{\"ociVersion\":\"1\",\"annotations\":%s}",
				 rows[i].annotations);

		print_message("# %s\n", rows[i].annotations);
		assert_int_equal(ctrjson_bundle(text, (size_t)n, &got), 0);
		assert_int_equal(got.stop_signal, rows[i].signal);
		assert_int_equal(got.has_grace ? got.grace_ns : UNKNOWN, rows[i].grace);
	}
}

#define CRI(type, id)                                        \
	"\"io.kubernetes.cri.container-type\":\"" type "\"," \
	"\"io.kubernetes.cri.sandbox-id\":\"" id "\","       \
	"\"io.kubernetes.cri.sandbox-uid\":\"" UID "\","     \
	"\"io.kubernetes.cri.container-name\":\"main\""
#define CRIO(type, id)	   CRIO_NAMED(type, id, "main")
#define CRIO_POD(type, id) CRIO_NAMED(type, id, "POD")
#define CRIO_NAMED(type, id, name)                            \
	"\"io.kubernetes.cri-o.ContainerID\":\"" ID "\","     \
	"\"io.kubernetes.cri-o.ContainerType\":\"" type "\"," \
	"\"io.kubernetes.cri-o.SandboxID\":\"" id "\","       \
	"\"io.kubernetes.pod.uid\":\"" UID "\",\"io.kubernetes.container.name\":\"" name "\""

static void test_kinds(void **state)
{
	static const struct {
		const char *annotations;
		bool cri;
		enum meta_container_kind kind;
		const char *name;
	} rows[] = {
		{CRI("sandbox", ID), true, META_KIND_SANDBOX, ""},
		{CRI("container", ID), true, META_KIND_CONTAINER, "main"},
		{CRI("other", ID), true, META_KIND_UNKNOWN, ""},
		{CRIO("sandbox", ID), true, META_KIND_SANDBOX, ""},
		{CRIO("container", ID), true, META_KIND_CONTAINER, "main"},
		{"\"io.kubernetes.cri.sandbox-id\":\"" ID "\"", true, META_KIND_UNKNOWN, ""},
		{"\"io.kubernetes.cri.container-type\":7", true, META_KIND_UNKNOWN, ""},
		/* One of both is a pod's own annotation. */
		{CRI("container", ID) "," CRIO("sandbox", ID), true, META_KIND_UNKNOWN, ""},
		/* The label of the name is CRI-O's, whatever the pod's annotations are. */
		{CRIO_POD("container", ID), true, META_KIND_SANDBOX, ""},
		{CRI("container", ID) "," CRIO_POD("container", ID), true, META_KIND_SANDBOX, ""},
		{"\"nerdctl/namespace\":\"default\"", false, META_KIND_UNKNOWN, ""},
		{"", false, META_KIND_UNKNOWN, ""},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		static struct ctrjson_bundle got;
		char text[1024];
		int n = snprintf(text, sizeof(text), "{\"ociVersion\":\"1\",\"annotations\":{%s}}",
				 rows[i].annotations);

		print_message("# %s\n", rows[i].annotations);
		assert_int_equal(ctrjson_bundle(text, (size_t)n, &got), 0);
		assert_int_equal(got.cri, rows[i].cri);
		assert_int_equal(got.kind, rows[i].kind);
		assert_string_equal(got.name, rows[i].name);
		assert_string_equal(got.sandbox_id, rows[i].kind ? ID : "");
		assert_string_equal(got.pod_uid, rows[i].kind ? UID : "");
	}
}

static void test_cgroups(void **state)
{
	static const struct {
		const char *reported, *path;
		bool same;
	} rows[] = {
		{"/default/web1", "/default/web1", true},
		{"/default/web1", "/default/web2", false},
		{"/default/web1", "/default/web1/x", false},
		{"default/web1", "/default/web1", false},
		{"", "", false},
		{"", "/", false},
		{"system.slice:nerdctl:web", "/system.slice/nerdctl-web.scope", true},
		{":nerdctl:web", "/system.slice/nerdctl-web.scope", true},
		{"-.slice:nerdctl:web", "/nerdctl-web.scope", true},
		{"a-b-c.slice:p:w", "/a.slice/a-b.slice/a-b-c.slice/p-w.scope", true},
		{"a-b-c.slice:p:w", "/a-b-c.slice/p-w.scope", false},
		{"system.slice:nerdctl:web", "/user.slice/system.slice/nerdctl-web.scope", false},
		{"system.slice:nerdctl:web", "/system.slice/nerdctl-web.scope/x", false},
		{"system.slice:nerdctl:web", "/system.slice/nerdctl-web", false},
		{"system.slice:nerdctl:web", "/system.slice/other-web.scope", false},
		{"system:nerdctl:web", "/system/nerdctl-web.scope", false},
		{"system.slice:nerdctl", "/system.slice/nerdctl-.scope", false},
		{".slice:p:w", "/.slice/p-w.scope", false},
		{"::", "/system.slice/-.scope", true},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		print_message("# %s %s\n", rows[i].reported, rows[i].path);
		assert_int_equal(ctrjson_is_cgroup(rows[i].reported, rows[i].path), rows[i].same);
	}
}

static void test_long_path(void **state)
{
	static struct ctrjson_bundle got;
	static char text[CTRJSON_PATH_MAX + 256];
	char *at = text + sprintf(text, "{\"ociVersion\":\"1\",\"linux\":{\"cgroupsPath\":\"/");

	memset(at, 'x', CTRJSON_PATH_MAX - 1);
	strcpy(at + CTRJSON_PATH_MAX - 1, "\"}}");
	assert_int_equal(ctrjson_bundle(text, strlen(text), &got), 0);
	assert_string_equal(got.cgroups_path, "");
}

/* A value is whole, and a key is not part of another one. */
static void test_docker_labels(void **state)
{
	static const struct managed_rule rules[] = {
		{.label = "tier=db"}, {.label = "tier"},  {.scope = MANAGED_DOCKER},
		{.label = "tie"},     {.label = "a=b=c"}, {.label = "tier="},
	};
	static const struct {
		const char *labels;
		uint32_t found;
	} rows[] = {
		{"{\"tier\":\"db\"}", 3},
		{"{\"tier\":\"db2\"}", 2},
		{"{\"tier\":\"\"}", 2 | 32},
		{"{\"x\":\"tier=db\"}", 0},
		{"{\"a\":\"b=c\"}", 16},
		{"{\"tier\":7}", 2},
		{"{}", 0},
		{"null", 0},
		{"[\"tier\"]", 0},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		char text[128];
		int n = snprintf(text, sizeof(text), "{\"Config\":{\"Labels\":%s}}",
				 rows[i].labels);
		uint32_t found = ctrjson_docker_labels(text, (size_t)n, rules, LEN(rules));

		if (found != rows[i].found)
			fail_msg("%s: %x, not %x", rows[i].labels, found, rows[i].found);
	}
	assert_int_equal(ctrjson_docker_labels("{}", 2, rules, LEN(rules)), 0);
	assert_int_equal(ctrjson_docker_labels("x", 1, rules, LEN(rules)), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a label of Docker's is found by its key, or by key and value",
		      test_docker_labels),
		CLAIM("Docker's own files are read as Docker means them", test_real_docker),
		CLAIM("Podman's list names the container of that id and no other",
		      test_real_storage),
		CLAIM("annotations of containerd's CRI and of CRI-O tell sandboxes", test_kinds),
		CLAIM("configurations of Podman, ctr and nerdctl are read as they mean them",
		      test_real_bundles),
		CLAIM("what Docker's file leaves out is its default, what makes no sense is unknown",
		      test_docker_values),
		CLAIM("a container that Docker runs for Kubernetes has its pod's name and no grace",
		      test_docker_pods),
		CLAIM("a name is text of any kind, cut at a character", test_names),
		CLAIM("project and service of compose are texts that fit whole, outside pods",
		      test_compose),
		CLAIM("another container's file differs from one that is damaged",
		      test_not_such_files),
		CLAIM("a file that is cut anywhere is no file", test_cut_anywhere),
		CLAIM("what else is in a file does not matter, whatever it is",
		      test_rest_is_nothing),
		CLAIM("annotations tell the signal and the grace period, or nothing",
		      test_annotations),
		CLAIM("a path of cgroups means one cgroup", test_cgroups),
		CLAIM("a path that is too long is unknown, rather than cut", test_long_path),
	};

	return cmocka_run_group_tests_name("wire/runtime/files", tests, NULL, NULL);
}
