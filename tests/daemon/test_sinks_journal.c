// SPDX-License-Identifier: Apache-2.0
// Claims about records in systemd's journal, with the real journald, running and stopped.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/box/box.h"
#include "lib/box/many.h"
#include "lib/claim.h"
#include "lib/daemon/journald.h"
#include "lib/daemon/service.h"
#include "lib/jrec.h"
#include "lib/kernel/tracer.h"
#include "lib/run.h"

/* graced-records(5) */
#define STOPS "MESSAGE_ID=627e28794e944e4bbce2264a6a87d251"
#define OURS  "SYSLOG_IDENTIFIER=graced"

/* More than wait in a socket (net.unix.max_dgram_qlen, 512 where systemd has been). */
#define FLOOD 800

struct stage {
	struct box_tree tree;
	struct service *service;
	pid_t journald;
	uint32_t lives;
};

static int setup(void **state)
{
	static struct stage stage;
	const char *why = tracer_unavailable();

	*state = NULL;
	if (!why)
		why = journald_unavailable();
	if (why) {
		fprintf(stderr, "skipped: %s\n", why);
		return 0;
	}
	if (box_tree_open(&stage.tree, "journal") < 0)
		return -1;
	stage.journald = journald_start();
	*state = &stage;
	return stage.journald < 0 || service_start(
					     &(struct service_spec){
						     .args = BOX_ARGV("--sinks.journal=true",
								      "--names.enabled=false"),
						     .tree = &stage.tree,
					     },
					     &stage.service) < 0
		       ? -1
		       : 0;
}

static int teardown(void **state)
{
	struct stage *stage = *state;

	if (!stage)
		return 0;
	service_free(stage->service);
	journald_stop(stage->journald);
	return box_tree_close(&stage->tree);
}

static json_t *await_entries(const char *match, size_t least)
{
	json_t *entries = journald_entries(match);

	for (int i = 0; i < 100 && json_array_size(entries) < least; i++) {
		json_decref(entries);
		usleep(100000);
		entries = journald_entries(match);
	}
	assert_true(json_array_size(entries) >= least);
	return entries;
}

static void live(struct stage *stage, uint32_t n)
{
	assert_int_equal(many_containers(&stage->tree, stage->lives, n), 0);
	stage->lives += n;
}

static double journal_of(const char *page, const char *metric)
{
	return service_sum(page, metric, "sink=\"journal\"");
}

static void check_text(const json_t *entry, const char *field, const char *want)
{
	if (strcmp(jrec_text(entry, field), want) != 0)
		print_message("%s: ", field);
	assert_string_equal(jrec_text(entry, field), want);
}

static void check_number(const json_t *entry, const char *field, long long want)
{
	char text[24];

	snprintf(text, sizeof(text), "%lld", want);
	check_text(entry, field, text);
}

/* The sentence has them, too. */
static void check_message(const json_t *entry, const struct box *box)
{
	const char *message = jrec_text(entry, "MESSAGE");

	assert_non_null(strstr(message, box->id));
	assert_non_null(strstr(message, "graceful, stop-signal"));
	assert_non_null(strstr(message, "SIGTERM from test_sinks_jour"));
}

static void test_fields(void **state)
{
	struct stage *stage = *state;
	struct proc_end end;
	struct box box;
	char match[128];
	json_t *entries;
	const json_t *entry;

	if (!stage)
		skip();
	assert_int_equal(box_start(&stage->tree,
				   &(struct box_spec){.argv = BOX_ARGV("graceful", "7")}, &box),
			 0);
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	assert_int_equal(proc_wait(&box.proc, &end), 0);
	assert_int_equal(box_remove(&box), 0);
	snprintf(match, sizeof(match), "GRACED_CONTAINER_ID=%s", box.id);
	entries = await_entries(match, 1);
	assert_int_equal(json_array_size(entries), 1);
	entry = json_array_get(entries, 0);
	check_text(entry, "MESSAGE_ID", strchr(STOPS, '=') + 1);
	check_text(entry, "PRIORITY", "6");
	check_text(entry, "SYSLOG_IDENTIFIER", "graced");
	check_text(entry, "GRACED_TYPE", "stop");
	check_text(entry, "GRACED_POD_UID", box.uid);
	check_text(entry, "GRACED_CGROUP", box.path);
	check_number(entry, "GRACED_PID", box.init_pid);
	check_text(entry, "GRACED_COMM", "workload");
	check_text(entry, "GRACED_OUTCOME", "graceful");
	check_text(entry, "GRACED_CAUSE", "stop-signal");
	check_text(entry, "GRACED_STOP_SIGNAL", "SIGTERM");
	check_text(entry, "GRACED_EXIT_CODE", "7");
	check_text(entry, "GRACED_GAPS", "");
	check_number(entry, "_PID", service_pid(stage->service));
	check_message(entry, &box);
	json_decref(entries);
}

