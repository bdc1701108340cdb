// SPDX-License-Identifier: Apache-2.0
// Pods as the kubelet has containerd make and end them, with runc and with crun.
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/kernel/judge.h"
#include "lib/runtime/pods.h"

#include <stdio.h>
#include <string.h>

#include "base/time.h"

#define GRACE_S 2

static struct runtime_pods pods;

static int setup(void **state)
{
	return runtime_pods_open(&pods, "cri", NULL);
}

static int teardown(void **state)
{
	return runtime_pods_close(&pods);
}

/* What each claim is shown with: a pod of one container, which is ended as the kubelet ends it. */
struct scene {
	const char *pod, *handler, *image, *behaviour;
	const char *expected; /* of the container's record, beside its names */
};

/*
 * A busy machine gets the SIGKILL done some time after the period. Where no source provides
 * deletions, a stop that outlives its pod's period by more than a tenth may have been given a
 * longer one by its deletion: the period is unknown.
 */
static void judge_period(const json_t *rec)
{
	int64_t after = jrec_int(rec, "kill_signal.at_boot_ns", 0) -
			jrec_int(rec, "stop_signal.at_boot_ns", 0);

	judge_match(rec, after > GRACE_S * NS_PER_S * 11 / 10 ? "{'grace':null}"
							      : "{'grace':{'seconds':2}}");
}

static void play(void **state)
{
	const struct scene *scene = *state;
	struct runtime_pod pod = {.namespace_ = "shop",
				  .name = scene->pod,
				  .handler = scene->handler,
				  .grace_s = GRACE_S};
	struct runtime_container container = {
		.name = "main", .image = scene->image, .args = BOX_ARGV(scene->behaviour)};
	const json_t *rec;
	char names[1024];

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &container);
	runtime_stage_await(&pods.stage, container.id, !strcmp(scene->behaviour, "graceful"));
	runtime_pods_end(&pods, &pod, &container, GRACE_S);

	snprintf(names, sizeof(names),
		 "{'pod':{'namespace':'shop','name':'%s','uid':'%s','qos':'burstable'},"
		 "'container':{'id':'%s','name':'main','runtime':'containerd','kind':'container'},"
		 "'stop_signal':{'sender':{'kind':'runtime','comm':'%s'}}}",
		 pod.name, pod.uid, container.id, pod.handler);
	rec = runtime_stage_stopped(&pods.stage, container.id, names);
	judge_match(rec, scene->expected);
	snprintf(names, sizeof(names),
		 "{'pod':{'namespace':'shop','name':'%s','uid':'%s'},"
		 "'container':{'id':'%s','runtime':'containerd','kind':'sandbox'},"
		 "'outcome':'killed','cause':'no-grace',"
		 "'kill_signal':{'sender':{'kind':'runtime','comm':'%s'}}}",
		 pod.name, pod.uid, pod.id, pod.handler);
	runtime_stage_stopped(&pods.stage, pod.id, names);
	if (!strcmp(scene->behaviour, "deaf"))
		judge_period(rec);
}

#define GOOD                                                                          \
	"{'outcome':'graceful','cause':'stop-signal','exit':{'code':0},'deaf':false," \
	"'grace':{'seconds':2},'evidence':{'complete':true},"                         \
	"'stop_signal':{'number':15,'result':'delivered'},'kill_signal':null}"
#define DEAF(handler)                                                                  \
	"{'outcome':'killed','cause':'grace-expired','deaf':true,'exit':{'signal':9}," \
	"'stop_signal':{'number':15,'result':'ignored'},"                              \
	"'kill_signal':{'number':9,'sender':{'kind':'runtime','comm':'" handler "'}}}"
#define BY(signal)                                                       \
	"{'outcome':'graceful','cause':'stop-signal','exit':{'code':0}," \
	"'stop_signal':{" signal ",'result':'delivered'}}"

/* SIGHUP is a stop signal only where a source says so. */
static struct scene scenes[] = {
	{"good", "runc", RUNTIME_IMAGE, "graceful", GOOD},
	{"deaf", "runc", RUNTIME_IMAGE, "deaf", DEAF("runc")},
	{"good-crun", "crun", RUNTIME_IMAGE, "graceful", GOOD},
	{"deaf-crun", "crun", RUNTIME_IMAGE, "deaf", DEAF("crun")},
	{"quits", "runc", RUNTIME_IMAGE_QUIT, "graceful", BY("'number':3,'name':'SIGQUIT'")},
	{"hangs-up", "crun", RUNTIME_IMAGE_HUP, "graceful", BY("'number':1,'name':'SIGHUP'")},
};

