// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/json/rows: each member of a record's struct has a row, and graced-records(5)
 * lists the members that the rows have. The structs are read from the
 * type information of rows.bpf.o, which lies beside this program. */
#include "wire/json/rows.h"

#include <bpf/btf.h>
#include <errno.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "lib/claim.h"

#define PAGE "docs/graced-records.5"

/* --- structs ----------------------------------------------------------------------------------- */

/* Members without a row of their own, by the end of their path. */
static const char *const unwritten[] = {
	".container.user",	/* its cgroup says whose it is */
	".container.ephemeral", /* the log of a container has it, its record has not */
	".grace.sure",		/* is in the gaps */
	"exit.reported",	/* whose code is written */
	"kernel.reported",
	"record_attached.pods", /* chooses columns */
	/* Processes that are no init of a stop. */
	".sender.process.ns_pid",
	".sender.process.start_ns",
	"record_request..asked.process.ns_pid",
	"record_request...process.ns_pid",
	"record_request...process.start_ns",
	".held_by.process.ns_pid",
	".held_by.process.start_ns",
	".held_by.parent.ns_pid",
	".held_by.parent.start_ns",
	".target.start_ns",
	".forward.to.start_ns",
	".victim.start_ns",
	".via.process.start_ns",
	".asked.process.start_ns",
	".fatal.process.start_ns",
	/* What a step is made of; record_shutdown has its container and volumes by name. */
	"record_shutdown.step.at_ns",
	"record_shutdown.step.container",
	"record_shutdown.step.volumes",
	"bootlog.node",
	"bootlog.saved_ns", /* the record's own time and node */
	"bootlog.saved_wall_ns",
	"bootlog.resumed", /* is not of the boot's end */
	".room",
};

/* A struct, and which of its bytes rows have. */
struct covered {
	char name[64];
	const struct btf_type *type;
	bool has[4096];
};

static struct btf *BTF;
static struct covered COVERED[32];
static size_t n_covered;

static int load(void **state)
{
	char path[4096] = "";

	if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0)
		return -errno;
	dirname(path);
	strncat(path, "/json/rows.bpf.o", sizeof(path) - strlen(path) - 1);
	BTF = btf__parse(path, NULL);
	if (!BTF)
		printf("# %s: %s\n", path, strerror(errno));
	return BTF ? 0 : -1;
}

static int unload(void **state)
{
	btf__free(BTF);
	return 0;
}

static const char *name_of(const struct btf_type *type)
{
	return btf__name_by_offset(BTF, type->name_off);
}

/* What only a pointer of a struct points to is declared there, and defined elsewhere. */
static const struct btf_type *type_of(__u32 id)
{
	const struct btf_type *type = btf__type_by_id(BTF, id);

	while (btf_is_mod(type) || btf_is_typedef(type))
		type = btf__type_by_id(BTF, type->type);
	if (btf_is_fwd(type))
		id = (__u32)btf__find_by_name_kind(BTF, name_of(type), BTF_KIND_STRUCT);
	return btf_is_fwd(type) ? btf__type_by_id(BTF, id) : type;
}

/* What a pointer points to, or an array has. */
static const struct btf_type *element_of(const struct btf_type *type)
{
	if (btf_is_ptr(type))
		return type_of(type->type);
	return btf_is_array(type) ? type_of(btf_array(type)->type) : type;
}

static struct covered *covered_of(const struct btf_type *type)
{
	for (size_t i = 0; i < n_covered; i++)
		if (COVERED[i].type == type)
			return &COVERED[i];
	assert_true(n_covered < LEN(COVERED));
	COVERED[n_covered].type = type;
	snprintf(COVERED[n_covered].name, sizeof(COVERED[0].name), "%s", name_of(type));
	return &COVERED[n_covered++];
}

static struct covered *struct_named(const char *name)
{
	int id = btf__find_by_name_kind(BTF, name, BTF_KIND_STRUCT);

	if (id < 0)
		fail_msg("there is no struct %s", name);
	return covered_of(btf__type_by_id(BTF, (__u32)id));
}

/* The array or pointer that is at that place. */
static const struct btf_type *list_at(const struct btf_type *type, size_t at)
{
	for (int i = 0; i < btf_vlen(type); i++) {
		size_t begin = btf_member_bit_offset(type, (__u32)i) / 8;
		const struct btf_type *member = type_of(btf_members(type)[i].type);
		long long size = btf__resolve_size(BTF, btf_members(type)[i].type);

		if (at < begin || (long long)(at - begin) >= size)
			continue;
		return btf_is_composite(member) ? list_at(member, at - begin) : element_of(member);
	}
	fail_msg("nothing is at %zu of %s", at, name_of(type));
	return NULL;
}

