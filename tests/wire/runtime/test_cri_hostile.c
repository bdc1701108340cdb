// SPDX-License-Identifier: Apache-2.0
/* Claims about wire/runtime/cri: answers of any bytes cost little, and give nothing that was not
 * said. */
#include <errno.h>
#include <string.h>

#include "base/cleanup.h"
#include "lib/claim.h"
#include "lib/cri/criparts.h"

#define UID CRIPARTS_UID
#define POD CRIPARTS_POD

struct counts {
	uint64_t items, skipped, refused, calls;
	int last;
};

static struct counts walk_all(enum cri_method method, const void *bytes, size_t len)
{
	struct counts counts = {};
	struct cri_walk walk;
	struct cri_item item;

	cri_walk_start(&walk, method, NULL, bytes, len);
	do {
		size_t before = walk.at;

		counts.last = cri_walk_next(&walk, &item);
		counts.calls++;
		/* Each call takes something, or it was the last one. */
		assert_true(walk.at > before || counts.last <= 0);
		assert_true(walk.at <= len);
	} while (counts.last > 0);
	counts.items = walk.items;
	counts.skipped = walk.skipped;
	counts.refused = walk.refused;
	return counts;
}

/* --- lists ----------------------------------------------------------------------------------- */

#define BYTES(text) text, sizeof(text) - 1
#define ITEM	    "\x0a\x03\x0a\x01x"

static void a_list_is_walked_to_its_end_or_to_where_it_breaks(void **state)
{
	static const struct {
		const char *what, *bytes;
		size_t len;
		uint64_t items, skipped;
		int last;
	} rows[] = {
		{"nothing", BYTES(""), 0, 0, CRI_WALK_END},
		{"one", BYTES(ITEM), 1, 0, CRI_WALK_END},
		{"two", BYTES(ITEM ITEM), 2, 0, CRI_WALK_END},
		{"an empty one between", BYTES(ITEM "\x0a\0" ITEM), 2, 1, CRI_WALK_END},
		{"a malformed one between", BYTES(ITEM "\x0a\x02\x0a\x05" ITEM), 2, 1,
		 CRI_WALK_END},
		{"an unknown number", BYTES("\x10\xff\x01" ITEM), 1, 0, CRI_WALK_END},
		{"unknown bytes", BYTES("\x12\x03\x0a\x01y" ITEM), 1, 0, CRI_WALK_END},
		{"an unknown double",
		 BYTES("\x11"
		       "12345678" ITEM),
		 1, 0, CRI_WALK_END},
		{"an unknown float",
		 BYTES("\x15"
		       "1234" ITEM),
		 1, 0, CRI_WALK_END},
		{"a number in its place", BYTES("\x08\x01" ITEM), 1, 0, CRI_WALK_END},
		{"a length missing", BYTES(ITEM "\x0a"), 1, 0, -EBADMSG},
		{"a byte missing", BYTES(ITEM "\x0a\x03\x0a\x01"), 1, 0, -EBADMSG},
		{"a length of 2^64 - 1",
		 BYTES(ITEM "\x0a\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01" ITEM), 1, 0, -EBADMSG},
		{"a number without an end",
		 BYTES("\x08\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x80\x01"), 0, 0, -EBADMSG},
		{"a number cut short", BYTES("\x08\x80"), 0, 0, -EBADMSG},
		{"a double cut short",
		 BYTES("\x11"
		       "1234567"),
		 0, 0, -EBADMSG},
		{"a group", BYTES(ITEM "\x0b\x0c"), 1, 0, -EBADMSG},
		{"field 0", BYTES("\x02\x00" ITEM), 0, 0, -EBADMSG},
		{"a field beyond all", BYTES("\x8a\x80\x80\x80\x80\x01\x00"), 0, 0, -EBADMSG},
		{"a page", BYTES("<html><body>404</body></html>"), 0, 0, -EBADMSG},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		for (int m = 0; m < 2; m++) {
			struct counts c = walk_all(m ? CRI_SANDBOXES : CRI_CONTAINERS,
						   rows[i].bytes, rows[i].len);

			print_message("# %s\n", rows[i].what);
			assert_int_equal(c.items, rows[i].items);
			assert_int_equal(c.skipped, rows[i].skipped);
			assert_int_equal(c.last, rows[i].last);
		}
	}
	assert_int_equal(walk_all(CRI_SANDBOXES, NULL, 0).last, CRI_WALK_END);
}

static void a_list_that_broke_stays_broken(void **state)
{
	struct cri_walk walk;
	struct cri_item item;

	cri_walk_start(&walk, CRI_CONTAINERS, NULL, ITEM "\x0b", 6);
	assert_int_equal(cri_walk_next(&walk, &item), CRI_WALK_ITEM);
	for (int i = 0; i < 3; i++)
		assert_int_equal(cri_walk_next(&walk, &item), -EBADMSG);
	assert_int_equal(walk.at, 5);
}

