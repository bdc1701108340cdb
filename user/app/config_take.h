/* SPDX-License-Identifier: Apache-2.0 */
/* One function for each setting, as the table of app/config wants them: each takes a value, which
 * the configuration's store owns, or says what is wanted instead. */
#ifndef APP_CONFIG_TAKE_H
#define APP_CONFIG_TAKE_H

#include <stddef.h>

#include "app/config.h"

const char *config_take_node_name(struct config *c, const char *value, size_t index);
const char *config_take_log_level(struct config *c, const char *value, size_t index);
const char *config_take_log_format(struct config *c, const char *value, size_t index);
const char *config_take_listen(struct config *c, const char *value, size_t index);
const char *config_take_telemetry_path(struct config *c, const char *value, size_t index);
const char *config_take_web_config(struct config *c, const char *value, size_t index);
const char *config_take_insecure(struct config *c, const char *value, size_t index);
const char *config_take_scope(struct config *c, const char *value, size_t index);
const char *config_take_grace(struct config *c, const char *value, size_t index);
const char *config_take_hierarchy(struct config *c, const char *value, size_t index);
const char *config_take_nested(struct config *c, const char *value, size_t index);
const char *config_take_ring_size(struct config *c, const char *value, size_t index);
const char *config_take_log_directory(struct config *c, const char *value, size_t index);
const char *config_take_names(struct config *c, const char *value, size_t index);
const char *config_take_stdout(struct config *c, const char *value, size_t index);
const char *config_take_file(struct config *c, const char *value, size_t index);
const char *config_take_journal(struct config *c, const char *value, size_t index);
const char *config_take_signals(struct config *c, const char *value, size_t index);
const char *config_take_max_series(struct config *c, const char *value, size_t index);
const char *config_take_max_age(struct config *c, const char *value, size_t index);
const char *config_take_budget(struct config *c, const char *value, size_t index);

#endif
