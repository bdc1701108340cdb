// SPDX-License-Identifier: Apache-2.0
/* Makes a cgroup, starts the command in it once events are recorded, waits until it is ready, stops
 * it as a runtime would, and takes the record of that. */
#include "app/trial/command.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/live/monitor.h"
#include "app/log/say.h"
#include "app/trial/init.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/story/story.h"
#include "io/files/fd.h"
#include "io/proc/child.h"
#include "io/proc/clock.h"
#include "io/sinks/out.h"

#define GRACE_NS     (10 * NS_PER_S)
#define KILLED_NS    (30 * NS_PER_S) /* to end of SIGKILL */
#define LOOK_NS	     (NS_PER_S / 10) /* between looks */
#define TIMER_US     1000
#define CHUNK	     65536
#define DIRS_MAX     16	  /* held open */
#define FINISH_MS    2000 /* for who reads its output */
#define SIGTERM_MASK (1ULL << 14)

enum stage {
	STAGE_STARTING, /* until it has exec'd */
	STAGE_WAITING,	/* until it is ready */
	STAGE_SETTLING,
	STAGE_ASKED,  /* it was sent the stop signal */
	STAGE_KILLED, /* ... and SIGKILL */
};

/* A TCP port of this host. */
struct port {
	uint16_t number;
	bool answered;
	/* CLOCK_BOOTTIME, of the first and last connection that was refused while it ran; 0: none. */
	uint64_t first_ns, last_ns;
};

struct run {
	struct options *options;
	char **argv;
	struct trial_report *report;
	struct monitor *monitor;

	char top[64];		    /* its cgroup's parent, from the hierarchy's root */
	char dir[PATH_MAX];	    /* its cgroup, from /; "": none was made */
	char id[CGPATH_ID_LEN + 1]; /* of the container */
	char init_name[sizeof(TRIAL_INIT)];
	char init[PATH_MAX];  /* this program; "": nothing is in front of it */
	struct launch launch; /* pid 0: not started */
	sd_event_source *output, *report_end;
	sd_event_source *stage_over; /* the time of this stage is */
	sd_event_source *look;	     /* at the port, and for processes elsewhere */
	struct out *forward;	     /* what it prints */
	struct buf tail;	     /* of its output, in which the text may begin */
	uint64_t dropped;	     /* bytes of output that nothing read */

	enum stage stage;
	bool logged; /* the text has come */
	struct port port;
	bool elsewhere; /* a process of it is not in its cgroup */
	bool done;
	int status;
};

/* --- whether a port takes connections: before a trial, and while it goes on ----------------- */

static int try_at(const struct sockaddr *address, socklen_t len)
{
	/* On this host a connection is taken or refused at once, unless too many wait already. */
	const struct timeval limit = {.tv_usec = 100000};
	_cleanup_(cleanup_close) int fd = socket(address->sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit)) < 0)
		return -errno;
	return connect(fd, address, len) < 0 ? -errno : 0;
}

/* 0: taken; -ECONNREFUSED: by both addresses; else neither is sure. */
static int try_port(const struct port *port)
{
	const struct sockaddr_in v4 = {.sin_family = AF_INET,
				       .sin_port = htons(port->number),
				       .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const struct sockaddr_in6 v6 = {.sin6_family = AF_INET6,
					.sin6_port = htons(port->number),
					.sin6_addr = IN6ADDR_LOOPBACK_INIT};
	int r = try_at((const struct sockaddr *)&v4, sizeof(v4)), other;

	if (r != -ECONNREFUSED)
		return r;
	other = try_at((const struct sockaddr *)&v6, sizeof(v6));
	/* A host may have no IPv6. */
	return other == 0 || other == -EINPROGRESS ? other : r;
}

/* Tries a connection, until one is taken: that is returned, and noted in answered. */
static bool port_await(struct port *port)
{
	if (!port->answered)
		port->answered = try_port(port) == 0;
	return port->answered;
}

static bool is_running(pid_t pid)
{
	siginfo_t info = {};

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOHANG | WNOWAIT) == 0 && !info.si_pid;
}

