// If, Loop, Scan, SequenceMap and calls: which bodies are called with what, and what comes of it.
#include "ge/ops/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <new>

#include "ge/control/flow.h"

namespace ge {
namespace {

FunctionId CalleeOf(const Node& node, std::string_view role) {
  for (const Callee& c : node.callees) {
    if (c.role == role) return c.fn;
  }
  return 0;
}

Status RunIf(FlowRun* run, const Node& node, std::span<const FlowValue* const> inputs,
             std::vector<FlowValue>* outputs) {
  GE_ASSIGN_OR_RETURN(const int64_t cond, OnlyInt(*inputs[0], "input 'cond'"));
  const FunctionId fn = CalleeOf(node, cond != 0 ? "then_branch" : "else_branch");
  return run->Call(fn, inputs.subspan(1), outputs);
}

}  // namespace

// One result of every trip, put together along an axis.
class ResultStack {
 public:
  // `trips` is how many there will be at most; -1 where nothing says.
  ResultStack(int64_t axis, bool backwards, int64_t trips)
      : axis_(axis), backwards_(backwards), trips_(trips) {}

  Status Add(FlowRun* run, const FlowValue& v) {
    if (!v.is_tensor()) {
      return Status(Code::kInvalidArgument,
                    fmt::format("a scanned result is {}, wanted a tensor", Describe(v)));
    }
    if (v.dtype != DType::kString && DTypeBits(v.dtype) < 8) {
      return Status(Code::kUnsupported,
                    fmt::format("results of type {} are not put together", DTypeName(v.dtype)));
    }
    if (count_ == 0) {
      dtype_ = v.dtype;
      dims_ = v.dims;
    } else if (v.dtype != dtype_ || !(v.dims == dims_)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("a scanned result is {} after {} trips, wanted {}[{}] as before",
                                Describe(v), count_, DTypeName(dtype_), fmt::join(dims_, ",")));
    }
    if (v.strings) {
      text_bytes_ += BytesOf(*v.strings);
      GE_RETURN_IF_ERROR(run->pool().Room(text_bytes_));
      texts_.insert(texts_.end(), v.strings->begin(), v.strings->end());
      ++count_;
      return {};
    }
    GE_RETURN_IF_ERROR(Reserve(run, v.bytes));
    if (v.bytes > 0) {
      std::memcpy(block_->data() + static_cast<uint64_t>(count_) * v.bytes, v.data, v.bytes);
    }
    ++count_;
    return {};
  }

  // `type` says what no trip told.
  Status Finish(FlowRun* run, const Type& type, FlowValue* out) {
    if (count_ == 0) {
      dtype_ = type.dtype;
      std::vector<int64_t> dims;
      for (const Dim& d : type.dims) dims.push_back(d.known() ? d.value : 0);
      dims_ = dims;
    }
    const auto rank = static_cast<int64_t>(dims_.size());
    const int64_t axis = axis_ < 0 ? axis_ + rank + 1 : axis_;
    if (axis < 0 || axis > rank) {
      return Status(Code::kInvalidArgument,
                    fmt::format("a stacking axis is {}, wanted {} to {}", axis_, -rank - 1, rank));
    }
    const auto at = static_cast<size_t>(axis);
    FlowDims dims(dims_.begin(), dims_.begin() + axis);
    std::vector<int64_t> all = dims.vector();
    all.push_back(count_);
    all.insert(all.end(), dims_.begin() + axis, dims_.end());
    if (dtype_ == DType::kString) return FinishTexts(run, at, all, out);
    std::byte* to = nullptr;
    GE_RETURN_IF_ERROR(run->pool().NewTensor(dtype_, all, out, &to));
    const int64_t outer = dims_.Product(0, at);
    const uint64_t inner =
        static_cast<uint64_t>(dims_.Product(at, dims_.size()) * (DTypeBits(dtype_) / 8));
    for (int64_t o = 0; inner > 0 && o < outer; ++o) {
      for (int64_t k = 0; k < count_; ++k, to += inner) {
        const int64_t from = backwards_ ? count_ - 1 - k : k;
        std::memcpy(to, block_->data() + static_cast<uint64_t>(from * outer + o) * inner, inner);
      }
    }
    return {};
  }

