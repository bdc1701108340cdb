// SPDX-License-Identifier: Apache-2.0
/* Lays out the words of an audit. */
#include "wire/text/audit.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/utf8.h"
#include "core/stop/advice.h"
#include "wire/text/wrap.h"

#define INDENT	  WRAP_INDENT
#define ID_LENGTH 12 /* of a container without a name */

void advice_wrap(struct buf *out, const char *text, unsigned int column, unsigned int width)
{
	unsigned int indent = width < column + WRAP_WIDTH_MIN ? 2 * INDENT : column;

	buf_printf(out, "%*s", INDENT, "");
	wrap_text(out, text, column, indent, width);
}

void advice_add_container(struct buf *out, const struct audit_record *r)
{
	const struct record_container *c = &r->container;

	if (r->pod.name) {
		if (r->pod.namespace_) {
			utf8_add_readable(out, r->pod.namespace_);
			buf_addc(out, '/');
		}
		utf8_add_readable(out, r->pod.name);
		buf_addc(out, ' ');
	}
	if (c->name)
		utf8_add_readable(out, c->name);
	else if (c->id)
		utf8_add_visible(out, c->id, strnlen(c->id, ID_LENGTH));
	else
		utf8_add_readable(out, c->cgroup ? c->cgroup : "-");
}

static void add_why(struct buf *out, unsigned int topic, const struct audit_record *r,
		    unsigned int width)
{
	_cleanup_(buf_free) struct buf text = {};

	advice_add_container(&text, r);
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
