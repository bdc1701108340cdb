// SPDX-License-Identifier: Apache-2.0
/* The words for each reason and warning of an audit. */
#include "core/stop/advice.h"

#include <stddef.h>
#include <string.h>

#include "base/signame.h"
#include "base/utf8.h"

#define WARNING(w) (AUDIT_REASON_COUNT + (w))

/*
 * In why and in_short, @ stands for the init ("sh (pid 4242)"), & for the process that would have
 * to get the signal, ~ and ^ for their pids alone, $ for the signal. Of a warning about a pair, &
 * is the app and % the other one; # is the time after which that kills it.
 */
struct topic {
	const char *why;
	const char *remedy;
	const char *in_short; /* for a column; NULL: nothing to do */
};

static const struct topic topics[ADVICE_TOPICS] = {
	[AUDIT_HANDLER] =
		{"@ has a handler for $",
		 "Nothing, if its stops end in time. If they do not (graced trace shows it), the "
		 "handler has to end the program within the grace period.",
		 NULL},
	[AUDIT_WAITER] =
		{"a thread of @ waits for $",
		 "Nothing, if its stops end in time. If they do not (graced trace shows it), that "
		 "thread has to end the program within the grace period.",
		 NULL},
	[AUDIT_SIGNALFD] =
		{"@ has a signalfd open that receives $",
		 "Nothing, if its stops end in time. If they do not (graced trace shows it), the "
		 "program does not read its signalfd, or does not end within the grace period.",
		 NULL},
	[AUDIT_DEFAULT] =
		{"$ ends @ at once, as no handler for it runs",
		 "Nothing, unless the process itself has something to finish or to store: then have it "
		 "handle the signal. SIGKILL cannot be handled.",
		 NULL},
	[AUDIT_SIG_IGN] =
		{"@ ignores $ (SIG_IGN), which a program also inherits from what starts it",
		 "Remove what ignores the signal (nohup, trap '' TERM, SIG_IGN), or have the program "
		 "handle it, or name a signal that ends the program by STOPSIGNAL.",
		 "handle it, or set another STOPSIGNAL"},
	[AUDIT_SHIELD] =
		{"@ has no handler for $, and the kernel spares PID 1 of a pid namespace the default "
		 "action",
		 "Have the program handle the signal. Where neither it nor a child of it has anything to "
		 "finish, an init in front is enough: tini in the image, or outside Kubernetes docker run "
		 "--init, init: true in compose.",
		 "handle it, or run it under tini (init)"},
	[AUDIT_SHELL] =
		{"@ is PID 1 and passes nothing on: & never gets $",
		 "Replace the shell by the app: exec in the script's last line (exec \"$@\"), or CMD "
		 "and ENTRYPOINT in exec form ([\"app\", \"argument\"]). As PID 1 it needs a handler, or an "
		 "init in front of it. An init before the shell (--init, tini) ends the container at once, "
		 "but the app by SIGKILL.",
		 "exec the app: pid ^ never gets $"},
	[AUDIT_BLOCKED] =
		{"every thread of @ blocks $ and none waits for it, so that it stays pending",
		 "Unblock the signal where it is handled, or have a thread wait for it (sigwait). A "
		 "mask of blocked signals is inherited by what a process starts.",
		 "wait for it, or unblock it"},
	[AUDIT_SUSPENDS] = {"$ only suspends processes; @ would not end",
			    "Name a signal that ends the program by STOPSIGNAL, such as SIGTERM.",
			    "set another STOPSIGNAL"},
	[AUDIT_ACCESS] =
		{"this user may not look into @",
		 "Run graced as root with all capabilities, in the pid namespace of the host, "
		 "and where no security module (AppArmor, SELinux) denies it.",
		 "look again with all rights of root"},
	[AUDIT_THREADS] =
		{"some threads of @ block $ or wait for it and others do not, and which of them gets "
		 "it is not known",
		 "Block the signal in every thread, before the first is started, and wait for it in "
		 "one of them (sigwait); or handle it.",
		 "block it in every thread"},
	[AUDIT_DEFAULT_IGNORE] =
		{"@ has no handler for $, whose default is to do nothing",
		 "Have the program handle the signal, or name one that ends the program by STOPSIGNAL, "
		 "such as SIGTERM.",
		 "handle it, or set another STOPSIGNAL"},
	[AUDIT_STARTING] =
		{"the program of @ has not begun: a runtime's stage, or an exec, is under way",
		 "Look again when it has started; --watch does.", "look again when it has started"},
	[AUDIT_BUSY] =
		{"every thread of @ blocks $ or is about to wake, one of them perhaps only for a time",
		 "Look again when it is idle; --watch does. A program that takes it at times (ppoll, "
		 "sigtimedwait) hears it then; one that never does is to unblock it.",
		 "look again, or unblock it"},
	[AUDIT_TERMINAL] =
		{"@ is a shell without a script, and ignores $: it is a terminal session",
		 "Nothing, if a person works in it: they end it by exit. If it was to run an app, name "
		 "the app as the command. SIGHUP ends such a shell: docker run --stop-signal HUP.",
		 "a terminal session: end it by exit, or SIGHUP"},
	[AUDIT_PLACEHOLDER] =
		{"@ is not the application: & is, and never gets $",
		 "Run the application in the foreground as PID 1 (CMD [\"app\"], with its log on standard "
		 "output). An init in front (--init, tini) does not help here: it ends the container at "
		 "once, and the application by SIGKILL.",
		 "run the app itself as PID 1"},
	[WARNING(AUDIT_STOPPED)] =
		{"@ is stopped by a signal or a debugger, and acts on $ only when it is continued",
		 "Continue it (kill -CONT PID), or detach the debugger.",
		 "it is stopped: kill -CONT ~"},
	[WARNING(AUDIT_FROZEN)] =
		{"the cgroup of @ is frozen, and it acts on $ only when it is thawed",
		 "Thaw it (docker unpause, podman unpause, or 0 into the cgroup's cgroup.freeze).",
		 "it is frozen: hears once thawed"},
	/* A bash with any trap catches each signal: masks do not show which of the two it is. */
	[WARNING(AUDIT_SHELL_WAITS)] =
		{"@ does not pass $ on to &, unless that is a Node program in the background: its trap "
		 "runs only after the app has ended; a bash with traps for other signals alone ends at "
		 "once, and the app by SIGKILL",
		 "Start the app with & and wait for it: app & pid=$!; trap 'kill \"$pid\"; wait \"$pid\"' "
		 "TERM; wait \"$pid\". Or exec the app, which then gets the signal itself.",
		 "pid ^ may not get $: exec it, or trap and wait"},
	[WARNING(AUDIT_CHILD_UNSIGNALLED)] =
		{"$ ends @ at once, and & gets only the SIGKILL that follows",
		 "Replace the shell by the app: exec in the script's last line (exec \"$@\"), or CMD "
		 "and ENTRYPOINT in exec form ([\"app\", \"argument\"]).",
		 "exec the app: pid ^ never gets $"},
	[WARNING(AUDIT_PENDING)] =
		{"$ was sent to @ before, and no thread has taken it",
		 "Nothing, if it takes the signal soon. If it does not, see what holds its threads up, "
		 "by a debugger or in /proc/PID/stack.",
		 "it was sent before: what holds pid ~ up?"},
	[WARNING(AUDIT_CHILD_IGNORES)] =
		{"@ passes $ on to &, which ignores it",
		 "Have the child handle the signal, or remove what ignores it (nohup, trap '' TERM, "
		 "SIG_IGN), or name a signal that ends it by STOPSIGNAL.",
		 "pid ^ ignores it: handle it there"},
	[WARNING(AUDIT_RERAISES)] =
		{"@ has a handler for $, which may be Node's own: that one raises the signal again "
		 "with the default action, which the kernel spares PID 1 of a pid namespace",
		 "Nothing, if the app has a handler (process.on('SIGTERM', ...)). If it has none, add "
		 "one, or start it behind an init that passes signals on: tini in the image, or outside "
		 "Kubernetes docker run --init, init: true in compose.",
		 "does the app handle it? Node does not"},
	[WARNING(AUDIT_GUESSED)] =
		{"the container has no pid namespace of its own: @, its oldest process, was taken for "
		 "the one that the runtime signals",
		 "Compare its pid with the runtime's: docker inspect -f '{{.State.Pid}}', or crictl "
		 "inspect. graced audit --pid examines another one.",
		 "which process is its init was guessed"},
	[WARNING(AUDIT_SHELL_BETWEEN)] =
		{"% passes $ on to nobody, and & gets only the SIGKILL that ends the container",
		 "Replace the shell by the app: exec in the script's last line (exec \"$@\"), or in the "
		 "command (sh -c 'exec app', su -s /bin/sh USER -c 'exec app'). A signal to the whole "
		 "group (tini -g, dumb-init) does not help: the container still ends with the shell.",
		 "exec the app: pid ^ never gets $"},
	[WARNING(AUDIT_SCRIPT_SHELL)] =
		{"% is the shell of a script of package.json: it passes $ on to nobody, and & gets only "
		 "the SIGKILL that ends the container",
		 "Start the app itself, CMD [\"node\", \"server.js\"], behind an init (tini, --init) if it "
		 "has no handler. With npm or pnpm it also helps to replace the shell: \"start\": \"exec "
		 "node server.js\"; yarn 1 does not wait for the app even then.",
		 "start the app itself: pid ^ never gets $"},
	[WARNING(AUDIT_KEEPER_BETWEEN)] =
		{"% is not the application and ends at once; & is, and gets only the SIGKILL that ends the "
		 "container",
		 "Run the application in the foreground in place of tail, sleep or cat, with its log on "
		 "standard output: ENTRYPOINT [\"tini\", \"--\"] and CMD [\"app\"]. A signal to the whole "
		 "group (tini -g, dumb-init) does not help: the container still ends at once.",
		 "run the app itself: pid ^ never gets $"},
	[WARNING(AUDIT_SERVICES_CUT)] =
		{"% ends at once and stops none of its services: & gets only SIGKILL",
		 "Have a script stop the services first: trap 'sv -w 8 force-stop /etc/service/*; exit' "
		 "TERM; runsvdir -P /etc/service & wait $!. STOPSIGNAL SIGHUP does not help: runsvdir asks "
		 "them then, and does not wait.",
		 "stop services first: pid ^ never gets $"},
	[WARNING(AUDIT_PROCESS_CUT)] =
		{"% passes $ on to nobody, and & gets only the SIGKILL that ends the container",
		 "Have the process that starts it pass the signal on and wait for it, or run each in a "
		 "container of its own.",
		 "pid ^ never gets $"},
	[WARNING(AUDIT_NOT_AWAITED)] =
		{"& gets $, but the container ends as soon as % has, and & with it by SIGKILL",
		 "Have what the container waits for be the app: exec it in the script's last line (exec "
		 "\"$@\"), or name it as the command, in place of yarn, too.",
		 "exec the app: pid ^ is not waited for"},
	[WARNING(AUDIT_KILLED_SOON)] =
		{"% asks & to end, and kills it within #, whatever the grace period",
		 "In place of su, runuser or timeout -k start the app by what it replaces: USER in the "
		 "Dockerfile, runAsUser, gosu, su-exec or setpriv --reuid. Have pm2 wait for "
		 "somewhat less than the grace period: ENV PM2_KILL_TIMEOUT=9000.",
		 "pid ^ is killed within #"},
};

