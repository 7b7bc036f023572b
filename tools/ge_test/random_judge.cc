// How random cases are drawn, run and compared: what the sweeps of small and of large ones share.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tools/ge_test/random_case.h"

namespace ge::test {
namespace {

double MeanMagnitude(const HostTensor& t) {
  const int64_t n = t.count();
  double sum = 0;
  for (int64_t i = 0; i < n; ++i) sum += std::fabs(ElementAsDouble(t, i));
  return n > 0 ? sum / static_cast<double>(n) : 0;
}

}  // namespace

uint64_t MixSeed(uint64_t seed, std::string_view op, int64_t index) {
  uint64_t h = seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(index);
  for (const char c : op) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h ^ (h >> 29);
}

DType PickDType(const OpDef& op, Random* r, double float_share) {
  static const std::vector<DType> kTypes = {
      DType::kFloat,  DType::kDouble, DType::kFloat16, DType::kBfloat16, DType::kInt8,
      DType::kInt16,  DType::kInt32,  DType::kInt64,   DType::kUint8,    DType::kUint16,
      DType::kUint32, DType::kUint64, DType::kBool};
  const bool from_input = !op.inputs.empty() && std::string_view(op.name) != "ConstantOfShape";
  const DTypeSet legal = from_input ? op.inputs[0].dtypes : op.outputs[0].dtypes;
  if ((legal & Bit(DType::kFloat)) != 0 && r->Chance(float_share)) return DType::kFloat;
  for (;;) {
    const DType t = r->Pick(kTypes);
    if ((legal & Bit(t)) != 0) return t;
  }
}

bool IsDecline(const Status& s) {
  return s.code() == Code::kUnsupported &&
         s.message().find("no loaded engine takes operator") != std::string::npos;
}

Result<RunResult> RunRandomCase(const RandomCase& c, DType dtype, const std::string& engines) {
  std::vector<std::shared_ptr<HostTensor>> inputs;
  const Graph graph = ToGraph(c, dtype, &inputs);
  std::vector<const HostTensor*> in;
  for (const auto& t : inputs) in.push_back(t.get());
  return RunGraph(graph, engines, PassNames(std::in_place), in);
}

double GreatestMagnitude(const HostTensor& t) {
  double m = 0;
  for (int64_t i = 0, n = t.count(); i < n; ++i) m = std::max(m, std::fabs(ElementAsDouble(t, i)));
  return m;
}

Tolerance ToleranceOf(const RandomOp& op, const RandomCase& c, DType dtype) {
  Tolerance t;
  t.scaled = op.bound;
  if (dtype == DType::kFloat16) t.scaled *= 0x1p13;
  if (dtype == DType::kBfloat16) t.scaled *= 0x1p16;
  for (const auto& in : c.inputs) {
    if (op.error == Error::kOfTerms && in.tensor) {
      t.magnitude = std::max(t.magnitude, GreatestMagnitude(*in.tensor));
    }
  }
  if (op.error == Error::kOfTerms && c.terms > 1) {
    // The sum of the terms' magnitudes, of which rounding errors are a part, whatever cancels. A
    // quarter: as many roundings fall the one way as the other.
    double sum = static_cast<double>(c.terms) / 4;
    for (size_t i = 0; i < 2 && i < c.inputs.size(); ++i) {
      const HostTensor* in = c.inputs[i].tensor.get();
      if (in != nullptr && IsFloat(in->dtype)) sum *= MeanMagnitude(*in);
    }
    t.magnitude = std::max(t.magnitude, sum);
  }
  return t;
}

std::string OutputsDiffer(const RandomOp& op, const RandomCase& c, DType dtype,
                          const std::vector<HostTensor>& found,
                          const std::vector<HostTensor>& wanted, DType other) {
  const Tolerance tolerance = ToleranceOf(op, c, dtype);
  for (size_t i = 0; i < found.size(); ++i) {
    auto f = Convert(found[i], found[i].dtype), w = Convert(wanted[i], wanted[i].dtype);
    if (f->dtype != w->dtype) {
      // Floats are compared in the type of the second run, integers in their own: sums of narrow
      // integers wrap.
      (IsFloat(f->dtype) ? f : w) =
          IsFloat(f->dtype) ? Convert(*f, w->dtype) : Convert(*w, f->dtype);
    }
    const std::string difference = Differs(*f, *w, tolerance);
    if (difference.empty()) continue;
    const std::string than =
        other == DType::kUndefined ? "ref" : fmt::format("the run in {}", DTypeName(other));
    return fmt::format("output {}: {}, by {}", i, difference, than);
  }
  return "";
}

}  // namespace ge::test
