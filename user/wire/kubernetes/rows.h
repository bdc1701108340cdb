/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Members of the Kubernetes API's objects as rows. A row says once under which name a member comes,
 * what it has to be, and where it goes; the tables are in wire/kubernetes/pod. The sieve of
 * wire/kubernetes/pods picks from JSON what the rows name, apirows_read() reads JSON,
 * apirows_read_proto() reads protobuf, and apirows_write() writes JSON.
 *
 * An object of its own is read strictly: a member of the wrong type, too long or out of range is an
 * error, which names its whole path. What comes in lists of many is read forgivingly: such a member
 * is unknown, and costs nothing else.
 */
#ifndef WIRE_KUBERNETES_ROWS_H
#define WIRE_KUBERNETES_ROWS_H

#include <jansson.h>
#include <protobuf-c/protobuf-c.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

#define PODREAD_NAME_MAX    1024 /* of a text, but for images and messages */
#define PODREAD_MESSAGE_MAX 32768
#define PODREAD_ITEMS_MAX   256 /* of a list that is not of containers */

/* Limits of an object of a list: the values that are read of it, and the length of one. A longer
 * text is unreadable; an image that is to be cut is shorter still. */
#define PODJSON_VALUES_MAX 8192
#define PODJSON_SCALAR_MAX 4096

enum apirow_type {
	API_PICKED, /* nothing: that it is there is all */
	API_TEXT,   /* const char *; "" where there is none */
	API_BOOL,   /* bool */
	API_TRI,    /* uint32_t: 0 not given, 1 false, 2 true */
	API_INT32,  /* int32_t */
	API_INT64,  /* int64_t; where it is read strictly, from min to max */
	API_NUMBER, /* nothing: it is a number */
	API_TIME,   /* int64_t: nanoseconds since 1970 */
	API_WORD,   /* uint32_t: its place in words, plus first */
	API_OBJECT, /* the struct there, by rows; NULL: nothing, it is an object */
	API_LIST,   /* an array of structs of size, by rows, and how many at n */
	API_TEXTS,  /* an array of const char *, and how many at n */
	API_INT32S, /* an array of int32_t, and how many at n */
};

enum apirow_flags {
	API_ONE = 1 << 0,      /* read where the object comes alone ... */
	API_MANY = 1 << 1,     /* ... where it comes in a list of many */
	API_REQUIRED = 1 << 2, /* strictly it has to be there */
	API_ALONE = 1 << 3,    /* where it is given, the rows after it are not read */
	API_WRITTEN = 1 << 4,  /* written unless it is "", 0 or an empty list ... */
	API_ALWAYS = 1 << 5,   /* ... or so, too */
};

/* Places are offsets in the struct; 0: none, but for that of the value itself. */
struct apirow {
	const char *key; /* NULL ends a table */
	uint8_t len;	 /* of the key */
	uint8_t type;	 /* enum apirow_type */
	uint8_t flags;	 /* enum apirow_flags */
	uint16_t at;
	uint16_t n;
	uint16_t given;	     /* a bool: it was read */
	uint16_t absent;     /* a bool: the opposite */
	uint16_t unreadable; /* a bool: it is there, and makes no sense */
	uint16_t state_at;   /* an enum that an object sets to state: which of several it is */
	uint16_t state;
	uint16_t size;
	uint32_t max;	    /* bytes of the text, elements of the list */
	uint32_t first;	    /* of words */
	int64_t min, limit; /* of a number; 0 and 0: any */
	const struct apirow *rows;
	const char *const *words; /* ends with NULL */
	const char *problem;	  /* what is wrong with other words; NULL: nothing */
	const char *fallback;	  /* of a text */
};

/* What is wrong, and where: "spec.containers[3].name" "is not a string". */
struct podread_error {
	char member[160]; /* "" for the text as a whole; of a name that is there twice that name */
	const char *problem; /* a literal */
	int line, column;    /* of a text that cannot be read as JSON; else 0, as of an empty one */
};

#define PODREAD_DEPTH_MAX 12

struct podread {
	struct arena *arena;	     /* of lists, and of texts that are copied */
	struct podread_error *error; /* NULL: forgivingly */
	unsigned int values;	     /* of protobuf, so far */
	/* Members from the outermost on; those without a key are elements. */
	struct {
		const char *key;
		size_t index;
	} path[PODREAD_DEPTH_MAX];
	size_t depth;
};

/* Around the reading of what is in a member or an element. */
void podread_enter(struct podread *r, const char *key, size_t index);
void podread_leave(struct podread *r);

/* Sets the error, if one is wanted, of the member of this name in where the reading stands (NULL:
 * of itself). Returns -EINVAL. */
int podread_fail(struct podread *r, const char *key, const char *problem);

/* Sets the members of a zeroed struct that are not 0 where nothing is given. */
void apirows_init(const struct apirow *rows, void *object);

/* The row of a member that is read of one in many; NULL: none. */
const struct apirow *apirows_find(const struct apirow *rows, const char *key, size_t len);

/* Into a struct that apirows_init() has set. Texts are copied, but where an object is read
 * forgivingly they are those of the JSON. 0, -EINVAL with the error, -ENOMEM. */
int apirows_read(struct podread *r, const json_t *json, const struct apirow *rows, void *object);

/*
 * The same from a message of kubelet_pods.proto, forgivingly. Its fields have the names of the
 * members, in lower case and with underscores; a struct that Go embeds, and so has no member in
 * JSON, is the field common. 0; -EBADMSG: a text has a NUL or is not UTF-8; -E2BIG: more than
 * PODJSON_VALUES_MAX values; -ENOMEM.
 */
int apirows_read_proto(struct podread *r, const ProtobufCMessage *message,
		       const struct apirow *rows, void *object);

/* Adds the members that are written to an object, in the order of the rows. Times are to the
 * second, as the API has them. Errors stick in the buffer. */
void apirows_write(struct buf *out, const struct apirow *rows, const void *object);

/* Values of the Kubernetes API's JSON, which may be of any type, as C has them. */

/* An object's member; NULL when there is none, or no object, or it is null. */
const json_t *apijson_get(const json_t *object, const char *key);
/* The place of a word in a NULL-terminated list, from 1 on; 0 for anything else. */
uint32_t apijson_word(const json_t *value, const char *const *words);

#endif
