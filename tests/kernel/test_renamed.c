// SPDX-License-Identifier: Apache-2.0
// A cgroup of a v1 hierarchy that is renamed is what its new name says, from then on. cgroup2
// allows no rename.
#include "lib/box/hier.h"
#include "lib/claim.h"
#include "lib/kernel/attach.h"
#include "lib/kernel/judge.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

#define NAME_A "00112233445566778899aabbccddeeff00112233445566778899aabbccddee0a"
#define NAME_B "00112233445566778899aabbccddeeff00112233445566778899aabbccddee0b"

static int setup(void **state)
{
	return attach_open(state, "renamed");
}

static struct fixture *need_v1(void **state)
{
	struct fixture *f = judge_need(state);

	if (f->tree.hier.unified) {
		fprintf(stderr, "skipped: cgroup2 allows no rename\n");
		skip();
	}
	return f;
}

static void replace_last(char path[HIER_PATH_MAX], const char *name)
{
	char *last = strrchr(path, '/') + 1;

	assert_true((size_t)(last - path) + strlen(name) < HIER_PATH_MAX);
	strcpy(last, name);
}

static void rename_box(struct box *box, const char *name)
{
	char former[HIER_PATH_MAX];

	strcpy(former, box->dir);
	replace_last(box->dir, name);
	replace_last(box->path, name);
	assert_int_equal(rename(former, box->dir), 0);
}

static const json_t *stop_at(struct fixture *f, const char *path)
{
	const struct tracer_want want = {.type = "stop", .cgroup = path};

	return tracer_await(f->tracer, &want);
}

static size_t count_at(struct fixture *f, const char *path)
{
	const struct tracer_want want = {.type = "stop", .cgroup = path};

	return tracer_count(f->tracer, &want);
}

static void end(struct fixture *f, struct box *box)
{
	struct proc_end ended;
	struct sent sent;

	judge_send(f, SEND_RUNTIME, box, SIGTERM, &sent);
	assert_int_equal(proc_wait(&box->proc, &ended), 0);
}

/* What runs in it was there before: signals to it were not recorded. */
static void it_becomes_a_container(void **state)
{
	struct fixture *f = need_v1(state);
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful"), .leaf = "waits"}, &box);
	rename_box(&box, NAME_A);
	end(f, &box);
	judge_match(stop_at(f, box.path),
		    "{'container':{'id':'" NAME_A "'},'outcome':'graceful','cause':'stop-signal',"
		    "'exit':{'code':0},'evidence':{'gaps':['attached-late']}}");
	assert_int_equal(box_remove(&box), 0);
	attach_end(f);
}

/* Nothing ran in it when it was renamed. */
static void an_empty_one_is_like_one_that_is_made(void **state)
{
	struct fixture *f = need_v1(state);
	struct box box, empty;
	struct proc_end ended;
	struct sent sent;
	struct proc init;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful"), .leaf = "waits"}, &box);
	empty = box;
	replace_last(empty.dir, "empty");
	replace_last(empty.path, "empty");
	assert_int_equal(hier_make(&f->tree.hier, empty.dir, false), 0);
	rename_box(&empty, NAME_B);
	assert_int_equal(box_exec(&f->tree, &empty, "workload", false, BOX_ARGV("graceful"), &init),
			 0);
	assert_int_equal(send_signal(&f->tree, SEND_RUNTIME, NULL, init.pid, SIGTERM, &sent), 0);
	assert_int_equal(proc_wait(&init, &ended), 0);
	judge_match(stop_at(f, empty.path),
		    "{'container':{'id':'" NAME_B "'},'outcome':'graceful','cause':'stop-signal',"
		    "'evidence':{'complete':true}}");
	proc_free(&init);
	assert_int_equal(cg_remove(empty.dir), 0);
	assert_int_equal(box_remove(&box), 0);
	attach_end(f);
}

/* A container no more: it is reported, and nothing of it later. */
static void it_is_a_container_no_more(void **state)
{
	struct fixture *f = need_v1(state);
	char former[HIER_PATH_MAX];
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	strcpy(former, box.path);
	rename_box(&box, "waits");
	judge_match(stop_at(f, former),
		    "{'outcome':'unknown','evidence':{'gaps':['exit-unseen']}}");
	end(f, &box);
	assert_int_equal(box_remove(&box), 0);
	assert_int_equal(count_at(f, former), 1);
	assert_int_equal(count_at(f, box.path), 0);
	attach_end(f);
}

/* Another container by its name: the former one's end is unseen, the new one's is seen. */
static void it_is_another_container(void **state)
{
	struct fixture *f = need_v1(state);
	char former[HIER_PATH_MAX];
	struct box box;

	attach_begin(f);
	judge_start(f, &(struct box_spec){.argv = BOX_ARGV("graceful")}, &box);
	strcpy(former, box.path);
	rename_box(&box, NAME_B);
	end(f, &box);
	judge_match(stop_at(f, former),
		    "{'outcome':'unknown','evidence':{'gaps':['exit-unseen']}}");
	judge_match(stop_at(f, box.path), "{'container':{'id':'" NAME_B "'},'outcome':'graceful',"
					  "'evidence':{'gaps':['attached-late']}}");
	assert_int_equal(count_at(f, former), 1);
	assert_int_equal(count_at(f, box.path), 1);
	assert_int_equal(box_remove(&box), 0);
	attach_end(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a cgroup that is renamed to a container's name is a container",
		      it_becomes_a_container),
		CLAIM("one that is empty then is like one that is made",
		      an_empty_one_is_like_one_that_is_made),
		CLAIM("one that is renamed away is none", it_is_a_container_no_more),
		CLAIM("one that gets another container's name is that", it_is_another_container),
	};

	return attach_run(tests, setup);
}
