#include "tools/ge_test/tensor.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <sstream>
#include <stdexcept>

#include "ge/base/aligned.h"
#include "ge/base/checked.h"
#include "ge/control/tensor_values.h"
#include "ge/engine/engine_list.h"
#include "ge/run/tensor_view.h"

namespace ge::test {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr double kInf = std::numeric_limits<double>::infinity();

// Where `size` bytes of a tensor begin. A plain answer that reads beyond its input would compare an
// engine with whatever lies there: blocks are larger than their tensors.
std::byte* At(const HostTensor& t, int64_t at, size_t size) {
  if (at < 0 || static_cast<uint64_t>(at) + size > t.bytes) {
    throw std::out_of_range(
        fmt::format("byte {} of {}, which has {}: a fault of the test", at, TypeText(t), t.bytes));
  }
  return t.data.get() + at;
}

template <typename T>
T Load(const HostTensor& t, int64_t i) {
  T v;
  std::memcpy(&v, At(t, i * static_cast<int64_t>(sizeof(T)), sizeof(T)), sizeof(T));
  return v;
}

template <typename T>
void Store(HostTensor* t, int64_t i, T v) {
  std::memcpy(At(*t, i * static_cast<int64_t>(sizeof(T)), sizeof(T)), &v, sizeof(T));
}

// An element below a byte or of one byte, as its bits.
uint32_t Bits(const HostTensor& t, int64_t i) {
  const int bits = DTypeBits(t.dtype);
  const int64_t bit = i * bits;
  auto both = std::to_integer<uint32_t>(*At(t, bit / 8, 1));
  if (bit % 8 + bits > 8) both |= std::to_integer<uint32_t>(*At(t, bit / 8 + 1, 1)) << 8;
  return (both >> (bit % 8)) & ((1u << bits) - 1);
}

// sign | exponent | mantissa of a small float without infinities of its own.
double SmallFloat(uint32_t code, int exponent_bits, int man_bits, int bias) {
  const uint32_t man = code & ((1u << man_bits) - 1);
  const auto e = static_cast<int>((code >> man_bits) & ((1u << exponent_bits) - 1));
  const bool negative = ((code >> (man_bits + exponent_bits)) & 1) != 0;
  const double magnitude = e == 0 ? std::ldexp(man, 1 - bias - man_bits)
                                  : std::ldexp(man + (1u << man_bits), e - bias - man_bits);
  return negative ? -magnitude : magnitude;
}

double Half(uint32_t code) {
  if ((code & 0x7c00) != 0x7c00) return SmallFloat(code, 5, 10, 15);
  if ((code & 0x3ff) != 0) return kNan;
  return (code & 0x8000) != 0 ? -kInf : kInf;
}

double Float8(DType dtype, uint32_t code) {
  switch (dtype) {
    case DType::kFloat8e4m3fn:
      return (code & 0x7f) == 0x7f ? kNan : SmallFloat(code, 4, 3, 7);
    case DType::kFloat8e4m3fnuz:
      return code == 0x80 ? kNan : SmallFloat(code, 4, 3, 8);
    case DType::kFloat8e5m2fnuz:
      return code == 0x80 ? kNan : SmallFloat(code, 5, 2, 16);
    case DType::kFloat8e8m0:
      return code == 0xff ? kNan : std::ldexp(1.0, static_cast<int>(code) - 127);
    default:
      if ((code & 0x7c) != 0x7c) return SmallFloat(code, 5, 2, 15);
      if ((code & 3) != 0) return kNan;
      return (code & 0x80) != 0 ? -kInf : kInf;
  }
}

uint16_t ToHalf(double v) {
  // By way of the nearest of all codes: slow, sure, and unlike the code under test.
  if (std::isnan(v)) return 0x7e00;
  const uint16_t sign = std::signbit(v) ? 0x8000 : 0;
  const double a = std::fabs(v);
  if (a >= 65520.0) return sign | 0x7c00;
  uint16_t lo = 0, hi = 0x7bff;
  while (lo < hi) {
    const auto mid = static_cast<uint16_t>((lo + hi + 1) / 2);
    if (Half(mid) <= a) {
      lo = mid;
    } else {
      hi = static_cast<uint16_t>(mid - 1);
    }
  }
  if (lo == 0x7bff) return sign | lo;
  const double below = a - Half(lo), above = Half(lo + 1u) - a;
  const bool up = above < below || (above == below && (lo & 1) != 0);
  return sign | static_cast<uint16_t>(lo + (up ? 1 : 0));
}

uint16_t ToBfloat(double v) {
  const auto bits = std::bit_cast<uint32_t>(static_cast<float>(v));
  if (std::isnan(v)) return 0x7fc0;
  return static_cast<uint16_t>((bits + 0x7fff + ((bits >> 16) & 1)) >> 16);
}

double NarrowFloat(DType dtype, uint32_t code) {
  switch (dtype) {
    case DType::kFloat4e2m1:
      return SmallFloat(code, 2, 1, 1);
    case DType::kFloat6e2m3:
      return SmallFloat(code, 2, 3, 1);
    case DType::kFloat6e3m2:
      return SmallFloat(code, 3, 2, 3);
    default:
      return Float8(dtype, code);
  }
}

// The code of the nearest finite value, found by trying all of them: the greatest stands for what
// lies beyond it, ties go to the even code, and -0 to itself where there is one.
uint32_t ToNarrowFloat(DType dtype, double v) {
  uint32_t best = 0;
  double least = kInf;
  for (uint32_t code = 0; code < 1u << DTypeBits(dtype); ++code) {
    const double at = NarrowFloat(dtype, code);
    if (std::isnan(v) && std::isnan(at)) return code;
    if (std::isnan(v) || !std::isfinite(at)) continue;
    const double away = std::isinf(v) ? (std::signbit(v) ? at : -at) : std::fabs(at - v);
    const bool tie =
        away == least && std::signbit(at) == std::signbit(v) && (at == 0 || (code & 1) == 0);
    if (away < least || tie) {
      best = code;
      least = away;
    }
  }
  return best;
}

int PartsOf(DType t) { return t == DType::kComplex64 || t == DType::kComplex128 ? 2 : 1; }

bool IsApproximate(DType t) {
  return t == DType::kFloat || t == DType::kDouble || t == DType::kFloat16 ||
         t == DType::kBfloat16 || PartsOf(t) == 2;
}

bool Near(double f, double w, const Tolerance& tolerance, double greatest) {
  if (std::isnan(w) || std::isnan(f)) return std::isnan(w) && std::isnan(f);
  if (std::isinf(w) || std::isinf(f)) return w == f;
  return std::fabs(f - w) <=
         tolerance.atol + tolerance.rtol * std::fabs(w) + tolerance.scaled * greatest;
}

}  // namespace

