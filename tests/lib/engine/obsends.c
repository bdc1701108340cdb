// SPDX-License-Identifier: Apache-2.0
/* Ends the strings of an observation of random bytes. */
#include "lib/engine/obsends.h"

#include <stddef.h>

static void end(char *s, size_t size)
{
	s[size - 1] = '\0';
}

static void end_proc(struct graced_proc *p)
{
	end(p->comm, sizeof(p->comm));
	end(p->exe, sizeof(p->exe));
}

#define END(array) end(array, sizeof(array))

/* A bool is 0 or 1 wherever it comes from. */
static void make_bool(bool *b)
{
	*(unsigned char *)b &= 1;
}

static void end_pod(struct meta_pod *pod)
{
	END(pod->uid);
	END(pod->namespace_);
	END(pod->name);
	END(pod->workload);
	END(pod->workload_kind);
	make_bool(&pod->deleting);
	make_bool(&pod->sidecars);
	make_bool(&pod->is_static);
	make_bool(&pod->ready);
	make_bool(&pod->gone);
}

static void end_container(struct meta_container *c)
{
	END(c->id);
	END(c->unit);
	END(c->pod_uid);
	END(c->name);
	END(c->image);
	END(c->namespace_);
	END(c->workload);
	END(c->exit_reason);
	make_bool(&c->prestop);
	make_bool(&c->probe_grace);
	make_bool(&c->probe);
}

static void end_kept_stop(struct kept_stop *stop)
{
	END(stop->last_from);
	end_proc(&stop->init);
	end_proc(&stop->forward.to);
	make_bool(&stop->over);
	make_bool(&stop->guessed);
	make_bool(&stop->late);
	make_bool(&stop->deaf);
	make_bool(&stop->init_unseen);
	make_bool(&stop->oom_victim);
	make_bool(&stop->exit_seen);
	make_bool(&stop->takes_others);
	make_bool(&stop->reported_unnamed);
	make_bool(&stop->record_lost);
	make_bool(&stop->shed);
	make_bool(&stop->given_unknown);
	make_bool(&stop->not_reaped);
	make_bool(&stop->moved);
	make_bool(&stop->again);
	make_bool(&stop->restarted);
	make_bool(&stop->blind);
}

static void end_kept_signal(struct kept_signal *signal)
{
	make_bool(&signal->kill);
	make_bool(&signal->inside);
	make_bool(&signal->other);
	make_bool(&signal->passed);
	make_bool(&signal->inferred);
	make_bool(&signal->deaf);
	END(signal->target_comm);
	end_proc(&signal->sender);
	for (int i = 0; i < GRACED_ANCESTORS; i++)
		END(signal->ancestors[i]);
}

static void end_kept_pod(struct kept_pod *pod)
{
	END(pod->uid);
	make_bool(&pod->over);
	make_bool(&pod->is_static);
	make_bool(&pod->listed);
	make_bool(&pod->was_listed);
	make_bool(&pod->reported.deleting);
	make_bool(&pod->held);
	make_bool(&pod->by_kernel);
	make_bool(&pod->is_orphan);
	make_bool(&pod->between);
	make_bool(&pod->terminating_between);
	make_bool(&pod->empty_seen);
	make_bool(&pod->cgroups_over);
	make_bool(&pod->truth.lost);
	make_bool(&pod->truth.measured);
	make_bool(&pod->life.deleted);
	make_bool(&pod->life.restart_requested);
	make_bool(&pod->seen_in_shutdown);
}

static void end_shutdown(struct obs_shutdown *shutdown)
{
	make_bool(&shutdown->failed);
	make_bool(&shutdown->reachable);
	make_bool(&shutdown->absent);
	make_bool(&shutdown->is_static);
	END(shutdown->pod_uid);
	for (int i = 0; i < SHUTDOWN_MAX_HOLDERS; i++)
		END(shutdown->holders[i].who);
}

static void end_kept_exit(struct kept_exit *exit)
{
	END(exit->id);
	END(exit->pod_uid);
	make_bool(&exit->seen);
	make_bool(&exit->is_static);
	make_bool(&exit->oom_victim);
	make_bool(&exit->oom_beside);
	make_bool(&exit->oom_sure);
	make_bool(&exit->compared);
	make_bool(&exit->again);
}

