// SPDX-License-Identifier: Apache-2.0
// The rows of core/tree/wrapper against the programs themselves: each is the init of a container,
// audited, stopped, and what becomes of each process is held against the audit. The programs are
// the distribution's, unpacked and not installed (tools/runtimes wrappers); those of npm's registry
// are tried where this host has node.
#include "lib/box/peek.h"
#include "lib/claim.h"
#include "lib/kernel/audited.h"
#include "lib/kernel/fates.h"
#include "lib/patience.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#define PACKAGES_TOOL "tools/runtimes wrappers"

struct wrapped {
	const char *script; /* makes what the program needs, and execs it */
	const char *fates;
	int signal;	   /* 0: SIGTERM */
	unsigned int ends; /* at most so many seconds are waited for its end; 0: it ends */
	const char *needs; /* a program of this host; NULL: none */
	bool ready;	   /* the application makes /tmp/ready when it has its handlers */
};

static char packages[HIER_PATH_MAX];
static const struct box_tree *tree;
static const struct wrapped *played;

/* --- the container: this host's files with the packages' over them, all of its own --- */

static void need(bool done)
{
	if (!done)
		_exit(120);
}

static void lay_over(const char *name)
{
	char options[2 * HIER_PATH_MAX], upper[64], work[64];

	snprintf(upper, sizeof(upper), "/mnt/u%s", name + 1);
	snprintf(work, sizeof(work), "/mnt/w%s", name + 1);
	snprintf(options, sizeof(options), "lowerdir=%s%s:%s,upperdir=%s,workdir=%s", packages,
		 name, name, upper, work);
	need(mkdir(upper, 0755) == 0 && mkdir(work, 0755) == 0 &&
	     mount("overlay", name, "overlay", 0, options) == 0);
}

static void enter(void)
{
	need(unshare(CLONE_NEWNS) == 0 && mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0 &&
	     mount("tmpfs", "/mnt", "tmpfs", 0, "mode=755") == 0);
	lay_over("/usr");
	lay_over("/etc");
	lay_over("/var");
	need(mkdir("/mnt/app", 0755) == 0 && mkdir("/mnt/node", 0755) == 0 &&
	     mount(tree->helpers, "/mnt/app", NULL, MS_BIND, NULL) == 0 &&
	     mount("tmpfs", "/tmp", "tmpfs", 0, "mode=1777") == 0 &&
	     mount("tmpfs", "/run", "tmpfs", 0, "mode=755") == 0 &&
	     mount("proc", "/proc", "proc", 0, NULL) == 0);
}

/* A runtime makes the init a session of its own: what signals "its group" must not reach ours. */
static void run(struct page *page)
{
	char *env[] = {"PATH=/mnt/app:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin:"
		       "/usr/lib/graced-node/node_modules/.bin:/usr/lib/postgresql/15/bin",
		       "HOME=/tmp", "LC_ALL=C", "PM2_HOME=/tmp/pm2", NULL};
	int null = open("/dev/null", O_RDWR);

	need(setsid() >= 0);
	enter();
	need(chdir("/tmp") == 0 && dup2(null, 0) == 0 &&
	     (getenv("V") || (dup2(null, 1) == 1 && dup2(null, 2) == 2)));
	execve("/bin/sh", (char *[]){"sh", "-c", (char *)played->script, NULL}, env);
	_exit(127);
}

/* --- a play --- */

static bool is_ready(const struct wrapped *w, const struct box *box)
{
	char path[64];

	snprintf(path, sizeof(path), "/proc/%u/root/tmp/ready", (unsigned int)box->init_pid);
	return !w->ready || access(path, F_OK) == 0;
}

static json_t *await_audit(const struct wrapped *w, struct box *box)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS / 4;
	char fates[512] = "";
	json_t *rec = NULL;
	bool ready;
	char *text;

	do {
		struct pollfd end = {.fd = box->proc.pidfd, .events = POLLIN};

		json_decref(rec);
		ready = is_ready(w, box);
		if (poll(&end, 1, 100) == 1)
			fail_msg("%s: it ended too early", w->script);
		rec = audited_any_by(box, w->signal);
		if (rec)
			fates_of(rec, fates, sizeof(fates));
	} while ((!ready || strcmp(fates, w->fates) != 0) && page_clock_ns() < until);
	if (ready && !strcmp(fates, w->fates))
		return rec;
	text = rec ? json_dumps(rec, JSON_INDENT(1)) : NULL;
	fprintf(stderr, "%s\n", text ? text : "no audit");
	fail_msg("%s: %s, not %s", w->script, fates, w->fates);
	return NULL;
}

