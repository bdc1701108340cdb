// SPDX-License-Identifier: Apache-2.0
/* Reads and writes the file; core/boot/log decides what it claims. */
#include "app/daemon/bootkeep.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/config/run_dir.h"
#include "app/log/log.h"
#include "base/cleanup.h"
#include "core/account/account.h"
#include "core/boot/trail.h"
#include "io/files/file.h"
#include "io/proc/clock.h"
#include "io/sinks/journal.h"

/* A reader of records that never catches up does not keep this boot from being noted. */
#define HOLD_MAX_NS 60000000000ULL

struct bootkeep {
	char path[PATH_MAX];
	struct bootnote note;
	bool begun;
	bool held; /* the report of an earlier boot may not be written yet */
	bool urgent;
	bool failed;   /* which is logged */
	bool unsynced; /* likewise */
	struct filesync sync;
	uint64_t begun_ns;
};

static void log_unread(const char *path, int error, const char *why)
{
	if (error == -EPROTONOSUPPORT)
		why = "it is of another version";
	else if (error == -EBADMSG || error == -EFBIG)
		why = "it makes no sense";
	log_warning("cannot tell how the last boot ended: cannot use %s: %s", path, why);
}

static void read_note(struct bootkeep *k)
{
	_cleanup_(buf_free) struct buf text = {};
	struct trusted_why why;
	int r = trusted_read(k->path, false, BOOTNOTE_MAX_SIZE, &text, &why);

	if (r == -ENOENT)
		return;
	if (r < 0) {
		log_warning("cannot tell how the last boot ended: %s", why.text);
		return;
	}
	r = bootnote_read(buf_str(&text), text.len, &k->note);
	if (r < 0)
		log_unread(k->path, r, strerror(-r));
}

struct bootkeep *bootkeep_open(void)
{
	struct bootkeep *k = calloc(1, sizeof(*k));

	if (!k) {
		log_warning("cannot record this boot: %s", strerror(ENOMEM));
		return NULL;
	}
	statedir_path(BOOTNOTE_FILE, k->path);
	read_note(k);
	return k;
}

struct bootkeep *bootkeep_free(struct bootkeep *k)
{
	if (!k)
		return NULL;
	filesync_close(&k->sync);
	bootnote_done(&k->note);
	free(k);
	return NULL;
}

/* --- an earlier boot --------------------------------------------------------------------------- */

static void take_step(void *userdata, const struct journal_step *step)
{
	boottrail_take(userdata, step->message_id, step->unit, step->at_us);
}

/* Once for a boot, before the daemon is ready: what is read is bounded. */
static void read_journal(struct bootlog *log)
{
	char boot[ACCOUNT_BOOT_SIZE];
	const struct journal_tail tail = {
		.boot = account_boot(log->boot_id, strlen(log->boot_id), boot),
		.terms = boottrail_terms,
		.entries_max = BOOTTRAIL_ENTRIES_MAX,
	};
	struct boottrail trail = {};
	int r = journal_read_tail(&tail, take_step, &trail);

	if (r < 0)
		log_warning("the journal is not used to find how the last boot ended: cannot read "
			    "it: %s",
			    journal_strerror(r));
	log->journal = r > 0 ? boottrail_judge(&trail) : BOOT_JOURNAL_ABSENT;
}

static void set_previous(struct bootnote *note, struct record *ret)
{
	bootlog_done(&note->previous);
	note->previous = note->boot;
	note->boot = (struct bootlog){};
	if (bootlog_needs_journal(&note->previous))
		read_journal(&note->previous);
	bootlog_record(&note->previous, ret);
	note->unclean += ret->boot.verdict.end == BOOT_END_UNCLEAN;
}

bool bootkeep_begin(struct bootkeep *k, const char *node, uint64_t now_ns, struct record *ret)
{
	struct bootnote *note = &k->note;
	char boot_id[BOOTLOG_ID_SIZE];

	if (clock_boot_id(boot_id) < 0) {
		log_warning("cannot record this boot: its id cannot be read");
		return false;
	}
	switch (bootlog_compare(&note->boot, boot_id, node)) {
	case BOOTLOG_EARLIER:
		set_previous(note, ret);
		k->held = true;
		break;
	case BOOTLOG_FOREIGN:
		log_info("%s is about the node %s, and is replaced", k->path, note->boot.node);
		bootnote_done(note);
		note->unclean = 0;
		break;
	case BOOTLOG_NOTHING:
	case BOOTLOG_SAME:
		break;
	}
	bootlog_begin(&note->boot, boot_id, node, now_ns);
	k->begun = k->urgent = true;
	k->begun_ns = now_ns;
	return k->held;
}

