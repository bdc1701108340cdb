// SPDX-License-Identifier: Apache-2.0
/* graced report: what happened in a shutdown, a rollout or a span of time, from written records. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/commands/commands.h"
#include "app/config/options.h"
#include "app/live/screen.h"
#include "app/log/say.h"
#include "app/query/history.h"
#include "base/cleanup.h"
#include "core/account/account.h"
#include "io/files/file.h"
#include "io/otlp/exporter.h"
#include "io/proc/clock.h"
#include "io/sinks/journal.h"
#include "wire/account/account.h"
#include "wire/text/journal.h"

/* --- spans to a receiver of OTLP/HTTP --------------------------------------------------------- */

#define HEADERS_VARIABLE "OTEL_EXPORTER_OTLP_HEADERS"

DEFINE_CLEANUP(sd_event *, sd_event_unref);
DEFINE_CLEANUP(struct fetch *, fetch_free);

struct export
{
	struct exporter exporter;
	const char *endpoint;
	uint64_t delivered, rejected; /* spans */
	bool failed;		      /* a line says so */
};

/* What may be shown of a URL: its query may hold a key. */
static int shown(const char *url)
{
	return (int)strcspn(url, "?#");
}

static void say_undelivered(struct export *x, const char *why)
{
	x->failed = true;
	say("cannot deliver the spans to %.*s: %s; %" PRIu64 " were delivered before",
	    shown(x->endpoint), x->endpoint, why, x->delivered);
}

static int send_request(void *userdata, const char *body, size_t len, size_t spans)
{
	struct export *x = userdata;
	struct otlphttp_answer answer = {};
	int r = exporter_send(&x->exporter, body, len, spans, &answer);

	if (r < 0) {
		say_undelivered(x, r == -EINVAL ? "it is not an http or https URL, or names a user"
						: strerror(-r));
		return r;
	}
	if (answer.verdict != OTLPHTTP_DELIVERED) {
		say_undelivered(x, answer.text);
		return -EIO;
	}
	x->delivered += spans - answer.rejected;
	x->rejected += answer.rejected;
	if (answer.rejected)
		say("%.*s rejected %" PRIu64 " of %zu spans%s%s", shown(x->endpoint), x->endpoint,
		    answer.rejected, spans, answer.text[0] ? ": " : "", answer.text);
	else if (answer.text[0])
		say("%.*s took the spans, and warns: %s", shown(x->endpoint), x->endpoint,
		    answer.text);
	return 0;
}

/* 0, or the exit status. A secret is never sent in the clear. */
static int read_headers(struct otlphttp_headers *ret, const char *url)
{
	const char *text = getenv(HEADERS_VARIABLE);
	int r = otlphttp_read_headers(text ? text : "", ret);

	if (r < 0) {
		say("cannot read " HEADERS_VARIABLE ": %s",
		    r == -E2BIG ? "it is too long" : "it is not NAME=VALUE[,NAME=VALUE...]");
		return 1;
	}
	if (ret->secret && strncasecmp(url, "https:", 6) != 0) {
		say("the header Authorization of " HEADERS_VARIABLE " is sent by https alone");
		return 1;
	}
	return 0;
}

static int open_exporter(sd_event **ret_event, struct fetch **ret_fetch)
{
	struct fetch_why lacks;
	int r = sd_event_new(ret_event);

	if (r < 0) {
		say("cannot set up the event loop: %s", strerror(-r));
		return 1;
	}
	if (fetch_new(*ret_event, ret_fetch, &lacks) < 0) {
		say("%s", lacks.text);
		return 1;
	}
	return 0;
}

/* ca_file: NULL for the system's authorities. Returns the exit status, after a line on stdout of
 * what was delivered or one on stderr of what was not, and why. */
static int report_export(const struct account *account, const char *endpoint, const char *ca_file)
{
	_cleanup_(cleanup_sd_event_unref) sd_event *event = NULL;
	_cleanup_(cleanup_fetch_free) struct fetch *fetch = NULL;
	_cleanup_(buf_free) struct buf url = {};
	struct otlphttp_headers headers;
	struct export x;
	int r;

	otlphttp_add_url(&url, endpoint);
	if (read_headers(&headers, buf_str(&url)) || open_exporter(&event, &fetch))
		return 1;
	x = (struct export){
		.endpoint = buf_str(&url),
		.exporter = {.options = {.url = buf_str(&url),
					 .ca_file = ca_file,
					 .headers = headers.list},
			     .event = event,
			     .fetch = fetch},
	};
	r = account_otlp_requests(account, send_request, &x);
	if (r < 0 && !x.failed)
		say_undelivered(&x, strerror(-r));
	if (r < 0)
		return 1;
	printf("%" PRIu64 " spans delivered to %.*s\n", x.delivered, shown(x.endpoint), x.endpoint);
	return x.rejected ? 1 : 0;
}

