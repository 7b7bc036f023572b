// The body of Shrink: it replaces a node's results by earlier values of the same type.
#pragma once

#include "tools/adcheck/program.h"

namespace ge::adcheck {

inline void RenameIn(ProgramFunction* function, size_t from, const std::string& old_name,
                     const std::string& new_name) {
  for (size_t i = from; i < function->nodes.size(); ++i) {
    for (std::string& in : function->nodes[i].in) {
      if (in == old_name) in = new_name;
    }
  }
  for (std::string& r : function->results) {
    if (r == old_name) r = new_name;
  }
}

// Names of values before node n of this type, the earliest first.
inline std::vector<std::string> Before(const ProgramFunction& function, size_t n,
                                       const std::string& type) {
  std::vector<std::string> names;
  for (const ProgramValue& v : function.params) {
    if (v.type == type) names.push_back(v.name);
  }
  for (size_t i = 0; i < n; ++i) {
    for (const ProgramValue& v : function.nodes[i].out) {
      if (v.type == type) names.push_back(v.name);
    }
  }
  if (type == "f64[]") names.push_back("half");
  if (type == "f64[3]") names.push_back("three");
  return names;
}

// The program without node n, or unchanged if no earlier value can replace its results.
inline Program Without(const Program& program, size_t f, size_t n, size_t choice, bool* changed) {
  Program less = program;
  ProgramFunction& fn = less.functions[f];
  *changed = false;
  for (const ProgramValue& v : program.functions[f].nodes[n].out) {
    const std::vector<std::string> names = Before(program.functions[f], n, v.type);
    bool used = false;
    for (size_t i = n + 1; i < fn.nodes.size(); ++i) {
      for (const std::string& in : fn.nodes[i].in) used = used || in == v.name;
    }
    for (const std::string& r : fn.results) used = used || r == v.name;
    if (!used) continue;
    if (v.type.empty() || choice >= names.size()) return program;
    RenameIn(&fn, n + 1, v.name, names[choice]);
  }
  fn.nodes.erase(fn.nodes.begin() + static_cast<std::ptrdiff_t>(n));
  *changed = true;
  return less;
}

// Bounds the tries: a program small enough to read is worth more than the smallest one.
inline constexpr int kMostTries = 400;

template <class Fails>
void Shrink(Program* program, const Fails& fails) {
  int tries = 0;
  for (bool again = true; again;) {
    again = false;
    for (size_t f = program->functions.size(); f-- > 0;) {
      for (size_t n = program->functions[f].nodes.size(); n-- > 0;) {
        for (size_t choice = 0; choice < 3; ++choice) {
          bool changed = false;
          const Program less = Without(*program, f, n, choice, &changed);
          if (!changed) continue;
          if (++tries > kMostTries) return;
          if (!fails(less)) continue;
          *program = less;
          again = true;
          break;
        }
      }
    }
  }
}

}  // namespace ge::adcheck
