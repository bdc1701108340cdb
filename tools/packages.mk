# SPDX-License-Identifier: Apache-2.0
# What is shipped: sources, a Debian package, an image of containers.

.PHONY: tarball deb

tarball:
	@mkdir -p $(BUILD)
	@tools/tarball $(BUILD)

deb:
	@mkdir -p $(BUILD)
	@tools/deps install deb
	@tools/deb $(BUILD)
