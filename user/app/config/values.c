// SPDX-License-Identifier: Apache-2.0
/* How settings take their values: by functions of their own, or by their type. */
#include "app/config/values.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>
#include <unistd.h>

#include "app/log/log.h"
#include "base/cleanup.h"
#include "base/duration.h"
#include "base/signame.h"
#include "base/time.h"
#include "base/utf8.h"
#include "core/kubelet/explain.h"
#include "io/bus/units.h"
#include "wire/config/web.h"
#include "wire/http/request.h"

#define NODE_NAME_MAX	   253 /* as a DNS name */
#define TELEMETRY_PATH_MAX 255
#define SOCKET_PATH_SIZE   sizeof(((struct sockaddr_un *)NULL)->sun_path)
#define RING_MAX	   (1ul << 30)
#define FILE_SIZE_MIN	   (64u << 10)
#define DEAF_GRACE_MAX	   (600 * NS_PER_S)

#define WANT_ADDRESS "an address like 127.0.0.1:9753, [::1]:9753 or :9753, 16 at most"
#define WANT_SHARE   "a share of one CPU like 2% or 0.02, 100% at most, or off"
#define WANT_CGROUP  "the path of a cgroup (64 of them at most)"
#define WANT_GRACE   "{priority: N, gracePeriodSeconds: N} (each priority once, 16 of them at most)"
#define WANT_SIGNALS "names or numbers of signals"

/* No character of it would upset a terminal. */
/* No character would upset a terminal. */
static bool is_clean(const char *text)
{
	size_t left = strlen(text), n;
	uint32_t code;

	for (; left > 0; text += n, left -= n) {
		n = utf8_decode(text, left, &code);
		if (n == 0 || utf8_is_treacherous(code))
			return false;
	}
	return true;
}

static const char *parse_bool(bool *ret, const char *value)
{
	static const char *const words[] = {"false", "true", "no", "yes", "off", "on", "0", "1"};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcasecmp(value, words[i]) != 0)
			continue;
		*ret = i % 2;
		return NULL;
	}
	return "true or false";
}

static bool parse_number(const char *value, uint64_t *ret)
{
	char *end;

	if (!isdigit((unsigned char)*value))
		return false;
	errno = 0;
	*ret = strtoull(value, &end, 10);
	return !errno && !*end;
}

const char *value_each_pair(const char *text, value_pair_fn fn, void *userdata)
{
	_cleanup_(cleanup_free) char *own = strdup(text);
	const char *separator = strchr(text, '\n') ? "\n" : " ", *wants = own ? NULL : "memory";
	char *rest = own, *key, *value;

	while (!wants && (key = strsep(&rest, separator))) {
		value = strchr(key, '=');
		if (value)
			*value++ = '\0';
		wants = fn(userdata, key, value);
	}
	return wants;
}

const char *value_output(struct config *c, const char *value, size_t index)
{
	if (strcmp(value, "table") && strcmp(value, "json"))
		return "table or json";
	c->options.json = value[0] == 'j';
	return NULL;
}

const char *value_table(struct config *c, const char *value, size_t index)
{
	static const char columns[] = "columns=";
	bool chosen = strncmp(value, columns, strlen(columns)) == 0;

	if (!chosen && strcmp(value, "table") && strcmp(value, "wide") && strcmp(value, "json"))
		return "table, wide, columns=NAME,... or json";
	c->options.json = value[0] == 'j';
	c->options.table.wide = value[0] == 'w';
	c->options.table.columns = chosen ? value + strlen(columns) : NULL;
	return NULL;
}

const char *value_pid(struct config *c, const char *value, size_t index)
{
	uint64_t pid;

	if (!parse_number(value, &pid) || !pid || pid > INT32_MAX)
		return "the pid of a process";
	c->options.pid = (pid_t)pid;
	return NULL;
}

const char *value_color(struct config *c, const char *value, size_t index)
{
	static const char *const words[] = {
		[TABLE_COLOR_AUTO] = "auto",
		[TABLE_COLOR_ALWAYS] = "always",
		[TABLE_COLOR_NEVER] = "never",
	};

	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		if (strcmp(value, words[i]) != 0)
			continue;
		c->options.table.color = (enum table_color)i;
		return NULL;
	}
	return "auto, always or never";
}

