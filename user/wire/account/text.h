/* SPDX-License-Identifier: Apache-2.0 */
/* What tables and pictures write of a story: in printable ASCII, whatever the names hold, but for
 * the µ of a duration. */
#ifndef WIRE_ACCOUNT_TEXT_H
#define WIRE_ACCOUNT_TEXT_H

#include "base/buf.h"
#include "core/account/account.h"

/* "default/web-0/nginx", as much of it as is known. */
void account_text_container(struct buf *out, const struct account_stop *stop);
/* "nginx" */
void account_text_container_alone(struct buf *out, const struct account_stop *stop);
/* "default/web-0", or its uid. */
void account_text_pod(struct buf *out, const struct record_pod *pod);

/* "+1.20s" after the story's begin, "-1.20s" before it. */
void account_text_offset(struct buf *out, const struct account_story *story, uint64_t at_ns);
/* "30s" for whole seconds, else as duration_format(). */
void account_text_duration(struct buf *out, uint64_t ns);
/* With a minus when it is negative. */
void account_text_margin(struct buf *out, int64_t ns);

/* "shutdown of node-1: power-off" */
void account_text_heading(struct buf *out, const struct account_story *story);
/* In a sentence or two: how many stopped well, which did not and why, the worst first, and whether
 * the delay lock was held until all had stopped. */
void account_text_verdict(struct buf *out, const struct account_story *story);
/* "2026-11-21T15:04:05.123Z, boot 3f09..., mode assist" */
void account_text_where(struct buf *out, const struct account_story *story);
/* What became of the delay lock, and what was left when it was released. */
void account_text_lock(struct buf *out, const struct account_story *story);
void account_text_left(struct buf *out, const struct account_story *story);
void account_text_group(struct buf *out, const struct account_story *story,
			const struct account_group *group);
/* "default/web-0 (1 of 2 containers ended later)" */
void account_text_alive(struct buf *out, const struct account_alive *row);
/* How the boot ended, and which of what was alive then has no record of its end, and which has;
 * nothing where that is not known, or there is nothing of the kind. */
void account_text_boot_end(struct buf *out, const struct account_story *story);
void account_text_lost(struct buf *out, const struct account_story *story);
void account_text_ended(struct buf *out, const struct account_story *story);
/* What is missing; nothing for a story that is whole. */
void account_text_partial(struct buf *out, const struct account_story *story);

/* "killed, grace-expired" */
void account_text_outcome(struct buf *out, const struct account_stop *stop);
/* "events-lost,shed" */
void account_text_gaps(struct buf *out, uint32_t gaps);
/* Reasons, signals, and of its gaps these: separated by commas; nothing where there is nothing to
 * note. */
void account_text_note(struct buf *out, const struct account_story *story,
		       const struct account_pod *pod, const struct account_stop *stop,
		       uint32_t gaps);
/* The same with all gaps, and with the sentence of graced why for each stop that has a record. */
void account_text_why(struct buf *out, const struct account_story *story,
		      const struct account_pod *pod, const struct account_stop *stop);

#endif