/* The first of these that a record has is its most important warning. */
static const enum audit_warning by_weight[] = {
	AUDIT_FROZEN,	     AUDIT_STOPPED,	 AUDIT_SHELL_WAITS,   AUDIT_CHILD_UNSIGNALLED,
	AUDIT_CHILD_IGNORES, AUDIT_SCRIPT_SHELL, AUDIT_SHELL_BETWEEN, AUDIT_KEEPER_BETWEEN,
	AUDIT_SERVICES_CUT,  AUDIT_PROCESS_CUT,	 AUDIT_NOT_AWAITED,   AUDIT_KILLED_SOON,
	AUDIT_RERAISES,	     AUDIT_PENDING,	 AUDIT_GUESSED,
};

static const struct audit_pair *pair_of(unsigned int topic, const struct audit_record *r)
{
	return topic >= WARNING(AUDIT_PAIR_FIRST) && topic < ADVICE_TOPICS
		       ? r->pairs + (topic - WARNING(AUDIT_PAIR_FIRST))
		       : NULL;
}

bool advice_applies(unsigned int topic, const struct audit_record *r)
{
	if (topic < AUDIT_REASON_COUNT)
		return r->audit.reason == topic;
	return topic < ADVICE_TOPICS && r->audit.warnings >> (topic - AUDIT_REASON_COUNT) & 1;
}

