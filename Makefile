# Thin: meson does the building. Every target installs the Debian packages that it misses (root, or sudo).
#
#   make              builds: the command is build/tare
#   make demo         builds, and counts a real program
#   make check        every test: plain build, sanitized build, fuzzers, the guest with a PMU
#   make check-programs  all of tests/programs, natively and under the engine; installs what they need, rewrites its table
#   make check-quick  the plain build's tests but those of the guest and of the engine (tools/run-tests build:engine), and those that
#                     take longest (LONG): for the loop while working
#   make check-full   what is long: other CPUs, surroundings and Debians, everything in breadth (tests/README.md); goes on where it was
#                     ROWS="cpu-* debian-13" runs some of it
#   make bench        speed, as ratios against peers in one run
#   make install      command, library, header, manual pages, completions, data, kernels (DESTDIR, PREFIX)
#
#   TARE_NO_GUEST=1 make check    leaves the guest out, and says so
BUILD := build
SANITIZED := $(BUILD)/sanitized
PREFIX := /usr/local
# neither tests nor the demonstration leave runs in the user's store
export TARE_STORE := none

BUILD_PACKAGES := gcc libc6-dev meson ninja-build pkg-config python3 scdoc libgsl-dev libjansson-dev libpfm4-dev \
	libdw-dev libelf-dev libdebuginfod-dev libiberty-dev zlib1g-dev libsqlite3-dev libzydis-dev
CHECK_PACKAGES := g++ gfortran clang clang-format libclang-rt-dev python3-jsonschema valgrind python3-pytest python3-prometheus-client openmpi-bin libopenmpi-dev mpich libmpich-dev qemu-user gcc-aarch64-linux-gnu libc6-dev-arm64-cross zsh fish nodejs tidy chromium
# its package starts a server where a service manager runs: there, its tests are skipped unless it is installed already
SERVICE_PACKAGES := $(if $(wildcard /run/systemd/system),,prometheus)
# small ones of tests/programs' core that a Debian may lack
PROGRAM_PACKAGES := bc busybox-static bzip2 git jq lua5.4 luajit make mawk openssl patch perl pigz python3 sqlite3 tmux xz-utils zstd

# tests that take most of the time, which check-quick leaves out
LONG := annotate calls callgrind export html progress ranks_mpi region same verify verify_counters verify_faults
LONG := $(LONG:%=cli_%) python_pytest sweeps_test run_test reference_test inline_test model_filters_test stats_coverage_test gaps_test \
	ranks_test mutations kernel_counts
empty :=
comma := ,
LONG := $(subst $(empty) $(empty),$(comma),$(strip $(LONG)))
# of the sanitized build, make check leaves out what takes long there and goes the ways of others; make check-full's row "sanitized" has all
SIMILAR := story_adi story_python_service story_hash_map story_lock story_compress story_swim story_square_root story_rounding story_convolution \
	parts_models inline_places decode_oracle cli_verify_counters cli_languages cli_advice sweeps_test
SIMILAR := $(subst $(empty) $(empty),$(comma),$(strip $(SIMILAR)))

.PHONY: demo check check-quick check-programs check-full bench install build plain sanitized guest clean

build:
	tools/install-dependencies $(BUILD_PACKAGES)
	[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD) -Dtests=false
	ninja -C $(BUILD)

demo: build
	tools/demo $(BUILD)

check: plain sanitized guest
	tools/run-tests $(BUILD) $(SANITIZED):-vm,pmu,tools,programs,$(SIMILAR)

check-quick: plain
	tools/run-tests $(BUILD):-vm,pmu,programs,engine,$(LONG)

# every row runs, and the table is kept, whatever fails
check-full: plain sanitized guest
	tools/check-full $(BUILD) $(SANITIZED) $(ROWS)

check-programs: plain
	tests/programs/run --all --table tests/programs/README.md --tare $(BUILD)/src/cli/tare

bench: plain
	failed=0; for table in run regions engine short model store calls lines explain stories compare report sampling; do bench/$$table $(BUILD) || failed=1; done; exit $$failed

install: build
	meson configure $(BUILD) -Dprefix=$(PREFIX)
	meson install -C $(BUILD)

plain:
	tools/install-dependencies $(BUILD_PACKAGES) $(CHECK_PACKAGES) $(SERVICE_PACKAGES) $(PROGRAM_PACKAGES)
	[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD)
	meson configure $(BUILD) -Dtests=true
	ninja -C $(BUILD)

# clang: it has libFuzzer; ASan and UBSan on everything
sanitized: plain
	[ -f $(SANITIZED)/build.ninja ] || CC=clang CXX=clang++ meson setup $(SANITIZED) \
		-Db_sanitize=address,undefined -Db_lundef=false -Dfuzz=true
	ninja -C $(SANITIZED)

# Fetches and cross-builds what the test guest needs; if that fails, its test says so and fails. TARE_NO_GUEST=1: no guest.
guest: plain
	-[ "$$TARE_NO_GUEST" = 1 ] || tests/vm/prepare $(BUILD)/guest
	-[ "$$TARE_NO_GUEST" = 1 ] || tests/vm/cpu/prepare $(BUILD)/cpus

clean:
	rm -rf $(BUILD)
