/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The story of a stop for people: what ended the container in one sentence, what happened in its
 * order, and what to do about it; of one that is under way, how it stands; and of a container that
 * runs, what a stop would do. Processes are written NAME[PID], with the pid that they have in their
 * container; names are made printable.
 */
#ifndef CORE_STORY_STORY_H
#define CORE_STORY_STORY_H

#include "base/buf.h"
#include "core/stop/audit_record.h"
#include "core/stop/record.h"

/* Lines that a story has at most between its sentence and the remedies; others are counted. */
#define STORY_LINES    12
#define STORY_REMEDIES 8

struct story {
	enum story_state state;
	int64_t wall_ns; /* when it ended, or was looked at */
	const char *id;	 /* of the stop; NULL: there is none */
	const struct record_pod *pod;
	const struct record_container *container;
	enum outcome outcome; /* of STORY_ENDED, as the cause is */
	enum cause cause;
	enum audit_reason reason; /* of STORY_RUNNING */
	uint32_t gaps;
	uint32_t processes_gaps; /* of the list of processes; bits 1 << enum list_gap */
	struct buf sentence;	 /* or two, with a full stop */
	struct story_line {
		uint64_t at_ns;	 /* CLOCK_BOOTTIME; 0: it is so now */
		struct buf text; /* without a full stop */
	} lines[STORY_LINES];
	size_t n_lines, more; /* so many more there are */
	struct {
		const char *text;
		const char *page; /* the heading of docs/fix.md; NULL: none has more */
	} remedies[STORY_REMEDIES];
	size_t n_remedies;
};

/* The story of a stop that is over. Each story borrows from its records. */
void story_of_stop(struct story *ret, const struct record *record);

/* A stop that is under way: record is without outcome, cause and gaps. look: at the container now;
 * NULL: it could not be looked at. */
void story_of_stopping(struct story *ret, const struct record *record,
		       const struct audit_record *look);

/* A container that runs. pid: of a process that has to have its line; 0: none. daemon: one would
 * know of a stop that is under way. */
void story_of_running(struct story *ret, const struct audit_record *look, uint32_t pid,
		      bool daemon);

/* 0 or buf_error() of its texts. */
int story_error(const struct story *story);
void story_done(struct story *story);

/* Adds the sentence alone, with a full stop. */
void story_add_why(struct buf *out, const struct record_stop *stop);

/* Adds what a column has room for: whose end init passed on, and what was cut. Nothing where there
 * is neither. */
void story_add_note(struct buf *out, const struct record_stop *stop);

/* Adds the sentence of a stop signal as it is sent; its target is taken for an init. */
void story_add_signal(struct buf *out, const struct record_signal *signal);

#endif
