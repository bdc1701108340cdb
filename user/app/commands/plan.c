// SPDX-License-Identifier: Apache-2.0
/* graced plan: what would become of a node's pods, in a shutdown or when it goes silent. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/audit.h"
#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/config/shutdown.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "app/query/pod_input.h"
#include "base/arena.h"
#include "base/cleanup.h"
#include "base/room.h"
#include "base/time.h"
#include "core/kubelet/node_failure.h"
#include "core/kubelet/pod.h"
#include "core/shutdown/drain.h"
#include "core/shutdown/view.h"
#include "io/files/fd.h"
#include "io/logind/delay.h"
#include "io/proc/mounts.h"
#include "wire/json/plan.h"
#include "wire/text/plan.h"

/* --- which CSI drivers the mounted volumes are of --------------------------------------------- */

#define TABLE	  "/proc/self/mountinfo"
#define TABLE_MAX ((size_t)64 << 20)

struct reading {
	char root[PATH_MAX]; /* without symbolic links, as the kernel shows it */
	struct arena *arena;
	struct shutview_use *uses;
	size_t n;
};

static int take_line(struct reading *r, const char *line, size_t len)
{
	char driver[SHUTDOWN_DRIVER_MAX];
	struct shutview_use use;
	struct kubemount m;

	if (kubemount_parse(line, len, r->root, &m) <= 0 || !*m.pod_uid ||
	    !mounts_read_driver(r->root, &m, driver))
		return 0;
	use = (struct shutview_use){arena_strdup(r->arena, m.pod_uid),
				    arena_strdup(r->arena, driver)};
	if (!use.pod_uid || !use.driver)
		return -ENOMEM;
	r->uses[r->n++] = use;
	return 0;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;

	while ((text = strchr(text, '\n'))) {
		text++;
		n++;
	}
	return n;
}

/* By the mounts of this process's namespace and the kubelet's files beside them; root is the
 * kubelet's root directory. What cannot be read is left out. 0 or -ENOMEM; the list is the arena's.
 */
static int planvolumes_read(const char *root, struct arena *arena, struct shutview_use **ret,
			    size_t *ret_n)
{
	_cleanup_(cleanup_free) char *text = NULL;
	struct reading reading = {.arena = arena};
	int r = 0;

	*ret_n = 0;
	if (!realpath(root, reading.root) || fd_read_all(AT_FDCWD, TABLE, TABLE_MAX, &text) < 0)
		return 0;
	reading.uses = arena_array(arena, count_lines(text) + 1, sizeof(*reading.uses));
	if (!reading.uses)
		return -ENOMEM;
	for (const char *line = text; r == 0 && *line;) {
		size_t len = strcspn(line, "\n");

		r = take_line(&reading, line, len);
		line += len + (line[len] == '\n');
	}
	*ret = reading.uses;
	*ret_n = reading.n;
	return r;
}

/* --- the plan --------------------------------------------------------------------------------- */

struct nodepods {
	struct arena arena; /* of the pods */
	const struct podobj_pod **list;
	size_t n, room;
	size_t left_out;     /* those on no node yet */
	const char *node;    /* "" if no pod names one */
	const char *refused; /* why the pods are none of one node; NULL: they are */
};

/* More than any node has. */
#define PODS_MAX   16384
#define MEMORY_MAX ((size_t)256 << 20)

/* Fits _cleanup_(nodepods_free); nothing was read yet when all of it is zero. */
static void nodepods_free(struct nodepods *pods)
{
	free(pods->list);
	arena_free(&pods->arena);
	*pods = (struct nodepods){};
}

/* The pods of a cluster do not all lose their node at once. */
static const char *why_not(const struct nodepods *p, const struct podobj_pod *pod)
{
	if (p->n == PODS_MAX)
		return "these are more pods than a node has";
	if (*pod->node && *p->node && strcmp(pod->node, p->node) != 0)
		return "these are pods of several nodes";
	return NULL;
}