const char *value_check_output(struct config *c, const char *value, size_t index)
{
	c->options.npd = strcmp(value, "npd") == 0;
	if (!c->options.npd && value_output(c, value, index))
		return "table, json or npd";
	c->options.json = c->options.json && !c->options.npd;
	return NULL;
}

const char *value_report_format(struct config *c, const char *value, size_t index)
{
	static const char *const formats[] = {
		[REPORT_TABLE] = "table", [REPORT_JSON] = "json",
		[REPORT_SVG] = "svg",	  [REPORT_TRACE_EVENT] = "trace-event",
		[REPORT_OTLP] = "otlp",
	};

	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		if (strcmp(value, formats[i]) != 0)
			continue;
		c->options.report_format = (enum report_format)i;
		c->options.table.wide = false;
		c->options.table.columns = NULL;
		return NULL;
	}
	if (value_table(c, value, index))
		return "table, wide, columns=NAME,..., json, svg, trace-event or otlp";
	c->options.report_format = REPORT_TABLE;
	return NULL;
}

const char *value_trial_format(struct config *c, const char *value, size_t index)
{
	static const char *const formats[TRIAL_FORMATS] = {
		[TRIAL_TEXT] = "table",
		[TRIAL_JSON] = "json",
		[TRIAL_JUNIT] = "junit",
		[TRIAL_GITHUB] = "github",
	};

	for (size_t i = 0; i < TRIAL_FORMATS; i++) {
		if (strcmp(value, formats[i]) != 0)
			continue;
		c->options.trial_format = (enum trial_format)i;
		return NULL;
	}
	return "table, json, junit or github";
}

const char *value_sender(struct config *c, const char *value, size_t index)
{
	/* A longer one could never match: the kernel keeps 15 bytes of a name. */
	if (!*value || strlen(value) >= GRACED_COMM_LEN)
		return *value ? "a name of at most 15 bytes" : "a name";
	c->options.filter.sender_comm = value;
	return NULL;
}

const char *value_signal(struct config *c, const char *value, size_t index)
{
	while (true) {
		size_t n = strcspn(value, ",");
		char name[32] = "";
		uint32_t number;

		if (n >= sizeof(name))
			return WANT_SIGNALS;
		memcpy(name, value, n);
		if (signame_parse(name, &number) < 0)
			return WANT_SIGNALS;
		c->options.filter.sigmask |= 1ull << (number - 1);
		if (!value[n])
			return NULL;
		value += n + 1;
	}
}

const char *value_outcome(struct config *c, const char *value, size_t index)
{
	struct filter *filter = &c->options.filter;

	while (true) {
		bool leaves_out = *value == '!';
		size_t n = strcspn(value + leaves_out, ",");
		char name[32] = "";
		int outcome;

		value += leaves_out;
		if (n >= sizeof(name))
			return VALUE_OUTCOMES;
		memcpy(name, value, n);
		outcome = words_find(&words_outcome, name);
		if (outcome < 0)
			return VALUE_OUTCOMES;
		*(leaves_out ? &filter->not_outcomes : &filter->outcomes) |= UINT32_C(1) << outcome;
		if (!value[n])
			return NULL;
		value += n + 1;
	}
}

static const char *take_names(struct filter_names *names, const char *value)
{
	switch (filter_names_add(names, value)) {
	case 0:
		return NULL;
	case -E2BIG:
		return "fewer lists of names";
	default:
		return "names with commas between them, of at most 255 bytes each";
	}
}

const char *value_namespace(struct config *c, const char *value, size_t index)
{
	return take_names(&c->options.filter.namespaces, value);
}

const char *value_pod(struct config *c, const char *value, size_t index)
{
	return take_names(&c->options.filter.pods, value);
}

const char *value_container(struct config *c, const char *value, size_t index)
{
	return take_names(&c->options.filter.containers, value);
}

const char *value_taint_after(struct config *c, const char *value, size_t index)
{
	uint64_t ns;

	if (duration_parse(value, &ns) < 0 || ns % NS_PER_S)
		return "whole seconds like 2m";
	c->options.taint_after_ns = ns;
	c->options.taint_after_given = true;
	return NULL;
}

const char *value_taint_effect(struct config *c, const char *value, size_t index)
{
	if (strcmp(value, "NoExecute") && strcmp(value, "NoSchedule"))
		return "NoExecute or NoSchedule";
	c->options.taint_no_execute = strcmp(value, "NoExecute") == 0;
	return NULL;
}

