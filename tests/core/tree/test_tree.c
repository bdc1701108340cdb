// SPDX-License-Identifier: Apache-2.0
/* Claims about core/tree: which process of a container is asked to end, and what is not known. */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "core/tree/pairs.h"
#include "core/tree/tree.h"
#include "lib/claim.h"

/* A process, and what it makes of every signal: h handler, w waiter, f signalfd, d default,
 * i ignored, b blocked, s stopped, u unread; 1: i for SIGTERM alone. In capitals: a shell that
 * waits for its child. Its number is its place, from 1. */
struct seed {
	const char *exe, *args;
	uint32_t parent;
	char does;
	uint32_t pgrp;
	const char *says; /* fate, reason, and the place of who it is about */
	char waited;	  /* y, n, ?; 0: not compared */
};

#define SEEDS 8

struct row {
	const char *what;
	struct seed seeds[SEEDS];
	uint32_t warnings; /* bits */
	uint32_t signal;   /* 0: SIGTERM */
	bool shared;
};

static const struct row *played;

static int look(void *userdata, const struct tree_process *p, uint32_t signal, struct audit *ret)
{
	switch (played->seeds[p->process.pid - 1].does | 0x20) {
	case 'h':
		*ret = (struct audit){AUDIT_HEARS, AUDIT_HANDLER, 0};
		return 0;
	case 'w':
		*ret = (struct audit){AUDIT_HEARS, AUDIT_WAITER, 0};
		return 0;
	case 'f':
		*ret = (struct audit){AUDIT_HEARS, AUDIT_SIGNALFD, 0};
		return 0;
	case 'd':
		*ret = p->process.ns_pid == 1 && !played->shared
			       ? (struct audit){AUDIT_DEAF, AUDIT_SHIELD, 0}
			       : (struct audit){AUDIT_DIES, AUDIT_DEFAULT, 0};
		return 0;
	case 'i':
		*ret = (struct audit){AUDIT_IGNORES, AUDIT_SIG_IGN, 0};
		return 0;
	case '1':
		*ret = signal == SIGTERM ? (struct audit){AUDIT_IGNORES, AUDIT_SIG_IGN, 0}
					 : (struct audit){AUDIT_HEARS, AUDIT_HANDLER, 0};
		return 0;
	case 'b':
		*ret = (struct audit){AUDIT_DEAF, AUDIT_BLOCKED, 0};
		return 0;
	case 's':
		*ret = (struct audit){AUDIT_HEARS, AUDIT_HANDLER, 1u << AUDIT_STOPPED};
		return 0;
	default:
		return -ESRCH;
	}
}

static void plant(const struct row *row, struct tree_process list[static SEEDS],
		  char args[static SEEDS][128], size_t *ret_n)
{
	size_t n = 0;

	for (; n < SEEDS && row->seeds[n].exe; n++) {
		const struct seed *s = row->seeds + n;

		snprintf(args[n], 128, "%s", s->args ? s->args : s->exe);
		list[n] = (struct tree_process){
			.process = {.pid = (uint32_t)n + 1,
				    .ns_pid = (uint32_t)n + 1,
				    .comm = s->exe,
				    .start_ns = n + 1},
			.ppid = s->parent,
			.pgrp = s->pgrp ? s->pgrp : 100 + (uint32_t)n,
			.exe = s->exe,
			.program = {.exe = s->exe,
				    .comm = s->exe,
				    .args = args[n],
				    .args_len = strlen(args[n]) + 1,
				    .variable = TRI_FALSE},
			.awaits_child = s->does >= 'A' && s->does <= 'Z',
		};
		for (size_t k = 0; k < list[n].program.args_len; k++)
			args[n][k] = args[n][k] == ' ' ? '\0' : args[n][k];
	}
	*ret_n = n;
}

static void compare(const struct row *row, const struct tree *t)
{
	static const char waited[] = {[TRI_UNKNOWN] = '?', [TRI_FALSE] = 'n', [TRI_TRUE] = 'y'};

	for (size_t i = 0; i < t->n; i++) {
		const struct tree_process *p = t->list + i;
		const struct seed *s = row->seeds + p->process.pid - 1;
		char is[64];

		snprintf(is, sizeof(is), "%s %s", tree_fate_name(p->fate),
			 tree_reason_name(p->reason));
		if (p->by != TREE_NONE)
			snprintf(is + strlen(is), sizeof(is) - strlen(is), " %u",
				 t->list[p->by].process.pid);
		if (strcmp(is, s->says) != 0)
			fail_msg("%s: %s[%u]: %s, not %s", row->what, s->exe, p->process.pid, is,
				 s->says);
		if (s->waited && waited[p->waited] != s->waited)
			fail_msg("%s: %s[%u]: waited for: %c", row->what, s->exe, p->process.pid,
				 waited[p->waited]);
	}
}

