// SPDX-License-Identifier: Apache-2.0
/* How records become rows of graced top: copies, for a record lives no longer than its report. */
#include "core/top/top.h"

#include <stdio.h>
#include <string.h>

#include "core/stop/advice.h"

#define SHORT_UID  8
#define SHORT_ID   12
#define LABEL_SIZE 1024 /* more than a namespace, a pod's and a container's name take */
#define KILLER_OOM "OOM killer"
#define PROGRAM	   " (" /* of a container without a name */

/* The end of a name is what distinguishes it from others; a character is never halved. */
static void copy_end(char *to, size_t size, const char *text)
{
	size_t len = strlen(text), at = len < size ? 0 : len - size + 1;

	while (((unsigned char)text[at] & 0xc0) == 0x80)
		at++;
	memcpy(to, text + at, len - at + 1);
}

static void add_container(char *label, size_t size, const struct record_container *c,
			  const struct record_process *process)
{
	size_t n = strlen(label);

	if (c->kind == CONTAINER_KIND_PROCESS && process && process->comm)
		snprintf(label + n, size - n, "%s[%u]", process->comm, process->pid);
	else if (c->name)
		snprintf(label + n, size - n, "%s", c->name);
	else if (c->kind == CONTAINER_KIND_SANDBOX)
		snprintf(label + n, size - n, "sandbox?");
	else if (c->id && process && process->comm)
		snprintf(label + n, size - n, "%.*s" PROGRAM "%s)", SHORT_ID, c->id, process->comm);
	else if (c->id)
		snprintf(label + n, size - n, "%.*s", SHORT_ID, c->id);
	else
		snprintf(label + n, size - n, "%s",
			 c->cgroup ? record_last_component(c->cgroup) : "-");
}

/* "namespace/pod/container", or where a name is not known the beginning of an id, and the
 * program. */
static void copy_label(char ret[TOP_NAME_SIZE], const struct record_pod *pod,
		       const struct record_container *c, const struct record_process *process)
{
	char label[LABEL_SIZE] = "";

	if (pod->known && pod->name)
		snprintf(label, sizeof(label), "%s%s%s/", pod->namespace_ ? pod->namespace_ : "",
			 pod->namespace_ ? "/" : "", pod->name);
	else if (pod->known && pod->uid)
		snprintf(label, sizeof(label), "%.*s/", SHORT_UID, pod->uid);
	add_container(label, sizeof(label), c, process);
	copy_end(ret, TOP_NAME_SIZE, label);
}

static bool has_process(const struct record_sender *sender)
{
	return sender->process.comm && sender->kind != SENDER_KERNEL &&
	       sender->kind != SENDER_UNKNOWN;
}

/* "runc[812]" */
static void copy_sender(char ret[TOP_WHO_SIZE], const struct record_sender *sender)
{
	const char *kind = sender_kind_name(sender->kind);

	if (has_process(sender))
		snprintf(ret, TOP_WHO_SIZE, "%s[%u]", sender->process.comm, sender->process.pid);
	else
		snprintf(ret, TOP_WHO_SIZE, "%s", kind ? kind : "unknown");
}

/* "runc (runtime)", "sh (shop/cart-7/main)": the same for all processes of one program there. */
static void copy_killer(char ret[TOP_WHO_SIZE], const struct record_sender *sender)
{
	const char *kind = sender_kind_name(sender->kind);
	char place[TOP_NAME_SIZE] = "";

	if (!has_process(sender)) {
		copy_sender(ret, sender);
		return;
	}
	if (sender->container.known || sender->pod.known)
		copy_label(place, &sender->pod, &sender->container, NULL);
	else if (kind && sender->kind != SENDER_HOST && strcmp(kind, sender->process.comm) != 0)
		snprintf(place, sizeof(place), "%s", kind);
	snprintf(ret, TOP_WHO_SIZE, "%.*s%s%.*s%s", GRACED_COMM_LEN, sender->process.comm,
		 *place ? " (" : "", TOP_WHO_SIZE - GRACED_COMM_LEN - 4, place, *place ? ")" : "");
}

