// SPDX-License-Identifier: Apache-2.0
/* Finds each name among the containers that run, stops it by its runtime's own command, and takes
 * the record of its stop. */
#include "app/trial/command.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "app/live/monitor.h"
#include "app/log/say.h"
#include "base/cleanup.h"
#include "base/signame.h"
#include "base/time.h"
#include "io/files/fd.h"
#include "io/loop/loop.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"

/* How long names are awaited, and how often they are looked for. */
#define NAMES_NS     (5 * NS_PER_S)
#define LOOK_NS	     (NS_PER_S / 2)
/* How often processes of them are looked for elsewhere, if that takes a tenth of the time at most. */
#define ELSEWHERE_NS (NS_PER_S / 10)
#define LIST_MAX     (1u << 20)
/* How long the record may take once the runtime has said that it has stopped. */
#define RECORD_US    (30 * 1000000)

#define DOCKER_USAGE 125 /* the exit status of docker, which does not know an option */

struct target {
	struct run *run;
	const char *name;
	struct filter by_pod, by_container; /* which containers have it */
	/* What one look has found: containers called exactly so, and by its beginning. */
	unsigned int exact, others;
	bool unanswered; /* the names of some are not known yet */
	/* Which one it is. */
	char key[META_NAME_MAX]; /* its id, or the unit's name */
	enum record_container_kind kind;
	enum cgpath_runtime runtime;
	uint32_t user; /* who runs its engine; 0: root */
	bool in_pod;
	char cgroup[2 * PATH_MAX]; /* from /; "": not known */
	bool looked, elsewhere;	   /* whether a process of it is in another cgroup */

	sd_event_source *child, *late;
	bool found, done;
};

struct run {
	struct options *options;
	struct trial_report *report;
	struct monitor *monitor;
	struct target *targets;
	size_t n, left;
	uint64_t until_ns, next_ns; /* CLOCK_BOOTTIME; 0: names are not looked for */
	struct hierarchy hierarchy; /* its name is "" where none was found */
	sd_event_source *elsewhere; /* when it is time to look there */
	enum trial_verdict worst;
};

/* --- the end of one ---------------------------------------------------------------------------- */

static void end(struct target *t, const struct trial_case *c)
{
	static const int statuses[] = {
		[TRIAL_WELL] = 0, [TRIAL_UNKNOWN] = TRIAL_IN_VAIN, [TRIAL_NOT_WELL] = 1};
	struct run *run = t->run;

	if (t->done)
		return;
	t->done = true;
	trial_report_add(run->report, c);
	if (c->trial.verdict > run->worst)
		run->worst = c->trial.verdict;
	if (!--run->left)
		monitor_end(run->monitor, statuses[run->worst]);
}

static void end_in_vain(struct target *t, const char *format, ...)
	__attribute__((format(printf, 2, 3)));
static void end_in_vain(struct target *t, const char *format, ...)
{
	_cleanup_(buf_free) struct buf why = {};
	va_list args;

	buf_adds(&why, "It could not be tried: ");
	va_start(args, format);
	buf_vprintf(&why, format, args);
	va_end(args);
	buf_addc(&why, '.');
	end(t, &(struct trial_case){
		       .name = t->name, .failure = buf_str(&why), .trial.verdict = TRIAL_UNKNOWN});
}

static bool is_of(const struct target *t, const struct record_stop *stop)
{
	const struct record_container *c = &stop->container;

	if (!t->found || t->done)
		return false;
	return c->id ? strcmp(c->id, t->key) == 0 : c->name && strcmp(c->name, t->key) == 0;
}

static void on_record(void *userdata, const struct record *record)
{
	struct run *run = userdata;

	if (record->type != RECORD_STOP)
		return;
	for (size_t i = 0; i < run->n; i++) {
		struct target *t = run->targets + i;
		struct trial_case c = {.name = t->name, .record = record};

		if (!is_of(t, &record->stop))
			continue;
		c.facts = (struct trial_facts){.stop = &record->stop,
					       .within_ns = run->options->within_ns,
					       .unlooked = !t->looked,
					       .elsewhere = t->elsewhere};
		c.trial = trial_judge(&c.facts);
		end(t, &c);
	}
}

/* --- its processes elsewhere -------------------------------------------------------------------- */

/* On its way out it is in the root, until it is gone. */
static bool is_elsewhere(const struct target *t, pid_t pid)
{
	const struct hierarchy *h = &t->run->hierarchy;
	const char *path = t->cgroup + strlen(h->mount);
	size_t len = strlen(path);
	char own[PATH_MAX];

	return procfs_cgroup_of(pid, h->unified ? NULL : h->name, own, sizeof(own)) >= 0 &&
	       (strncmp(own, path, len) != 0 || (own[len] && own[len] != '/')) &&
	       !procfs_ends(pid) && kill(pid, 0) == 0;
}