int64_t HostTensor::count() const { return CheckedProduct(dims).value_or(0); }

Result<HostTensor> MakeTensor(DType dtype, std::vector<int64_t> dims) {
  HostTensor t;
  t.dtype = dtype;
  t.dims = std::move(dims);
  const auto count = CheckedProduct(t.dims);
  const auto bytes = count && dtype != DType::kString ? DTypeBytes(dtype, *count) : std::nullopt;
  if (!bytes) {
    return Status(Code::kUnsupported,
                  fmt::format("a tensor of {} with shape [{}] has no size in bytes",
                              DTypeName(dtype), fmt::join(t.dims, ",")));
  }
  t.bytes = static_cast<uint64_t>(*bytes);
  t.data = AllocateAligned(t.bytes, 64);
  if (!t.data) {
    return Status(Code::kResourceExhausted, fmt::format("no memory for {} bytes", t.bytes));
  }
  std::memset(t.data.get(), 0, t.bytes);
  return t;
}

namespace {

HostTensor TextTensor(std::vector<int64_t> dims, std::vector<std::string> strings) {
  HostTensor t;
  t.dtype = DType::kString;
  t.dims = std::move(dims);
  t.strings = std::move(strings);
  return t;
}

std::string TextsDiffer(const HostTensor& found, const HostTensor& wanted) {
  for (size_t i = 0; i < wanted.strings.size(); ++i) {
    if (i < found.strings.size() && found.strings[i] == wanted.strings[i]) continue;
    return fmt::format("element {} is '{}', wanted '{}'",
                       IndexText(static_cast<int64_t>(i), wanted.dims),
                       i < found.strings.size() ? found.strings[i] : "", wanted.strings[i]);
  }
  return "";
}

}  // namespace

Result<HostTensor> FromConst(const Const& constant) {
  if (constant.type.dtype == DType::kString) {
    return TextTensor(constant.type.static_dims(), constant.strings);
  }
  GE_ASSIGN_OR_RETURN(HostTensor t, MakeTensor(constant.type.dtype, constant.type.static_dims()));
  ConstScratch scratch;
  const std::byte* data = ConstBytes(constant, &scratch);
  if (data != nullptr && t.bytes > 0) std::memcpy(t.data.get(), data, t.bytes);
  return t;
}

