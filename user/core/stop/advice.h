/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The words of graced audit for people: why an init reacts to its signal as it does, and what to do
 * about it. There is a topic for each reason and for each warning, and docs/fix.md has the whole
 * story of those that keep a container from stopping.
 */
#ifndef CORE_STOP_ADVICE_H
#define CORE_STOP_ADVICE_H

#include <stdbool.h>

#include "base/buf.h"
#include "core/stop/audit_record.h"
#include "core/stop/unheard.h"

/* Topics are numbers from 0: the reasons, then the warnings. */
#define ADVICE_TOPICS (AUDIT_REASON_COUNT + AUDIT_WARNING_COUNT)

/* Whether the record has that reason or warning. */
bool advice_applies(unsigned int topic, const struct audit_record *record);

/* Whether there is something to do: false for the reasons of an init that hears. */
bool advice_is_trouble(unsigned int topic);

/* The word of the reason or warning; NULL for a number that is no topic. */
const char *advice_name(unsigned int topic);

/* Adds one sentence with the processes concerned, without a full stop. Names are made printable. */
void advice_add_why(struct buf *out, unsigned int topic, const struct audit_record *record);

/* The same with processes as their container sees them: NAME[PID]. */
void advice_add_story(struct buf *out, unsigned int topic, const struct audit_record *record);

/* The topic of the record's most important warning; ADVICE_TOPICS: it has none. */
unsigned int advice_warning(const struct audit_record *record);

/* One or two sentences that hold for each record with this topic; NULL for an unknown number. */
const char *advice_remedy(unsigned int topic);

/* A few words for a narrow column, of what keeps a container from acting on its stop signal; NULL:
 * it is something else. */
const char *advice_in_words(unsigned int topic);

/* What an audit shows to keep the container from acting on its stop signal, or to let it do so late
 * or for nothing. False: nothing. */
bool advice_find_deafness(const struct audit *audit, unsigned int *ret_topic);

/* The topic of why a signal was not acted on; ADVICE_TOPICS for UNHEARD_NONE. */
unsigned int advice_of_unheard(enum unheard reason);

/* Adds the most important of the record's topics as a few words for a column; nothing when there is
 * nothing to do. */
void advice_add_short(struct buf *out, const struct audit_record *record);

#endif
