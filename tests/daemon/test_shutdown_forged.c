// SPDX-License-Identifier: Apache-2.0
/*
 * Claims about the daemon in a node's shutdown beside a user of the host who forges a pod with the
 * uid of a real one: logind is python-dbusmock's on a bus of the test's own, the rest is real.
 */
#include <signal.h>
#include <stdio.h>
#include <string.h>

#include "lib/box/forger.h"
#include "lib/box/send.h"
#include "lib/claim.h"
#include "lib/jrec.h"
#include "lib/shutdown/shutscene.h"

#define OTHER_ID "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff"

static void assert_no_record(const struct shutscene *s, const char *what, const char *expected)
{
	json_t *rec = shutscene_find(s, expected);

	if (!rec)
		return;
	json_decref(rec);
	fail_msg("%s", what);
}

/* The forged pod ends at once, the real one when it is overdue: until then the lock is held. */
static void shut_down(struct shutscene *s, struct box *real, struct forger *forger)
{
	char killed[256], ended[128];
	json_t *end, *released;
	struct sent sent;

	logindmock_announce(&s->mock, true, "power-off");
	json_decref(shutscene_await_record(
		s, "{'type':'shutdown','event':'announced','lock_held':true}"));
	assert_int_equal(kill(forger->pid, SIGTERM), 0);
	assert_int_equal(forger_end(forger), 0);
	assert_int_equal(send_signal(&s->tree, SEND_RUNTIME, NULL, real->init_pid, SIGTERM, &sent),
			 0);
	snprintf(killed, sizeof(killed),
		 "{'type':'shutdown','event':'container-killed','container':{'id':'%s'},"
		 "'pod':{'name':'deaf'}}",
		 real->id);
	end = shutscene_await_record(s, killed);
	released = shutscene_await_record(s, "{'type':'shutdown','event':'released'}");
	if (jrec_int(released, "boot_ns", 0) < jrec_int(end, "boot_ns", INT64_MAX))
		fail_msg("the lock went before the real container was killed");
	json_decref(released);
	json_decref(end);
	assert_no_record(s, "the forged container was reported",
			 "{'container':{'id':'" OTHER_ID "'}}");
	snprintf(ended, sizeof(ended), "{'type':'pod','state':'finished','pod':{'uid':'%s'}}",
		 real->uid);
	assert_no_record(s, "the real pod was reported to have ended", ended);
	assert_int_equal(box_remove(real), 0);
	shutscene_end(s);
}

static void forged_while_it_runs(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist",
									      .whole_host = true});
	struct forger forger;
	struct box real;

	shutscene_box(s, "deaf", &real);
	assert_int_equal(forger_start(&s->tree, real.uid, OTHER_ID, &forger), 0);
	shut_down(s, &real, &forger);
}

/* The scan that a daemon begins with finds both. */
static void forged_before_it_ran(void **state)
{
	struct shutscene *s = shutscene_begin(state, &(struct shutscene_spec){.mode = "assist",
									      .whole_host = true});
	struct forger forger;
	struct box real;

	shutscene_box(s, "deaf", &real);
	assert_int_equal(service_stop(s->service), 0);
	s->service = service_free(s->service);
	assert_int_equal(forger_start(&s->tree, real.uid, OTHER_ID, &forger), 0);
	shutscene_start(s, "assist");
	shutscene_await_locks(s, 2);
	shut_down(s, &real, &forger);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		SHUTSCENE_CLAIM("a pod that a user forges ends, and the lock waits for the real one",
				forged_while_it_runs),
		SHUTSCENE_CLAIM("... also when both were there before the daemon",
				forged_before_it_ran),
	};

	return cmocka_run_group_tests(tests, shutscene_open, shutscene_close);
}
