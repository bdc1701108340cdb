// SPDX-License-Identifier: Apache-2.0
/* Claims about io/fetch/resolve: whatever name servers answer, or do not, is known without waiting.
 */
#include "io/fetch/resolve.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "io/files/fd.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/net/nameserver.h"
#include "lib/patience.h"

#define TURN_USEC 10000

static struct nameserver *names;

struct bench {
	sd_event *event;
	struct resolve *resolve;
	unsigned int changed;
};

static int open_names(void **state)
{
	const char *why;

	names = nameserver_open(&why);
	if (!names)
		print_message("not shown: %s\n", why);
	return 0;
}

static int close_names(void **state)
{
	nameserver_close(names);
	return 0;
}

static void on_changed(void *userdata)
{
	struct bench *b = userdata;

	b->changed++;
}

static void open_bench(struct bench *b, uint64_t fresh_ns)
{
	if (!names)
		skip();
	*b = (struct bench){};
	assert_true(sd_event_new(&b->event) >= 0);
	assert_int_equal(resolve_new(b->event, fresh_ns, on_changed, b, &b->resolve), 0);
}

static void close_bench(struct bench *b)
{
	resolve_free(b->resolve);
	sd_event_unref(b->event);
	/* There is no child but the one that plays the name servers. */
	assert_int_equal(waitpid(-1, NULL, WNOHANG), 0);
}

static void turn(struct bench *b, uint64_t until)
{
	assert_true(sd_event_run(b->event, TURN_USEC) >= 0);
	assert_true(clock_monotonic_ns() < until);
}

/* Queries, and awaits that this is over. */
static struct resolve_result query(struct bench *b, const char *name)
{
	uint64_t until = clock_monotonic_ns() + PATIENCE_NS;
	unsigned int before = b->changed;

	resolve_query(b->resolve, name);
	while (b->changed == before)
		turn(b, until);
	return resolve_get(b->resolve, name);
}

static void every_answer_is_taken_for_what_it_is(void **state)
{
	static const struct {
		enum nameserver_mood mood;
		const char *name, *addresses; /* NULL: it fails */
	} rows[] = {
		{NAMESERVER_LOOPBACK, "a.example", "127.0.0.1"},
		{NAMESERVER_LOOPBACK, "A.Example.", "127.0.0.1"},
		{NAMESERVER_ELSEWHERE, "b.example", "127.0.0.99"},
		{NAMESERVER_SILENT, "listed.example", "127.0.0.1"},
		{NAMESERVER_SILENT, "listed6.example", "[fd00::1]"},
		{NAMESERVER_NXDOMAIN, "d.example", NULL},
		{NAMESERVER_GARBAGE, "e.example", NULL},
		{NAMESERVER_LOOPBACK, "-", NULL},
		{NAMESERVER_LOOPBACK, "f..example", NULL},
	};
	struct bench b;

	open_bench(&b, RESOLVE_FRESH_NS);
	for (size_t i = 0; i < LEN(rows); i++) {
		struct resolve_result result;

		nameserver_play(names, rows[i].mood);
		result = query(&b, rows[i].name);
		print_message("# %s: %s\n", rows[i].name,
			      result.state == RESOLVE_FOUND ? result.addresses : result.error);
		assert_int_equal(result.state, rows[i].addresses ? RESOLVE_FOUND : RESOLVE_FAILED);
		if (rows[i].addresses)
			assert_string_equal(result.addresses, rows[i].addresses);
	}
	close_bench(&b);
}

static void of_many_addresses_the_first_are_used(void **state)
{
	struct resolve_result result;
	unsigned int n = 1;
	struct bench b;

	open_bench(&b, RESOLVE_FRESH_NS);
	nameserver_play(names, NAMESERVER_MANY);
	result = query(&b, "many.example");
	assert_int_equal(result.state, RESOLVE_FOUND);
	for (const char *at = result.addresses; (at = strchr(at, ',')); at++)
		n++;
	assert_int_equal(n, RESOLVE_ADDRESSES);
	close_bench(&b);
}

static void new_answers_are_not_asked_for_again(void **state)
{
	unsigned int heard;
	struct bench b;

	open_bench(&b, RESOLVE_FRESH_NS);
	nameserver_play(names, NAMESERVER_LOOPBACK);
	query(&b, "a.example");
	heard = nameserver_heard(names);
	assert_true(heard > 0);
	for (int i = 0; i < 5; i++) {
		resolve_query(b.resolve, "a.example");
		assert_true(sd_event_run(b.event, TURN_USEC) >= 0);
	}
	assert_int_equal(nameserver_heard(names), heard);
	assert_int_equal(b.changed, 1);
	close_bench(&b);
}