typedef bool (*pid_fn)(const struct target *t, pid_t pid);

/* Whether that holds of a process of a text, as cgroup.procs and /proc/PID/task/TID/children are.
 * -errno. */
static int any_in(const struct target *t, const char *dir, const char *file, pid_fn holds)
{
	_cleanup_(cleanup_free) char *text = NULL;
	char path[PATH_MAX], *at, *end;
	ssize_t n;

	if ((size_t)snprintf(path, sizeof(path), "%s/%s", dir, file) >= sizeof(path))
		return -ENAMETOOLONG;
	n = fd_read_all(AT_FDCWD, path, LIST_MAX, &text);
	if (n < 0)
		return (int)n;
	for (at = text;; at = end) {
		pid_t pid = (pid_t)strtol(at, &end, 10);

		if (end == at || holds(t, pid))
			return end != at;
	}
}

/* A thread's children are those that it made, or that it adopted for the process. */
static bool has_child_elsewhere(const struct target *t, pid_t pid)
{
	_cleanup_(cleanup_closedir) DIR *tasks = NULL;
	const struct dirent *entry;
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "/proc/%d/task", pid);
	tasks = opendir(path);
	while (tasks && (entry = readdir(tasks))) {
		snprintf(path, sizeof(path), "/proc/%d/task/%s", pid, entry->d_name);
		if (any_in(t, path, "children", is_elsewhere) > 0)
			return true;
	}
	return false;
}

/* What came in from outside, as by nsenter(1), is no child of what is in its cgroup. Kernels may be
 * built without lists of children. */