static void check_words(const struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		_cleanup_(buf_free) struct buf text = {};

		tree_add_words(&text, t, i);
		assert_true(text.len > 8);
		assert_null(strpbrk(buf_str(&text), "@%\n"));
	}
}

static void judge(const struct row *rows, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct tree_process list[SEEDS];
		struct audit_pair pairs[AUDIT_PAIRS];
		char args[SEEDS][128];
		struct tree t = {
			.list = list,
			.signal = rows[i].signal ? rows[i].signal : SIGTERM,
			.shielded = !rows[i].shared,
		};

		print_message("%s\n", rows[i].what);
		played = rows + i;
		plant(rows + i, list, args, &t.n);
		tree_order(list, &t.n, 1, &t.others);
		tree_judge(&t, look, NULL);
		compare(rows + i, &t);
		check_words(&t);
		assert_int_equal(tree_pairs(&t, pairs), rows[i].warnings);
	}
}

#define W(warning) (1u << AUDIT_##warning)

static void a_wrapper_passes_it_on_as_its_row_says(void **state)
{
	static const struct row rows[] = {
		{"tini and an app",
		 {{"tini", "tini -- app", 0, 'w', 0, "receives handler", 'y'},
		  {"app", NULL, 1, 'h', 0, "receives handler", 'y'}},
		 .warnings = 0},
		{"tini, a shell and an app",
		 {{"tini", "tini -- sh", 0, 'w', 0, "receives handler", 'y'},
		  {"dash", NULL, 1, 'd', 0, "receives default", 'y'},
		  {"app", NULL, 2, 'h', 0, "cut not-passed-on 2", 'n'},
		  {"worker", NULL, 3, 'h', 0, "cut not-passed-on 2", 'n'}},
		 .warnings = W(SHELL_BETWEEN)},
		{"the same to the group: the app gets it, and no time",
		 {{"tini", "tini -g sh", 0, 'w', 0, "receives handler", 'y'},
		  {"dash", NULL, 1, 'd', 2, "receives default", 'y'},
		  {"app", NULL, 2, 'h', 2, "receives handler", 'n'},
		  {"daemon", NULL, 1, 'h', 4, "cut not-passed-on 1", 'n'}},
		 .warnings = W(NOT_AWAITED) | W(PROCESS_CUT)},
		{"tail before the app",
		 {{"tini", "tini -- tail", 0, 'w', 0, "receives handler", 0},
		  {"tail", NULL, 1, 'd', 0, "receives default", 'y'},
		  {"app", NULL, 2, 'h', 0, "cut not-passed-on 2", 0}},
		 .warnings = W(KEEPER_BETWEEN)},
		{"tail beside the app",
		 {{"tini", "tini -- tail", 0, 'w', 0, "receives handler", 0},
		  {"tail", NULL, 1, 'd', 0, "receives default", 0},
		  {"app", NULL, 1, 'h', 0, "cut not-passed-on 1", 0}},
		 .warnings = W(KEEPER_BETWEEN)},
		{"su kills it soon",
		 {{"tini", "tini su", 0, 'w', 0, "receives handler", 0},
		  {"su", NULL, 1, 'h', 0, "receives handler", 0},
		  {"app", NULL, 2, 'h', 0, "receives handler", 'y'}},
		 .warnings = W(KILLED_SOON)},
		{"npm, its shell and node",
		 {{"node", "npm", 0, 'h', 0, "receives handler", 0},
		  {"dash", NULL, 1, 'd', 0, "receives default", 0},
		  {"node", "node server.js", 2, 'h', 0, "cut not-passed-on 2", 0}},
		 .warnings = W(SCRIPT_SHELL)},
		{"pnpm reaches further than its shell",
		 {{"node", "node /bin/pnpm", 0, 'h', 0, "receives handler", 0},
		  {"dash", NULL, 1, 'd', 0, "receives default", 0},
		  {"node", "node server.js", 2, 'h', 0, "unknown may-pass-on 1", 0}},
		 .warnings = 0},
		{"runsvdir leaves",
		 {{"runsvdir", NULL, 0, 'h', 0, "receives handler", 0},
		  {"runsv", NULL, 1, 'h', 0, "cut not-passed-on 1", 0},
		  {"app", NULL, 2, 'h', 0, "cut not-passed-on 1", 0}},
		 .warnings = W(SERVICES_CUT)},
		{"nginx and a worker of it, and what the worker started",
		 {{"nginx", NULL, 0, 'h', 0, "receives handler", 0},
		  {"nginx", NULL, 1, 'h', 0, "receives message", 'y'},
		  {"app", NULL, 2, 'h', 0, "unknown handler-decides 2", 0}},
		 .warnings = 0},
		{"postgres waits for clients",
		 {{"postgres", NULL, 0, 'h', 0, "receives handler", 0},
		  {"postgres", NULL, 1, 'i', 0, "unknown waits-for-clients 1", 0}},
		 .warnings = 0},
		{"postgres does not",
		 {{"postgres", NULL, 0, 'h', 0, "receives handler", 0},
		  {"postgres", NULL, 1, 'i', 0, "receives message", 0}},
		 .warnings = 0,
		 .signal = SIGINT},
		{"a worker of gunicorn is no master",
		 {{"python3.11", "python3 /bin/gunicorn", 0, 'h', 0, "receives handler", 0},
		  {"python3.11", "python3 /bin/gunicorn", 1, 'h', 0, "receives handler", 'y'},
		  {"python3.11", "python3 /bin/gunicorn", 2, 'h', 0, "unknown handler-decides 2",
		   0}},
		 .warnings = 0},
		{"timeout and its own group",
		 {{"timeout", "timeout 5 sh", 0, 'h', 1, "receives handler", 0},
		  {"dash", NULL, 1, 'd', 1, "receives default", 0},
		  {"app", NULL, 2, 'h', 1, "receives handler", 'n'}},
		 .warnings = W(NOT_AWAITED)},
		{"timeout -k ends all below it",
		 {{"timeout", "timeout -k 1 9 tini", 0, 'h', 1, "receives handler", 'y'},
		  {"tini", "tini -s -- app", 1, 'w', 1, "receives handler", 'y'},
		  {"app", NULL, 2, 'h', 0, "receives handler", 'y'}},
		 .warnings = W(KILLED_SOON)},
		{"nodemon sends a second one",
		 {{"node", "node /bin/nodemon", 0, 'h', 0, "receives handler", 0},
		  {"app", NULL, 1, '1', 0, "receives handler", 0}},
		 .warnings = 0},
		{"a pseudo-terminal's sudo",
		 {{"sudo", NULL, 0, 'h', 0, "receives handler", 0},
		  {"sudo", NULL, 1, 'h', 0, "unknown handler-decides 1", 0},
		  {"app", NULL, 2, 'h', 0, "unknown handler-decides 1", 0}},
		 .warnings = 0},
	};

	judge(rows, LEN(rows));
}