/* Tries one during the stop of a process; a refusal counts where that still runs afterwards. */
static void port_try(struct port *port, pid_t pid)
{
	uint64_t at_ns = clock_boot_ns();

	if (!port->number || try_port(port) != -ECONNREFUSED || !is_running(pid))
		return;
	port->last_ns = at_ns;
	if (!port->first_ns)
		port->first_ns = at_ns;
}

/* For how long connections were refused before the process ended. */
static uint64_t port_refused(const struct port *port, uint64_t exit_ns)
{
	uint64_t until_ns = port->last_ns < exit_ns ? port->last_ns : exit_ns;

	return until_ns > port->first_ns && port->last_ns > port->first_ns
		       ? until_ns - port->first_ns
		       : 0;
}

/* --- the cgroup -------------------------------------------------------------------------------- */

static int say_no_cgroup(const char *dir, int r)
{
	say_as("try",
	       "cannot make the cgroup %s: %s; run it as root, in a container with "
	       "--privileged and /sys/fs/cgroup writable",
	       dir, strerror(-r));
	return r;
}

static int choose_id(char ret[static CGPATH_ID_LEN + 1])
{
	unsigned char random[CGPATH_ID_LEN / 2];

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		snprintf(ret + 2 * i, 3, "%02x", random[i]);
	return 0;
}

/* What is below this one path alone is watched. */
static int make_cgroup(struct run *run)
{
	struct hierarchy h;
	char top[PATH_MAX];
	size_t n;
	int r = hierarchy_detect_part(run->options->hierarchy, &h);

	if (r >= 0)
		r = choose_id(run->id);
	if (r < 0) {
		say_as("try",
		       "cannot look for the cgroup hierarchy: %s; mount cgroup2 at "
		       "/sys/fs/cgroup",
		       strerror(-r));
		return r;
	}
	snprintf(run->top, sizeof(run->top), "/graced-try-%d", getpid());
	n = (size_t)snprintf(run->dir, sizeof(run->dir), "%s%s/%s", h.mount, run->top, run->id);
	if (n >= sizeof(run->dir)) {
		*run->dir = '\0';
		return say_no_cgroup(h.mount, -ENAMETOOLONG);
	}
	snprintf(top, sizeof(top), "%.*s", (int)(n - CGPATH_ID_LEN - 1), run->dir);
	if (mkdir(top, 0755) < 0 || mkdir(run->dir, 0755) < 0)
		return say_no_cgroup(top, -errno);
	run->options->roots[0] = run->top;
	run->options->n_roots = 1;
	return 0;
}

static int remove_visited(const char *path, const struct stat *st, int type, struct FTW *at)
{
	return type == FTW_DP && rmdir(path) < 0 && errno != ENOENT ? -1 : 0;
}

/* With what the command made below it. Its processes are gone, and nothing else makes more. */
static void remove_cgroup(struct run *run)
{
	if (!*run->dir)
		return;
	if (nftw(run->dir, remove_visited, DIRS_MAX, FTW_DEPTH | FTW_PHYS) < 0 && errno != ENOENT)
		say_as("try", "cannot remove the cgroup %s: %s", run->dir, strerror(errno));
	*strrchr(run->dir, '/') = '\0';
	rmdir(run->dir);
}

/* --- the end ----------------------------------------------------------------------------------- */

static const char *name_of(const struct run *run)
{
	const char *slash = strrchr(run->argv[0], '/');

	return slash && slash[1] ? slash + 1 : run->argv[0];
}

static void end(struct run *run, const struct trial_case *c)
{
	static const int statuses[] = {
		[TRIAL_WELL] = 0, [TRIAL_UNKNOWN] = TRIAL_IN_VAIN, [TRIAL_NOT_WELL] = 1};

	if (run->done)
		return;
	trial_report_add(run->report, c);
	run->status = statuses[c->trial.verdict];
	run->done = true;
	monitor_end(run->monitor, run->status);
}

static void end_in_vain(struct run *run, const char *sentence)
{
	end(run, &(struct trial_case){.name = name_of(run),
				      .failure = sentence,
				      .trial.verdict = TRIAL_UNKNOWN});
}

