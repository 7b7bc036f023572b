// Factors: the text of a rule, and the ways in which it splits a node along one axis of a mesh.
//
//   n.*,*,* -> n.*      inputs, then outputs, each with a sign for every dim
//
// A letter is a factor, a range of indices that the operator goes through: where it is split, so
// are all dims with that letter. An output without a letter that its inputs have is summed over
// that range, so that each rank has a term; then all inputs must have it. `.` is a dim that is not
// split, `*` any number of them. An input `-` is a setting, read whole; `S` is a setting, too: the
// shape of the first output, of the rank's own box. Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ge::parallel {

// Places of a value along one axis of a mesh: a dim that is split, or
inline constexpr int kWhole = -1;    // every rank has all of it
inline constexpr int kTerm = -2;     // the sum over the ranks
inline constexpr int kUnread = -3;   // an input that the node does without
inline constexpr int kShape = -4;    // an input replaced by the shape of the rank's first output
inline constexpr int kMaxTerm = -5;  // the greatest over the ranks
inline constexpr int kMinTerm = -6;  // the least over the ranks

struct Way {
  std::vector<int> in, out;  // places, by position
  bool operator==(const Way&) const = default;
};

struct Operands {
  // Dims by position; of an omitted one there are none.
  std::vector<std::vector<int64_t>> in, out;
  std::vector<bool> omitted;  // of inputs
};

// The ways of a rule's text for these operands over so many shares: of each factor that gives every
// share something. Empty where the text does not fit them.
std::vector<Way> WaysOf(std::string_view text, const Operands& operands, int64_t shares);

}  // namespace ge::parallel
