// SPDX-License-Identifier: Apache-2.0
/* Claims about core/boot/trail: how far a boot went down, by entries of PID 1 and journald. */
#include <stdlib.h>
#include <string.h>

#include "core/boot/trail.h"
#include "lib/claim.h"

#define STARTED	 "39f53479d3a045ac8e11786248231fbf"
#define STOPPING "de5b426a63be47a7b6ac3eaac82e2f6f"
#define CLOSED	 "d93fb3c9c24d451a97cea615ce59c00b"
#define OPENED	 "f77379a8490b408bbe5f6940505a777b"

/* Words of a story, and the entry that each is. */
static const struct word {
	const char *word, *message_id, *unit;
} words[] = {
	{"up", STARTED, "sysinit.target"},
	{"basic", STARTED, "basic.target"},
	{"flushed", STARTED, "systemd-journal-flush.service"},
	{"leaves", STOPPING, "systemd-journal-flush.service"},
	{"shutdown", STARTED, "shutdown.target"},
	{"poweroff", STARTED, "poweroff.target"},
	{"reboot", STARTED, "reboot.target"},
	{"halt", STARTED, "halt.target"},
	{"kexec", STARTED, "kexec.target"},
	{"soft", STARTED, "soft-reboot.target"},
	{"closed", CLOSED, NULL},
	{"opened", OPENED, NULL},
	{"other", "7d4958e842da4a758f6c1cdc7b36dcc5", "x.service"},
};

static const struct word *find(const char *word, size_t len)
{
	for (size_t i = 0; i < LEN(words); i++)
		if (strlen(words[i].word) == len && memcmp(words[i].word, word, len) == 0)
			return &words[i];
	fail_msg("no word %s", word);
	return NULL;
}

static enum boot_journal judge(const char *story, bool backwards)
{
	struct boottrail trail = {};
	size_t n = strlen(story);
	uint64_t at_us = 1;

	for (const char *at = story; *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");
		const struct word *w = find(at, len);

		boottrail_take(&trail, w->message_id, w->unit, at_us++);
		at += len;
	}
	if (!backwards)
		return boottrail_judge(&trail);
	trail = (struct boottrail){};
	while (n > 0) {
		size_t end = n, begin = n;

		while (begin > 0 && story[begin - 1] != ' ')
			begin--;
		boottrail_take(&trail, find(story + begin, end - begin)->message_id,
			       find(story + begin, end - begin)->unit, --at_us);
		n = begin ? begin - 1 : 0;
	}
	return boottrail_judge(&trail);
}

static void test_ends(void **state)
{
	static const struct {
		const char *story, *journal;
	} rows[] = {
		{"opened up basic leaves shutdown poweroff closed", "went-down"},
		{"opened up basic leaves shutdown reboot closed", "went-down"},
		{"up shutdown halt closed", "went-down"},
		{"up shutdown kexec closed", "went-down"},
		/* Power is lost in the middle: what is not stopped by a unit may still live. */
		{"opened up basic", "no-end"},
		{"opened", "no-end"},
		{"", "no-end"},
		{"opened up leaves", "going-down"},
		{"opened up leaves shutdown", "going-down"},
		{"opened up leaves shutdown poweroff", "going-down"},
		/* journald ends alone: restarted, crashed, or before the last target. */
		{"opened up closed", "no-end"},
		{"opened up closed opened", "no-end"},
		{"opened up shutdown closed", "going-down"},
		{"opened up shutdown closed poweroff", "going-down"},
		{"opened up shutdown poweroff closed opened", "going-down"},
		{"opened up leaves flushed", "no-end"},
		/* A soft reboot: the boot goes on, and ends once more. */
		{"opened up leaves shutdown soft closed", "going-down"},
		{"opened up leaves shutdown soft closed opened up basic", "no-end"},
		{"opened up shutdown soft closed opened up leaves shutdown reboot closed",
		 "went-down"},
		{"opened up shutdown soft closed opened up leaves shutdown reboot", "going-down"},
		/* Someone started poweroff.target's parts, and the user space anew. */
		{"up shutdown poweroff basic closed", "no-end"},
		{"up other", "no-end"},
	};

	for (size_t i = 0; i < LEN(rows); i++)
		for (int backwards = 0; backwards < 2; backwards++) {
			const char *word = boot_journal_name(judge(rows[i].story, backwards));

			if (strcmp(word, rows[i].journal) != 0)
				fail_msg("%s: %s", rows[i].story, word);
		}
}

static void test_unnamed(void **state)
{
	struct boottrail trail = {};

	boottrail_take(&trail, STARTED, NULL, 5);
	boottrail_take(&trail, "", "poweroff.target", 6);
	assert_int_equal(boottrail_judge(&trail), BOOT_JOURNAL_NO_END);
}

/* The fields that begin with "_" are journald's. */
static void test_trusted(void **state)
{
	size_t n = 0;

	for (; boottrail_terms[n]; n++) {
		const char *const *term = boottrail_terms[n];
		bool pid_1 = false, own = false;

		for (size_t i = 0; term[i]; i++) {
			pid_1 |= strcmp(term[i], "_PID=1") == 0;
			own |= strcmp(term[i], "_TRANSPORT=driver") == 0;
		}
		assert_true(pid_1 || own);
	}
	assert_int_equal(n, 3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("an end is the last target and then journald's end, without a start after them",
		      test_ends),
		CLAIM("an entry that names no unit or no message shows nothing", test_unnamed),
		CLAIM("no entry that a client can forge is read", test_trusted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
