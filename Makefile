# Thin: meson does the building. `make check` installs what is missing, builds and runs every test.
BUILD := build
PACKAGES := gcc meson ninja-build pkg-config python3 libgsl-dev libjansson-dev libpfm4-dev

.PHONY: check build dependencies clean

check: build
	tools/run-tests $(BUILD)

build: dependencies
	[ -f $(BUILD)/build.ninja ] || meson setup $(BUILD)
	ninja -C $(BUILD)

dependencies:
	tools/install-dependencies $(PACKAGES)

clean:
	rm -rf $(BUILD)
