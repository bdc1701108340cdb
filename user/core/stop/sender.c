// SPDX-License-Identifier: Apache-2.0
/* Kind and relation of a sender: two lists, first match wins (graced-records(5), "sender" and
 * OUTCOME AND CAUSE). */
#include "core/stop/sender.h"

#include <signal.h>
#include <string.h>

#include "graced/runtime.h"

/* si_code (include/uapi/asm-generic/siginfo.h). */
#define SI_TIMER_CODE -2
#define SI_SIGIO_CODE -5
#define POLL_IN_CODE  1
#define POLL_HUP_CODE 6

/* Signals that a fault raises in the context of who made it, and those that only the kernel sends. */
#define FAULTS (1ULL << 3 | 1ULL << 4 | 1ULL << 6 | 1ULL << 7 | 1ULL << 10 | 1ULL << 30)

/* SIGHUP, SIGINT and SIGQUIT. */
#define TERMINALS (1ULL << 0 | 1ULL << 1 | 1ULL << 2)

/* Executables that stop containers for a living, beside those that make them (graced/runtime.h);
 * each counts only when run by root. */
static const char *const runtime_exes[] = {
	"containerd",
	"containerd-shim",
	"containerd-shi" /* behind a wrapper, and cut */,
	"dockerd",
	"docker-init",
	"docker-proxy",
	"cri-dockerd",
	"crio",
	"conmon",
	"conmonrs",
	"runsc",
	"kata-runtime",
	"podman",
};

/* What their names begin with: one look excludes most others. */
static bool may_be_runtime(char first)
{
	return first == 'c' || first == 'd' || first == 'k' || first == 'p' || first == 'r';
}

/* What free memory in user space by killing; each counts only when run by root. */
static const char *const oom_daemons[] = {
	"earlyoom", "systemd-oomd", "nohang", "oomd", "bustd",
};

/* Units that are a runtime as a whole. */
static const char *const runtime_units[] = {
	"containerd.service",
	"docker.service",
	"crio.service",
	"cri-docker.service",
	"podman.service",
	"k3s.service",
	"k3s-agent.service",
	"rke2-server.service",
	"rke2-agent.service",
	"k0scontroller.service",
	"k0sworker.service",
	"snap.docker.dockerd.service",
	"snap.microk8s.daemon-containerd.service",
	"snap.k8s.containerd.service",
	/* A conmon has one for each container, which is called after it. */
	"crio-conmon-*",
	"libpod-conmon-*",
};

static const char *const oom_units[] = {
	"earlyoom.service",	  "systemd-oomd.service", "nohang.service",
	"nohang-desktop.service", "oomd.service",	  "bustd.service",
};

/* Whether a name is a word, or begins as one that ends in a star. */
static bool fits(const char *word, const char *name, size_t len)
{
	size_t n = strlen(word);

	if (word[n - 1] == '*')
		return len >= n && memcmp(word, name, n - 1) == 0;
	return len == n && memcmp(word, name, n) == 0;
}

static bool listed(const char *const *list, size_t n, const char *name, size_t len)
{
	for (size_t i = 0; i < n; i++)
		if (fits(list[i], name, len))
			return true;
	return false;
}

#define LISTED(list, name, len) listed(list, sizeof(list) / sizeof(*(list)), name, len)

/* A service is recorded like a container, but its processes run on the host. */
static bool in_container(const struct cgnode *node)
{
	return node && node->kind == GRACED_WATCH_CONTAINER;
}

/* Whether a cgroup is that of one of the units or below it. */
static bool in_unit(const char *const *units, size_t n, const struct cgnode *node)
{
	const char *path = node->path;
	uint32_t level = 1;
	size_t len;

	/* Users name their own units as they like. */
	if (strncmp(path, "/user.slice/", strlen("/user.slice/")) == 0)
		return false;
	for (; *path && level != node->delegated_level; path += len, level++) {
		path += strspn(path, "/");
		len = strcspn(path, "/");
		if (listed(units, n, path, len))
			return true;
	}
	return false;
}

#define IN_UNIT(list, node) in_unit(list, sizeof(list) / sizeof(*(list)), node)

static uint32_t units_of(const struct cgnode *node)
{
	static const char *const kubelet_units[] = {"kubelet.service"};
	uint32_t units = UNITS_ASKED;

	if (IN_UNIT(runtime_units, node))
		units |= UNITS_RUNTIME;
	if (IN_UNIT(kubelet_units, node) || strcmp(node->path, "/podruntime/kubelet") == 0)
		units |= UNITS_KUBELET;
	if (IN_UNIT(oom_units, node))
		units |= UNITS_OOM;
	return units;
}

