// Factors: the text of a rule, and the ways in which it splits a node along one axis of a mesh.
//
//   n.*,*,* -> n.*      inputs, then outputs, each with a sign for every dim
//
// A small letter is a factor, a range of indices that the operator goes through: where it is split,
// so are all dims with that letter, which have one size. A capital letter is a factor in blocks:
// its dims may differ in size, and it is split where each share is the same part of all of them, as
// rows that Reshape makes of [N,T] or heads that share keys. Outputs without a letter that inputs
// have are summed over that range, so that each rank has terms; then all inputs must have it. With
// `-> max:` or `-> min:` they are the greatest or least of terms. `.` is a dim that is not split,
// `*` any number of them. `~` ahead of an input: it is all zeros, which need not have the letter of
// a sum; `+` ahead of one: it is added once, so that where the others have the letter of a sum the
// first rank alone gives it. An input `-` is a setting, read whole; `S` is a setting, too: the
// shape of the first output, of the rank's own box (no factor is called S). Pure; any thread.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace ge::parallel {

// Places of a value along one axis of a mesh: a dim that is split, or
inline constexpr int kWhole = -1;   // every rank has all of it
inline constexpr int kTerm = -2;    // the sum over the ranks
inline constexpr int kUnread = -3;  // an input that the node does without
// An input replaced by the shape of the rank's first output: where the way of any axis says so.
inline constexpr int kShape = -4;
inline constexpr int kMaxTerm = -5;  // the greatest over the ranks
inline constexpr int kMinTerm = -6;  // the least over the ranks
// An input that is whole: the first rank along the axis gives it, the others give zeros, so that
// they are terms.
inline constexpr int kKept = -7;

struct Way {
  std::vector<int> in, out;  // places, by position
  bool operator==(const Way&) const = default;
};

struct Operands {
  // Dims by position; of an omitted one there are none.
  std::vector<std::vector<int64_t>> in, out;
  std::vector<bool> omitted;  // of inputs
  std::vector<bool> unmade;   // of outputs that the node leaves out; empty: none
};

// The ways of a rule's text for these operands over so many shares: of each factor that gives every
// share something. Empty where the text does not fit them.
std::vector<Way> WaysOf(std::string_view text, const Operands& operands, int64_t shares);

}  // namespace ge::parallel