static void known_addresses_stay_until_there_are_others(void **state)
{
	static const struct {
		enum nameserver_mood mood;
		const char *addresses;
	} rows[] = {
		{NAMESERVER_LOOPBACK, "127.0.0.1"},
		{NAMESERVER_NXDOMAIN, "127.0.0.1"},
		{NAMESERVER_GARBAGE, "127.0.0.1"},
		{NAMESERVER_ELSEWHERE, "127.0.0.99"},
	};
	struct resolve_result result;
	struct bench b;

	open_bench(&b, 0);
	for (size_t i = 0; i < LEN(rows); i++) {
		print_message("# answer %zu\n", i);
		nameserver_play(names, rows[i].mood);
		result = query(&b, "a.example");
		assert_int_equal(result.state, RESOLVE_FOUND);
		assert_string_equal(result.addresses, rows[i].addresses);
	}
	nameserver_play(names, NAMESERVER_SILENT);
	resolve_query(b.resolve, "a.example");
	result = resolve_get(b.resolve, "a.example");
	assert_int_equal(result.state, RESOLVE_FOUND);
	close_bench(&b);
}

static void names_that_are_too_many_fail(void **state)
{
	char name[32];
	struct bench b;

	open_bench(&b, RESOLVE_FRESH_NS);
	nameserver_play(names, NAMESERVER_SILENT);
	for (int i = 0; i <= RESOLVE_NAMES; i++) {
		snprintf(name, sizeof(name), "host-%d.example", i);
		resolve_query(b.resolve, name);
		resolve_query(b.resolve, name);
		assert_int_equal(resolve_get(b.resolve, name).state,
				 i < RESOLVE_NAMES ? RESOLVE_PENDING : RESOLVE_FAILED);
	}
	close_bench(&b);
}

static void known_names_make_way_for_others(void **state)
{
	char name[32];
	struct bench b;

	open_bench(&b, RESOLVE_FRESH_NS);
	nameserver_play(names, NAMESERVER_LOOPBACK);
	for (int i = 0; i <= RESOLVE_NAMES; i++) {
		snprintf(name, sizeof(name), "host-%d.example", i);
		assert_int_equal(query(&b, name).state, RESOLVE_FOUND);
	}
	assert_int_equal(resolve_get(b.resolve, "host-0.example").state, RESOLVE_FAILED);
	assert_int_equal(resolve_get(b.resolve, "host-1.example").state, RESOLVE_FOUND);
	close_bench(&b);
}

/* The newest of this process's; 0: the kernel does not show children. */
static pid_t newest_child(void)
{
	char path[64], text[64] = "", *at = text;
	pid_t newest = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/self/task/%d/children", getpid());
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (!fgets(text, sizeof(text), f))
		text[0] = '\0';
	fclose(f);
	for (pid_t pid; (pid = (pid_t)strtol(at, &at, 10)) > 0;)
		newest = pid;
	return newest;
}

static void the_child_has_no_privileges(void **state)
{
	static const char *const lines[] = {"Name:\tgraced-resolve\n",
					    "\nCapPrm:\t0000000000000000\n",
					    "\nCapEff:\t0000000000000000\n", "\nNoNewPrivs:\t1\n"};
	_cleanup_(cleanup_free) char *text = NULL;
	struct bench b;
	char path[64];
	pid_t child;

	open_bench(&b, RESOLVE_FRESH_NS);
	nameserver_play(names, NAMESERVER_SILENT);
	resolve_query(b.resolve, "a.example");
	while (nameserver_heard(names) == 0)
		usleep(1000);
	child = newest_child();
	if (child > 0) {
		snprintf(path, sizeof(path), "/proc/%d/status", child);
		assert_true(fd_read_all(AT_FDCWD, path, 1 << 16, &text) > 0);
		for (size_t i = 0; i < LEN(lines); i++)
			assert_non_null(strstr(text, lines[i]));
	}
	close_bench(&b);
	assert_true(child <= 0 || kill(child, 0) < 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("every answer of a name server is taken for what it is",
		      every_answer_is_taken_for_what_it_is),
		CLAIM("of a hundred addresses the first are used",
		      of_many_addresses_the_first_are_used),
		CLAIM("an answer that is new is not asked for again",
		      new_answers_are_not_asked_for_again),
		CLAIM("known addresses stay in use until others are found",
		      known_addresses_stay_until_there_are_others),
		CLAIM("more names than fit fail, and wait for nothing",
		      names_that_are_too_many_fail),
		CLAIM("the name that was resolved first makes way for another one",
		      known_names_make_way_for_others),
		CLAIM("the process that resolves has no privileges, and ends with its owner",
		      the_child_has_no_privileges),
	};

	return cmocka_run_group_tests_name("io/fetch/resolve", tests, open_names, close_names);
}
