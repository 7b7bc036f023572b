// Case: one line of tools/adcheck/cases/*, a node with its inputs, and a model that runs it. The
// README there describes a line.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "tools/adcheck/model.h"

namespace ge::adcheck {

struct CaseInput {
  bool absent = false, constant = false;
  std::string dtype;          // "f64"
  std::vector<int64_t> dims;  // of a tensor that is filled
  std::string text;           // of a constant: "i64[2] = [0, 1]"
  bool ranged = false;
  double low = 0, high = 0;
  std::vector<double> at;  // the point itself, where it is stated
};

struct Case {
  std::string where;  // "reduce.gt:12"
  std::string line;   // as it was written
  std::string domain, op, attrs;
  std::vector<CaseInput> in;
  std::vector<bool> out;                    // false: left out
  std::vector<std::vector<double>> slopes;  // stated ones, by filled input
  std::vector<std::vector<double>> bends;   // sums of the rows of the Hessian of the sum, likewise
  bool only_static = false;
  std::string untested;  // why this operator has no case: the line "untested Op: why"
};

struct CaseLine {
  std::string where;  // "reduce.gt:12"
  std::string text;   // without comments
};
// Every line of a folder's *.txt, in order of names.
Result<std::vector<CaseLine>> ReadLines(const std::string& folder);
// Every case of a folder; DATA_CORRUPT names file and line.
Result<std::vector<Case>> ReadCases(const std::string& folder);
// whole_numbers: inputs may be filled with them, too.
Result<Case> ParseCase(const std::string& line, const std::string& where,
                       bool whole_numbers = false);

// Whether a list asks for an operator, "ge.AdamStep": all, or "MatMul,ge.AdamStep".
bool IsListed(const std::string& list, const std::string& name);

// Output k as y<k>; input i as x<i>. `symbolic`: sizes of filled inputs are symbols.
std::string TextOf(const Case& sample, bool symbolic);
// Indices of the inputs that are filled.
std::vector<uint32_t> Filled(const Case& sample);
Arrays FillInputs(const Case& sample, std::mt19937_64& random);
bool IsEmpty(const Case& sample);  // some filled input has no element

}  // namespace ge::adcheck