 private:
  Status FinishTexts(FlowRun* run, size_t axis, const std::vector<int64_t>& dims, FlowValue* out) {
    const int64_t outer = dims_.Product(0, axis), inner = dims_.Product(axis, dims_.size());
    GE_RETURN_IF_ERROR(run->pool().Room(2 * text_bytes_));
    std::vector<std::string> texts;
    for (int64_t o = 0; o < outer; ++o) {
      for (int64_t k = 0; k < count_; ++k) {
        const auto from = texts_.begin() + ((backwards_ ? count_ - 1 - k : k) * outer + o) * inner;
        texts.insert(texts.end(), from, from + inner);
      }
    }
    return run->pool().NewStrings(dims, std::move(texts), out);
  }

  Status Reserve(FlowRun* run, uint64_t each) {
    const uint64_t wanted = static_cast<uint64_t>(count_ + 1) * each;
    if (block_ && block_->bytes() >= wanted) return {};
    const uint64_t trips = trips_ >= 0 && trips_ <= (1 << 16) ? static_cast<uint64_t>(trips_) : 0;
    GE_ASSIGN_OR_RETURN(
        auto more, run->pool().Get(std::max({wanted, trips * each, 2 * wanted * (trips == 0)})));
    if (block_) std::memcpy(more->data(), block_->data(), static_cast<uint64_t>(count_) * each);
    block_ = std::move(more);
    return {};
  }

  int64_t axis_;
  bool backwards_;
  int64_t trips_;
  DType dtype_ = DType::kUndefined;
  FlowDims dims_;
  int64_t count_ = 0;
  std::shared_ptr<FlowBlock> block_;
  std::vector<std::string> texts_;  // in its place
  uint64_t text_bytes_ = 0;
};

struct ControlScratch {
  FlowValue at, cond;
  std::vector<FlowValue> state, element, results;
  std::vector<const FlowValue*> args;
  std::vector<ResultStack> stacks;
};
void DeleteScratch::operator()(ControlScratch* scratch) const { delete scratch; }