/* What graced report makes of the entry is what is in its fields. */
static void test_report(void **state)
{
	const char *const args[] = {"report", "-o", "json", NULL};
	struct stage *stage = *state;
	struct run_result result;
	const json_t *pods, *stop = NULL;
	json_t *entries, *report, *story;
	size_t i;

	if (!stage)
		skip();
	entries = await_entries(STOPS, 1);
	assert_int_equal(run(&(struct run_spec){.args = args}, &result), 0);
	assert_int_equal(result.status, 0);
	assert_string_equal(result.err, "");
	report = json_loads(result.out, 0, NULL);
	pods = jrec_get(report, "pods");
	json_array_foreach(pods, i, story) {
		const json_t *container = json_array_get(jrec_get(story, "containers"), 0);

		if (strcmp(jrec_text(container, "id"),
			   jrec_text(json_array_get(entries, 0), "GRACED_CONTAINER_ID")) == 0)
			stop = container;
	}
	assert_non_null(stop);
	assert_string_equal(jrec_text(stop, "outcome"), "graceful");
	assert_int_equal(jrec_int(stop, "exit.code", -1), 7);
	check_number(json_array_get(entries, 0), "GRACED_LATENCY_NS",
		     jrec_int(stop, "latency_ns", -1));
	assert_true(jrec_is_null(report, "shutdown"));
	json_decref(report);
	json_decref(entries);
	run_done(&result);
}

static void ask_why(const struct stage *stage, struct run_result *ret, const char *option,
		    const char *name)
{
	const char *const args[] = {"why",
				    "--names.enabled=false",
				    "--control.socket",
				    service_socket(stage->service),
				    option,
				    name,
				    NULL};

	assert_int_equal(run(&(struct run_spec){.args = args}, ret), 0);
	if (ret->status || ret->err_len)
		fail_msg("why %s %s: status %d, %s%s", option, name, ret->status, ret->out,
			 ret->err);
}

/* As JSON: its sentence, and the last of its events, have these words. */
static void assert_why(const struct stage *stage, const char *name, const char *want_state,
		       const char *sentence, const char *last)
{
	const json_t *events;
	struct run_result result;
	json_t *why;

	ask_why(stage, &result, "--output=json", name);
	why = json_loads(result.out, JSON_REJECT_DUPLICATES, NULL);
	assert_non_null(why);
	assert_string_equal(jrec_text(why, "state"), want_state);
	if (!strstr(jrec_text(why, "sentence"), sentence))
		fail_msg("%s: no %s", result.out, sentence);
	events = jrec_get(why, "events");
	assert_non_null(strstr(
		jrec_text(json_array_get(events, json_array_size(events) - 1), "text"), last));
	json_decref(why);
	run_done(&result);
}

/* Ids that begin alike are one name. */
#define ALIKE "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde"

static void start_alike(struct stage *stage, const char *leaf, const char *behaviour,
			struct box *ret)
{
	const struct box_spec spec = {.argv = BOX_ARGV(behaviour, "0"), .leaf = leaf};

	assert_int_equal(box_start(&stage->tree, &spec, ret), 0);
}

static void end_box(struct box *box)
{
	struct proc_end end;

	assert_int_equal(kill(box->init_pid, SIGKILL), 0);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
	assert_int_equal(box_remove(box), 0);
}

static void test_why(void **state)
{
	struct stage *stage = *state;
	struct run_result result;
	struct box box, other;
	char pid[16];

	if (!stage)
		skip();
	start_alike(stage, ALIKE "0", "deaf", &box);
	snprintf(pid, sizeof(pid), "%d", box.init_pid);
	assert_why(stage, ALIKE "0", "running", "SIGTERM would not end it: workload[1] has",
		   "has no handler for SIGTERM");
	assert_why(stage, pid, "running", "SIGTERM would not end it: ", "workload[1] ");
	assert_int_equal(kill(box.init_pid, SIGTERM), 0);
	assert_why(stage, ALIKE, "stopping", " sent SIGTERM to workload[1] ",
		   "still there: workload[1]");
	assert_why(stage, pid, "stopping", " never heard it. ", "still there: workload[1]");
	end_box(&box);
	json_decref(await_entries("GRACED_CONTAINER_ID=" ALIKE "0", 1));
	start_alike(stage, ALIKE "1", "graceful", &other);
	assert_why(stage, ALIKE, "ended", " never heard it; ", "no process was left");
	ask_why(stage, &result, "--utc", ALIKE);
	assert_non_null(strstr(result.out, "  killed (grace-expired)\n"));
	assert_non_null(strstr(result.out, "\nRunning now by that name: "));
	assert_non_null(strstr(result.out, "\ngraced why --running " ALIKE " says "));
	run_done(&result);
	ask_why(stage, &result, "--running", ALIKE);
	assert_non_null(strstr(result.out, "  running (handler)\nIt would act on SIGTERM: "));
	assert_null(strstr(result.out, "no graced run"));
	run_done(&result);
	end_box(&other);
}

