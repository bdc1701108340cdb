// SPDX-License-Identifier: Apache-2.0
/* Judges clients by the cgroups that are watched, lists what the engine knows of pods and of a
 * shutdown, and passes on one that is begun by hand. */
#include "app/daemon/answers.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config/run_dir.h"
#include "app/config/settings.h"
#include "app/daemon/daemon.h"
#include "app/live/lookup.h"
#include "app/log/log.h"
#include "io/proc/clock.h"
#include "io/proc/proc.h"
#include "wire/json/pods.h"

/* The container that a cgroup is or is in: 1 with its id; 0: none; -errno. */
static int find_container(struct monitor *m, const char *path, uint64_t *ret)
{
	char part[PATH_MAX];

	for (const char *end = path; *end;) {
		struct graced_watch watch;
		uint64_t id;
		int r;

		end += 1 + strcspn(end + 1, "/");
		memcpy(part, path, (size_t)(end - path));
		part[end - path] = '\0';
		r = cgfs_id_of(monitor_cgfs(m), part, &id);
		if (r < 0)
			return r;
		if (kern_watch_get(monitor_kern(m), id, &watch) < 0 ||
		    watch.kind != GRACED_WATCH_CONTAINER)
			continue;
		*ret = id;
		return 1;
	}
	return 0;
}

static int container_of_process(struct monitor *m, pid_t pid, uint64_t *ret)
{
	const char *controller = monitor_hierarchy(m)->unified ? NULL : monitor_hierarchy(m)->name;
	char path[PATH_MAX];
	int r = procfs_cgroup_of(pid, controller, path, sizeof(path));

	/* Seen from a cgroup namespace that it is not in, it cannot be placed. */
	if (r >= 0 && (path[0] != '/' || strstr(path, "/..")))
		r = -EXDEV;
	return r < 0 ? r : find_container(m, path, ret);
}

/* Root of a container that sees the socket is root of that container. Who is in the daemon's own
 * has the daemon anyway. */
static bool admits(void *userdata, pid_t pid)
{
	struct daemon *d = userdata;
	uint64_t peer, own;
	int r = container_of_process(d->monitor, pid, &peer);

	if (r == 1)
		return container_of_process(d->monitor, getpid(), &own) == 1 && own == peer;
	return r == 0;
}

/* The source that lists such pods has answered: a pod that it does not list is not wanted. */
static bool lister_answers(const struct monitor *m, bool is_static)
{
	struct podsrc_state state;

	lookup_get_state(monitor_lookup(m),
			 meta_lister(sources_asked(monitor_options(m)), is_static), &state);
	return state.status == PODSRC_UP;
}

struct pod_lines {
	struct buf *out;
	uint64_t lines;
	struct pods_record record;
	bool lister_answers[2]; /* [1]: of static pods */
};

static void add_pod(void *userdata, const struct podview *pod)
{
	struct pod_lines *t = userdata;

	t->record.view = *pod;
	t->record.desired_known = t->lister_answers[pod->is_static];
	pods_json(t->out, &t->record);
	t->lines++;
}

static void add_given(const struct config *c, const char *key, struct buf *out)
{
	const char *value = c->given[setting_find(key)];

	control_add_setting(out, key, value ? value : "");
}

/* What a command on this host cannot know by itself. */
static uint64_t add_settings(const struct daemon *d, struct buf *out)
{
	const struct config *c = &d->config;
	const struct sources_options *sources = &c->options.sources;
	/* In the form of config_set(). */
	static const char *const given[] = {
		"shutdown.gracePeriod",
		"shutdown.gracePeriodCriticalPods",
		"shutdown.gracePeriodByPodPriority",
		"shutdown.stopUnits",
		"shutdown.extra",
		"kubelet.config",
		"api.url",
		"api.report",
		"shutdown.outOfServiceTaint",
	};
	char buffer[PATH_MAX];

	control_add_setting(out, "checkpoint.file",
			    c->checkpoint_file ? c->checkpoint_file
					       : rundir_path(CHECKPOINT_NAME, buffer));
	control_add_setting(out, "shutdown.mode",
			    c->shutdown.off ? "off" : shutdown_mode_name(c->shutdown.mode));
	for (size_t i = 0; i < sizeof(given) / sizeof(*given); i++)
		add_given(c, given[i], out);
	control_add_setting(out, "config", c->file ? c->file : "");
	control_add_setting(out, "kubelet.tokenFile", sources->kubelet.token_file ?: "");
	control_add_setting(out, "api.tokenFile", sources->api.token_file ?: "");
	control_add_setting(out, "api.clientFile", sources->api.client_file ?: "");
	return 6 + sizeof(given) / sizeof(*given);
}

