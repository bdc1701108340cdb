/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What goes over the control socket: one JSON line as the request, then the reply, whose first line
 * says how many lines follow, or why none do. Each side names the version it speaks.
 *
 *   {"version":1,"command":"pods"}
 *   {"version":1,"command":"shutdown-begin","action":"reboot"}
 *   {"version":1,"command":"follow","signals":false}
 *   {"version":1,"lines":2}                   {"version":1,"error":"..."}
 *   {"version":1,"terms":"...","pods":true}   records follow, until one side closes
 *
 * A client that follows may send one more request, "stopping", again and again: the reply is whole
 * and stands between two records.
 */
#ifndef WIRE_JSON_CONTROL_H
#define WIRE_JSON_CONTROL_H

#include <stddef.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/buf.h"
#include "core/shutdown/shutdown.h"

#define CONTROL_VERSION 1

/* Limits of a request with its newline, and of a whole reply. */
#define CONTROL_REQUEST_MAX 1024
#define CONTROL_REPLY_MAX   ((size_t)8 << 20)
#define CONTROL_TERMS_MAX   16384

enum control_command {
	CONTROL_PODS,	  /* a line of wire/json/pods for each pod, and for each
			   * container or service in none */
	CONTROL_SETTINGS, /* a line for each setting that graced check wants to know */
	/* A line of control_add_shutdown(): how it is with one, after it was begun or cancelled
	 * by hand. */
	CONTROL_SHUTDOWN_STATUS,
	CONTROL_SHUTDOWN_BEGIN,
	CONTROL_SHUTDOWN_CANCEL,
	/* A line of control_add_follow(), then records as they come, until one side closes. */
	CONTROL_FOLLOW,
	/* A line of record_json() of type empty for each container that runs: its names alone; then
	 * a line of control_add_querying(). */
	CONTROL_CONTAINERS,
	/* A line of record_json() of type lost, with the totals; then one of type stop for each
	 * stop that is under way, without outcome, cause and gaps, and for a client that follows
	 * without its processes. */
	CONTROL_STOPPING,
	CONTROL_COMMAND_COUNT,
};

struct control_request {
	enum control_command command;
	enum shutdown_action action; /* SHUTDOWN_BEGIN */
	bool signals;		     /* FOLLOW: records of signals, too */
};

/* A sentence for a person, without a full stop. */
struct control_why {
	char text[256];
};

/* Each adds one line with its newline. Errors stick in out. */
void control_add_request(struct buf *out, const struct control_request *request);
void control_add_head(struct buf *out, uint64_t lines);
void control_add_error(struct buf *out, const char *why);

/* Adds a line of the answer to CONTROL_SETTINGS; value is in the form of config_set(). The first
 * line of a key counts. */
void control_add_setting(struct buf *out, const char *key, const char *value);
/* Finds key among lines of such an answer, which may hold any bytes, and copies its value. False:
 * it is not there, or too long. */
bool control_find_setting(const char *lines, const char *key, char *ret, size_t size);
/* Hands over each setting in such lines. */
typedef void (*control_setting_fn)(void *userdata, const char *key, const char *value);
void control_each_setting(const char *lines, control_setting_fn fn, void *userdata);

/* How it is with a shutdown: the line of CONTROL_SHUTDOWN_*. */
struct control_shutdown {
	uint64_t at_ns;	 /* CLOCK_BOOTTIME */
	int64_t wall_ns; /* since 1970, UTC */
	const char *node;
	bool off; /* shutdowns are not followed: status is not set */
	enum shutdown_mode mode;
	struct shutdown_status status;
};

void control_add_shutdown(struct buf *out, const struct control_shutdown *shutdown);
/* Reads such a line, without its newline, but for its node and wall-clock time. -EBADMSG: it is
 * none. */
int control_read_shutdown(const char *line, size_t size, struct control_shutdown *ret);

/* The first line of the reply to CONTROL_FOLLOW. */
struct control_follow {
	/* Decides which stops the daemon reports, and how: a client that would choose other terms
	 * does not follow. */
	char terms[CONTROL_TERMS_MAX];
	bool pods; /* some of the containers are in pods */
};

void control_add_follow(struct buf *out, const struct control_follow *follow);
/* The line is without its newline and may hold any bytes. 0 or as control_read_head(). */
int control_read_follow(const char *line, size_t size, struct control_follow *ret,
			struct control_why *ret_why);

/* How many of the containers that run have names that a source is queried for, and are not listed. */
void control_add_querying(struct buf *out, uint64_t containers);
/* 0 also for any other line. */
uint64_t control_read_querying(const char *line, size_t size);

/* The line is without its newline and may hold any bytes. 0; -EBADMSG: it is no request;
 * -EPROTONOSUPPORT: of another version; -EOPNOTSUPP: for a command that there is not. *ret_why is
 * filled then. */
int control_read_request(const char *line, size_t size, struct control_request *ret,
			 struct control_why *ret_why);

/* The first line of a reply: 0 with the number of lines that follow; -EBADMSG, -EPROTONOSUPPORT, or
 * -EREMOTEIO with what the other side said. */
int control_read_head(const char *line, size_t size, uint64_t *ret_lines,
		      struct control_why *ret_why);

#endif
