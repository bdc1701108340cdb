/* SPDX-License-Identifier: Apache-2.0 */
/* A shutdown of the node, by the configurations of graced and of the kubelet. */
#ifndef APP_CONFIG_SHUTDOWN_H
#define APP_CONFIG_SHUTDOWN_H

#include "app/config/config.h"
#include "core/shutdown/plan.h"

/* --- the kubelet's configuration file, as far as it is about shutdowns of the node ------------- */

#define KUBELETFILE_DEFAULT "/var/lib/kubelet/config.yaml"

struct kubeletfile {
	const char *path; /* NULL: where it is by default, and that it is not there says nothing */
	unsigned int minor; /* of the kubelet's version */
	bool any_writer;    /* taken whatever its owner and mode are, and from a pipe */
};

/* A sentence for a person, with the path, without a full stop. */
struct kubeletfile_why {
	char text[1024];
};

/* False: the default file does not exist, so that there may be no kubelet. */
bool kubeletfile_is_there(const struct kubeletfile *file);

/* --- groups in which pods are ended ------------------------------------------------------------- */

/* In mode manage graced's own settings have them, where there are any, else the kubelet's file. */

/* True: they are wrong together, and why is added, in the kubelet's words. */
bool groups_refuse(const struct config_groups *groups, struct buf *ret_why);

/* Any are given. */
bool groups_are_given(const struct config_groups *groups);

/* Whether it is graced's own that count. */
bool groups_are_own(const struct config_shutdown *options);

/* Those that count: the kubelet's, and graced's own by the rules of the newest kubelet. They are
 * the arena's. 0; -EBADMSG for what a kubelet would not start with, -EPERM for what others may have
 * written, -ENOENT, …: *ret is without groups then, and *ret_why is filled. */
int groups_plan(const struct config_shutdown *options, const struct kubeletfile *file,
		struct arena *arena, struct shutplan *ret, struct kubeletfile_why *ret_why);

/* How long logind has to wait for it all, shutdown.extra included; 0: it need not wait. */
uint64_t groups_need_ns(const struct config_shutdown *options, const struct shutplan *plan);

/* --- what is likely to go wrong in mode manage -------------------------------------------------- */

#define MANAGE_POD_STATUS   "pod status"
#define MANAGE_KUBELET_UNIT "kubelet unit"

/* name: what it is about, in few words; both are valid during the call. */
typedef void (*manage_fn)(void *userdata, const char *name, const char *text);

/* Calls back for each; for none in other modes. file is the kubelet's, and is read. */
void manage_warn(const struct config_shutdown *options, const struct kubeletfile *file,
		 manage_fn fn, void *userdata);

/* Whether a kubelet's unit is among those that mode manage stops. */
bool manage_stops_kubelet(const struct config_shutdown *options);

/* What of api.report: status and shutdown.outOfServiceTaint has no effect, in any mode. */
void manage_warn_of_writing(const struct config_shutdown *options, manage_fn fn, void *userdata);

#endif
