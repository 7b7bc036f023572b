# What adcheck.sh and all/gradients/adcheck.sh share; both source it. The counts that they print last.
build=${GE_BUILD:-build/release}
. tests/e2e/counted_step.bash

# step ARGUMENTS...: runs ge-adcheck and adds what its last line counts.
step() { counted ge-adcheck "$@"; }