static void any_prefix_of_a_list_gives_its_first_items(void **state)
{
	static const struct criparts_container c = {
		.id = "c1", .name = "n", .labels = {{POD "uid", UID}, {POD "name", "p"}}};
	_cleanup_(buf_free) struct buf list = {}, item = {};
	size_t one;

	for (int i = 0; i < 3; i++) {
		criparts_write_container(&item, CRIPARTS_LIST_CONTAINER, &c);
		crienc_message(&list, 1, &item);
	}
	one = list.len / 3;
	for (size_t len = 0; len <= list.len; len++) {
		struct counts got = walk_all(CRI_CONTAINERS, list.data, len);

		assert_int_equal(got.items, len / one);
		assert_int_equal(got.skipped, 0);
		assert_int_equal(got.last, len % one ? -EBADMSG : CRI_WALK_END);
	}
}

static void millions_of_empty_items_are_millions_of_short_turns(void **state)
{
	_cleanup_(buf_free) struct buf list = {};
	char *at = buf_reserve(&list, 16 << 20);
	struct counts c;

	assert_non_null(at);
	for (size_t i = 0; i < 16 << 20; i += 2)
		memcpy(at + i, "\x0a\0", 2);
	buf_commit(&list, 16 << 20);
	c = walk_all(CRI_SANDBOXES, list.data, list.len);
	assert_int_equal(c.items, 0);
	assert_int_equal(c.skipped, 8 << 20);
	assert_int_equal(c.calls, (8 << 20) + 1);
	assert_int_equal(c.last, CRI_WALK_END);
}

/* --- single messages ------------------------------------------------------------------------- */

/* A container with n times such a field, in the answer to CRI_STATUS or in a list. */
static int read_many(bool in_list, uint32_t field, const char *bytes, size_t len, size_t n)
{
	_cleanup_(buf_free) struct buf item = {}, answer = {};
	struct counts c;
	struct cri_item ret;

	crienc_text(&item, 1, "c1");
	for (size_t i = 0; i < n; i++)
		crienc_bytes(&item, field, bytes, len);
	crienc_message(&answer, 1, &item);
	if (!in_list)
		return cri_read_status(answer.data, answer.len, &ret);
	crienc_text(&item, 1, "after");
	crienc_message(&answer, 1, &item);
	c = walk_all(CRI_CONTAINERS, answer.data, answer.len);
	assert_int_equal(c.items + c.skipped, 2);
	assert_int_equal(c.last, CRI_WALK_END);
	return c.skipped ? -EMSGSIZE : 0;
}

static void what_grows_too_much_is_not_read_and_the_next_one_is(void **state)
{
	static char big[512 << 10];
	static const struct {
		const char *what;
		uint32_t in_status, in_list;
		size_t len, n;
		int want;
	} rows[] = {
		{"a thousand labels", 12, 8, 0, 1000, 0},
		{"a quarter of a million empty labels", 12, 8, 0, 250000, -EMSGSIZE},
		{"a quarter of a million unknown fields", 99, 99, 0, 170000, -EMSGSIZE},
		{"a label of 63 KiB", 12, 8, 0, 1, 0},
		{"400 KiB that nobody asked for", 99, 99, 400 << 10, 1, 0},
		{"more than CRI_ITEM_MAX", 99, 99, 512 << 10, 1, -EMSGSIZE},
		{"metadata, a hundred thousand times", 2, 3, 0, 100000, -EMSGSIZE},
	};

	for (size_t i = 0; i < LEN(rows); i++) {
		print_message("# %s\n", rows[i].what);
		assert_int_equal(read_many(false, rows[i].in_status, big, rows[i].len, rows[i].n),
				 rows[i].want);
		assert_int_equal(read_many(true, rows[i].in_list, big, rows[i].len, rows[i].n),
				 rows[i].want);
	}
}

static void an_event_of_too_much_differs_from_nonsense(void **state)
{
	_cleanup_(buf_free) struct buf event = {};
	struct cri_event ret;
	static char big[512 << 10];

	crienc_text(&event, 1, "c1");
	for (int i = 0; i < 170000; i++)
		crienc_bytes(&event, 5, "", 0);
	assert_int_equal(cri_read_event(event.data, event.len, NULL, &ret), -EMSGSIZE);
	buf_reset(&event);
	crienc_text(&event, 1, "c1");
	crienc_bytes(&event, 4, big, sizeof(big));
	assert_int_equal(cri_read_event(event.data, event.len, NULL, &ret), -EMSGSIZE);
}

/* --- texts ----------------------------------------------------------------------------------- */

struct text {
	const char *bytes;
	size_t len;
	bool taken;
};

/* A container whose only text beside its ID is a pod's name, a container's name, or an image. */
static void read_text(uint32_t field, const char *bytes, size_t len, struct cri_item *ret)
{
	_cleanup_(buf_free) struct buf item = {}, inner = {};

	crienc_text(&item, 1, "c1");
	if (field == 8) {
		crienc_pair(&item, 8, POD "uid", UID);
		crienc_text(&inner, 1, POD "name");
		crienc_bytes(&inner, 2, bytes, len);
	} else {
		crienc_bytes(&inner, 1, bytes, len);
	}
	crienc_message(&item, field, &inner);
	criparts_read(&item, CRIPARTS_LIST_CONTAINER, NULL, ret);
}

