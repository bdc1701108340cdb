// SPDX-License-Identifier: Apache-2.0
// Reads the tracepoint signal:signal_generate, and compares.
#include "lib/kernel/fates.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#define SENT_MAX 512
#define SLACK_NS 1500000000ull /* of a wrapper's timer on a busy machine */

/* What the kernel writes behind the tracepoint's name. */
struct sent_signal {
	int sender, target, signal, code, result;
	double at;
};

#define RESULT_DELIVERED 0

static char root[64], instance[128];
static struct sent_signal sent[SENT_MAX];
static size_t n_sent;

static int put(const char *file, const char *text)
{
	char path[256];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "%s/%s", instance, file);
	fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	n = write(fd, text, strlen(text));
	close(fd);
	return n == (ssize_t)strlen(text) ? 0 : -EIO;
}

const char *fates_open(void)
{
	snprintf(root, sizeof(root), "/tmp/graced-fates-%d", (int)getpid());
	snprintf(instance, sizeof(instance), "%s/instances/graced-%d", root, (int)getpid());
	if (mkdir(root, 0700) < 0 || mount("tracefs", root, "tracefs", 0, NULL) < 0) {
		rmdir(root);
		root[0] = '\0';
		return "tracefs cannot be mounted";
	}
	if (mkdir(instance, 0700) < 0 || put("trace_clock", "boot") < 0 ||
	    put("events/signal/signal_generate/enable", "1") < 0) {
		fates_close();
		return "signals cannot be traced";
	}
	return NULL;
}

void fates_close(void)
{
	if (!root[0])
		return;
	put("events/signal/signal_generate/enable", "0");
	rmdir(instance);
	umount2(root, MNT_DETACH);
	rmdir(root);
	root[0] = '\0';
}

static const json_t *processes(const json_t *rec)
{
	return json_object_get(rec, "processes");
}

void fates_of(const json_t *rec, char *ret, size_t size)
{
	const json_t *p;
	size_t i, len = 0;

	ret[0] = '\0';
	json_array_foreach(processes(rec), i, p) {
		len += (size_t)snprintf(ret + len, size - len, "%s%s", i ? " " : "",
					jrec_text(p, "fate"));
		if (len >= size)
			break;
	}
}

/* Signals to these processes alone, whatever else happens on the machine. */
static void record_only(const json_t *rec)
{
	_cleanup_(buf_free) struct buf filter = {};
	const json_t *p;
	size_t i;

	json_array_foreach(processes(rec), i, p)
		buf_printf(&filter, "%spid == %d", i ? " || " : "", (int)jrec_int(p, "pid", 0));
	assert_int_equal(put("events/signal/signal_generate/filter", buf_str(&filter)), 0);
	assert_int_equal(put("trace", ""), 0);
}

/* "  comm-123  [000] d..1.  12.5: signal_generate: sig=15 errno=0 code=0 comm=x pid=7 grp=1 res=0";
 * a comm may hold anything. */
static bool read_line(const char *line, struct sent_signal *ret)
{
	const char *event = strstr(line, ": signal_generate: "), *at = event, *pid, *dash;

	if (!event || sscanf(event, ": signal_generate: sig=%d errno=%*d code=%d", &ret->signal,
			     &ret->code) != 2)
		return false;
	pid = strstr(event, " pid=");
	while (pid && strstr(pid + 1, " pid="))
		pid = strstr(pid + 1, " pid=");
	if (!pid || sscanf(pid, " pid=%d grp=%*d res=%d", &ret->target, &ret->result) != 2)
		return false;
	while (at > line && at[-1] != ' ')
		at--;
	ret->at = strtod(at, NULL);
	at = strchr(line, '[');
	for (const char *next = at; next && next < event; next = strchr(next + 1, '['))
		at = next;
	if (!at)
		return false;
	for (dash = at; dash > line && *dash != '-'; dash--)
		;
	ret->sender = atoi(dash + 1);
	return true;
}

static void read_sent(void)
{
	char path[256], line[1024];
	FILE *in;

	snprintf(path, sizeof(path), "%s/trace", instance);
	in = fopen(path, "re");
	assert_non_null(in);
	n_sent = 0;
	while (fgets(line, sizeof(line), in))
		if (read_line(line, sent + n_sent) && n_sent + 1 < SENT_MAX)
			n_sent++;
	fclose(in);
}

