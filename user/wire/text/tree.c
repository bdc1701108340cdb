// SPDX-License-Identifier: Apache-2.0
/* A line for each process, indented by who started it, as ps f has them. */
#include "wire/text/audit.h"

#include <string.h>

#include "base/cleanup.h"
#include "base/signame.h"
#include "base/utf8.h"
#include "core/tree/tree.h"
#include "wire/text/why.h"

#define NAME_MAX_COLUMNS 44
#define PID_COLUMNS	 10 /* with the space behind them */

static void add_name(struct buf *out, const struct tree_process *p)
{
	unsigned int depth = p->depth < 12 ? p->depth : 12;

	for (unsigned int i = 1; i < depth; i++)
		buf_adds(out, "   ");
	buf_adds(out, depth ? "\\_ " : "");
	tree_add_name(out, p);
}

static unsigned int measure(const struct tree *t)
{
	unsigned int widest = 0;

	for (size_t i = 0; i < t->n; i++) {
		_cleanup_(buf_free) struct buf name = {};

		add_name(&name, t->list + i);
		if (name.len > widest)
			widest = (unsigned int)name.len;
	}
	return widest < NAME_MAX_COLUMNS ? widest : NAME_MAX_COLUMNS;
}

static void add_process(struct buf *out, const struct tree *t, size_t i, unsigned int names,
			unsigned int width)
{
	_cleanup_(buf_free) struct buf line = {}, words = {};

	buf_printf(&line, "%9u ", t->list[i].process.pid);
	add_name(&line, t->list + i);
	while (line.len < PID_COLUMNS + names)
		buf_addc(&line, ' ');
	tree_add_words(&words, t, i);
	buf_adds(out, buf_str(&line));
	advice_wrap(out, buf_str(&words), (unsigned int)line.len + 2, width);
}

static void add_block(struct buf *out, const struct audit_record *r, unsigned int width)
{
	unsigned int names = measure(r->tree);
	char name[SIGNAME_SIZE];

	buf_addc(out, '\n');
	why_add_subject(out, &r->pod, &r->container);
	buf_printf(out, ": %s\n", signame_format(r->tree->signal, name));
	for (size_t i = 0; i < r->tree->n; i++)
		add_process(out, r->tree, i, names, width);
	if (r->tree->others)
		buf_printf(out, "%9s and %u more\n", "...", r->tree->others);
}

int tree_blocks(struct buf *out, const struct audit_record *records, size_t n, unsigned int width)
{
	for (size_t i = 0; i < n; i++)
		if (records[i].tree)
			add_block(out, records + i, width);
	return buf_error(out);
}
