# SPDX-License-Identifier: Apache-2.0
# What is shipped: sources, a Debian package, an image of containers.

.PHONY: tarball

tarball:
	@mkdir -p $(BUILD)
	@tools/tarball $(BUILD)
