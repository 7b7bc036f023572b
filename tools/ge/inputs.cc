// --input and the session options of every subcommand.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <random>

#include "ge/base/aligned.h"
#include "ge/base/checked.h"
#include "ge/engine/engine_list.h"
#include "ge/host/machine.h"
#include "ge/run/tensor_view.h"
#include "tools/ge/command.h"

namespace ge::tool {
namespace {

Result<std::vector<int64_t>> ParseShape(const std::string& text) {
  std::vector<int64_t> dims;
  if (text.empty() || text == "scalar") return dims;
  const char* p = text.c_str();
  for (;;) {
    char* end = nullptr;
    long long d = std::strtoll(p, &end, 10);
    if (end == p || d < 0 || (*end != 0 && *end != 'x')) {
      return Status(Code::kInvalidArgument,
                    fmt::format("'{}' is no shape; write dims as in 1x3x224x224, or scalar", text));
    }
    dims.push_back(d);
    if (*end == 0) return dims;
    p = end + 1;
  }
}

void FillRandom(Tensor* t, std::mt19937_64* rng) {
  std::normal_distribution<float> normal;
  uint64_t n = t->view.bytes;
  switch (t->view.dtype) {
    case DType::kFloat: {
      auto* p = static_cast<float*>(t->view.data);
      for (uint64_t i = 0; i < n / 4; ++i) p[i] = normal(*rng);
      break;
    }
    case DType::kDouble: {
      auto* p = static_cast<double*>(t->view.data);
      for (uint64_t i = 0; i < n / 8; ++i) p[i] = normal(*rng);
      break;
    }
    case DType::kInt64: {
      auto* p = static_cast<int64_t*>(t->view.data);
      for (uint64_t i = 0; i < n / 8; ++i) p[i] = static_cast<int64_t>((*rng)() % 256);
      break;
    }
    case DType::kInt32: {
      auto* p = static_cast<int32_t*>(t->view.data);
      for (uint64_t i = 0; i < n / 4; ++i) p[i] = static_cast<int32_t>((*rng)() % 256);
      break;
    }
    default: {
      // Small non-negative bytes are legal for every other type (0 or 1 for bool).
      auto* p = static_cast<uint8_t*>(t->view.data);
      for (uint64_t i = 0; i < n; ++i) p[i] = static_cast<uint8_t>((*rng)() % 2);
    }
  }
}

// Of zeros.
Result<Tensor> Made(const Value& param, std::vector<int64_t> dims) {
  if (param.type.dtype == DType::kString) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input '{0}' is of texts, which are not made up; give --input "
                              "{0}=FILE.npy with an array of numpy's str",
                              param.name));
  }
  Tensor t;
  t.view.dtype = param.type.dtype;
  t.view.dims = std::move(dims);
  auto count = CheckedProduct(t.view.dims);
  auto bytes = count ? DTypeBytes(t.view.dtype, *count) : std::nullopt;
  if (!bytes) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("input '{}': the size of its shape does not fit in 63 bits", param.name));
  }
  t.view.bytes = static_cast<uint64_t>(*bytes);
  t.memory = AllocateAligned(t.view.bytes, 64);
  if (!t.memory) {
    return Status(Code::kResourceExhausted,
                  fmt::format("no memory for input '{}' of {} bytes", param.name, *bytes));
  }
  t.view.data = t.memory.get();
  std::memset(t.view.data, 0, t.view.bytes);
  return t;
}

// *random: it is to be filled.
Result<Tensor> FromSpec(const Value& param, const std::string& spec, bool* random) {
  auto ends = [&](std::string_view tail) {
    return spec.size() > tail.size() &&
           spec.compare(spec.size() - tail.size(), tail.size(), tail) == 0;
  };
  if (ends(".npy")) return ReadNpy(spec);
  *random = ends(":rand");
  if (*random || ends(":zeros")) {
    GE_ASSIGN_OR_RETURN(auto dims, ParseShape(spec.substr(0, spec.rfind(':'))));
    return Made(param, std::move(dims));
  }
  return Status(
      Code::kInvalidArgument,
      fmt::format("input '{}' is given as '{}'; wanted FILE.npy, SHAPE:rand or SHAPE:zeros",
                  param.name, spec));
}

// Bytes of an input that nobody asked for: the model alone says how large it is.
constexpr uint64_t kMostMadeUp = uint64_t{256} << 20;

// Sizes of the symbols that inputs have by now.
using Sizes = std::map<SymbolId, int64_t>;

// Learns of an input that is given; what does not fit, the session's own check says.
void LearnSizes(const DimTable& table, const Value& param, const std::vector<int64_t>& dims,
                Sizes* sizes) {
  for (size_t i = 0; i < param.type.dims.size() && i < dims.size(); ++i) {
    const Dim d = param.type.dims[i];
    if (!d.known() && table.expr(d.expr).op == DimOp::kSymbol) {
      sizes->emplace(table.expr(d.expr).symbol, dims[i]);
    }
  }
}

