// UnitKind: what engines ask of a kind of unit, whichever of them computes it. Each kind has one,
// in its own file of a family's folder. Constants of the program; any thread.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace ge_engines {

class Matcher;
class Parser;
struct Unit;
struct Why;

// Which dtypes an operator's tensors may have. Index inputs (axes, shapes, starts) are told from
// tensors by their position: `data` inputs come first, 0 = all are data.
enum class Types {
  kFloat,      // float32
  kWord,       // 1, 2, 4 or 8 bytes, moved and not looked at
  kNumber,     // float32, int32, int64, bool
  kCast,       // those and float16, bfloat16
  kQuantized,  // float32, int32, int8, uint8
  kAny,        // whole bytes, moved
};

// How nodes of one operator become units.
struct Operator {
  const char* op;  // with its domain in front, but for ONNX's
  // Makes *unit of a node whose tensors have been checked, or says why it cannot.
  bool (*parse)(const Parser& parser, uint32_t node, Unit* unit, Why* why);
  Types types = Types::kFloat;
  uint32_t data = 1;
  bool empty_constants = false;  // constant index inputs may be empty
  bool skips_first = false;      // the first output may be left out: the rule says what is made
  // A unit of several nodes, this one being the last: an engine's own pattern. All of it is made.
  bool (*group)(const Parser& parser, uint32_t node, Unit* unit) = nullptr;
  bool empty_inputs = false;  // any input may be empty: the rule says what that means
  // Its row stands before those that other kinds have of this operator.
  bool first = false;
  // The node together with Transposes of its matrices, for engines that read these as they lie.
  bool (*widen)(const Matcher& matcher, uint32_t node, Unit* unit) = nullptr;
};

// Whether pointwise units behind a unit join it as posts, and which constants are its bias.
enum class PostOps : uint8_t {
  kNone,
  kPlain,     // they join; none is a bias
  kChannels,  // the bias is along axis 1
  kColumns,   // the bias is along the last axis
};

// Inputs that a unit reads just where it writes: a result may take their place.
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
  // The position in Unit::in of weights that whoever convolves brings into an order of its own; 0
  // where there are none.
  size_t (*filter)(const Unit& unit) = nullptr;
};

}  // namespace ge_engines
