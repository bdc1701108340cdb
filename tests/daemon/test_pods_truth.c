// SPDX-License-Identifier: Apache-2.0
/* Claims about the daemon with a kubelet that reports of pods what is not so, or not so any more:
 * it is a discrepancy once, counted once, and shown for as long as it holds. */
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/stop/record.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/daemon/kubestage.h"
#include "lib/daemon/podstage.h"
#include "lib/jrec.h"
#include "lib/run.h"

#define READY_METRIC "graced_pod_ready_while_terminating_seconds"

#define DELETED                                            \
	",\"deletionTimestamp\":\"2026-11-22T00:00:00Z\"," \
	"\"deletionGracePeriodSeconds\":30"

/* How long it goes on being Ready, in answers. */
#define READY_ANSWERS 3

/* How long the kubelet does not answer; less than the daemon waits for an answer. */
#define SILENCE_S 8

/* Both bounds of when something was, by the test's own clock. */
struct span {
	uint64_t from_ns, to_ns;
};

/* The records of that type about the pod, once there is one. */
static json_t *await_records(const struct kubestage *k, const char *type, const struct box *box)
{
	char expected[128];

	snprintf(expected, sizeof(expected), "{'type':'%s','pod':{'uid':'%s'}}", type, box->uid);
	return kubestage_await_records(k, expected);
}

static void assert_within(uint64_t ns, const struct span *span)
{
	if (ns < span->from_ns || ns > span->to_ns)
		fail_msg("%llu is not from %llu to %llu", (unsigned long long)ns,
			 (unsigned long long)span->from_ns, (unsigned long long)span->to_ns);
}

/* The container is asked to stop while its pod is reported as Ready; it does not leave. */
static struct span ask_to_stop(struct podstage *s, struct kubestage *k, struct kubestage_pod *pod,
			       const struct box *box)
{
	struct sent sent;

	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box->init_pid, SIGTERM, &sent),
			 0);
	pod->metadata = DELETED;
	kubestage_list(k, pod, 1);
	kubestage_await_asked(k, READY_ANSWERS);
	return (struct span){sent.before_ns, sent.after_ns};
}

/* From now on something else is listed. The question that is the first to be answered by it may
 * have been on its way a poll before. */
static struct span list_now(struct kubestage *k, const struct kubestage_pod *pods, size_t n)
{
	uint64_t now_ns = page_clock_ns();

	kubestage_list(k, pods, n);
	return (struct span){now_ns - KUBESTAGE_INTERVAL_NS, kubestage_await_asked(k, 1)};
}

static void check_figure(const struct kubestage *k, const json_t *record, uint64_t ready_ns)
{
	double seconds;

	assert_int_equal(jrec_int(record, "ready_ns", 0), ready_ns);
	assert_true(service_await_metric(k->service, READY_METRIC "_count", "namespace=\"shop\"",
					 1) == 1);
	seconds = service_metric(k->service, READY_METRIC "_sum", "namespace=\"shop\"");
	assert_int_equal((uint64_t)(seconds * 1e9 + 0.5), ready_ns);
}

static void check_no_figure(const struct kubestage *k, const json_t *record)
{
	char *gaps = json_dumps(jrec_get(record, "evidence.gaps"), 0);

	assert_true(json_is_null(jrec_get(record, "ready_ns")));
	/* A question that was not answered at all adds source-failed. */
	assert_non_null(strstr(gaps, "\"time-uncertain\""));
	free(gaps);
	assert_true(service_metric(k->service, READY_METRIC "_count", "namespace=\"shop\"") < 1);
}

/* The one record, and the metric of its pod. On a busy host answers may be far apart. */
static void check_ready(struct kubestage *k, const struct box *box, const struct span *stopped,
			const struct span *unready, bool gone)
{
	json_t *records = await_records(k, "pod_ready", box);
	const json_t *record = json_array_get(records, 0);
	uint64_t stop_ns = (uint64_t)jrec_int(record, "stop_boot_ns", 0);
	uint64_t until_ns = (uint64_t)jrec_int(record, "until_boot_ns", 0);
	int64_t min_ns = jrec_int(record, "bounds.min_ns", -1);
	int64_t max_ns = jrec_int(record, "bounds.max_ns", -1);

	assert_int_equal(json_array_size(records), 1);
	assert_within(stop_ns, stopped);
	assert_within(until_ns, unready);
	assert_in_range(until_ns - stop_ns, min_ns, max_ns);
	assert_int_equal(json_is_true(jrec_get(record, "gone")), gone);
	if (max_ns - min_ns <= (int64_t)RECORD_ANSWERS_NS)
		check_figure(k, record, until_ns - stop_ns);
	else
		check_no_figure(k, record);
	json_decref(records);
}

