/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The account of what happened: records that were written once and read back become stories, one
 * for each shutdown of a node and one for the other stops of each boot.
 *
 * Records may come in any order, repeated, of several nodes and boots, and incomplete. Times are
 * nanoseconds of CLOCK_BOOTTIME, 0 where nothing was observed; a duration is the difference of two
 * of them and never of wall clock times. Strings are NULL where nothing is known.
 */
#ifndef CORE_ACCOUNT_ACCOUNT_H
#define CORE_ACCOUNT_ACCOUNT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "core/boot/log.h"
#include "core/shutdown/shutdown.h"
#include "core/stop/filter.h"
#include "core/stop/record.h"

#define ACCOUNT_RECORDS_MAX 100000
#define ACCOUNT_BOOT_SIZE   33 /* 32 hexadecimal digits */

/* A container on its way out. */
struct account_stop {
	struct record_stop *of; /* a time that contradicts others is not known, nor is the signal */

	/* What the account adds. */
	uint64_t deadline_ns;
	bool margin_known;
	int64_t margin_ns; /* deadline minus exit; negative: it overran */
	bool group_known;
	uint32_t group;	 /* index */
	bool unrecorded; /* only steps of the shutdown name it: no record of its stop */
	bool left;	 /* it lived when the lock was released */
	uint64_t overdue_ns;
};

/* A pod, or a container outside pods, that was alive at the last look. */
struct account_alive {
	const struct bootlog_alive *of;
	bool pod;
	uint64_t containers; /* 1 of a container */

	/* What the account adds: those of them whose end was recorded after the look. */
	uint64_t ended;
};

struct account_alive_list {
	const struct account_alive *rows;
	size_t n;
	uint64_t total;	  /* when they were looked at, on the whole node */
	uint64_t unnamed; /* of them, without a row: whether the query wants them is not known */
};

/* Records that were not written where this one is. */
struct account_dropped {
	uint64_t records;
	int64_t since_ns, until_ns; /* wall clock */
};

/* How a boot ended, as the next one judged it by what was noted at the last look. */
struct account_boot_end {
	enum boot_end end;
	enum boot_reason reason;
	enum boot_journal journal;
	uint64_t seen_ns; /* of the last look */
	int64_t seen_wall_ns;
	uint64_t stopped_ns;		    /* graced was stopped in an orderly way */
	uint64_t announced_ns, released_ns; /* of the shutdown that was under way */
	struct account_alive_list pods, containers;
};

/* What the kernel half lost, and which cgroups it does not watch because of a limit. */
struct account_lost {
	uint64_t events, cgroups;
};

struct account_record {
	enum record_type type;
	const char *id;	  /* NULL: such records have none */
	const char *boot; /* as account_boot() writes it; NULL: not known */
	const char *node;
	size_t order; /* of input; account_log_add() sets it */
	uint64_t at_ns;
	int64_t wall_ns; /* since 1970, UTC */
	union {
		struct account_stop stop;
		uint64_t empty_ns; /* of the stop of that id */
		const struct record_pod_state *pod;
		const struct record_shutdown *step;
		struct account_lost lost; /* since its process attached */
		struct account_dropped dropped;
		struct account_boot_end
			end; /* of the record's own boot, an earlier one than its writer's */
	};
};

/* What to leave out. */
struct account_query {
	const char *boot;	    /* NULL: every one */
	int64_t since_ns, until_ns; /* wall clock; 0: no bound */
	struct filter filter;	    /* namespaces and pods alone */
};

/* Records that were read, and what was not taken. All zero is empty; the arena is the caller's and
 * holds all strings. */
struct account_log {
	struct arena *arena;
	struct account_record **records;
	size_t n, room;
	uint64_t unreadable; /* lines that are no record */
	uint64_t newer;	     /* records of a newer graced, with words that are not known */
	uint64_t untrusted;  /* entries of the journal by others than root */
	uint64_t cut;	     /* records beyond ACCOUNT_RECORDS_MAX, or the arena's limit */
	/* Filled by account_build(). */
	uint64_t repeated;
};

struct account_group {
	uint32_t index;
	bool priority_known;
	int64_t priority;
	uint64_t begin_ns, done_ns, length_ns; /* done: over, or out of time */
	uint64_t planned_ns;		       /* its turn came by the plan; 0: not known */
	bool timed_out;
};

