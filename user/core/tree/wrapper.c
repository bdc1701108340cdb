// SPDX-License-Identifier: Apache-2.0
/* The table of wrappers, and how a process is recognised as one. */
#include "core/tree/wrapper.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "core/stop/audit.h"

#define BIT(signal) (1ull << ((signal)-1))
#define TERM	    BIT(SIGTERM)
#define INT	    BIT(SIGINT)
#define QUIT	    BIT(SIGQUIT)

#define BY_HANDLER  (1u << AUDIT_HANDLER)
#define BY_WAITER   (1u << AUDIT_WAITER)
#define BY_SIGNALFD (1u << AUDIT_SIGNALFD)

/*
 * The first row that fits counts. What is assumed holds for the program's own defaults: versions
 * and configurations may differ.
 */
static const struct wrapper rows[] = {
	/* --- inits of containers --- */
	{"tini -g",
	 {"tini", "tini-static", "docker-init"},
	 .takes = "ep",
	 .letter = 'g',
	 .permutes = true,
	 .variable = "TINI_KILL_PROCESS_GROUP=",
	 .by = BY_WAITER,
	 .pass = WRAPPER_GROUP,
	 .end = WRAPPER_WITH_CHILD},
	{"tini",
	 {"tini", "tini-static", "docker-init"},
	 .by = BY_WAITER,
	 .pass = WRAPPER_CHILD,
	 .end = WRAPPER_WITH_CHILD},
	{"dumb-init -c",
	 {"dumb-init"},
	 .takes = "r",
	 .letter = 'c',
	 .word = "single-child",
	 .variable = "DUMB_INIT_SETSID=0",
	 .by = BY_HANDLER | BY_WAITER,
	 .pass = WRAPPER_CHILD,
	 .end = WRAPPER_WITH_CHILD},
	{"dumb-init",
	 {"dumb-init"},
	 .takes = "r",
	 .by = BY_HANDLER | BY_WAITER,
	 .pass = WRAPPER_GROUP,
	 .end = WRAPPER_WITH_CHILD},
	{"catatonit",
	 {"catatonit", "podman-init"},
	 .by = BY_SIGNALFD,
	 .pass = WRAPPER_CHILD,
	 .end = WRAPPER_WITH_CHILD},

	/* --- supervisors --- */
	{"s6-svscan",
	 {"s6-svscan"},
	 .signals = TERM,
	 .by = BY_SIGNALFD,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .assumed = true,
	 .rest_unknown = true},
	{"s6-supervise",
	 {"s6-supervise"},
	 .signals = TERM,
	 .by = BY_SIGNALFD,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .assumed = true,
	 .rest_unknown = true},
	{"supervisord",
	 {"supervisord"},
	 .signals = TERM | INT | QUIT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .sends = SIGTERM,
	 .kill_ms = 10000,
	 .assumed = true,
	 .rest_unknown = true},
	{"runsvdir",
	 {"runsvdir"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_NOTHING,
	 .end = WRAPPER_AT_ONCE},
	{"runsvdir",
	 {"runsvdir"},
	 .signals = BIT(SIGHUP),
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_AT_ONCE,
	 .sends = SIGTERM},
	{"runsv",
	 {"runsv"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .assumed = true,
	 .rest_unknown = true},

	/* --- programs that run another one as another user, or for some time --- */
	/* That of util-linux; the one of shadow signals a process group. */
	{"su",
	 {"su"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILD,
	 .end = WRAPPER_WITH_CHILD,
	 .kill_ms = 2000,
	 .rest_unknown = true},
	{"runuser",
	 {"runuser"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILD,
	 .end = WRAPPER_WITH_CHILD,
	 .kill_ms = 2000},
	{"sudo",
	 {"sudo"},
	 .signals = TERM | INT | QUIT | BIT(SIGHUP),
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILD,
	 .end = WRAPPER_WITH_CHILD,
	 .copy_unknown = true},
	/* They end where the program that they run begins. */
	{"gosu", {"gosu"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"su-exec", {"su-exec"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"setpriv", {"setpriv"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"timeout --foreground",
	 {"timeout"},
	 .takes = "ks",
	 .word = "foreground",
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILD,
	 .end = WRAPPER_WITH_CHILD},
	{"timeout",
	 {"timeout"},
	 .takes = "ks",
	 .by = BY_HANDLER,
	 .pass = WRAPPER_OWN_GROUP,
	 .end = WRAPPER_WITH_CHILD},

	/* --- package managers and watchers of Node --- */
	{"npm",
	 {"npm", "npm-cli", "npx", "npx-cli"},
	 .signals = TERM | INT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .assumed = true},
	{"yarn",
	 {"yarn", "yarnpkg"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_AT_ONCE,
	 .assumed = true},
	{"pnpm",
	 {"pnpm"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .assumed = true,
	 .rest_unknown = true},
	/* How long it waits is somewhere in its configuration then. */
	{"pm2",
	 {"pm2", "pm2-runtime", "pm2-docker"},
	 .variable = "PM2_KILL_TIMEOUT=",
	 .signals = TERM | INT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .sends = SIGINT,
	 .assumed = true,
	 .rest_unknown = true},
	{"pm2",
	 {"pm2", "pm2-runtime", "pm2-docker"},
	 .signals = TERM | INT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .sends = SIGINT,
	 .kill_ms = 1600,
	 .assumed = true,
	 .rest_unknown = true},
	{"nodemon",
	 {"nodemon"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CHILDREN,
	 .end = WRAPPER_WITH_ALL,
	 .then = SIGINT,
	 .assumed = true,
	 .rest_unknown = true},

	/* --- servers with workers --- */
	{"gunicorn",
	 {"gunicorn", "gunicorn3"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_WORKERS,
	 .end = WRAPPER_WITH_ALL,
	 .kill_ms = 30000,
	 .assumed = true,
	 .rest_unknown = true},
	{"gunicorn",
	 {"gunicorn", "gunicorn3"},
	 .signals = INT | QUIT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_WORKERS,
	 .end = WRAPPER_WITH_ALL,
	 .sends = SIGQUIT,
	 .kill_ms = 30000,
	 .assumed = true,
	 .rest_unknown = true},
	/* Its own default is to load everything again, unless die-on-term is set somewhere. */
	{"uwsgi", {"uwsgi", "uwsgi-core"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"celery", {"celery", "celeryd"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"php-fpm",
	 {"php-fpm", "php-fpm8.2"},
	 .signals = TERM | INT | QUIT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_WORKERS,
	 .end = WRAPPER_WITH_ALL,
	 .assumed = true,
	 .rest_unknown = true},
	{"apache",
	 {"apache2", "httpd"},
	 .signals = TERM | BIT(SIGWINCH),
	 .by = BY_HANDLER,
	 .pass = WRAPPER_MESSAGE,
	 .end = WRAPPER_WITH_ALL,
	 .rest_unknown = true},
	{"nginx",
	 {"nginx", "openresty"},
	 .signals = TERM | INT | QUIT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_MESSAGE,
	 .end = WRAPPER_WITH_ALL,
	 .rest_unknown = true},
	{"haproxy",
	 {"haproxy"},
	 .signals = TERM | INT | BIT(SIGUSR1),
	 .by = BY_HANDLER,
	 .pass = WRAPPER_WORKERS,
	 .end = WRAPPER_WITH_ALL,
	 .rest_unknown = true},
	{"postgres",
	 {"postgres", "postmaster"},
	 .signals = TERM,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_CLIENTS,
	 .end = WRAPPER_WITH_ALL,
	 .rest_unknown = true},
	/* It asks each kind of child by a signal of its own. */
	{"postgres",
	 {"postgres", "postmaster"},
	 .signals = INT | QUIT,
	 .by = BY_HANDLER,
	 .pass = WRAPPER_MESSAGE,
	 .end = WRAPPER_WITH_ALL,
	 .rest_unknown = true},

	/* --- programs whose children are the application's affair --- */
	{"mysqld", {"mysqld", "mariadbd"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"redis",
	 {"redis-server", "redis-check-rdb", "valkey-server"},
	 .pass = WRAPPER_UNKNOWN,
	 .end = WRAPPER_BY_ITSELF},
	{"java", {"java"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"dotnet", {"dotnet"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
	{"bundle exec", {"bundle", "bundler"}, .pass = WRAPPER_UNKNOWN, .end = WRAPPER_BY_ITSELF},
};

#define ROWS (sizeof(rows) / sizeof(*rows))

/* --- arguments --- */

/* A walk over the options before the program that a wrapper is to start, as getopt_long(3) reads
 * them with "+". */
struct walk {
	const char *at, *end; /* the arguments that are left */
	const char *takes;    /* the row's */
	const char *cluster;  /* short options that are left of one */
	char letter;	      /* the option: this, */
	const char *word;     /* ... or this, without --, */
	size_t word_len;
	const char *value; /* and its value; NULL: none */
};

static bool takes_value(const struct walk *w)
{
	static const char *const words[] = {"kill-after", "signal", "rewrite"};

	if (w->letter)
		return w->takes && strchr(w->takes, w->letter);
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++)
		if (strlen(words[i]) == w->word_len && !memcmp(words[i], w->word, w->word_len))
			return true;
	return false;
}

/* NULL: there is none, or it is cut short. */
static const char *next_arg(struct walk *w)
{
	const char *arg = w->at, *nul = memchr(arg, 0, (size_t)(w->end - arg));

	if (!nul)
		return NULL;
	w->at = nul + 1;
	return arg;
}

static bool next_letter(struct walk *w)
{
	w->word = NULL;
	w->value = NULL;
	w->letter = *w->cluster++;
	if (!takes_value(w)) {
		w->cluster = *w->cluster ? w->cluster : NULL;
		return true;
	}
	w->value = *w->cluster ? w->cluster : next_arg(w);
	w->cluster = NULL;
	return true;
}

static bool next_option(struct walk *w)
{
	const char *arg;

	if (w->cluster)
		return next_letter(w);
	arg = next_arg(w);
	if (!arg || arg[0] != '-' || !arg[1] || !strcmp(arg, "--"))
		return false;
	if (arg[1] != '-') {
		w->cluster = arg + 1;
		return next_letter(w);
	}
	w->letter = 0;
	w->word = arg + 2;
	w->word_len = strcspn(w->word, "=");
	w->value = w->word[w->word_len] ? w->word + w->word_len + 1 : NULL;
	if (!w->value && takes_value(w))
		w->value = next_arg(w);
	return true;
}

static struct walk walk_begin(const struct wrapper_program *p, const struct wrapper *row)
{
	struct walk w = {.at = p->args, .end = p->args + p->args_len, .takes = row->takes};

	if (p->args)
		next_arg(&w);
	return w;
}

static bool is_option(const struct walk *w, char letter, const char *word)
{
	if (w->letter)
		return letter && w->letter == letter;
	/* Any beginning will do that is not another option's, too. */
	return word && w->word_len && !strncmp(w->word, word, w->word_len);
}

/* An option behind the command is the wrapper's as well in a libc whose getopt(3) moves it forward:
 * in glibc, not in musl. */
static bool has_moved_option(struct walk *w, char letter)
{
	const char *arg = next_arg(w);

	while (arg && strcmp(arg, "--") != 0) {
		if (arg[0] == '-' && arg[1] != '-' && strchr(arg, letter))
			return true;
		arg = next_arg(w);
	}
	return false;
}

/* TRI_UNKNOWN: not in each libc. */
static enum record_tri has_option(const struct wrapper_program *p, const struct wrapper *row)
{
	struct walk w = walk_begin(p, row);
	struct walk before = w;

	while (p->args && next_option(&w)) {
		if (is_option(&w, row->letter, row->word))
			return TRI_TRUE;
		before = w;
	}
	if (!p->args || !row->permutes)
		return TRI_FALSE;
	return has_moved_option(&before, row->letter) ? TRI_UNKNOWN : TRI_FALSE;
}

/* --- programs --- */

static bool begins(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static bool is_interpreter(const char *name)
{
	return begins(name, "python") || begins(name, "pypy") || begins(name, "ruby") ||
	       !strcmp(name, "node") || !strcmp(name, "nodejs");
}

#define NAME_SIZE 32

/* The last part of a path, in lower case; both end at the first of their characters. */
static void copy_name(const char *path, const char *path_end, const char *name_end,
		      char ret[static NAME_SIZE])
{
	const char *end = path + strcspn(path, path_end), *name = end;
	size_t len;

	while (name > path && name[-1] != '/')
		name--;
	len = strcspn(name, name_end);
	len = len < (size_t)(end - name) ? len : (size_t)(end - name);
	if (len >= NAME_SIZE)
		len = 0;
	for (size_t i = 0; i < len; i++)
		ret[i] = name[i] >= 'A' && name[i] <= 'Z' ? (char)(name[i] - 'A' + 'a') : name[i];
	ret[len] = 0;
}

/* A title that it gave itself ("gunicorn: master [app]", "npm start"), or else the script's name. */
static void name_script(const struct wrapper_program *p, char ret[static NAME_SIZE])
{
	struct walk w = {.at = p->args, .end = p->args + p->args_len};
	const char *arg = p->args ? next_arg(&w) : NULL;

	ret[0] = 0;
	if (!arg)
		return;
	copy_name(arg, " :", " :", ret);
	if (!is_interpreter(ret))
		return;
	do {
		arg = next_arg(&w);
	} while (arg && arg[0] == '-' && !strchr("mcep", arg[1]));
	/* -m is followed by a module, the others by a program's text. */
	if (arg && arg[0] == '-')
		arg = arg[1] == 'm' ? next_arg(&w) : NULL;
	copy_name(arg ? arg : "", "", ".", ret);
}

/* Not by comm, even where that is all there is: what busybox calls timeout is another program. */
static void name_program(const struct wrapper_program *p, char ret[static NAME_SIZE])
{
	if (is_interpreter(p->exe))
		name_script(p, ret);
	else
		copy_name(p->exe, "", "", ret);
}

static bool is_called(const struct wrapper *row, const char *name)
{
	for (size_t i = 0; i < WRAPPER_NAMES && row->names[i]; i++)
		if (!strcmp(row->names[i], name))
			return true;
	return false;
}

const char *wrapper_variable(const struct wrapper_program *p)
{
	char name[NAME_SIZE];

	name_program(p, name);
	for (size_t i = 0; i < ROWS; i++)
		if (rows[i].variable && is_called(rows + i, name))
			return rows[i].variable;
	return NULL;
}

/* TRI_UNKNOWN: it is that by an option or a variable, of which nothing is known. */
static enum record_tri fits(const struct wrapper *row, const struct wrapper_program *p)
{
	enum record_tri option;

	if (!row->letter && !row->word && !row->variable)
		return TRI_TRUE;
	option = has_option(p, row);
	return option == TRI_FALSE && row->variable ? p->variable : option;
}

/* --- values of arguments --- */

/* As coreutils' timeout takes them; 0: not known, or none. */
static uint32_t read_ms(const char *text)
{
	char *end;
	double value = strtod(text, &end), unit = 1;

	if (end == text || (*end && end[1]))
		return 0;
	unit = *end == 'm' ? 60 : *end == 'h' ? 3600 : *end == 'd' ? 86400 : 1;
	if ((*end && !strchr("smhd", *end)) || !(value > 0) || value * unit > 4e6)
		return 0;
	return (uint32_t)(value * unit * 1000);
}

static void read_timeout(const struct wrapper_program *p, struct wrapper *row)
{
	struct walk w = walk_begin(p, row);

	while (p->args && next_option(&w))
		if (is_option(&w, 'k', "kill-after") && w.value)
			row->kill_ms = read_ms(w.value);
}

/* dumb-init -r 15:3 sends another signal, -r 15:0 none. */
static void read_rewrites(const struct wrapper_program *p, uint32_t signal, struct wrapper *row)
{
	struct walk w = walk_begin(p, row);

	while (p->args && next_option(&w)) {
		char *end;
		unsigned long from, to;

		if (!is_option(&w, 'r', "rewrite") || !w.value)
			continue;
		from = strtoul(w.value, &end, 10);
		to = *end == ':' ? strtoul(end + 1, &end, 10) : from;
		if (from != signal || *end)
			continue;
		row->sends = to <= 64 ? (uint32_t)to : 0;
		if (!row->sends)
			row->pass = WRAPPER_NOTHING;
	}
}

bool wrapper_find(const struct wrapper_program *p, uint32_t signal, struct wrapper *ret)
{
	char name[NAME_SIZE];
	bool maybe = false;

	name_program(p, name);
	for (size_t i = 0; i < ROWS; i++) {
		const struct wrapper *row = rows + i;
		enum record_tri fit;

		if (!is_called(row, name) || (row->signals && !(row->signals & BIT(signal))))
			continue;
		fit = fits(row, p);
		if (fit == TRI_FALSE)
			continue;
		/* With the variable or without it, the child gets the signal. */
		maybe |= fit == TRI_UNKNOWN;
		if (fit == TRI_UNKNOWN && row->pass == WRAPPER_GROUP)
			continue;
		*ret = *row;
		ret->rest_unknown |= maybe;
		if (is_called(row, "timeout"))
			read_timeout(p, ret);
		if (is_called(row, "dumb-init"))
			read_rewrites(p, signal, ret);
		return true;
	}
	return false;
}

const char *wrapper_pass_name(enum wrapper_pass pass)
{
	static const char *const names[] = {
		[WRAPPER_NOTHING] = "nothing",	   [WRAPPER_CHILD] = "child",
		[WRAPPER_CHILDREN] = "children",   [WRAPPER_GROUP] = "group",
		[WRAPPER_OWN_GROUP] = "own-group", [WRAPPER_WORKERS] = "workers",
		[WRAPPER_MESSAGE] = "message",	   [WRAPPER_CLIENTS] = "clients",
		[WRAPPER_UNKNOWN] = "unknown",
	};

	return (unsigned int)pass < WRAPPER_PASS_COUNT ? names[pass] : NULL;
}