static void mark(struct covered *c, size_t at, size_t size)
{
	memset(c->has + at, true, size);
}

static void walk(struct covered *c, size_t base, const struct member *members)
{
	for (const struct member *m = members; m->kind != MEMBER_END; m++) {
		size_t at = base + m->at;

		if (m->known)
			mark(c, base + m->known - 1u, sizeof(bool));
		if (m->pointed || m->kind == MEMBER_LIST) {
			walk(covered_of(list_at(c->type, at)), 0, m->members);
			mark(c, at, m->size);
			if (m->kind == MEMBER_LIST && m->of)
				mark(c, base + m->of - 1u, sizeof(size_t));
		} else if (m->kind == MEMBER_OBJECT || m->kind == MEMBER_INLINE) {
			walk(c, at, m->members);
		} else if (m->kind == MEMBER_COUNTS) {
			for (unsigned int i = 0; i < m->words->n; i++)
				mark(c, at + (size_t)i * m->stride, sizeof(uint64_t));
		} else {
			mark(c, at, m->size);
		}
		if (m->kind == MEMBER_SPAN)
			mark(c, base + m->of, sizeof(uint64_t));
	}
}

static bool is_unwritten(const char *path)
{
	for (size_t i = 0; i < LEN(unwritten); i++) {
		size_t n = strlen(unwritten[i]), len = strlen(path);

		if (len >= n && strcmp(path + len - n, unwritten[i]) == 0)
			return true;
	}
	return false;
}

static void check(const struct covered *c, const struct btf_type *type, size_t base,
		  const char *path)
{
	for (int i = 0; i < btf_vlen(type); i++) {
		const struct btf_member *m = &btf_members(type)[i];
		const struct btf_type *of = type_of(m->type);
		size_t at = base + btf_member_bit_offset(type, (__u32)i) / 8;
		char name[512];

		snprintf(name, sizeof(name), "%s.%s", path, btf__name_by_offset(BTF, m->name_off));
		if (is_unwritten(name))
			continue;
		if (btf_is_composite(of))
			check(c, of, at, name);
		else if (!memchr(c->has + at, true, (size_t)btf__resolve_size(BTF, m->type)))
			fail_msg("%s has no row", name);
	}
}

static void structs(void **state)
{
	static const char *const names[RECORD_TYPE_COUNT] = {
		[RECORD_ATTACHED] = "record_attached",
		[RECORD_SIGNAL] = "record_signal",
		[RECORD_STOP] = "record_stop",
		[RECORD_EMPTY] = "record_empty",
		[RECORD_OOM] = "record_oom",
		[RECORD_LOST] = "record_lost",
		[RECORD_RUNTIME_EXIT] = "record_runtime_exit",
		[RECORD_RESTART] = "record_restart",
		[RECORD_POD] = "record_pod_state",
		[RECORD_POD_READY] = "record_pod_ready",
		[RECORD_DISCREPANCY] = "record_discrepancy",
		[RECORD_SHUTDOWN] = "record_shutdown",
		[RECORD_BOOT] = "record_boot",
		[RECORD_DROPPED] = "record_dropped",
		[RECORD_REAPED] = "record_reaped",
	};

	for (int i = RECORD_NONE + 1; i < RECORD_TYPE_COUNT; i++) {
		struct covered *c = struct_named(names[i]);

		if (record_rows[i].has_id)
			mark(c, 0, RECORD_ID_SIZE);
		walk(c, 0, record_rows[i].members);
	}
	for (size_t i = 0; i < n_covered; i++)
		check(&COVERED[i], COVERED[i].type, 0, COVERED[i].name);
}

/* --- the page ---------------------------------------------------------------------------------- */

/* Those that stand in nearly every record, and are described once. */
static bool is_common(const char *key)
{
	return strcmp(key, "pod") == 0 || strcmp(key, "container") == 0 || strcmp(key, "id") == 0;
}

static void add_keys(struct buf *out, const struct member *members, bool all)
{
	for (const struct member *m = members; m->kind != MEMBER_END; m++) {
		if (m->kind == MEMBER_INLINE)
			add_keys(out, m->members, all);
		else if (all || !is_common(m->key))
			buf_printf(out, " %s", m->key);
	}
}

