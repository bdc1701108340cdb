/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All that the daemon exposes (graced-run(8), METRICS), as a plain snapshot, and its exposition.
 * The caller fills in what it knows; all zero is a daemon that has done nothing yet.
 */
#ifndef WIRE_PROMETHEUS_METRICS_H
#define WIRE_PROMETHEUS_METRICS_H

#include <stdbool.h>
#include <stdint.h>

#include "core/boot/log.h"
#include "core/engine/engine.h"
#include "core/load/budget.h"
#include "core/metrics/series.h"
#include "core/names/credential.h"
#include "core/shutdown/shutdown.h"
#include "wire/prometheus/exposition.h"

/* Lines that do not depend on which containers there are. */
#define METRICS_CONTAINERS_LINES                         \
	(OUTCOME_COUNT + GAP_COUNT + UNHEARD_COUNT - 1 + \
	 SERIES_KILL_COUNT * (SENDER_UNKNOWN + 1) + POD_TRIGGER_COUNT)
#define METRICS_PROGRAMS_MAX 16
#define METRICS_HTTP_CLASSES 6
/* Lines there may be besides those of struct series: what its configuration is to reserve. */
#define METRICS_OWN_LINES    (328 + API_EVENT_COUNT + METRICS_CONTAINERS_LINES)

struct metrics_program {
	const char *name;
	bool attached;
	uint64_t run_ns, runs;
};

enum metrics_sink_type { METRICS_STDOUT, METRICS_FILE, METRICS_JOURNAL, METRICS_SINK_COUNT };

struct metrics_sink {
	bool on; /* false: left out */
	uint64_t records, dropped, waiting;
	uint64_t failures; /* how often it could no longer be written */
};

struct metrics_source {
	bool asked; /* false: left out */
	bool up;
	uint64_t lookups[META_RESULT_COUNT];
	struct credential credential; /* without a known end: left out */
};

/* Connections to the control socket. */
struct metrics_control {
	bool on; /* false: there is none, and no series */
	uint64_t answered, refused, failed;
};

/* The file that a restart goes on from. */
struct metrics_checkpoint {
	bool on;	  /* false: there is none, and no series */
	uint64_t bytes;	  /* of the file, now */
	uint64_t writes;  /* that succeeded */
	uint64_t failed;  /* that did not */
	uint64_t dropped; /* records that would not be repeated, because readers are far behind */
};

#define METRICS_GROUPS_MAX OBS_RANGES_MAX

/* Conditions of a node shutdown that goes as it is configured. */
enum metrics_ready {
	METRICS_READY_LOGIND, /* "logind-reachable" */
	METRICS_READY_LOCK,   /* "lock-held" */
	METRICS_READY_DELAY,  /* "delay-enough": logind waits as long as the kubelet's groups take,
			       * and in assist shutdown.extra more */
	METRICS_READY_UNPINNED, /* "delay-not-pinned": no drop-in has a later and lower word */
	METRICS_READY_KUBELET,	/* "kubelet-config": it can be used, or there is none */
	METRICS_READY_GRACE,	/* "grace-fits": no pod would be given less time than it asks for */
	METRICS_READY_COUNT,
};

/* METRICS_READY_ABSENT: the condition does not apply to this host. */
enum metrics_ready_value { METRICS_READY_ABSENT, METRICS_READY_NO, METRICS_READY_YES };

/* About shutdowns of the node. */
struct metrics_shutdown {
	bool on; /* false: graced has no part in them, left out */
	bool held;
	bool delay_known;
	uint64_t delay_max_ns; /* UINT64_MAX: for ever */
	/* Seconds since 1970, as in the kubelet's metrics; 0: unknown. */
	int64_t start_s, end_s;
	struct engine_shutdown_group groups[METRICS_GROUPS_MAX];
	size_t n_groups;
	enum metrics_ready_value ready[METRICS_READY_COUNT];
};

/* The steps of the event loop. */
struct metrics_loop {
	const struct histogram_bounds *bounds; /* NULL: left out */
	const struct histogram *wall, *cpu, *delay;
};

