// SPDX-License-Identifier: Apache-2.0
/* What a stop would do to a container that runs. */
#include <string.h>

#include "base/duration.h"
#include "core/stop/advice.h"
#include "core/story/part.h"
#include "core/story/phrase.h"
#include "core/tree/tree.h"

/* Whether its stop signal was sent, and nothing has taken it. */
static bool is_asked(const struct audit_record *look)
{
	return look->audit.warnings >> AUDIT_PENDING & 1;
}

/* --- the sentence ------------------------------------------------------------------------------ */

/* $ stands for the signal. */
static void expand(struct buf *out, const char *text, uint32_t signal)
{
	size_t len = strcspn(text, "$");

	buf_add(out, text, len);
	if (!text[len])
		return;
	phrase_add_signal(out, signal);
	buf_adds(out, text + len + 1);
}

static void add_verdict(struct buf *out, const struct audit_record *look, unsigned int *ret_topic)
{
	static const char *const begins[AUDIT_VERDICT_COUNT] = {
		[AUDIT_HEARS] = "It would act on $: ",
		[AUDIT_DIES] = "",
		[AUDIT_DEAF] = "$ would not end it: ",
		[AUDIT_IGNORES] = "$ would not end it: ",
		[AUDIT_UNKNOWN] = "What $ would do is not known: ",
	};
	const char *begin = begins[look->audit.verdict];

	*ret_topic = look->audit.reason;
	if (advice_find_deafness(&look->audit, ret_topic) && !audit_is_deaf(&look->audit))
		begin = "$ may not end it: ";
	expand(out, begin, look->facts.signal);
	advice_add_story(out, *ret_topic, look);
}

static void add_kill(struct buf *out, const struct audit_record *look)
{
	char text[DURATION_SIZE];

	if (!audit_is_deaf(&look->audit))
		return;
	if (grace_known(&look->grace))
		buf_printf(out, ". It would be killed after its grace period of %s",
			   duration_format(look->grace.ns, text));
	else
		buf_adds(out, ". It would be killed when its grace period is over");
}

static void add_warning(struct buf *out, const struct audit_record *look, unsigned int topic)
{
	unsigned int warning = advice_warning(look);

	if (warning == ADVICE_TOPICS || warning == topic ||
	    warning == AUDIT_REASON_COUNT + AUDIT_PENDING)
		return;
	buf_adds(out, "; ");
	advice_add_story(out, warning, look);
}

/* What one look cannot show of a stop that may be under way. */
static void add_unknown(struct buf *out, const struct audit_record *look, bool daemon)
{
	if (is_asked(look)) {
		expand(out, ". $ was sent to it and no thread has taken it: ", look->facts.signal);
		buf_printf(out,
			   "by whom, when, and how much of its grace period is used is not known, "
			   "as %s",
			   daemon ? "graced run has not seen that" : "no graced run answers");
	} else if (!daemon) {
		buf_adds(out,
			 ". Whether it is being stopped already is not known, as no graced run "
			 "answers");
	}
}

void story_add_running(struct buf *out, const struct audit_record *look, bool daemon)
{
	unsigned int topic;

	add_verdict(out, look, &topic);
	add_kill(out, look);
	add_warning(out, look, topic);
	add_unknown(out, look, daemon);
	buf_addc(out, '.');
}

/* --- its processes ----------------------------------------------------------------------------- */

static unsigned int worth(const struct tree *tree, size_t i, uint32_t pid)
{
	static const unsigned int fates[TREE_FATE_COUNT] = {
		[TREE_CUT] = 4, [TREE_IGNORES] = 3, [TREE_UNKNOWN] = 2, [TREE_RECEIVES] = 1};
	const struct tree_process *p = tree->list + i;

	return !i || p->process.pid == pid ? 5 : fates[p->fate];
}

size_t story_members(const struct audit_record *look, uint32_t pid, size_t ret[STORY_LINES],
		     size_t *ret_more)
{
	const struct tree *tree = look->tree;
	size_t n = 0, least;

	*ret_more = tree ? tree->others : 0;
	for (size_t i = 0; tree && i < tree->n; i++) {
		if (n < STORY_LINES) {
			ret[n++] = i;
			continue;
		}
		++*ret_more;
		least = STORY_LINES - 1;
		for (size_t k = least; k-- > 0;)
			if (worth(tree, ret[k], pid) < worth(tree, ret[least], pid))
				least = k;
		if (worth(tree, i, pid) <= worth(tree, ret[least], pid))
			continue;
		memmove(ret + least, ret + least + 1, (n - 1 - least) * sizeof(*ret));
		ret[n - 1] = i;
	}
	return n;
}