const char *value_scope(struct config *c, const char *value, size_t index)
{
	int scope = words_find(&words_engine_scope, value);

	if (scope < 0)
		return "pods, containers, services or all";
	c->options.engine.scope = (enum engine_scope)scope;
	c->options.scope_given = true;
	return NULL;
}

const char *value_grace(struct config *c, const char *value, size_t index)
{
	if (duration_parse(value, &c->options.engine.assumed_grace_ns) < 0)
		return "a duration like 30s";
	c->options.grace_given = true;
	return NULL;
}

const char *value_nested(struct config *c, const char *value, size_t index)
{
	struct options *o = &c->options;

	if (value[0] != '/' || index >= OPTIONS_NESTED_MAX)
		return WANT_CGROUP;
	o->nested[index] = value;
	o->n_nested = index + 1;
	o->nested[o->n_nested] = NULL;
	return NULL;
}

const char *value_roots(struct config *c, const char *value, size_t index)
{
	struct options *o = &c->options;

	if (value[0] != '/' || index >= OPTIONS_ROOTS_MAX)
		return WANT_CGROUP;
	o->roots[index] = value;
	o->n_roots = index + 1;
	o->roots[o->n_roots] = NULL;
	return NULL;
}

const char *value_helpers(struct config *c, const char *value, size_t index)
{
	if (!value[0] || strlen(value) >= GRACED_COMM_LEN || index >= OPTIONS_HELPERS_MAX)
		return "the name of a process, of 15 bytes at most (64 of them at most)";
	c->options.helpers[index] = value;
	c->options.helpers[index + 1] = NULL;
	return NULL;
}

/* "65536", "64Ki", "1Mi" or "1Gi". */
static bool parse_bytes(const char *value, uint64_t *ret)
{
	static const char letters[] = "KMG";
	size_t digits = strspn(value, "0123456789");
	const char *letter = value[digits] ? strchr(letters, value[digits]) : NULL;
	char number[24] = "";
	uint64_t units;

	if (digits >= sizeof(number) || (value[digits] && !letter) ||
	    (letter && strcmp(value + digits + 1, "i") != 0))
		return false;
	memcpy(number, value, digits);
	return parse_number(number, &units) &&
	       !__builtin_mul_overflow(units, letter ? 1ull << (10 * (letter - letters + 1)) : 1,
				       ret);
}

const char *value_ring_size(struct config *c, const char *value, size_t index)
{
	uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), bytes;

	if (!parse_bytes(value, &bytes) || bytes < page || bytes > RING_MAX || bytes & (bytes - 1))
		return "a power of two like 256Ki or 1Mi, at least one page and at most 1Gi";
	c->options.ring_bytes = bytes;
	return NULL;
}

/* A file of less would hold no record. */
const char *value_file_size(struct config *c, const char *value, size_t index)
{
	uint64_t bytes = 0;

	if (strcmp(value, "none") != 0 && (!parse_bytes(value, &bytes) || bytes < FILE_SIZE_MIN))
		return "none, or a size like 64Ki or 16Mi, at least 64Ki";
	c->sink_file_size = bytes;
	return NULL;
}

const char *value_names(struct config *c, const char *value, size_t index)
{
	bool enabled = !c->options.no_names;
	const char *wants = parse_bool(&enabled, value);

	c->options.no_names = !enabled;
	return wants;
}

const char *value_node_name(struct config *c, const char *value, size_t index)
{
	if (!*value || strlen(value) > NODE_NAME_MAX || !is_clean(value) || strchr(value, ' '))
		return "a name of 1 to 253 characters";
	c->options.node_name = value;
	return NULL;
}

const char *value_log_level(struct config *c, const char *value, size_t index)
{
	static const struct {
		const char *name;
		int level;
	} levels[] = {
		{"debug", LOG_DEBUG},  {"info", LOG_INFO}, {"warning", LOG_WARNING},
		{"warn", LOG_WARNING}, {"error", LOG_ERR},
	};

	for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
		if (strcmp(value, levels[i].name) != 0)
			continue;
		c->log_level = levels[i].level;
		c->options.debug = c->log_level == LOG_DEBUG;
		return NULL;
	}
	return "debug, info, warning or error";
}