/* --- this boot --------------------------------------------------------------------------------- */

static void add_pod(void *userdata, const struct podview *pod)
{
	struct bootlog *log = userdata;

	if (pod->running)
		bootlog_add(&log->pods, pod->uid, pod->namespace_, pod->name, pod->running);
}

static void add_container(void *userdata, const struct engine_running *running)
{
	const struct record_container *c = &running->container;
	struct bootlog *log = userdata;

	if (!running->pod.known &&
	    (c->kind == CONTAINER_KIND_CONTAINER || c->kind == CONTAINER_KIND_UNKNOWN))
		bootlog_add(&log->containers, c->id, NULL, c->name, 1);
}

static void look(struct bootkeep *k, const struct engine *engine, uint64_t now_ns)
{
	struct bootlog *log = &k->note.boot;

	bootlog_look(log, now_ns, (int64_t)clock_wall_ns());
	engine_pods_each(engine, add_pod, log);
	engine_each_container(engine, add_container, log);
}

/* A note that says that the daemon runs is a claim once it does not: it has to go. */
static void fail(struct bootkeep *k, int error)
{
	if (!k->failed)
		log_warning("cannot write %s: %s; the next boot will not know how this one ended",
			    k->path, strerror(-error));
	k->failed = true;
	if (k->note.boot.stopped_ns && unlink(k->path) < 0 && errno != ENOENT)
		log_warning("cannot remove %s: %s; the next boot will report that this one ended "
			    "uncleanly",
			    k->path, strerror(errno));
}

static void write_note(struct bootkeep *k)
{
	_cleanup_(buf_free) struct buf text = {};
	int r = bootnote_write(&text, &k->note);

	bootlog_forget(&k->note.boot);
	if (r >= 0)
		r = statefile_write(k->path, buf_str(&text), text.len);
	k->urgent = false;
	if (r < 0) {
		fail(k, r);
		return;
	}
	if (k->failed)
		log_at(LOG_NOTICE, "%s can be written again", k->path);
	k->failed = false;
}

/* A look that comes while an earlier one is on its way to a slow disk is not synced; a later one
 * is. */
static void sync_note(struct bootkeep *k)
{
	int r = k->failed ? -EBUSY : filesync_begin(&k->sync, k->path);

	if (r < 0 && r != -EBUSY && !k->unsynced)
		log_warning("cannot have %s written to the disk: %s; after a loss of power the "
			    "next boot may report what was alive a minute before",
			    k->path, strerror(-r));
	if (r != -EBUSY)
		k->unsynced = r < 0;
}

void bootkeep_record(struct bootkeep *k, const struct record *record)
{
	if (k->begun)
		k->urgent |= bootlog_take(&k->note.boot, record);
}

void bootkeep_turn(struct bootkeep *k, const struct engine *engine, uint64_t now_ns, bool idle)
{
	if (!k->begun || k->note.boot.stopped_ns)
		return;
	if (k->held && !idle && now_ns - k->begun_ns < HOLD_MAX_NS)
		return;
	k->held = false;
	if (!bootlog_is_due(&k->note.boot, now_ns) && !k->urgent)
		return;
	look(k, engine, now_ns);
	write_note(k);
	sync_note(k);
}

void bootkeep_stop(struct bootkeep *k, const struct engine *engine, uint64_t now_ns)
{
	if (!k->begun)
		return;
	look(k, engine, now_ns);
	k->note.boot.stopped_ns = now_ns;
	if (!k->held)
		write_note(k);
}

void bootkeep_finish(struct bootkeep *k, const struct engine *engine, uint64_t now_ns, bool idle)
{
	if (!k->begun || !k->note.boot.stopped_ns || (k->held && !idle))
		return;
	look(k, engine, now_ns);
	write_note(k);
}

const struct bootnote *bootkeep_note(const struct bootkeep *k)
{
	return &k->note;
}
