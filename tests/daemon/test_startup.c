// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the start of the daemon: what keeps it from starting, where it listens, what its
 * small pages say.
 */
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/buf.h"
#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

#define NOBODY 65534

static int setup(void **state)
{
	static char able;

	if (tracer_unavailable())
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
	*state = tracer_unavailable() ? NULL : &able;
	return 0;
}

static struct service *start(const struct service_spec *spec)
{
	struct service *service = NULL;

	assert_int_equal(service_start(spec, &service), 0);
	return service;
}

static int occupy(uint16_t *ret_port)
{
	struct sockaddr_in address = {.sin_family = AF_INET,
				      .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(address);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(listen(fd, 1), 0);
	assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &len), 0);
	*ret_port = ntohs(address.sin_port);
	return fd;
}

/* One line, but for what it logged before it came to that. */
static void expect_refused(const char *address, const char *flag, uid_t uid, int status,
			   const char *why)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("run", "--log.level", "error", "--control.socket", "none",
				 "--checkpoint.file", "none", "--web.listen-address", address,
				 flag),
		.uid = uid,
	};
	struct run_result result;
	const char *end;

	assert_int_equal(run(&spec, &result), 0);
	end = strchr(result.err, '\n');
	if (result.status != status || !strstr(result.err, why) || !end || end[1] || result.out_len)
		fail_msg("%s: status %d: %s", address, result.status, result.err);
	run_done(&result);
}

static void test_refuses(void **state)
{
	char address[32], why[96];
	struct service *service;
	uint16_t port;
	int fd;

	if (!*state)
		skip();
	fd = occupy(&port);
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	snprintf(why, sizeof(why), "cannot listen on %s: Address already in use", address);
	expect_refused(address, NULL, 0, 1, why);
	close(fd);

	service = start(&(struct service_spec){});
	snprintf(address, sizeof(address), "127.0.0.1:%u", service_port(service));
	snprintf(why, sizeof(why), "cannot listen on %s: Address already in use", address);
	expect_refused(address, NULL, 0, 1, why);
	assert_int_equal(service_stop(service), 0);
	service_free(service);

	/* An address for documentation, which no host has. */
	expect_refused("192.0.2.1:0", "--web.insecure", 0, 1, "cannot listen on 192.0.2.1:0: ");
	expect_refused("0.0.0.0:0", NULL, 0, 2, "0.0.0.0:0 can be reached from other hosts");
	expect_refused("[::]:0", NULL, 0, 2, "[::]:0 can be reached from other hosts");
	expect_refused(":0", NULL, 0, 2, ":0 can be reached from other hosts");
	expect_refused("127.0.0.1:0", NULL, NOBODY, 1, "run as root, or with CAP_BPF");
}

static void a_relative_directory_is_refused(void **state)
{
	static const char *const variables[] = {"RUNTIME_DIRECTORY", "STATE_DIRECTORY"};

	for (size_t i = 0; i < LEN(variables); i++) {
		char *was = getenv(variables[i]) ? strdup(getenv(variables[i])) : NULL, why[64];

		snprintf(why, sizeof(why), "graced: %s=rel is no absolute path\n", variables[i]);
		setenv(variables[i], "rel", 1);
		expect_refused("127.0.0.1:0", NULL, 0, 1, why);
		if (was)
			setenv(variables[i], was, 1);
		else
			unsetenv(variables[i]);
		free(was);
	}
}

static void test_open_to_all(void **state)
{
	struct service *service;
	char *log;

	if (!*state)
		skip();
	service = start(&(struct service_spec){
		.args = BOX_ARGV("--web.insecure", "--web.listen-address", "0.0.0.0:0")});
	log = service_log(service);
	assert_non_null(strstr(log, "listening on 0.0.0.0:"));
	free(log);
	assert_int_equal(service_stop(service), 0);
	service_free(service);
}

static void test_pages(void **state)
{
	static const struct {
		const char *path;
		int status;
		const char *holds;
	} pages[] = {
		{"/", 200, "<a href=\"/some/metrics\">"},
		{"/some/metrics", 200, "\ngraced_build_info{"},
		{"/healthz", 200, "ok\n"},
		{"/readyz", 200, "ready\n"},
		{"/healthz?full=1", 200, "ok\n"},
		{"/metrics", 404, "not found\n"},
		{"/healthz/", 404, "not found\n"},
		{"/../etc/passwd", 404, "not found\n"},
		{"/%2e%2e/etc/passwd", 404, "not found\n"},
	};
	struct service *service;
	struct buf page = {};

	if (!*state)
		skip();
	service = start(
		&(struct service_spec){.args = BOX_ARGV("--web.telemetry-path", "/some/metrics")});
	for (size_t i = 0; i < LEN(pages); i++) {
		int status = service_get(service, pages[i].path, NULL, &page);

		if (status != pages[i].status || !strstr(buf_str(&page), pages[i].holds))
			fail_msg("%s: %d: %s", pages[i].path, status, buf_str(&page));
	}
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	buf_free(&page);
}

static void test_hosts(void **state)
{
	char own[256] = "";
	const struct {
		const char *host;
		int status;
	} rows[] = {
		{"localhost:80", 200},	     {"192.0.2.1", 200},
		{"[2001:db8::1]:9753", 200}, {own, 200},
		{"Node-7.example", 200},     {"a.shop.example", 200},
		{"node-8.example", 421},     {"shop.example", 421},
		{"evil.example", 421},	     {"node-7.example:x", 400},
	};
	struct service *service;
	struct buf page = {};

	if (!*state)
		skip();
	assert_int_equal(gethostname(own, sizeof(own) - 1), 0);
	service = start(&(struct service_spec){.args = BOX_ARGV("--node-name", "node-7.example",
								"--web.hosts", "*.shop.example")});
	for (size_t i = 0; i < LEN(rows); i++) {
		char target[320];
		int status;

		snprintf(target, sizeof(target), "http://%s/healthz", rows[i].host);
		status = service_get(service, target, NULL, &page);
		if (status != rows[i].status)
			fail_msg("%s: %d: %s", target, status, buf_str(&page));
	}
	assert_int_equal(service_stop(service), 0);
	service_free(service);
	buf_free(&page);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("what keeps it from starting is logged in one line with its exit status",
		      test_refuses),
		CLAIM("a relative directory of the service manager is refused",
		      a_relative_directory_is_refused),
		CLAIM("it listens where other hosts reach it when configured that this is meant",
		      test_open_to_all),
		CLAIM("the small pages are where they are expected, and nothing else is",
		      test_pages),
		CLAIM("requests are for addresses, this host, its node, and hosts that are configured",
		      test_hosts),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