static const char *hint_of_early(const struct record_stop *stop)
{
	if (!stop->exit.known || stop->exit.status & 0x7f)
		return "";
	switch (stop->exit.status >> 8 & 0xff) {
	case 0:
		return " It has to stay in the foreground.";
	case 126:
		return " Shells exit with code 126 where a command cannot be executed.";
	case 127:
		return " Shells exit with code 127 where a command is not found.";
	}
	return "";
}

static void end_early(struct run *run, const struct record_stop *stop)
{
	_cleanup_(buf_free) struct buf why = {};

	buf_adds(&why, "It could not be tried, as it ended before it was ");
	buf_adds(&why, run->stage == STAGE_SETTLING ? "stopped: " : "ready: ");
	story_add_why(&why, stop);
	buf_adds(&why, hint_of_early(stop));
	end_in_vain(run, buf_str(&why));
}

static void end_unstarted(struct run *run, const struct launch_failure *failure)
{
	static const char *const steps[] = {
		[LAUNCH_SETUP] = "prepare its process",
		[LAUNCH_PROC] = "mount its /proc",
		[LAUNCH_EXEC] = "execute it",
	};
	_cleanup_(buf_free) struct buf why = {};

	buf_printf(&why, "It could not be tried: cannot %s: %s.", steps[failure->step],
		   strerror(failure->error));
	end_in_vain(run, buf_str(&why));
}

static void on_record(void *userdata, const struct record *record)
{
	struct run *run = userdata;
	const struct record_stop *stop = &record->stop;
	struct trial_case c = {.name = name_of(run), .record = record};
	struct launch_failure failure;

	if (record->type != RECORD_STOP || !stop->container.id ||
	    strcmp(stop->container.id, run->id) != 0)
		return;
	/* Its end may be seen before why it did not begin. */
	if (run->stage == STAGE_STARTING &&
	    read(run->launch.report, &failure, sizeof(failure)) == sizeof(failure)) {
		end_unstarted(run, &failure);
		return;
	}
	if (run->stage < STAGE_ASKED) {
		end_early(run, stop);
		return;
	}
	c.facts = (struct trial_facts){
		.stop = stop,
		.within_ns = run->options->within_ns,
		.refused_ns =
			port_refused(&run->port, stop->exit.known ? stop->exit.at_ns : UINT64_MAX),
		.elsewhere = run->elsewhere,
	};
	c.trial = trial_judge(&c.facts);
	end(run, &c);
}

/* --- stages ------------------------------------------------------------------------------------ */

static void begin_stage(struct run *run, enum stage stage, uint64_t limit_ns)
{
	run->stage = stage;
	sd_event_source_set_time_relative(run->stage_over, limit_ns / 1000);
	sd_event_source_set_enabled(run->stage_over, SD_EVENT_ONESHOT);
}

static void look_on(struct run *run)
{
	sd_event_source_set_time_relative(run->look, LOOK_NS / 1000);
	sd_event_source_set_enabled(run->look, SD_EVENT_ONESHOT);
}

static bool is_ready(const struct run *run)
{
	return (!run->options->ready_log || run->logged) &&
	       (!run->options->ready_port || run->port.answered);
}

static void settle_if_ready(struct run *run)
{
	if (run->stage == STAGE_WAITING && is_ready(run))
		begin_stage(run, STAGE_SETTLING, run->options->settle_ns);
}

static uint32_t signal_of(const struct options *o)
{
	return (uint32_t)__builtin_ctzll(o->filter.sigmask ?: SIGTERM_MASK) + 1;
}

static void send_signal(struct run *run, uint32_t number)
{
	/* Its end is seen by its record; before it is waited for, its pid is no other's. */
	kill(run->launch.pid, (int)number);
}

static void look_elsewhere(struct run *run)
{
	const struct hierarchy *h = monitor_hierarchy(run->monitor);

	run->elsewhere |= launch_has_elsewhere(&run->launch, h->unified ? NULL : h->name, run->id);
}

