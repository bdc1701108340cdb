// SPDX-License-Identifier: GPL-2.0 OR BSD-2-Clause
/* Defines the maps and the configuration that the other files share, and the licence. */
#define GRACED_DEFINE_SHARED
#include "graced.bpf.h"

char LICENSE[] SEC("license") = "Dual BSD/GPL";
