// SPDX-License-Identifier: Apache-2.0
/* Plays time and logind to core/shutdown. */
#include "lib/shutdown/shutstage.h"

#include <stdio.h>
#include <string.h>

#include "lib/claim.h"

#define START (1000 * SHUTSTAGE_S)

static void write_record(struct buf *log, const struct shutdown_record *r)
{
	buf_adds(log, shutdown_report_name(r->what));
	switch (r->what) {
	case SHUTDOWN_REPORT_GROUP_STARTED:
	case SHUTDOWN_REPORT_GROUP_DONE:
		buf_printf(log, " %u%s", r->group, r->timed_out ? " timed out" : "");
		break;
	case SHUTDOWN_REPORT_LATE:
		buf_printf(log, " %llu %llu s", (unsigned long long)r->container.id,
			   (unsigned long long)(r->container.timeout_ns / SHUTSTAGE_S));
		break;
	case SHUTDOWN_REPORT_OVERDUE:
	case SHUTDOWN_REPORT_KILLED:
	case SHUTDOWN_REPORT_SURVIVES:
		buf_printf(log, " %llu%s", (unsigned long long)r->container.id,
			   r->deaf ? " deaf" : "");
		break;
	case SHUTDOWN_REPORT_RELEASED:
		buf_printf(log, " %s", shutdown_reason_name(r->reason));
		break;
	case SHUTDOWN_REPORT_HELD_UP:
		for (size_t i = 0; i < r->n_listed; i++)
			buf_printf(log, " %s", r->holders[i].who);
		break;
	default:
		break;
	}
	buf_addc(log, '\n');
}

static void note_stop(struct buf *log, const struct effect *effect)
{
	buf_printf(log, "stop %llu %llu s", (unsigned long long)effect->id,
		   (unsigned long long)(effect->at_ns / SHUTSTAGE_S));
	if (effect->hook_ns)
		buf_printf(log, ", hook %llu s",
			   (unsigned long long)(effect->hook_ns / SHUTSTAGE_S));
	buf_addc(log, '\n');
}

static void note_lock(struct buf *log, enum effect_type type)
{
	buf_adds(log, type == EFFECT_TAKE_LOCK ? "take\n"
		      : type == EFFECT_FLUSH   ? "flush\n"
					       : "drop\n");
}

static void note_write(struct buf *log, const struct effect *effect)
{
	if (effect->type == EFFECT_WRITE_STATUS || effect->type == EFFECT_LEAVE_STATUS)
		buf_printf(log, "%s %s\n", effect->type == EFFECT_WRITE_STATUS ? "write" : "leave",
			   effect->pod_uid);
	else if (effect->type == EFFECT_CORDON || effect->type == EFFECT_UNCORDON)
		buf_adds(log, effect->type == EFFECT_CORDON ? "cordon\n" : "uncordon\n");
	else
		buf_printf(log, "%s taint\n", effect->type == EFFECT_SET_TAINT ? "set" : "clear");
}

static void note_query(struct shutstage *s, const char *uid)
{
	s->status_asked++;
	s->owes = true;
	assert_true(snprintf(s->status_of, sizeof(s->status_of), "%s", uid) > 0);
}

static void note(void *userdata, const struct effect *effect)
{
	struct shutstage *s = userdata;

	switch (effect->type) {
	case EFFECT_TAKE_LOCK:
	case EFFECT_FLUSH:
	case EFFECT_DROP_LOCK:
		note_lock(&s->log, effect->type);
		break;
	case EFFECT_LIST_HOLDERS:
		s->asks = true;
		s->lists++;
		break;
	case EFFECT_READ_COUNTS:
	case EFFECT_KILL:
		buf_printf(&s->log, "%s %llu\n",
			   effect->type == EFFECT_READ_COUNTS ? "look" : "kill",
			   (unsigned long long)effect->id);
		break;
	case EFFECT_STOP_UNITS:
	case EFFECT_START_UNITS:
		buf_adds(&s->log,
			 effect->type == EFFECT_STOP_UNITS ? "stop units\n" : "start units\n");
		break;
	case EFFECT_STOP:
		note_stop(&s->log, effect);
		break;
	case EFFECT_SIGNAL:
		buf_printf(&s->log, "signal %llu %u\n", (unsigned long long)effect->id,
			   effect->signal);
		break;
	case EFFECT_STOP_SANDBOX:
		buf_printf(&s->log, "stop sandbox %s\n", effect->pod_uid);
		break;
	case EFFECT_WATCH_VOLUMES:
	case EFFECT_LEAVE_VOLUMES:
		buf_adds(&s->log, effect->type == EFFECT_WATCH_VOLUMES ? "watch volumes\n"
								       : "leave volumes\n");
		break;
	case EFFECT_WRITE_STATUS ... EFFECT_UNCORDON:
		note_write(&s->log, effect);
		break;
	case EFFECT_FIND_POD:
		note_query(s, effect->pod_uid);
		break;
	case EFFECT_WAKE_AT:
		s->wake_ns = effect->at_ns;
		break;
	case EFFECT_REPORT:
		write_record(&s->log, effect->step);
		break;
	default:
		fail_msg("effect %u is none of a shutdown", effect->type);
	}
}

