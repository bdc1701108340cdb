# SPDX-License-Identifier: Apache-2.0
# Targets for people who change graced: style, fuzzing, coverage, a build for the other machine.

.PHONY: fmt lint fuzz fuzz-targets coverage arm64 arm64-objects

STYLED = $(shell find bpf include user tests tools vmlinux -name '*.[ch]' 2>/dev/null)

fmt:
	clang-format -i $(STYLED)

lint:
	tools/check-layers
	tools/check-style
	tools/check-citations
	@clang-format --dry-run -Werror $(STYLED)
	@if command -v cppcheck >/dev/null; then set -x; \
	cppcheck -q --std=c11 --error-exitcode=1 --inline-suppr --enable=warning,portability \
		--suppress=missingIncludeSystem -Iuser -Iinclude user; \
	else echo 'lint also runs cppcheck where it is installed'; fi

# What is found stays in $(BUILD)/fuzz; the stored corpus is not written to.
fuzz:
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/fuzz VARIANT=fuzz fuzz-targets
	@BUILD='$(BUILD)/fuzz' tools/fuzz-run $(TIME)

fuzz-targets: $(FUZZ)

coverage:
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/coverage VARIANT=coverage portable
	@BUILD='$(BUILD)/coverage' tools/check-run unit vectors replay
	@tools/coverage-report '$(BUILD)/coverage'

# Both halves are compiled for arm64 and the skeleton is made, but nothing is linked. The C library's
# headers are taken from Debian's cross packages without installing them; other libraries' are the
# same on every machine.
arm64:
	@tools/arm64-sysroot '$(BUILD)/arm64/sysroot'
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/arm64 VARIANT=arm64 arm64-objects

arm64-objects: $(SKEL) $(BUILD)/user/app/main.o $(foreach l,$(LAYERS),$(call layer-objs,$(l)))
	@echo 'arm64: $(words $^) files compiled'