bool advice_is_trouble(unsigned int topic)
{
	return topic != AUDIT_HANDLER && topic != AUDIT_WAITER && topic != AUDIT_SIGNALFD &&
	       topic < ADVICE_TOPICS;
}

const char *advice_name(unsigned int topic)
{
	return topic < AUDIT_REASON_COUNT ? audit_reason_name(topic)
					  : audit_warning_name(topic - AUDIT_REASON_COUNT);
}

/* inside: as its container sees it. */
static void add_process(struct buf *out, bool known, const struct record_process *p,
			const char *otherwise, bool inside)
{
	if (!known) {
		buf_adds(out, otherwise);
		return;
	}
	if (p->comm)
		utf8_add_readable(out, p->comm);
	if (inside)
		buf_printf(out, "[%u]", p->ns_pid);
	else
		buf_printf(out, "%s(pid %u)", p->comm ? " " : "", p->pid);
}

static void add_delay(struct buf *out, const struct audit_pair *pair)
{
	uint64_t tenths = (pair->after_ns + 50000000) / 100000000;

	buf_add_u64(out, tenths / 10);
	if (tenths % 10)
		buf_printf(out, ".%u", (unsigned int)(tenths % 10));
	buf_adds(out, " s");
	buf_adds(out, pair->assumed ? " (its default)" : "");
}

