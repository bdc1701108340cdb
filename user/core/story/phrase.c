// SPDX-License-Identifier: Apache-2.0
#include "core/story/phrase.h"

#include <string.h>

#include "base/duration.h"
#include "base/signame.h"
#include "base/utf8.h"

static void add_quoted(struct buf *out, const char *name)
{
	buf_addc(out, '"');
	for (size_t n; *name; name += n) {
		n = strcspn(name, "\"");
		utf8_add_visible(out, name, n);
		if (name[n]) {
			buf_adds(out, "\\\"");
			n++;
		}
	}
	buf_addc(out, '"');
}

void phrase_add_comm(struct buf *out, const char *comm)
{
	if (!comm || !*comm)
		buf_addc(out, '?');
	else if (comm[strcspn(comm, ",;[]\"")])
		add_quoted(out, comm); /* it could make a sentence of its own */
	else
		utf8_add_readable(out, comm);
}

void phrase_add_process(struct buf *out, const struct record_process *p)
{
	if (!p->pid) {
		buf_adds(out, "a process");
		return;
	}
	phrase_add_comm(out, p->comm);
	buf_printf(out, p->ns_pid ? "[%u]" : "[%u on the host]", p->ns_pid ?: p->pid);
}

void phrase_add_process_then(struct buf *out, const struct record_process *p, const char *comm)
{
	struct record_process then = *p;

	if (comm && *comm)
		then.comm = comm;
	phrase_add_process(out, &then);
}

void phrase_add_init(struct buf *out, const struct record_stop *stop)
{
	if (stop->process.pid)
		phrase_add_process(out, &stop->process);
	else
		buf_adds(out, "the init");
}

void phrase_add_signal(struct buf *out, uint32_t number)
{
	char name[SIGNAME_SIZE];

	buf_adds(out, signame_format(number, name));
}

/* SIGQUIT, SIGILL, SIGTRAP, SIGABRT, SIGBUS, SIGFPE, SIGSEGV, SIGXCPU, SIGXFSZ, SIGSYS. */
bool phrase_dumps_core(uint32_t number)
{
	const uint32_t dumping = 1U << 3 | 1U << 4 | 1U << 5 | 1U << 6 | 1U << 7 | 1U << 8 |
				 1U << 11 | 1U << 24 | 1U << 25 | 1U << 31;

	return number <= 31 && dumping >> number & 1;
}

void phrase_add_time(struct buf *out, uint64_t from_ns, uint64_t to_ns)
{
	char text[DURATION_SIZE];

	buf_adds(out, duration_format(to_ns > from_ns ? to_ns - from_ns : 0, text));
}

void phrase_add_parent_death(struct buf *out, const struct record_member *m)
{
	/* The kernel sends it also when a thread ends. Who was its parent to the end went on. */
	bool known = m && m->by == ENDED_PARENT_DEATH && m->parent_pid;
	bool thread = known && m->fatal.process.pid == m->parent_pid;

	buf_adds(out,
		 thread	 ? " because the thread that was its parent had ended"
		 : known ? " because its parent had died"
			 : " because its parent, or the thread that had started it, had ended");
	buf_adds(out, " (PR_SET_PDEATHSIG)");
}

/* What it was when the signal came. */
static void add_before_exec(struct buf *out, const struct record_stop *stop)
{
	char after[DURATION_SIZE];
	uint64_t after_ns;
	const char *comm = record_before_exec(stop, &after_ns);

	if (!comm)
		return;
	buf_adds(out, " (it was still ");
	phrase_add_comm(out, comm);
	buf_printf(out, ", %s after its start)", duration_format(after_ns, after));
}

bool phrase_is_frozen(const struct record_stop *stop)
{
	for (size_t i = 0; i < stop->n_waited_for; i++)
		if (stop->waited_for[i].what == WAIT_FOR_THAW)
			return true;
	return false;
}

bool phrase_child_is_shielded(const struct record_stop *stop)
{
	const struct record_member *to = record_find_member(stop, stop->forward.to.pid);

	return to && to->asked.number && to->asked.number == stop->forward.number &&
	       to->disposition == DISPOSITION_DEFAULT;
}

void phrase_add_reason(struct buf *out, const struct record_stop *stop)
{
	const char *text = unheard_of_init(stop->reason);
	size_t len;

	if (stop->reason == UNHEARD_STOPPED && phrase_is_frozen(stop))
		text = "was frozen when $ came";
	else if (stop->reason == UNHEARD_CHILD_IGNORED && phrase_child_is_shielded(stop))
		text = "passed $ on to its child, which is PID 1 of a pid namespace of its own and "
		       "has no handler for it";
	len = strcspn(text, "$");
	buf_add(out, text, len);
	if (!text[len])
		return;
	phrase_add_signal(out, stop->reason == UNHEARD_CHILD_IGNORED && stop->forward.count
				       ? stop->forward.number
				       : stop->stop_signal.number);
	buf_adds(out, text + len + 1);
	add_before_exec(out, stop);
}

bool phrase_may_miss_request(const struct record_stop *stop)
{
	return stop->gaps &
	       (1u << GAP_DAEMON_DOWN | 1u << GAP_EVENTS_LOST | 1u << GAP_ATTACHED_LATE |
		1u << GAP_SUPPRESSED | 1u << GAP_STOP_SIGNAL_UNKNOWN | 1u << GAP_SENDER_UNKNOWN |
		1u << GAP_SHED | 1u << GAP_INIT_UNSEEN);
}