void shutstage_begin_with(struct shutstage *s, const struct shutdown_config *config)
{
	struct shutdown_config own = *config;

	own.effect = note;
	own.userdata = s;
	*s = (struct shutstage){.now_ns = START, .who = "?"};
	assert_int_equal(shutdown_new(&own, &s->sd), 0);
}

void shutstage_begin(struct shutstage *s, enum shutdown_mode mode, uint64_t deaf_grace_ns)
{
	shutstage_begin_with(s, &(struct shutdown_config){
					.mode = mode,
					.overdue_slack_ns = SHUTDOWN_OVERDUE_SLACK_NS,
					.deaf_grace_ns = deaf_grace_ns,
				});
}

void shutstage_end(struct shutstage *s)
{
	s->sd = shutdown_free(s->sd);
	buf_free(&s->log);
}

uint64_t shutstage_at(double seconds)
{
	return START + (uint64_t)(seconds * 1e9 + 0.5);
}

static void answer(struct shutstage *s)
{
	struct shutdown_holder list[32];
	struct shutdown_event event = {
		.type = SHUTDOWN_EV_HOLDERS, .holders.list = list, .holders.failed = !s->who};
	char names[1024] = "", *save = NULL;

	strncat(names, s->who ? s->who : "", sizeof(names) - 1);
	for (char *at = strtok_r(names, " ", &save); at && event.holders.n < LEN(list);
	     at = strtok_r(NULL, " ", &save))
		list[event.holders.n++] = (struct shutdown_holder){.who = at, .pid = 7};
	s->asks = false;
	assert_int_equal(shutdown_step(s->sd, &event, s->now_ns), 0);
}

static bool answers(const struct shutstage *s)
{
	return !s->who || strcmp(s->who, "?") != 0;
}

void shutstage_send(struct shutstage *s, const struct shutdown_event *event)
{
	assert_int_equal(shutdown_step(s->sd, event, s->now_ns), 0);
	if (s->asks && answers(s))
		answer(s);
	if (s->owes && !s->silent) {
		s->owes = false;
		shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_LISTED});
	}
}

void shutstage_plain(struct shutstage *s, enum shutdown_event_type type)
{
	shutstage_send(s, &(struct shutdown_event){.type = type});
}

void shutstage_run(struct shutstage *s, double seconds)
{
	uint64_t to_ns = shutstage_at(seconds);

	while (s->wake_ns && s->wake_ns <= to_ns) {
		/* A wish for what is past is one for now. */
		if (s->wake_ns > s->now_ns)
			s->now_ns = s->wake_ns;
		shutstage_plain(s, SHUTDOWN_EV_TIMER);
		assert_true(s->wake_ns == 0 || s->wake_ns > s->now_ns);
	}
	s->now_ns = to_ns;
}

void shutstage_jump(struct shutstage *s, double seconds)
{
	s->now_ns = shutstage_at(seconds);
	shutstage_run(s, seconds);
}

void shutstage_hold(struct shutstage *s)
{
	shutstage_plain(s, SHUTDOWN_EV_LOGIND_UP);
	shutstage_plain(s, SHUTDOWN_EV_LOCK_TAKEN);
	assert_string_equal(shutstage_log(s), "take\n");
}

void shutstage_announce(struct shutstage *s, double limit_s)
{
	shutstage_send(s, &(struct shutdown_event){
				  .type = SHUTDOWN_EV_ANNOUNCED,
				  .announced.limit_ns = limit_s < 0 ? 0 : (uint64_t)(limit_s * 1e9),
				  .announced.no_delay = limit_s < 0,
				  .announced.action = SHUTDOWN_POWER_OFF,
			  });
}

void shutstage_holders(struct shutstage *s, const char *who)
{
	s->who = who;
	if (answers(s))
		answer(s);
}

void shutstage_container(struct shutstage *s, const struct shutdown_container *c)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_CONTAINER, .container = *c});
}

void shutstage_pod(struct shutstage *s, const char *uid, uint32_t group, bool stopping, bool ended)
{
	shutstage_send(s, &(struct shutdown_event){.type = SHUTDOWN_EV_POD,
						   .pod.uid = uid,
						   .pod.group = group,
						   .pod.stopping = stopping,
						   .pod.ended = ended});
}

struct shutdown_container shutstage_asked(void)
{
	return (struct shutdown_container){
		.id = 7,
		.pod_uid = "web",
		.kind = SHUTDOWN_KIND_CONTAINER,
		.populated = true,
		.asked_ns = shutstage_at(2),
		.signal = 15,
		.timeout_known = true,
		.timeout_ns = 10 * SHUTSTAGE_S,
	};
}

void shutstage_assist(struct shutstage *s, uint64_t deaf_grace_ns, const char *who)
{
	struct shutdown_container c = shutstage_asked();

	shutstage_begin(s, SHUTDOWN_ASSIST, deaf_grace_ns);
	c.asked_ns = 0;
	shutstage_container(s, &c);
	shutstage_hold(s);
	shutstage_run(s, 1);
	shutstage_announce(s, 60);
	shutstage_holders(s, who);
	assert_string_equal(shutstage_log(s), "announced\n");
}

const char *shutstage_log(struct shutstage *s)
{
	static char text[4096];

	text[0] = '\0';
	strncat(text, buf_str(&s->log), sizeof(text) - 1);
	buf_reset(&s->log);
	return text;
}
