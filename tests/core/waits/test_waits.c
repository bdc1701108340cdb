// SPDX-License-Identifier: Apache-2.0
// When a stop is looked at, and what its looks come to.
#include "core/waits/waits.h"

#include <string.h>

#include "lib/claim.h"

#define S 1000000000ull

#define INIT 10

struct view {
	uint32_t pid, parent;
	char state;
	enum look_call call;
	const char *wchan, *file;
	uint32_t clients, tid;
	uint64_t cpu_ns;
};

static void take(struct waits **w, const struct view *v)
{
	struct obs_look look = {.proc = {.pid = v->pid, .ns_pid = v->pid - 9, .start_ns = v->pid},
				.parent_pid = v->parent,
				.tid = v->tid,
				.state = (unsigned char)v->state,
				.call = v->call,
				.clients = v->clients,
				.cpu_ns = v->cpu_ns,
				.waits = true};

	if (v->wchan)
		strcpy(look.wchan, v->wchan);
	if (v->file)
		strcpy(look.file, v->file);
	waits_take(w, &look);
}

static void end(struct waits **w, uint64_t at_ns, enum waits_init init)
{
	waits_end(w, &(struct obs_looked){.waits = true}, at_ns, INIT, init);
}

static void end_with(struct waits **w, uint64_t at_ns, struct look_figures figures)
{
	waits_end(w, &(struct obs_looked){.waits = true, .figures = figures}, at_ns, INIT,
		  WAITS_INIT_TAKEN);
}

static const struct wait *first(const struct waits *w)
{
	const struct wait *list;

	return waits_list(w, &list) ? list : NULL;
}

static void test_when(void **state)
{
	static const struct {
		uint64_t last, grace, next;
	} want[] = {
		{0, 30, 115},  {115, 30, 127}, {127, 30, 0},  {140, 30, 0},
		{0, 0, 102},   {102, 0, 105},  {105, 0, 109}, {109, 0, 0},
		{106, 0, 109}, {102, 30, 115}, {104, 3, 0},
	};

	for (size_t i = 0; i < LEN(want); i++)
		assert_int_equal(waits_next_ns(want[i].last * S, 100 * S, want[i].grace * S),
				 want[i].next * S);
}

/* An init with one of these. */
static const struct {
	struct view view;
	enum wait_for what;
} rows[] = {
	{{10, 1, 't', LOOK_CALL_POLL, .wchan = "ptrace_stop"}, WAIT_FOR_TRACER},
	{{10, 1, 'T', LOOK_CALL_POLL, .tid = 0}, WAIT_FOR_CONT},
	{{10, 1, 'D', LOOK_CALL_OTHER, .wchan = "folio_wait_bit_common"}, WAIT_FOR_IO},
	{{10, 1, 'D', LOOK_CALL_NONE, .wchan = "percpu_rwsem_wait"}, WAIT_FOR_KERNEL},
	{{10, 1, 'D', LOOK_CALL_OTHER, .wchan = "rpc_wait_bit_killable"}, WAIT_FOR_IO},
	{{10, 1, 'D', LOOK_CALL_OTHER, .wchan = "kernel_clone"}, WAIT_FOR_TIME},
	{{10, 1, 'D', LOOK_CALL_OTHER, .wchan = "do_exit"}, WAIT_FOR_KERNEL},
	{{10, 1, 'R', LOOK_CALL_NONE, .clients = 3}, WAIT_FOR_HANDLER},
	{{10, 1, 'S', LOOK_CALL_WRITE, .file = "pipe:[7]"}, WAIT_FOR_READER},
	{{10, 1, 'S', LOOK_CALL_WRITE, .file = "/dev/pts/0"}, WAIT_FOR_READER},
	{{10, 1, 'S', LOOK_CALL_LOCK, .file = "/data/pid"}, WAIT_FOR_LOCK},
	{{10, 1, 'S', LOOK_CALL_POLL, .clients = 3}, WAIT_FOR_CLIENTS},
	{{10, 1, 'S', LOOK_CALL_LOCK, .clients = 3}, WAIT_FOR_LOCK},
	{{10, 1, 'R', LOOK_CALL_NONE, .tid = 0}, WAIT_FOR_HANDLER},
	{{10, 1, 'S', LOOK_CALL_FUTEX, .tid = 0}, WAIT_FOR_TIME},
	{{10, 1, 'S', LOOK_CALL_READ, .file = "pipe:[7]"}, WAIT_FOR_TIME},
	{{10, 1, 'S', LOOK_CALL_NONE, .tid = 0}, WAIT_FOR_NOTHING},
};