static void play(void **state, const struct wrapped *rows, size_t n)
{
	struct fixture *f = judge_need(state);

	for (size_t i = 0; i < n; i++) {
		const struct wrapped *w = rows + i;
		struct box box;
		json_t *rec;

		if (w->needs && access(w->needs, X_OK) < 0) {
			fprintf(stderr, "SKIP there is no %s\n", w->needs);
			continue;
		}
		print_message("%s\n", w->script);
		played = w;
		tree = &f->tree;
		judge_start(f, &(struct box_spec){.run = run, .no_wait = true}, &box);
		rec = await_audit(w, &box);
		fates_check(rec, &box, w->ends);
		json_decref(rec);
		assert_int_equal(box_remove(&box), 0);
	}
}

static void inits_of_containers(void **state)
{
	static const struct wrapped rows[] = {
		{"exec tini -- leaf", .fates = "receives receives"},
		{"exec tini -- sh -c 'leaf; true'", .fates = "receives receives cut"},
		{"exec tini -g -- sh -c 'leaf; true'", .fates = "receives receives receives"},
		{"export TINI_KILL_PROCESS_GROUP=1; exec tini -- sh -c 'leaf; true'",
		 .fates = "receives receives receives"},
		{"exec tini leaf -g", .fates = "receives receives"},
		{"exec tini -- sh -c 'leaf & exec tail -f /dev/null'",
		 .fates = "receives receives cut"},
		{"exec tini -- sh -c 'setsid leaf & exec leaf'",
		 .fates = "receives receives unknown"},
		{"exec tini -- sh -c '(setsid leaf &); exec leaf'",
		 .fates = "receives receives cut"},
		{"exec tini -- leaf ignore", .fates = "receives ignores", .ends = 1},
		{"exec dumb-init leaf", .fates = "receives receives"},
		{"exec dumb-init sh -c 'leaf; true'", .fates = "receives receives receives"},
		{"exec dumb-init -c sh -c 'leaf; true'", .fates = "receives receives cut"},
		{"export DUMB_INIT_SETSID=0; exec dumb-init sh -c 'leaf; true'",
		 .fates = "receives receives cut"},
		{"exec dumb-init -r 15:3 leaf", .fates = "receives receives"},
		{"exec tini -- unshare -pf leaf", .fates = "receives ignores cut", .ends = 1},
		{"exec tini -- unshare -pf --kill-child leaf", .fates = "receives ignores cut",
		 .ends = 1},
		{"exec catatonit -- leaf", .fates = "receives receives"},
		{"exec catatonit -- sh -c 'leaf; true'", .fates = "receives receives cut"},
	};

	play(state, rows, LEN(rows));
}

static void those_that_run_another_program(void **state)
{
	static const struct wrapped rows[] = {
		{"exec su nobody -s /bin/sh -c 'exec leaf stay'", .fates = "receives receives"},
		{"exec su nobody -s /bin/sh -c 'leaf; true'", .fates = "receives receives unknown"},
		{"exec runuser -u nobody -- leaf stay", .fates = "receives receives"},
		{"exec tini -- runuser nobody -s /bin/sh -c 'leaf; true'",
		 .fates = "receives receives receives cut"},
		{"chmod 440 /etc/sudoers; exec sudo /mnt/app/leaf", .fates = "receives receives"},
		{"exec gosu nobody leaf", .fates = "receives"},
		{"exec setpriv --reuid 65534 leaf", .fates = "receives"},
		{"exec timeout 100 sh -c 'leaf; true'", .fates = "receives receives receives"},
		{"exec timeout -k 1 100 leaf stay", .fates = "receives receives"},
		{"exec timeout --foreground 100 sh -c 'leaf; true'",
		 .fates = "receives receives cut"},
	};

	play(state, rows, LEN(rows));
}

