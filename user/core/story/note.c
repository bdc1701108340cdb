// SPDX-License-Identifier: Apache-2.0
/* The short form of the sentence, for a column beside those of outcome, cause and sender. */
#include "core/story/phrase.h"
#include "core/story/story.h"

static bool has_via(const struct record_stop *stop)
{
	return stop->via.process.pid;
}

static void add_via(struct buf *out, const struct record_stop *stop)
{
	buf_adds(out, stop->via.how == VIA_INFERRED ? "perhaps via " : "via ");
	phrase_add_process(out, &stop->via.process);
}

static bool has_cut(const struct record_stop *stop)
{
	return record_cut_well(stop);
}

static void add_cut(struct buf *out, const struct record_stop *stop)
{
	const struct record_member *cut = record_first_cut(stop);

	if (!cut) {
		buf_printf(out, "%u cut", stop->cut);
		return;
	}
	phrase_add_process(out, &cut->process);
	buf_adds(out, cut->asked.number ? " cut" : " cut unasked");
	if (stop->cut > 1)
		buf_printf(out, " +%u", stop->cut - 1);
}

/* It ended by itself. */
static bool has_beside(const struct record_stop *stop)
{
	return record_beside(stop) && stop->exit.known && stop->outcome != OUTCOME_UNKNOWN &&
	       stop->outcome != OUTCOME_OOM_KILLED && !has_via(stop) &&
	       !record_died_of(&stop->exit);
}

static void add_beside(struct buf *out, const struct record_stop *stop)
{
	const struct record_request *beside = record_beside(stop);

	phrase_add_signal(out, beside->number);
	buf_adds(out, " from ");
	phrase_add_sender(out, stop, &beside->asked);
}

/* Each that applies. */
static const struct {
	bool (*applies)(const struct record_stop *stop);
	void (*add)(struct buf *out, const struct record_stop *stop);
} notes[] = {
	{has_via, add_via},
	{has_cut, add_cut},
	{has_beside, add_beside},
};

void story_add_note(struct buf *out, const struct record_stop *stop)
{
	const char *between = "";

	for (size_t i = 0; i < sizeof(notes) / sizeof(*notes); i++) {
		if (!notes[i].applies(stop))
			continue;
		buf_adds(out, between);
		notes[i].add(out, stop);
		between = ", ";
	}
}
