/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a daemon notes of its boot for the daemon of the next one: what was alive when it looked
 * last, how far a shutdown of the node was, and that the daemon itself was stopped. From that, and
 * from the journal where that is not enough, the next boot judges how this one ended, and claims no
 * more than they show.
 *
 * Times are nanoseconds of CLOCK_BOOTTIME of the boot that they are about, 0 for what was not seen.
 */
#ifndef CORE_BOOT_LOG_H
#define CORE_BOOT_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/names/meta.h"
#include "core/shutdown/shutdown.h"
#include "core/stop/record.h"

#define BOOTLOG_LISTED_MAX 512 /* pods, and containers outside pods, by name; others are counted */
#define BOOTLOG_ID_SIZE	   37

/* How often what is alive is looked at and noted, and in a shutdown. */
#define BOOTLOG_LOOK_NS	      10000000000ULL
#define BOOTLOG_LOOK_GOING_NS 1000000000ULL

/* A pod; or a container outside pods, by its id and its own name. */
struct bootlog_alive {
	char id[META_ID_MAX]; /* of a pod its uid */
	char namespace_[META_NAME_MAX];
	char name[META_NAME_MAX]; /* "": not known */
	uint32_t containers;	  /* of a pod: whose init lives */
};

struct bootlog_list {
	struct bootlog_alive *rows; /* owned */
	size_t n, room;
	uint64_t total; /* those that are not listed included */
};

/* What ended while the shutdown was under way counts by its outcome; sandboxes, services and single
 * processes do not. */
struct bootlog_shutdown {
	uint64_t announced_ns; /* 0: none is under way */
	uint64_t released_ns;
	uint32_t mode, action, reason; /* of enum shutdown_*; reason only with released_ns */
	uint64_t outcomes[OUTCOME_COUNT];
};

struct bootlog {
	char boot_id[BOOTLOG_ID_SIZE]; /* "": nothing is noted */
	char node[META_NAME_MAX];
	uint64_t watched_ns; /* a daemon was ready for the first time */
	uint64_t saved_ns;   /* what is alive was looked at last */
	int64_t saved_wall_ns;
	uint64_t stopped_ns; /* the daemon was stopped in an orderly way; 0: it ran */
	struct bootlog_shutdown shutdown;
	struct bootlog_shutdown resumed; /* of an earlier daemon of this boot; is not saved */
	enum boot_journal journal;	 /* of an earlier boot, as the next one found it */
	struct bootlog_list pods, containers;
};

/* Frees the lists. */
void bootlog_done(struct bootlog *log);

/* Begins the note of this boot. An earlier one of the same boot, if log holds one, goes on; its
 * shutdown only once that is announced to this daemon, too: it may have been cancelled meanwhile,
 * or was a soft reboot. */
void bootlog_begin(struct bootlog *log, const char *boot_id, const char *node, uint64_t now_ns);

/* Takes a record of this boot. Whether the note is to be saved at once. */
bool bootlog_take(struct bootlog *log, const struct record *record);

/* Whether what is alive is due to be looked at. */
bool bootlog_is_due(const struct bootlog *log, uint64_t now_ns);

/* What was alive is noted: frees the lists. */
void bootlog_forget(struct bootlog *log);

/* What is alive now: begin, then each. Whether it was listed; else it is counted. Strings may be
 * NULL. */
void bootlog_look(struct bootlog *log, uint64_t now_ns, int64_t wall_ns);
bool bootlog_add(struct bootlog_list *list, const char *id, const char *namespace_,
		 const char *name, uint32_t containers);

/* --- how the boot ended, as the next one judges it --------------------------------------------- */

enum bootlog_known {
	BOOTLOG_NOTHING, /* there is no note */
	BOOTLOG_SAME,	 /* it is of this boot */
	BOOTLOG_FOREIGN, /* of another node: a disk that was copied, or a node that was renamed */
	BOOTLOG_EARLIER, /* of an earlier boot of this node */
};

enum bootlog_known bootlog_compare(const struct bootlog *log, const char *boot_id,
				   const char *node);

/* Whether the journal is to be read for the end: the note, BOOTLOG_EARLIER, does not show it. */
bool bootlog_needs_journal(const struct bootlog *log);

/* Judges a note that is BOOTLOG_EARLIER, with its journal's facts. */
struct boot_verdict bootlog_judge(const struct bootlog *log);

/* Its record; the strings are the note's. Equal notes give equal records. */
void bootlog_record(const struct bootlog *log, struct record *ret);

#endif
