// SPDX-License-Identifier: Apache-2.0
/* Begins a few stops in a turn of the loop, as each connects anew, and waits for all of them. A
 * preStop hook may be run first, as the kubelet does it (executePreStopHook() in
 * pkg/kubelet/kuberuntime/kuberuntime_container.go). The container's own annotation has its
 * command. The seconds that it takes are subtracted from the container's time. */
#include "io/loop/loop.h"
#include "io/sources/cri/call.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/queue.h>
#include <time.h>

#include "base/cleanup.h"
#include "base/time.h"
#include "core/pods/kill_grace.h"
#include "io/proc/clock.h"

/* How many are begun in a turn. */
#define TOGETHER      8
/* The session's own are below SOURCE_CRI_EVENT_LINE. A stop has two at the most. */
#define LINE_FIRST    1000
#define LINES	      (4 * SOURCE_CRI_STOPS_MAX)
/* The answer to a stop has no fields; the answer about a hook has its output. */
#define ANSWER_MAX    4096
#define OUTPUT_MAX    ((size_t)64 << 10)
#define STATUS_MAX    ((size_t)1 << 20)
/* Longer ones count as this one: 10 years. */
#define TIMEOUT_S_MAX UINT64_C(315360000)
/* How long the runtime may take to answer which hook there is: shorter than
 * SHUTDOWN_UNSEEN_NS, after which the engine has the container signalled without the runtime. */
#define LOOK_NS	      UINT64_C(1000000000)

enum step {
	STEP_WAITING,
	STEP_LOOKING, /* which hook it has */
	STEP_HOOK,    /* that runs */
	STEP_STOPPING,
};

struct ending {
	TAILQ_ENTRY(ending) link;
	struct source_cri_stops *stops;
	struct source_cri_stop wish; /* container_id is id */
	char id[META_ID_MAX];
	char name[SOURCE_CRI_HOOK_NAME_MAX]; /* for people */
	enum step step;
	struct fetch_call *call; /* of this step; NULL: none */
	/* The hook's command. It stays open after its time is over: containerd kills the command
	 * when the connection is closed. */
	struct fetch_call *exec;
	uint64_t begun_ns, end_ns; /* of the hook */
	bool sleeps;		   /* it ends well at end_ns */
	sd_event_source *timer;
};
TAILQ_HEAD(ending_list, ending);

struct source_cri_stops {
	sd_event *event;
	const struct source_cri_calls *calls;
	struct ending_list waiting, begun;
	size_t n;
	unsigned int line; /* of the last one */
	sd_event_source *slice;
};

static void free_stop(struct ending *stop)
{
	fetch_cancel(stop->call);
	fetch_cancel(stop->exec);
	sd_event_source_disable_unref(stop->timer);
	free(stop);
}

/* Frees it, and reports its end. */
static void end(struct ending *stop, const char *error)
{
	struct source_cri_stops *stops = stop->stops;
	struct source_cri_stop wish = stop->wish;

	TAILQ_REMOVE(stop->step == STEP_WAITING ? &stops->waiting : &stops->begun, stop, link);
	stops->n--;
	free_stop(stop);
	wish.done(wish.userdata, wish.tag, error);
}

/* What is wrong with the answer, which has max bytes at the most; NULL for nothing. */
static const char *judge(const struct fetch_result *result, size_t max, const void **ret_payload,
			 size_t *ret_len)
{
	size_t consumed;

	if (result->error || result->status != 200 || result->grpc_status)
		return *result->text ? result->text : "the answer is not one of gRPC";
	if (grpc_unframe(result->body, result->len, max, ret_payload, ret_len, &consumed) < 0 ||
	    consumed == 0 || consumed != result->len)
		return "the answer is no message of gRPC";
	return NULL;
}

static int request(struct ending *stop, enum cri_method method, const struct buf *question,
		   struct fetch_request *request, struct fetch_call **ret)
{
	struct source_cri_stops *stops = stop->stops;

	request->userdata = stop;
	/* The runtime may have gone since. */
	if (!stops->calls->path[0])
		return -ENOTCONN;
	return source_cri_call_open(stops->calls, method, question,
				    LINE_FIRST + stops->line++ % LINES, request, ret);
}