static void start_ready(struct podstage *s, struct kubestage *k, struct kubestage_pod *pod,
			struct box *box)
{
	const struct box_spec spec = {.argv = BOX_ARGV("graceful", "0", "60000")};

	assert_int_equal(box_start(&s->tree, &spec, box), 0);
	*pod = (struct kubestage_pod){.uid = box->uid, .name = "cart-0", .ready = true};
	kubestage_open(k, &s->tree, pod, 1);
	json_decref(kubestage_await_line(k, box->uid, "{'state':'sync','ready':true}"));
}

static void how_long_it_is_ready_is_measured(void **state)
{
	struct podstage *s = podstage_of(state);
	struct span stopped, unready;
	struct kubestage_pod pod;
	struct kubestage k;
	struct box box;
	json_t *line;

	start_ready(s, &k, &pod, &box);
	stopped = ask_to_stop(s, &k, &pod, &box);
	line = kubestage_await_line(&k, box.uid, "{'state':'terminating','ready':true}");
	assert_within((uint64_t)jrec_int(line, "ready_stop_boot_ns", 0), &stopped);
	json_decref(line);
	pod.ready = false;
	unready = list_now(&k, &pod, 1);
	check_ready(&k, &box, &stopped, &unready, false);
	/* Further lists change nothing. */
	kubestage_await_asked(&k, 3);
	check_ready(&k, &box, &stopped, &unready, false);
	kubestage_close(&k);
	assert_int_equal(box_remove(&box), 0);
}

static void it_is_ready_until_it_is_listed_no_more(void **state)
{
	struct podstage *s = podstage_of(state);
	struct span stopped, unready;
	struct kubestage_pod pod;
	struct kubestage k;
	struct box box;

	start_ready(s, &k, &pod, &box);
	stopped = ask_to_stop(s, &k, &pod, &box);
	unready = list_now(&k, NULL, 0);
	check_ready(&k, &box, &stopped, &unready, true);
	kubestage_close(&k);
	assert_int_equal(box_remove(&box), 0);
}

/* It stops being Ready at some time of the silence: that is not known, and no figure. */
static void until_when_is_not_known_of_a_silent_kubelet(void **state)
{
	const struct kubepeer_part silence = {.answer = "", .stays = true};
	struct podstage *s = podstage_of(state);
	struct kubestage_pod pod;
	const json_t *record;
	struct kubestage k;
	struct box box;
	json_t *records;

	start_ready(s, &k, &pod, &box);
	ask_to_stop(s, &k, &pod, &box);
	kubepeer_play(&k.peer, &silence);
	kubestage_await_asked(&k, 1);
	sleep(SILENCE_S);
	pod.ready = false;
	kubestage_list(&k, &pod, 1);
	records = await_records(&k, "pod_ready", &box);
	record = json_array_get(records, 0);
	assert_int_equal(json_array_size(records), 1);
	assert_true(jrec_int(record, "bounds.max_ns", 0) - jrec_int(record, "bounds.min_ns", 0) >=
		    SILENCE_S * 1000000000LL);
	check_no_figure(&k, record);
	json_decref(records);
	kubestage_close(&k);
	assert_int_equal(box_remove(&box), 0);
}

/* --- what is not so -------------------------------------------------------------------------- */

static size_t discrepancies(const struct kubestage *k, const char *kind)
{
	char expected[96];
	json_t *records;
	size_t n;

	snprintf(expected, sizeof(expected), "{'type':'discrepancy','kind':'%s'}", kind);
	records = kubestage_records(k, expected);
	n = json_array_size(records);
	json_decref(records);
	return n;
}

/* As many as are reported, those of others' pods on this host included; which may come meanwhile. */
static void check_counted(const struct kubestage *k, const char *kind)
{
	size_t least = discrepancies(k, kind);
	double counted;
	char label[64];

	snprintf(label, sizeof(label), "kind=\"%s\"", kind);
	counted = service_await_metric(k->service, "graced_discrepancies_total", label,
				       (double)least);
	assert_true(counted >= (double)least && counted <= (double)discrepancies(k, kind));
}