static int take_pod(void *userdata, const struct podobj_pod *pod)
{
	struct nodepods *p = userdata;
	struct podobj_pod *copy;

	if (!p->refused)
		p->refused = why_not(p, pod);
	if (p->refused)
		return 0;
	if (!*pod->node) {
		p->left_out++;
		return 0;
	}
	copy = ROOM_FOR_ONE(p->list, p->n, p->room, 64) ? arena_alloc(&p->arena, sizeof(*copy))
							: NULL;
	if (!copy)
		return -ENOMEM;
	*copy = *pod;
	if (!*p->node)
		p->node = pod->node;
	p->list[p->n++] = copy;
	return 0;
}

/* Reads them for graced plan, and says how many were left out. 0, or 1 when anything was wrong,
 * which was said: the exit status. Those that were not wrong are there nonetheless. */
static int nodepods_read(const char *path, struct nodepods *ret)
{
	struct podinput input = {.verb = "plan", .path = path};
	int status;

	*ret = (struct nodepods){.arena.limit = MEMORY_MAX, .node = ""};
	status = podinput_each(&input, &ret->arena, take_pod, ret);
	if (!ret->refused && ret->left_out > 0)
		say("%zu of the pods in %s %s on no node (no spec.nodeName): left out",
		    ret->left_out, path, ret->left_out == 1 ? "is" : "are");
	if (!ret->refused)
		return status;
	say("cannot plan %s: %s; kubectl get pods --field-selector spec.nodeName=NODE lists those "
	    "of one",
	    path, ret->refused);
	ret->n = 0;
	return 1;
}

struct listed {
	const struct shutview_pod *pods;
	size_t n;
};

static bool is_listed(void *userdata, const struct cgpath *path)
{
	const struct listed *listed = userdata;

	for (size_t i = 0; i < listed->n; i++)
		if (shutview_runs(&listed->pods[i], path->container_id))
			return true;
	return false;
}

static enum shutview_hearing hearing_of(const struct audit *audit)
{
	if (audit->verdict == AUDIT_UNKNOWN)
		return SHUTVIEW_HEARING_UNKNOWN;
	return audit_is_deaf(audit) ? SHUTVIEW_DEAF : SHUTVIEW_HEARS;
}

/* Says who of them is deaf, as far as their containers run on this host and may be looked into.
 * 0 or -ENOMEM; what it adds is the arena's. */
static int plans_listen(const struct options *options, const struct shutplan *plan,
			struct shutview_pod *pods, size_t n, struct arena *arena)
{
	const struct audit_wanted wanted = {is_listed, &(struct listed){pods, n}};
	_cleanup_(cleanup_free) struct shutview_look *looks = NULL;
	struct audit_list list = {};
	int r = 0;

	/* What was met before it failed counts; without any, nothing is known. */
	audit_scan_wanted(options, &wanted, &list);
	looks = calloc(list.n + 1, sizeof(*looks));
	if (!looks)
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < list.n; i++)
		looks[i] = (struct shutview_look){list.list[i].path.container_id,
						  hearing_of(&list.list[i].audit)};
	for (size_t i = 0; r == 0 && i < n; i++)
		r = shutview_listen(plan, &pods[i], looks, list.n, arena);
	audit_list_free(&list);
	return r;
}

static struct nodeplan_rules rules_of(const struct options *o)
{
	struct nodeplan_rules rules = {
		.minor = o->kubernetes_minor,
		.nodefail = nodefail_rules_of(o->kubernetes_minor),
	};

	if (o->monitor_grace_ns)
		rules.nodefail.grace_s = (int64_t)(o->monitor_grace_ns / NS_PER_S);
	rules.taint_s = rules.nodefail.grace_s + NODEFAIL_MONITOR_PERIOD_S;
	if (o->taint_after_given)
		rules.taint_s = (int64_t)(o->taint_after_ns / NS_PER_S);
	if (o->out_of_service)
		rules.taint = o->taint_no_execute ? NODEFAIL_TAINT_NO_EXECUTE : NODEFAIL_TAINT;
	return rules;
}

static int print_json(const struct options *options, const struct nodeplan_rules *rules,
		      const struct nodeplan_pod *pods, size_t n)
{
	int r = 0;

	for (size_t i = 0; i < n && r == 0; i++) {
		_cleanup_(buf_free) struct buf out = {};

		r = plan_json(&out, options->pods, rules, &pods[i]);
		fputs(buf_str(&out), stdout);
	}
	return r;
}

