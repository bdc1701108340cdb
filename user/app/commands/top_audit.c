// SPDX-License-Identifier: Apache-2.0
/* The child audits, and sends a packet for each container that is deaf; the parent takes them as
 * they come. */
#include "app/commands/top_audit.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "app/commands/audit.h"
#include "io/proc/child.h"
#include "io/proc/clock.h"

/* An audit takes less than one part in PACE of the time, and begins PAUSE after the one before at
 * the earliest. One that takes longer than LIMIT is given up. */
#define PACE	 20
#define PAUSE_US 5000000
#define LIMIT_US 60000000
#define NICE	 10

#define PACKETS_A_TURN 64

struct topaudit {
	const struct options *options;
	struct top *top;
	void (*changed)(void *userdata);
	void *userdata;
	sd_event_source *timer, *input;
	struct child child; /* pid 0: none runs */
	uint64_t begun_ns;  /* CLOCK_MONOTONIC */
	bool whole;	    /* the child has sent its last packet */
};

/* --- the child --------------------------------------------------------------------------------- */

static int send_findings(const struct audit_record *records, size_t n)
{
	struct top_finding finding;
	size_t sent = 0;

	for (size_t i = 0; i < n && sent < TOP_DEAF_MAX; i++) {
		if (!top_finding_of(records + i, &finding))
			continue;
		if (send(0, &finding, sizeof(finding), MSG_NOSIGNAL) < 0)
			return -errno;
		sent++;
	}
	/* A packet without a name is the last one. */
	finding = (struct top_finding){};
	return send(0, &finding, sizeof(finding), MSG_NOSIGNAL) < 0 ? -errno : 0;
}

static void run(void *userdata, bool confined)
{
	struct audit_list list = {.quiet = true};
	struct audit_record *records;
	char node[AUDIT_NODE_SIZE];
	size_t n;
	int r;

	setpriority(PRIO_PROCESS, 0, NICE);
	r = audit_scan(userdata, 0, &list);
	if (r == 0)
		r = audit_records(userdata, &list, node, &records, &n);
	if (r == 0)
		r = send_findings(records, n);
	child_end(r < 0);
}

/* --- the parent -------------------------------------------------------------------------------- */

static void end_child(struct topaudit *a)
{
	a->input = sd_event_source_disable_unref(a->input);
	child_stop(&a->child);
}

/* Ends the audit that runs, and has the next one wait. */
static void end_round(struct topaudit *a)
{
	uint64_t took_us = (clock_monotonic_ns() - a->begun_ns) / 1000;
	uint64_t pause_us = PACE * took_us > PAUSE_US ? PACE * took_us : PAUSE_US;

	end_child(a);
	if (a->whole) {
		top_end_audit(a->top);
		a->changed(a->userdata);
	}
	sd_event_source_set_time_relative(a->timer, pause_us);
	sd_event_source_set_enabled(a->timer, SD_EVENT_ONESHOT);
}

/* False: nothing more is to come, now or at all. */
static bool take_packet(struct topaudit *a)
{
	struct top_finding finding;
	ssize_t n = recv(a->child.fd, &finding, sizeof(finding), MSG_DONTWAIT);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return false;
	a->whole = n == sizeof(finding) && !finding.name[0];
	if (n != sizeof(finding) || a->whole) {
		end_round(a);
		return false;
	}
	top_add_finding(a->top, &finding);
	return true;
}

static int on_input(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct topaudit *a = userdata;

	for (int i = 0; i < PACKETS_A_TURN && take_packet(a); i++)
		a->changed(a->userdata);
	return 0;
}

static int begin_round(struct topaudit *a, sd_event *event)
{
	int r = child_start_privileged("graced-audit", run, (void *)a->options, &a->child);

	a->begun_ns = clock_monotonic_ns();
	a->whole = false;
	if (r < 0)
		return r;
	top_begin_audit(a->top);
	return sd_event_add_io(event, &a->input, a->child.fd, EPOLLIN, on_input, a);
}

/* Either the next audit is due, or the one that runs takes too long. */
static int on_timer(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct topaudit *a = userdata;

	if (a->child.pid || begin_round(a, sd_event_source_get_event(source)) < 0) {
		end_round(a);
		return 0;
	}
	sd_event_source_set_time_relative(source, LIMIT_US);
	return sd_event_source_set_enabled(source, SD_EVENT_ONESHOT);
}

int topaudit_new(const struct options *options, struct top *top, sd_event *event,
		 void (*changed)(void *userdata), void *userdata, struct topaudit **ret)
{
	struct topaudit *a = calloc(1, sizeof(*a));
	int r;

	if (!a)
		return -ENOMEM;
	*a = (struct topaudit){
		.options = options, .top = top, .changed = changed, .userdata = userdata};
	r = sd_event_add_time(event, &a->timer, CLOCK_MONOTONIC, 0, 1000, on_timer, a);
	if (r < 0) {
		free(a);
		return r;
	}
	*ret = a;
	return 0;
}

struct topaudit *topaudit_free(struct topaudit *a)
{
	if (!a)
		return NULL;
	end_child(a);
	sd_event_source_disable_unref(a->timer);
	free(a);
	return NULL;
}