const char *value_log_format(struct config *c, const char *value, size_t index)
{
	if (strcmp(value, "logfmt") != 0 && strcmp(value, "json") != 0)
		return "logfmt or json";
	c->log_json = value[0] == 'j';
	return NULL;
}

const char *value_host(struct config *c, const char *value, size_t index)
{
	if (index >= CONFIG_HOSTS_MAX || !reqhead_is_name(value))
		return "the name of a host without a port, *.NAME or * (32 of them at most)";
	c->hosts[index] = value;
	c->n_hosts = index + 1;
	return NULL;
}

const char *value_listen(struct config *c, const char *value, size_t index)
{
	struct listen listen;

	if (index >= CONFIG_LISTEN_MAX || listen_parse(value, &listen) < 0)
		return WANT_ADDRESS;
	c->listen[index] = value;
	c->n_listen = index + 1;
	return NULL;
}

static bool is_path_of_url(const char *value)
{
	for (const char *at = value; *at; at++)
		if (!isalnum((unsigned char)*at) && !strchr("/-._~", *at))
			return false;
	return value[0] == '/' && strlen(value) <= TELEMETRY_PATH_MAX;
}

const char *value_telemetry_path(struct config *c, const char *value, size_t index)
{
	static const char *const taken[] = {"/", "/healthz", "/readyz"};

	for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++)
		if (strcmp(value, taken[i]) == 0)
			return "a path other than /, /healthz and /readyz";
	if (!is_path_of_url(value))
		return "a path like /metrics";
	c->telemetry_path = value;
	return NULL;
}

const char *value_control_socket(struct config *c, const char *value, size_t index)
{
	c->control_socket = value;
	if (strcmp(value, "none") == 0 || (value[0] == '/' && strlen(value) < SOCKET_PATH_SIZE))
		return NULL;
	return "an absolute path of at most 107 bytes, or none";
}

const char *value_checkpoint_file(struct config *c, const char *value, size_t index)
{
	bool none = !value[0] || strcmp(value, "none") == 0;

	if (!none && (value[0] != '/' || !is_clean(value)))
		return "an absolute path, or none";
	c->checkpoint_file = none ? "none" : value;
	return NULL;
}

const char *value_journal(struct config *c, const char *value, size_t index)
{
	bool on;

	if (strcmp(value, "auto") == 0)
		c->sink_journal = CONFIG_JOURNAL_AUTO;
	else if (!parse_bool(&on, value))
		c->sink_journal = on ? CONFIG_JOURNAL_ON : CONFIG_JOURNAL_OFF;
	else
		return "auto, true or false";
	return NULL;
}

const char *value_shutdown_mode(struct config *c, const char *value, size_t index)
{
	int mode = words_find(&words_shutdown_mode, value);

	c->shutdown.off = strcmp(value, "off") == 0;
	if (mode >= 0)
		c->shutdown.mode = (enum shutdown_mode)mode;
	return c->shutdown.off || mode >= 0 ? NULL : "observe, assist, manage or off";
}

const char *value_deaf_grace(struct config *c, const char *value, size_t index)
{
	uint64_t ns = 0;

	if (strcmp(value, "off") != 0 && (duration_parse(value, &ns) < 0 || ns > DEAF_GRACE_MAX))
		return "a duration like 2s, or off";
	c->shutdown.deaf_grace_ns = ns;
	return NULL;
}

const char *value_pre_stop(struct config *c, const char *value, size_t index)
{
	c->shutdown.skip_hooks = strcmp(value, "skip") == 0;
	return c->shutdown.skip_hooks || strcmp(value, "exec") == 0 ? NULL : "exec or skip";
}

/* As unit_name_is_valid() of systemd (src/basic/unit-name.c) has it, but for the end: which kinds
 * of units there are is systemd's matter. */
static bool is_unit(const char *name)
{
	size_t len = strspn(name, "0123456789abcdefghijklmnopqrstuvwxyz"
				  "ABCDEFGHIJKLMNOPQRSTUVWXYZ:-_.\\@");
	const char *dot = strrchr(name, '.');

	return dot && dot != name && dot[1] && *name != '@' && !name[len] &&
	       len < UNITJOBS_NAME_MAX;
}