static int print_table(const struct options *options, const struct nodeplan_rules *rules,
		       const struct nodeplan_pod *pods, size_t n)
{
	_cleanup_(buf_free) struct buf out = {};
	struct grid_view view = screen_view(options);
	int r = plan_table(&out, rules, pods, n, &view);

	fputs(buf_str(&out), stdout);
	return r;
}

/* What becomes of a silent node's pods. 0 or -errno. */
static int plans_dies(const struct options *options, const struct nodepods *pods)
{
	_cleanup_(cleanup_free) struct nodeplan_pod *plans = calloc(pods->n + 1, sizeof(*plans));
	struct nodeplan_rules rules = rules_of(options);

	if (!plans)
		return -ENOMEM;
	for (size_t i = 0; i < pods->n; i++)
		plans[i] = nodeplan_of(&rules, pods->list[i]);
	nodeplan_sort(plans, pods->n);
	return options->json ? print_json(options, &rules, plans, pods->n)
			     : print_table(options, &rules, plans, pods->n);
}

/* Whose groups count: graced's own by --config, else those of the kubelet. */
struct source {
	struct config config;
	struct kubeletfile file;
	bool named; /* the kubelet's file */
};

/* 0, or the exit status. The owner of a kubelet's file that was named is not checked. */
static int source_open(struct source *s, const struct options *o)
{
	int status = config_read("plan", o->config, &s->config);
	const char *named;

	if (status)
		return status;
	named = o->kubelet_config ? o->kubelet_config : s->config.shutdown.kubelet_config;
	s->named = named;
	s->file = (struct kubeletfile){
		.path = named ? named : KUBELETFILE_DEFAULT,
		.minor = o->kubernetes_minor,
		.any_writer = named,
	};
	return 0;
}

/* Fits _cleanup_(source_close). */
static void source_close(struct source *s)
{
	config_done(&s->config);
}

static void say_no_groups(const struct source *s)
{
	if (config_manages(&s->config.shutdown))
		say("%s has no groups, and neither has %s: all pods are stopped at once, each with "
		    "its own grace period",
		    s->config.file, s->file.path);
	else
		say("by its configuration %s the kubelet leaves a shutdown to systemd: it has "
		    "neither shutdownGracePeriod nor shutdownGracePeriodByPodPriority",
		    s->file.path);
}

/* 0, 1 when it was said why not. */
static int read_plan(const struct source *s, struct arena *arena, struct shutplan *ret)
{
	struct kubeletfile_why why;
	int r = groups_plan(&s->config.shutdown, &s->file, arena, ret, &why);

	if (r < 0)
		say("the kubelet's configuration cannot be used: %s%s", why.text,
		    r == -ENOENT ? "; name it with --kubelet.config" : "");
	else if (ret->n == 0)
		say_no_groups(s);
	return ret->n == 0;
}

/* What logind would have from this host's files. */
static int read_limit(struct shutview_rules *rules)
{
	_cleanup_(cleanup_free) struct delaydrop_files *files = calloc(1, sizeof(*files));
	uint64_t us;
	int r = files ? delaydrop_read("", files) : -ENOMEM;

	if (r < 0)
		return r;
	us = delaylimit_of_files(files->list, files->n);
	delaydrop_done(files);
	rules->has_limit = true;
	if (__builtin_mul_overflow(us, NS_PER_US, &rules->limit_ns))
		rules->limit_ns = UINT64_MAX;
	return 0;
}

/* One of the two, the other is NULL. */
static int print(const struct options *options, const struct shutview *view,
		 const struct drain *drain)
{
	_cleanup_(buf_free) struct buf out = {};
	size_t n = view ? view->n : drain->n;
	int r = 0;

	if (!options->json) {
		struct grid_view how = screen_view(options);

		r = view ? shutview_table(&out, view, &how) : drain_table(&out, drain, &how);
		fputs(buf_str(&out), stdout);
		return r;
	}
	for (size_t i = 0; i < n && r == 0; i++) {
		buf_reset(&out);
		r = view ? shutview_json(&out, options->pods, view, &view->pods[i])
			 : drain_json(&out, options->pods, drain, &drain->pods[i]);
		fputs(buf_str(&out), stdout);
	}
	return r;
}

