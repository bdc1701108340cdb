/* SPDX-License-Identifier: Apache-2.0 */
/* The members of each type of record as rows, in the order of graced-records(5). */
#ifndef WIRE_JSON_ROWS_H
#define WIRE_JSON_ROWS_H

#include "core/stop/record.h"
#include "wire/json/members.h"

struct record_rows {
	const char *name; /* of the type; NULL: there is no such record */
	const struct member *members;
	size_t at;   /* of what they are of, in struct record */
	size_t size; /* of that */
	bool has_id; /* which it begins with */
};

extern const struct record_rows record_rows[RECORD_TYPE_COUNT];

/* The objects that JSON records are made of, the same in each. */
extern const struct member parts_pod[];	      /* of struct record_pod */
extern const struct member parts_container[]; /* of struct record_container */
extern const struct member parts_process[];   /* of struct record_process */
extern const struct member parts_init[];      /* ... with its start */
extern const struct member parts_named[];     /* ... by pid and name alone */
extern const struct member parts_sending[];   /* ... that sent a signal */
extern const struct member parts_sender[];    /* of struct record_sender */
extern const struct member parts_sigref[];    /* of struct record_sigref */
extern const struct member parts_exited[];    /* of struct record_exit */
extern const struct member parts_grace[];     /* of struct grace */
extern const struct member parts_wait[];      /* of struct wait */
extern const struct member parts_evidence[];  /* of a uint32_t: bits 1 << enum gap */

bool parts_has_grace(const struct member *m, const void *object);
int parts_check_evidence(const struct member *m, const json_t *value, void *object);

#define POD(type, member) OBJECT(type, "pod", member, parts_pod, KNOWN(type, member.known))
#define CONTAINER(type, member) \
	OBJECT(type, "container", member, parts_container, KNOWN(type, member.known))
#define SENDER(type, member, ...)                                                               \
	OBJECT(type, "sender", member, parts_sender, UNLESS(type, member.kind, SENDER_UNKNOWN), \
	       __VA_ARGS__)
#define RESULT(type, member) WORD(type, "result", member, result, .none = RESULT_UNKNOWN)
#define SIGREF(type, key, member, ...) \
	OBJECT(type, key, member, parts_sigref, KNOWN(type, member.known), __VA_ARGS__)
#define EXIT(type, member, ...) OBJECT(type, "exit", member, parts_exited, __VA_ARGS__)
#define EVIDENCE(type, member) \
	OBJECT(type, "evidence", member, parts_evidence, READ(parts_check_evidence))

#endif
