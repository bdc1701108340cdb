// SPDX-License-Identifier: Apache-2.0
/* Signal names. */
#include "base/signame.h"

#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

/* libc's SIGRTMIN is a function call, and the numbers are part of the recording anyway. */
#define RT_MIN	  34
#define RT_MAX	  64
#define RT_MIDDLE 49

/* The names without SIG; RT names are made, not kept. */
static const char *const NAMES[] = {
	[SIGHUP] = "HUP",   [SIGINT] = "INT",	    [SIGQUIT] = "QUIT", [SIGILL] = "ILL",
	[SIGTRAP] = "TRAP", [SIGABRT] = "ABRT",	    [SIGBUS] = "BUS",	[SIGFPE] = "FPE",
	[SIGKILL] = "KILL", [SIGUSR1] = "USR1",	    [SIGSEGV] = "SEGV", [SIGUSR2] = "USR2",
	[SIGPIPE] = "PIPE", [SIGALRM] = "ALRM",	    [SIGTERM] = "TERM", [SIGSTKFLT] = "STKFLT",
	[SIGCHLD] = "CHLD", [SIGCONT] = "CONT",	    [SIGSTOP] = "STOP", [SIGTSTP] = "TSTP",
	[SIGTTIN] = "TTIN", [SIGTTOU] = "TTOU",	    [SIGURG] = "URG",	[SIGXCPU] = "XCPU",
	[SIGXFSZ] = "XFSZ", [SIGVTALRM] = "VTALRM", [SIGPROF] = "PROF", [SIGWINCH] = "WINCH",
	[SIGIO] = "IO",	    [SIGPWR] = "PWR",	    [SIGSYS] = "SYS",
};

#define NAMES_COUNT (sizeof(NAMES) / sizeof(NAMES[0]))

static const struct {
	const char *name;
	uint32_t number;
} ALIASES[] = {{"IOT", SIGABRT}, {"CLD", SIGCHLD}, {"POLL", SIGIO}};

const char *signame_format(uint32_t number, char ret[static SIGNAME_SIZE])
{
	if (number > 0 && number < NAMES_COUNT)
		snprintf(ret, SIGNAME_SIZE, "SIG%s", NAMES[number]);
	else if (number == RT_MIN)
		snprintf(ret, SIGNAME_SIZE, "SIGRTMIN");
	else if (number > RT_MIN && number <= RT_MIDDLE)
		snprintf(ret, SIGNAME_SIZE, "SIGRTMIN+%u", number - RT_MIN);
	else if (number > RT_MIDDLE && number < RT_MAX)
		snprintf(ret, SIGNAME_SIZE, "SIGRTMAX-%u", RT_MAX - number);
	else if (number == RT_MAX)
		snprintf(ret, SIGNAME_SIZE, "SIGRTMAX");
	else
		snprintf(ret, SIGNAME_SIZE, "SIG%u", number);
	return ret;
}

/* ASCII only: not by the locale. */
static char upper(char c)
{
	return c >= 'a' && c <= 'z' ? (char)(c - 'a' + 'A') : c;
}

/* What follows the prefix, NULL where text does not begin with it. */
static const char *after(const char *text, const char *prefix)
{
	while (*prefix && upper(*text) == *prefix) {
		text++;
		prefix++;
	}
	return *prefix ? NULL : text;
}

/* A whole decimal number of at most two digits, or -EINVAL. */
static int parse_number(const char *text, uint32_t *ret)
{
	uint32_t value = 0;
	size_t len = strspn(text, "0123456789");

	if (len == 0 || len > 2 || text[len])
		return -EINVAL;
	for (size_t i = 0; i < len; i++)
		value = value * 10 + (uint32_t)(text[i] - '0');
	*ret = value;
	return 0;
}

static int parse_rt(const char *text, uint32_t *ret)
{
	const char *rest = after(text, "RTMIN");
	bool from_min = rest != NULL;
	uint32_t distance = 0;
	int r;

	if (!rest)
		rest = after(text, "RTMAX");
	if (!rest)
		return -EINVAL;
	if (*rest) {
		if (*rest != (from_min ? '+' : '-'))
			return -EINVAL;
		r = parse_number(rest + 1, &distance);
		if (r < 0)
			return r;
	}
	if (distance > RT_MAX - RT_MIN)
		return -EINVAL;
	*ret = from_min ? RT_MIN + distance : RT_MAX - distance;
	return 0;
}

static int parse_name(const char *name, uint32_t *ret)
{
	for (uint32_t i = 1; i < NAMES_COUNT; i++) {
		const char *rest = after(name, NAMES[i]);

		if (rest && *rest == '\0') {
			*ret = i;
			return 0;
		}
	}
	for (size_t i = 0; i < sizeof(ALIASES) / sizeof(ALIASES[0]); i++) {
		const char *rest = after(name, ALIASES[i].name);

		if (rest && *rest == '\0') {
			*ret = ALIASES[i].number;
			return 0;
		}
	}
	return parse_rt(name, ret);
}

int signame_parse(const char *text, uint32_t *ret_number)
{
	const char *name = after(text, "SIG");
	uint32_t number;

	if (!name)
		name = text;
	if (parse_number(name, &number) < 0 && parse_name(name, &number) < 0)
		return -EINVAL;
	if (number < 1 || number > SIGNAME_MAX)
		return -EINVAL;
	*ret_number = number;
	return 0;
}