Const ToConst(const HostTensor& tensor, std::string name) {
  if (tensor.dtype == DType::kString) {
    Const texts;
    texts.type = TensorType(tensor.dtype, tensor.dims);
    texts.strings = tensor.strings;
    texts.name = std::move(name);
    return texts;
  }
  return MakeConst(TensorType(tensor.dtype, tensor.dims), tensor.data.get(), tensor.bytes,
                   std::move(name));
}

double ElementAsDouble(const HostTensor& tensor, int64_t i) {
  switch (tensor.dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return Load<float>(tensor, i);
    case DType::kDouble:
    case DType::kComplex128:
      return Load<double>(tensor, i);
    case DType::kFloat16:
      return Half(Load<uint16_t>(tensor, i));
    case DType::kBfloat16:
      return std::bit_cast<float>(uint32_t{Load<uint16_t>(tensor, i)} << 16);
    case DType::kUint64:
      return static_cast<double>(Load<uint64_t>(tensor, i));
    default:
      return IsFloat(tensor.dtype) ? NarrowFloat(tensor.dtype, Bits(tensor, i))
                                   : static_cast<double>(ElementAsInt(tensor, i));
  }
}

int64_t ElementAsInt(const HostTensor& tensor, int64_t i) {
  switch (tensor.dtype) {
    case DType::kInt8:
      return Load<int8_t>(tensor, i);
    case DType::kInt16:
      return Load<int16_t>(tensor, i);
    case DType::kUint16:
      return Load<uint16_t>(tensor, i);
    case DType::kInt32:
      return Load<int32_t>(tensor, i);
    case DType::kUint32:
      return Load<uint32_t>(tensor, i);
    case DType::kInt64:
    case DType::kUint64:
      return Load<int64_t>(tensor, i);
    case DType::kInt4:
      return (static_cast<int64_t>(Bits(tensor, i)) ^ 8) - 8;
    case DType::kInt2:
      return (static_cast<int64_t>(Bits(tensor, i)) ^ 2) - 2;
    default:
      return Bits(tensor, i);
  }
}

namespace {

// Infinities are the ends of the type: so a maximum over nothing is the same in every type.
int64_t Whole(DType dtype, double value) {
  if (!std::isinf(value)) return static_cast<int64_t>(value);
  const int bits = DTypeBits(dtype);
  const bool is_signed = dtype == DType::kInt2 || dtype == DType::kInt4 || dtype == DType::kInt8 ||
                         dtype == DType::kInt16 || dtype == DType::kInt32 || dtype == DType::kInt64;
  const uint64_t all = bits >= 64 ? UINT64_MAX : (uint64_t{1} << bits) - 1;
  const uint64_t most = is_signed ? all >> 1 : all;
  return static_cast<int64_t>(value > 0 ? most : is_signed ? ~most : 0);
}

}  // namespace

void SetElement(HostTensor* tensor, int64_t i, double value) {
  switch (tensor->dtype) {
    case DType::kFloat:
    case DType::kComplex64:
      return Store(tensor, i, static_cast<float>(value));
    case DType::kDouble:
    case DType::kComplex128:
      return Store(tensor, i, value);
    case DType::kFloat16:
      return Store(tensor, i, ToHalf(value));
    case DType::kBfloat16:
      return Store(tensor, i, ToBfloat(value));
    default:
      return SetIntElement(tensor, i,
                           IsFloat(tensor->dtype) ? ToNarrowFloat(tensor->dtype, value)
                                                  : Whole(tensor->dtype, value));
  }
}

void SetIntElement(HostTensor* tensor, int64_t i, int64_t value) {
  switch (DTypeBits(tensor->dtype)) {
    case 8:
      return Store(tensor, i, static_cast<uint8_t>(value));
    case 16:
      return Store(tensor, i, static_cast<uint16_t>(value));
    case 32:
      return Store(tensor, i, static_cast<uint32_t>(value));
    case 64:
      return Store(tensor, i, value);
    default: {
      const int bits = DTypeBits(tensor->dtype);
      for (int64_t b = 0, at = i * bits; b < bits; ++b, ++at) {
        std::byte& byte = *At(*tensor, at / 8, 1);
        const std::byte place = std::byte{1} << static_cast<int>(at % 8);
        byte = ((value >> b) & 1) != 0 ? byte | place : byte & ~place;
      }
    }
  }
}

std::string TypeText(const HostTensor& tensor) {
  return fmt::format("{}[{}]", DTypeName(tensor.dtype), fmt::join(tensor.dims, ","));
}

