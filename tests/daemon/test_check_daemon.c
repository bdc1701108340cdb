// SPDX-License-Identifier: Apache-2.0
/* Claims about `graced check`: it looks at what the running daemon uses, and says when none runs. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

/* What it prints, with that runtime directory. */
static void check(const char *dir, struct run_result *ret)
{
	char command[512];

	snprintf(command, sizeof(command), "RUNTIME_DIRECTORY=%s exec %s check --no-names", dir,
		 getenv("GRACED"));
	assert_int_equal(run(&(struct run_spec){.exe = "/bin/sh",
						.args = (const char *const[]){"-c", command, NULL}},
			     ret),
			 0);
}

static void assert_says(const struct run_result *result, const char *text)
{
	if (!strstr(result->out, text))
		fail_msg("it does not say '%s', but: %s", text, result->out);
}

static void test_daemon(void **state)
{
	char dir[256], option[320], wanted[512];
	const char *const args[] = {"--sinks.journal=false", "--shutdown.mode=off", option, NULL};
	char own[] = "/tmp/graced-check-XXXXXX";
	struct run_result result;
	struct service *service;

	if (tracer_unavailable())
		skip();
	assert_non_null(mkdtemp(own));
	snprintf(option, sizeof(option), "--checkpoint.file=%s/another", own);
	assert_int_equal(service_start(&(struct service_spec){.args = args}, &service), 0);
	snprintf(dir, sizeof(dir), "%s", service_socket(service));
	*strrchr(dir, '/') = '\0';
	check(dir, &result);
	snprintf(wanted, sizeof(wanted), "ok    checkpoint            %s/another\n", own);
	assert_says(&result, wanted);
	assert_says(&result, "settings from flags, environment and defaults, shutdown.mode off\n");
	run_done(&result);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	snprintf(wanted, sizeof(wanted), "%s/another", own);
	remove(wanted);
	remove(own);
}

static void test_no_daemon(void **state)
{
	char own[] = "/tmp/graced-check-XXXXXX", wanted[512];
	struct run_result result;

	if (tracer_unavailable())
		skip();
	assert_non_null(mkdtemp(own));
	check(own, &result);
	snprintf(wanted, sizeof(wanted), "none answers at %s/control.sock (", own);
	assert_says(&result, wanted);
	assert_says(&result, "): the defaults are checked\n");
	snprintf(wanted, sizeof(wanted), "checkpoint            %s/checkpoint", own);
	assert_says(&result, wanted);
	run_done(&result);
	remove(own);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("check looks at the checkpoint that the running daemon uses", test_daemon),
		CLAIM("without a daemon check says so, and looks at the defaults", test_no_daemon),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
