// SPDX-License-Identifier: Apache-2.0
// Stops that are requested of a real containerd, and what is left when it hangs or dies in the
// middle.
#include "io/cgroup/fs.h"
#include "io/proc/clock.h"
#include "io/sources/cri/cri.h"
#include "lib/box/box.h"
#include "lib/claim.h"
#include "lib/patience.h"
#include "lib/runtime/pods.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define TICK_NS 10000000ull

static struct runtime_pods pods;

/* A client of its own, as the daemon has one. */
static struct {
	sd_event *event;
	struct fetch *fetch;
	struct source_cri *cri;
	unsigned int done;
	char error[160]; /* of the last one; "" */
	/* Counts of hooks. */
	unsigned int begun, ended, not_run;
	char text[160];	     /* of the last one that ended; "" */
	pid_t init;	     /* of its container */
	bool touched, lived; /* when it ended: what it should make was there, its container lived */
} client;

static int setup(void **state)
{
	return runtime_pods_open(&pods, "stop", NULL);
}

static int teardown(void **state)
{
	source_cri_free(client.cri);
	fetch_free(client.fetch);
	sd_event_unref(client.event);
	return runtime_pods_close(&pods);
}

static void on_pod(void *userdata, const struct meta_pod *pod)
{
}

static void on_container(void *userdata, const struct meta_container *container)
{
}

static void on_found(void *userdata, enum meta_source source, const char *key,
		     enum meta_result result)
{
}

static void on_stopped(void *userdata, uint64_t tag, const char *error)
{
	client.done++;
	snprintf(client.error, sizeof(client.error), "%s", error ? error : "");
	print_message("# stop %u ends: %s\n", (unsigned int)tag, error ? error : "well");
}

static bool is_gone(pid_t pid)
{
	return kill(pid, 0) < 0 && errno == ESRCH;
}

static bool has_touched(pid_t init)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%d/root/tmp/hook", init);
	return access(path, F_OK) == 0;
}

static void on_hook(void *userdata, uint64_t tag, enum source_cri_hook what, const char *name,
		    const char *text)
{
	client.begun += what == SOURCE_CRI_HOOK_BEGUN;
	client.ended += what == SOURCE_CRI_HOOK_ENDED;
	client.not_run += what == SOURCE_CRI_HOOK_NOT_RUN;
	print_message("# hook of %s: %d %s\n", name, (int)what, text ? text : "");
	if (what == SOURCE_CRI_HOOK_BEGUN)
		return;
	snprintf(client.text, sizeof(client.text), "%s", text ? text : "");
	client.touched = has_touched(client.init);
	client.lived = !is_gone(client.init);
}

static void turn(void)
{
	assert_true(sd_event_run(client.event, 20000) >= 0);
}

static void await_up(void)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;
	struct source_state state = {};

	while (state.status != SOURCE_UP) {
		assert_true(clock_boot_ns() < end_ns);
		turn();
		source_cri_get_state(client.cri, &state);
	}
}

static void open_client(void)
{
	const struct source_sink sink = {NULL, on_pod, on_container, on_found, NULL};
	const struct source_cri_options options = {.endpoint = CONTAINERD_SOCKET,
						   .retry_max_ns = 200000000};
	struct fetch_why why;

	runtime_pods_need(&pods);
	if (client.cri)
		return;
	assert_true(sd_event_new(&client.event) >= 0);
	assert_int_equal(fetch_new(client.event, &client.fetch, &why), 0);
	assert_int_equal(source_cri_new(client.event, client.fetch, &options, &sink, &client.cri),
			 0);
	await_up();
}

static void stop(const char *id, uint64_t timeout_s, uint64_t tag)
{
	const struct source_cri_stop wish = {
		.container_id = id, .timeout_s = timeout_s, .tag = tag, .done = on_stopped};

	assert_int_equal(source_cri_stop(client.cri, &wish), 0);
}

static void await_done(unsigned int n)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (client.done < n) {
		assert_true(clock_boot_ns() < end_ns);
		turn();
	}
	assert_int_equal(client.done, n);
}

static void await_gone(pid_t pid)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (!is_gone(pid)) {
		assert_true(clock_boot_ns() < end_ns);
		turn();
	}
}

/* A pod with a container of that behaviour: its init. */
static pid_t play(struct runtime_pod *pod, struct runtime_container *container,
		  const char *behaviour)
{
	static const char *const deaf[] = {"deaf", NULL}, *const graceful[] = {"graceful", NULL};
	bool handles = strcmp(behaviour, "graceful") == 0;

	container->name = "main";
	container->image = RUNTIME_IMAGE;
	container->args = handles ? graceful : deaf;
	pod->namespace_ = "shop";
	pod->handler = "runc";
	pod->grace_s = 2;
	runtime_pods_start(&pods, pod, container);
	client.begun = client.ended = client.not_run = client.done = 0;
	client.touched = client.lived = false;
	client.text[0] = 0;
	return client.init = runtime_stage_await(&pods.stage, container->id, handles);
}

