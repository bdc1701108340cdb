// SPDX-License-Identifier: Apache-2.0
/* Filters over records: every condition given must hold. */
#include "core/stop/filter.h"

#include <string.h>

#define MIN_ID_PREFIX  4
#define MIN_UID_PREFIX 8

static bool same(const char *wanted, const char *value)
{
	return value && strcmp(wanted, value) == 0;
}

/* Where it is long enough to distinguish one from another. */
static bool begins(const char *value, const char *wanted, size_t least)
{
	size_t n = strlen(wanted);

	return n >= least && value && strncmp(value, wanted, n) == 0;
}

static bool pod_matches(const struct filter *f, const struct record_pod *pod)
{
	if (f->namespace_ && !same(f->namespace_, pod->namespace_))
		return false;
	return !f->pod || same(f->pod, pod->name) || begins(pod->uid, f->pod, MIN_UID_PREFIX);
}

static bool container_matches(const struct filter *f, const struct record_container *c)
{
	return !f->container || same(f->container, c->name) ||
	       begins(c->id, f->container, MIN_ID_PREFIX);
}

static bool subject_matches(const struct filter *f, const struct record_pod *pod,
			    const struct record_container *container)
{
	return pod_matches(f, pod) && container_matches(f, container);
}

static bool number_matches(const struct filter *f, uint32_t number)
{
	return number >= 1 && number <= 64 && f->sigmask >> (number - 1) & 1;
}

static bool sigref_matches(const struct filter *f, const struct record_sigref *s)
{
	if (!s->known)
		return false;
	if (f->sigmask && !number_matches(f, s->number))
		return false;
	return !f->sender_comm || same(f->sender_comm, s->sender.process.comm);
}

static bool stop_matches(const struct filter *f, const struct record_stop *s)
{
	if (!subject_matches(f, &s->pod, &s->container))
		return false;
	if (f->outcome != OUTCOME_COUNT && f->outcome != s->outcome)
		return false;
	if (!f->sigmask && !f->sender_comm)
		return true;
	if (f->sigmask && !f->sender_comm && s->exit.known &&
	    number_matches(f, s->exit.status & 0x7f))
		return true;
	return sigref_matches(f, &s->stop_signal) || sigref_matches(f, &s->kill_signal);
}

static bool signal_matches(const struct filter *f, const struct record_signal *s)
{
	if (!f->signals || !subject_matches(f, &s->pod, &s->container))
		return false;
	if (f->sigmask && !number_matches(f, s->number))
		return false;
	return !f->sender_comm || same(f->sender_comm, s->sender.process.comm);
}

/* A filter for signals or outcomes asks for stops; other records only fit without one. */
static bool asks_for_stops(const struct filter *f)
{
	return f->sigmask || f->sender_comm || f->outcome != OUTCOME_COUNT;
}

bool filter_matches(const struct filter *f, const struct record *r)
{
	switch (r->type) {
	case RECORD_STOP:
		return stop_matches(f, &r->stop);
	case RECORD_SIGNAL:
		return signal_matches(f, &r->signal);
	case RECORD_EMPTY:
		return !asks_for_stops(f) && subject_matches(f, &r->empty.pod, &r->empty.container);
	case RECORD_OOM:
		return !asks_for_stops(f) && subject_matches(f, &r->oom.pod, &r->oom.container);
	case RECORD_RUNTIME_EXIT:
		return !asks_for_stops(f) &&
		       subject_matches(f, &r->runtime_exit.pod, &r->runtime_exit.container);
	case RECORD_POD:
		return !asks_for_stops(f) && !f->container && pod_matches(f, &r->pod_state.pod);
	case RECORD_POD_READY:
		return !asks_for_stops(f) && !f->container && pod_matches(f, &r->pod_ready.pod);
	case RECORD_DISCREPANCY:
		return !asks_for_stops(f) &&
		       subject_matches(f, &r->discrepancy.pod, &r->discrepancy.container);
	case RECORD_SHUTDOWN:
		return !r->shutdown.container.known ||
		       subject_matches(f, &r->shutdown.pod, &r->shutdown.container);
	default:
		return true;
	}
}