/* Makes the row at that place the first one, and the ones before it the next. */
static void move_first(void *rows, size_t size, size_t at, const void *row)
{
	memmove((char *)rows + size, rows, at * size);
	memcpy(rows, row, size);
}

static void add_stopped(struct top_data *d, const struct top_stop *stop)
{
	size_t *n = &d->n[TOP_STOPPED];

	*n += *n < TOP_STOPPED_MAX;
	move_first(d->stopped, sizeof(*stop), *n - 1, stop);
}

/* Whatever its container runs by now. */
static size_t find_deaf(const struct top_data *d, const char *name)
{
	const char *program = strstr(name, PROGRAM);
	size_t at = 0, len = program ? (size_t)(program - name) : strlen(name);

	for (; at < d->n[TOP_DEAF]; at++) {
		const char *rest = d->deaf[at].name + len;

		if (strncmp(d->deaf[at].name, name, len) == 0 &&
		    (!*rest || strncmp(rest, PROGRAM, strlen(PROGRAM)) == 0))
			break;
	}
	return at;
}

static void add_deaf(struct top_data *d, struct top_deaf *deaf)
{
	size_t *n = &d->n[TOP_DEAF], at = find_deaf(d, deaf->name);

	if (at < *n) {
		deaf->times += d->deaf[at].times;
		deaf->found = deaf->now && d->deaf[at].found;
		deaf->was |= d->deaf[at].was;
	} else if (*n < TOP_DEAF_MAX) {
		(*n)++;
	} else {
		at = TOP_DEAF_MAX - 1;
	}
	move_first(d->deaf, sizeof(*deaf), at, deaf);
}

/* The stop of a container that may be on the list is over: one that acted on its signal, or left by
 * itself, was not deaf. */
static void end_deaf(struct top_data *d, const char *name, const struct record_stop *stop)
{
	size_t *n = &d->n[TOP_DEAF], at = find_deaf(d, name);
	struct top_deaf *deaf = d->deaf + at;

	if (at == *n)
		return;
	deaf->now = deaf->signalled = deaf->found = false;
	deaf->was |= stop->outcome == OUTCOME_KILLED && stop->stop_signal.known;
	if (!deaf->was)
		memmove(deaf, deaf + 1, (--*n - at) * sizeof(*deaf));
}

/* The one with the fewest kills makes room, of several the one that killed longest ago. */
static struct top_killer *weakest(struct top_data *d)
{
	struct top_killer *weak = d->killers;

	for (size_t i = 1; i < d->n[TOP_KILLERS]; i++) {
		struct top_killer *k = &d->killers[i];

		if (k->kills < weak->kills ||
		    (k->kills == weak->kills && k->last_ns < weak->last_ns))
			weak = k;
	}
	return weak;
}

static struct top_killer *find_killer(struct top_data *d, const char *who)
{
	size_t *n = &d->n[TOP_KILLERS];
	struct top_killer *killer;

	for (size_t i = 0; i < *n; i++)
		if (strcmp(d->killers[i].who, who) == 0)
			return &d->killers[i];
	killer = *n < TOP_KILLERS_MAX ? &d->killers[(*n)++] : weakest(d);
	*killer = (struct top_killer){};
	strcpy(killer->who, who);
	return killer;
}

static bool is_early(enum cause cause)
{
	return cause == CAUSE_KILLED_EARLY || cause == CAUSE_NO_GRACE;
}

/* The kernel's. */
static bool by_oom_killer(const struct record_stop *stop)
{
	return stop->outcome == OUTCOME_OOM_KILLED && stop->cause != CAUSE_OOM_USERSPACE;
}

static void count_kill(struct top_data *d, const struct record *record,
		       const struct top_stop *stopped)
{
	const struct record_stop *stop = &record->stop;
	char who[TOP_WHO_SIZE] = KILLER_OOM;
	struct top_killer *killer;

	if (stop->outcome != OUTCOME_KILLED && stop->outcome != OUTCOME_OOM_KILLED)
		return;
	if (!by_oom_killer(stop) && stop->kill_signal.known)
		copy_killer(who, &record_killer(stop)->sender);
	else if (stop->cause == CAUSE_OOM_USERSPACE)
		copy_killer(who, &stop->stop_signal.sender);
	else if (stop->outcome == OUTCOME_KILLED)
		strcpy(who, "unknown");
	killer = find_killer(d, who);
	killer->kills++;
	killer->early += is_early(stop->cause);
	killer->last_ns = stopped->at_ns;
	memcpy(killer->victim, stopped->name, sizeof(killer->victim));
	d->killed++;
	d->early += is_early(stop->cause);
}