/* Finds drivers of the volumes mounted on this host, and of those in the pods' specs. */
static int find_drivers(const struct source *source, struct shutview_pod *pods, size_t n,
			struct arena *arena)
{
	const char *root = source->config.shutdown.kubelet_root;
	struct shutview_use *uses = NULL;
	size_t n_uses;
	int r = planvolumes_read(root, arena, &uses, &n_uses);

	return r < 0 ? r : shutview_find_drivers(pods, n, uses, n_uses, root, arena);
}

/* What a node shutdown would do. 0 or -errno; 1: it was said why there is no answer. */
static int plans_shutdown(const struct options *options, const struct source *source,
			  const struct nodepods *pods)
{
	_cleanup_(cleanup_free) struct shutview_pod *list = calloc(pods->n + 1, sizeof(*list));
	struct shutview_rules rules = {.minor = options->kubernetes_minor,
				       .managed = config_manages(&source->config.shutdown)};
	_cleanup_(arena_free) struct arena arena = {};
	struct shutview view;
	int r = list ? read_plan(source, &arena, &rules.plan) : -ENOMEM;

	if (r == 0)
		r = read_limit(&rules);
	if (r != 0)
		return r;
	if (rules.managed)
		rules.extra_ns = groups_need_ns(&source->config.shutdown, &rules.plan) -
				 shutplan_requested_ns(&rules.plan);
	for (size_t i = 0; i < pods->n; i++)
		list[i] = shutview_pod_of(&rules.plan, pods->list[i]);
	shutview_sort(list, pods->n);
	r = plans_listen(options, &rules.plan, list, pods->n, &arena);
	if (r == 0)
		r = find_drivers(source, list, pods->n, &arena);
	if (r < 0)
		return r;
	r = shutview_of(&rules, list, pods->n, &arena, &view);
	return r < 0 ? r : print(options, &view, NULL);
}

/* The groups of a kubelet's configuration that is named, or that is there and has some; else none.
 * 0, 1 when it was said why not. */
static int read_groups(const struct source *s, struct arena *arena, struct shutplan *ret)
{
	struct kubeletfile_why why;
	int r;

	*ret = (struct shutplan){.rules = shutplan_rules_of(s->file.minor)};
	if (s->named)
		return read_plan(s, arena, ret);
	r = groups_plan(&s->config.shutdown, &s->file, arena, ret, &why);
	if (r == 0 || r == -ENOENT)
		return 0;
	say("the kubelet's configuration cannot be used: %s; name another with --kubelet.config",
	    why.text);
	return 1;
}

/* How to delete the pods of a node that ends at a deadline. As plans_shutdown(). */
static int plans_drain(const struct options *options, const struct source *source,
		       const struct nodepods *pods)
{
	_cleanup_(cleanup_free) struct shutview_pod *list = calloc(pods->n + 1, sizeof(*list));
	_cleanup_(arena_free) struct arena arena = {};
	struct shutplan groups, plan;
	struct drain drain;
	int r = list ? read_groups(source, &arena, &groups) : -ENOMEM;

	if (r == 0)
		r = drain_plan_of(&groups, options->deadline_ns, &arena, &plan);
	if (r != 0)
		return r;
	for (size_t i = 0; i < pods->n; i++)
		list[i] = shutview_pod_of(&plan, pods->list[i]);
	r = plans_listen(options, &plan, list, pods->n, &arena);
	if (r < 0)
		return r;
	for (size_t i = 0; i < pods->n; i++)
		list[i] = drain_pod_of(&list[i], options->deadline_ns);
	drain_sort(list, pods->n);
	r = drain_of(&plan, options->deadline_ns, list, pods->n, &arena, &drain);
	drain.minor = options->kubernetes_minor;
	return r < 0 ? r : print(options, NULL, &drain);
}

