// SPDX-License-Identifier: Apache-2.0
/* Whether logind waits as long as the kubelet's groups take, and which of its files has the last
 * word on that. */
#include "app/commands/check/delay.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/time.h"
#include "io/logind/delay.h"

static void add_seconds(struct buf *out, uint64_t ns)
{
	if (ns == UINT64_MAX)
		buf_adds(out, "for ever");
	else if (ns % NS_PER_S)
		buf_printf(out, "%.3f s", (double)ns / (double)NS_PER_S);
	else
		buf_printf(out, "%llu s", (unsigned long long)(ns / NS_PER_S));
}

static uint64_t ns_of(uint64_t us)
{
	uint64_t ns;

	return __builtin_mul_overflow(us, NS_PER_US, &ns) ? UINT64_MAX : ns;
}

static void tell_limit(uint64_t limit_ns, uint64_t need_ns, check_shutdown_fn fn, void *userdata)
{
	_cleanup_(buf_free) struct buf text = {};

	if (!limit_ns) {
		fn(userdata, false, "shutdown delay", "logind does not tell how long it waits");
		return;
	}
	buf_adds(&text, "logind waits ");
	add_seconds(&text, limit_ns);
	if (need_ns) {
		buf_adds(&text, ", the kubelet's groups take ");
		add_seconds(&text, need_ns);
	}
	fn(userdata, limit_ns >= need_ns, "shutdown delay", buf_str(&text));
}

static void add_path(struct buf *out, const struct delaydrop_files *files,
		     const struct delaylimit_file *file)
{
	const char *place = delaydrop_places[files->places[file - files->list]];

	buf_printf(out, "%s/logind.conf%s%s", place, *file->name ? ".d/" : "", file->name);
}

/* Whose word is to be the last: ours, where it is there. */
static const char *raised_by(const struct delaydrop_files *files)
{
	for (size_t i = 0; i < files->n; i++)
		if (strcmp(files->list[i].name, DELAYDROP_NAME) == 0)
			return DELAYDROP_NAME;
	return DELAYDROP_KUBELET;
}

static void add_pin(struct buf *out, const struct delaydrop_files *files,
		    const struct delaylimit_file *pin, const char *own)
{
	if (pin->broken && strcmp(pin->name, own) < 0) {
		buf_adds(out, "logind stops reading in ");
		add_path(out, files, pin);
		buf_printf(out, ", %s is not read: mend it or remove it", own);
		return;
	}
	add_path(out, files, pin);
	buf_adds(out, " says ");
	add_seconds(out, ns_of(pin->us));
	buf_printf(out, " after %s: raise its InhibitDelayMaxSec or remove it", own);
}

/* What nobody keeps low. */
static void add_last_word(struct buf *out, const struct delaydrop_files *files, bool raised)
{
	const struct delaylimit_file *last = delaylimit_last_word(files->list, files->n);

	if (last)
		add_path(out, files, last);
	else
		buf_adds(out, "no file");
	buf_printf(out, " has the last word%s", last ? ", " : "");
	if (last)
		add_seconds(out, ns_of(last->us));
	buf_adds(out, raised ? "" : "; a kubelet that starts raises it");
}

static void tell_files(uint64_t limit_ns, uint64_t need_ns, check_shutdown_fn fn, void *userdata)
{
	_cleanup_(cleanup_free) struct delaydrop_files *files = calloc(1, sizeof(*files));
	_cleanup_(buf_free) struct buf text = {};
	const struct delaylimit_file *pin = NULL;
	bool raised, unread;

	if (!files || delaydrop_read("", files) < 0)
		return;
	raised = ns_of(delaylimit_of_files(files->list, files->n)) >= need_ns;
	unread = raised && limit_ns && limit_ns < need_ns;
	if (!raised)
		pin = delaylimit_pin(files->list, files->n, raised_by(files),
				     need_ns / NS_PER_US + (need_ns % NS_PER_US > 0));
	if (pin)
		add_pin(&text, files, pin, raised_by(files));
	else
		add_last_word(&text, files, raised);
	if (unread)
		buf_adds(&text, ", and logind has not read it: "
				"systemctl kill --signal=HUP systemd-logind.service");
	fn(userdata, !pin && !unread, "delay drop-ins", buf_str(&text));
	delaydrop_done(files);
}

void check_delay(uint64_t limit_ns, uint64_t need_ns, check_shutdown_fn fn, void *userdata)
{
	tell_limit(limit_ns, need_ns, fn, userdata);
	if (need_ns)
		tell_files(limit_ns, need_ns, fn, userdata);
}
