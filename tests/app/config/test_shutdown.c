// SPDX-License-Identifier: Apache-2.0
/* Claims about app/config/shutdown: of what a daemon that stops the pods itself warns. */
#include "app/config/shutdown.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/claim.h"

#define HEAD "kind: KubeletConfiguration\napiVersion: kubelet.config.k8s.io/v1beta1\n"

static const struct warning {
	const char *kubelet; /* its configuration; NULL: there is none */
	const char *units[3];
	bool off;
	enum shutdown_mode mode;
	const char *name, *text; /* NULL: no warning */
} warnings[] = {
	{HEAD, {"kubelet.service"}, false, SHUTDOWN_MANAGE, "pod status", "while kubelet.service is"},
	{NULL, {"a.service", "k3s.service"}, false, SHUTDOWN_MANAGE, "pod status", "k3s.service is"},
	{HEAD "shutdownGracePeriod: 5s\n",
	 {"kubelet.service"},
	 false,
	 SHUTDOWN_MANAGE,
	 "pod status",
	 "while kubelet.service is"},
	{HEAD "shutdownGracePeriod: 5s\n",
	 {"a.service"},
	 false,
	 SHUTDOWN_MANAGE,
	 "kubelet unit",
	 "the kubelet stops pods, too"},
	{HEAD, {NULL}, false, SHUTDOWN_MANAGE, "kubelet unit", "a kubelet starts containers again"},
	{"kind: x\n", {NULL}, false, SHUTDOWN_MANAGE, "kubelet unit", "a kubelet starts containers"},
	{NULL, {"a.service"}, false, SHUTDOWN_MANAGE, NULL, NULL},
	{HEAD "shutdownGracePeriod: 5s\n", {"kubelet.service"}, false, SHUTDOWN_ASSIST, NULL, NULL},
	{HEAD "shutdownGracePeriod: 5s\n", {NULL}, false, SHUTDOWN_OBSERVE, NULL, NULL},
	{HEAD, {NULL}, true, SHUTDOWN_MANAGE, NULL, NULL},
};

struct heard {
	const struct warning *wanted;
	unsigned int n;
};

static void on_warning(void *userdata, const char *name, const char *text)
{
	struct heard *h = userdata;

	h->n++;
	assert_non_null(h->wanted->name);
	assert_string_equal(name, h->wanted->name);
	if (!strstr(text, h->wanted->text))
		fail_msg("'%s' is not in '%s'", h->wanted->text, text);
}

static void write_file(const char *path, const char *text)
{
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void test_warnings(void **state)
{
	char dir[] = "/tmp/graced-manage-XXXXXX", path[64];
	const struct kubeletfile file = {.path = path, .minor = 30};

	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/config.yaml", dir);
	for (size_t i = 0; i < LEN(warnings); i++) {
		const struct warning *w = &warnings[i];
		struct config_shutdown options = {.off = w->off, .mode = w->mode};
		struct heard heard = {.wanted = w};

		print_message("# warning %zu\n", i);
		memcpy(options.stop_units, w->units, sizeof(w->units));
		if (w->kubelet)
			write_file(path, w->kubelet);
		manage_warn(&options, &file, on_warning, &heard);
		assert_int_equal(heard.n, w->name ? 1 : 0);
		if (w->kubelet)
			assert_int_equal(unlink(path), 0);
	}
	assert_int_equal(rmdir(dir), 0);
}

static const struct writing {
	struct config_shutdown options;
	const char *name, *text; /* NULL: no warning */
} writings[] = {
	{{.mode = SHUTDOWN_OBSERVE}, NULL, NULL},
	{{.mode = SHUTDOWN_OBSERVE, .statuses = true}, "api.report: status", "neither assist nor"},
	{{.mode = SHUTDOWN_ASSIST, .statuses = true}, NULL, NULL},
	{{.mode = SHUTDOWN_ASSIST, .statuses = true, .off = true}, "api.report: status", "neither"},
	{{.mode = SHUTDOWN_MANAGE, .statuses = true}, "api.report: status", "the kubelet's unit"},
	{{.mode = SHUTDOWN_MANAGE, .statuses = true, .stop_units = {"kubelet.service"}}, NULL, NULL},
	{{.mode = SHUTDOWN_OBSERVE, .taint = true}, "shutdown.outOfServiceTaint", "neither"},
	{{.mode = SHUTDOWN_ASSIST, .taint = true}, "shutdown.outOfServiceTaint", "volumes is off"},
	{{.mode = SHUTDOWN_MANAGE, .taint = true, .volumes = true},
	 "shutdown.outOfServiceTaint",
	 "the kubelet's unit"},
	{{.mode = SHUTDOWN_ASSIST, .taint = true, .volumes = true}, NULL, NULL},
};

static void test_writing(void **state)
{
	for (size_t i = 0; i < LEN(writings); i++) {
		const struct warning wanted = {.name = writings[i].name, .text = writings[i].text};
		struct heard h = {.wanted = &wanted};

		manage_warn_of_writing(&writings[i].options, on_warning, &h);
		assert_int_equal(h.n, writings[i].name ? 1 : 0);
	}
}

/* Where graced writes the status of pods, there is no warning that nothing does. */
static void test_status_is_written(void **state)
{
	const struct kubeletfile file = {.path = "/nonexistent", .minor = 30};
	const struct config_shutdown options = {
		.mode = SHUTDOWN_MANAGE, .statuses = true, .stop_units = {"kubelet.service"}};
	struct heard h = {};

	manage_warn(&options, &file, on_warning, &h);
	assert_int_equal(h.n, 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a kubelet that is stopped, runs on, or stops pods itself is warned of",
		      test_warnings),
		CLAIM("what would not be written is warned of", test_writing),
		CLAIM("no warning of a status that graced writes", test_status_is_written),
	};

	return cmocka_run_group_tests_name("app/config/shutdown", tests, NULL, NULL);
}