static const struct options_help help = {
	.head = "usage: graced plan [OPTIONS] --pods FILE|-\n"
		"       graced plan --deadline TIME [OPTIONS] --pods FILE|-\n"
		"       graced plan --if-node-dies [OPTIONS] --pods FILE|-\n"
		"\n"
		"Shows what a node shutdown would do now to each pod: with which group it is ended, when that\n"
		"group is over, which grace period it gets, whether that is cut short, and whether the pod is\n"
		"deaf and wastes it. Times count from the announcement. Nothing is shut down.\n"
		"The groups are the kubelet's, or with --config those of graced in mode manage.\n"
		"With --deadline shows in which order to delete the pods of a node that ends after that time,\n"
		"when at the latest, and which are cut short all the same. Nothing is deleted.\n"
		"With --if-node-dies shows what happens to each pod if its node went silent now: when it is\n"
		"marked not ready, deleted, replaced and gone, and what stays stuck. Times count from the\n"
		"node's last heartbeat.\n"
		"Reads what kubectl get pods -o json or -o yaml prints, one pod or a list; - is standard\n"
		"input. Needs no privilege and queries no API. Deaf pods are found as graced audit finds them, of containers\n"
		"that run on this host: that needs root, and queries their runtime for their stop signals.\n",
	.tail = "EXAMPLES\n"
		"  kubectl get pods -A -o json --field-selector spec.nodeName=NODE | graced plan --pods -\n"
		"  graced plan --deadline 2m --pods pods.json     a spot node that ends in two minutes\n"
		"  graced plan --if-node-dies --pods pods.json\n",
};

/* An option that is of no use to the question, NULL: none is. */
static const char *misplaced_option(const struct options *o)
{
	if (o->if_node_dies && o->deadline_ns)
		return "--deadline does not go";
	if (o->if_node_dies)
		return o->kubelet_config ? "--kubelet.config does not go"
		       : o->config	 ? "--config does not go"
					 : NULL;
	if (o->monitor_grace_ns)
		return "--node-monitor-grace-period goes";
	if (o->out_of_service)
		return "--out-of-service goes";
	if (o->taint_after_given)
		return "--out-of-service-after goes";
	return o->taint_no_execute ? NULL : "--out-of-service-effect goes";
}

/* 0, or the exit status. */
static int check(const struct options *o, int argc, char **argv)
{
	if (o->first < argc)
		return say_usage("plan", "'%s' is one word too many; the pods come by --pods",
				 argv[o->first]);
	if (misplaced_option(o))
		return say_usage("plan", "%s with --if-node-dies", misplaced_option(o));
	if (!o->pods)
		return say_usage("plan",
				 "--pods is missing: kubectl get pods -A -o json "
				 "--field-selector spec.nodeName=NODE | graced plan%s --pods -",
				 o->if_node_dies ? " --if-node-dies" : "");
	if (o->if_node_dies && !o->out_of_service && (o->taint_after_given || !o->taint_no_execute))
		return say_usage("plan", "--out-of-service-%s goes with --out-of-service",
				 o->taint_after_given ? "after" : "effect");
	return 0;
}

static const struct grid_table *columns_of(const struct options *o)
{
	if (o->if_node_dies)
		return &plan_columns;
	return o->deadline_ns ? &drain_columns : &shutview_columns;
}

int cmd_plan(int argc, char **argv)
{
	_cleanup_(nodepods_free) struct nodepods pods = {};
	_cleanup_(source_close) struct source source = {};
	struct options options;
	int status, r;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	status = check(&options, argc, argv);
	if (!status)
		status = screen_check(&options, columns_of(&options));
	if (status)
		return status;
	status = source_open(&source, &options);
	if (status)
		return status;
	status = nodepods_read(options.pods, &pods);
	if (status && pods.n == 0)
		return status;
	if (options.if_node_dies)
		r = plans_dies(&options, &pods);
	else if (options.deadline_ns)
		r = plans_drain(&options, &source, &pods);
	else
		r = plans_shutdown(&options, &source, &pods);
	if (r < 0)
		say("cannot print the plan: %s", strerror(-r));
	return r != 0 ? 1 : status;
}
