/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The members of an object as rows: name, type and place in a struct. By its rows an object is
 * written as JSON, read back, and copied, and a row says as what else it is written: as a field of
 * the journal's entry, as an attribute of a span. tests/wire/json/test_rows compares those of
 * records with their structs and with graced-records(5). A table ends with MEMBERS_END.
 */
#ifndef WIRE_JSON_MEMBERS_H
#define WIRE_JSON_MEMBERS_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/arena.h"
#include "base/buf.h"

enum member_kind {
	MEMBER_END,
	MEMBER_TEXT,  /* const char *; optional: "" is null, too */
	MEMBER_CHARS, /* char []; optional: "" is null */
	MEMBER_UINT,  /* of 4 or 8 bytes */
	MEMBER_INT,   /* likewise */
	MEMBER_BOOL,
	MEMBER_TRI,	/* enum record_tri */
	MEMBER_WORD,	/* a number of 4 bytes by its word */
	MEMBER_BITS,	/* an array of the words of the bits that are set in 4 bytes */
	MEMBER_TEXTS,	/* const char *[n], which NULL ends */
	MEMBER_SIGNAL,	/* the name of the signal with that number; is not read */
	MEMBER_WALL,	/* int64_t nanoseconds since 1970 by RFC 3339 */
	MEMBER_SECONDS, /* uint64_t nanoseconds as seconds */
	MEMBER_SPAN,	/* the time from one uint64_t to a later one; null if one of them is 0 */
	MEMBER_COUNTS,	/* n uint64_t, stride bytes apart: a member each, by the number's word */
	MEMBER_OBJECT,	/* members of what is at that place */
	MEMBER_INLINE,	/* likewise, without an object around them */
	MEMBER_LIST,	/* an array of at most n objects, stride bytes apart */
	MEMBER_NULL,	/* always null */
	MEMBER_DERIVED, /* what write() writes, and read() reads, if there is one */
};

struct member_words {
	const char *(*word)(unsigned int value);
	unsigned int n;
};

struct member {
	const char *key;
	uint8_t len; /* of key */
	uint8_t kind;
	bool optional;	       /* null if the number is none; an object's number is that at `of` */
	bool omitted;	       /* left out, and not null, unless it is there */
	bool required;	       /* an object without it, or with null, is damaged */
	bool pointed;	       /* INLINE, LIST: a pointer to it is at that place */
	bool unknown;	       /* null if the bool at `known` is true, not if it is false */
	uint16_t at;	       /* place in the struct */
	uint16_t size;	       /* of what is there */
	uint16_t n;	       /* of TEXTS and LIST */
	uint16_t of;	       /* SPAN: from; OBJECT: its number of 4 bytes; LIST: 1 + its size_t */
	uint16_t known;	       /* 1 + place of a bool: null if it is false */
	uint16_t stride;       /* of COUNTS and LIST; what INLINE points to */
	uint16_t max;	       /* of UINT; 0: what fits, so that two can be added */
	uint32_t none;	       /* the number that null is read as */
	const char *field;     /* its name in the journal; of OBJECT, what its fields begin with */
	const char *attribute; /* its name in spans */
	const struct member_words *words; /* of WORD, BITS and COUNTS */
	const struct member *members;	  /* of OBJECT, INLINE and LIST */
	bool (*there)(const struct member *m, const void *object);
	void (*write)(struct buf *out, const struct member *m, const void *object);
	/* DERIVED: reads a value that is not null. OBJECT: called last, whatever is there. */
	int (*read)(const struct member *m, const json_t *value, void *object);
};

#define MEMBER_SIZE(type, member) sizeof(((type *)NULL)->member)
#define MEMBER_ROW(type, key_, member, kind_)                         \
	.key = key_, .len = sizeof(key_) - 1, .kind = MEMBER_##kind_, \
	.at = offsetof(type, member), .size = MEMBER_SIZE(type, member)
#define MEMBER_PLAIN(type, key_, member, kind_, ...)               \
	{                                                          \
		MEMBER_ROW(type, key_, member, kind_), __VA_ARGS__ \
	}

/* What may follow in a row. */
#define REQUIRED	      .required = true
#define OPTIONAL	      .optional = true
#define KNOWN(type, member)   .known = 1 + offsetof(type, member)
#define UNKNOWN(type, member) KNOWN(type, member), .unknown = true
#define THERE(function)	      .there = function
#define OMITTED(function)     .there = function, .omitted = true
#define UNLESS(type, member, value) \
	.optional = true, .of = offsetof(type, member), .none = (uint32_t)(value)
#define READ(function)	.read = function
#define FIELD(name)	.field = name
#define ATTRIBUTE(name) .attribute = name