static void what_is_not_known_is_unknown(void **state)
{
	static const struct row rows[] = {
		{"what is called tini and has a handler",
		 {{"tini", "tini app", 0, 'h', 0, "receives handler", 'y'},
		  {"app", NULL, 1, 'h', 0, "unknown contradicts 1", '?'}},
		 .warnings = 0},
		{"what is called tini and dies",
		 {{"tini", "tini app", 0, 'd', 0, "ignores no-handler", 0},
		  {"app", NULL, 1, 'h', 0, "cut not-passed-on 1", 0}},
		 .warnings = 0},
		{"an app with children, and what docker exec started",
		 {{"app", NULL, 0, 'h', 0, "receives handler", 0},
		  {"app", NULL, 1, 'd', 0, "unknown handler-decides 1", '?'},
		  {"sh", NULL, 0, 'd', 0, "unknown handler-decides 1", 'n'}},
		 .warnings = 0},
		{"docker exec beside tini",
		 {{"tini", "tini app", 0, 'w', 0, "receives handler", 0},
		  {"app", NULL, 1, 'd', 0, "receives default", 0},
		  {"sh", NULL, 0, 'd', 0, "cut from-outside", 0}},
		 .warnings = 0},
		{"a handler that may kill its group",
		 {{"tini", "tini bash", 0, 'w', 0, "receives handler", 0},
		  {"bash", NULL, 1, 'h', 2, "receives handler", 0},
		  {"app", NULL, 1, 'h', 2, "unknown handler-decides 2", 0},
		  {"app", NULL, 1, 'h', 4, "cut not-passed-on 1", 0}},
		 .warnings = W(PROCESS_CUT)},
		{"a shell whose trap waits for the command in front",
		 {{"tini", "tini bash", 0, 'w', 0, "receives handler", 0},
		  {"bash", NULL, 1, 'H', 2, "receives handler", 0},
		  {"app", NULL, 2, 'h', 2, "cut not-passed-on 2", 0}},
		 .warnings = W(SHELL_BETWEEN)},
		{"one that is stopped",
		 {{"tini", "tini app", 0, 'w', 0, "receives handler", 0},
		  {"app", NULL, 1, 's', 0, "unknown stopped", 0},
		  {"x", NULL, 2, 'h', 0, "unknown stopped 2", 0}},
		 .warnings = 0},
		{"one that cannot be seen",
		 {{"tini", "tini app", 0, 'w', 0, "receives handler", 0},
		  {"app", NULL, 1, 'u', 0, "unknown no-access", 0},
		  {"x", NULL, 2, 'h', 0, "unknown no-access 2", 0}},
		 .warnings = 0},
		{"in a shared namespace nothing ends with the init",
		 {{"dash", NULL, 0, 'd', 0, "receives default", 0},
		  {"app", NULL, 1, 'h', 0, "unknown shared-namespace 1", 0}},
		 .shared = true},
		{"one that ignores it, and its child",
		 {{"tini", "tini app", 0, 'w', 0, "receives handler", 0},
		  {"app", NULL, 1, 'i', 0, "ignores ignored", 'y'},
		  {"x", NULL, 2, 'h', 0, "cut not-passed-on 2", 0}},
		 .warnings = 0},
		{"one that blocks it",
		 {{"app", NULL, 0, 'b', 0, "ignores blocked", 0},
		  {"x", NULL, 1, 'h', 0, "cut not-passed-on 1", 0}},
		 .warnings = 0},
	};

	judge(rows, LEN(rows));
}