static void a_stop_lasts_as_long_as_its_container_wants(void **state)
{
	struct runtime_pod polite = {.name = "polite"}, deaf = {.name = "deaf"};
	struct runtime_container politely = {}, deafly = {};
	pid_t pids[2];
	uint64_t began_ns;

	open_client();
	pids[0] = play(&polite, &politely, "graceful");
	pids[1] = play(&deaf, &deafly, "deaf");
	client.done = 0;
	began_ns = clock_boot_ns();
	stop(deafly.id, 3, 1);
	stop(politely.id, 3600, 2);
	await_done(1);
	assert_true(is_gone(pids[0]));
	assert_false(is_gone(pids[1]));
	assert_string_equal(client.error, "");
	await_done(2);
	assert_true(is_gone(pids[1]));
	assert_string_equal(client.error, "");
	assert_true(clock_boot_ns() - began_ns >= 3000000000ull);
	runtime_stage_stopped(&pods.stage, politely.id,
			      "{'outcome':'graceful','stop_signal':{'sender':{'kind':'runtime'}}}");
	runtime_stage_stopped(
		&pods.stage, deafly.id,
		"{'cause':'grace-expired','kill_signal':{'sender':{'kind':'runtime'}}}");
	runtime_pods_end(&pods, &polite, &politely, 0);
	runtime_pods_end(&pods, &deaf, &deafly, 0);
}

/* When a process started, and its cgroup, as the engine would know them. */
static void look_at(const char *id, pid_t pid, struct cgfs_process *ret, char *path, size_t size)
{
	char file[64], text[1024], *at;
	unsigned long long ticks;
	FILE *f;

	snprintf(file, sizeof(file), "/proc/%d/stat", pid);
	f = fopen(file, "re");
	assert_non_null(f);
	assert_non_null(fgets(text, sizeof(text), f));
	fclose(f);
	at = strrchr(text, ')');
	assert_non_null(at);
	assert_int_equal(sscanf(at + 1,
				" %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d "
				"%*d %*d %*d %*d %*d %llu",
				&ticks),
			 1);
	*ret = (struct cgfs_process){pid, ticks * TICK_NS};
	assert_int_equal(hier_path_of(&pods.stage.host->hier, pid, path, size), 0);
	assert_non_null(strstr(path, id));
}

static void a_runtime_that_hangs_is_overtaken(void **state)
{
	const struct hier *hier = &pods.stage.host->hier;
	struct runtime_pod pod = {.name = "hung"};
	struct runtime_container container = {};
	struct cgfs_process init;
	struct cgfs *cgfs;
	char path[HIER_PATH_MAX];
	uint64_t id;
	pid_t pid;

	open_client();
	pid = play(&pod, &container, "graceful");
	look_at(container.id, pid, &init, path, sizeof(path));
	assert_int_equal(cgfs_open(hier->mount, hier->unified, &cgfs), 0);
	assert_int_equal(cgfs_id_of(cgfs, path, &id), 0);
	client.done = 0;
	runtime_containerd_hold(&pods.containerd);
	stop(container.id, 3600, 3);
	for (int i = 0; i < 50; i++)
		turn();
	assert_int_equal(client.done, 0);
	assert_false(is_gone(pid));
	assert_int_equal(cgfs_signal(cgfs, hier->unified ? NULL : hier->name, id, &init, SIGTERM),
			 0);
	/* Its parent, the shim, reaps it. */
	await_gone(pid);
	assert_int_equal(client.done, 0);
	assert_int_equal(kill(pods.containerd.pid, SIGCONT), 0);
	await_done(1);
	cgfs_free(cgfs);
	await_up();
	runtime_stage_stopped(&pods.stage, container.id, "{'outcome':'graceful'}");
	runtime_pods_end(&pods, &pod, &container, 0);
}

static void a_runtime_that_dies_fails_the_stop_at_once(void **state)
{
	struct runtime_pod pod = {.name = "orphan"};
	struct runtime_container container = {};
	pid_t pid;

	open_client();
	pid = play(&pod, &container, "deaf");
	client.done = 0;
	stop(container.id, 3600, 4);
	for (int i = 0; i < 50; i++)
		turn();
	assert_int_equal(client.done, 0);
	runtime_containerd_kill(&pods.containerd);
	await_done(1);
	assert_string_not_equal(client.error, "");
	assert_false(is_gone(pid));
	assert_int_equal(runtime_containerd_start(pods.stage.host, &pods.containerd), 0);
	assert_int_equal(runtime_cri_await(pods.cri), 0);
	await_up();
	stop(container.id, 1, 5);
	await_done(2);
	assert_string_equal(client.error, "");
	await_gone(pid);
	runtime_pods_end(&pods, &pod, &container, 0);
}

