/* SPDX-License-Identifier: Apache-2.0 */
/* What is certain of any observation, wherever it comes from. */
#ifndef TESTS_LIB_ENGINE_OBSENDS_H
#define TESTS_LIB_ENGINE_OBSENDS_H

#include "core/facts/observation.h"

/* Its strings end and its bools are 0 or 1; nothing else about it is certain. */
void obsends_end(struct obs *obs);

#endif