static void copy_ender(char ret[TOP_WHO_SIZE], const struct record_stop *stop)
{
	struct record_sender ender;

	if (by_oom_killer(stop))
		strcpy(ret, KILLER_OOM);
	else if (record_ender(stop, &ender))
		copy_sender(ret, &ender);
}

/* A stop that is over: its row, that of a container that is deaf, and that of who killed it. */
static void take_stop(struct top_data *d, const struct record *record)
{
	const struct record_stop *stop = &record->stop;
	bool timed = stop->latency_known && grace_known(&stop->grace);
	struct top_stop row = {
		.at_ns = record->at_ns,
		.outcome = stop->outcome,
		.cause = stop->cause,
		.took_known = stop->latency_known,
		.took_ns = stop->latency_ns,
		.margin_known = timed,
		.margin_ns = timed ? (int64_t)(stop->grace.ns - stop->latency_ns) : 0,
		.complete = !(stop->gaps & ~(1u << GAP_ATTACHED_LATE)),
		.reason = stop->reason,
		.badness = record_badness(stop),
	};
	struct top_deaf deaf = {.topic = advice_of_unheard(stop->reason),
				.times = 1,
				.last_ns = record->at_ns,
				.was = true};
	bool acted = stop->outcome == OUTCOME_GRACEFUL || stop->outcome == OUTCOME_TERMINATED;

	copy_label(row.name, &stop->pod, &stop->container, &stop->process);
	copy_ender(row.by, stop);
	add_stopped(d, &row);
	d->all_stopped++;
	count_kill(d, record, &row);
	memcpy(deaf.name, row.name, sizeof(deaf.name));
	/* What was deaf before its program ran, or had its handler, is not there any more. */
	if (stop->reason == UNHEARD_NONE || stop->reason == UNHEARD_BEFORE_EXEC ||
	    stop->reason == UNHEARD_BEFORE_HANDLER || acted)
		end_deaf(d, row.name, stop);
	else
		add_deaf(d, &deaf);
}

/* A signal that had no effect on the init of a container; its stop is counted when it is over. */
static void take_signal(struct top_data *d, const struct record *record)
{
	const struct record_signal *signal = &record->signal;
	struct top_deaf deaf = {.topic = advice_of_unheard(signal->reason),
				.last_ns = record->at_ns,
				.now = true,
				.signalled = true};

	if (!signal->deaf || !signal->target_init)
		return;
	copy_label(deaf.name, &signal->pod, &signal->container, &signal->target);
	add_deaf(d, &deaf);
}

/* What has no deadline gives way first. */
static bool is_later(const struct top_stop *a, const struct top_stop *b)
{
	return a->deadline_ns - 1 > b->deadline_ns - 1;
}

static struct top_stop *find_room(struct top_list *list, const struct top_stop *row)
{
	size_t last = 0;

	if (list->n < TOP_STOPPING_MAX)
		return &list->rows[list->n++];
	for (size_t i = 1; i < list->n; i++)
		if (is_later(&list->rows[i], &list->rows[last]))
			last = i;
	return is_later(&list->rows[last], row) ? &list->rows[last] : NULL;
}

static void take_stopping(struct top_list *list, const struct record_stop *stop)
{
	const struct record_sigref *asked =
		stop->stop_signal.known ? &stop->stop_signal : &stop->kill_signal;
	struct top_stop row = {
		.signal = asked->number,
		.at_ns = asked->at_ns,
		.deaf = stop->deaf,
		.killed = stop->kill_signal.known,
		.reason = stop->reason,
	};
	struct top_stop *room;

	if (stop->stop_signal.known && grace_known(&stop->grace)) {
		row.grace_ns = stop->grace.ns;
		row.deadline_ns = asked->at_ns + stop->grace.ns;
	}
	copy_label(row.name, &stop->pod, &stop->container, &stop->process);
	copy_sender(row.by, &asked->sender);
	list->all++;
	room = find_room(list, &row);
	if (room)
		*room = row;
}