/* --- hooks -------------------------------------------------------------------------------------- */

static void stop_hooked(const char *id, uint64_t timeout_s, uint64_t hook_s)
{
	const struct source_cri_stop wish = {.container_id = id,
					     .timeout_s = timeout_s,
					     .hook_s = hook_s,
					     .done = on_stopped,
					     .hook = on_hook};

	assert_int_equal(source_cri_stop(client.cri, &wish), 0);
}

static void await(const unsigned int *what, unsigned int n)
{
	uint64_t end_ns = clock_boot_ns() + PATIENCE_NS;

	while (*what < n) {
		assert_true(clock_boot_ns() < end_ns);
		turn();
	}
}

static void a_hook_ends_before_the_stop_signal(void **state)
{
	static const struct {
		const char *name, *hook, *text;
	} rows[] = {
		{"drains", "{\"exec\":{\"command\":[\"/workload\",\"touch\",\"/tmp/hook\"]}}", ""},
		{"fails", "{\"exec\":{\"command\":[\"/workload\",\"touch\",\"/tmp/hook\",\"3\"]}}",
		 "exit code 3"},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		struct runtime_pod pod = {.name = rows[i].name};
		struct runtime_container container = {.hook = rows[i].hook};

		open_client();
		play(&pod, &container, "graceful");
		stop_hooked(container.id, 3600, 3600);
		await_done(1);
		assert_int_equal(client.begun, 1);
		assert_int_equal(client.ended, 1);
		assert_true(client.touched);
		assert_true(client.lived);
		assert_string_equal(client.text, rows[i].text);
		assert_string_equal(client.error, "");
		assert_true(is_gone(client.init));
		runtime_stage_stopped(
			&pods.stage, container.id,
			"{'outcome':'graceful','stop_signal':{'sender':{'kind':'runtime'}}}");
		runtime_pods_end(&pods, &pod, &container, 0);
	}
}

static void a_hook_without_a_program_keeps_no_container(void **state)
{
	struct runtime_pod pod = {.name = "broken"};
	struct runtime_container container = {
		.hook = "{\"exec\":{\"command\":[\"/no/such/program\"]}}"};

	open_client();
	play(&pod, &container, "graceful");
	stop_hooked(container.id, 3600, 3600);
	await_done(1);
	assert_int_equal(client.ended, 1);
	assert_string_not_equal(client.text, "");
	assert_string_equal(client.error, "");
	assert_true(is_gone(client.init));
	runtime_pods_end(&pods, &pod, &container, 0);
}

/* How many processes are in the container of that init. */
static unsigned int count(const char *path)
{
	const struct hier *hier = &pods.stage.host->hier;
	char file[2 * HIER_PATH_MAX], line[32];
	unsigned int n = 0;
	FILE *f;

	snprintf(file, sizeof(file), "%s%s/cgroup.procs", hier->mount, path);
	f = fopen(file, "re");
	while (f && fgets(line, sizeof(line), f))
		n++;
	if (f)
		fclose(f);
	return n;
}

static void a_hook_that_takes_longer_ends_with_its_container(void **state)
{
	struct runtime_pod pod = {.name = "slow"};
	struct runtime_container container = {
		.hook = "{\"exec\":{\"command\":[\"/workload\",\"deaf\"]}}"};
	struct cgfs_process init;
	char path[HIER_PATH_MAX];

	open_client();
	play(&pod, &container, "deaf");
	look_at(container.id, client.init, &init, path, sizeof(path));
	stop_hooked(container.id, 2, 1);
	await(&client.ended, 1);
	assert_non_null(strstr(client.text, "still runs"));
	assert_true(client.lived);
	assert_int_equal(count(path), 2);
	await_done(1);
	assert_string_equal(client.error, "");
	assert_true(is_gone(client.init));
	assert_int_equal(count(path), 0);
	runtime_stage_stopped(
		&pods.stage, container.id,
		"{'cause':'grace-expired','kill_signal':{'sender':{'kind':'runtime'}}}");
	runtime_pods_end(&pods, &pod, &container, 0);
}

static void signal_init(const struct cgfs_process *init, const char *path)
{
	const struct hier *hier = &pods.stage.host->hier;
	struct cgfs *cgfs;
	uint64_t id;

	assert_int_equal(cgfs_open(hier->mount, hier->unified, &cgfs), 0);
	assert_int_equal(cgfs_id_of(cgfs, path, &id), 0);
	assert_int_equal(cgfs_signal(cgfs, hier->unified ? NULL : hier->name, id, init, SIGTERM),
			 0);
	cgfs_free(cgfs);
}