std::string IndexText(int64_t i, const std::vector<int64_t>& dims) {
  std::vector<int64_t> index(dims.size());
  for (size_t d = dims.size(); d-- > 0;) {
    index[d] = i % dims[d];
    i /= dims[d];
  }
  return fmt::format("[{}]", fmt::join(index, ","));
}

std::string Differs(const HostTensor& found, const HostTensor& wanted, const Tolerance& tolerance) {
  if (found.dtype != wanted.dtype || found.dims != wanted.dims) {
    return fmt::format("found {}, wanted {}", TypeText(found), TypeText(wanted));
  }
  if (found.dtype == DType::kString) return TextsDiffer(found, wanted);
  const int parts = PartsOf(found.dtype);
  const int64_t n = wanted.count() * parts;
  double greatest = tolerance.magnitude;
  const bool approximate = IsApproximate(found.dtype);
  for (int64_t i = 0; approximate && i < n; ++i) {
    const double w = std::fabs(ElementAsDouble(wanted, i));
    if (std::isfinite(w)) greatest = std::max(greatest, w);
  }
  for (int64_t i = 0; i < n; ++i) {
    if (approximate || IsFloat(found.dtype)) {
      const double f = ElementAsDouble(found, i), w = ElementAsDouble(wanted, i);
      if (Near(f, w, approximate ? tolerance : Tolerance(), greatest)) continue;
      return fmt::format("element {} is {}, wanted {} (greatest magnitude {})",
                         IndexText(i / parts, wanted.dims), f, w, greatest);
    }
    const int64_t f = ElementAsInt(found, i), w = ElementAsInt(wanted, i);
    if (f != w) {
      return fmt::format("element {} is {}, wanted {}", IndexText(i, wanted.dims), f, w);
    }
  }
  return "";
}

namespace {

Settings g_settings;

}  // namespace

void SetSettings(const Settings& settings) { g_settings = settings; }
const Settings& TheSettings() { return g_settings; }

SessionOptions NewSessionOptions() {
  SessionOptions options;
  options.process.threads = g_settings.threads;
  options.precision = g_settings.precision;
  if (g_settings.shipped) options.process.rates = ProcessFacts::Rates::kKnown;
  if (g_settings.shipped) options.build.prices.mode = PriceMode::kCached;
  return options;
}

bool TakeSettings(std::vector<char*>* arguments) {
  Settings settings;
  std::vector<char*> left;
  for (size_t i = 0; i < arguments->size(); ++i) {
    const std::string_view arg = (*arguments)[i];
    if (arg == "--shipped") {
      settings.shipped = true;
    } else if (arg == "--threads") {
      const std::string_view word = ++i < arguments->size() ? (*arguments)[i] : "";
      const auto end = word.data() + word.size();
      const auto parsed = std::from_chars(word.data(), end, settings.threads);
      if (parsed.ec != std::errc() || parsed.ptr != end || settings.threads == 0) {
        fmt::print(stderr, "ge-test: found '{}' after --threads, wanted a number above 0\n", word);
        return false;
      }
    } else if (arg == "--precision") {
      const auto named = PrecisionFromName(++i < arguments->size() ? (*arguments)[i] : "", arg);
      if (!named.ok()) {
        fmt::print(stderr, "ge-test: {}\n", named.status().message());
        return false;
      }
      settings.precision = *named;
    } else {
      left.push_back((*arguments)[i]);
    }
  }
  *arguments = std::move(left);
  SetSettings(settings);
  return true;
}