/* Every stop and every step of a pod, and that graced attached. A pod that was empty late has
 * entries, too. */
static double least_entries(const char *page)
{
	return service_sum(page, "graced_container_stops_total", NULL) +
	       service_sum(page, "graced_pod_transitions_total", NULL) + 1;
}

/* The pod of each is its own, and the last that is reported of it is that it is finished. */
static void await_lives(struct stage *stage, double least)
{
	assert_true(service_await_metric(stage->service, "graced_container_stops_total", NULL,
					 least) >= least);
	assert_true(service_await_metric(stage->service, "graced_pod_transitions_total",
					 "state=\"finished\"", least) >= least);
}

/* Waits until each of them was written or dropped, or waits. */
static void await_settled(struct stage *stage)
{
	double settled = 0, sum = 1;

	for (int i = 0; i < 100 && settled < sum; i++) {
		struct buf page = {};

		usleep(100000);
		assert_int_equal(service_get(stage->service, "/metrics", NULL, &page), 200);
		settled = journal_of(buf_str(&page), "graced_sink_records_total") +
			  journal_of(buf_str(&page), "graced_sink_dropped_total") +
			  journal_of(buf_str(&page), "graced_sink_waiting_records");
		sum = least_entries(buf_str(&page));
		buf_free(&page);
	}
	assert_true(settled >= sum);
}

/* How many records are missing by the entries that say so. */
static double count_missing(size_t *ret_entries)
{
	json_t *entries = journald_entries("GRACED_TYPE=dropped"), *entry;
	double missing = 0;
	size_t i;

	json_array_foreach(entries, i, entry)
		missing += atof(jrec_text(entry, "GRACED_DROPPED"));
	*ret_entries = json_array_size(entries);
	json_decref(entries);
	return missing;
}

/* As many as the daemon says; whoever else stops meanwhile is in both. */
static void check_all_there(struct stage *stage)
{
	double written, dropped, missing;
	struct buf page = {};
	json_t *entries;
	size_t gaps;

	usleep(300000); /* longer than a page is kept */
	assert_int_equal(service_get(stage->service, "/metrics", NULL, &page), 200);
	assert_int_equal(journal_of(buf_str(&page), "graced_sink_waiting_records"), 0);
	written = journal_of(buf_str(&page), "graced_sink_records_total");
	dropped = journal_of(buf_str(&page), "graced_sink_dropped_total");
	missing = count_missing(&gaps);
	assert_int_equal(missing, dropped);
	entries = await_entries(OURS, (size_t)written + gaps);
	json_decref(entries);
	assert_true(written + dropped >= least_entries(buf_str(&page)));
	buf_free(&page);
}

static void test_stopped(void **state)
{
	struct stage *stage = *state;
	double counted;

	if (!stage)
		skip();
	counted = service_metric(stage->service, "graced_container_stops_total", NULL);
	assert_int_equal(kill(stage->journald, SIGSTOP), 0);
	live(stage, FLOOD);
	await_lives(stage, counted + FLOOD);
	await_settled(stage);
	assert_true(service_metric(stage->service, "graced_sink_waiting_records",
				   "sink=\"journal\"") > 0);
	/* It is behind and has not failed: only what finds no room to wait is logged. */
	assert_true(service_await_log(stage->service, "records for the journal are dropped: "));
	assert_int_equal(kill(stage->journald, SIGCONT), 0);
	assert_true(
		service_await_log(stage->service, "records for the journal are no longer dropped"));
	/* One after the other: fewer records than the shortest queue of a socket holds (10). */
	for (int i = 1; i <= 10; i++) {
		live(stage, 1);
		await_lives(stage, counted + FLOOD + i);
	}
	for (int i = 0; i < 100 && service_metric(stage->service, "graced_sink_waiting_records",
						  "sink=\"journal\"") > 0;
	     i++)
		usleep(100000);
	check_all_there(stage);
	assert_int_equal(service_stop(stage->service), 0);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("the journal has a stop as a sentence and as fields", test_fields),
		CLAIM("graced report reads the stop from the journal", test_report),
		CLAIM("graced why says what a stop would do, how it stands, and what ended it",
		      test_why),
		CLAIM("a journald that is stopped gets what waited when it goes on, and how many "
		      "entries did not fit",
		      test_stopped),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
