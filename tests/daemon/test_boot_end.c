// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about what a daemon reports of an earlier boot: the note is one that a daemon has really
 * left, with another boot id in it. Containers are real, logind is python-dbusmock's, and journals
 * are made of entries.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "io/files/fd.h"
#include "io/files/file.h"
#include "io/proc/clock.h"
#include "lib/claim.h"
#include "lib/daemon/journald.h"
#include "lib/patience.h"
#include "lib/shutdown/shutscene.h"
#include "wire/recording/boot_note.h"

#define OTHER	 "11111111-2222-3333-4444-555555555555"
#define OTHER_ID "11111111222233334444555555555555"

static char *read_note(const struct shutscene *s)
{
	char path[128], *text = NULL;

	snprintf(path, sizeof(path), "%s/" BOOTNOTE_FILE, s->state);
	return fd_read_all(AT_FDCWD, path, BOOTNOTE_MAX_SIZE, &text) < 0 ? NULL : text;
}

/* As if the machine had been started again. */
static void boot_anew(const struct shutscene *s)
{
	char *text = read_note(s), boot_id[37], path[128], *at;

	assert_non_null(text);
	clock_boot_id(boot_id);
	at = strstr(text, boot_id);
	assert_non_null(at);
	memcpy(at, OTHER, 36);
	snprintf(path, sizeof(path), "%s/" BOOTNOTE_FILE, s->state);
	assert_int_equal(statefile_write(path, text, strlen(text)), 0);
	free(text);
}

static void await_note(const struct shutscene *s, const char *part)
{
	for (int i = 0; i < PATIENCE_S * 10; i++) {
		char *text = read_note(s);
		bool there = text && strstr(text, part);

		free(text);
		if (there)
			return;
		usleep(100000);
	}
	fail_msg("the note never has %s", part);
}

static void end_by(struct shutscene *s, int sig)
{
	kill(service_pid(s->service), sig);
	assert_int_equal(service_wait(s->service), sig == SIGTERM ? 0 : 128 + sig);
	s->service = service_free(s->service);
}

/* The next boot reports that, once, and counts it. */
static void assert_reported(struct shutscene *s, const char *expected, const char *label,
			    double unclean)
{
	unsigned int n = 0;
	char *text = NULL;

	boot_anew(s);
	shutscene_start(s, "observe");
	json_decref(shutscene_await_record(s, expected));
	shutscene_await_metric(s, "graced_last_boot_end", label, 1);
	shutscene_await_metric(s, "graced_unclean_shutdowns_total", NULL, unclean);
	await_note(s, "\"previous\":{\"boot_id\":\"" OTHER);
	end_by(s, SIGKILL);
	/* What a daemon of the same boot still shows, and does not report again. */
	shutscene_start(s, "observe");
	shutscene_await_metric(s, "graced_last_boot_end", label, 1);
	shutscene_await_metric(s, "graced_unclean_shutdowns_total", NULL, unclean);
	assert_true(fd_read_all(AT_FDCWD, s->records, 1 << 20, &text) > 0);
	for (const char *at = text; (at = strstr(at, "\"type\":\"boot_end\"")); at++)
		n++;
	free(text);
	assert_int_equal(n, 1);
}

static void in_the_middle_of_nothing(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	const json_t *pod;
	struct box box;
	json_t *rec;

	shutscene_box(s, "deaf", &box);
	await_note(s, "\"namespace\":\"shop\",\"name\":\"deaf\",\"containers\":1");
	end_by(s, SIGKILL);
	assert_reported(s,
			"{'type':'boot_end','end':'unclean','reason':'not-announced',"
			"'boot_id':'" OTHER "','shutdown':null,'stopped_boot_ns':null,"
			"'pods_alive':1}",
			"end=\"unclean\"", 1);
	rec = shutscene_await_record(s, "{'type':'boot_end'}");
	pod = json_array_get(jrec_get(rec, "pods"), 0);
	assert_string_equal(jrec_text(pod, "namespace"), "shop");
	assert_string_equal(jrec_text(pod, "name"), "deaf");
	json_decref(rec);
	shutscene_await_metric(s, "graced_last_boot_alive", "kind=\"pod\"", 1);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void in_the_middle_of_a_shutdown(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	struct box box;

	shutscene_box(s, "deaf", &box);
	await_note(s, "\"name\":\"deaf\"");
	logindmock_announce(&s->mock, true, "reboot");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	await_note(s, "\"action\":\"reboot\"");
	end_by(s, SIGKILL);
	logindmock_announce(&s->mock, false, "reboot");
	assert_reported(s,
			"{'type':'boot_end','end':'unclean','reason':'in-shutdown',"
			"'shutdown':{'mode':'observe','action':'reboot','released_boot_ns':null},"
			"'pods_alive':1}",
			"end=\"unclean\"", 1);
	assert_int_equal(box_remove(&box), 0);
	shutscene_end(s);
}

static void through_a_shutdown(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	struct box box;

	shutscene_box(s, "deaf", &box);
	await_note(s, "\"name\":\"deaf\"");
	logindmock_announce(&s->mock, true, "poweroff");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'announced'}"));
	assert_int_equal(box_remove(&box), 0);
	json_decref(shutscene_await_record(s, "{'type':'stop','pod':{'name':'deaf'}}"));
	logindmock_run(&s->mock, "global inhibitors\n"
				 "inhibitors[:] = [i for i in inhibitors if i[1] != 'kubelet']");
	json_decref(shutscene_await_record(s, "{'type':'shutdown','event':'released'}"));
	end_by(s, SIGTERM);
	logindmock_announce(&s->mock, false, "poweroff");
	assert_reported(s,
			"{'type':'boot_end','end':'clean','reason':'released',"
			"'shutdown':{'action':'power-off','outcomes':{'graceful':0,'killed':1}},"
			"'pods_alive':0,'pods':[]}",
			"end=\"clean\"", 0);
	shutscene_await_metric(s, "graced_last_shutdown_containers", "outcome=\"killed\"", 1);
	assert_true(service_metric(s->service, "graced_last_shutdown_duration_seconds", NULL) > 0);
	assert_true(service_metric(s->service, "graced_last_shutdown_start_time_seconds", NULL) >
		    (double)(clock_wall_ns() / 1000000000) - 120);
	shutscene_end(s);
}