static void end_kept(struct obs *obs)
{
	switch (obs->type) {
	case OBS_KEPT:
		END(obs->kept.boot_id);
		make_bool(&obs->kept.all);
		break;
	case OBS_KEPT_CGROUP:
		END(obs->kept_cgroup.path);
		END(obs->kept_cgroup.container_id);
		make_bool(&obs->kept_cgroup.populated);
		make_bool(&obs->kept_cgroup.entered);
		break;
	case OBS_KEPT_STOP:
		end_kept_stop(&obs->kept_stop);
		break;
	case OBS_KEPT_SIGNAL:
		end_kept_signal(&obs->kept_signal);
		break;
	case OBS_KEPT_POD:
		end_kept_pod(&obs->kept_pod);
		break;
	case OBS_KEPT_RUN:
		make_bool(&obs->kept_run.units_stopped);
		make_bool(&obs->kept_run.handed_over);
		make_bool(&obs->kept_run.kubelet_held);
		break;
	case OBS_KEPT_TURN:
		make_bool(&obs->kept_turn.hooked);
		make_bool(&obs->kept_turn.failed);
		break;
	case OBS_KEPT_EXIT:
		end_kept_exit(&obs->kept_exit);
		break;
	default:
		break;
	}
}

static void end_plan(struct obs_shutdown_plan *plan)
{
	make_bool(&plan->two_phases);
	make_bool(&plan->volumes);
	make_bool(&plan->statuses);
	make_bool(&plan->unschedulable);
	make_bool(&plan->taint);
	make_bool(&plan->stops_kubelet);
}

static void end_volume(struct obs_volume *volume)
{
	END(volume->pod_uid);
	END(volume->plugin);
	END(volume->driver);
	END(volume->volume);
	make_bool(&volume->failed);
	make_bool(&volume->lives);
}

static void end_described(struct obs *obs)
{
	if (obs->type >= OBS_KEPT)
		end_kept(obs);
	if (obs->type == OBS_SHUTDOWN_PLAN)
		end_plan(&obs->shutdown_plan);
	if (obs->type == OBS_SHUTDOWN_RULE) {
		END(obs->shutdown_rule.unit);
		END(obs->shutdown_rule.label);
	}
	if (obs->type == OBS_VOLUME)
		end_volume(&obs->volume);
	if (obs->type == OBS_SHUTDOWN)
		end_shutdown(&obs->shutdown);
	if (obs->type == OBS_POD)
		end_pod(&obs->pod);
	if (obs->type == OBS_CONTAINER)
		end_container(&obs->container);
	if (obs->type == OBS_IDENTITY)
		END(obs->identity.container_id);
}

void obsends_end(struct obs *obs)
{
	switch (obs->type) {
	case OBS_ATTACHED:
		END(obs->attached.boot_id);
		END(obs->attached.node);
		END(obs->attached.hierarchy);
		END(obs->attached.self_container);
		END(obs->attached.self_cgroup);
		make_bool(&obs->attached.reaps);
		break;
	case OBS_CGROUP_NEW:
	case OBS_CGROUP_FOUND:
		END(obs->cgroup.path);
		break;
	case OBS_INIT:
		make_bool(&obs->init.late);
		end_proc(&obs->init.proc);
		break;
	case OBS_SIGNAL:
		end_proc(&obs->signal.target);
		end_proc(&obs->signal.sender);
		for (int i = 0; i < GRACED_ANCESTORS; i++)
			end_proc(&obs->signal.ancestors[i]);
		break;
	case OBS_EXIT:
		end_proc(&obs->exit.proc);
		break;
	case OBS_OOM:
		end_proc(&obs->oom.victim);
		break;
	case OBS_NAMES:
		END(obs->names.pod_uid);
		END(obs->names.container_id);
		END(obs->names.namespace_);
		END(obs->names.pod);
		END(obs->names.container);
		make_bool(&obs->names.found);
		make_bool(&obs->names.more);
		break;
	case OBS_COUNTS:
		make_bool(&obs->counts.populated);
		make_bool(&obs->counts.pid1);
		make_bool(&obs->counts.looked);
		break;
	case OBS_PROBE:
		make_bool(&obs->probe.alive);
		make_bool(&obs->probe.held);
		break;
	default:
		end_described(obs);
		break;
	}
}