#define SERVICES                                                         \
	"mkdir -p s/a s/b; printf '#!/bin/sh\\nexec leaf\\n' >s/a/run; " \
	"printf '#!/bin/sh\\nexec leaf die\\n' >s/b/run; chmod +x s/*/run; "

static void supervisors(void **state)
{
	static const struct wrapped rows[] = {
		{SERVICES "exec s6-svscan s",
		 .fates = "receives receives receives receives receives"},
		{SERVICES "exec runsvdir s", .fates = "receives cut cut cut cut"},
		/* It is gone, and all with it, before each runsv has passed it on. */
		{SERVICES "exec runsvdir s", .fates = "receives receives unknown receives unknown",
		 .signal = SIGHUP},
		{SERVICES "exec tini runsvdir -- -P s",
		 .fates = "receives receives cut cut cut cut"},
		{"printf '[supervisord]\\nnodaemon=true\\nlogfile=/dev/null\\nlogfile_maxbytes=0\\n"
		 "pidfile=p\\n[program:a]\\ncommand=leaf\\n[program:b]\\ncommand=sh -c \"leaf; true\"\\n'"
		 " >c; exec supervisord -c c",
		 .fates = "receives receives receives unknown"},
	};

	play(state, rows, LEN(rows));
}

#define NODE "/usr/bin/node"
#define PACKAGE                                                                          \
	"printf '{\"name\":\"a\",\"scripts\":{\"one\":\"leaf\",\"two\":\"exec leaf\"}}'" \
	" >package.json; "
#define SCRIPT(take)                                                                   \
	"printf 'process.on(\"SIGTERM\",()=>" take ");process.on(\"SIGINT\",()=>" take \
	");setInterval(()=>{},1000);require(\"fs\").writeFileSync(\"/tmp/ready\",\"\")' >app.js; "

static void those_of_node(void **state)
{
	static const struct wrapped rows[] = {
		{PACKAGE "exec npm run one", .fates = "receives receives cut", .needs = NODE},
		{PACKAGE "exec npm run two", .fates = "receives receives", .needs = NODE},
		{PACKAGE "exec tini npm run two", .fates = "receives receives receives",
		 .needs = NODE},
		{PACKAGE "exec yarn run one", .fates = "receives receives cut", .needs = NODE},
		{PACKAGE "exec yarn run two", .fates = "receives receives", .needs = NODE},
		{PACKAGE "exec pnpm run one", .fates = "receives receives unknown", .needs = NODE},
		{PACKAGE "exec pnpm run two", .fates = "receives receives", .needs = NODE},
		{SCRIPT("0") "exec pm2-runtime app.js", .fates = "receives receives", .needs = NODE,
		 .ready = true},
		{"export PM2_KILL_TIMEOUT=9000; " SCRIPT(
			 "setTimeout(process.exit,2000)") "exec pm2-runtime app.js",
		 .fates = "receives receives", .needs = NODE, .ready = true},
		{SCRIPT("process.exit()") "exec nodemon app.js", .fates = "receives receives",
		 .needs = NODE, .ready = true},
	};

	play(state, rows, LEN(rows));
}

#define APACHE                                                                                      \
	"mkdir -p /run/apache2; printf 'ServerName x\\nServerRoot /tmp\\nPidFile /tmp/p\\n"         \
	"Listen 127.0.0.1:18996\\nLoadModule mpm_X_module /usr/lib/apache2/modules/mod_mpm_X.so\\n" \
	"LoadModule authz_core_module /usr/lib/apache2/modules/mod_authz_core.so\\nUser nobody\\n"  \
	"Group nogroup\\nErrorLog /dev/null\\nStartServers 2\\nMinSpareServers 2\\n'"
#define POSTGRES                                                                                      \
	"grep -q ^postgres: /etc/passwd || echo postgres:x:65000:65000::/tmp:/bin/sh >>/etc/passwd; " \
	"mkdir d; chown postgres d; as='setpriv --reuid postgres --clear-groups --regid 65000'; "     \
	"$as /usr/lib/postgresql/15/bin/initdb -N -D d >/dev/null; "                                  \
	"exec $as /usr/lib/postgresql/15/bin/postgres -D d -k /tmp -c listen_addresses="
