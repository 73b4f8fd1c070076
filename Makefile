# Thin: meson does the building. Every target installs the Debian packages that it misses (root, or sudo).
#
#   make demo         builds, and counts a real program
#   make check        every test: plain build, sanitized build, fuzzers, the guest with a PMU
#   make check-quick  the plain build's tests on this machine, for the loop while working
#   make bench        speed, as ratios against peers in one run
#   make install      command, library, header, manual pages, completions, data, kernels (DESTDIR, PREFIX)
BUILD := build
SANITIZED := $(BUILD)/sanitized
PREFIX := /usr/local

BUILD_PACKAGES := gcc libc6-dev meson ninja-build pkg-config python3 scdoc libgsl-dev libjansson-dev libpfm4-dev
CHECK_PACKAGES := g++ clang libclang-rt-14-dev libzydis-dev python3-jsonschema

.PHONY: demo check check-quick bench install build plain sanitized clean

demo: build
	tools/demo $(BUILD)

check: plain sanitized
	tools/run-tests $(BUILD) $(SANITIZED):-vm,pmu,tools

check-quick: plain
	tools/run-tests $(BUILD):-vm,pmu

bench: build
	bench/run $(BUILD)

install: build
	meson configure $(BUILD) -Dprefix=$(PREFIX)
	meson install -C $(BUILD)

build:
	tools/install-dependencies $(BUILD_PACKAGES)
	[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD) -Dtests=false
	ninja -C $(BUILD)

plain:
	tools/install-dependencies $(BUILD_PACKAGES) $(CHECK_PACKAGES)
	[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD)
	meson configure $(BUILD) -Dtests=true
	ninja -C $(BUILD)

# clang: it has libFuzzer; ASan and UBSan on everything
sanitized: plain
	[ -f $(SANITIZED)/build.ninja ] || CC=clang CXX=clang++ meson setup $(SANITIZED) \
		-Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true
	ninja -C $(SANITIZED)

clean:
	rm -rf $(BUILD)