namespace {

// Results of a shape that is known afterwards only.
Result<RunResult> RunWithoutPlan(Session* session, const Entry& entry,
                                 std::span<const TensorView> in) {
  const Function& f = session->graph().fn(entry.fn);
  RunResult result;
  std::vector<TensorView> out(f.results.size());
  GE_RETURN_IF_ERROR(session->Run(entry.name, in, out));
  for (size_t i = 0; i < out.size(); ++i) {
    const AlignedBytes owner(static_cast<std::byte*>(out[i].data));
    GE_ASSIGN_OR_RETURN(HostTensor t, MakeTensor(out[i].dtype, out[i].dims));
    if (t.bytes > 0) std::memcpy(t.data.get(), owner.get(), t.bytes);
    result.outputs.push_back(std::move(t));
    result.names.push_back(f.value(f.results[i]).name);
  }
  return result;
}

bool HasTexts(const Function& f) {
  const auto text = [&](ValueId v) { return f.value(v).type.dtype == DType::kString; };
  return std::any_of(f.params.begin(), f.params.end(), text) ||
         std::any_of(f.results.begin(), f.results.end(), text);
}

// Where texts go in or come out.
Result<RunResult> RunWithTexts(Session* session, const Entry& entry,
                               const std::vector<const HostTensor*>& inputs) {
  const Function& f = session->graph().fn(entry.fn);
  std::vector<FlowValue> in, out;
  for (const HostTensor* t : inputs) {
    const bool text = t->dtype == DType::kString;
    in.push_back(text ? StringsOf(t->dims, t->strings) : ValueOf(t->view()));
  }
  GE_RETURN_IF_ERROR(session->RunValues(entry.name, in, &out));
  RunResult result;
  for (size_t i = 0; i < out.size(); ++i) {
    result.names.push_back(f.value(f.results[i]).name);
    if (out[i].strings) {
      result.outputs.push_back(TextTensor(out[i].dims.vector(), *out[i].strings));
      continue;
    }
    GE_ASSIGN_OR_RETURN(HostTensor t, MakeTensor(out[i].dtype, out[i].dims.vector()));
    if (t.bytes > 0) std::memcpy(t.data.get(), out[i].data, t.bytes);
    result.outputs.push_back(std::move(t));
  }
  return result;
}

// "ENGINES [policy=NAME] [denormals=flush|keep] [numerics=fast|exact] [precision=f32|bf16]
// [plugins=LIST]"; no engines = ref.
Result<SessionOptions> OptionsOfRun(const std::string& words) {
  SessionOptions options = NewSessionOptions();
  std::string list = "ref";
  std::istringstream in(words);
  for (std::string word; in >> word;) {
    const std::string name = word.substr(0, word.find('=')), value = word.substr(name.size());
    if (name == "policy") {
      GE_ASSIGN_OR_RETURN(options.build.place.policy, PlacePolicyFromName(value.substr(1)));
    } else if (name == "denormals") {
      GE_ASSIGN_OR_RETURN(options.denormals, DenormalsFromName(value.substr(1), name));
    } else if (name == "numerics") {
      GE_ASSIGN_OR_RETURN(options.numerics, NumericsFromName(value.substr(1), name));
    } else if (name == "precision") {
      GE_ASSIGN_OR_RETURN(options.precision, PrecisionFromName(value.substr(1), name));
    } else if (name == "plugins") {
      options.plugins = value.substr(1);
    } else {
      list = word;
    }
  }
  GE_ASSIGN_OR_RETURN(options.engines, ParseEngineList(list));
  return options;
}

}  // namespace

Result<RunResult> RunGraph(const Graph& graph, const std::string& engines, const PassNames& passes,
                           const std::vector<const HostTensor*>& inputs) {
  GE_ASSIGN_OR_RETURN(SessionOptions options, OptionsOfRun(engines));
  for (const auto& pass : MakePipeline()) {
    if (passes && std::find(passes->begin(), passes->end(), pass->name()) == passes->end()) {
      options.skip_passes.emplace(pass->name());
    }
  }
  GE_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(options)));
  GE_RETURN_IF_ERROR(session->LoadGraph(graph));
  GE_ASSIGN_OR_RETURN(const Entry* entry, session->FindEntry(""));
  if (HasTexts(session->graph().fn(entry->fn))) {
    return RunWithTexts(session.get(), *entry, inputs);
  }
  std::vector<TensorView> in;
  for (const HostTensor* t : inputs) in.push_back(t->view());
  auto planned = session->Compile(entry->name, in);
  if (!planned.ok()) return RunWithoutPlan(session.get(), *entry, in);
  const auto& compiled = *planned;
  RunResult result;
  std::vector<TensorView> out;
  for (const Compiled::Port& port : compiled->outputs) {
    GE_ASSIGN_OR_RETURN(HostTensor t, MakeTensor(port.dtype, port.dims));
    // Whatever an engine does not write must not look right by chance.
    std::memset(t.data.get(), 0xcd, t.bytes);
    out.push_back(t.view());
    result.outputs.push_back(std::move(t));
    result.names.push_back(port.name);
  }
  GE_RETURN_IF_ERROR(session->Run(entry->name, in, out));
  for (size_t i = 0; i < out.size(); ++i) {
    if (out[i].dtype != result.outputs[i].dtype || out[i].dims != result.outputs[i].dims) {
      return Status(Code::kInternal, fmt::format("output {} changed its type in the run", i));
    }
  }
  return result;
}

}  // namespace ge::test
