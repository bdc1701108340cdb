# SPDX-License-Identifier: Apache-2.0
# Targets for people who change graced: style, fuzzing, coverage, a build for the other machine.

.PHONY: quick walk generated goldens fmt lint fuzz fuzz-targets coverage arm64 check-arm64 screenshots

STYLED = $(shell find bpf include user tests tools vmlinux -name '*.[ch]' 2>/dev/null)

quick: deps
	@BUILD='$(BUILD)' tools/check-run quick

walk: $(UNIT)
	@BUILD='$(BUILD)' tools/check-run walk

generated: $(BUILD)/graced $(BUILD)/tools/settings $(BUILD)/tools/records
	tools/generate

# A member that is new, where it says nothing.
goldens: $(BUILD)/graced
	@GRACED='$(BUILD)/graced' tests/replay/run.sh grow

# What changed since it was last formatted, or found to be.
fmt: $(BUILD)/formatted
$(BUILD)/formatted: .clang-format $(STYLED)
	clang-format -i $(if $(filter .clang-format,$?),$(STYLED),$?)
	@mkdir -p $(@D) && touch $@

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

# Draws docs/*.png anew.
screenshots: $(BUILD)/tools/metrics_story
	@BUILD='$(BUILD)' tools/screenshots docs

# graced and every test for arm64, with clang and the packages that tools/arm64/sysroot unpacks.
arm64:
	@tools/deps install arm64
	$(Q)$(MAKE) --no-print-directory BUILD=$(BUILD)/arm64 VARIANT=arm64 portable
	@echo '$(BUILD)/arm64/graced'

# What needs no kernel, in an emulator of programs.
check-arm64: deps
	@tools/deps install arm64
	@BUILD='$(BUILD)' tools/check-run arm64