/* --- the command ------------------------------------------------------------------------------ */

#define ARENA_BYTES  ((size_t)512 << 20)
#define OUTPUT_BYTES ((size_t)256 << 20)

static const struct options_help help = {
	.head = "usage: graced report [OPTIONS]\n"
		"\n"
		"Shows what happened in a shutdown, a rollout or any span of time, from the records that\n"
		"graced run wrote to the journal or a file: for each container when it was asked to stop,\n"
		"when it died, how, and what was left of its grace period; how long the delay lock was\n"
		"held, and what remained when it was released; how a boot ended, as the next one\n"
		"reported it, and what was alive then. A story that is not whole reports it.\n",
	.tail = "ASKED, DIED and EMPTY are times since the shutdown was announced, or since the first\n"
		"moment of the story. TOOK is the time from the stop signal to the exit; MARGIN is what\n"
		"was left of GRACE, negative when it overran.\n"
		"\n"
		"The exit status is 1 when there is nothing to report; 2 after wrong use.\n"
		"\n"
		"EXAMPLES\n"
		"  graced report --boot -1                    the boot before this one, and its shutdown\n"
		"  graced report --since 10m -n shop -p web-0 a pod in the last ten minutes\n"
		"  graced report --boot -1 -o svg >plot.svg   as a picture\n"
		"  graced report -o otlp --otlp-endpoint http://localhost:4318\n"
		"                                             as spans, to a collector\n",
};

struct report {
	const struct options *options;
	struct account_query query;
	struct account_log log;
	char boot[ACCOUNT_BOOT_SIZE]; /* that is asked for; "": any */
};

/* --- reading --------------------------------------------------------------------------------- */

static void take_line(void *userdata, const char *line, size_t len)
{
	struct report *report = userdata;

	account_read(&report->log, &report->query, line, len, NULL);
}

static int read_file(struct report *report, const char *path)
{
	return history_each_line(path, ACCOUNT_LINE_MAX, &report->log.unreadable, take_line,
				 report);
}

static void on_entry(void *userdata, const struct journal_entry *entry)
{
	struct report *report = userdata;
	char boot[ACCOUNT_BOOT_SIZE];

	if (!entry->by_root)
		report->log.untrusted++;
	else if (!entry->value)
		report->log.unreadable++;
	else
		account_read(&report->log, &report->query, entry->value, entry->size,
			     account_boot(entry->boot, strlen(entry->boot), boot));
}

static int choose_journal_boot(struct report *report, long offset)
{
	char boot[JOURNAL_BOOT_SIZE];
	int r = history_journal_boot(report->options, offset, boot);

	if (r == 0)
		account_boot(boot, strlen(boot), report->boot);
	return r;
}

/* Unless a span of time may have others, too. */
static void choose_this_boot(struct report *report)
{
	char boot[37];

	if (!report->options->since && !report->options->until && clock_boot_id(boot) == 0)
		account_boot(boot, strlen(boot), report->boot);
}

static int read_journal(struct report *report)
{
	const struct options *o = report->options;
	struct journal_query query = {
		.directory = o->journal_directory,
		.message_ids = journal_story_ids,
		.field = JOURNAL_RECORD,
	};
	long offset;
	int r;

	if (o->boot && when_parse_boot(o->boot, &offset)) {
		if (choose_journal_boot(report, offset))
			return 1;
	} else if (!o->boot && !o->journal_directory) {
		choose_this_boot(report);
	}
	report->query.boot = query.boot = *report->boot ? report->boot : NULL;
	r = journal_read(&query, on_entry, report);
	/* A later boot wrote how this one ended: the next one, or one after it. */
	query.message_ids = journal_boot_end_ids;
	query.boot = NULL;
	if (r >= 0)
		r = journal_read(&query, on_entry, report);
	if (r < 0)
		say("cannot read the journal: %s", journal_strerror(r));
	return r < 0;
}