// The least size from 1 that a symbol may have; 0 where it may have no other.
int64_t LeastSize(const Symbol& s) {
  const int64_t from = std::max<int64_t>(s.min, 1);
  const int64_t over = from % s.multiple_of;
  const int64_t up = over == 0 ? 0 : s.multiple_of - over;
  return from <= INT64_MAX - up && from + up <= s.max ? from + up : s.min;
}

// Symbols that no input has said yet get their least size; an expression is what they make of it.
int64_t SizeOf(const DimTable& table, Dim d, Sizes* sizes) {
  if (d.known()) return d.value;
  for (SymbolId s = 1; s <= table.symbol_count(); ++s) {
    sizes->emplace(s, LeastSize(table.symbol(s)));
  }
  return table.Evaluate(d, *sizes).value_or(1);
}

Result<Tensor> Default(const DimTable& table, const Value& param, bool quiet, Sizes* sizes) {
  if (!param.type.ranked) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("input '{0}' has no known rank; give --input {0}=SHAPE:rand", param.name));
  }
  std::vector<int64_t> dims;
  bool free = false;
  for (const Dim& d : param.type.dims) {
    dims.push_back(SizeOf(table, d, sizes));
    free |= !d.known();
  }
  const auto count = CheckedProduct(dims);
  const auto bytes = count ? DTypeBytes(param.type.dtype, *count) : std::nullopt;
  if (bytes && static_cast<uint64_t>(*bytes) > kMostMadeUp) {
    return Status(
        Code::kLimitExceeded,
        fmt::format("input '{0}' takes {1} bytes, more than the {2} that are made up; give "
                    "--input {0}=SHAPE:rand or a file",
                    param.name, *bytes, kMostMadeUp));
  }
  std::string shape;
  for (int64_t d : dims) shape += (shape.empty() ? "" : "x") + std::to_string(d);
  GE_ASSIGN_OR_RETURN(Tensor made, Made(param, std::move(dims)));
  if (quiet) return made;
  fmt::print(stderr, "note: input '{}' is random, {}{}\n", param.name,
             shape.empty() ? "scalar" : shape,
             free ? " (sizes that are free: as other inputs have them, else the least)" : "");
  return made;
}

Result<std::map<std::string, std::string>> GivenInputs(const Options& o) {
  std::map<std::string, std::string> given;
  for (const std::string& item : o.inputs) {
    size_t eq = item.find('=');
    if (eq == std::string::npos || eq == 0) {
      return Status(Code::kInvalidArgument,
                    fmt::format("--input '{}' is not NAME=FILE.npy or NAME=SHAPE:rand", item));
    }
    given[item.substr(0, eq)] = item.substr(eq + 1);
  }
  return given;
}

}  // namespace

Result<std::vector<Tensor>> MakeInputs(const Session& session, const Entry& entry,
                                       const Options& options) {
  const Function& f = session.graph().fn(entry.fn);
  const DimTable& table = session.graph().dims;
  GE_ASSIGN_OR_RETURN(auto given, GivenInputs(options));
  const size_t n = f.params.size();
  std::vector<Tensor> out(n);
  std::vector<bool> known(n), random(n);
  std::string names;
  Sizes sizes;
  for (size_t i = 0; i < n; ++i) {
    const Value& param = f.value(f.params[i]);
    names += (names.empty() ? "" : ", ") + param.name;
    const auto it = given.find(param.name);
    if (it == given.end()) continue;
    bool fill = false;
    GE_ASSIGN_OR_RETURN(out[i], FromSpec(param, it->second, &fill));
    LearnSizes(table, param, out[i].view.dims, &sizes);
    known[i] = true;
    random[i] = fill;
    given.erase(it);
  }
  if (!given.empty()) {
    return Status(Code::kInvalidArgument, fmt::format("the model has no input '{}'; it has: {}",
                                                      given.begin()->first, names));
  }
  std::mt19937_64 rng(options.seed);
  for (size_t i = 0; i < n; ++i) {
    const Value& param = f.value(f.params[i]);
    if (!known[i]) {
      GE_ASSIGN_OR_RETURN(out[i], Default(table, param, options.quiet, &sizes));
      random[i] = true;
    }
    if (random[i]) FillRandom(&out[i], &rng);
    out[i].name = param.name;
  }
  return out;
}

std::vector<TensorView> Views(const std::vector<Tensor>& tensors) {
  std::vector<TensorView> out;
  for (const Tensor& t : tensors) out.push_back(t.view);
  return out;
}

