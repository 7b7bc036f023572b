// The .gt text of a Graph: dumps print it, tests hold it and bug reports quote it.
// PrintText and ParseText are inverse to each other (frontend/text/diff.h says in which
// sense). Attributes equal to their defaults are not printed. The parser builds a Graph
// that is safe to walk; it is not VERIFY, the judge of legality, so its tests can write
// down illegal graphs. The caller owns the results. Any thread may call; nothing is
// shared.
//
// A file in short (docs/text-format.md has all of it):
//   ge 1
//   opset "" 28
//   symbol N in 1..64 multiple 2
//   const w : f32[6,1,5,5] = external "lenet.bin" @128 +600 sha256 "..."
//   state s : f32[10] param trainable init b
//   fn main(x: f32[N,1,28,28]) -> (y) {
//     t: f32[N,6,28,28] = Conv(x, w, _) {kernel_shape=[5,5]} "Conv_1"
//     y = Relu(t)
//   }
//   entry infer "main" = main
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ge/base/status.h"
#include "ge/ir/graph.h"

namespace ge {

struct PrintOptions {
  // Payloads of more elements than kReadableElements are named by size only. For people: the
  // parser refuses such a text by name.
  bool elide = false;
  // Adds INFER's contents of small integer tensors, as comments.
  bool show_ints = false;
};

// The options of dumps: for people.
inline constexpr PrintOptions kForPeople{true, true};

// Longest payload printed as numbers; longer ones are printed in hex.
inline constexpr uint64_t kReadableElements = 64;

std::string PrintText(const Graph& graph, const PrintOptions& options = {});
std::string PrintConst(const Const& constant, const Graph& graph, const PrintOptions& options = {});

struct ParseLimits {
  uint64_t max_bytes = 1u << 30;  // of text
  int max_depth = 64;             // of types and expressions
};

// Messages begin with "file:line:col: ". DATA_CORRUPT: not this syntax. INVALID_GRAPH: an undefined
// name, a second definition, a payload that does not fit its type. UNSUPPORTED: a newer version, or
// an elided payload.
Result<Graph> ParseText(std::string_view text, std::string_view file_name,
                        const ParseLimits& limits = {});

// A constant without its name: "f32[2] = [1, 2.5]". For the inputs of text cases.
Result<Const> ParseConst(std::string_view text, std::string_view file_name,
                         const ParseLimits& limits = {});

// True when the first word outside comments is "ge".
bool LooksLikeText(std::string_view text);

}  // namespace ge
