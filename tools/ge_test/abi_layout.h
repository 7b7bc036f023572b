// --abi-layout: compares the layout of every struct of ge_plugin.h with the golden file, and
// GE_HEADER_HASH with the file's SHA-256. Called once, by main.
#pragma once

namespace ge::test {

// argv[1] is --abi-layout. Returns the exit code: 0 equal to the golden file, 1 not, 2 bad
// arguments.
int RunAbiLayout(int argc, char** argv);

}  // namespace ge::test