/* --- senders ----------------------------------------------------------------------------------- */

/* What the record has of the process that sent a signal beside its kind; NULL: nothing. */
static const struct record_sender *find_sender(const struct record_stop *stop,
					       const struct record_process *p)
{
	const struct record_sigref *const signals[] = {&stop->kill_signal, &stop->stop_signal,
						       &stop->keeper_signal};

	for (size_t i = 0; i < sizeof(signals) / sizeof(*signals); i++)
		if (signals[i]->known && p->pid && signals[i]->sender.process.pid == p->pid)
			return &signals[i]->sender;
	return NULL;
}

static bool is_same(const char *a, const char *b)
{
	return a && b && strcmp(a, b) == 0;
}

static bool is_inside(const struct record_stop *stop, const struct record_sender *s,
		      const struct record_asked *signal)
{
	return signal->inside || (s && (is_same(s->container.id, stop->container.id) ||
					is_same(s->cgroup, stop->container.cgroup)));
}

/* Where a process of a container is. */
static void add_contained(struct buf *out, const struct record_stop *stop,
			  const struct record_sender *s, const struct record_asked *signal)
{
	enum sender_kind kind = signal->sender;

	if (is_inside(stop, s, signal)) {
		buf_adds(out, "its container");
		return;
	}
	if (s && s->pod.known && is_same(s->pod.uid, stop->pod.uid)) {
		buf_adds(out, "its pod");
	} else if (s && s->pod.known && s->pod.name) {
		buf_adds(out, "pod ");
		phrase_add_comm(out, s->pod.namespace_);
		buf_addc(out, '/');
		phrase_add_comm(out, s->pod.name);
	} else if (s && kind == SENDER_CONTAINER && s->container.name) {
		buf_adds(out, "container ");
		phrase_add_comm(out, s->container.name);
		return;
	} else {
		buf_adds(out, kind == SENDER_POD ? "a pod" : "a container");
		return;
	}
	if (s->container.name) {
		buf_adds(out, ", container ");
		phrase_add_comm(out, s->container.name);
	}
}

/* Where no process is known, or which one it is does not matter. */
static const char *const unnamed_senders[SENDER_KIND_COUNT] = {
	[SENDER_KERNEL] = "the kernel",
	[SENDER_RUNTIME] = "the runtime",
	[SENDER_KUBELET] = "the kubelet",
	[SENDER_SYSTEMD] = "systemd",
	[SENDER_GRACED] = "graced",
	[SENDER_HOST] = "a process of the host",
	[SENDER_POD] = "a process in a container",
	[SENDER_CONTAINER] = "a process in a container",
};

static const char *const places[SENDER_KIND_COUNT] = {
	[SENDER_RUNTIME] = "the runtime",
	[SENDER_HOST] = "on the host",
	[SENDER_POD] = "in ",
	[SENDER_CONTAINER] = "in ",
	[SENDER_UNPLACED] = "perhaps in a container",
};

static void add_ancestors(struct buf *out, const struct record_sender *s)
{
	for (int i = 0; i < GRACED_ANCESTORS && s->ancestors[i]; i++) {
		buf_adds(out, i ? ", " : "; parents: ");
		phrase_add_comm(out, s->ancestors[i]);
	}
}

/* One that the record lists as its container sees it, another one as a person would look for it on
 * the host. Of a signal of the kernel the process is the one that ran then. */
static void add_sender(struct buf *out, const struct record_stop *stop,
		       const struct record_asked *signal, const struct record_sender *known,
		       bool in_full)
{
	const struct record_process *p = &signal->process;
	enum sender_kind kind = signal->sender;
	const struct record_member *own = record_find_member(stop, p->pid);

	if (!p->pid || kind == SENDER_KERNEL || kind == SENDER_UNKNOWN) {
		buf_adds(out, unnamed_senders[kind] ?: "an unknown sender");
		return;
	}
	if (own || p->pid == stop->process.pid) {
		phrase_add_process_then(out, own ? &own->process : &stop->process, p->comm);
		return;
	}
	if ((kind == SENDER_POD || kind == SENDER_CONTAINER) && is_inside(stop, known, signal)) {
		phrase_add_process(out, p);
	} else {
		phrase_add_comm(out, p->comm);
		buf_printf(out, "[%u]", p->pid);
	}
	if (!places[kind])
		return;
	buf_printf(out, " (%s", places[kind]);
	if (kind == SENDER_POD || kind == SENDER_CONTAINER)
		add_contained(out, stop, known, signal);
	if (in_full && known && kind != SENDER_RUNTIME)
		add_ancestors(out, known);
	buf_addc(out, ')');
}

void phrase_add_sender(struct buf *out, const struct record_stop *stop,
		       const struct record_asked *signal)
{
	add_sender(out, stop, signal, find_sender(stop, &signal->process), false);
}

void phrase_add_culprit(struct buf *out, const struct record_stop *stop,
			const struct record_sender *s)
{
	const struct record_asked signal = {.sender = s->kind, .process = s->process};

	add_sender(out, stop, &signal, s, true);
}