static int choose_file_boot(struct report *report)
{
	const char *const *boots;
	size_t n, index;
	long offset;

	if (!report->options->file && !report->options->boot)
		choose_this_boot(report);
	if (!report->options->boot || !when_parse_boot(report->options->boot, &offset))
		return 0;
	if (account_log_boots(&report->log, &boots, &n) < 0) {
		say("cannot sort the boots: out of memory");
		return 1;
	}
	if (!when_boot_index(offset, n, &index))
		return when_no_boot(offset, n, n ? boots[n - 1] : NULL);
	snprintf(report->boot, sizeof(report->boot), "%s", boots[index]);
	return 0;
}

/* --- printing -------------------------------------------------------------------------------- */

static int write_account(struct buf *out, const struct options *o, const struct account *account)
{
	struct grid_view view;

	switch (o->report_format) {
	case REPORT_JSON:
		return account_json(out, account);
	case REPORT_SVG:
		return account_svg(out, account);
	case REPORT_TRACE_EVENT:
		return account_trace_event(out, account);
	case REPORT_OTLP:
		return account_otlp(out, account);
	case REPORT_TABLE:
		break;
	}
	view = screen_view(o);
	return account_table(out, account, &view);
}

static int print(const struct report *report, const struct account *account)
{
	_cleanup_(buf_free) struct buf out = {.limit = OUTPUT_BYTES};
	int r = write_account(&out, report->options, account);

	if (r < 0) {
		say("cannot write the report: %s", strerror(-r));
		return 1;
	}
	fwrite(buf_str(&out), 1, out.len, stdout);
	return 0;
}

static int say_nothing_found(const struct report *report)
{
	const struct account_log *log = &report->log;

	if (log->unreadable)
		say("there is no record of a stop or a shutdown; %" PRIu64 " %s", log->unreadable,
		    log->unreadable == 1 ? "line is no record" : "lines are no records");
	else
		say("there is no record of a stop or a shutdown");
	if (!log->n)
		history_say_unrecorded(report->options);
	return 1;
}

static int run_report(struct report *report)
{
	char buffer[PATH_MAX];
	const char *before, *file = history_file(report->options, buffer, &before);
	struct account account;
	int r;

	if (file ? (before && read_file(report, before)) || read_file(report, file) ||
			    choose_file_boot(report)
		 : read_journal(report))
		return 1;
	report->query.boot = *report->boot ? report->boot : NULL;
	r = account_build(&report->log, &report->query, &account);
	if (r < 0) {
		say("cannot build the report: %s", strerror(-r));
		return 1;
	}
	history_say_untrusted(report->log.untrusted);
	if (account.n == 0)
		return say_nothing_found(report);
	if (report->options->endpoint)
		return report_export(&account, report->options->endpoint,
				     report->options->endpoint_ca);
	return print(report, &account);
}

/* 0, or the exit status after wrong use. */
static int take_query(struct report *report)
{
	const struct options *o = report->options;
	long offset;

	report->query.filter = o->filter;
	if (o->endpoint && o->report_format != REPORT_OTLP)
		return say_usage("report", "--otlp-endpoint goes with -o otlp");
	if (o->endpoint_ca && !o->endpoint)
		return say_usage("report", "--otlp-ca goes with --otlp-endpoint");
	if (o->file && o->journal_directory)
		return say_usage("report", "--file or --journal-directory, not both");
	if (o->since && !when_parse(o->since, &report->query.since_ns))
		return say_usage("report", "--since wants a time, not '%s'", o->since);
	if (o->until && !when_parse(o->until, &report->query.until_ns))
		return say_usage("report", "--until wants a time, not '%s'", o->until);
	if (!o->boot || when_parse_boot(o->boot, &offset))
		return 0;
	if (!when_is_boot_id(o->boot))
		return say_usage("report", "--boot wants a number or the id of a boot, not '%s'",
				 o->boot);
	account_boot(o->boot, strlen(o->boot), report->boot);
	return 0;
}

int cmd_report(int argc, char **argv)
{
	_cleanup_(arena_free) struct arena arena = {.limit = ARENA_BYTES};
	struct options options;
	struct report report = {.options = &options, .log.arena = &arena};
	int status;

	if (!options_parse(argc, argv, &help, &options, &status))
		return status;
	if (options.first < argc)
		return say_usage("report", "'%s' is one argument too many", argv[options.first]);
	status = screen_check(&options, &account_columns);
	if (!status)
		status = take_query(&report);
	return status ? status : run_report(&report);
}
