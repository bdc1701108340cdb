/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The checkpoint's room: saves the state of the rooms before it for the engine of the next process,
 * and restores what an earlier engine saved.
 *
 * Restoring takes three steps: the saved state is fed first, then what exists now, and when that is
 * complete, the difference is reported. Between the two engines nothing was observed. What still
 * exists continues as it was, and its verdict has a gap. What does not exist any more has ended;
 * when and how is known only as far as it was seen before.
 */
#ifndef CORE_ENGINE_CHECKPOINT_H
#define CORE_ENGINE_CHECKPOINT_H

#include "core/engine/pods.h"
#include "core/engine/shutdowns.h"
#include "core/engine/stops.h"

/* How far an engine has come that goes on where an earlier one ended. */
enum resume_phase {
	RESUME_NEW,	 /* no observation has come */
	RESUME_FED,	 /* what was saved comes in */
	RESUME_SCANNING, /* what is there comes in */
	RESUME_DONE,	 /* it is settled, or nothing was saved */
};

struct resume_init {
	uint64_t at_ns;
	struct obs_init init;
};

struct resume {
	enum resume_phase phase;
	bool foreign; /* written in another version of the format */
	char boot_id[37];
	uint64_t until_ns; /* until then the earlier engine observed */
	struct id_list cgroups;
	struct stop *aside;	  /* of cgroups whose ids are others' now */
	struct resume_init *held; /* inits that were found and are not those that were saved */
	size_t n_held, room_held;
	uint64_t refused; /* observations of an earlier engine that could not be so */
};

struct checkpoint {
	struct cgmap *map;
	struct names *names;
	struct stops *stops;
	struct pods *pods;
	struct shutdowns *shutdowns;
	struct output *out;
	struct resume resume;
};

void checkpoint_done(struct checkpoint *c);

/* Marks the cgroup that obs is about, if obs can have changed it. */
void checkpoint_mark_by(struct checkpoint *c, const struct obs *obs);
/* Whether checkpoint_write() would write something. */
bool checkpoint_has_changed(const struct checkpoint *c);
/* As engine_keep() has it. */
void checkpoint_write(struct checkpoint *c, bool all,
		      void (*fn)(void *userdata, const struct obs *obs), void *userdata);

/* --- core/engine/resume.c --- */

/* Whether obs is taken here, and what came of it; otherwise it is any other. */
bool resume_takes(struct checkpoint *c, const struct obs *obs, int *ret);
/* Whether that is over, so that resume_takes() takes nothing any more. */
static inline bool resume_is_done(const struct checkpoint *c)
{
	return c->resume.phase == RESUME_DONE;
}
/* A cgroup turns up: one that was saved under its id, and is another or was believed to be more
 * than it is, is gone. whole: its path is known. */
void resume_leave(struct checkpoint *c, const struct obs_cgroup *cg, bool whole);
/* All that is there was found: what is missing is reported. */
void resume_settle(struct checkpoint *c);
void resume_done(struct checkpoint *c);

#endif