namespace {

// Takes one that is idle and gives it back, emptied; the vectors keep their memory.
class Scratch {
 public:
  explicit Scratch(FlowRun* run) : run_(*run) {
    auto& idle = run->scratch();
    if (idle.empty()) {
      s_.reset(new ControlScratch);
    } else {
      s_ = std::move(idle.back());
      idle.pop_back();
    }
  }
  ~Scratch() {
    s_->at = s_->cond = FlowValue();
    s_->state.clear();
    s_->element.clear();
    s_->results.clear();
    s_->args.clear();
    s_->stacks.clear();
    try {
      run_.scratch().push_back(std::move(s_));
    } catch (const std::bad_alloc&) {  // then it is not kept
    }
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  ControlScratch* operator->() { return s_.get(); }

 private:
  FlowRun& run_;
  std::unique_ptr<ControlScratch, DeleteScratch> s_;
};

// The type of one element of a stacked output.
Type ElementType(const Type& stacked, int64_t axis) {
  Type t = stacked;
  if (!t.ranked || t.dims.empty()) return t;
  const auto rank = static_cast<int64_t>(t.dims.size());
  const int64_t at = axis < 0 ? axis + rank : axis;
  if (at >= 0 && at < rank) t.dims.erase(t.dims.begin() + at);
  return t;
}

// A fresh scalar, since the body may hand it on.
template <typename T>
Status SetScalar(FlowRun* run, DType dtype, T value, FlowValue* out) {
  *out = FlowValue();
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(run->pool().NewTensor(dtype, FlowDims(), out, &to));
  std::memcpy(to, &value, sizeof value);
  return {};
}

Status RunLoop(FlowRun* run, const HostStep& step, std::span<const Type> types,
               std::span<const FlowValue* const> inputs, std::vector<FlowValue>* outputs) {
  const Node& node = step.node;
  const auto captures = static_cast<size_t>(AttrInt(node, kCapturesAttr));
  const size_t carried = inputs.size() - 2 - captures;
  int64_t trips = -1, cond_in = 1;
  if (inputs[0]) {
    GE_ASSIGN_OR_RETURN(trips, OnlyInt(*inputs[0], "input 'M'"));
    trips = std::max<int64_t>(trips, 0);
  }
  if (inputs[1]) {
    GE_ASSIGN_OR_RETURN(cond_in, OnlyInt(*inputs[1], "input 'cond'"));
  }
  int64_t iteration = 0;
  bool go_on = cond_in != 0;
  Scratch scratch(run);
  FlowValue &at = scratch->at, &cond = scratch->cond;
  std::vector<FlowValue>&state = scratch->state, &results = scratch->results;
  for (size_t i = 0; i < carried; ++i) state.push_back(*inputs[2 + i]);
  std::vector<const FlowValue*>& args = scratch->args;
  args.push_back(&at);
  args.push_back(&cond);
  for (const FlowValue& v : state) args.push_back(&v);
  args.insert(args.end(), inputs.end() - static_cast<ptrdiff_t>(captures), inputs.end());
  std::vector<ResultStack>& stacks = scratch->stacks;
  stacks.assign(outputs->size() - carried, ResultStack(0, false, trips));
  const FunctionId body = CalleeOf(node, "body");
  for (; go_on && (trips < 0 || iteration < trips); ++iteration) {
    GE_RETURN_IF_ERROR(SetScalar(run, DType::kInt64, iteration, &at));
    GE_RETURN_IF_ERROR(SetScalar(run, DType::kBool, go_on, &cond));
    GE_RETURN_IF_ERROR(run->Call(body, args, &results));
    GE_ASSIGN_OR_RETURN(const int64_t next, OnlyInt(results[0], "the body's condition"));
    for (size_t i = 0; i < carried; ++i) state[i] = std::move(results[1 + i]);
    for (size_t i = 0; i < stacks.size(); ++i) {
      GE_RETURN_IF_ERROR(stacks[i].Add(run, results[1 + carried + i]));
    }
    go_on = next != 0;
  }
  for (size_t i = 0; i < carried; ++i) (*outputs)[i] = std::move(state[i]);
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (node.outputs[carried + i] == 0) continue;
    const Type type = ElementType(types[carried + i], 0);
    GE_RETURN_IF_ERROR(stacks[i].Finish(run, type, &(*outputs)[carried + i]));
  }
  return {};
}

int64_t ListAt(const Node& node, const char* name, size_t i) {
  const std::vector<int64_t>& list = AttrInts(node, name);
  return i < list.size() ? list[i] : 0;
}

// Element k of a tensor along an axis, without that axis.
Status Slice(FlowRun* run, const FlowValue& x, size_t axis, int64_t k, FlowValue* out) {
  FlowDims dims = x.dims;
  dims.Erase(axis);
  const int64_t outer = x.dims.Product(0, axis), length = x.dims[axis];
  if (x.strings) {
    const int64_t each = x.dims.Product(axis + 1, x.dims.size());
    std::vector<std::string> texts;
    for (int64_t o = 0; o < outer; ++o) {
      const auto from = x.strings->begin() + (o * length + k) * each;
      texts.insert(texts.end(), from, from + each);
    }
    return run->pool().NewStrings(dims, std::move(texts), out);
  }
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(run->pool().NewTensor(x.dtype, dims, out, &to));
  const uint64_t inner =
      static_cast<uint64_t>(x.dims.Product(axis + 1, x.dims.size()) * (DTypeBits(x.dtype) / 8));
  for (int64_t o = 0; inner > 0 && o < outer; ++o, to += inner) {
    std::memcpy(to, x.data + static_cast<uint64_t>(o * length + k) * inner, inner);
  }
  return {};
}

// The axis of each scanned input; all have one length.
Result<int64_t> ScanAxes(const Node& node, std::span<const FlowValue* const> scanned,
                         std::vector<size_t>* axes) {
  int64_t length = -1;
  for (size_t i = 0; i < scanned.size(); ++i) {
    const FlowValue& x = *scanned[i];
    const auto rank = static_cast<int64_t>(x.dims.size());
    int64_t axis = ListAt(node, "scan_input_axes", i);
    if (axis < 0) axis += rank;
    if (!x.is_tensor() || axis < 0 || axis >= rank || (!x.strings && DTypeBits(x.dtype) < 8)) {
      return Status(Code::kInvalidArgument,
                    fmt::format("scan input {} is {}, wanted a tensor with the axis {}", i,
                                Describe(x), ListAt(node, "scan_input_axes", i)));
    }
    axes->push_back(static_cast<size_t>(axis));
    const int64_t here = x.dims[axes->back()];
    if (length >= 0 && here != length) {
      return Status(
          Code::kInvalidArgument,
          fmt::format("scan input {} has length {}, wanted {} as the first has", i, here, length));
    }
    length = here;
  }
  return length;
}

Status RunScan(FlowRun* run, const HostStep& step, std::span<const Type> types,
               std::span<const FlowValue* const> inputs, std::vector<FlowValue>* outputs) {
  const Node& node = step.node;
  const auto captures = static_cast<size_t>(AttrInt(node, kCapturesAttr));
  const auto scans = static_cast<size_t>(AttrInt(node, "num_scan_inputs"));
  const size_t states = inputs.size() - captures - scans;
  std::vector<size_t> axes;
  GE_ASSIGN_OR_RETURN(const int64_t length, ScanAxes(node, inputs.subspan(states, scans), &axes));
  Scratch scratch(run);
  std::vector<FlowValue>&state = scratch->state, &element = scratch->element,
  &results = scratch->results;
  element.resize(scans);
  for (size_t i = 0; i < states; ++i) state.push_back(*inputs[i]);
  std::vector<const FlowValue*>& args = scratch->args;
  for (const FlowValue& v : state) args.push_back(&v);
  for (const FlowValue& v : element) args.push_back(&v);
  args.insert(args.end(), inputs.end() - static_cast<ptrdiff_t>(captures), inputs.end());
  std::vector<ResultStack>& stacks = scratch->stacks;
  for (size_t i = 0; i < outputs->size() - states; ++i) {
    stacks.emplace_back(ListAt(node, "scan_output_axes", i),
                        ListAt(node, "scan_output_directions", i) != 0, length);
  }
  const FunctionId body = CalleeOf(node, "body");
  for (int64_t k = 0; k < length; ++k) {
    for (size_t i = 0; i < scans; ++i) {
      const bool backwards = ListAt(node, "scan_input_directions", i) != 0;
      GE_RETURN_IF_ERROR(
          Slice(run, *inputs[states + i], axes[i], backwards ? length - 1 - k : k, &element[i]));
    }
    GE_RETURN_IF_ERROR(run->Call(body, args, &results));
    for (size_t i = 0; i < states; ++i) state[i] = std::move(results[i]);
    for (size_t i = 0; i < stacks.size(); ++i) {
      GE_RETURN_IF_ERROR(stacks[i].Add(run, results[states + i]));
    }
  }
  for (size_t i = 0; i < states; ++i) (*outputs)[i] = std::move(state[i]);
  for (size_t i = 0; i < stacks.size(); ++i) {
    if (node.outputs[states + i] == 0) continue;
    const Type type = ElementType(types[states + i], ListAt(node, "scan_output_axes", i));
    GE_RETURN_IF_ERROR(stacks[i].Finish(run, type, &(*outputs)[states + i]));
  }
  return {};
}

// Inputs after the first may be tensors, which every element gets.
Status RunSequenceMap(FlowRun* run, const HostStep& step, std::span<const Type> types,
                      std::span<const FlowValue* const> inputs, std::vector<FlowValue>* outputs) {
  const Node& node = step.node;
  const FlowValue& first = *inputs[0];
  if (first.kind != FlowValue::Kind::kSequence) {
    return Status(Code::kInvalidArgument, fmt::format("input 'input_sequence' is {}, wanted a "
                                                      "sequence",
                                                      Describe(first)));
  }
  const auto captures = static_cast<size_t>(AttrInt(node, kCapturesAttr));
  std::vector<std::vector<FlowValue>> mapped(outputs->size());
  std::vector<FlowValue> results;
  for (size_t k = 0; k < first.elements->size(); ++k) {
    std::vector<const FlowValue*> args;
    for (size_t i = 0; i < inputs.size(); ++i) {
      const bool sequence =
          i + captures < inputs.size() && inputs[i]->kind == FlowValue::Kind::kSequence;
      if (sequence && inputs[i]->elements->size() != first.elements->size()) {
        return Status(Code::kInvalidArgument,
                      fmt::format("input {} has {} elements, wanted {} as the first has", i,
                                  inputs[i]->elements->size(), first.elements->size()));
      }
      args.push_back(sequence ? &(*inputs[i]->elements)[k] : inputs[i]);
    }
    GE_RETURN_IF_ERROR(run->Call(CalleeOf(node, "body"), args, &results));
    for (size_t i = 0; i < mapped.size(); ++i) mapped[i].push_back(results[i]);
  }
  for (size_t i = 0; i < mapped.size(); ++i) {
    const Type type = types[i].elems.empty() ? Type() : types[i].elems[0];
    GE_RETURN_IF_ERROR(run->pool().NewSequence(type.dtype, std::move(mapped[i]), &(*outputs)[i]));
  }
  return {};
}

Status MakeFunction(const Node& node, std::span<const FlowValue* const> inputs, FlowValue* out) {
  std::vector<FlowValue> given;
  for (const FlowValue* v : inputs) given.push_back(v != nullptr ? *v : FlowValue());
  *out = FlowValue();
  out->kind = FlowValue::Kind::kFunction;
  out->fn = CalleeOf(node, "fn");
  out->elements = std::make_shared<const std::vector<FlowValue>>(std::move(given));
  return {};
}

Status RunCallIndirect(FlowRun* run, std::span<const FlowValue* const> inputs,
                       std::vector<FlowValue>* outputs) {
  const FlowValue f = *inputs[0];  // its first arguments stay while it runs
  if (f.kind != FlowValue::Kind::kFunction) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input 'function' is {}, wanted a function", Describe(f)));
  }
  std::vector<const FlowValue*> args;
  for (const FlowValue& v : *f.elements) args.push_back(&v);
  args.insert(args.end(), inputs.begin() + 1, inputs.end());
  return run->Call(f.fn, args, outputs);
}

}  // namespace

Status RunControl(FlowRun* run, const HostStep& step, std::span<const Type> types,
                  std::span<const FlowValue* const> inputs, std::vector<FlowValue>* outputs) {
  const std::string& op = step.node.op;
  if (step.node.domain == "ge") {
    if (op == "Call") return run->Call(CalleeOf(step.node, "fn"), inputs, outputs);
    if (op == "Partial") return MakeFunction(step.node, inputs, &(*outputs)[0]);
    if (op == "CallIndirect") return RunCallIndirect(run, inputs, outputs);
  }
  if (op == "If") return RunIf(run, step.node, inputs, outputs);
  if (op == "Loop") return RunLoop(run, step, types, inputs, outputs);
  if (op == "Scan") return RunScan(run, step, types, inputs, outputs);
  if (op == "SequenceMap") return RunSequenceMap(run, step, types, inputs, outputs);
  return Status(Code::kUnsupported, fmt::format("{} has bodies, but no rule to run them", op));
}

}  // namespace ge