static void test_kinds(void **state)
{
	for (size_t i = 0; i < LEN(rows); i++) {
		struct waits *w = NULL;

		take(&w, &rows[i].view);
		end(&w, 5 * S, WAITS_INIT_TAKEN);
		if (rows[i].what == WAIT_FOR_NOTHING)
			assert_null(first(w));
		else
			assert_int_equal(first(w)->what, rows[i].what);
		waits_free(w);
	}
}

/* Client connections, a child and a timer say nothing of one that did not hear, or was killed. */
static void test_unheard(void **state)
{
	for (enum waits_init init = WAITS_INIT_UNHEARD; init <= WAITS_INIT_KILLED; init++) {
		struct waits *w = NULL;

		take(&w, &(struct view){10, 1, 'S', LOOK_CALL_POLL, .clients = 2});
		take(&w, &(struct view){11, 10, 'S', LOOK_CALL_SLEEP, .tid = 0});
		take(&w, &(struct view){12, 10, 'D', LOOK_CALL_NONE, .wchan = "nfs_wait"});
		end(&w, 5 * S, init);
		assert_int_equal(first(w)->what, WAIT_FOR_IO);
		assert_int_equal(first(w)->pid, 12);
		assert_int_equal(waits_list(w, &(const struct wait *){NULL}), 1);
		waits_free(w);
	}
}

static void test_threads(void **state)
{
	struct waits *w = NULL;

	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_FUTEX, .tid = 0});
	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_WRITE, .file = "pipe:[7]", .tid = 21});
	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_POLL, .tid = 22});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	assert_int_equal(first(w)->what, WAIT_FOR_READER);
	assert_string_equal(first(w)->file, "pipe:[7]");
	waits_free(w);
}

static void test_children(void **state)
{
	const struct wait *list;
	struct waits *w = NULL;

	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_CHILD, .tid = 0});
	take(&w, &(struct view){11, 10, 'S', LOOK_CALL_POLL, .tid = 0});
	take(&w, &(struct view){12, 11, 'S', LOOK_CALL_POLL, .clients = 1});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	assert_int_equal(waits_list(w, &list), 3);
	assert_int_equal(list[0].what, WAIT_FOR_CLIENTS);
	assert_int_equal(list[0].pid, 12);
	assert_int_equal(list[1].what, WAIT_FOR_CHILD);
	assert_int_equal(list[1].pid, 10);
	assert_int_equal(list[1].count, 1);
	assert_int_equal(list[1].peer_pid, 11);
	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_CHILD, .tid = 0});
	take(&w, &(struct view){11, 10, 'S', LOOK_CALL_POLL, .tid = 0});
	take(&w, &(struct view){13, 10, 'S', LOOK_CALL_POLL, .tid = 0});
	end(&w, 9 * S, WAITS_INIT_TAKEN);
	assert_int_equal(waits_list(w, &list), 3);
	assert_int_equal(list[0].pid, 10);
	assert_int_equal(list[0].count, 2);
	assert_int_equal(list[0].peer_pid, 0);
	assert_int_equal(list[0].looks, 2);
	assert_int_equal(list[0].at_ns, 9 * S);
	assert_int_equal(list[1].pid, 11);
	assert_int_equal(list[1].looks, 1);
	waits_free(w);
}