#define WSGI "printf 'def app(e,s):\\n s(\"200 OK\",[])\\n return []\\n' >w.py; "

static void servers(void **state)
{
	static const struct wrapped rows[] = {
		{WSGI "exec gunicorn -w 2 -b 127.0.0.1:18999 w:app",
		 .fates = "receives receives receives"},
		{WSGI "exec gunicorn -w 2 -b 127.0.0.1:18999 w:app",
		 .fates = "receives receives receives", .signal = SIGINT},
		{"exec uwsgi-core --http-socket 127.0.0.1:18998 --master -p 1 --die-on-term",
		 .fates = "receives unknown"},
		{"mkdir -p /var/log/nginx /var/lib/nginx; printf 'events{}\\nhttp{server{listen "
		 "127.0.0.1:18997;}}\\n' >n; exec nginx -c /tmp/n -g 'daemon off;pid /tmp/p;'",
		 .fates = "receives receives"},
		{"mkdir -p /var/log/nginx /var/lib/nginx; printf 'events{}\\nhttp{server{listen "
		 "127.0.0.1:18997;}}\\n' >n; exec nginx -c /tmp/n -g 'daemon off;pid /tmp/p;'",
		 .fates = "receives receives", .signal = SIGQUIT},
		{APACHE " | sed s/_X/_prefork/g >a; exec apache2 -f /tmp/a -DFOREGROUND",
		 .fates = "receives receives receives"},
		{APACHE
		 " | sed '/^MinSpare/d; s/_X/_event/g' >a; exec apache2 -f /tmp/a -DFOREGROUND",
		 .fates = "receives receives receives", .signal = SIGWINCH},
		{"printf 'defaults\\n timeout client 9s\\n timeout server 9s\\n timeout connect 9s\\n"
		 "frontend f\\n mode http\\n bind 127.0.0.1:18995\\n' >h; exec haproxy -W -db -f h",
		 .fates = "receives receives"},
		{"printf 'defaults\\n timeout client 9s\\n timeout server 9s\\n timeout connect 9s\\n"
		 "frontend f\\n mode http\\n bind 127.0.0.1:18995\\n' >h; exec haproxy -W -db -f h",
		 .fates = "receives receives", .signal = SIGUSR1},
		{"exec redis-server --port 18994 --save ''", .fates = "receives"},
		{POSTGRES, .fates = "receives unknown unknown unknown unknown unknown"},
		{POSTGRES, .fates = "receives receives receives receives receives receives",
		 .signal = SIGINT},
	};

	play(state, rows, LEN(rows));
}

/* --- chains of any of them --- */

#define CHAINS	   24
#define CHAIN_SEED 20261128
#define LINKS_MAX  5

struct chain {
	uint64_t random;
	char command[512];
	char files[4096]; /* what makes the scripts of its shells */
	int n_files;
	int n; /* processes */
	bool other_user;
};

static uint32_t choose(struct chain *c, uint32_t of)
{
	c->random = c->random * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(c->random >> 33) % of;
}

static const char *some_leaf(struct chain *c)
{
	static const char *const leaves[] = {"leaf", "leaf", "leaf die", "leaf ignore",
					     "leaf stay"};

	c->n++;
	return leaves[choose(c, LEN(leaves))];
}

/* A shell runs the command by a script, and perhaps another one beside it. */
static void put_shell(struct chain *c)
{
	static const char *const traps[] = {"", "", "", "trap 'exit 0' TERM\n"};
	static const char *const behind[] = {"", "", "setsid "};
	char side[64] = "";

	if (choose(c, 3) == 0)
		snprintf(side, sizeof(side), "%s%s &\n", behind[choose(c, LEN(behind))],
			 some_leaf(c));
	snprintf(c->files + strlen(c->files), sizeof(c->files) - strlen(c->files),
		 "cat >s%d <<'E'\n%s%s%s\ntrue\nE\n", c->n_files, traps[choose(c, LEN(traps))],
		 side, c->command);
	snprintf(c->command, sizeof(c->command), "%s /tmp/s%d",
		 choose(c, 2) ? "/bin/bash" : "/bin/sh", c->n_files++);
	c->n++;
}

