// Program: a random model with control flow, kept as functions and nodes so that a failing one can
// be shrunk. Values are scalars, vectors of three and matrices of three by three; loops squash the
// values that they carry, so numbers stay small.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "tools/adcheck/check.h"

namespace ge::adcheck {

struct ProgramValue {
  std::string name, type;  // "f64[3]"; "" = not said
};
struct ProgramNode {
  std::vector<ProgramValue> out;
  std::string op;
  std::vector<std::string> in;
  std::string attrs;                                       // "{keepdims=0}"
  std::vector<std::pair<std::string, std::string>> calls;  // role, function
};
struct ProgramFunction {
  std::string name;
  std::vector<ProgramValue> params;
  std::vector<ProgramNode> nodes;
  std::vector<std::string> results;
  bool recursive = false;
};
struct Program {
  std::vector<ProgramFunction> functions;  // the last is the entry
  Arrays inputs;
  std::vector<std::string> wrt;
  std::string Text() const;  // without functions that nothing names
  size_t nodes() const;
};

struct ProgramOptions {
  bool recursion = false, closures = false;
};
Program MakeProgram(uint64_t seed, const ProgramOptions& options);

// Removes nodes while `fails` returns true.
template <class Fails>
void Shrink(Program* program, const Fails& fails);

}  // namespace ge::adcheck

#include "tools/adcheck/shrink.h"
