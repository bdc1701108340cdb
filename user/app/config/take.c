// SPDX-License-Identifier: Apache-2.0
/* How each setting of the daemon takes its value. */
#include <ctype.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "app/config/take.h"
#include "app/log/log.h"
#include "base/duration.h"
#include "base/utf8.h"
#include "wire/config/web.h"
#include "wire/prometheus/metrics.h"

#define NODE_NAME_MAX	   253 /* as a DNS name */
#define TELEMETRY_PATH_MAX 255
#define SOCKET_PATH_SIZE   sizeof(((struct sockaddr_un *)NULL)->sun_path)
/* A page of so many lines is 7 MB or more and keeps the loop busy for about 60 ms, compressed. */
#define MAX_SERIES_MAX	   50000
#define MAX_SERIES_MIN	   500

#define WANT_DURATION "a duration like 30s or 1h"
#define WANT_ADDRESS  "an address like 127.0.0.1:9753, [::1]:9753 or :9753, 16 at most"
#define WANT_SHARE    "a share of one CPU like 2% or 0.02, 100% at most, or off"

/* Of which no character would upset a terminal. */
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

static const char *take_path(const char **ret, const char *value)
{
	if (value[0] != '/' || !is_clean(value))
		return "an absolute path";
	*ret = value;
	return NULL;
}

static const char *take_bool(bool *ret, const char *value)
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

const char *config_take_node_name(struct config *c, const char *value, size_t index)
{
	if (!*value || strlen(value) > NODE_NAME_MAX || !is_clean(value) || strchr(value, ' '))
		return "a name of 1 to 253 characters";
	c->node_name = c->options.node_name = value;
	return NULL;
}

const char *config_take_log_level(struct config *c, const char *value, size_t index)
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

const char *config_take_log_format(struct config *c, const char *value, size_t index)
{
	if (strcmp(value, "logfmt") != 0 && strcmp(value, "json") != 0)
		return "logfmt or json";
	c->log_json = value[0] == 'j';
	return NULL;
}

const char *config_take_listen(struct config *c, const char *value, size_t index)
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

const char *config_take_telemetry_path(struct config *c, const char *value, size_t index)
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

const char *config_take_web_config(struct config *c, const char *value, size_t index)
{
	if (!*value || !is_clean(value))
		return "the path of a file";
	c->web_config_file = value;
	return NULL;
}

const char *config_take_insecure(struct config *c, const char *value, size_t index)
{
	return take_bool(&c->web_insecure, value);
}

const char *config_take_scope(struct config *c, const char *value, size_t index)
{
	return options_take(&c->options, "scope", value);
}

const char *config_take_grace(struct config *c, const char *value, size_t index)
{
	return options_take(&c->options, "assume-grace", value);
}

const char *config_take_hierarchy(struct config *c, const char *value, size_t index)
{
	if (!is_clean(value))
		return "a name";
	return options_take(&c->options, "hierarchy", value);
}

const char *config_take_nested(struct config *c, const char *value, size_t index)
{
	if (index == 0) {
		memset(c->options.nested, 0, sizeof(c->options.nested));
		c->options.n_nested = 0;
	}
	return options_take(&c->options, "nested-node", value);
}

const char *config_take_roots(struct config *c, const char *value, size_t index)
{
	if (index == 0) {
		memset(c->options.roots, 0, sizeof(c->options.roots));
		c->options.n_roots = 0;
	}
	return options_take(&c->options, "container-root", value);
}

const char *config_take_ring_size(struct config *c, const char *value, size_t index)
{
	return options_take(&c->options, "ring-size", value);
}

const char *config_take_log_directory(struct config *c, const char *value, size_t index)
{
	return take_path(&c->options.log_dir, value);
}

const char *config_take_names(struct config *c, const char *value, size_t index)
{
	bool enabled = !c->options.no_names;
	const char *wants = take_bool(&enabled, value);

	c->options.no_names = !enabled;
	return wants;
}

const char *config_take_stdout(struct config *c, const char *value, size_t index)
{
	return take_bool(&c->sink_stdout, value);
}

const char *config_take_control_socket(struct config *c, const char *value, size_t index)
{
	c->control_socket = value;
	if (strcmp(value, "none") == 0 || (value[0] == '/' && strlen(value) < SOCKET_PATH_SIZE))
		return NULL;
	return "an absolute path of at most 107 bytes, or none";
}

const char *config_take_checkpoint_file(struct config *c, const char *value, size_t index)
{
	c->checkpoint_file = "none";
	if (!value[0] || strcmp(value, "none") == 0)
		return NULL;
	return take_path(&c->checkpoint_file, value) ? "an absolute path, or none" : NULL;
}

const char *config_take_file(struct config *c, const char *value, size_t index)
{
	return take_path(&c->sink_file, value);
}

const char *config_take_journal(struct config *c, const char *value, size_t index)
{
	bool on;

	if (strcmp(value, "auto") == 0)
		c->sink_journal = CONFIG_JOURNAL_AUTO;
	else if (!take_bool(&on, value))
		c->sink_journal = on ? CONFIG_JOURNAL_ON : CONFIG_JOURNAL_OFF;
	else
		return "auto, true or false";
	return NULL;
}

const char *config_take_signals(struct config *c, const char *value, size_t index)
{
	return take_bool(&c->sink_signals, value);
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

const char *config_take_max_series(struct config *c, const char *value, size_t index)
{
	size_t n = strspn(value, "0123456789");
	uint32_t number;

	if (value[n] || !parse_whole(value, n, &number) || number < MAX_SERIES_MIN ||
	    number > MAX_SERIES_MAX)
		return "a number from 500 to 50000";
	c->max_series = number;
	return NULL;
}

const char *config_take_max_age(struct config *c, const char *value, size_t index)
{
	uint64_t ns;

	if (duration_parse(value, &ns) < 0 || !ns)
		return WANT_DURATION;
	c->max_age_ns = ns;
	return NULL;
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

const char *config_take_budget(struct config *c, const char *value, size_t index)
{
	uint32_t ppm = 0;

	if (strcmp(value, "off") != 0 && !parse_share(value, &ppm))
		return WANT_SHARE;
	c->budget_ppm = ppm;
	return NULL;
}