/* A list of a stronger source replaces the one before. */
const char *value_api_report(struct config *c, const char *value, size_t index)
{
	if (index == 0)
		c->report_events = c->shutdown.statuses = c->shutdown.unschedulable = false;
	if (strcmp(value, "events") == 0)
		c->report_events = true;
	else if (strcmp(value, "status") == 0)
		c->shutdown.statuses = true;
	else if (strcmp(value, "unschedulable") == 0)
		c->shutdown.unschedulable = true;
	else
		return "events, status or unschedulable";
	return NULL;
}

const char *value_stop_units(struct config *c, const char *value, size_t index)
{
	if (!is_unit(value) || index >= CONFIG_UNITS_MAX)
		return "the full name of a unit like kubelet.service (32 of them at most)";
	c->shutdown.stop_units[index] = value;
	c->shutdown.stop_units[index + 1] = NULL;
	return NULL;
}

/* Without leading zeros, which YAML takes for octal. */
static bool parse_int32(const char *text, int32_t min, int32_t *ret)
{
	const char *digits = text + (*text == '-');
	long long value;

	if (!*digits || digits[strspn(digits, "0123456789")] || (*digits == '0' && digits[1]))
		return false;
	errno = 0;
	value = strtoll(text, NULL, 10);
	if (errno || value < min || value > INT32_MAX)
		return false;
	*ret = (int32_t)value;
	return true;
}

struct grace_pairs {
	bool has_priority, has_seconds;
	int32_t priority, seconds;
};

static const char *take_grace_pair(void *userdata, const char *key, const char *value)
{
	struct grace_pairs *g = userdata;

	if (!value)
		return WANT_GRACE;
	if (strcmp(key, "priority") == 0 && !g->has_priority)
		g->has_priority = parse_int32(value, INT32_MIN, &g->priority);
	else if (strcmp(key, "gracePeriodSeconds") == 0 && !g->has_seconds)
		g->has_seconds = parse_int32(value, 0, &g->seconds);
	else
		return WANT_GRACE;
	return g->has_priority || g->has_seconds ? NULL : WANT_GRACE;
}

static bool has_priority(const struct config_groups *groups, int32_t priority)
{
	for (size_t i = 0; i < groups->n_list; i++)
		if (groups->list[i].priority == priority)
			return true;
	return false;
}

const char *value_grace_by_priority(struct config *c, const char *value, size_t index)
{
	struct config_groups *groups = &c->shutdown.groups;
	struct grace_pairs g = {};
	const char *wants = value_each_pair(value, take_grace_pair, &g);

	groups->n_list = index < OBS_RANGES_MAX ? index : OBS_RANGES_MAX;
	if (wants)
		return wants;
	if (!g.has_priority || !g.has_seconds || index >= OBS_RANGES_MAX ||
	    has_priority(groups, g.priority))
		return WANT_GRACE;
	groups->list[groups->n_list++] = (struct shutplan_range){g.priority, g.seconds};
	return NULL;
}

const char *value_managed(struct config *c, const char *value, size_t index)
{
	struct config_shutdown *s = &c->shutdown;
	const char *wants = index < MANAGED_RULES_MAX ? managed_parse(value, &s->managed[index])
						      : "32 rules at most";

	s->n_managed = wants ? 0 : index + 1;
	return wants;
}

/* At most nine digits. */
static bool parse_whole(const char *text, size_t n, uint32_t *ret)
{
	uint32_t value = 0;

	if (n == 0 || n > 9)
		return false;
	for (size_t i = 0; i < n; i++)
		value = value * 10 + (uint32_t)(text[i] - '0');
	*ret = value;
	return true;
}

/* "2%" and "0.02" into millionths. */
static bool parse_share(const char *value, uint32_t *ret_ppm)
{
	size_t n = strspn(value, "0123456789"), n_decimals = 0;
	const char *decimals = value + n, *unit;
	uint32_t whole, scale;
	uint64_t ppm;
	bool zero;

	if (*decimals == '.')
		n_decimals = strspn(++decimals, "0123456789");
	unit = decimals + n_decimals;
	if (!parse_whole(value, n, &whole) || (value[n] == '.' && !n_decimals) ||
	    (*unit && strcmp(unit, "%") != 0))
		return false;
	scale = *unit ? 10000 : 1000000;
	ppm = (uint64_t)whole * scale;
	zero = whole == 0;
	for (size_t i = 0; i < n_decimals; i++) {
		scale /= 10;
		ppm += scale * (uint64_t)(decimals[i] - '0');
		zero &= decimals[i] == '0';
	}
	*ret_ppm = (uint32_t)ppm;
	return ppm <= 1000000 && zero == (ppm == 0);
}