#define TEXT(type, key, member, ...)  MEMBER_PLAIN(type, key, member, TEXT, __VA_ARGS__)
#define CHARS(type, key, member, ...) MEMBER_PLAIN(type, key, member, CHARS, __VA_ARGS__)
#define UINT(type, key, member, ...)  MEMBER_PLAIN(type, key, member, UINT, __VA_ARGS__)
#define INT(type, key, member, ...)   MEMBER_PLAIN(type, key, member, INT, __VA_ARGS__)
#define BOOL(type, key, member, ...)  MEMBER_PLAIN(type, key, member, BOOL, __VA_ARGS__)
#define TRI(type, key, member, ...)   MEMBER_PLAIN(type, key, member, TRI, __VA_ARGS__)
#define WALL(type, key, member, ...)  MEMBER_PLAIN(type, key, member, WALL, __VA_ARGS__)
#define SECONDS(type, key, member)    MEMBER_PLAIN(type, key, member, SECONDS, .n = 0)
#define WORD(type, key, member, list, ...) \
	MEMBER_PLAIN(type, key, member, WORD, .words = &list##_words, __VA_ARGS__)
#define BITS(type, key, member, list, ...) \
	MEMBER_PLAIN(type, key, member, BITS, .words = &list##_words, __VA_ARGS__)
#define TEXTS(type, key, member) \
	MEMBER_PLAIN(type, key, member, TEXTS, .n = MEMBER_SIZE(type, member) / sizeof(char *))
#define SPAN(type, key, from, member, ...) \
	MEMBER_PLAIN(type, key, member, SPAN, .of = offsetof(type, from), __VA_ARGS__)
#define COUNTS(type, member, stride_, list) \
	MEMBER_PLAIN(type, "", member, COUNTS, .stride = stride_, .words = &list##_words)
#define OBJECT(type, key, member, rows, ...) \
	MEMBER_PLAIN(type, key, member, OBJECT, .members = rows, __VA_ARGS__)
#define INLINE(type, member, rows, ...) \
	MEMBER_PLAIN(type, "", member, INLINE, .members = rows, __VA_ARGS__)
#define COUNTED(type, member) .of = 1 + offsetof(type, member)
#define POINTED(type)	      .pointed = true, .stride = sizeof(type)
#define LIST(type, key, member, table, ...) \
	MEMBER_PLAIN(type, key, member, LIST, .members = table, __VA_ARGS__)
#define DERIVED(type, key, member, function, ...) \
	MEMBER_PLAIN(type, key, member, DERIVED, .write = function, __VA_ARGS__)
/* A signal's number and its name. */
#define SIGNAL(type, member) \
	UINT(type, "number", member, .max = 64), MEMBER_PLAIN(type, "name", member, SIGNAL, .n = 0)
/* An object whose members are in the same struct; and members that are in the same object, too. */
#define WITHIN(key_, rows, ...)                                                               \
	{                                                                                     \
		.key = key_, .len = sizeof(key_) - 1, .kind = MEMBER_OBJECT, .members = rows, \
		__VA_ARGS__                                                                   \
	}
#define AMONG(rows, ...)                                                       \
	{                                                                      \
		.key = "", .kind = MEMBER_INLINE, .members = rows, __VA_ARGS__ \
	}
#define ALWAYS_NULL(key_)                                                  \
	{                                                                  \
		.key = key_, .len = sizeof(key_) - 1, .kind = MEMBER_NULL, \
	}
#define MEMBERS_END                 \
	{                           \
		.kind = MEMBER_END, \
	}

/* The words of an enum, whose names NAME_name() has. */
#define WORDS(list, name, type, count)                     \
	static const char *list##_word(unsigned int value) \
	{                                                  \
		return name##_name((type)value);           \
	}                                                  \
	static const struct member_words list##_words = {list##_word, count};

void members_write(struct buf *out, const struct member *members, const void *object);

/* Adds a whole object as a member; object may be NULL: null. */
void members_write_object(struct buf *out, const char *key, const struct member *members,
			  const void *object);

typedef void (*members_fn)(void *userdata, const struct member *m, const void *object);

/* Calls fn for each member that is not null and is written as something else, too; those of an
 * object come after it. */
void members_each(const struct member *members, const void *object, members_fn fn, void *userdata);

/* A member with one value, or with bits, as text: a bool is 1 or 0, words of bits have commas
 * between them. It may be in the buffer. NULL: there is none. */
const char *members_text(const struct member *m, const void *object, struct buf *room);

/* What is read, and the first thing that was wrong with it; texts and lists are in the arena. */
struct members_reading {
	struct arena *arena;
	/* -ENOMEM; else -EPROTONOSUPPORT for a word that is not known; else -EBADMSG. */
	int error;
};

/* Notes an error. What looks damaged beside an unknown word may be the way of a newer graced. */
void members_fail(struct members_reading *r, int error);

/* Reads into an object that is all zero. Members that are absent or null are left out. */
void members_read(struct members_reading *r, const json_t *json, const struct member *members,
		  void *object);

/* Copies into the arena what an object that was copied points to. -ENOMEM. */
int members_copy(struct arena *arena, const struct member *members, void *object);

#endif