/* --- the stop ----------------------------------------------------------------------------------- */

static void on_stopped(void *userdata, const struct fetch_result *result)
{
	struct ending *stop = userdata;
	const void *payload;
	size_t len;

	stop->call = NULL;
	end(stop, judge(result, ANSWER_MAX, &payload, &len));
}

/* A sandbox has no timeout of its own. */
static void begin_stop(struct ending *stop, uint64_t timeout_s)
{
	_cleanup_(buf_free) struct buf question = {};
	struct fetch_request wish = {
		.max_bytes = ANSWER_MAX,
		.timeout_ns = timeout_s * NS_PER_S + SOURCE_CRI_STOP_SLACK_NS,
		.done = on_stopped,
	};
	enum cri_method method = stop->wish.sandbox ? CRI_STOP_SANDBOX : CRI_STOP;
	int r = stop->wish.sandbox ? cri_request(&question, method, stop->id)
				   : cri_request_stop(&question, stop->id, timeout_s);

	stop->step = STEP_STOPPING;
	if (r == 0)
		r = request(stop, method, &question, &wish, &stop->call);
	if (r < 0)
		end(stop, strerror(-r));
}

/* --- its hook ----------------------------------------------------------------------------------- */

static void report_hook(struct ending *stop, enum source_cri_hook what, const char *text)
{
	if (stop->wish.hook)
		stop->wish.hook(stop->wish.userdata, stop->wish.tag, what, stop->name, text);
}

static void skip_hook(struct ending *stop, const char *why)
{
	report_hook(stop, SOURCE_CRI_HOOK_NOT_RUN, why);
	begin_stop(stop, stop->wish.timeout_s);
}

static void end_hook(struct ending *stop, const char *error)
{
	const struct killgrace_kill kill = {
		.grace_s = (int64_t)stop->wish.hook_s,
		.has_prestop = true,
		.prestop_ns = clock_boot_ns() - stop->begun_ns,
	};

	stop->timer = sd_event_source_disable_unref(stop->timer);
	report_hook(stop, SOURCE_CRI_HOOK_ENDED, error);
	begin_stop(stop, (uint64_t)killgrace_steps(&kill).stop_s);
}

static int on_time(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct ending *stop = userdata;

	end_hook(stop, stop->sleeps ? NULL : "it still runs when the grace period is over");
	return 0;
}

/* How the hook's command ended, when it was awaited. */
static void on_executed(void *userdata, const struct fetch_result *result)
{
	struct ending *stop = userdata;
	const void *payload;
	size_t len;
	const char *error = judge(result, OUTPUT_MAX, &payload, &len);
	char text[32];
	int32_t code;

	stop->exec = NULL;
	if (stop->step != STEP_HOOK)
		return;
	if (!error && cri_read_exec(payload, len, &code) < 0)
		error = "the answer makes no sense";
	if (!error && code != 0) {
		snprintf(text, sizeof(text), "exit code %d", code);
		error = text;
	}
	end_hook(stop, error);
}

static int set_timer(struct ending *stop)
{
	uint64_t usec = stop->end_ns / (uint64_t)NS_PER_US;
	int r;

	if (stop->timer)
		return sd_event_source_set_time(stop->timer, usec);
	r = sd_event_add_time(stop->stops->event, &stop->timer, CLOCK_BOOTTIME, usec, 1000, on_time,
			      stop);
	return r < 0 ? r : 0;
}

/* Without a timeout that the runtime knows, as the kubelet requests it. */
static int execute(struct ending *stop, const struct cri_hook *hook)
{
	_cleanup_(buf_free) struct buf question = {};
	struct fetch_request wish = {
		.max_bytes = OUTPUT_MAX,
		.timeout_ns = (stop->wish.hook_s + stop->wish.timeout_s) * NS_PER_S +
			      2 * SOURCE_CRI_STOP_SLACK_NS,
		.done = on_executed,
	};
	int r = cri_request_exec(&question, stop->id, hook->args.data, hook->n_args);

	return r < 0 ? r : request(stop, CRI_EXEC, &question, &wish, &stop->exec);
}