static void expand(struct buf *out, unsigned int topic, const char *text,
		   const struct audit_record *r, bool inside)
{
	const struct audit_pair *pair = pair_of(topic, r);
	const struct record_process *app = pair ? &pair->app : &r->app;
	bool has_app = pair ? app->pid : r->has_app;
	char name[SIGNAME_SIZE];

	for (; *text; text++)
		switch (*text) {
		case '@':
			add_process(out, r->seen, &r->process, "its init", inside);
			break;
		case '&':
			add_process(out, has_app, app, "its child", inside);
			break;
		case '~':
			buf_printf(out, "%u", r->process.pid);
			break;
		case '^':
			buf_printf(out, "%u", app->pid);
			break;
		case '%':
			add_process(out, pair && pair->by.pid, pair ? &pair->by : NULL,
				    "its parent", inside);
			break;
		case '#':
			if (pair)
				add_delay(out, pair);
			break;
		case '$':
			buf_adds(out, signame_format(r->facts.signal, name));
			break;
		default:
			buf_addc(out, *text);
		}
}

static void add_why(struct buf *out, unsigned int topic, const struct audit_record *r, bool inside)
{
	if (topic == AUDIT_ACCESS && !r->seen)
		buf_adds(out, "none of its processes can be seen from here");
	else if (topic == AUDIT_PLACEHOLDER && !r->has_app)
		expand(out, topic,
		       "@ is not the application and passes nothing on; which of the container's "
		       "other processes is, is not known",
		       r, inside);
	else if (topic < ADVICE_TOPICS)
		expand(out, topic, topics[topic].why, r, inside);
}

void advice_add_why(struct buf *out, unsigned int topic, const struct audit_record *r)
{
	add_why(out, topic, r, false);
}

void advice_add_story(struct buf *out, unsigned int topic, const struct audit_record *r)
{
	add_why(out, topic, r, true);
}