const char *value_budget(struct config *c, const char *value, size_t index)
{
	uint32_t ppm = 0;

	if (strcmp(value, "off") != 0 && !parse_share(value, &ppm))
		return WANT_SHARE;
	c->budget_ppm = ppm;
	return NULL;
}

/* How long the number is that stands there, 0 for none; no number begins with a 0 too many. */
static size_t version_number(const char *at)
{
	size_t n = strspn(at, "0123456789");

	return n > 1 && *at == '0' ? 0 : n;
}

/* "+k3s1", "-gke.100", "-rc.0+1234" */
static bool is_version_suffix(const char *at)
{
	if (*at != '+' && *at != '-')
		return false;
	while (isalnum((unsigned char)at[1]) || (at[1] && strchr("+-._", at[1])))
		at++;
	return !at[1] && isalnum((unsigned char)*at);
}

const char *value_version(const char *value, unsigned int *ret_minor)
{
	static const char wanted[] = "a version from 1.20 to 1.36, like 1.30 or v1.30.4";
	const char *at = value + (*value == 'v');
	unsigned long minor;
	size_t n;

	if (strncmp(at, "1.", 2) != 0)
		return wanted;
	at += 2;
	n = version_number(at);
	minor = strtoul(at, NULL, 10);
	if (n == 0 || minor < EXPLAIN_MINOR_MIN || minor > EXPLAIN_MINOR_MAX)
		return wanted;
	at += n;
	if (*at == '.') {
		n = version_number(at + 1);
		if (n == 0)
			return wanted;
		at += 1 + n;
	}
	if (*at && !is_version_suffix(at))
		return wanted;
	*ret_minor = (unsigned int)minor;
	return NULL;
}

/* --- by the type of a setting ----------------------------------------------------------------- */

static bool is_daemon(const struct config *c)
{
	return c->options.which == OPTIONS_RUN;
}

/* What is wanted of a text of this type; NULL: the value is right. */
static const char *judge_text(const struct setting *s, const struct config *c, const char *value)
{
	const char *path = strncmp(value, "unix://", 7) == 0 ? value + 7 : value;
	bool absolute = value[0] == '/' && is_clean(value);

	switch (s->type) {
	case SETTING_PATH:
		return absolute ? NULL : "an absolute path";
	case SETTING_FILE:
		if (is_daemon(c))
			return absolute ? NULL : "an absolute path";
		return *value ? NULL : "the path of a file";
	case SETTING_ENDPOINT:
		if (strcmp(value, "none") == 0 || path[0] == '/')
			return NULL;
		return "a socket's absolute path, with or without unix://, or none";
	case SETTING_URL:
		if (strncmp(value, "https://", 8) == 0 || strncmp(value, "http://", 7) == 0)
			return NULL;
		return "a URL";
	default:
		return *value && is_clean(value) ? NULL : "a name";
	}
}

static bool parse_figure(const struct setting *s, const char *value, uint64_t *ret)
{
	uint64_t figure;

	if (s->type == SETTING_COUNT ? !parse_number(value, &figure)
				     : duration_parse(value, &figure) < 0)
		return false;
	if (figure < s->min || (s->max && figure > s->max) ||
	    (s->type == SETTING_SECONDS && figure % NS_PER_S))
		return false;
	*ret = figure;
	return true;
}

static const char *take_at(const struct setting *s, struct config *c, void *place,
			   const char *value)
{
	const char *wants;

	switch (s->type) {
	case SETTING_FLAG:
		return parse_bool(place, value);
	case SETTING_DURATION:
	case SETTING_SECONDS:
	case SETTING_COUNT:
		return parse_figure(s, value, place) ? NULL : "another value";
	case SETTING_VERSION:
		return value_version(value, place);
	default:
		wants = judge_text(s, c, value);
		if (!wants)
			*(const char **)place = value;
		return wants;
	}
}

const char *value_take(const struct setting *setting, struct config *config, const char *value,
		       size_t index)
{
	const char *wants;

	if (setting->take)
		return setting->take(config, value, index);
	wants = take_at(setting, config, (char *)config + setting->place, value);
	return wants && setting->wants ? setting->wants : wants;
}