static const char *node_of(const struct daemon *d, char node[static 256])
{
	const char *name = monitor_options(d->monitor)->node_name;

	if (name)
		return name;
	clock_node_name(node, 256);
	return node;
}

static uint64_t add_pods(const struct daemon *d, struct buf *out)
{
	uint64_t now = clock_boot_ns();
	char node[256];
	struct pod_lines t = {
		.out = out,
		.record = {.at_ns = now,
			   .wall_ns = (int64_t)now + clock_wall_offset_ns(),
			   .node = node_of(d, node)},
		.lister_answers = {lister_answers(d->monitor, false),
				   lister_answers(d->monitor, true)},
	};

	engine_pods_each(monitor_engine(d->monitor), add_pod, &t);
	return t.lines;
}

static uint64_t add_shutdown(const struct daemon *d, struct buf *out)
{
	uint64_t now = clock_boot_ns();
	struct shutdown_stats stats;
	char node[256];
	struct control_shutdown line = {
		.at_ns = now,
		.wall_ns = (int64_t)now + clock_wall_offset_ns(),
		.node = node_of(d, node),
		.mode = d->config.shutdown.mode,
	};

	line.off = !engine_get_shutdown(monitor_engine(d->monitor), &line.status, &stats);
	control_add_shutdown(out, &line);
	return 1;
}

static int act_by_hand(struct daemon *d, const struct control_request *request,
		       struct control_why *ret_why)
{
	if (!d->inhibitor) {
		snprintf(ret_why->text, sizeof(ret_why->text), "%s",
			 d->config.shutdown.off ? "shutdown.mode is off"
						: "DBUS_SYSTEM_BUS_ADDRESS is not unix:path= and a "
						  "path");
		return -EPERM;
	}
	if (request->command == CONTROL_SHUTDOWN_BEGIN)
		return inhibitor_begin(d->inhibitor, request->action, ret_why);
	return inhibitor_cancel(d->inhibitor, ret_why);
}

static int answer(void *userdata, const struct control_request *request, struct buf *out,
		  uint64_t *ret_lines, struct control_why *ret_why)
{
	struct daemon *d = userdata;
	int r;

	switch (request->command) {
	case CONTROL_SETTINGS:
		*ret_lines = add_settings(d, out);
		return 0;
	case CONTROL_PODS:
		*ret_lines = add_pods(d, out);
		return 0;
	case CONTROL_SHUTDOWN_BEGIN:
	case CONTROL_SHUTDOWN_CANCEL:
		r = act_by_hand(d, request, ret_why);
		if (r < 0)
			return r;
		break;
	case CONTROL_SHUTDOWN_STATUS:
	case CONTROL_COMMAND_COUNT:
		break;
	}
	*ret_lines = add_shutdown(d, out);
	return 0;
}

struct control *answers_open(struct daemon *d)
{
	char buffer[PATH_MAX];
	const char *path = d->config.control_socket;
	struct control_config config = {
		.path = path ? path : rundir_path(CONTROL_SOCKET_NAME, buffer),
		.userdata = d,
		.answer = answer,
		.admits = admits,
	};
	struct control *control;
	struct control_why why;

	if (strcmp(config.path, "none") == 0)
		return NULL;
	if (control_new(monitor_event(d->monitor), &config, &control, &why) < 0) {
		log_warning(
			"graced pods and graced shutdown will have no answer, there is no control socket: %s",
			why.text);
		return NULL;
	}
	log_info("control socket at %s", config.path);
	return control;
}