static void add_words(struct buf *out, char *words, bool all)
{
	for (char *word; (word = strsep(&words, " ,\n"));)
		if (*word && (all || !is_common(word)))
			buf_printf(out, " %s", word);
}

/* "pod (a change of state)" */
static bool is_heading(const char *text, const char *section)
{
	size_t n = strlen(section);

	return strncmp(text, section, n) == 0 && (!text[n] || strncmp(text + n, " (", 2) == 0);
}

/* The lines of a section of that part of the page. */
static void add_section(struct buf *out, const char *part, const char *section)
{
	_cleanup_(cleanup_free) char *line = NULL;
	FILE *page = fopen(PAGE, "r");
	bool in_part = false, inside = false;
	size_t room = 0;

	assert_non_null(page);
	while (getline(&line, &room, page) > 0) {
		line[strcspn(line, "\n")] = '\0';
		if (strncmp(line, ".Sh ", 4) == 0)
			in_part = strcmp(line + 4, part) == 0;
		if (strncmp(line, ".Sh ", 4) == 0 || strncmp(line, ".Ss ", 4) == 0)
			inside = in_part && line[2] == 's' && is_heading(line + 4, section);
		if (inside)
			buf_printf(out, "%s\n", line);
	}
	fclose(page);
}

/* The items of a section's outermost list. */
static void add_listed(struct buf *out, const char *part, const char *section, bool all)
{
	_cleanup_(buf_free) struct buf text = {};
	char *lines, *line;
	int depth = 0;

	add_section(&text, part, section);
	lines = text.data;
	while ((line = strsep(&lines, "\n"))) {
		depth += strncmp(line, ".Bl", 3) == 0;
		depth -= strncmp(line, ".El", 3) == 0;
		if (depth == 1 && strncmp(line, ".It Cm ", 7) == 0)
			add_words(out, line + 7, all);
	}
}

static void check_listed(const char *part, const char *section, const struct member *members,
			 bool all)
{
	_cleanup_(buf_free) struct buf rows = {}, listed = {};

	add_keys(&rows, members, all);
	add_listed(&listed, part, section, all);
	if (strcmp(buf_str(&rows), buf_str(&listed)) != 0)
		fail_msg("%s: the rows have%s, the page has%s", section, buf_str(&rows),
			 buf_str(&listed));
}

static void page(void **state)
{
	check_listed("DESCRIPTION", "pod", parts_pod, true);
	check_listed("DESCRIPTION", "container", parts_container, true);
	check_listed("DESCRIPTION", "sender", parts_sender, true);
	check_listed("DESCRIPTION", "process, target, victim", parts_process, true);
	for (int i = RECORD_NONE + 1; i < RECORD_TYPE_COUNT; i++)
		check_listed("RECORDS", record_rows[i].name, record_rows[i].members, false);
}

/* --- parts of members -------------------------------------------------------------------------- */

/* The page has them once, for all records that have such an object. */
static bool is_shared(const struct member *members)
{
	return members == parts_pod || members == parts_container || members == parts_process ||
	       members == parts_init || members == parts_named || members == parts_sender ||
	       members == parts_sigref || members == parts_exited || members == parts_grace ||
	       members == parts_evidence;
}

/* A name that stands in one of the page's lines, by itself. */
static bool is_in(const char *text, const char *name)
{
	size_t n = strlen(name);

	for (const char *at = text; (at = strstr(at, name)); at += n)
		if (strchr(" .(", at[-1]) && (!at[n] || strchr(" .,;)\n", at[n])))
			return true;
	return false;
}

static void check_parts(const char *section, const struct member *members, const char *text)
{
	for (const struct member *m = members; m->kind != MEMBER_END; m++) {
		if (m->key[0] && !is_common(m->key) && !is_in(text, m->key))
			fail_msg("%s: the page lacks %s", section, m->key);
		if (m->members && !is_shared(m->members))
			check_parts(section, m->members, text);
	}
}

static void parts(void **state)
{
	for (int i = RECORD_NONE + 1; i < RECORD_TYPE_COUNT; i++) {
		_cleanup_(buf_free) struct buf text = {};

		add_section(&text, "RECORDS", record_rows[i].name);
		check_parts(record_rows[i].name, record_rows[i].members, buf_str(&text));
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("each member of a record's struct has a row", structs),
		CLAIM("graced-records(5) lists the members of each record in their order", page),
		CLAIM("graced-records(5) has the members of a record's objects", parts),
	};

	return cmocka_run_group_tests_name("wire/json/rows", tests, load, unload);
}
