// UnitKind: the answers of one kind of unit to any engine. Each kind has one UnitKind, in its own
// file of a family's folder. Constants of the program; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ge_engines {

class Matcher;
class Parser;
struct Unit;
struct Why;

// Dtypes of an operator's tensors. An input's position tells index inputs (axes, shapes, starts)
// from tensors: `data` inputs come first, 0 = all are data.
enum class Types {
  kFloat,         // float32
  kWord,          // 1, 2, 4 or 8 bytes, moved and not looked at
  kNumber,        // float32, int32, int64, bool
  kCast,          // those and float16, bfloat16
  kQuantized,     // float32, int32, int8, uint8
  kAny,           // whole bytes, moved
  kDouble,        // float64. The row is for nodes whose first input is; it stands beside other rows
                  // of the operator, which see such nodes where the engine has no such row
  kDoubleInputs,  // the same for inputs alone: the rule looks at the outputs
};

// The rule that makes units of one operator's nodes.
struct Operator {
  const char* op;  // with its domain in front, but for ONNX's
  // Makes *unit of a node with checked tensors, or writes the reason to *why.
  bool (*parse)(const Parser& parser, uint32_t node, Unit* unit, Why* why);
  Types types = Types::kFloat;
  uint32_t data = 1;
  bool empty_constants = false;  // constant index inputs may be empty
  bool skips_first = false;      // the first output may be left out: the rule says what is made
  // Makes all of *unit from several nodes, this one last: an engine's own pattern.
  bool (*group)(const Parser& parser, uint32_t node, Unit* unit) = nullptr;
  bool empty_inputs = false;  // any input may be empty: the rule says what that means
  // This row stands before the rows of other kinds for the same operator.
  bool first = false;
  // Takes Transposes of the matrices into the unit, for engines that read transposed matrices.
  bool (*widen)(const Matcher& matcher, uint32_t node, Unit* unit) = nullptr;
  bool no_inputs = false;  // nodes may have no inputs
};

// Whether following pointwise units become post-ops, and which constants are a bias.
enum class PostOps : uint8_t {
  kNone,
  kPlain,     // they join; none is a bias
  kChannels,  // the bias is along axis 1
  kColumns,   // the bias is along the last axis
};

// Inputs that a unit reads just where it writes. A result may overwrite them.
enum class InPlace : uint8_t {
  kNone,
  kPointwise,  // of one post: each input of the result's dims
  kOutputs,    // input k by output k
  kFirst,      // input 0 by output 0
};

struct UnitKind {
  const char* name;                          // for messages
  std::span<const Operator> operators = {};  // those whose nodes parse into it, or into a relative
  bool follows = false;                      // its result lies as what it reads
  bool joins_cast = false;                   // a Cast of its bools to float32 joins it
  PostOps post_ops = PostOps::kNone;
  InPlace in_place = InPlace::kNone;
  // Position in Unit::in of the weights that convolving engines reorder; 0: the unit has
  // none.
  size_t (*filter)(const Unit& unit) = nullptr;
};

}  // namespace ge_engines