static void check_table(const struct kubestage *k, const char *name)
{
	const struct run_spec spec = {
		.args = BOX_ARGV("pods", "-p", name, "--control.socket", k->socket)};
	struct run_result result;

	assert_int_equal(run(&spec, &result), 0);
	assert_int_equal(result.status, 0);
	assert_non_null(strstr(result.out, " differs"));
	run_done(&result);
}

/* Reported once, counted once, and shown by its name and as a mark. */
static void check_reported(const struct kubestage *k, const struct box *box, const char *name,
			   const char *kind)
{
	json_t *records = await_records(k, "discrepancy", box);
	char line[128];

	assert_int_equal(json_array_size(records), 1);
	assert_string_equal(jrec_text(json_array_get(records, 0), "kind"), kind);
	assert_string_equal(jrec_text(json_array_get(records, 0), "pod.name"), name);
	check_counted(k, kind);
	snprintf(line, sizeof(line), "{'discrepancies':['%s']}", kind);
	json_decref(kubestage_await_line(k, box->uid, line));
	check_table(k, name);
	json_decref(records);
}

static void check_once(const struct kubestage *k, const struct box *box)
{
	json_t *records = await_records(k, "discrepancy", box);

	assert_int_equal(json_array_size(records), 1);
	json_decref(records);
}

static void end_container(struct podstage *s, struct box *box)
{
	struct proc_end end;
	struct sent sent;

	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, box->init_pid, SIGKILL, &sent),
			 0);
	assert_int_equal(proc_wait(&box->proc, &end), 0);
}

/* Three pods: the first failed and is Ready, the second is gone, and the third failed; the last two
 * have their processes. */
static void what_is_not_so_is_reported_once(void **state)
{
	struct podstage *s = podstage_of(state);
	struct kubestage_pod pods[3] = {
		{.name = "ready", .ready = true},
		{.name = "failed", .ready = true},
		{.name = "gone", .ready = true},
	};
	struct kubestage k;
	struct box boxes[3];

	for (int i = 0; i < 3; i++) {
		podstage_box(s, NULL, &boxes[i]);
		pods[i].uid = boxes[i].uid;
		pods[i].main = boxes[i].id;
	}
	kubestage_open(&k, &s->tree, pods, 3);
	json_decref(kubestage_await_line(&k, boxes[2].uid, "{'ready':true,'discrepancies':[]}"));
	end_container(s, &boxes[0]);
	pods[0].phase = pods[1].phase = "Failed";
	pods[1].ready = false;
	kubestage_list(&k, pods, 2);
	check_reported(&k, &boxes[0], "ready", "ready-while-terminal");
	check_reported(&k, &boxes[1], "failed", "terminal-while-populated");
	check_reported(&k, &boxes[2], "gone", "object-gone-processes-live");
	kubestage_list(&k, pods, 2);
	kubestage_await_asked(&k, 3);
	check_reported(&k, &boxes[0], "ready", "ready-while-terminal");
	check_reported(&k, &boxes[1], "failed", "terminal-while-populated");
	check_reported(&k, &boxes[2], "gone", "object-gone-processes-live");
	/* It is over when it is so no longer; what was counted stays. */
	end_container(s, &boxes[1]);
	pods[0].ready = false;
	kubestage_list(&k, pods, 2);
	json_decref(kubestage_await_line(&k, boxes[0].uid, "{'discrepancies':[]}"));
	json_decref(kubestage_await_line(&k, boxes[1].uid, "{'discrepancies':[]}"));
	check_once(&k, &boxes[0]);
	check_once(&k, &boxes[1]);
	check_counted(&k, "ready-while-terminal");
	check_counted(&k, "terminal-while-populated");
	kubestage_close(&k);
	for (int i = 0; i < 3; i++)
		assert_int_equal(box_remove(&boxes[i]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("how long a pod is reported to be Ready after its stop signal is measured",
		      how_long_it_is_ready_is_measured),
		CLAIM("it is Ready until it is listed no more",
		      it_is_ready_until_it_is_listed_no_more),
		CLAIM("while the kubelet is silent until when it was Ready is not known",
		      until_when_is_not_known_of_a_silent_kubelet),
		CLAIM("a reported state that is not so is a discrepancy once, counted once, and shown",
		      what_is_not_so_is_reported_once),
	};

	return cmocka_run_group_tests(tests, podstage_open, podstage_close);
}