static void put_before(struct chain *c, const char *wrapper)
{
	size_t len = strlen(wrapper), old = strlen(c->command);

	assert_true(len + 1 + old < sizeof(c->command));
	memmove(c->command + len + 1, c->command, old + 1);
	memcpy(c->command, wrapper, len);
	c->command[len] = ' ';
	c->n++;
}

static void put_link(struct chain *c)
{
	static const char *const wrappers[] = {
		"tini -s --",
		"tini -s -g --",
		"dumb-init",
		"dumb-init -c",
		"timeout 99",
		"timeout -k 1 99",
		"timeout --foreground 99",
	};
	uint32_t i = choose(c, LEN(wrappers) + 4);

	if (i < LEN(wrappers))
		put_before(c, wrappers[i]);
	else if (i > LEN(wrappers) || c->other_user)
		put_shell(c);
	else
		put_before(c, "runuser -u nobody --");
	c->other_user |= i == LEN(wrappers);
}

static void play_chain(struct fixture *f, struct chain *c)
{
	uint64_t until = page_clock_ns() + PATIENCE_NS;
	char script[8192], fates[512];
	struct wrapped w = {.script = script};
	json_t *rec = NULL;
	struct box box;

	snprintf(script, sizeof(script), "%sexec %s", c->files, c->command);
	print_message("%s\n", script);
	played = &w;
	tree = &f->tree;
	judge_start(f, &(struct box_spec){.run = run, .no_wait = true}, &box);
	do {
		assert_true(page_clock_ns() < until);
		nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
		json_decref(rec);
		rec = audited_any_by(&box, 0);
	} while (!rec || json_array_size(json_object_get(rec, "processes")) != (size_t)c->n);
	/* The last of them may still be about to exec. */
	nanosleep(&(struct timespec){.tv_nsec = 200000000}, NULL);
	json_decref(rec);
	rec = audited_any_by(&box, 0);
	fates_of(rec, fates, sizeof(fates));
	print_message("%s\n", fates);
	fates_check(rec, &box, 3);
	json_decref(rec);
	assert_int_equal(box_remove(&box), 0);
}

static void what_is_sure_of_any_chain_comes_true(void **state)
{
	struct fixture *f = judge_need(state);
	const char *seed = getenv("SEED"), *count = getenv("CHAINS");

	for (int i = 0; i < (count ? atoi(count) : CHAINS); i++) {
		struct chain c = {.random = (seed ? strtoull(seed, NULL, 10) : CHAIN_SEED) +
					    (uint64_t)i * 7919};

		choose(&c, 1);
		snprintf(c.command, sizeof(c.command), "%s", some_leaf(&c));
		for (uint32_t n = choose(&c, LINKS_MAX) + 1; n; n--)
			put_link(&c);
		play_chain(f, &c);
	}
}

/* --- the group --- */

static bool find_packages(void)
{
	FILE *out = popen(PACKAGES_TOOL, "r");
	bool found = out && fgets(packages, sizeof(packages), out);

	packages[strcspn(packages, "\n")] = '\0';
	return out && pclose(out) == 0 && found;
}

static int setup(void **state)
{
	const char *why;

	*state = NULL;
	if (!find_packages()) {
		fprintf(stderr, "SKIP wrappers: %s\n", packages);
		return 0;
	}
	why = fates_open();
	if (why) {
		fprintf(stderr, "SKIP wrappers: %s\n", why);
		return 0;
	}
	return audited_setup(state);
}

static int teardown(void **state)
{
	fates_close();
	return audited_teardown(state);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		CLAIM("inits of containers", inits_of_containers),
		CLAIM("programs that run another one", those_that_run_another_program),
		CLAIM("supervisors", supervisors),
		CLAIM("those of node", those_of_node),
		CLAIM("servers", servers),
		CLAIM("what is sure of any chain comes true", what_is_sure_of_any_chain_comes_true),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