/* What the last look found stays where a later one finds nothing. */
static void test_found_last(void **state)
{
	struct waits *w = NULL;

	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_SLEEP, .tid = 0});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	end(&w, 9 * S, WAITS_INIT_TAKEN);
	assert_int_equal(first(w)->at_ns, 5 * S);
	assert_int_equal(first(w)->looks, 1);
	assert_int_equal(waits_looks(w), 2);
	waits_free(w);
}

static void test_computes(void **state)
{
	struct waits *w = NULL;

	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_FUTEX, .cpu_ns = S});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	assert_int_equal(first(w)->what, WAIT_FOR_TIME);
	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_FUTEX, .cpu_ns = 2 * S});
	end(&w, 9 * S, WAITS_INIT_TAKEN);
	assert_int_equal(first(w)->what, WAIT_FOR_HANDLER);
	assert_int_equal(first(w)->time_ns, S);
	/* Another process with its pid has no time before. */
	waits_free(w);
}

static const struct {
	struct look_figures base, now;
	enum wait_for what;
	uint64_t count, time_ns;
} figures[] = {
	{{.throttled_ns = 5 * S}, {.throttled_ns = 9 * S}, WAIT_FOR_CPU, 0, 4 * S},
	{{.throttled_ns = 5 * S}, {.throttled_ns = 5 * S + S / 10}, WAIT_FOR_NOTHING, 0, 0},
	{{.forks_failed = 7}, {.forks_failed = 8}, WAIT_FOR_FORK, 1, 0},
	{{.memory_stalled_ns = 1}, {.memory_stalled_ns = S + 1}, WAIT_FOR_MEMORY, 0, S},
	{{}, {.io_stalled_ns = 2 * S}, WAIT_FOR_IO, 0, 2 * S},
	/* Its figures are of another cgroup by now. */
	{{.throttled_ns = 9 * S, .forks_failed = 7}, {}, WAIT_FOR_NOTHING, 0, 0},
};

static void test_figures(void **state)
{
	for (size_t i = 0; i < LEN(figures); i++) {
		struct waits *w = NULL;

		waits_end(&w, &(struct obs_looked){.figures = figures[i].base}, S, INIT,
			  WAITS_INIT_TAKEN);
		end_with(&w, 6 * S, figures[i].now);
		if (figures[i].what == WAIT_FOR_NOTHING) {
			assert_null(first(w));
		} else {
			assert_int_equal(first(w)->what, figures[i].what);
			assert_int_equal(first(w)->count, figures[i].count);
			assert_int_equal(first(w)->time_ns, figures[i].time_ns);
			assert_int_equal(first(w)->pid, 0);
		}
		waits_free(w);
	}
}

static void test_frozen(void **state)
{
	const struct wait *list;
	struct waits *w = NULL;

	take(&w, &(struct view){10, 1, 'D', LOOK_CALL_POLL, .tid = 0});
	waits_end(&w, &(struct obs_looked){.waits = true, .frozen = true}, 5 * S, INIT,
		  WAITS_INIT_TAKEN);
	assert_int_equal(waits_list(w, &list), 1);
	assert_int_equal(list->what, WAIT_FOR_THAW);
	assert_int_equal(list->pid, 0);
	waits_free(w);
}

/* A process in a cgroup of its own below the container's, as cgroup v2 and v1 hold it. */
static void test_frozen_below(void **state)
{
	static const struct {
		char state;
		const char *wchan;
	} held[] = {{'S', "do_freezer_trap"}, {'S', "get_signal"}, {'D', "__refrigerator"}};

	for (size_t i = 0; i < LEN(held); i++) {
		struct waits *w = NULL;

		take(&w, &(struct view){10, 1, 'S', LOOK_CALL_POLL, .tid = 0});
		take(&w,
		     &(struct view){11, 10, held[i].state, LOOK_CALL_POLL, .wchan = held[i].wchan});
		end(&w, 5 * S, WAITS_INIT_TAKEN);
		assert_int_equal(first(w)->what, WAIT_FOR_THAW);
		assert_int_equal(first(w)->pid, 11);
		waits_free(w);
	}
}

