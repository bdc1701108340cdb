// SPDX-License-Identifier: Apache-2.0
/* Lays out the words of an audit. */
#include "wire/text/audit.h"

#include "base/cleanup.h"
#include "core/stop/advice.h"
#include "wire/text/why.h"
#include "wire/text/wrap.h"

#define INDENT WRAP_INDENT

void advice_wrap(struct buf *out, const char *text, unsigned int column, unsigned int width)
{
	unsigned int indent = width < column + WRAP_WIDTH_MIN ? 2 * INDENT : column;

	buf_printf(out, "%*s", INDENT, "");
	wrap_text(out, text, column, indent, width);
}

static void add_why(struct buf *out, unsigned int topic, const struct audit_record *r,
		    unsigned int width)
{
	_cleanup_(buf_free) struct buf text = {};

	why_add_subject(&text, &r->pod, &r->container);
	buf_adds(&text, ": ");
	advice_add_why(&text, topic, r);
	buf_addc(&text, '.');
	wrap_line(out, INDENT, buf_str(&text), width);
}

static void add_remedy(struct buf *out, unsigned int topic, unsigned int width)
{
	_cleanup_(buf_free) struct buf text = {};

	buf_printf(&text, "What to do: %s", advice_remedy(topic));
	wrap_line(out, INDENT, buf_str(&text), width);
}

static void add_paragraph(struct buf *out, unsigned int topic, const struct audit_record *records,
			  size_t n, unsigned int width)
{
	size_t found = 0;

	for (size_t i = 0; i < n; i++) {
		if (!advice_applies(topic, records + i))
			continue;
		if (!found++)
			buf_printf(out, "\n%s\n", advice_name(topic));
		if (found <= ADVICE_LISTED_MAX)
			add_why(out, topic, records + i, width);
	}
	if (found > ADVICE_LISTED_MAX)
		buf_printf(out, "  ... and %zu more\n", found - ADVICE_LISTED_MAX);
	if (found)
		add_remedy(out, topic, width);
}

int advice_paragraphs(struct buf *out, const struct audit_record *records, size_t n,
		      unsigned int width)
{
	for (unsigned int topic = 0; topic < ADVICE_TOPICS; topic++)
		if (advice_is_trouble(topic))
			add_paragraph(out, topic, records, n, width);
	return buf_error(out);
}

int advice_lines(struct buf *out, const struct audit_record *r, unsigned int width)
{
	for (unsigned int topic = 0; topic < ADVICE_TOPICS; topic++) {
		_cleanup_(buf_free) struct buf text = {};

		if (!advice_is_trouble(topic) || !advice_applies(topic, r))
			continue;
		buf_printf(&text, "%s: ", advice_name(topic));
		advice_add_why(&text, topic, r);
		buf_printf(&text, ". %s", advice_remedy(topic));
		wrap_line(out, INDENT, buf_str(&text), width);
	}
	return buf_error(out);
}