const char *advice_remedy(unsigned int topic)
{
	return topic < ADVICE_TOPICS ? topics[topic].remedy : NULL;
}

const char *advice_in_words(unsigned int topic)
{
	static const char *const words[ADVICE_TOPICS] = {
		[AUDIT_SIG_IGN] = "ignores the signal",
		[AUDIT_TERMINAL] = "is a terminal session",
		[AUDIT_SHIELD] = "PID 1 without a handler",
		[AUDIT_PLACEHOLDER] = "PID 1 is not the app",
		[AUDIT_SHELL] = "a shell passes nothing on",
		[AUDIT_BLOCKED] = "blocks it in every thread",
		[AUDIT_SUSPENDS] = "the signal only suspends",
		[AUDIT_DEFAULT_IGNORE] = "has no handler for it",
		[WARNING(AUDIT_STOPPED)] = "is stopped or frozen",
		[WARNING(AUDIT_SHELL_WAITS)] = "trap waits for the app",
		[WARNING(AUDIT_CHILD_IGNORES)] = "its child ignores it",
		[WARNING(AUDIT_RERAISES)] = "raises it again, in vain",
	};

	return topic < ADVICE_TOPICS ? words[topic] : NULL;
}

bool advice_find_deafness(const struct audit *audit, unsigned int *ret_topic)
{
	if (audit_is_deaf(audit))
		*ret_topic = audit->reason;
	else if (audit->warnings >> AUDIT_SHELL_WAITS & 1)
		*ret_topic = WARNING(AUDIT_SHELL_WAITS);
	else if (audit->warnings >> AUDIT_CHILD_IGNORES & 1)
		*ret_topic = WARNING(AUDIT_CHILD_IGNORES);
	else
		return false;
	return true;
}

unsigned int advice_of_unheard(enum unheard reason)
{
	static const unsigned int of[UNHEARD_COUNT] = {
		[UNHEARD_NONE] = ADVICE_TOPICS,
		[UNHEARD_NO_HANDLER] = AUDIT_SHIELD,
		[UNHEARD_IGNORED] = AUDIT_SIG_IGN,
		[UNHEARD_BLOCKED] = AUDIT_BLOCKED,
		[UNHEARD_STOPPED] = WARNING(AUDIT_STOPPED),
		[UNHEARD_DEFAULT_IGNORE] = AUDIT_DEFAULT_IGNORE,
		[UNHEARD_SUSPENDS] = AUDIT_SUSPENDS,
		[UNHEARD_SHELL] = AUDIT_SHELL,
		[UNHEARD_TRAP] = WARNING(AUDIT_SHELL_WAITS),
		[UNHEARD_CHILD_IGNORED] = WARNING(AUDIT_CHILD_IGNORES),
		[UNHEARD_RERAISED] = WARNING(AUDIT_RERAISES),
		[UNHEARD_BEFORE_EXEC] = ADVICE_TOPICS,
		[UNHEARD_BEFORE_HANDLER] = ADVICE_TOPICS,
	};

	return (unsigned int)reason < UNHEARD_COUNT ? of[reason] : ADVICE_TOPICS;
}

unsigned int advice_warning(const struct audit_record *r)
{
	for (size_t i = 0; i < sizeof(by_weight) / sizeof(*by_weight); i++)
		if (advice_applies(WARNING(by_weight[i]), r))
			return WARNING(by_weight[i]);
	return ADVICE_TOPICS;
}

void advice_add_short(struct buf *out, const struct audit_record *r)
{
	unsigned int topic = r->audit.reason;

	for (size_t i = 0; !topics[topic].in_short && i < sizeof(by_weight) / sizeof(*by_weight);
	     i++)
		if (advice_applies(WARNING(by_weight[i]), r))
			topic = WARNING(by_weight[i]);
	if (r->audit.reason == AUDIT_ACCESS && !r->seen)
		buf_adds(out, "look again from the host's namespace");
	else if (topics[topic].in_short)
		expand(out, topic, topics[topic].in_short, r, false);
}
