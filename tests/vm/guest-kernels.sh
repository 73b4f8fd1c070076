#!/bin/sh
# In the guest: the predicted counts of the kernels for aarch64, by single steps.
set -- /kernels/*.truth
names=
for truth; do
	name=${truth##*/}
	names="$names ${name%.truth}"
done
exec kernels_test /kernels /kernels $names