/* How earlier boots ended. */
struct metrics_boot {
	bool on;			/* false: no note is kept, and nothing is written */
	uint64_t unclean;		/* boots */
	const struct bootlog *previous; /* NULL: nothing is known of an earlier boot */
};

/* What became of the requests that change something at the API server. */
enum api_event {
	API_EVENT_CREATED,
	API_EVENT_UPDATED, /* the count of one was written */
	API_EVENT_DROPPED, /* beyond the limit */
	API_EVENT_REFUSED, /* by the server */
	API_EVENT_EXPIRED, /* the server did not answer in time */
	API_EVENT_COUNT,
};

/* Events in Kubernetes, and updates of their counts. */
struct api_events {
	bool on; /* false: none are written, left out */
	uint64_t results[API_EVENT_COUNT];
};

/* The last status of pods. */
struct api_statuses {
	bool on; /* false: none are written, left out */
	struct shutdown_statuses counts;
};

/* All that is written to the API server. */
struct api_metrics {
	struct api_events events;
	struct api_statuses statuses;
};

struct metrics {
	const struct series *series; /* NULL: none */

	/* The kernel half and the way from it, all since the start. */
	struct graced_stat totals[GRACED_STAT_COUNT];
	uint64_t recursion_misses; /* programs not run, because they ran on that CPU already */
	uint64_t rejected;	   /* read from the ring, not understood */
	const struct metrics_program *programs;
	size_t n_programs; /* what is beyond METRICS_PROGRAMS_MAX is left out */

	struct engine_stats engine;
	struct pod_counts pods;
	uint64_t effects_dropped;
	struct metrics_source sources[META_SOURCE_COUNT]; /* META_NONE is left out */
	struct metrics_sink sinks[METRICS_SINK_COUNT];

	bool overhead_known;
	uint64_t overhead_ppm;	  /* of one CPU */
	uint64_t budget_ppm;	  /* 0: no budget, left out */
	enum shed shed;		  /* the last thing that is shed, all before it included */
	uint64_t shed_containers; /* followed less closely, now */
	uint64_t shed_changes;	  /* something was shed, or came back */

	struct metrics_loop loop;

	uint64_t http_requests[METRICS_HTTP_CLASSES]; /* answered, by the first digit of status */
	uint64_t http_connections;		      /* open now */
	uint64_t http_connections_refused; /* at a limit, of connections, memory or descriptors */
	uint64_t http_connections_expired; /* closed for taking too long */

	struct metrics_control control;
	struct metrics_checkpoint checkpoint;
	struct api_metrics api;
	struct metrics_shutdown shutdown;
	struct metrics_boot boot;

	uint64_t log_lost; /* lines of the log that stderr did not take */

	bool reload_failed;	   /* the last reading of the configuration */
	int64_t reload_ok_wall_ns; /* its last success, since 1970; 0: unknown, left out */

	const char *version; /* NULL is "" */
	const char *kernel;  /* release */

	bool process_known; /* of the daemon, from /proc/self; false: all left out */
	uint64_t process_cpu_ns;
	uint64_t process_resident_bytes, process_virtual_bytes;
	uint64_t process_open_fds, process_max_fds;
	int64_t process_start_wall_ns; /* since 1970 */
};

/*
 * Adds the exposition. 0 or buf_error(). graced_series, which comes last, is the number of its
 * lines that are no comment, and never more than the series' limit when METRICS_OWN_LINES were
 * reserved. Equal snapshots give equal bytes. The caller says series_scraped() when it was sent.
 */
int metrics_write(struct buf *out, enum expo_format format, const struct metrics *metrics);

/* Parts of it: how earlier boots ended, the families that struct series counts, what of them was
 * counted under "_other" after all, and the requests to the API server. */
void metrics_boot_write(struct expo *expo, const struct metrics_boot *boot);
void metrics_containers_write(struct expo *expo, const struct series *series);
void metrics_containers_write_absorbed(struct expo *expo, const struct series_stats *stats);
void metrics_api_write(struct expo *expo, const struct api_metrics *api);
/* A moment since 1970, left out while unknown. */
void metrics_add_wall(struct expo *expo, const struct expo_family *family, int64_t wall_ns);

#endif
