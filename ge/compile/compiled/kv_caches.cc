#include "ge/compile/compiled/kv_caches.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include "ge/base/checked.h"
#include "ge/base/interrupt.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// The state that the node reads or writes; 0 where it is no such node.
StateId StateOf(const Node& n, std::string_view op) {
  const bool is = n.domain == "ge" && n.op == op && !n.effects.empty() &&
                  n.effects[0].kind == EffectKind::kState;
  return is ? n.effects[0].object : 0;
}

std::optional<size_t> AxisOf(const Type& type, const Dim& size) {
  const auto it = std::find(type.dims.begin(), type.dims.end(), size);
  if (it == type.dims.end()) return std::nullopt;
  return static_cast<size_t>(it - type.dims.begin());
}

}  // namespace

void KvCaches::Clear() noexcept {
  caches_.clear();
  counted_.clear();
  grows_.clear();
  rows_.clear();
  symbol_ = 0;
  capacity_ = 0;
  known_length_ = 0;
}

Status KvCaches::Find(const Graph& graph, int64_t first, uint64_t most_bytes) {
  Clear();
  grows_.assign(graph.states.size(), false);
  most_bytes_ = most_bytes;
  for (const Entry& e : graph.entries) {
    const Function& f = graph.fn(e.fn);
    std::map<ValueId, StateId> read;
    for (const Node& n : f.nodes) {
      if (const StateId s = StateOf(n, "Read"); s != 0) read[n.outputs[0]] = s;
      if (n.domain != "ge" || n.op != "KvAppend") continue;
      const auto cache = read.find(n.inputs[0]), length = read.find(n.inputs[1]);
      if (cache != read.end() && length != read.end())
        Count(graph, n, cache->second, length->second);
      if (cache == read.end() || graph.states[cache->second].type.is_static()) continue;
      if (length == read.end()) {
        return Status(Code::kUnsupported,
                      fmt::format("state '{}' has no fixed size, and how many of its rows are in "
                                  "use is no state; wanted ge.Read of one as input 'length'",
                                  graph.states[cache->second].name))
            .AtNode(NodeLabel(n));
      }
      GE_RETURN_IF_ERROR(Add(graph, e.fn, n, cache->second, length->second));
    }
  }
  if (caches_.empty()) return {};
  const auto wanted = static_cast<uint64_t>(std::clamp<int64_t>(first, 1, int64_t{1} << 40));
  capacity_ = static_cast<int64_t>(std::bit_ceil(wanted));
  return {};
}

// That a run refuses what goes beyond a cache of a fixed size would be late: it was set by hand.
void KvCaches::Count(const Graph& graph, const Node& append, StateId cache, StateId length) {
  const Type& type = graph.states[cache].type;
  int64_t axis = AttrInt(append, "axis");
  if (axis < 0) axis += static_cast<int64_t>(type.rank());
  const Type& number = graph.states[length].type;
  const bool one = number.dtype == DType::kInt64 && ByteCount(number) == sizeof(int64_t);
  if (!one || axis < 0 || static_cast<size_t>(axis) >= type.rank()) return;
  const CountedRows counted{cache, length, static_cast<size_t>(axis)};
  if (std::find(counted_.begin(), counted_.end(), counted) == counted_.end()) {
    counted_.push_back(counted);
  }
}

Status KvCaches::Add(const Graph& graph, FunctionId fn, const Node& append, StateId state,
                     StateId length) {
  const Function& f = graph.fn(fn);
  const Type &type = graph.states[state].type, &rows = f.value(append.inputs[2]).type;
  auto refuse = [&](const std::string& why) {
    return Status(Code::kUnsupported,
                  fmt::format("state '{}' has type {}: {}", graph.states[state].name,
                              TypeToString(type, graph.dims), why))
        .AtNode(NodeLabel(append));
  };
  int64_t at = AttrInt(append, "axis");
  if (at < 0) at += static_cast<int64_t>(type.rank());
  const auto axis = static_cast<size_t>(at);
  if (at < 0 || axis >= type.rank() || axis >= rows.rank() || type.dims[axis].known() ||
      graph.dims.expr(type.dims[axis].expr).op != DimOp::kSymbol) {
    return refuse("wanted a free size along the axis that rows are added to");
  }
  const SymbolId symbol = graph.dims.expr(type.dims[axis].expr).symbol;
  const auto [known, fresh] = rows_.emplace(fn, rows.dims[axis]);
  const bool like_others = (symbol_ == 0 || symbol == symbol_) &&
                           known->second == rows.dims[axis] &&
                           (caches_.empty() || caches_[0].length == length);
  if (!like_others) return refuse("wanted the capacity, the length and the rows of the others");
  symbol_ = symbol;
  size_ = type.dims[axis];
  for (const ValueId v : f.params) {
    const auto& dims = f.value(v).type.dims;
    if (std::count(dims.begin(), dims.end(), type.dims[axis]) > 1) {
      return refuse("input '" + f.value(v).name + "' has its capacity twice");
    }
  }
  if (!grows_[state]) caches_.push_back({state, length, axis});
  grows_[state] = true;
  return {};
}

