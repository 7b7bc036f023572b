#include "ge/compile/rewrite/same_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <map>

#include "ge/base/aligned.h"
#include "ge/base/half.h"
#include "ge/base/log.h"
#include "ge/compile/rewrite/assumed_sizes.h"
#include "ge/compile/states/lift_states.h"
#include "ge/infer/infer.h"

namespace ge {
namespace {

constexpr int64_t kSizeTried = 3;          // of a symbol, where its range allows it
constexpr uint64_t kMostBytes = 64 << 20;  // of inputs; larger entries are passed over

// The same for every graph with the same symbols.
Result<std::vector<std::vector<int64_t>>> ShapesOf(const Graph& g, const Function& f) {
  const std::map<SymbolId, int64_t> sizes = AssumedSizes(g.dims, kSizeTried);
  std::vector<std::vector<int64_t>> shapes;
  for (const ValueId p : f.params) {
    const Type& t = f.value(p).type;
    if (!t.is_tensor() || !t.ranked) {
      return Status(Code::kUnsupported, "an input has no known rank");
    }
    std::vector<int64_t>& shape = shapes.emplace_back();
    for (const Dim& d : t.dims) {
      const auto size = g.dims.Evaluate(d, sizes);
      if (!size || *size < 0) return Status(Code::kUnsupported, "no small sizes suit its inputs");
      shape.push_back(*size);
    }
  }
  return shapes;
}

struct Tensor {
  std::string name;
  Type type;
  AlignedBytes data;
  uint64_t bytes = 0;
};

Result<Tensor> MakeTensor(const Value& v) {
  const auto bytes = v.type.is_static() ? ByteCount(v.type) : std::nullopt;
  if (!bytes || static_cast<uint64_t>(*bytes) > kMostBytes) {
    return Status(Code::kUnsupported, "a tensor of it is too large, or of no known size");
  }
  Tensor t{v.name, v.type, AllocateAligned(static_cast<uint64_t>(*bytes), 64),
           static_cast<uint64_t>(*bytes)};
  if (!t.data) return Status(Code::kResourceExhausted, "no memory to try a pass out");
  std::memset(t.data.get(), 0, t.bytes);
  return t;
}

// Small numbers of both signs, whole ones from 0 to 2.
void Fill(Tensor* t, uint64_t seed) {
  uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
  const auto next = [&] {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return state >> 33;
  };
  const auto each = [&]<typename T>(T, auto number) {
    auto* p = reinterpret_cast<T*>(t->data.get());
    for (uint64_t i = 0; i < t->bytes / sizeof(T); ++i) p[i] = static_cast<T>(number());
  };
  const auto real = [&] { return static_cast<double>(next() % 4001) / 2000.0 - 1.0; };
  const auto whole = [&] { return next() % 3; };
  switch (t->type.dtype) {
    case DType::kFloat:
      return each(float(), real);
    case DType::kDouble:
      return each(double(), real);
    case DType::kInt32:
    case DType::kUint32:
      return each(int32_t(), whole);
    case DType::kInt64:
    case DType::kUint64:
      return each(int64_t(), whole);
    case DType::kInt8:
    case DType::kUint8:
      return each(int8_t(), whole);
    case DType::kBool:
      return each(uint8_t(), [&] { return next() % 2; });
    default:
      return;  // zeros
  }
}

// One entry, run once.
Result<std::vector<Tensor>> RunEntry(const Graph& graph, const Entry& entry,
                                     const EngineList& engines, const BuildOptions& options) {
  GE_ASSIGN_OR_RETURN(const auto shapes, ShapesOf(graph, graph.fn(entry.fn)));
  Graph bound = graph;
  GE_RETURN_IF_ERROR(Bind(&bound, entry.name, shapes));
  std::vector<StateId> states_in, states_out;
  GE_RETURN_IF_ERROR(LiftStates(&bound, entry.fn, &states_in, &states_out));
  BuildOptions build = options;
  build.classes = nullptr;
  build.incumbent = nullptr;
  build.fold_parts = nullptr;
  build.prices.mode = PriceMode::kAnalytic;
  build.price_cache = nullptr;
  build.measure = nullptr;
  build.place.pins.clear();
  build.runner = {};
  GE_ASSIGN_OR_RETURN(const auto compiled,
                      BuildCompiled(std::move(bound), entry.fn, engines, build));
  const Function& f = compiled->graph.fn(entry.fn);
  std::vector<Tensor> in, out;
  std::vector<const void*> from;
  std::vector<void*> to;
  for (const ValueId v : f.params) {
    GE_ASSIGN_OR_RETURN(Tensor t, MakeTensor(f.value(v)));
    Fill(&t, in.size() + 1);
    from.push_back(t.data.get());
    in.push_back(std::move(t));
  }
  for (const ValueId v : f.results) {
    GE_ASSIGN_OR_RETURN(Tensor t, MakeTensor(f.value(v)));
    to.push_back(t.data.get());
    out.push_back(std::move(t));
  }
  GE_ASSIGN_OR_RETURN(auto frame, compiled->TakeFrame());
  GE_RETURN_IF_ERROR(compiled->program().Run(frame.get(), from.data(), to.data()));
  return out;
}

Status Off(const Tensor& t, uint64_t i, double was, double is) {
  return Status(Code::kInternal,
                fmt::format("element {} of '{}' was {:.9g} and is {:.9g}", i, t.name, was, is));
}

double At(const Tensor& t, uint64_t i) {
  const std::byte* data = t.data.get();
  switch (t.type.dtype) {
    case DType::kFloat:
      return reinterpret_cast<const float*>(data)[i];
    case DType::kDouble:
      return reinterpret_cast<const double*>(data)[i];
    case DType::kFloat16:
      return FloatOfHalf(reinterpret_cast<const uint16_t*>(data)[i]);
    default:
      return FloatOfBrain(reinterpret_cast<const uint16_t*>(data)[i]);
  }
}

// Rounding in another order is allowed: a share of the largest element.
Status CompareReal(const Tensor& a, const Tensor& b, double share) {
  const uint64_t n = a.bytes * 8 / static_cast<uint64_t>(DTypeBits(a.type.dtype));
  double largest = 0;
  for (uint64_t i = 0; i < n; ++i) {
    if (std::isfinite(At(a, i))) largest = std::max(largest, std::fabs(At(a, i)));
  }
  for (uint64_t i = 0; i < n; ++i) {
    const double x = At(a, i), y = At(b, i);
    if (x == y || (std::isnan(x) && std::isnan(y))) continue;
    if (!(std::fabs(x - y) <= share * largest)) return Off(a, i, x, y);
  }
  return {};
}

// What roundings to the type may add up to, some hundred of them: far below what another formula
// would show.
double ShareOf(DType t) {
  return t == DType::kDouble     ? 1e-9
         : t == DType::kFloat    ? 1e-4
         : t == DType::kFloat16  ? 1e-2
         : t == DType::kBfloat16 ? 6e-2
                                 : 0;
}

// Of 16-bit floats that are anywhere in the function: whatever depends on them is rounded so, and
// passes may round it less.
double ShareOfHalves(const Function& f) {
  double most = 0;
  for (const Value& v : f.values) {
    const DType t = v.type.is_tensor() ? v.type.dtype : DType::kUndefined;
    if (t == DType::kFloat16 || t == DType::kBfloat16) most = std::max(most, ShareOf(t));
  }
  return most;
}

Status Compare(const Tensor& was, const Tensor& is, double least_share) {
  if (was.type.dtype != is.type.dtype || was.bytes != is.bytes) {
    const DimTable none;
    return Status(Code::kInternal,
                  fmt::format("'{}' was {} and is {}", was.name, TypeToString(was.type, none),
                              TypeToString(is.type, none)));
  }
  if (const double share = ShareOf(was.type.dtype); share > 0) {
    return CompareReal(was, is, std::max(share, least_share));
  }
  const auto at = std::mismatch(was.data.get(), was.data.get() + was.bytes, is.data.get()).first;
  if (at == was.data.get() + was.bytes) return {};
  const auto i = at - was.data.get();
  return Status(Code::kInternal, fmt::format("byte {} of '{}' differs", i, was.name));
}

Status CompareEntry(const Graph& before, const Graph& after, const Entry& entry,
                    const EngineList& engines, const BuildOptions& options) {
  const Entry* now = after.FindEntry(entry.name);
  if (!now) return Status(Code::kInternal, fmt::format("entry '{}' is gone", entry.name));
  const auto was = RunEntry(before, entry, engines, options);
  if (!was.ok()) {
    LogLine(2, fmt::format("entry '{}' is not tried out before and after a pass: {}", entry.name,
                           was.status().ToString()));
    return {};
  }
  const auto is = RunEntry(after, *now, engines, options);
  if (!is.ok()) {
    return Status(Code::kInternal, fmt::format("entry '{}' ran, and now does not: {}", entry.name,
                                               is.status().ToString()));
  }
  if (was->size() != is->size()) {
    return Status(Code::kInternal, fmt::format("entry '{}' gave {} results and states, and now {}",
                                               entry.name, was->size(), is->size()));
  }
  const double halves = ShareOfHalves(before.fn(entry.fn));
  for (size_t i = 0; i < was->size(); ++i) {
    const Status same = Compare((*was)[i], (*is)[i], halves);
    if (same.ok()) continue;
    return Status(same.code(), fmt::format("entry '{}': {}", entry.name, same.message()));
  }
  return {};
}

}  // namespace

Status SameValues(const Graph& before, const Graph& after, const EngineList& engines,
                  const BuildOptions& options) {
  for (const Entry& entry : before.entries) {
    GE_RETURN_IF_ERROR(CompareEntry(before, after, entry, engines, options));
  }
  return {};
}

}  // namespace ge
