# SPDX-License-Identifier: Apache-2.0
# What is shipped: sources, a Debian package, an image of containers, a Helm chart.

.PHONY: tarball dist check-dist deb deb-arm64 image images chart krew

tarball:
	@mkdir -p $(BUILD)
	@tools/tarball $(BUILD)

# What runs on every distribution with glibc 2.31: a tarball and an RPM.
dist:
	@mkdir -p $(BUILD)
	@tools/deps install dist
	$(call say,DIST,$(BUILD)/dist.log)
	@tools/dist/build $(BUILD)

# By hand, after make dist: on the files of Debian 11 to sid, and on those of glibc alone.
check-dist: $(BUILD)/tools/demo $(HELPERS)
	@BUILD='$(BUILD)' tools/dist/check

deb:
	@mkdir -p $(BUILD)
	@tools/deps install deb
	$(call say,DEB,$(BUILD)/deb.log)
	@tools/deb $(BUILD)

# With another compiler, and the libraries of tools/arm64/sysroot.
deb-arm64:
	@mkdir -p $(BUILD)
	@tools/deps install deb
	@tools/deps install arm64
	$(call say,DEB,$(BUILD)/deb.log)
	@tools/deb $(BUILD) '' arm64

# Its digest is printed: the same program and libraries give the same one.
image: $(BUILD)/graced
	@tools/image $(BUILD)/graced $(BUILD)/graced-image.tar
	@echo '$(BUILD)/graced-image.tar'

# For amd64 and arm64, in one archive; built on amd64.
images: image arm64
	@tools/image $(BUILD)/arm64/graced $(BUILD)/arm64/graced-image.tar
	@tools/image-index $(BUILD)/graced-images.tar $(BUILD)/graced-image.tar $(BUILD)/arm64/graced-image.tar
	@echo '$(BUILD)/graced-images.tar'

chart:
	@mkdir -p $(BUILD)
	@tools/chart pack $(BUILD)

krew:
	@mkdir -p $(BUILD)
	@tools/krew $(BUILD) $(URL)