static void audited(void **state)
{
	struct runtime_pod pod = {
		.namespace_ = "shop", .name = "asked", .handler = "runc", .grace_s = GRACE_S};
	struct runtime_container container = {
		.name = "main", .image = RUNTIME_IMAGE_QUIT, .args = BOX_ARGV("deaf")};

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &container);
	runtime_stage_await(&pods.stage, container.id, false);
	runtime_stage_audited(
		container.id,
		"{'pod':{'namespace':'shop','name':'asked'},"
		"'container':{'name':'main','kind':'container'},"
		"'signal':{'name':'SIGQUIT'},'verdict':'deaf','reason':'no-handler'}");
	runtime_pods_end(&pods, &pod, &container, 0);
	/* Without any time to stop it is not asked to. */
	runtime_stage_stopped(&pods.stage, container.id,
			      "{'outcome':'killed','cause':'no-grace','stop_signal':null}");
}

/* crictl(1) is not in every release: in its place stands what has containerd do the same. */
static void tried(void **state)
{
	struct runtime_pod pod = {
		.namespace_ = "shop", .name = "tried", .handler = "runc", .grace_s = GRACE_S};
	struct runtime_container container = {.name = "main", .image = RUNTIME_IMAGE};
	char text[512];

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &container);
	runtime_stage_await(&pods.stage, container.id, true);
	snprintf(text, sizeof(text),
		 "#!/bin/sh\nsignal=KILL; [ \"$*\" = 'stop -t 7 %s' ] && signal=TERM\n"
		 "exec ctr -n k8s.io task kill -s SIG$signal %s\n",
		 container.id, container.id);
	assert_int_equal(runtime_host_write(pods.stage.host, "bin/crictl", 0755, text), 0);
	free(runtime_stage_run(BOX_ARGV(
		"sh", "-c",
		"\"$GRACED\" try tried; [ $? = 3 ] && exec \"$GRACED\" try --grace 7s tried")));
	runtime_stage_stopped(&pods.stage, container.id,
			      "{'outcome':'graceful','pod':{'name':'tried'}}");
	runtime_pods_end(&pods, &pod, &container, GRACE_S);
}

static void expect_exit(const char *id, const char *expected)
{
	const json_t *rec = tracer_await(pods.stage.tracer,
					 &(struct tracer_want){.type = "runtime_exit", .id = id});

	assert_non_null(rec);
	judge_match(rec, "{'agrees':true,'pod':{'namespace':'shop','name':'ended'},"
			 "'container':{'kind':'container'}}");
	judge_match(rec, expected);
	/* The runtime looks at the clock when it learns of it, which takes it some milliseconds. */
	assert_true(jrec_int(rec, "behind_ns", -1) >= 0);
}

/* Containers that ended are kept until the runtime was asked how. */
static void exit_agrees(void **state)
{
	struct runtime_pod pod = {
		.namespace_ = "shop", .name = "ended", .handler = "runc", .grace_s = GRACE_S};
	struct runtime_container fails = {
		.name = "fails", .image = RUNTIME_IMAGE, .args = BOX_ARGV("exit", "77")};
	struct runtime_container killed = {
		.pod = &pod, .name = "killed", .image = RUNTIME_IMAGE, .args = BOX_ARGV("deaf")};

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &fails);
	assert_int_equal(runtime_cri_create(pods.cri, &killed), 0);
	assert_int_equal(runtime_cri_start(pods.cri, killed.id), 0);
	runtime_stage_await(&pods.stage, killed.id, false);
	assert_int_equal(runtime_cri_stop(pods.cri, killed.id, 0), 0);
	expect_exit(fails.id, "{'runtime':{'code':77,'reason':'Error'},"
			      "'exit':{'code':77,'signal':0},'container':{'name':'fails'}}");
	expect_exit(killed.id, "{'runtime':{'code':137},'exit':{'code':null,'signal':9},"
			       "'container':{'name':'killed'}}");
	runtime_pods_end(&pods, &pod, &fails, 0);
}

static void exec_is_no_stop(void **state)
{
	struct runtime_pod pod = {
		.namespace_ = "shop", .name = "probed", .handler = "runc", .grace_s = GRACE_S};
	struct runtime_container container = {.name = "main", .image = RUNTIME_IMAGE};

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &container);
	runtime_stage_await(&pods.stage, container.id, true);
	for (int i = 0; i < 3; i++)
		assert_int_equal(runtime_cri_exec(pods.cri, container.id,
						  BOX_ARGV("/workload", "exit", "1")),
				 0);
	runtime_pods_end(&pods, &pod, &container, GRACE_S);
	runtime_stage_stopped(&pods.stage, container.id, "{'outcome':'graceful'}");
	assert_int_equal(tracer_count(pods.stage.tracer,
				      &(struct tracer_want){.type = "stop", .id = container.id}),
			 1);
}

