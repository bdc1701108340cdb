// SPDX-License-Identifier: Apache-2.0
/* Finds the last step of a boot's end among the entries of PID 1 and journald. */
#include "core/boot/trail.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* sd-messages.h: SD_MESSAGE_UNIT_STARTED, _UNIT_STOPPING, _JOURNAL_STOP and _JOURNAL_START. */
#define STARTED	 "39f53479d3a045ac8e11786248231fbf"
#define STOPPING "de5b426a63be47a7b6ac3eaac82e2f6f"
#define CLOSED	 "d93fb3c9c24d451a97cea615ce59c00b"
#define OPENED	 "f77379a8490b408bbe5f6940505a777b"

#define FLUSH	 "systemd-journal-flush.service"
#define BY_PID_1 "_PID=1", "_UID=0", "_TRANSPORT=journal"

/* Targets as bootup(7) orders them. A soft reboot starts a user space in the same boot. */
static const char *const started[] = {
	"MESSAGE_ID=" STARTED,
	BY_PID_1,
	"UNIT=shutdown.target",
	"UNIT=poweroff.target",
	"UNIT=reboot.target",
	"UNIT=halt.target",
	"UNIT=kexec.target",
	"UNIT=soft-reboot.target",
	"UNIT=sysinit.target",
	"UNIT=basic.target",
	"UNIT=multi-user.target",
	"UNIT=" FLUSH,
	NULL,
};
/* With a journal on a file system of its own the last that is on the disk: journald leaves it
 * before PID 1 unmounts it (journalctl --smart-relinquish-var). */
static const char *const stopping[] = {"MESSAGE_ID=" STOPPING, BY_PID_1, "UNIT=" FLUSH, NULL};
/* journald's own entries have this transport, which no client has. */
static const char *const journald[] = {"MESSAGE_ID=" CLOSED, "MESSAGE_ID=" OPENED,
				       "_TRANSPORT=driver", NULL};

const char *const *const boottrail_terms[] = {started, stopping, journald, NULL};

static void note(uint64_t *latest_us, uint64_t at_us)
{
	if (at_us > *latest_us)
		*latest_us = at_us;
}

static bool is_last(const char *unit)
{
	static const char *const units[] = {"poweroff.target", "reboot.target", "halt.target",
					    "kexec.target"};

	for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++)
		if (strcmp(unit, units[i]) == 0)
			return true;
	return false;
}

static void take_started(struct boottrail *t, const char *unit, uint64_t at_us)
{
	if (is_last(unit))
		note(&t->last_us, at_us);
	else if (strcmp(unit, "shutdown.target") == 0 || strcmp(unit, "soft-reboot.target") == 0)
		note(&t->going_us, at_us);
	else
		note(&t->up_us, at_us);
}

void boottrail_take(struct boottrail *t, const char *message_id, const char *unit, uint64_t at_us)
{
	if (strcmp(message_id, CLOSED) == 0)
		note(&t->closed_us, at_us);
	else if (strcmp(message_id, OPENED) == 0)
		note(&t->opened_us, at_us);
	else if (strcmp(message_id, STOPPING) == 0)
		note(&t->going_us, at_us);
	else if (strcmp(message_id, STARTED) == 0 && unit)
		take_started(t, unit, at_us);
}

/* systemd-shutdown ends journald with the other processes that are left. journald alone can also be
 * restarted or crash, and the last target is reached before what is left is ended: only both, in
 * this order and without a start after them, are the end. */
enum boot_journal boottrail_judge(const struct boottrail *t)
{
	if (t->last_us > t->up_us && t->closed_us >= t->last_us && t->closed_us > t->opened_us)
		return BOOT_JOURNAL_WENT_DOWN;
	if (t->last_us > t->up_us || t->going_us > t->up_us)
		return BOOT_JOURNAL_GOING_DOWN;
	return BOOT_JOURNAL_NO_END;
}
