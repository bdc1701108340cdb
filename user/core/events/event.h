/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which records are worth an Event in Kubernetes, and what it says. An Event is read by people who
 * have nothing else (`kubectl describe pod`): it states what was observed, and whether the evidence
 * is partial. Where the verdict itself is in doubt there is none: an unknown cause, an exit that
 * was not seen, a sandbox that is guessed, a sender that matters and is not known.
 *
 * Reasons: ContainerDeaf, GraceExceeded, KilledBy, OOMKilledBy, StoppedOverdue, all of a container
 * of a pod, and NodeShutdownComplete of the node.
 */
#ifndef CORE_EVENTS_EVENT_H
#define CORE_EVENTS_EVENT_H

#include <stdbool.h>
#include <stdint.h>

#include "core/stop/record.h"

/* With their NUL: a DNS-1123 label and a subdomain. */
#define EVENT_LABEL_MAX	    64
#define EVENT_SUBDOMAIN_MAX 254
/* NoteLengthLimit in pkg/apis/core/validation/events.go, and a NUL. */
#define EVENT_NOTE_MAX	    1025

struct event {
	const char *reason, *action; /* words of Kubernetes: CamelCase; constant */
	const char *cause;	     /* of the verdict, or ""; constant */
	bool warning;		     /* type Warning; else Normal */
	bool of_node;		     /* regarding the node, not a pod: all names but this are "" */
	char namespace_[EVENT_LABEL_MAX];
	char name[EVENT_SUBDOMAIN_MAX]; /* of the pod or the node */
	char uid[EVENT_SUBDOMAIN_MAX];	/* of the pod; of a node its name, as the kubelet has it */
	char container[EVENT_LABEL_MAX];
	/* Which run of the container it is about: one run is never counted twice. */
	uint64_t run;
	int64_t wall_ns;	   /* when it happened, since 1970 */
	char note[EVENT_NOTE_MAX]; /* printable ASCII */
};

/* False: the record is not worth one, or its pod lacks a namespace, name or UID that Kubernetes
 * would accept. node: the node's name; NULL: not known. */
bool event_of_record(const struct record *record, const char *node, struct event *ret);

#endif