static void test_bounds(void **state)
{
	const struct wait *list;
	struct waits *w = NULL;

	for (uint32_t i = 0; i < 3 * LOOK_WAITS; i++)
		take(&w, &(struct view){10 + i, i ? 10 : 1, 'S',
					i == 40 ? LOOK_CALL_LOCK : LOOK_CALL_POLL, .tid = 0});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	assert_int_equal(waits_list(w, &list), WAITS_MAX);
	assert_int_equal(list[0].what, WAIT_FOR_LOCK);
	assert_int_equal(list[0].pid, 50);
	waits_free(w);
}

static void test_names_nothing(void **state)
{
	struct waits *w = NULL;
	bool more;

	/* A thread of a process that this look has not seen. */
	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_LOCK, .tid = 11});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	assert_null(first(w));
	assert_true(waits_looked(w, &more));
	waits_free(w);
	w = NULL;
	waits_end(&w, &(struct obs_looked){.failed = true, .more = true}, S, INIT,
		  WAITS_INIT_TAKEN);
	assert_false(waits_looked(w, &more));
	assert_true(more);
	assert_int_equal(waits_looks(w), 0);
	waits_free(w);
}

/* Brought in, it may stay as long as it likes. */
static void test_entered(void **state)
{
	const struct wait *list;
	struct waits *w = NULL;

	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_POLL, .tid = 0});
	take(&w, &(struct view){20, 5, 'S', LOOK_CALL_POLL, .clients = 1});
	take(&w, &(struct view){21, 20, 'S', LOOK_CALL_POLL, .tid = 0});
	take(&w, &(struct view){22, 20, 'S', LOOK_CALL_LOCK, .tid = 0});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	assert_int_equal(waits_list(w, &list), 2);
	assert_int_equal(list[0].pid, 22);
	assert_int_equal(list[1].pid, 10);
	waits_free(w);
}

/* It may be that they wait for clients. */
static void test_unread(void **state)
{
	struct waits *w = NULL;

	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_POLL, .clients = 1});
	end(&w, 5 * S, WAITS_INIT_TAKEN);
	take(&w, &(struct view){10, 1, 'S', LOOK_CALL_POLL, .tid = 0});
	waits_end(&w, &(struct obs_looked){.waits = true, .unread = true}, 9 * S, INIT,
		  WAITS_INIT_TAKEN);
	assert_int_equal(first(w)->what, WAIT_FOR_CLIENTS);
	assert_int_equal(first(w)->at_ns, 5 * S);
	waits_free(w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a stop is looked at by its grace period, or after 2, 5 and 9 seconds",
		      test_when),
		CLAIM("a process waits for what its state and its call say", test_kinds),
		CLAIM("what did not hear, or was killed, waits for no client, child or timer",
		      test_unheard),
		CLAIM("the thread that says most speaks for its process", test_threads),
		CLAIM("a process waits for its children that live; the only one is named",
		      test_children),
		CLAIM("what a look has found stays until another one finds something",
		      test_found_last),
		CLAIM("a handler that computes is known by its CPU time, too", test_computes),
		CLAIM("limits count since the first look, from a tenth of the time on",
		      test_figures),
		CLAIM("of a frozen container that is all to say", test_frozen),
		CLAIM("a process that is frozen by itself is, and does not sleep",
		      test_frozen_below),
		CLAIM("a list has its bound, and what says most is in it", test_bounds),
		CLAIM("what was not looked at is no finding", test_names_nothing),
		CLAIM("what was brought in waits for nothing that the stop could wait for",
		      test_entered),
		CLAIM("where connections were not read, a sleep does not replace them",
		      test_unread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
