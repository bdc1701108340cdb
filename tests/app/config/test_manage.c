// SPDX-License-Identifier: Apache-2.0
/* Claims about app/config/manage: of what a daemon that stops the pods itself warns. */
#include "app/config/manage.h"

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

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a kubelet that is stopped, runs on, or stops pods itself is warned of",
		      test_warnings),
	};

	return cmocka_run_group_tests_name("app/config/manage", tests, NULL, NULL);
}