static int on_stage_over(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct run *run = userdata;

	switch (run->stage) {
	case STAGE_STARTING:
	case STAGE_WAITING:
		end_in_vain(run, "It could not be tried, as it was not ready in time.");
		break;
	case STAGE_SETTLING:
		begin_stage(run, STAGE_ASKED, run->options->stop_grace_ns);
		look_elsewhere(run);
		look_on(run);
		send_signal(run, signal_of(run->options));
		break;
	case STAGE_ASKED:
		begin_stage(run, STAGE_KILLED, KILLED_NS);
		look_elsewhere(run);
		send_signal(run, SIGKILL);
		break;
	case STAGE_KILLED:
		end(run,
		    &(struct trial_case){.name = name_of(run),
					 .failure = "It does not stop well: it did not even end "
						    "of SIGKILL.",
					 .trial.verdict = TRIAL_NOT_WELL});
		break;
	}
	return 0;
}

static int on_look(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct run *run = userdata;

	if (run->stage == STAGE_WAITING)
		port_await(&run->port);
	if (run->stage >= STAGE_ASKED) {
		port_try(&run->port, run->launch.pid);
		look_elsewhere(run);
	}
	settle_if_ready(run);
	look_on(run);
	return 0;
}

/* --- its output -------------------------------------------------------------------------------- */

static void search(struct run *run, const char *chunk, size_t n)
{
	const char *text = run->options->ready_log;
	size_t len = text ? strlen(text) : 0, keep;

	if (!len || run->logged)
		return;
	buf_add(&run->tail, chunk, n);
	run->logged = memmem(buf_str(&run->tail), run->tail.len, text, len);
	keep = run->tail.len < len - 1 ? run->tail.len : len - 1;
	memmove(run->tail.data, run->tail.data + run->tail.len - keep, keep);
	buf_truncate(&run->tail, keep);
}

static void forward(struct run *run, const char *chunk, size_t n)
{
	if (out_is_behind(run->forward) || out_add(run->forward, chunk, n) < 0)
		run->dropped += n;
	out_flush(run->forward);
}

static int on_output(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct run *run = userdata;
	char chunk[CHUNK];
	ssize_t n = read(fd, chunk, sizeof(chunk));

	if (n > 0) {
		search(run, chunk, (size_t)n);
		forward(run, chunk, (size_t)n);
		settle_if_ready(run);
	} else if (n == 0 || errno != EAGAIN) {
		return sd_event_source_set_enabled(source, SD_EVENT_OFF);
	}
	return 0;
}

/* What it wrote last. No more than is there now: another's process may hold the pipe open. */
static void forward_rest(struct run *run)
{
	char chunk[CHUNK];
	ssize_t n;
	int left;

	if (ioctl(run->launch.output, FIONREAD, &left) < 0)
		return;
	for (; left > 0; left -= (int)n) {
		n = read(run->launch.output, chunk, left < CHUNK ? (size_t)left : CHUNK);
		if (n <= 0)
			break;
		forward(run, chunk, (size_t)n);
	}
	out_finish(run->forward, FINISH_MS);
}

/* --- the start --------------------------------------------------------------------------------- */

static int on_report(sd_event_source *source, int fd, uint32_t revents, void *userdata)
{
	struct run *run = userdata;
	struct launch_failure failure;
	ssize_t n = read(fd, &failure, sizeof(failure));

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n == sizeof(failure)) {
		end_unstarted(run, &failure);
	} else if (run->stage == STAGE_STARTING) {
		launch_open_proc(&run->launch);
		begin_stage(run, STAGE_WAITING, run->options->ready_timeout_ns);
		settle_if_ready(run);
	}
	return sd_event_source_set_enabled(source, SD_EVENT_OFF);
}

/* No source describes a container that this command has made: what is known of it stands in for the
 * answer of one, the least trusted. */
static void describe(struct run *run)
{
	struct obs obs;

	feed_begin(&obs, OBS_CONTAINER);
	obs.container = (struct meta_container){
		.source = META_LOGS,
		.known = META_CTR_GRACE,
		.kind = META_KIND_CONTAINER,
		.stop_signal = signal_of(run->options),
		.grace_ns = run->options->stop_grace_ns,
	};
	strcpy(obs.container.id, run->id);
	snprintf(obs.container.name, sizeof(obs.container.name), "%s", name_of(run));
	feed_obs(monitor_feed(run->monitor), &obs);
}