struct account_pod {
	struct record_pod names;
	uint64_t asked_ns; /* the first stop signal to a container of it */
	uint64_t terminating_ns, empty_ns, finished_ns;
	uint64_t deadline_ns;
	enum pod_trigger trigger; /* of terminating */
	size_t first, n;	  /* its stops, in those of the story */
};

/* Why a story is not whole. */
struct account_partial {
	struct account_lost lost; /* between begin and end */
	bool lost_somewhere; /* ... in one of several boots: those records do not name theirs */
	size_t gaps;	     /* stops whose own record has gaps */
	size_t unrecorded;   /* containers of the shutdown without a record of their stop */
	bool begin_unseen;   /* the announcement was not among the records */
	bool end_unseen;     /* no release and no cancellation was among them */
	uint32_t restarts;   /* graced began anew between begin and end */
	bool ended;	     /* graced itself was stopped, and reported nothing of it afterwards */
	uint64_t dropped;    /* records that were not written, of between begin and end */
	uint64_t cut, unreadable, newer; /* as those of the log */
};

struct account_story {
	const char *node, *boot;
	bool shutdown;		/* false: the stops of that boot outside its shutdowns */
	uint64_t begin_ns;	/* announcement, or the first moment */
	uint64_t end_ns;	/* the last moment that was observed */
	int64_t wall_offset_ns; /* wall clock minus CLOCK_BOOTTIME, as of begin */

	/* A shutdown's. */
	const char *mode, *action, *reason;
	uint64_t announced_ns, limit_ns;
	uint64_t released_ns, cancelled_ns, ended_ns;
	bool lock_held;
	bool volumes_known;
	uint64_t left, others, volumes; /* at the release */
	const struct shutdown_holder *holders;
	size_t n_holders;

	struct account_group *groups;
	size_t n_groups;
	/* By group, the pods of none last, and within it by when they were asked to stop; the stops
	 * of a pod follow each other. */
	struct account_pod *pods;
	size_t n_pods;
	struct account_stop **stops;
	size_t n_stops;
	const struct account_boot_end *end; /* of the boot; NULL: no record of it is here */
	struct account_partial partial;
};

struct account {
	struct account_story **stories; /* by node, then by time */
	size_t n;
};

/* The id without dashes, in lower case, cut to ACCOUNT_BOOT_SIZE; returns ret. */
const char *account_boot(const char *id, size_t len, char ret[static ACCOUNT_BOOT_SIZE]);

/* Whether an account needs the record, and the query may want it. boot: that of a record that does
 * not name its own, as account_boot() writes it; NULL: not known. It counts here only for the end
 * of a boot. */
bool account_log_wants(const struct account_query *query, const struct record *record,
		       const char *boot);

/* Takes a record that is wanted, in the log's arena; NULL: it found no room there. What finds none,
 * or contradicts itself, is counted. */
void account_log_add(struct account_log *log, struct record *record, const char *boot);

/* The boots of the log, the oldest first, in an array of the arena. -ENOMEM. */
int account_log_boots(const struct account_log *log, const char *const **ret, size_t *ret_n);

/* Builds the stories; they refer to the log and change its records. -ENOMEM. */
int account_build(struct account_log *log, const struct account_query *query, struct account *ret);

/* Whether anything is missing in the story. */
bool account_is_partial(const struct account_story *story);

/* When graced's own lock was held no longer, as far as that was seen; 0: unknown. */
uint64_t account_lock_end(const struct account_story *story);

/* Whether all that was alive in the row has a record of its end. */
static inline bool account_has_ended(const struct account_alive *row)
{
	return row->containers && row->ended >= row->containers;
}

/* The exit code, or -1: a signal ended it, or it is not known. */
static inline int64_t account_code(const struct record_exit *exit)
{
	if (exit->reported)
		return exit->code;
	return exit->known && !(exit->status & 0x7f) ? (int64_t)(exit->status >> 8 & 0xff) : -1;
}

/* How bad its end was, as record_badness() has it; 0: it stopped well. What is not known, or was
 * late, is not well. */
unsigned int account_badness(const struct account_stop *stop);

/* Nanoseconds from the stop signal to the exit. False: not known. */
bool account_took(const struct account_stop *stop, uint64_t *ret);

#endif
