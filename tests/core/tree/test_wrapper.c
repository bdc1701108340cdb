// SPDX-License-Identifier: Apache-2.0
/* Claims about core/tree/wrapper: which program is which row, and what its arguments change. */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "core/tree/wrapper.h"
#include "lib/claim.h"

/* Arguments as a person writes them; each space ends one. "\t" stands for a space within one. */
static struct wrapper_program program(const char *exe, const char *line, char text[static 256])
{
	size_t len = strlen(line);

	snprintf(text, 256, "%s", line);
	for (size_t i = 0; i < len; i++)
		text[i] = text[i] == ' ' ? '\0' : text[i] == '\t' ? ' ' : text[i];
	return (struct wrapper_program){.exe = exe,
					.comm = "timeout",
					.args = text,
					.args_len = len + 1,
					.variable = TRI_FALSE};
}

static const char *name_of(const char *exe, const char *line, uint32_t signal, struct wrapper *ret)
{
	char text[256];
	struct wrapper_program p = program(exe, line, text);

	return wrapper_find(&p, signal, ret) ? ret->name : "-";
}

static void a_program_is_known_by_its_name_and_options(void **state)
{
	static const struct {
		const char *exe, *line;
		uint32_t signal;
		const char *name;
	} rows[] = {
		{"tini", "/sbin/tini -- app -g", SIGTERM, "tini"},
		{"tini", "tini app -g", SIGTERM, "tini"},
		{"tini", "tini -g -- app", SIGTERM, "tini -g"},
		{"tini", "tini -vg app", SIGTERM, "tini -g"},
		{"tini", "tini -vvsge 143 app", SIGTERM, "tini -g"},
		{"tini", "tini -e g app", SIGTERM, "tini"},
		{"docker-init", "/sbin/docker-init -- sh", SIGTERM, "tini"},
		{"tini-static", "tini -p KILL -g -- sh", SIGTERM, "tini -g"},
		{"dumb-init", "dumb-init app -c", SIGTERM, "dumb-init"},
		{"dumb-init", "dumb-init -c app", SIGTERM, "dumb-init -c"},
		{"dumb-init", "dumb-init --single-child app", SIGTERM, "dumb-init -c"},
		{"dumb-init", "dumb-init --single app", SIGTERM, "dumb-init -c"},
		{"dumb-init", "dumb-init -r 15:3 -c app", SIGTERM, "dumb-init -c"},
		{"timeout", "timeout --foreground 5 app", SIGTERM, "timeout --foreground"},
		{"timeout", "timeout --signal INT --foreground 5 app", SIGTERM,
		 "timeout --foreground"},
		{"timeout", "timeout -k 5 9 app --foreground", SIGTERM, "timeout"},
		{"su", "su nobody -c app", SIGTERM, "su"},
		{"su", "su nobody -c app", SIGINT, "-"},
		{"runsvdir", "runsvdir /etc/service", SIGHUP, "runsvdir"},
		{"runsvdir", "runsvdir /etc/service", SIGINT, "-"},
		{"node", "npm\tstart", SIGTERM, "npm"},
		{"node", "npm\trun\tweb ", SIGTERM, "npm"},
		{"node", "node /usr/lib/node_modules/npm/bin/npm-cli.js start", SIGTERM, "npm"},
		{"node", "node --inspect /usr/bin/yarn start", SIGTERM, "yarn"},
		{"node", "node /app/.yarn/releases/yarn-3.2.0.cjs start", SIGTERM, "-"},
		{"node", "node /opt/pnpm.cjs start", SIGTERM, "pnpm"},
		{"node", "PM2\tv5.3.0:\tGod\tDaemon\t(/root/.pm2)", SIGTERM, "pm2"},
		{"node", "node /usr/bin/pm2-runtime app.js", SIGTERM, "pm2"},
		{"node", "node /tmp/a/nodemon/app.js", SIGTERM, "-"},
		{"node", "node -e npm", SIGTERM, "-"},
		{"node", "node server.js npm", SIGTERM, "-"},
		{"python3.11", "/usr/bin/python3 /usr/bin/supervisord -n", SIGTERM, "supervisord"},
		{"python3.11", "python3 -m gunicorn app", SIGTERM, "gunicorn"},
		{"python3.11", "gunicorn:\tmaster\t[/a/b:c]", SIGTERM, "gunicorn"},
		{"python3.11", "python3 -c gunicorn", SIGTERM, "-"},
		{"python3.11", "python3 app.py", SIGTERM, "-"},
		{"redis-check-rdb", "redis-server *:6379", SIGTERM, "redis"},
		{"ruby3.1", "/usr/bin/ruby /usr/bin/bundle exec puma", SIGTERM, "bundle exec"},
		{"sh", "sh -c tini", SIGTERM, "-"},
		{"", "tini", SIGTERM, "-"},
		{"busybox", "timeout 5 app", SIGTERM, "-"},
	};
	struct wrapper w;

	for (size_t i = 0; i < LEN(rows); i++) {
		print_message("%s\n", rows[i].line);
		assert_string_equal(name_of(rows[i].exe, rows[i].line, rows[i].signal, &w),
				    rows[i].name);
	}
}

