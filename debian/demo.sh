#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Installed as graced-demo: the demo, with the graced of the package.
here=/usr/libexec/graced-demo
export GRACED="${GRACED:-/usr/sbin/graced}" HELPERS=$here/helpers
exec $here/demo