static void begin_hook(struct ending *stop, const struct cri_hook *hook)
{
	uint64_t last_s = stop->wish.hook_s;
	int r;

	stop->sleeps = hook->type == CRI_HOOK_SLEEP && hook->sleep_s <= last_s;
	if (stop->sleeps)
		last_s = hook->sleep_s;
	stop->begun_ns = clock_boot_ns();
	stop->end_ns = stop->begun_ns + last_s * NS_PER_S;
	r = set_timer(stop);
	if (r == 0 && hook->type == CRI_HOOK_EXEC)
		r = execute(stop, hook);
	if (r < 0) {
		stop->timer = sd_event_source_disable_unref(stop->timer);
		skip_hook(stop, strerror(-r));
		return;
	}
	stop->step = STEP_HOOK;
	report_hook(stop, SOURCE_CRI_HOOK_BEGUN, NULL);
}

/* Why that hook is not run; NULL: it is. */
static const char *why_not(const struct cri_hook *hook, int error)
{
	if (error == -E2BIG)
		return "its command is too long";
	if (error == -ENOMEM)
		return "there is no memory";
	if (error < 0)
		return "what the runtime has of it makes no sense";
	switch (hook->type) {
	case CRI_HOOK_EXEC:
	case CRI_HOOK_SLEEP:
		return NULL;
	case CRI_HOOK_HTTP:
		return "it is an httpGet hook, and graced runs exec and sleep hooks only";
	case CRI_HOOK_TCP:
		return "it is a tcpSocket hook, which the kubelet does not run either";
	case CRI_HOOK_NONE:
		break;
	}
	return "the runtime does not have it";
}

static void note_name(struct ending *stop, const struct cri_item *item)
{
	snprintf(stop->name, sizeof(stop->name), "%s/%s/%s", item->pod.namespace_, item->pod.name,
		 item->container.name);
}

static void on_looked(void *userdata, const struct fetch_result *result)
{
	struct ending *stop = userdata;
	_cleanup_(cri_hook_done) struct cri_hook hook = {};
	struct cri_item item;
	const void *payload;
	size_t len;
	const char *error = judge(result, STATUS_MAX, &payload, &len);
	int r;

	stop->call = NULL;
	if (!error && cri_read_status(payload, len, &item) < 0)
		error = "the answer makes no sense";
	if (error) {
		skip_hook(stop, error);
		return;
	}
	note_name(stop, &item);
	/* The kubelet runs no hook in a container that has ended. A later request may have left no
	 * time for one. */
	if (item.state == CRI_STATE_EXITED || !stop->wish.hook_s) {
		begin_stop(stop, stop->wish.timeout_s);
		return;
	}
	r = cri_read_hook(payload, len, &hook);
	error = why_not(&hook, r);
	if (error)
		skip_hook(stop, error);
	else
		begin_hook(stop, &hook);
}

static void look(struct ending *stop)
{
	_cleanup_(buf_free) struct buf question = {};
	struct fetch_request wish = {
		.max_bytes = STATUS_MAX,
		.timeout_ns = LOOK_NS,
		.done = on_looked,
	};
	int r = cri_request(&question, CRI_STATUS, stop->id);

	stop->step = STEP_LOOKING;
	if (r == 0)
		r = request(stop, CRI_STATUS, &question, &wish, &stop->call);
	if (r < 0)
		skip_hook(stop, strerror(-r));
}

/* --- all of them ---------------------------------------------------------------------------------
 */

static int on_slice(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct source_cri_stops *stops = userdata;
	struct ending *stop;

	for (int i = 0; i < TOGETHER && (stop = TAILQ_FIRST(&stops->waiting)); i++) {
		TAILQ_REMOVE(&stops->waiting, stop, link);
		TAILQ_INSERT_TAIL(&stops->begun, stop, link);
		if (stop->wish.hook_s)
			look(stop);
		else
			begin_stop(stop, stop->wish.timeout_s);
	}
	return sd_event_source_set_enabled(source, TAILQ_EMPTY(&stops->waiting) ? SD_EVENT_OFF
										: SD_EVENT_ONESHOT);
}