int Fail(const Status& status) {
  fmt::print(stderr, "ge: {}\n", status.ToString());
  switch (status.code()) {
    case Code::kOk:
      return 0;
    case Code::kInvalidGraph:
    case Code::kInvalidArgument:
    case Code::kUnsupported:
    case Code::kLimitExceeded:
    case Code::kIoError:
    case Code::kDataCorrupt:
      return 2;
    case Code::kCancelled:
      return Signalled() ? kExitInterrupted : 3;
    default:
      return 3;
  }
}

Result<SessionOptions> SessionOptionsOf(const Options& options) {
  // Before anything is said: the level is read once.
  if (options.verbose) (void)setenv("GE_LOG_LEVEL", "2", 0);
  SessionOptions s;
  if (!(options.time_limit_s >= 0 && options.time_limit_s < 1e9)) {
    return Status(
        Code::kInvalidArgument,
        fmt::format("--time-limit is {}, wanted seconds from 0 to 1e9", options.time_limit_s));
  }
  s.time_limit_ms = static_cast<uint64_t>(std::ceil(options.time_limit_s * 1e3));
  GE_ASSIGN_OR_RETURN(s.engines, ParseEngineList(options.engines));
  s.plugins = options.plugins;
  s.process.threads = options.threads;
  GE_ASSIGN_OR_RETURN(s.build.prices.mode, PriceModeFromName(options.prices));
  s.build.prices.measure_budget_ms = options.measure_budget_ms;
  s.build.prices.replan = options.replan;
  if (s.build.prices.mode != PriceMode::kAnalytic) {
    s.process.rates = s.build.prices.mode == PriceMode::kShipped ? ProcessFacts::Rates::kShipped
                                                                 : ProcessFacts::Rates::kKnown;
  }
  GE_ASSIGN_OR_RETURN(s.process.isa_cap, IsaFromName(options.isa, "--isa"));
  GE_ASSIGN_OR_RETURN(s.denormals, DenormalsFromName(options.denormals, "--denormals"));
  GE_ASSIGN_OR_RETURN(s.numerics, NumericsFromName(options.numerics, "--numerics"));
  GE_ASSIGN_OR_RETURN(s.precision, PrecisionFromName(options.precision, "--precision"));
  s.skip_passes.insert(options.skip.begin(), options.skip.end());
  for (const std::string& asked : options.passes) {
    GE_ASSIGN_OR_RETURN(const auto requests, ParsePassRequests(asked));
    s.passes.insert(s.passes.end(), requests.begin(), requests.end());
  }
  s.kv_cache = options.kv_cache;
  s.load.data_roots = options.data_roots;
  s.load.initializer_inputs = options.initializer_inputs;
  s.strict_dims = options.strict_dims;
  s.strict = options.strict;
  s.build.check = !options.no_check;
  s.build.memory_limit_bytes = options.memory_limit_bytes;
  GE_ASSIGN_OR_RETURN(s.build.place.policy, PlacePolicyFromName(options.policy));
  for (const std::string& text : options.pins) {
    GE_ASSIGN_OR_RETURN(PlacePin pin, ParsePin(text));
    s.build.place.pins.push_back(std::move(pin));
  }
  s.build.place.fuse = !options.no_fuse;
  s.build.streams.max_streams_per_device = options.max_streams;
  return s;
}

std::string RoundedText(uint64_t nodes) {
  return nodes > 0 ? fmt::format("{} nodes are of offers that round what products read", nodes)
                   : "no engine offers to round what products read, so numbers are those of "
                     "float32; that takes a product or convolution with constant weights, a "
                     "processor with AVX512-BF16, --isa native or avx512, and --denormals flush";
}

void NoteMeasured(const Options& options, const Compiled& compiled) {
  if (options.prices != "measure") return;
  const MeasureReport& m = compiled.measured;
  fmt::print(stderr,
             "note: measured {} offers in {:.0f} ms of {:.0f}; {} left, {} cannot run alone\n",
             m.measured, m.ms, options.measure_budget_ms, m.left, m.failed);
}

Status LoadModel(const Options& o, SignalledSession* session) {
  GE_RETURN_IF_ERROR((*session)->LoadFile(o.model));
  std::vector<std::string> given;
  for (const std::string& input : o.inputs) {
    const std::string name = input.substr(0, input.find('='));
    for (const DefaultInput& d : (*session)->defaults()) {
      if (d.name == name) given.push_back(name);
    }
  }
  if (given.empty()) return {};
  // Which initializers may be given, the model had to tell.
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  options.load.initializer_inputs = std::move(given);
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
  session->Replace(std::move(created));
  return (*session)->LoadFile(o.model);
}

Result<SignalledSession> Open(const Options& o) {
  GE_ASSIGN_OR_RETURN(SessionOptions options, SessionOptionsOf(o));
  GE_ASSIGN_OR_RETURN(auto created, Session::Create(std::move(options)));
  SignalledSession session(std::move(created));
  GE_RETURN_IF_ERROR(LoadModel(o, &session));
  return session;
}

}  // namespace ge::tool