static void look_elsewhere(struct target *t)
{
	char *const dirs[] = {t->cgroup, NULL};
	FTS *walk;
	const FTSENT *entry;
	int r;

	if (!*t->run->hierarchy.name || access("/proc/thread-self/children", R_OK) < 0)
		return;
	walk = fts_open(dirs, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	while (walk && !t->elsewhere && (entry = fts_read(walk))) {
		if (entry->fts_info != FTS_D)
			continue;
		r = any_in(t, entry->fts_path, "cgroup.procs", has_child_elsewhere);
		t->looked |= r >= 0 && entry->fts_level == FTS_ROOTLEVEL;
		t->elsewhere = r > 0;
	}
	if (walk)
		fts_close(walk);
}

static int on_elsewhere(sd_event_source *source, uint64_t usec, void *userdata)
{
	struct run *run = userdata;
	uint64_t begin_ns = clock_boot_ns(), took_ns;

	for (size_t i = 0; i < run->n; i++) {
		struct target *t = run->targets + i;

		if (t->found && !t->done && !t->elsewhere)
			look_elsewhere(t);
	}
	took_ns = clock_boot_ns() - begin_ns;
	return timer_after(source, (ELSEWHERE_NS + took_ns * 9) / 1000);
}

/* --- stopping one ------------------------------------------------------------------------------ */

/* How each runtime's command stops a container; NULL: it has no such option. */
static const struct client {
	enum cgpath_runtime runtime;
	const char *command, *grace, *signal;
} clients[] = {
	{CGPATH_RT_DOCKER, "docker", "-t", "-s"},
	{CGPATH_RT_PODMAN, "podman", "-t", NULL},
	{CGPATH_RT_CONTAINERD, "nerdctl", "-t", "-s"},
};

static const struct client of_pods = {CGPATH_RT_NONE, "crictl", "-t", NULL};
static const struct client of_services = {CGPATH_RT_NONE, "systemctl", NULL, NULL};

static const struct client *client_of(const struct target *t)
{
	if (t->kind == CONTAINER_KIND_SERVICE)
		return &of_services;
	if (t->in_pod)
		return &of_pods;
	for (size_t i = 0; i < sizeof(clients) / sizeof(*clients); i++)
		if (clients[i].runtime == t->runtime)
			return clients + i;
	return NULL;
}

static int on_late(sd_event_source *source, uint64_t usec, void *userdata)
{
	end_in_vain(userdata, "its stop was not seen");
	return 0;
}

static int on_client(sd_event_source *source, const siginfo_t *info, void *userdata)
{
	struct target *t = userdata;

	/* The client refused its own options, and sent its daemon nothing. */
	if (info->si_code == CLD_EXITED && info->si_status == DOCKER_USAGE &&
	    client_of(t) == clients && t->run->options->filter.sigmask)
		end_in_vain(t, "this docker stop has no option for the signal, as that of Docker "
			       "23.0 has; send it by docker kill -s, and use --watch");
	else if (info->si_code != CLD_EXITED || info->si_status)
		end_in_vain(t, "%s stop failed", client_of(t)->command);
	else if (sd_event_add_time_relative(monitor_event(t->run->monitor), &t->late,
					    CLOCK_MONOTONIC, RECORD_US, 1000, on_late, t) < 0)
		end_in_vain(t, "its stop cannot be awaited");
	return 0;
}

/* Its standard output, the name of what was stopped, goes nowhere. */
static int spawn(char *const *argv, pid_t *ret)
{
	posix_spawn_file_actions_t files;
	posix_spawnattr_t attr;
	sigset_t none, reset;
	int r;

	sigemptyset(&none);
	sigemptyset(&reset);
	sigaddset(&reset, SIGPIPE);
	sigaddset(&reset, SIGXFSZ);
	posix_spawn_file_actions_init(&files);
	posix_spawnattr_init(&attr);
	posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawnattr_setflags(&attr, POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
	posix_spawnattr_setsigmask(&attr, &none);
	posix_spawnattr_setsigdefault(&attr, &reset);
	r = -posix_spawnp(ret, argv[0], &files, &attr, argv, environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&files);
	return r;
}

/* What the runtime is asked for here comes before what any source says of the container. */
static void describe(const struct target *t)
{
	const struct options *o = t->run->options;
	struct obs obs;

	feed_begin(&obs, OBS_CONTAINER);
	obs.container.source = META_CRI;
	snprintf(obs.container.id, sizeof(obs.container.id), "%.*s", META_ID_MAX - 1, t->key);
	if (o->stop_grace_ns) {
		obs.container.known = META_CTR_GRACE;
		obs.container.grace_ns = o->stop_grace_ns;
	}
	if (o->filter.sigmask)
		obs.container.stop_signal = (uint32_t)__builtin_ctzll(o->filter.sigmask) + 1;
	feed_obs(monitor_feed(t->run->monitor), &obs);
}

static bool is_described(const struct options *o)
{
	return o->stop_grace_ns || o->filter.sigmask;
}

static void stop(struct target *t)
{
	const struct options *o = t->run->options;
	const struct client *client = client_of(t);
	char grace[24], signal[SIGNAME_SIZE];
	const char *argv[8] = {};
	size_t n = 0;
	pid_t pid;
	int r;

	if (t->user) {
		end_in_vain(t,
			    "it is of the user with uid %" PRIu32
			    ", whose engine stops it; stop it as that user, and use --watch",
			    t->user);
		return;
	}
	if (!client) {
		end_in_vain(t, "it is not known what stops it; stop it, and use --watch");
		return;
	}
	if ((o->stop_grace_ns && !client->grace) || (o->filter.sigmask && !client->signal)) {
		end_in_vain(t, "%s stop has no option for the %s", client->command,
			    o->stop_grace_ns && !client->grace ? "grace period" : "signal");
		return;
	}
	/* Its own period is 0 s. */
	if (client == &of_pods && !o->stop_grace_ns) {
		end_in_vain(t, "crictl stop kills at once unless it is given a time; use --grace");
		return;
	}
	if (is_described(o))
		describe(t);
	argv[n++] = client->command;
	argv[n++] = "stop";
	if (o->stop_grace_ns) {
		snprintf(grace, sizeof(grace), "%" PRIu64, o->stop_grace_ns / NS_PER_S);
		argv[n++] = client->grace;
		argv[n++] = grace;
	}
	if (o->filter.sigmask) {
		argv[n++] = client->signal;
		argv[n++] =
			signame_format((uint32_t)__builtin_ctzll(o->filter.sigmask) + 1, signal);
	}
	argv[n++] = t->key;
	r = spawn((char *const *)argv, &pid);
	if (r >= 0)
		r = sd_event_add_child(monitor_event(t->run->monitor), &t->child, pid, WEXITED,
				       on_client, t);
	if (r < 0)
		end_in_vain(t, "cannot run %s: %s", client->command, strerror(-r));
}

/* --- which ones -------------------------------------------------------------------------------- */

static bool is_called(const struct engine_running *r, const char *name)
{
	const char *own = r->container.name ?: "", *pod = r->pod.name ?: "";

	return strcmp(own, name) == 0 || strcmp(pod, name) == 0 ||
	       (r->container.id && strcmp(r->container.id, name) == 0);
}

static void take(struct target *t, const struct engine_running *r)
{
	const char *key = r->container.id ?: r->container.name;
	bool exact = is_called(r, t->name);

	t->exact += exact;
	t->others += !exact;
	/* One called so comes before those that only begin so. */
	if (!key || (!exact && t->exact))
		return;
	snprintf(t->key, sizeof(t->key), "%s", key);
	snprintf(t->cgroup, sizeof(t->cgroup), "%s%s",
		 r->container.cgroup ? t->run->hierarchy.mount : "", r->container.cgroup ?: "");
	t->kind = r->container.kind;
	t->runtime = r->container.runtime;
	t->user = r->container.user;
	t->in_pod = r->pod.known;
}

static void look_at(void *userdata, const struct engine_running *running)
{
	const struct record subject = {.type = RECORD_EMPTY,
				       .empty = {.pod = running->pod,
						 .container = running->container}};
	struct run *run = userdata;

	for (size_t i = 0; i < run->n; i++) {
		struct target *t = run->targets + i;

		t->unanswered |= running->unanswered;
		if (!t->found && !t->done && running->container.kind != CONTAINER_KIND_SANDBOX &&
		    (filter_matches(&t->by_pod, &subject) ||
		     filter_matches(&t->by_container, &subject)))
			take(t, running);
	}
}

/* True: it is known which one it is, or that it is none. */
static void settle(struct target *t, bool last)
{
	unsigned int n = t->exact ?: t->others;

	if (t->found || t->done || (!last && (t->unanswered || !n)))
		return;
	if (n != 1) {
		end_in_vain(t,
			    n ? "%u containers that run are called so; name one, or its id"
			      : "no container that runs is called so",
			    n);
		return;
	}
	t->found = true;
	look_elsewhere(t);
	if (t->run->options->watch)
		say_as("try", "waiting until somebody stops %s", t->name);
	else
		stop(t);
}

static void look(void *userdata)
{
	struct run *run = userdata;
	uint64_t now_ns = clock_boot_ns();
	bool last;

	if (!run->until_ns || now_ns < run->next_ns)
		return;
	last = now_ns >= run->until_ns;
	run->next_ns = now_ns + LOOK_NS;
	for (size_t i = 0; i < run->n; i++) {
		run->targets[i].exact = run->targets[i].others = 0;
		run->targets[i].unanswered = false;
	}
	monitor_each_container(run->monitor, look_at, run);
	for (size_t i = 0; i < run->n; i++)
		settle(run->targets + i, last);
	if (last)
		run->until_ns = 0;
}

/* --- the command ------------------------------------------------------------------------------- */

static void on_attached(void *userdata)
{
	struct run *run = userdata;

	run->until_ns = clock_boot_ns() + NAMES_NS;
}

static int on_open(void *userdata, struct monitor *m)
{
	struct run *run = userdata;
	sigset_t child;
	int r;

	run->monitor = m;
	sigemptyset(&child);
	sigaddset(&child, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &child, NULL) < 0)
		return -errno;
	r = timer_new(monitor_event(m), CLOCK_MONOTONIC, 1000, on_elsewhere, run, &run->elsewhere);
	return r < 0 ? r : timer_after(run->elsewhere, ELSEWHERE_NS / 1000);
}

static void on_close(void *userdata)
{
	struct run *run = userdata;

	sd_event_source_disable_unref(run->elsewhere);
	for (size_t i = 0; i < run->n; i++) {
		sd_event_source_disable_unref(run->targets[i].child);
		sd_event_source_disable_unref(run->targets[i].late);
	}
}

static void on_interrupt(void *userdata)
{
	struct run *run = userdata;

	for (size_t i = 0; i < run->n; i++)
		end_in_vain(run->targets + i, "graced was interrupted");
}

static bool add_target(struct run *run, const char *name)
{
	struct target *t = run->targets + run->n;
	size_t len = strlen(name);

	*t = (struct target){.run = run, .name = name};
	/* What is stopped is not found by a few letters. */
	t->by_pod.pods.words = t->by_container.containers.words = true;
	if (strchr(name, '!') || filter_names_add(&t->by_pod.pods, name) < 0 ||
	    filter_names_add(&t->by_container.containers, name) < 0)
		return false;
	run->n++;
	/* Services are no containers for what does not ask for them. */
	if (len > 8 && strcmp(name + len - 8, ".service") == 0)
		run->options->engine.scope = SCOPE_SERVICES;
	return true;
}

int trial_named(struct options *options, char **names, struct trial_report *report)
{
	struct run run = {.options = options, .report = report};
	const struct monitor_hooks hooks = {
		.userdata = &run,
		.open = on_open,
		.attached = on_attached,
		.record = on_record,
		.turn = look,
		.close = on_close,
		/* A daemon would not know what this command asks for. */
		.may_follow = !is_described(options),
		.interrupt = on_interrupt,
	};
	int status;

	while (names[run.left])
		run.left++;
	hierarchy_detect_part(options->hierarchy, &run.hierarchy);
	run.targets = calloc(run.left, sizeof(*run.targets));
	if (!run.targets)
		return TRIAL_IN_VAIN;
	for (size_t i = 0; names[i]; i++) {
		if (add_target(&run, names[i]))
			continue;
		free(run.targets);
		return say_usage("try", "'%s' is no name", names[i]);
	}
	status = monitor_run(options, false, &hooks);
	free(run.targets);
	return run.left ? TRIAL_IN_VAIN : status;
}