static void a_name_is_what_was_said_or_nothing(void **state)
{
	static char long_name[63 << 10];
	const struct text rows[] = {
		{BYTES("web"), true},
		{BYTES("Web_1 \"quoted\", {a=b}"), true},
		{BYTES("two\nlines\r\t\x1b[31mred\x7f"), true},
		{BYTES("caf\xc3\xa9 \xe2\x80\xae"), true},
		{BYTES("../../etc/passwd"), true},
		{BYTES("%s%n"), true},
		{long_name, META_NAME_MAX - 1, true},
		{long_name, META_NAME_MAX, false},
		{long_name, sizeof(long_name), false},
		{BYTES("kube\0rnetes"), false},
		{BYTES("\0"), false},
		{BYTES("web\0"), false},
		{BYTES("web\xff"), false},
		{BYTES("web\xc3"), false},
		{BYTES("\xc0\x80"), false},
		{BYTES("\xed\xa0\x80"), false},
	};
	struct cri_item item;

	memset(long_name, 'n', sizeof(long_name));
	for (size_t i = 0; i < LEN(rows); i++) {
		size_t want = rows[i].taken ? rows[i].len : 0;

		read_text(8, rows[i].bytes, rows[i].len, &item);
		assert_int_equal(strlen(item.pod.name), want);
		assert_memory_equal(item.pod.name, rows[i].bytes, want);
		assert_int_equal(item.refused, !rows[i].taken);
		read_text(3, rows[i].bytes, rows[i].len, &item);
		assert_int_equal(strlen(item.container.name), want);
		assert_memory_equal(item.container.name, rows[i].bytes, want);
		assert_int_equal(item.refused, !rows[i].taken);
	}
}

static void an_image_may_be_cut_between_characters_but_never_its_key(void **state)
{
	char text[1024];
	struct cri_item item;

	memset(text, 'i', sizeof(text));
	memcpy(text + 254, "\xc3\xa9", 2);
	read_text(4, text, 511, &item);
	assert_int_equal(strlen(item.container.image), 254);
	assert_int_equal(strlen(item.image_key), 511);
	assert_int_equal(item.refused, 0);
	read_text(4, text, 512, &item);
	assert_int_equal(strlen(item.container.image), 254);
	assert_string_equal(item.image_key, "");
	assert_int_equal(item.refused, 1);
	read_text(4, "nginx\0:1", 8, &item);
	assert_string_equal(item.container.image, "");
	assert_string_equal(item.image_key, "");
	assert_int_equal(item.refused, 2);
}

static void an_item_needs_an_id_that_is_one(void **state)
{
	static char long_id[70];
	const struct text rows[] = {
		{BYTES("c1"), true},
		{BYTES("a-b_c.D9"), true},
		{long_id, 64, true},
		{long_id, 65, false},
		{BYTES(""), false},
		{BYTES("a/b"), false},
		{BYTES("../.."), false},
		{BYTES("a b"), false},
		{BYTES("a\0b"), false},
		{BYTES("a\n"), false},
		{BYTES("caf\xc3\xa9"), false},
		{BYTES("a:b"), false},
		{BYTES("@"), false},
		{BYTES("["), false},
		{BYTES("`"), false},
		{BYTES("{"), false},
	};

	memset(long_id, 'a', sizeof(long_id));
	for (size_t i = 0; i < LEN(rows); i++) {
		_cleanup_(buf_free) struct buf item = {}, list = {};

		crienc_bytes(&item, 1, rows[i].bytes, rows[i].len);
		crienc_message(&list, 1, &item);
		for (int m = 0; m < 2; m++) {
			struct counts c =
				walk_all(m ? CRI_SANDBOXES : CRI_CONTAINERS, list.data, list.len);

			assert_int_equal(c.items, rows[i].taken);
			assert_int_equal(c.skipped, !rows[i].taken);
		}
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		CLAIM("a list is walked to its end, or to where it breaks",
		      a_list_is_walked_to_its_end_or_to_where_it_breaks),
		CLAIM("a list that broke stays broken", a_list_that_broke_stays_broken),
		CLAIM("any prefix of a list gives its first items",
		      any_prefix_of_a_list_gives_its_first_items),
		CLAIM("millions of empty items are millions of short turns",
		      millions_of_empty_items_are_millions_of_short_turns),
		CLAIM("what grows too much is not read, and the next one is",
		      what_grows_too_much_is_not_read_and_the_next_one_is),
		CLAIM("an event of too much differs from nonsense",
		      an_event_of_too_much_differs_from_nonsense),
		CLAIM("a name is what was said, or nothing", a_name_is_what_was_said_or_nothing),
		CLAIM("an image may be cut between characters, but never its key",
		      an_image_may_be_cut_between_characters_but_never_its_key),
		CLAIM("an item needs an ID that is one", an_item_needs_an_id_that_is_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
