// Modes of ge-test without text cases: ONNX's node tests and random operator cases. Parses the
// arguments and calls the mode; owns nothing. Called once, by main.
#pragma once

#include <string_view>

namespace ge::test {

bool IsSweep(std::string_view arg);
const char* SweepHelp();
// argv[1] is the mode. Returns the exit code: 0 all passed, 1 some failed, 2 bad arguments.
int RunSweep(int argc, char** argv);

}  // namespace ge::test