static void arguments_say_how_long_and_by_which_signal(void **state)
{
	struct wrapper w;

	name_of("timeout", "timeout -k 5 9 app", SIGTERM, &w);
	assert_int_equal(w.kill_ms, 5000);
	name_of("timeout", "timeout --kill-after=1.5m 9 app", SIGTERM, &w);
	assert_int_equal(w.kill_ms, 90000);
	name_of("timeout", "timeout --kill-after 0 9 app", SIGTERM, &w);
	assert_int_equal(w.kill_ms, 0);
	name_of("timeout", "timeout -k 5y 9 app", SIGTERM, &w);
	assert_int_equal(w.kill_ms, 0);
	name_of("dumb-init", "dumb-init -r 15:3 app", SIGTERM, &w);
	assert_int_equal(w.sends, SIGQUIT);
	name_of("dumb-init", "dumb-init --rewrite=2:3 app", SIGTERM, &w);
	assert_int_equal(w.sends, 0);
	assert_int_equal(w.pass, WRAPPER_GROUP);
	name_of("dumb-init", "dumb-init --rewrite 15:0 app", SIGTERM, &w);
	assert_int_equal(w.pass, WRAPPER_NOTHING);
}

static void an_option_or_variable_that_may_be_leaves_the_group_unknown(void **state)
{
	char text[256];
	struct wrapper_program p = program("tini", "tini app", text);
	struct wrapper w;

	assert_string_equal(name_of("tini", "tini app -vg", SIGTERM, &w), "tini");
	assert_true(w.rest_unknown);
	assert_string_equal(name_of("tini", "tini app -- -g", SIGTERM, &w), "tini");
	assert_false(w.rest_unknown);
	assert_string_equal(wrapper_variable(&p), "TINI_KILL_PROCESS_GROUP=");
	assert_true(wrapper_find(&p, SIGTERM, &w));
	assert_int_equal(w.rest_unknown, false);
	p.variable = TRI_TRUE;
	assert_true(wrapper_find(&p, SIGTERM, &w));
	assert_int_equal(w.pass, WRAPPER_GROUP);
	p.variable = TRI_UNKNOWN;
	assert_true(wrapper_find(&p, SIGTERM, &w));
	assert_int_equal(w.pass, WRAPPER_CHILD);
	assert_int_equal(w.rest_unknown, true);
	p = program("dumb-init", "dumb-init app", text);
	p.variable = TRI_UNKNOWN;
	assert_true(wrapper_find(&p, SIGTERM, &w));
	assert_int_equal(w.pass, WRAPPER_CHILD);
	assert_int_equal(w.rest_unknown, true);
	p = program("node", "node /bin/pm2-runtime", text);
	assert_true(wrapper_find(&p, SIGTERM, &w));
	assert_int_equal(w.kill_ms, 1600);
	p.variable = TRI_TRUE;
	assert_true(wrapper_find(&p, SIGTERM, &w));
	assert_int_equal(w.kill_ms, 0);
	p = program("sh", "sh", text);
	assert_null(wrapper_variable(&p));
}

/* What a container makes of its arguments is read within their bounds. */
static void arguments_may_be_anything(void **state)
{
	static const char *const texts[] = {"",	     "-",	"--", "-k", "--kill-after",
					    "a\0-k", "a\0-\0-k"};
	struct wrapper w;

	for (size_t i = 0; i < LEN(texts); i++)
		for (size_t len = 0; len < 16; len++) {
			char copy[16] = {};
			struct wrapper_program p = {
				.exe = "timeout", .comm = "", .args = copy, .args_len = len};

			memcpy(copy, texts[i], strlen(texts[i]));
			memset(copy + len, 'k', sizeof(copy) - len);
			assert_true(wrapper_find(&p, SIGTERM, &w));
			p.exe = "node";
			assert_false(wrapper_find(&p, SIGTERM, &w));
		}
}

static void each_way_of_passing_on_has_a_name(void **state)
{
	for (unsigned int i = 0; i < WRAPPER_PASS_COUNT; i++)
		assert_non_null(wrapper_pass_name(i));
	assert_null(wrapper_pass_name(WRAPPER_PASS_COUNT));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a program is known by its name and options",
		      a_program_is_known_by_its_name_and_options),
		CLAIM("arguments say how long, and by which signal",
		      arguments_say_how_long_and_by_which_signal),
		CLAIM("an option or a variable that may be leaves the group unknown",
		      an_option_or_variable_that_may_be_leaves_the_group_unknown),
		CLAIM("arguments may be anything", arguments_may_be_anything),
		CLAIM("each way of passing on has a name", each_way_of_passing_on_has_a_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