static void a_runtime_that_hangs_in_a_hook_is_overtaken(void **state)
{
	struct runtime_pod pod = {.name = "frozen"};
	struct runtime_container container = {
		.hook = "{\"exec\":{\"command\":[\"/workload\",\"deaf\"]}}"};
	struct cgfs_process init;
	char path[HIER_PATH_MAX];

	open_client();
	play(&pod, &container, "graceful");
	look_at(container.id, client.init, &init, path, sizeof(path));
	stop_hooked(container.id, 3, 3);
	for (uint64_t end_ns = clock_boot_ns() + PATIENCE_NS; count(path) < 2; turn())
		assert_true(clock_boot_ns() < end_ns);
	runtime_containerd_hold(&pods.containerd);
	await(&client.ended, 1);
	for (int i = 0; i < 20; i++)
		turn();
	assert_int_equal(client.done, 0);
	assert_false(is_gone(client.init));
	/* Its hook dies with PID 1 of the container. */
	signal_init(&init, path);
	await_gone(client.init);
	for (uint64_t end_ns = clock_boot_ns() + PATIENCE_NS; count(path) > 0; turn())
		assert_true(clock_boot_ns() < end_ns);
	assert_int_equal(kill(pods.containerd.pid, SIGCONT), 0);
	await_done(1);
	await_up();
	assert_int_equal(client.begun, 1);
	runtime_stage_stopped(&pods.stage, container.id, "{'outcome':'graceful'}");
	runtime_pods_end(&pods, &pod, &container, 0);
}

static void a_runtime_that_hangs_before_a_hook_runs_none(void **state)
{
	struct runtime_pod pod = {.name = "late"};
	struct runtime_container container = {
		.hook = "{\"exec\":{\"command\":[\"/workload\",\"touch\",\"/tmp/hook\"]}}"};
	int root;
	char path[64];

	open_client();
	play(&pod, &container, "graceful");
	snprintf(path, sizeof(path), "/proc/%d/root", client.init);
	root = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	assert_true(root >= 0);
	runtime_containerd_hold(&pods.containerd);
	stop_hooked(container.id, 3600, 3600);
	await(&client.not_run, 1);
	assert_false(is_gone(client.init));
	assert_int_equal(kill(pods.containerd.pid, SIGCONT), 0);
	await_done(1);
	await_gone(client.init);
	await_up();
	assert_int_equal(client.begun, 0);
	assert_int_equal(faccessat(root, "tmp/hook", F_OK, 0), -1);
	close(root);
	runtime_pods_end(&pods, &pod, &container, 0);
}

static void a_sandbox_is_stopped_and_listed_as_not_ready(void **state)
{
	struct runtime_pod pod = {.name = "boxed"};
	struct runtime_container container = {};
	struct source_cri_stop wish = {.sandbox = true, .done = on_stopped};

	open_client();
	play(&pod, &container, "graceful");
	wish.container_id = pod.id;
	stop(container.id, 3600, 9);
	await_done(1);
	assert_int_equal(runtime_cri_pod_is_ready(pods.cri, pod.id), 1);
	assert_int_equal(source_cri_stop(client.cri, &wish), 0);
	await_done(2);
	assert_string_equal(client.error, "");
	assert_int_equal(runtime_cri_pod_is_ready(pods.cri, pod.id), 0);
	runtime_pods_end(&pods, &pod, &container, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("a stop lasts as long as its container wants, to the timeout",
		      a_stop_lasts_as_long_as_its_container_wants),
		CLAIM("a containerd that hangs is overtaken by the signal to the init",
		      a_runtime_that_hangs_is_overtaken),
		CLAIM("a containerd that dies fails the stop at once, and takes it when it is back",
		      a_runtime_that_dies_fails_the_stop_at_once),
		CLAIM("a preStop hook ends before the stop signal, also one that fails",
		      a_hook_ends_before_the_stop_signal),
		CLAIM("a hook whose program is missing does not keep its container",
		      a_hook_without_a_program_keeps_no_container),
		CLAIM("a hook that takes longer than its time is left, and ends with its container",
		      a_hook_that_takes_longer_ends_with_its_container),
		CLAIM("a containerd that hangs in a hook is overtaken, and runs no second one",
		      a_runtime_that_hangs_in_a_hook_is_overtaken),
		CLAIM("a containerd that hangs before a hook runs none when it goes on",
		      a_runtime_that_hangs_before_a_hook_runs_none),
		CLAIM("a sandbox is stopped, and listed as not ready",
		      a_sandbox_is_stopped_and_listed_as_not_ready),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