/* --- records ----------------------------------------------------------------------------------- */

/* For sure; a guess has its row. */
static bool is_sandbox(const struct record *record)
{
	if (record->type == RECORD_SIGNAL)
		return record->signal.container.kind == CONTAINER_KIND_SANDBOX;
	return record->type == RECORD_STOP &&
	       record->stop.container.kind == CONTAINER_KIND_SANDBOX &&
	       !(record->stop.gaps >> GAP_SANDBOX_GUESSED & 1);
}

void top_record(struct top *top, const struct record *record)
{
	struct top_data *d = &top->live;

	if (is_sandbox(record) || !filter_matches(&top->records, record))
		return;
	if (record->type == RECORD_STOP)
		take_stop(d, record);
	else if (record->type == RECORD_SIGNAL)
		take_signal(d, record);
	else if (record->type == RECORD_LOST)
		d->lost = record_events_lost(&record->lost);
}

void top_set_moment(struct top *top, uint64_t now_ns, int64_t wall_offset_ns, uint64_t missed)
{
	top->live.now_ns = now_ns;
	top->live.wall_offset_ns = wall_offset_ns;
	top->live.missed = missed;
}

void top_add_stopping(struct top *top, const struct record_stop *stop)
{
	const struct record record = {.type = RECORD_STOP, .stop = *stop};

	if (!is_sandbox(&record) && filter_matches(&top->records, &record))
		take_stopping(&top->coming, stop);
}

void top_end_stopping(struct top *top)
{
	struct top_list *list = &top->coming;
	struct top_data *d = &top->live;

	memcpy(d->stopping, list->rows, list->n * sizeof(*list->rows));
	d->n[TOP_STOPPING] = list->n;
	d->all_stopping = list->all;
	list->n = 0;
	list->all = 0;
}

/* --- the audit --------------------------------------------------------------------------------- */

bool top_finding_of(const struct audit_record *record, struct top_finding *ret)
{
	struct top_finding finding = {};

	if (record->container.kind == CONTAINER_KIND_SANDBOX ||
	    !advice_find_deafness(&record->audit, &finding.topic))
		return false;
	copy_label(finding.name, &record->pod, &record->container, &record->process);
	*ret = finding;
	return true;
}

void top_begin_audit(struct top *top)
{
	struct top_data *d = &top->live;

	for (size_t i = 0; i < d->n[TOP_DEAF]; i++)
		d->deaf[i].found = false;
}

/* A new row; in a full list in place of the last one of a container that only was deaf. NULL: all
 * are. */
static struct top_deaf *find_deaf_room(struct top_data *d)
{
	size_t at = d->n[TOP_DEAF];

	if (at < TOP_DEAF_MAX)
		return &d->deaf[d->n[TOP_DEAF]++];
	while (at > 0 && d->deaf[at - 1].now)
		at--;
	return at ? &d->deaf[at - 1] : NULL;
}

void top_add_finding(struct top *top, const struct top_finding *finding)
{
	struct top_data *d = &top->live;
	size_t at = find_deaf(d, finding->name);
	bool listed = at < d->n[TOP_DEAF];
	struct top_deaf *deaf = listed ? d->deaf + at : find_deaf_room(d);

	if (!deaf)
		return;
	if (!listed) {
		*deaf = (struct top_deaf){};
		memcpy(deaf->name, finding->name, TOP_NAME_SIZE);
	}
	deaf->topic = finding->topic;
	deaf->found = deaf->now = true;
}

void top_end_audit(struct top *top)
{
	struct top_data *d = &top->live;
	size_t n = 0;

	for (size_t i = 0; i < d->n[TOP_DEAF]; i++) {
		d->deaf[i].now = d->deaf[i].found || d->deaf[i].signalled;
		if (d->deaf[i].now || d->deaf[i].was)
			d->deaf[n++] = d->deaf[i];
	}
	d->n[TOP_DEAF] = n;
}
