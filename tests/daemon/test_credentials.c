// SPDX-License-Identifier: Apache-2.0
/* Claims about the daemon's credentials: a scrape and `graced check` show when they expire, and the
 * log warns before and after, until they are renewed. No server answers: none is needed for that. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lib/claim.h"
#include "lib/daemon/service.h"
#include "lib/kernel/tracer.h"
#include "lib/net/jwtgen.h"
#include "lib/run.h"

#define EXPIRY "graced_credential_expiry_timestamp_seconds"
#define WARN   "graced_credential_warn_timestamp_seconds"
#define API    "source=\"api\""

#define HOUR 3600
#define DAY  86400

struct stage {
	char dir[64], token[96], ca[96];
	struct service *service;
};

static void write_file(const char *path, const char *text)
{
	char next[128];
	FILE *file;

	snprintf(next, sizeof(next), "%s.new", path);
	file = fopen(next, "we");
	assert_non_null(file);
	fputs(text, file);
	assert_int_equal(fclose(file), 0);
	assert_int_equal(rename(next, path), 0);
}

static void write_life(const struct stage *s, int64_t issued_s, int64_t expires_s)
{
	char token[JWTGEN_SIZE];

	write_file(s->token, jwtgen_life(issued_s, expires_s, token));
}

/* The API server is a port of loopback where nothing listens. */
static void start(struct stage *s)
{
	const char *const args[] = {"--sinks.journal=false",
				    "--cri.endpoint=none",
				    "--shutdown.mode=off",
				    "--node-name=node-1",
				    "--api.url=https://127.0.0.1:9",
				    "--api.interval=1s",
				    "--api.ca",
				    s->ca,
				    "--api.token-file",
				    s->token,
				    NULL};

	assert_int_equal(service_start(&(struct service_spec){.args = args}, &s->service), 0);
}

static void end(struct stage *s)
{
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
}

static int setup(void **state)
{
	static struct stage stage = {.dir = "/tmp/graced-credentials-XXXXXX"};

	if (tracer_unavailable()) {
		fprintf(stderr, "skipped: %s\n", tracer_unavailable());
		return 0;
	}
	if (!mkdtemp(stage.dir))
		return -1;
	snprintf(stage.token, sizeof(stage.token), "%s/token", stage.dir);
	snprintf(stage.ca, sizeof(stage.ca), "%s/ca.crt", stage.dir);
	write_file(stage.ca, "none\n");
	*state = &stage;
	return 0;
}

static int teardown(void **state)
{
	struct stage *s = *state;
	char command[96];

	if (!s)
		return 0;
	service_free(s->service);
	snprintf(command, sizeof(command), "rm -rf %s", s->dir);
	return system(command);
}

static unsigned int count(const struct stage *s, const char *text)
{
	char *log = service_log(s->service);
	unsigned int n = 0;

	for (const char *at = log; (at = strstr(at, text)); at++)
		n++;
	free(log);
	return n;
}

static void await_log(const struct stage *s, const char *text)
{
	if (!service_await_log(s->service, text))
		fail_msg("the log lacks '%s'", text);
}

static void test_expires(void **state)
{
	int64_t now = time(NULL);
	struct stage *s = *state;
	char text[160];

	if (!s)
		skip();
	/* A year's token with an hour to go. */
	write_life(s, now + HOUR - 365 * DAY, now + HOUR);
	start(s);
	snprintf(text, sizeof(text), "api: the token in %s expires at 20", s->token);
	await_log(s, text);
	await_log(s, "renew it, or this source is lost then");
	assert_true(service_await_metric(s->service, EXPIRY, API, 1) == (double)(now + HOUR));
	assert_true(service_metric(s->service, WARN, API) == (double)(now + HOUR - DAY));
	assert_true(service_metric(s->service, EXPIRY, "source=\"kubelet\"") == -1);
	/* A renewed one ends it. */
	write_life(s, now, now + 365 * DAY);
	await_log(s, "api: renewed: the token in ");
	assert_true(service_metric(s->service, EXPIRY, API) == (double)(now + 365 * DAY));
	/* One that is late comes in between. */
	write_life(s, now - 2 * HOUR, now - HOUR);
	await_log(s, "by this node's clock; renew it");
	assert_true(service_metric(s->service, EXPIRY, API) == (double)(now - HOUR));
	assert_int_equal(count(s, " expires at "), 2); /* the warning, the renewal */
	assert_int_equal(count(s, " expired at "), 1);
	end(s);
}

/* An hour is what `kubectl create token` and the tokens of pods have. */
static void test_short(void **state)
{
	int64_t now = time(NULL);
	struct stage *s = *state;

	if (!s)
		skip();
	write_life(s, now - HOUR / 2, now + HOUR / 2);
	start(s);
	assert_true(service_await_metric(s->service, EXPIRY, API, 1) == (double)(now + HOUR / 2));
	assert_true(service_metric(s->service, WARN, API) == (double)(now + HOUR / 2 - 360));
	/* An opaque token is not known to expire. */
	write_file(s->token, "opaque");
	for (int i = 0; service_metric(s->service, EXPIRY, API) != -1; i++) {
		assert_true(i < 300);
		usleep(100000);
	}
	assert_int_equal(count(s, "the token in "), 0);
	end(s);
}

static void check(const struct stage *s, struct run_result *ret)
{
	char dir[256], command[512];

	snprintf(dir, sizeof(dir), "%s", service_socket(s->service));
	*strrchr(dir, '/') = '\0';
	snprintf(command, sizeof(command), "RUNTIME_DIRECTORY=%s exec %s check --no-names.enabled",
		 dir, getenv("GRACED"));
	assert_int_equal(run(&(struct run_spec){.exe = "/bin/sh",
						.args = (const char *const[]){"-c", command, NULL}},
			     ret),
			 0);
}

static void test_check(void **state)
{
	static const struct {
		int64_t issued, expires; /* from now; 0, 0: none */
		const char *begins, *ends;
	} table[] = {
		{-HOUR, 100 * DAY, "ok    api credential        the token in ", "Z, in 100d00h\n"},
		{-HOUR, HOUR + 60, "ok    api credential        the token in ", "Z, in 1h01m\n"},
		{-364 * DAY, HOUR + 60, "warn  api credential        the token in ",
		 "Z, in 1h01m\n"},
		{-2 * HOUR, -HOUR, "warn  api credential        the token in ", "Z\n"},
		{0, 0, "ok    api credential        the token in ",
		 " does not say when it expires\n"},
	};
	struct stage *s = *state;
	struct run_result result;
	char *line;

	if (!s)
		skip();
	start(s);
	for (size_t i = 0; i < LEN(table); i++) {
		/* The check may take this much of the minute that is printed. */
		int64_t now = time(NULL) + 25;

		write_file(s->token, "opaque");
		if (table[i].expires)
			write_life(s, now + table[i].issued, now + table[i].expires);
		check(s, &result);
		line = strstr(result.out, table[i].begins);
		if (!line || !strstr(line, table[i].ends))
			fail_msg("row %zu: %s", i, result.out);
		run_done(&result);
	}
	unlink(s->token);
	check(s, &result);
	assert_non_null(
		strstr(result.out, "warn  api credential        cannot read the token in "));
	run_done(&result);
	end(s);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a token that expires soon is logged once and scraped, until it is renewed",
		      test_expires),
		CLAIM("a token of an hour is not warned of while most of it is left", test_short),
		CLAIM("check tells when the running daemon's credentials expire", test_check),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
