/* SPDX-License-Identifier: Apache-2.0 */
/* Values of settings: the functions of the table's rows, as its take() has them, and what they
 * share with the types. */
#ifndef APP_CONFIG_VALUES_H
#define APP_CONFIG_VALUES_H

#include "app/config/settings.h"

#define VALUE_OUTCOMES \
	"graceful, terminated, killed, oom-killed, crashed, completed, failed or unknown"

/* NULL, or what is wanted instead. */
/* The minor of a Kubernetes version like 1.30 or v1.30.4+k3s1, of those whose rules are known. */
const char *value_version(const char *value, unsigned int *ret_minor);

/* Part of an entry of a list; value is NULL where there is no equals sign. Valid during the call.
 * Returns NULL, or what is wanted instead. */
typedef const char *(*value_pair_fn)(void *userdata, const char *key, const char *value);

/* Calls back for each "key=value" of a text: one a line, as an entry of the file has them, or all
 * in one line with spaces between, as flags and variables have them. NULL, or what the first call
 * that wants something else returned. */
const char *value_each_pair(const char *text, value_pair_fn fn, void *userdata);

const char *value_api_report(struct config *c, const char *value, size_t index);
const char *value_budget(struct config *c, const char *value, size_t index);
const char *value_checkpoint_file(struct config *c, const char *value, size_t index);
const char *value_color(struct config *c, const char *value, size_t index);
const char *value_container(struct config *c, const char *value, size_t index);
const char *value_control_socket(struct config *c, const char *value, size_t index);
const char *value_deaf_grace(struct config *c, const char *value, size_t index);
const char *value_pid(struct config *c, const char *value, size_t index);
const char *value_pre_stop(struct config *c, const char *value, size_t index);
const char *value_helpers(struct config *c, const char *value, size_t index);
const char *value_stop_units(struct config *c, const char *value, size_t index);
const char *value_table(struct config *c, const char *value, size_t index);
const char *value_grace_by_priority(struct config *c, const char *value, size_t index);
const char *value_managed(struct config *c, const char *value, size_t index);
const char *value_grace(struct config *c, const char *value, size_t index);
const char *value_journal(struct config *c, const char *value, size_t index);
const char *value_host(struct config *c, const char *value, size_t index);
const char *value_listen(struct config *c, const char *value, size_t index);
const char *value_log_format(struct config *c, const char *value, size_t index);
const char *value_log_level(struct config *c, const char *value, size_t index);
const char *value_names(struct config *c, const char *value, size_t index);
const char *value_namespace(struct config *c, const char *value, size_t index);
const char *value_nested(struct config *c, const char *value, size_t index);
const char *value_node_name(struct config *c, const char *value, size_t index);
const char *value_outcome(struct config *c, const char *value, size_t index);
const char *value_output(struct config *c, const char *value, size_t index);
const char *value_pod(struct config *c, const char *value, size_t index);
const char *value_file_size(struct config *c, const char *value, size_t index);
const char *value_ring_size(struct config *c, const char *value, size_t index);
const char *value_check_output(struct config *c, const char *value, size_t index);
const char *value_report_format(struct config *c, const char *value, size_t index);
const char *value_roots(struct config *c, const char *value, size_t index);
const char *value_scope(struct config *c, const char *value, size_t index);
const char *value_sender(struct config *c, const char *value, size_t index);
const char *value_shutdown_mode(struct config *c, const char *value, size_t index);
const char *value_signal(struct config *c, const char *value, size_t index);
const char *value_taint_after(struct config *c, const char *value, size_t index);
const char *value_taint_effect(struct config *c, const char *value, size_t index);
const char *value_telemetry_path(struct config *c, const char *value, size_t index);
const char *value_trial_format(struct config *c, const char *value, size_t index);

/* Gives the setting a value, which config borrows. NULL, or what is wanted instead. */
const char *value_take(const struct setting *setting, struct config *config, const char *value,
		       size_t index);

#endif