std::map<SymbolId, int64_t> KvCaches::Sizes() const {
  if (symbol_ == 0) return {};
  return {{symbol_, capacity_.load()}};
}

Status KvCaches::CheckWhole(const Graph& graph, const Entry& entry) const {
  const auto& nodes = graph.fn(entry.fn).nodes;
  const bool touches = std::any_of(nodes.begin(), nodes.end(), [&](const Node& n) {
    return std::any_of(n.effects.begin(), n.effects.end(), [&](const Effect& e) {
      return e.kind == EffectKind::kState && e.object < grows_.size() && grows_[e.object];
    });
  });
  if (!touches) return {};
  return Status(Code::kUnsupported,
                fmt::format("entry '{}' of '{}' reads or adds to states that grow, and needs more "
                            "than one plan (bodies, shapes that the data decide): this version has "
                            "no room for both; give the states a fixed size",
                            entry.name, graph.name));
}

// How many rows the run adds, by the sizes of the inputs; -1 where they do not say.
int64_t KvCaches::RowsOf(const Graph& graph, const Entry& entry,
                         std::span<const TensorView> inputs) const {
  const Function& f = graph.fn(entry.fn);
  std::map<SymbolId, int64_t> sizes;
  for (size_t i = 0; i < std::min(inputs.size(), f.params.size()); ++i) {
    const auto& dims = f.value(f.params[i]).type.dims;
    for (size_t k = 0; k < std::min(dims.size(), inputs[i].dims.size()); ++k) {
      if (dims[k].known()) continue;
      const DimTable::Expr& e = graph.dims.expr(dims[k].expr);
      if (e.op == DimOp::kSymbol && e.symbol != symbol_) sizes.emplace(e.symbol, inputs[i].dims[k]);
    }
  }
  return graph.dims.Evaluate(rows_.at(entry.fn), sizes).value_or(-1);
}

Status KvCaches::Begin(const Graph& graph, const Entry& entry, std::span<const TensorView> inputs,
                       Turn* turn) {
  turn->inputs_ = inputs;
  if (rows_.count(entry.fn) == 0) return {};
  turn->lock_ = std::unique_lock<std::mutex>(turn_, std::defer_lock);
  GE_RETURN_IF_ERROR(LockOrStop(&turn->lock_));
  const int64_t rows = RowsOf(graph, entry, inputs);
  if (rows < 0) return {};
  turn->caches_ = this;
  turn->capacity_before_ = capacity_;
  turn->edits_ = states_.edits();
  GE_ASSIGN_OR_RETURN(turn->length_, states_.NumberOf(caches_[0].length));
  GE_RETURN_IF_ERROR(CheckLength(turn->length_, rows));
  const int64_t all = turn->length_ + rows;
  int64_t room = std::max(capacity_.load(), all);
  for (const CountedRows& c : caches_) {
    room = std::max(room, RowsAlong(states_.TypeOf(c.cache), c.axis));
  }
  room = static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(room)));
  if (room > capacity_) {
    capacity_ = room;
    turn->former_ = plans_.Forget();  // none will be asked for again
  }
  return Pad(graph.fn(entry.fn), all, turn);
}

// Other entries may have assigned the length, too.
Status KvCaches::CheckLength(int64_t length, int64_t more) const {
  const auto all = CheckedAdd(length, more);
  if (length < 0 || !all || *all > int64_t{1} << 40) {
    return Status(Code::kInvalidArgument,
                  fmt::format("{} rows are in the caches by their length, which is no number that "
                              "{} can be added to; set it to what they hold, or reset the states",
                              length, more));
  }
  for (const CountedRows& c : caches_) {
    const Type type = states_.TypeOf(c.cache);
    const int64_t rows = RowsAlong(type, c.axis);
    if (length <= rows) continue;
    return Status(Code::kInvalidArgument,
                  fmt::format("{} rows are in the caches by their length, one of them is {} with "
                              "{} along axis {}; set the length to what they hold, or reset the "
                              "states",
                              length, TypeToString(type, DimTable()), rows, c.axis));
  }
  return {};
}

