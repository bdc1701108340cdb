/* SPDX-License-Identifier: Apache-2.0 */
/*
 * logind on a bus of its own: a real dbus-daemon on a socket in a directory of the test's, and
 * python-dbusmock's logind, which makes real locks and lists them with their takers' uid and pid.
 * What it does is changed by Python that runs in it; what it is asked stands in its log.
 */
#ifndef TESTS_LIB_SHUTDOWN_LOGINDMOCK_H
#define TESTS_LIB_SHUTDOWN_LOGINDMOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

struct logindmock {
	char dir[40];	    /* the test's, removed with all in it */
	char address[80];   /* unix:path=… */
	pid_t bus, logind;  /* 0: not running */
	sd_bus *ctl;	    /* the test's own connection; NULL with no bus */
	unsigned int n_log; /* one log for each logind that was started */
};

/* Whether what it takes is installed. */
bool logindmock_is_here(void);

/* Makes the directory; nothing runs yet. */
void logindmock_begin(struct logindmock *m);
void logindmock_end(struct logindmock *m);

void logindmock_start_bus(struct logindmock *m);
/* As it ends when it crashes: without a word, and everybody on it goes with it. */
void logindmock_kill_bus(struct logindmock *m);
/* With InhibitDelayMaxUSec at 5 s. Returns once it is on the bus. */
void logindmock_start(struct logindmock *m);
void logindmock_kill(struct logindmock *m);
/* It answers nothing until it goes on. */
void logindmock_pause(struct logindmock *m);
void logindmock_go_on(struct logindmock *m);

/* Runs Python in logind: self is the object, Manager its interface. The value of ret as text, valid
 * until the next call; "" for none. */
const char *logindmock_run(struct logindmock *m, const char *python);
/* The signal, as logind emits it; args are Python: "True", "". */
void logindmock_emit(struct logindmock *m, const char *member, const char *signature,
		     const char *args);
/* Both signals, as systemd 255 emits them. */
void logindmock_announce(struct logindmock *m, bool begins, const char *action);
void logindmock_set_limit(struct logindmock *m, uint64_t us);
void logindmock_set_preparing(struct logindmock *m, bool preparing);
/* Inhibit fails with that error of logind's, or of D-Bus's; NULL: no more. */
void logindmock_refuse(struct logindmock *m, const char *error);

/*
 * Puts systemd on the bus, too: requested to send SIGHUP to logind, it has the mock take the limit
 * from the files below root, as far as they are files of a drop-in directory with a whole number in
 * them.
 */
void logindmock_add_systemd(struct logindmock *m, const char *root);

/* Or a systemd whose units all run, and are stopped when they are to be. */
void logindmock_add_units(struct logindmock *m);

/* Or a systemd that starts the unit of whoever asks; held: the kubelet's waits for that, else it
 * runs. */
void logindmock_add_start(struct logindmock *m, bool held);

/* Locks that somebody holds now. */
unsigned int logindmock_locks(struct logindmock *m);
/* Lines of the log of the logind that runs (or ran last) with that text in them. */
unsigned int logindmock_logged(struct logindmock *m, const char *text);
/* Where text is in that log first; -1: nowhere. */
long logindmock_logged_at(struct logindmock *m, const char *text);

#endif
