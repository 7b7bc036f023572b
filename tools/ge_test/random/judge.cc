// How random cases are drawn, run and compared: what the sweeps of small and of large ones share.
#include <fmt/format.h>

#include <algorithm>

#include "tools/ge_test/random/bounds.h"

namespace ge::test {
uint64_t MixSeed(uint64_t seed, std::string_view op, int64_t index) {
  uint64_t h = seed * 0x9e3779b97f4a7c15u + static_cast<uint64_t>(index);
  for (const char c : op) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001b3u;
  return h ^ (h >> 29);
}

DType PickDType(const OpDef& op, Random* random, double float_share) {
  static const std::vector<DType> kTypes = {
      DType::kFloat,  DType::kDouble, DType::kFloat16, DType::kBfloat16, DType::kInt8,
      DType::kInt16,  DType::kInt32,  DType::kInt64,   DType::kUint8,    DType::kUint16,
      DType::kUint32, DType::kUint64, DType::kBool};
  const bool from_input = !op.inputs.empty() && std::string_view(op.name) != "ConstantOfShape";
  const DTypeSet legal = from_input ? op.inputs[0].dtypes : op.outputs[0].dtypes;
  if ((legal & Bit(DType::kFloat)) != 0 && random->Chance(float_share)) return DType::kFloat;
  for (;;) {
    const DType t = random->Pick(kTypes);
    if ((legal & Bit(t)) != 0) return t;
  }
}

bool IsDecline(const Status& status) {
  return status.code() == Code::kUnsupported &&
         status.message().find("no loaded engine takes operator") != std::string::npos;
}

Result<RunResult> RunRandomCase(const RandomCase& sample, DType dtype, const std::string& engines) {
  std::vector<std::shared_ptr<HostTensor>> inputs;
  const Graph graph = ToGraph(sample, dtype, &inputs);
  std::vector<const HostTensor*> in;
  for (const auto& t : inputs) in.push_back(t.get());
  return RunGraph(graph, engines, PassNames(std::in_place), in);
}

std::string OutputsDiffer(const RandomOp& op, const RandomCase& sample, DType dtype,
                          const std::vector<HostTensor>& found,
                          const std::vector<HostTensor>& wanted, DType other) {
  Bounds bounds(op, sample, dtype);
  for (size_t i = 0; i < found.size(); ++i) {
    auto f = Convert(found[i], found[i].dtype), w = Convert(wanted[i], wanted[i].dtype);
    // Integers are compared in their own type, since sums of narrow ones wrap; and so is a float
    // where the other run's answer is whole.
    if (f->dtype != w->dtype && !IsFloat(f->dtype)) w = Convert(*w, f->dtype);
    if (f->dtype != w->dtype && !IsFloat(w->dtype)) f = Convert(*f, w->dtype);
    const std::string difference = bounds.Differs(i, *f, *w);
    if (difference.empty()) continue;
    const std::string than =
        other == DType::kUndefined ? "ref" : fmt::format("the run in {}", DTypeName(other));
    return fmt::format("output {}: {}, by {}", i, difference, than);
  }
  return "";
}

std::string DiffersFromRef(const RandomOp& op, const RandomCase& sample, DType dtype,
                           const std::vector<HostTensor>& found) {
  DType other = op.bound == 0 ? DType::kUndefined : WiderDType(sample, dtype);
  auto wanted = RunRandomCase(sample, other, "ref");
  if (!wanted.ok() && other != DType::kUndefined) {
    wanted = RunRandomCase(sample, other = DType::kUndefined, "ref");
  }
  if (!wanted.ok()) return "ref: " + wanted.status().ToString();
  return OutputsDiffer(op, sample, dtype, found, wanted->outputs, other);
}

}  // namespace ge::test