/* Every signal needs it of its sender and of that one's ancestors. */
static bool is_in_units(struct cgnode *node, enum cgnode_units units)
{
	if (!node || !node->path)
		return false;
	if (!node->units)
		node->units = units_of(node);
	return node->units & units;
}

/*
 * Below a branch every cgroup is watched that there was room for. A process that is in none of
 * these may be in a container, and which one is not known.
 */
static bool is_unplaced(const struct graced_proc *p, const struct cgnode *node)
{
	return node && !cgnode_is_container(node) && p->cgroup_id && p->cgroup_id != p->watch_id;
}

/*
 * Names of executables are cut at 15 bytes: containerd-shim-runc-v2 reads containerd-shim. What
 * follows the name of one that was renamed is no letter: containerd.real, .dockerd-wrapped.
 */
static bool is_runtime_exe(const char exe[GRACED_COMM_LEN])
{
	char plain[GRACED_COMM_LEN + 1] = "";
	__u64 name[2];
	bool renamed;

	memcpy(name, exe, sizeof(name));
	graced_name_plain(&name[0], &name[1]);
	if (graced_makes_containers(name[0]))
		return true;
	memcpy(plain, name, sizeof(name));
	if (!may_be_runtime(plain[0]))
		return false;
	renamed = plain[0] != exe[0];
	return LISTED(runtime_exes, plain, strlen(plain)) ||
	       LISTED(runtime_exes, plain, strcspn(plain, renamed ? "._-" : "._"));
}

bool sender_may_manage(const char *name)
{
	char exe[GRACED_COMM_LEN] = "";

	memcpy(exe, name, strnlen(name, sizeof(exe) - 1));
	return is_runtime_exe(exe) || strcmp(exe, "systemd") == 0;
}

/* In a cgroup whose record was lost nothing is believed: it may be a container. */
static bool is_runtime(const struct cgmap *map, const struct graced_proc *p)
{
	struct cgnode *node = cgmap_get(map, p->watch_id);

	if (!p->pid || in_container(node) || (p->watch_id && !node) || is_unplaced(p, node))
		return false;
	if (is_in_units(node, UNITS_RUNTIME))
		return true;
	return p->uid == 0 && is_runtime_exe(p->exe);
}

static bool has_runtime(const struct cgmap *map, const struct obs_signal *sig)
{
	if (is_runtime(map, &sig->sender))
		return true;
	for (int i = 0; i < GRACED_ANCESTORS && sig->ancestors[i].pid; i++)
		if (is_runtime(map, &sig->ancestors[i]))
			return true;
	return false;
}

/* Another instance of this program, which root runs outside every container. */
static bool is_graced(const struct cgmap *map, const struct graced_proc *p)
{
	if (p->watch_id && !cgmap_get(map, p->watch_id))
		return false;
	return p->uid == 0 && strcmp(p->exe, "graced") == 0;
}

/* A process of the host has an ancestor that may be a runtime, or in a container. */
static bool has_unplaced(const struct cgmap *map, const struct obs_signal *sig)
{
	for (int i = 0; i < GRACED_ANCESTORS && sig->ancestors[i].pid; i++)
		if (is_unplaced(&sig->ancestors[i], cgmap_get(map, sig->ancestors[i].watch_id)))
			return true;
	return false;
}

/* F_SETSIG (POLL_...) and a child's exit signal (CLD_...) have the same codes. */
static bool is_ready_or_child(const struct obs_signal *sig)
{
	return sig->code >= POLL_IN_CODE && sig->code <= POLL_HUP_CODE &&
	       !(FAULTS >> (sig->sig - 1) & 1);
}

static bool from_child(const struct obs_signal *sig)
{
	return sig->sender.pid && sig->ancestors[0].pid == sig->target.pid;
}

/* The exit signal that the target gave its child by clone(2). */
static bool is_childs(const struct obs_signal *sig)
{
	return is_ready_or_child(sig) && from_child(sig) && sig->flags & GRACED_SIG_SENDER_EXITS;
}

/*
 * The kernel raises the signal of a timer that expires, or of a file that is ready to be read,
 * while any process may be running: the target, its child, who wrote to the pipe, or one that an
 * interrupt found. The same codes may come from rt_sigqueueinfo(2): the negative ones from any
 * process, the positive ones from the target itself (kernel/signal.c, do_rt_sigqueueinfo()).
 */