static struct tree_process numbered(uint32_t pid, uint32_t ppid, uint64_t start)
{
	return (struct tree_process){
		.process = {.pid = pid, .ns_pid = pid, .comm = "x", .start_ns = start},
		.ppid = ppid};
}

static void the_nearest_come_behind_their_parents(void **state)
{
	struct tree_process list[200];
	uint32_t others;
	size_t n = 200;

	/* Two chains of a hundred, mixed. */
	for (uint32_t i = 0; i < 200; i++)
		list[199 - i] = numbered(i + 1, i < 2 ? i : i - 1, i);
	tree_order(list, &n, 1, &others);
	assert_int_equal(n, TREE_MAX);
	assert_int_equal(others, 200 - TREE_MAX);
	for (size_t i = 1; i < n; i++) {
		assert_true(list[i].parent < i);
		assert_int_equal(list[list[i].parent].process.pid, list[i].ppid);
		assert_int_equal(list[i].depth, list[list[i].parent].depth + 1);
	}
}

/* Numbers that the kernel never gives out like that: no process is lost, and it ends. */
static void circles_are_no_trap(void **state)
{
	struct tree_process list[] = {numbered(3, 2, 1), numbered(2, 3, 1), numbered(1, 1, 1),
				      numbered(7, 9, 4)};
	uint32_t others;
	size_t n = 4;

	tree_order(list, &n, 1, &others);
	assert_int_equal(n, 4);
	assert_int_equal(others, 0);
	assert_int_equal(list[0].process.pid, 1);
}

static void the_words_name_who_and_why(void **state)
{
	static const struct row row = {"words",
				       {{"tini", "tini -- su", 0, 'w', 0, "", 0},
					{"runuser", NULL, 1, 'h', 0, "", 0},
					{"dash", NULL, 2, 'd', 0, "", 0},
					{"app", NULL, 3, 'h', 0, "", 0}},
				       .warnings = 0};
	static const char *const says[] = {
		"receives it and passes it on to its child",
		"receives it and passes it on to its child",
		"dies of SIGTERM",
		"gets only SIGKILL: dash[3] dies of it and passes nothing on to it",
	};
	struct tree_process list[SEEDS];
	char args[SEEDS][128];
	struct tree t = {.list = list, .signal = SIGTERM, .shielded = true};

	played = &row;
	plant(&row, list, args, &t.n);
	tree_order(list, &t.n, 1, &t.others);
	tree_judge(&t, look, NULL);
	for (size_t i = 0; i < LEN(says); i++) {
		_cleanup_(buf_free) struct buf text = {};

		tree_add_words(&text, &t, i);
		assert_string_equal(buf_str(&text), says[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a wrapper passes it on as its row says",
		      a_wrapper_passes_it_on_as_its_row_says),
		CLAIM("what is not known is unknown", what_is_not_known_is_unknown),
		CLAIM("the nearest come behind their parents",
		      the_nearest_come_behind_their_parents),
		CLAIM("circles are no trap", circles_are_no_trap),
		CLAIM("the words name who and why", the_words_name_who_and_why),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
