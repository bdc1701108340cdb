// SPDX-License-Identifier: Apache-2.0
/* The effective grace period of one container's stop. */
#include "core/stop/grace.h"

#define SECOND	     1000000000ULL
#define KUBELET_MIN  (2 * SECOND)
#define WHOLE_WITHIN (SECOND / 10) /* a runtime's timer and its runc take so long */

static bool is_set(const struct podtab_container *c, bool prestop)
{
	return c && (prestop ? c->prestop : c->probe_grace);
}

/* The pod's own period, before anything is taken off it. */
static struct grace of_pod(const struct podtab_pod *pod)
{
	struct grace grace = {};

	if (pod->known & META_POD_DELETING && pod->deleting && pod->known & META_POD_DELETION_GRACE)
		grace = (struct grace){.from = GRACE_DELETION, .ns = pod->deletion_grace_ns};
	else if (pod->known & META_POD_GRACE)
		grace = (struct grace){.from = GRACE_SPEC, .ns = pod->grace_ns};
	if (grace.from && grace.ns < KUBELET_MIN)
		grace.ns = KUBELET_MIN;
	return grace;
}

static bool hides(const struct podtab_pod *pod, const struct podtab_container *own,
		  const struct podtab_container *spec, enum grace_from from)
{
	if (is_set(own, true) || is_set(spec, true))
		return true;
	if (pod->known & META_POD_SIDECARS && pod->sidecars)
		return true;
	return from != GRACE_DELETION && (is_set(own, false) || is_set(spec, false));
}

struct grace grace_of(const struct podtab_pod *pod, const struct podtab_container *own,
		      const struct podtab_container *spec, uint64_t assumed_ns)
{
	struct grace grace = {};

	/* The runtime kills a sandbox without asking it first. */
	if (own && own->kind == META_KIND_SANDBOX)
		return grace;
	if (pod)
		grace = of_pod(pod);
	if (grace.from && hides(pod, own, spec, grace.from))
		return (struct grace){.from = GRACE_HIDDEN};
	if (!grace.from && own && own->known & META_CTR_GRACE)
		grace = (struct grace){.from = own->grace_from == META_SYSTEMD ? GRACE_UNIT
									       : GRACE_RUNTIME,
				       .ns = own->grace_ns};
	if (!grace.from && assumed_ns)
		grace = (struct grace){.from = GRACE_ASSUMED, .ns = assumed_ns};
	return grace;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
	return a > b ? a - b : b - a;
}

bool grace_is_outlived(const struct grace *grace, uint64_t after_ns)
{
	uint64_t slack_ns = grace->ns / 10 < SECOND ? grace->ns / 10 : SECOND;

	return after_ns > slack_ns && after_ns - slack_ns > grace->ns;
}

struct grace grace_observed(const struct grace *own, uint64_t after_ns, bool killed)
{
	uint64_t whole_ns = (after_ns + SECOND / 2) / SECOND * SECOND;

	/* No other whole second is nearer to the kill: its own timeout, by a runtime that was slow.
	 */
	if (own->from != GRACE_RUNTIME || (killed && whole_ns == own->ns))
		return *own;
	if (killed && distance(after_ns, whole_ns) <= WHOLE_WITHIN)
		return (struct grace){.from = GRACE_INFERRED, .ns = whole_ns};
	if (grace_is_outlived(own, after_ns))
		return (struct grace){.from = GRACE_HIDDEN};
	return *own;
}