/* A wish to have it end, by another process than itself and not by the kernel. */
static bool is_request(const struct sent_signal *s, int pid)
{
	return s->target == pid && s->sender != pid && s->code <= 0 && s->signal != SIGKILL &&
	       s->signal != SIGCHLD && s->signal != SIGCONT;
}

static const struct sent_signal *find_request(int pid, int signal, int sender)
{
	for (size_t i = 0; i < n_sent; i++)
		if (is_request(sent + i, pid) && (!signal || sent[i].signal == signal) &&
		    (!sender || sent[i].sender == sender))
			return sent + i;
	return NULL;
}

/* The SIGKILL that ended it, but not its own: timeout -k sends it to its own process group. */
static const struct sent_signal *find_kill(int pid)
{
	for (size_t i = 0; i < n_sent; i++)
		if (sent[i].target == pid && sent[i].signal == SIGKILL && sent[i].sender != pid &&
		    sent[i].result == RESULT_DELIVERED)
			return sent + i;
	return NULL;
}

static void explain(const json_t *rec, const json_t *p)
{
	char *text = json_dumps(processes(rec), JSON_COMPACT);

	for (size_t i = 0; i < n_sent; i++)
		fprintf(stderr, "# %.4f %d -> %d signal %d code %d result %d\n", sent[i].at,
			sent[i].sender, sent[i].target, sent[i].signal, sent[i].code,
			sent[i].result);
	fprintf(stderr, "# %s\n", text);
	free(text);
	fail_msg("%s[%d] is not what it is said to be: %s %s", jrec_text(p, "comm"),
		 (int)jrec_int(p, "pid", 0), jrec_text(p, "fate"), jrec_text(p, "reason"));
}

static bool is_asked_so(const json_t *p, int pid)
{
	return find_request(pid, (int)jrec_int(p, "signal.number", 0),
			    (int)jrec_int(p, "from.pid", 0));
}

static bool keeps_its_time(const json_t *p, int pid)
{
	const struct sent_signal *killed = find_kill(pid), *asked = find_request(pid, 0, 0);
	int64_t after = jrec_int(p, "killed_after_ns", 0);
	bool waited = json_is_true(json_object_get(p, "waited_for"));

	if (!killed || !asked || json_is_true(json_object_get(p, "if_default")))
		return true;
	/* SIGKILL comes as early as it is said to, and where none is said to come, none. */
	if (after && waited)
		return killed->at - asked->at < (double)(after + (int64_t)SLACK_NS) / 1e9;
	return !waited;
}

static bool comes_true(const json_t *p, bool ended)
{
	const char *fate = jrec_text(p, "fate"), *reason = jrec_text(p, "reason");
	int pid = (int)jrec_int(p, "pid", 0);

	if (!strcmp(fate, "cut"))
		return !find_request(pid, 0, 0);
	if (!strcmp(fate, "ignores"))
		return is_asked_so(p, pid) && find_kill(pid);
	if (!strcmp(fate, "receives") && !strcmp(reason, "message"))
		return !find_kill(pid);
	if (!strcmp(fate, "receives"))
		return is_asked_so(p, pid) && (!ended || keeps_its_time(p, pid));
	return !strcmp(fate, "unknown");
}

void fates_check(const json_t *rec, struct box *box, unsigned int limit_s)
{
	int timeout = limit_s ? (int)limit_s * 1000 : PATIENCE_MS;
	struct pollfd end = {.fd = box->proc.pidfd, .events = POLLIN};
	const json_t *p;
	bool ended;
	size_t i;

	record_only(rec);
	assert_int_equal(kill(box->init_pid, (int)jrec_int(rec, "signal.number", 0)), 0);
	ended = poll(&end, 1, timeout) == 1;
	if (!ended && !limit_s)
		fail_msg("the container does not end");
	if (!ended) {
		assert_int_equal(kill(box->init_pid, SIGKILL), 0);
		assert_int_equal(poll(&end, 1, PATIENCE_MS), 1);
	}
	read_sent();
	json_array_foreach(processes(rec), i, p)
		if (!comes_true(p, ended))
			explain(rec, p);
}
