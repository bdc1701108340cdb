// SPDX-License-Identifier: Apache-2.0
/* Drives a pod worker from tests, and writes down what it says. */
#include "lib/pods/podrun.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

static void __attribute__((format(printf, 2, 3))) say(struct podrun *run, const char *format, ...)
{
	size_t len = strlen(run->log);
	va_list args;

	if (len > 0 && len + 2 < sizeof(run->log)) {
		strcpy(run->log + len, "; ");
		len += 2;
	}
	va_start(args, format);
	vsnprintf(run->log + len, sizeof(run->log) - len, format, args);
	va_end(args);
}

static void told(void *userdata, const struct podworker_effect *effect)
{
	struct podrun *run = userdata;

	switch (effect->type) {
	case PODWORKER_CANCEL:
		say(run, "cancel %s", effect->uid);
		break;
	case PODWORKER_STOPPED:
		say(run, "stopped %d", (int)effect->waiter);
		break;
	case PODWORKER_REQUEUE:
		say(run, "requeue %s %gs", effect->uid,
		    (double)(effect->at_ns - run->now) / (double)PODRUN_SECOND);
		break;
	case PODWORKER_MOVED:
		say(run, "%s %s", effect->uid, pod_stage_name(effect->stage));
	}
}

void podrun_begin(struct podrun *run)
{
	const struct podworker_config config = {.effect = told, .userdata = run};

	*run = (struct podrun){.now = 100 * PODRUN_SECOND};
	assert_int_equal(podworker_new(&config, &run->pw), 0);
}

void podrun_end(struct podrun *run)
{
	run->pw = podworker_free(run->pw);
}

const char *podrun_log(struct podrun *run)
{
	static char said[sizeof(run->log)];

	memcpy(said, run->log, sizeof(said));
	run->log[0] = '\0';
	return said;
}

struct podworker_pod podrun_pod(const char *uid, int64_t spec_grace)
{
	return (struct podworker_pod){
		.uid = uid,
		.namespace_ = "ns",
		.name = "pod",
		.spec_grace = {true, spec_grace},
	};
}

int podrun_update(struct podrun *run, enum podworker_type type, const struct podworker_pod *pod)
{
	const struct podworker_update update = {.type = type, .pod = pod};

	return podworker_update(run->pw, &update, run->now);
}

int podrun_kill(struct podrun *run, const struct podworker_pod *pod,
		const struct podworker_kill *kill)
{
	const struct podworker_update update = {.type = PODWORKER_KILL, .pod = pod, .kill = kill};

	return podworker_update(run->pw, &update, run->now);
}

int podrun_kill_running(struct podrun *run, const char *uid, const struct podworker_kill *kill)
{
	const struct podworker_running running = {uid, "ns", "pod"};
	const struct podworker_update update = {
		.type = PODWORKER_KILL, .running = &running, .kill = kill};

	return podworker_update(run->pw, &update, run->now);
}

int podrun_start(struct podrun *run, const char *uid)
{
	struct podworker_call call;
	int r = podworker_start(run->pw, uid, run->now, 0, &call);

	if (r <= 0)
		return r;
	say(run, "%s %s", podworker_call_name(call.kind), call.uid);
	if (call.kind == PODWORKER_CALL_SYNC_POD)
		say(run, "%s", podworker_type_name(call.type));
	if (call.grace.set)
		say(run, "grace %lld", (long long)call.grace.s);
	if (call.status_fn)
		say(run, "status %d", (int)call.status_fn);
	return r;
}

void podrun_done(struct podrun *run, const char *uid, enum podworker_result result)
{
	const struct podworker_outcome outcome = {.result = result};

	assert_int_equal(podworker_done(run->pw, uid, &outcome, run->now), 0);
}

void podrun_drain(struct podrun *run)
{
	const char *ready;

	while ((ready = podworker_ready(run->pw))) {
		char uid[POD_UID_MAX];

		strcpy(uid, ready);
		if (podrun_start(run, uid) > 0)
			podrun_done(run, uid, PODWORKER_OK);
	}
}