static void stopped_by_hand(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});

	end_by(s, SIGTERM);
	assert_reported(s,
			"{'type':'boot_end','end':'unknown','reason':'stopped','shutdown':null,"
			"'pods_alive':0}",
			"end=\"unknown\"", 0);
	shutscene_end(s);
}

/* --- the journal of that boot ------------------------------------------------------------------ */

#define STARTED "39f53479d3a045ac8e11786248231fbf"
#define CLOSED	"d93fb3c9c24d451a97cea615ce59c00b"
#define THIRD	"22222222222233334444555555555555"

static void add_entry(struct buf *out, const char *boot, const char *message_id, int pid,
		      const char *transport, const char *unit)
{
	static unsigned int at;

	at++;
	buf_printf(out,
		   "__REALTIME_TIMESTAMP=%u\n__MONOTONIC_TIMESTAMP=%u\n_BOOT_ID=%s\n"
		   "MESSAGE_ID=%s\n_PID=%d\n_UID=0\n_TRANSPORT=%s\nMESSAGE=m\n",
		   1700000000 + at, at, boot, message_id, pid, transport);
	if (unit)
		buf_printf(out, "UNIT=%s\n", unit);
	buf_adds(out, "\n");
}

/* PID 1 and journald, up to the last entry that an orderly end leaves; or others who write the
 * same. */
static void add_end(struct buf *out, const char *boot, int pid, const char *journald)
{
	add_entry(out, boot, STARTED, 1, "journal", "sysinit.target");
	add_entry(out, boot, STARTED, pid, "journal", "shutdown.target");
	add_entry(out, boot, STARTED, pid, "journal", "poweroff.target");
	add_entry(out, boot, CLOSED, 77, journald, NULL);
}

/* A daemon is killed, and is not started again in its boot, of which there is this journal. */
static void assert_by_journal(void **state, const char *entries, const char *expected,
			      double unclean)
{
	struct shutscene *s;

	if (journald_import_unavailable()) {
		fprintf(stderr, "skipped: %s\n", journald_import_unavailable());
		skip();
	}
	s = shutscene_begin(state, &(struct shutscene_spec){.mode = "observe"});
	await_note(s, "\"boot\":{");
	end_by(s, SIGKILL);
	boot_anew(s);
	assert_int_equal(journald_import(entries), 0);
	shutscene_start(s, "observe");
	json_decref(shutscene_await_record(s, expected));
	shutscene_await_metric(s, "graced_unclean_shutdowns_total", NULL, unclean);
	shutscene_end(s);
}

static void before_an_orderly_end(void **state)
{
	_cleanup_(buf_free) struct buf entries = {};

	add_end(&entries, OTHER_ID, 1, "driver");
	assert_by_journal(state, buf_str(&entries),
			  "{'type':'boot_end','end':'clean','reason':'went-down',"
			  "'journal':'went-down','boot_id':'" OTHER "'}",
			  0);
}

static void before_a_loss_at_the_end(void **state)
{
	_cleanup_(buf_free) struct buf entries = {};

	add_end(&entries, OTHER_ID, 1, "journal");
	assert_by_journal(state, buf_str(&entries),
			  "{'type':'boot_end','end':'unknown','reason':'going-down',"
			  "'journal':'going-down'}",
			  0);
}

static void with_forged_entries(void **state)
{
	_cleanup_(buf_free) struct buf entries = {};

	add_end(&entries, OTHER_ID, 4242, "driver");
	assert_by_journal(state, buf_str(&entries),
			  "{'type':'boot_end','end':'unclean','reason':'not-announced',"
			  "'journal':'no-end'}",
			  1);
}

static void without_entries(void **state)
{
	_cleanup_(buf_free) struct buf entries = {};

	add_end(&entries, THIRD, 1, "driver");
	assert_by_journal(state, buf_str(&entries),
			  "{'type':'boot_end','end':'unclean','reason':'not-announced',"
			  "'journal':'absent'}",
			  1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM(
			"a boot that is lost in the middle of nothing is an unclean end, with "
			"the names of its pods",
			in_the_middle_of_nothing),
		SHUTSCENE_CLAIM("a boot that is lost in a shutdown is one, too",
				in_the_middle_of_a_shutdown),
		SHUTSCENE_CLAIM("a boot that went through a shutdown is shown by the next one",
				through_a_shutdown),
		SHUTSCENE_CLAIM("of a boot in which the daemon was stopped the end is unknown",
				stopped_by_hand),
		SHUTSCENE_CLAIM("an orderly end after the daemon was killed is clean by the journal",
				before_an_orderly_end),
		SHUTSCENE_CLAIM("one that the journal does not have to its end is unknown",
				before_a_loss_at_the_end),
		SHUTSCENE_CLAIM("entries that others than PID 1 wrote do not make it clean",
				with_forged_entries),
		SHUTSCENE_CLAIM("nor do those of another boot", without_entries),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
