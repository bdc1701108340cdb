// SPDX-License-Identifier: Apache-2.0
/*
 * Containers whose keeper, a shim or the like, is lost, and that the runtime ends after that. Real
 * processes, and what the records say of them.
 */
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/judge.h"
#include "lib/patience.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>

struct kept {
	void **state;
	struct fixture *f;
	struct box box; /* of a container that has ended: its cgroup has another init now */
	struct proc keeper;
	pid_t init;
};

static int setup(void **state)
{
	return fixture_open(state, "keepers", BOX_ARGV("--signals"));
}

/* The keeper is a process of that kind; adopts: it does what its children leave behind. */
static void begin(void **state, enum send_from kind, const char *adopts, struct kept *k)
{
	const struct note *note = NULL;
	struct sent sent;

	k->f = judge_need(state);
	judge_start(k->f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &k->box);
	judge_send(k->f, SEND_RUNTIME, &k->box, SIGTERM, &sent);
	assert_int_equal(proc_wait(&k->box.proc, &(struct proc_end){}), 0);
	assert_non_null(tracer_await_stop(k->f->tracer, &k->box));
	assert_int_equal(send_start(&k->f->tree, kind, NULL, BOX_ARGV("keep", k->box.dir, adopts),
				    &k->keeper),
			 0);
	for (int i = 0; i < PATIENCE_MS && !note; i++, usleep(1000))
		note = page_find(k->keeper.page, NOTE_CHILD, 0);
	assert_non_null(note);
	k->init = note->pid;
}

static pid_t send(struct kept *k, enum send_from by, pid_t target, int sig)
{
	struct sent sent;

	assert_int_equal(send_signal(&k->f->tree, by, NULL, target, sig, &sent), 0);
	return sent.sender;
}

/* The second life's record. */
static const json_t *end(struct kept *k)
{
	struct tracer_want want = {.type = "stop", .id = k->box.id, .nth = 1};
	const json_t *rec = tracer_await(k->f->tracer, &want);

	assert_non_null(rec);
	proc_free(&k->keeper);
	assert_int_equal(box_remove(&k->box), 0);
	return rec;
}

/* It leaves by itself. */
static void leave(struct kept *k)
{
	page_go(k->keeper.page, 1);
	assert_int_equal(proc_wait(&k->keeper, &(struct proc_end){}), 0);
}

static void killed_keeper(void **state)
{
	const json_t *rec;
	struct kept k;
	pid_t killer;

	begin(state, SEND_HOST, "1", &k);
	killer = send(&k, SEND_HOST, k.keeper.pid, SIGKILL);
	assert_int_equal(proc_wait(&k.keeper, &(struct proc_end){}), 0);
	send(&k, SEND_RUNTIME, k.init, SIGKILL);
	rec = end(&k);
	judge_match(rec,
		    "{'outcome':'killed','cause':'runtime-lost','stop_signal':null,"
		    "'kill_signal':{'sender':{'kind':'runtime'}},"
		    "'keeper_signal':{'name':'SIGKILL','sender':{'kind':'host','comm':'sender'}},"
		    "'evidence':{'complete':true}}");
	assert_int_equal(jrec_int(rec, "keeper_signal.sender.pid", 0), killer);
	assert_true(jrec_int(rec, "keeper_signal.at_boot_ns", INT64_MAX) <
		    jrec_int(rec, "kill_signal.at_boot_ns", 0));
}

static void *begin_and_end(void *userdata)
{
	struct kept *k = userdata;

	begin(k->state, SEND_HOST, "9", k);
	return NULL;
}

/* The thread that started it was its parent. */
static void bereaved_keeper(void **state)
{
	struct kept k = {.state = state};
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, begin_and_end, &k), 0);
	pthread_join(thread, NULL);
	assert_int_equal(proc_wait(&k.keeper, &(struct proc_end){}), 0);
	send(&k, SEND_RUNTIME, k.init, SIGKILL);
	judge_match(end(&k), "{'outcome':'killed','cause':'runtime-lost',"
			     "'keeper_signal':{'name':'SIGKILL','sender':{'kind':'kernel'}}}");
}

static void left_keeper(void **state)
{
	struct kept k;

	begin(state, SEND_HOST, "1", &k);
	leave(&k);
	send(&k, SEND_RUNTIME, k.init, SIGKILL);
	judge_match(end(&k), "{'outcome':'killed','cause':'runtime-lost','keeper_signal':null,"
			     "'evidence':{'complete':true}}");
}

static void living_keeper(void **state)
{
	struct kept k;

	begin(state, SEND_HOST, "1", &k);
	send(&k, SEND_RUNTIME, k.init, SIGKILL);
	judge_match(end(&k),
		    "{'outcome':'killed','cause':'no-grace','evidence':{'complete':true}}");
}

/* A launcher that does not adopt, and a runtime that does: runc run --detach. */
static void no_keeper(void **state)
{
	static const struct {
		enum send_from kind;
		const char *adopts;
	} parents[] = {{SEND_HOST, "0"}, {SEND_RUNTIME, "1"}};
	struct kept k;

	for (size_t i = 0; i < sizeof(parents) / sizeof(parents[0]); i++) {
		begin(state, parents[i].kind, parents[i].adopts, &k);
		leave(&k);
		send(&k, SEND_RUNTIME, k.init, SIGKILL);
		judge_match(end(&k), "{'outcome':'killed','cause':'no-grace'}");
	}
}

static void killed_by_another(void **state)
{
	struct kept k;

	begin(state, SEND_HOST, "1", &k);
	leave(&k);
	send(&k, SEND_HOST, k.init, SIGKILL);
	judge_match(end(&k), "{'outcome':'killed','cause':'host','evidence':{'complete':true}}");
}

/* Another tracer comes when the container is no longer young. */
static void found_keeper(void **state)
{
	struct tracer_want want = {.type = "stop"};
	struct tracer *late = NULL;
	struct kept k;

	begin(state, SEND_HOST, "1", &k);
	sleep(4);
	assert_int_equal(tracer_start(&(struct tracer_spec){.tree = &k.f->tree}, &late), 0);
	send(&k, SEND_HOST, k.keeper.pid, SIGKILL);
	assert_int_equal(proc_wait(&k.keeper, &(struct proc_end){}), 0);
	send(&k, SEND_RUNTIME, k.init, SIGKILL);
	want.id = k.box.id;
	judge_match(tracer_await(late, &want),
		    "{'cause':'runtime-lost','keeper_signal':{'sender':{'comm':'sender'}},"
		    "'evidence':{'gaps':['attached-late','init-guessed']}}");
	assert_int_equal(tracer_stop(late), 0);
	tracer_free(late);
	end(&k);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a runtime that ends a container after its shim was killed lost it, by whom is "
		      "known",
		      killed_keeper),
		CLAIM("... which is no process if its parent's death did that", bereaved_keeper),
		CLAIM("by whom is not known if the shim left by itself", left_keeper),
		CLAIM("a runtime that kills while the shim lives lost nothing", living_keeper),
		CLAIM("a launcher or a runtime that leaves once the container runs is no loss",
		      no_keeper),
		CLAIM("what another process kills after that is its own kill", killed_by_another),
		CLAIM("the shim of a container that ran before is found", found_keeper),
	};

	return cmocka_run_group_tests_name("keepers", tests, setup, fixture_close);
}