static int launch(struct run *run)
{
	struct launch_spec spec = {run->dir, run->argv[0], run->argv};
	sd_event *event = monitor_event(run->monitor);
	int r;

	if (*run->init) {
		/* In the place of the "--". */
		run->argv[-1] = run->init_name;
		spec.file = run->init;
		spec.argv = run->argv - 1;
	}
	r = launch_start(&spec, &run->launch);
	if (r >= 0)
		r = sd_event_add_io(event, &run->output, run->launch.output, EPOLLIN, on_output,
				    run);
	if (r >= 0)
		r = sd_event_add_io(event, &run->report_end, run->launch.report, EPOLLIN, on_report,
				    run);
	return r;
}

static void on_attached(void *userdata)
{
	struct run *run = userdata;
	int r;

	if (run->options->ready_port && port_await(&run->port)) {
		end_in_vain(run, "It could not be tried: something else listens at its port.");
		return;
	}
	describe(run);
	begin_stage(run, STAGE_STARTING, run->options->ready_timeout_ns);
	r = launch(run);
	if (r < 0) {
		say_as("try",
		       "cannot start a process in a pid namespace and a cgroup of its own: "
		       "%s; run it as root, in a container with --privileged",
		       strerror(-r));
		monitor_end(run->monitor, TRIAL_IN_VAIN);
		return;
	}
	if (run->options->ready_port)
		look_on(run);
}

static int on_open(void *userdata, struct monitor *m)
{
	struct run *run = userdata;
	sd_event *event = monitor_event(m);
	int r;

	run->monitor = m;
	r = out_new(STDERR_FILENO, false, true, &run->forward);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &run->stage_over, CLOCK_MONOTONIC, 0,
					       TIMER_US, on_stage_over, run);
	if (r >= 0)
		r = sd_event_add_time_relative(event, &run->look, CLOCK_MONOTONIC, 0, TIMER_US,
					       on_look, run);
	if (r >= 0)
		r = sd_event_source_set_enabled(run->stage_over, SD_EVENT_OFF);
	if (r >= 0)
		r = sd_event_source_set_enabled(run->look, SD_EVENT_OFF);
	if (r < 0)
		say_as("try", "cannot set up the event loop: %s", strerror(-r));
	return r;
}

static void on_close(void *userdata)
{
	struct run *run = userdata;

	sd_event_source_disable_unref(run->output);
	sd_event_source_disable_unref(run->report_end);
	sd_event_source_disable_unref(run->stage_over);
	sd_event_source_disable_unref(run->look);
	if (!launch_kill(&run->launch))
		say_as("try", "process %d does not end of SIGKILL", run->launch.pid);
	forward_rest(run);
	cleanup_close(&run->launch.output);
	cleanup_close(&run->launch.report);
	cleanup_close(&run->launch.proc);
	out_free(run->forward);
	buf_free(&run->tail);
}

static void on_interrupt(void *userdata)
{
	end_in_vain(userdata, "It could not be tried: graced was interrupted.");
}

int trial_command(struct options *options, char **argv, struct trial_report *report)
{
	struct run run = {
		.options = options,
		.argv = argv,
		.report = report,
		.launch = {.output = -1, .report = -1, .proc = -1},
		.init_name = TRIAL_INIT,
		.port = {.number = (uint16_t)options->ready_port},
	};
	const struct monitor_hooks hooks = {
		.userdata = &run,
		.open = on_open,
		.attached = on_attached,
		.record = on_record,
		.close = on_close,
		.interrupt = on_interrupt,
	};

	options->makes_own = options->no_names = true;
	options->stop_grace_ns = options->stop_grace_ns ?: GRACE_NS;
	if (options->init && readlink("/proc/self/exe", run.init, sizeof(run.init) - 1) < 0) {
		say_as("try", "cannot find this program: %s", strerror(errno));
		return TRIAL_IN_VAIN;
	}
	if (make_cgroup(&run) >= 0)
		monitor_run(options, false, &hooks);
	remove_cgroup(&run);
	if (run.dropped)
		say_as("try", "%" PRIu64 " bytes of its output were not read", run.dropped);
	return run.done ? run.status : TRIAL_IN_VAIN;
}
