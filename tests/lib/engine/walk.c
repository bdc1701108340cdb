// SPDX-License-Identifier: Apache-2.0
/* Tells an engine the life of one init. */
#include "lib/engine/walk.h"

#include "lib/claim.h"

static void take(struct world *w, const struct walk_step *s)
{
	static const struct graced_proc *const procs[] = {
		[BY_RUNTIME] = &P_RUNC, [BY_SYSTEMD] = &P_SYSTEMD, [BY_SHELL] = &P_SHELL,
		[BY_SSHD] = &P_SSHD,	[BY_A1] = &P_A1,	   [BY_A1_CHILD] = &P_A1_CHILD,
		[BY_A2] = &P_A2,	[BY_B1] = &P_B1,	   [BY_KERNEL] = &P_SHELL,
	};
	struct shot shot = {
		.sig = s->sig,
		.result = s->result,
		.flags = s->flags,
		.from = procs[s->by],
		.to = &P_A1,
	};

	if (s->by == BY_KERNEL)
		shot.flags |= GRACED_SIG_INFO_PRIV;
	world_shot(w, AT_STOP + s->after, CG_A1, &shot);
}

void walk(struct world *w, const struct walk *p)
{
	const struct engine_config config = {
		.scope = SCOPE_CONTAINERS,
		.assumed_grace_ns = p->grace,
	};

	world_open(w, &config);
	world_init(w, AT_INIT, CG_A1, &P_A1);
	for (size_t i = 0; i < LEN(p->steps) && p->steps[i].by != BY_NOBODY; i++)
		take(w, &p->steps[i]);
	world_exit(w, AT_STOP + p->exit_after, CG_A1, &P_A1, p->status);
	world_empty(w, AT_STOP + p->exit_after + 30000, CG_A1);
}

void assert_walks(const struct walk *paths, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		bool early =
			paths[i].cause == CAUSE_KILLED_EARLY && paths[i].steps[1].by == BY_RUNTIME;
		uint32_t gaps = early ? GAP(GRACE_UNCERTAIN) : 0;
		const struct record_stop *s;
		struct world w;

		walk(&w, &paths[i]);
		s = world_stop(&w);
		if (s->outcome != paths[i].outcome || s->cause != paths[i].cause || s->gaps != gaps)
			fail_msg("%s: %s/%s, gaps %x", paths[i].what, outcome_name(s->outcome),
				 cause_name(s->cause), s->gaps);
		world_close(&w);
	}
}