static void take_wish(struct ending *stop, const struct source_cri_stop *wish)
{
	stop->wish = *wish;
	stop->wish.container_id = stop->id;
	if (stop->wish.timeout_s > TIMEOUT_S_MAX)
		stop->wish.timeout_s = TIMEOUT_S_MAX;
	if (stop->wish.hook_s > TIMEOUT_S_MAX)
		stop->wish.hook_s = TIMEOUT_S_MAX;
	if (stop->wish.sandbox)
		stop->wish.hook_s = stop->wish.timeout_s = 0;
}

/* The hook that runs has no more than it had, and no more than the new request leaves it. */
static void renew(struct ending *stop, const struct source_cri_stop *wish)
{
	uint64_t end_ns;

	take_wish(stop, wish);
	if (stop->step != STEP_HOOK)
		return;
	stop->begun_ns = clock_boot_ns();
	end_ns = stop->begun_ns + stop->wish.hook_s * NS_PER_S;
	if (end_ns < stop->end_ns) {
		stop->end_ns = end_ns;
		stop->sleeps = false;
		set_timer(stop);
	}
	report_hook(stop, SOURCE_CRI_HOOK_BEGUN, NULL);
}

static struct ending *find(const struct source_cri_stops *stops, const char *id)
{
	struct ending *stop;

	TAILQ_FOREACH(stop, &stops->waiting, link)
		if (strcmp(stop->id, id) == 0)
			return stop;
	TAILQ_FOREACH(stop, &stops->begun, link)
		if (strcmp(stop->id, id) == 0)
			return stop;
	return NULL;
}

int source_cri_stops_add(struct source_cri_stops *stops, const struct source_cri_stop *wish)
{
	struct ending *stop = find(stops, wish->container_id);
	bool again = stop != NULL;

	if (stop && stop->step != STEP_STOPPING && stop->wish.hook_s) {
		renew(stop, wish);
		return 0;
	}
	if (stops->n == SOURCE_CRI_STOPS_MAX)
		return -ENOBUFS;
	stop = calloc(1, sizeof(*stop));
	if (!stop)
		return -ENOMEM;
	stop->stops = stops;
	strncpy(stop->id, wish->container_id, sizeof(stop->id) - 1);
	snprintf(stop->name, sizeof(stop->name), "%.12s", stop->id);
	take_wish(stop, wish);
	/* Its stop has begun: a hook would come too late. */
	if (again)
		stop->wish.hook_s = 0;
	TAILQ_INSERT_TAIL(&stops->waiting, stop, link);
	stops->n++;
	sd_event_source_set_enabled(stops->slice, SD_EVENT_ONESHOT);
	return 0;
}

int source_cri_stops_new(sd_event *event, const struct source_cri_calls *calls,
			 struct source_cri_stops **ret)
{
	struct source_cri_stops *stops = calloc(1, sizeof(*stops));
	int r;

	if (!stops)
		return -ENOMEM;
	stops->event = event;
	stops->calls = calls;
	TAILQ_INIT(&stops->waiting);
	TAILQ_INIT(&stops->begun);
	/* A timer that is always due: a source of the deferred kind would go before all others. */
	r = timer_new(event, CLOCK_MONOTONIC, 1, on_slice, stops, &stops->slice);
	if (r < 0) {
		source_cri_stops_free(stops);
		return r;
	}
	*ret = stops;
	return 0;
}

static void free_list(struct ending_list *list)
{
	struct ending *stop;

	while ((stop = TAILQ_FIRST(list))) {
		TAILQ_REMOVE(list, stop, link);
		free_stop(stop);
	}
}

struct source_cri_stops *source_cri_stops_free(struct source_cri_stops *stops)
{
	if (!stops)
		return NULL;
	free_list(&stops->begun);
	free_list(&stops->waiting);
	sd_event_source_disable_unref(stops->slice);
	free(stops);
	return NULL;
}