Status KvCaches::Pad(const Function& function, int64_t rows, Turn* turn) {
  const std::span<const TensorView> inputs = turn->inputs_;
  bool copied = false;
  for (size_t i = 0; i < std::min(inputs.size(), function.params.size()); ++i) {
    const Value& param = function.value(function.params[i]);
    const auto axis = AxisOf(param.type, size_);
    if (!axis || inputs[i].dims.size() != param.type.rank()) continue;
    if (!copied) {
      views_.assign(inputs.begin(), inputs.end());
      padded_.resize(std::max(padded_.size(), inputs.size()));
      turn->inputs_ = views_;
      copied = true;
    }
    const bool planned = inputs[i].data == nullptr && inputs[i].dims[*axis] == capacity_;
    if (planned) continue;  // shapes of a plan that there is
    if (inputs[i].dims[*axis] != rows) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("input '{}' has {} at axis {}, wanted {}: {} that are in the caches "
                      "and {} new",
                      param.name, inputs[i].dims[*axis], *axis, rows, turn->length_,
                      rows - turn->length_));
    }
    GE_RETURN_IF_ERROR(PadOne(param, *axis, &padded_[i], &views_[i]));
  }
  return {};
}

// With zeros behind what was given. Nothing is there to copy when a run is only planned.
Status KvCaches::PadOne(const Value& param, size_t axis, Padded* padded, TensorView* input) const {
  const int64_t rows = input->dims[axis], room = capacity_;
  const auto given = ByteCount(TensorType(input->dtype, input->dims));
  input->dims[axis] = room;
  const auto wanted = ByteCount(TensorType(input->dtype, input->dims));
  if (!given || !wanted || rows == 0) return {};  // refused by others
  if (input->data == nullptr) return input->bytes = 0, Status();
  if (input->bytes != static_cast<uint64_t>(*given)) {
    return Status(Code::kInvalidArgument, fmt::format("input '{}' has {} bytes, its shape needs {}",
                                                      param.name, input->bytes, *given));
  }
  const auto bytes = static_cast<uint64_t>(*wanted);
  if (padded->bytes < bytes) {
    padded->memory = AllocateAligned(bytes, 64);
    padded->bytes = padded->memory ? bytes : 0;
  }
  if (!padded->memory) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for input '{}' at {} rows", param.name, room));
  }
  size_t outer = 1;
  for (size_t k = 0; k < axis; ++k) outer *= static_cast<size_t>(input->dims[k]);
  const size_t from = input->bytes / outer, to = bytes / outer;
  std::byte* memory = padded->memory.get();
  for (size_t o = 0; o < outer; ++o) {
    std::memcpy(memory + o * to, static_cast<const char*>(input->data) + o * from, from);
    std::memset(memory + o * to + from, 0, to - from);
  }
  input->data = memory;
  input->bytes = bytes;
  return {};
}

KvCaches::Turn::~Turn() {
  if (caches_ == nullptr || planned_ || caches_->capacity_ == capacity_before_) return;
  caches_->capacity_ = capacity_before_;
  former_ = caches_->plans_.Forget();
}

Status KvCaches::Turn::Fit(const Compiled& compiled) {
  if (caches_ == nullptr) return {};
  const Status status = caches_->Fit(compiled.graph.states, length_, edits_);
  planned_ = status.ok();
  return status;
}

Status KvCaches::Fit(std::span<const State> wanted, int64_t length, uint64_t edits) {
  uint64_t total = 0;
  for (const CountedRows& c : caches_) {
    total += static_cast<uint64_t>(ByteCount(wanted[c.cache].type).value_or(0));
  }
  if (total > most_bytes_) {
    return Status(Code::kLimitExceeded,
                  fmt::format("caches of {} rows take {} bytes, the limit is {}; reset the states, "
                              "or raise the memory limit",
                              capacity_.load(), total, most_bytes_));
  }
  for (const CountedRows& c : caches_) {
    const Type have = states_.TypeOf(c.cache), &want = wanted[c.cache].type;
    if (have == want) continue;
    Type grown = have;
    grown.dims[c.axis] = want.dims[c.axis];
    if (length > 0 && !(grown == want)) {
      const DimTable none;
      return Status(Code::kInvalidArgument,
                    fmt::format("state '{}' holds {} rows as {}, this run wants {}; reset the "
                                "states, or give inputs of the same sizes as before",
                                wanted[c.cache].name, length, TypeToString(have, none),
                                TypeToString(want, none)));
    }
    GE_RETURN_IF_ERROR(states_.Resize(c.cache, want, c.axis, length, edits));
  }
  if (length != known_length_ || edits != known_edits_) {
    for (const CountedRows& c : caches_) {
      GE_RETURN_IF_ERROR(states_.ClearBehind(c.cache, c.axis, length, edits));
    }
    known_edits_ = edits;
  }
  known_length_ = -1;  // until the run has succeeded
  return {};
}

void KvCaches::Turn::Done() {
  if (caches_ == nullptr) return;
  const auto length = caches_->states_.NumberOf(caches_->caches_[0].length);
  if (length.ok()) caches_->known_length_ = *length;
}

}  // namespace ge