static bool may_be_anybodys(const struct obs_signal *sig)
{
	if (sig->code <= SI_TIMER_CODE && sig->code >= SI_SIGIO_CODE)
		return true;
	return is_ready_or_child(sig) && !is_childs(sig);
}

/*
 * A terminal's ^C, ^\ and hang-up. Beside it only an exit sends these that leaves a stopped process
 * group without a parent (kernel/exit.c, kill_orphaned_pgrp()), and a console: Ctrl-Alt-Del to the
 * host's PID 1, and to who asked for it when it changes or a key is pressed (VT_SETMODE,
 * KDSIGACCEPT).
 */
static bool is_terminals(const struct obs_signal *sig)
{
	return sig->flags & GRACED_SIG_INFO_PRIV && !(sig->flags & GRACED_SIG_PARENT_DEATH) &&
	       TERMINALS >> (sig->sig - 1) & 1;
}

/* In a container, or in a cgroup that may be one. */
static bool may_be_contained(const struct graced_proc *p, const struct cgnode *node)
{
	return in_container(node) || (p->watch_id && !node) || is_unplaced(p, node);
}

static bool from_kernel(const struct obs_signal *sig)
{
	if (is_childs(sig) || sig->flags & GRACED_SIG_REBOOT)
		return false;
	if (sig->flags & (GRACED_SIG_INFO_PRIV | GRACED_SIG_PARENT_DEATH))
		return true;
	return sig->sender.pid == 0 || (sig->code > 0 && sig->sender.pid != sig->target.pid);
}

/* By its own system call: SIGPIPE and SIGXFSZ of a write(2) (kernel/signal.c, send_sig()). It is
 * the process that decides to write to its own cgroup.kill. */
static bool is_calls_own(const struct obs_signal *sig)
{
	return sig->flags & GRACED_SIG_INFO_NONE && sig->sender.pid == sig->target.pid &&
	       sig->sig != SIGKILL;
}

static enum sender_kind kind_of(const struct cgmap *map, const struct obs_signal *sig,
				struct cgnode *node, uint32_t self_pid)
{
	if (may_be_anybodys(sig))
		return SENDER_UNKNOWN;
	if (from_kernel(sig) || is_calls_own(sig) || (sig->code > 0 && !is_childs(sig)))
		return SENDER_KERNEL;
	if (self_pid && sig->sender.pid == self_pid)
		return SENDER_GRACED;
	if (in_container(node))
		return node->pod ? SENDER_POD : SENDER_CONTAINER;
	if (sig->sender.pid == 1)
		return SENDER_SYSTEMD;
	if (is_unplaced(&sig->sender, node))
		return SENDER_UNPLACED;
	if (is_in_units(node, UNITS_KUBELET))
		return SENDER_KUBELET;
	if (is_graced(map, &sig->sender))
		return SENDER_GRACED;
	if (has_runtime(map, sig))
		return SENDER_RUNTIME;
	if (has_unplaced(map, sig))
		return SENDER_UNPLACED;
	/* In the pod's own cgroup, or in one below that. */
	return cgmap_pod_around(map, node) ? SENDER_POD : SENDER_HOST;
}

static bool is_manager(enum sender_kind kind)
{
	return kind == SENDER_SYSTEMD || kind == SENDER_KUBELET || kind == SENDER_RUNTIME;
}

/*
 * What the kernel itself decided (an rlimit, an OOM kill) is the kernel's even when it happens in
 * the target's own context; a fault there is the process's own.
 */
static enum relation relation_of(const struct cgmap *map, const struct obs_signal *sig,
				 const struct cgnode *target, const struct sender *s)
{
	const struct pod_cgroups *pod = cgmap_pod_around(map, s->node);
	bool within = cgnode_is_container(target) && s->node == target;

	if (s->kind == SENDER_UNKNOWN)
		return RELATION_UNKNOWN;
	if (sig->flags & GRACED_SIG_PARENT_DEATH)
		return RELATION_PARENT;
	if (is_terminals(sig) && !within && !may_be_contained(&sig->sender, s->node))
		return RELATION_TERMINAL;
	/* It hangs up its own terminal, or leaves a process group without a parent. */
	if (from_kernel(sig) && !(is_terminals(sig) && within))
		return RELATION_KERNEL;
	if (sig->sender.pid == sig->target.pid)
		return RELATION_SELF;
	/* Before what follows: this program may run in a container. */
	if (s->kind == SENDER_GRACED)
		return RELATION_MANAGER;
	if (within)
		return RELATION_SAME_CONTAINER;
	if (is_manager(s->kind))
		return RELATION_MANAGER;
	if (s->kind == SENDER_UNPLACED)
		return RELATION_UNPLACED;
	if (pod && target && pod == target->cgroups)
		return RELATION_SAME_POD;
	return in_container(s->node) || s->kind == SENDER_POD ? RELATION_OTHER_POD : RELATION_HOST;
}