static void restart(void **state)
{
	struct runtime_pod pod = {
		.namespace_ = "shop", .name = "restarted", .handler = "runc", .grace_s = GRACE_S};
	struct runtime_container first = {
		.name = "main", .image = RUNTIME_IMAGE, .args = BOX_ARGV("exit", "3")};
	struct runtime_container second = {
		.pod = &pod, .name = "main", .image = RUNTIME_IMAGE, .attempt = 1};

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &first);
	runtime_stage_stopped(&pods.stage, first.id,
			      "{'outcome':'failed','cause':'self','exit':{'code':3},"
			      "'pod':{'name':'restarted'},'container':{'name':'main'},"
			      "'stop_signal':null,'kill_signal':null}");
	assert_int_equal(runtime_cri_create(pods.cri, &second), 0);
	assert_int_equal(runtime_cri_start(pods.cri, second.id), 0);
	runtime_stage_await(&pods.stage, second.id, true);
	runtime_pods_end(&pods, &pod, &second, GRACE_S);
	runtime_stage_stopped(&pods.stage, second.id,
			      "{'outcome':'graceful','container':{'name':'main'}}");
	assert_int_equal(tracer_count(pods.stage.tracer,
				      &(struct tracer_want){.type = "restart", .id = first.id}),
			 0);
}

/* As the kubelet does when a liveness probe fails. */
static void made_again(void **state)
{
	struct runtime_pod pod = {
		.namespace_ = "shop", .name = "unlively", .handler = "runc", .grace_s = GRACE_S};
	struct runtime_container first = {.name = "main", .image = RUNTIME_IMAGE};
	struct runtime_container second = {
		.pod = &pod, .name = "main", .image = RUNTIME_IMAGE, .attempt = 1};
	const json_t *rec;
	char next[256];

	runtime_pods_need(&pods);
	runtime_pods_start(&pods, &pod, &first);
	runtime_stage_await(&pods.stage, first.id, true);
	assert_int_equal(runtime_cri_stop(pods.cri, first.id, GRACE_S), 0);
	assert_int_equal(runtime_cri_create(pods.cri, &second), 0);
	assert_int_equal(runtime_cri_start(pods.cri, second.id), 0);
	rec = tracer_await(pods.stage.tracer,
			   &(struct tracer_want){.type = "restart", .id = first.id});
	assert_non_null(rec);
	snprintf(next, sizeof(next), "{'next':{'id':'%s','attempt':1}}", second.id);
	judge_match(rec, next);
	/* containerd knows no probes. */
	judge_match(rec, "{'pod':{'name':'unlively'},'container':{'name':'main','attempt':0},"
			 "'probe':null,'exit':{'code':0,'signal':0}}");
	runtime_pods_end(&pods, &pod, &second, GRACE_S);
	assert_int_equal(tracer_count(pods.stage.tracer,
				      &(struct tracer_want){.type = "restart", .id = second.id}),
			 0);
}

#define SCENE(sentence, i)                                                       \
	{                                                                        \
		.name = sentence, .test_func = play, .initial_state = &scenes[i] \
	}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SCENE("a pod's container that stops when asked is graceful, with its pod's names, "
		      "and its sandbox is one",
		      0),
		SCENE("one that does not hear is deaf, and killed when its grace is over", 1),
		SCENE("with crun, one that stops when asked is graceful", 2),
		SCENE("with crun, one that does not hear is deaf, and killed", 3),
		SCENE("the stop signal is the image's", 4),
		SCENE("even where it is one that stops nobody else", 5),
		CLAIM("the audit asks for the image's stop signal, by the pod's names; and one "
		      "that is stopped with no grace at all is killed at once",
		      audited),
		CLAIM("graced try has crictl stop one, which kills at once where it is given no "
		      "time: then it is not tried",
		      tried),
		CLAIM("the runtime's word of the exit agrees with the kernel's", exit_agrees),
		CLAIM("what is executed in a container is no stop of it", exec_is_no_stop),
		CLAIM("a container that ends by itself and its successor are distinguished",
		      restart),
		CLAIM("one that the runtime was asked to stop and that is made again is a restart",
		      made_again),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