/*
 * Programs that send what another process tells them to, in each spelling of their names as they
 * are cut: who decides is the process that started them.
 */
static const char *const hands[] = {
	"kill", "pkill", "killall",	    "skill",	       "sudo", "doas", "runc",
	"crun", "youki", "memfd:runc_clon", "memfd:crun_clon",
};

/* Below PID 1 and systemd's user managers are what have nothing to do with each other. */
static bool adopts(const struct graced_proc *p)
{
	return !p->pid || p->pid == 1 || strcmp(p->exe, "systemd") == 0;
}

static struct sender_mind mind_of(const struct obs_signal *sig)
{
	const struct graced_proc *p = &sig->sender;

	for (int i = 0;
	     i < GRACED_ANCESTORS && LISTED(hands, p->exe, strnlen(p->exe, sizeof(p->exe))); i++) {
		if (adopts(sig->ancestors + i))
			break;
		p = sig->ancestors + i;
	}
	return (struct sender_mind){p->pid, p->start_ns};
}

/* The process that ran at that moment did not send it. */
static void forget_process(struct sender *s)
{
	memset(&s->proc, 0, sizeof(s->proc));
	s->mind = (struct sender_mind){};
	memset(s->ancestors, 0, sizeof(s->ancestors));
	s->node = NULL;
}

/* The nearest watched cgroup above it says nothing of it. */
static void forget_place(struct sender *s)
{
	s->proc.watch_id = 0;
	s->node = NULL;
}

void sender_judge(const struct cgmap *map, const struct obs_signal *sig,
		  const struct cgnode *target, uint32_t self_pid, struct sender *ret)
{
	struct cgnode *node = cgmap_get(map, sig->sender.watch_id);

	ret->proc = sig->sender;
	ret->mind = mind_of(sig);
	ret->node = node;
	ret->kind = kind_of(map, sig, node, self_pid);
	ret->relation = relation_of(map, sig, target, ret);
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		if (sig->ancestors[i].pid)
			memcpy(ret->ancestors[i], sig->ancestors[i].comm, GRACED_COMM_LEN);
		else
			ret->ancestors[i][0] = '\0';
	if (ret->kind == SENDER_UNKNOWN)
		forget_process(ret);
	else if (is_unplaced(&sig->sender, node))
		forget_place(ret);
	if (ret->node)
		cgnode_ref(ret->node);
}

void sender_done(struct cgmap *map, struct sender *sender)
{
	sender->node = cgnode_unref(map, sender->node);
}

/* Its script may be all that has its name, as nohang's has. */
bool sender_frees_memory(const struct sender *s)
{
	const struct graced_proc *p = &s->proc;

	if (s->kind != SENDER_HOST || (p->watch_id && !s->node))
		return false;
	if (is_in_units(s->node, UNITS_OOM))
		return true;
	return p->uid == 0 && (LISTED(oom_daemons, p->exe, strnlen(p->exe, sizeof(p->exe))) ||
			       LISTED(oom_daemons, p->comm, strnlen(p->comm, sizeof(p->comm))));
}

bool sender_may_clean_up(const struct sender *s)
{
	if (s->kind != SENDER_SYSTEMD && s->kind != SENDER_RUNTIME)
		return false;
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		if (strcmp(s->ancestors[i], "podman") == 0)
			return false;
	return strcmp(s->proc.comm, "podman") != 0;
}

/* A process, and surely outside every container. */
static bool is_of_host(const struct sender *s)
{
	return s->kind != SENDER_KERNEL && s->kind != SENDER_UNKNOWN &&
	       s->kind != SENDER_UNPLACED && !in_container(s->node);
}

bool sender_same(const struct sender *a, const struct sender *b)
{
	if (a->proc.pid && a->proc.pid == b->proc.pid && a->proc.start_ns == b->proc.start_ns)
		return true;
	if (!is_of_host(a) || !is_of_host(b))
		return false;
	return a->mind.pid && a->mind.pid == b->mind.pid && a->mind.start_ns == b->mind.start_ns;
}
