// Normalizations: softmax and its logarithm, of channels, of layers, by root mean squares, of
// groups.
#include <algorithm>
#include <cmath>
#include <limits>

#include "plugins/ascend/sim/operators/checker.h"
#include "plugins/ascend/sim/operators/rows.h"

namespace ge_engines::ascend::sim {
namespace {

// ---- softmax -----------------------------------------------------------------------------------

std::string CheckSoftmax(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kReals).Tensor(2, "out", kReals).SameType(2, 0);
  c.HasDims(2, given[0].tensor.dims).Axis(1, given[0].tensor.dims.size());
  return c.fault();
}

Rows SoftmaxRows(const Arguments& given) {
  const Dims& dims = given[0].tensor.dims;
  return {dims, AxisOf(given, 1, dims.size())};
}

// One row.
uint64_t SoftmaxWorkspace(const Arguments& given) {
  const Rows rows = SoftmaxRows(given);
  return rows.empty() ? 0 : static_cast<uint64_t>(rows.size) * sizeof(float);
}

template <bool logarithm>
void RunSoftmax(const Arguments& given, void* workspace) {
  const Rows rows = SoftmaxRows(given);
  std::vector<float> values = Load<float>(given[0].tensor);
  auto* row = static_cast<float*>(workspace);
  for (int64_t r = 0; r < rows.count() && !rows.empty(); ++r) {
    float* x = values.data() + rows.First(r);
    float most = -std::numeric_limits<float>::infinity();
    for (int64_t i = 0; i < rows.size; ++i) most = std::max(most, x[i * rows.inner]);
    for (int64_t i = 0; i < rows.size; ++i) row[i] = std::exp(x[i * rows.inner] - most);
    const float sum = SumOf(rows.size, [&](int64_t i) { return row[i]; });
    for (int64_t i = 0; i < rows.size; ++i) {
      float& y = x[i * rows.inner];
      y = logarithm ? y - most - std::log(sum) : row[i] / sum;
    }
  }
  Store(given[2].tensor, values);
}

// ---- channels ----------------------------------------------------------------------------------

enum : size_t {
  kInput,
  kWeight,
  kBias,
  kMean,
  kVariance,
  kTraining,
  kMomentum,
  kEpsilon,
  kOut,
  kSavedMean,
  kSavedDeviation
};

// A factor has the input's dtype, or float32.
void AskFactor(size_t i, const char* name, bool wanted, const Dims& dims, const Arguments& given,
               Checker* c) {
  const uint32_t types = TypeBit(given[0].tensor.type) | TypeBit(acl::kF32);
  if (wanted) {
    c->Tensor(i, name, types & kReals);
  } else {
    c->Optional(i, name, types & kReals);
  }
  c->HasDims(i, dims);
}

std::string CheckBatchNorm(const Arguments& given) {
  Checker c(given);
  c.Tensor(kInput, "input", kReals, kPlain | kBlocked).HasRank(kInput, 2, 5);
  if (!c.ok()) return c.fault();
  const Dims channels = {c.dims(kInput)[1]};
  c.That(!BoolOf(given, kTraining), "training: the simulator has no statistics of batches");
  AskFactor(kWeight, "weight", false, channels, given, &c);
  AskFactor(kBias, "bias", false, channels, given, &c);
  AskFactor(kMean, "runningMean", true, channels, given, &c);
  AskFactor(kVariance, "runningVar", true, channels, given, &c);
  c.Tensor(kOut, "out", kReals, kPlain | kBlocked).SameType(kOut, kInput);
  c.SameFormat(kOut, kInput).HasDims(kOut, given[kInput].tensor.dims);
  c.Tensor(kSavedMean, "saveMean", kReals).Tensor(kSavedDeviation, "saveInvstd", kReals);
  for (const size_t saved : {kSavedMean, kSavedDeviation}) {
    if (c.ok() && c.dims(saved) != Dims{0}) c.HasDims(saved, channels);
  }
  return c.fault();
}

std::vector<float> FactorOf(const Arguments& given, size_t i, int64_t count, float otherwise) {
  if (given[i].given) return Load<float>(given[i].tensor);
  return std::vector<float>(static_cast<size_t>(count), otherwise);
}

void RunBatchNorm(const Arguments& given, void*) {
  const acl::Tensor& input = given[kInput].tensor;
  const Rows rows(input.dims, 1);
  std::vector<float> values = Load<float>(input);
  const std::vector<float> mean = Load<float>(given[kMean].tensor),
                           variance = Load<float>(given[kVariance].tensor),
                           weight = FactorOf(given, kWeight, rows.size, 1),
                           bias = FactorOf(given, kBias, rows.size, 0);
  std::vector<float> deviation;
  for (const float v : variance) {
    deviation.push_back(static_cast<float>(1 / std::sqrt(v + given[kEpsilon].number)));
  }
  float* x = values.data();
  for (int64_t row = 0; row < rows.outer * rows.size; ++row) {
    const auto c = static_cast<size_t>(row % rows.size);
    const float factor = deviation[c] * weight[c];
    for (int64_t i = 0; i < rows.inner; ++i, ++x) *x = (*x - mean[c]) * factor + bias[c];
  }
  Store(given[kOut].tensor, values);
  if (given[kSavedMean].tensor.dims[0] != 0) Store(given[kSavedMean].tensor, mean);
  if (given[kSavedDeviation].tensor.dims[0] != 0) Store(given[kSavedDeviation].tensor, deviation);
}

// ---- rows --------------------------------------------------------------------------------------

// Mean and one by the deviation of a row.
struct Spread {
  float mean = 0, rstd = 0;
};
Spread SpreadOf(const float* x, int64_t count, double epsilon, bool centered) {
  Spread m;
  const auto n = static_cast<float>(count);
  if (centered) m.mean = SumOf(count, [&](int64_t i) { return x[i]; }) / n;
  const float squares =
      SumOf(count, [&](int64_t i) { return (x[i] - m.mean) * (x[i] - m.mean); }) / n;
  m.rstd = 1 / std::sqrt(squares + static_cast<float>(epsilon));
  return m;
}

// Dims of what is told of each row: those in front, then ones; or those in front alone.
void AskSpread(size_t i, const char* name, const Dims& x, size_t front, bool optional,
               uint32_t types, Checker* c) {
  if (optional) {
    c->Optional(i, name, types);
  } else {
    c->Tensor(i, name, types);
  }
  if (!c->ok() || !c->given(i)) return;
  Dims dims(x.begin(), x.begin() + static_cast<std::ptrdiff_t>(front));
  if (c->dims(i) == dims) return;
  dims.resize(x.size(), 1);
  c->HasDims(i, dims);
}

enum : size_t { kLayer, kShape, kScale, kShift, kLayerEpsilon, kLayerOut, kLayerMean, kLayerRstd };

std::string CheckLayerNorm(const Arguments& given) {
  Checker c(given);
  c.Tensor(kLayer, "input", kReals);
  if (!c.ok()) return c.fault();
  const Dims &x = c.dims(kLayer), &shape = given[kShape].ints;
  c.That(given[kShape].given && !shape.empty() && shape.size() <= x.size() &&
             std::equal(shape.rbegin(), shape.rend(), x.rbegin()),
         "normalizedShape: " + TextOf(shape) + " does not end dims " + TextOf(x));
  if (!c.ok()) return c.fault();
  AskFactor(kScale, "weight", false, shape, given, &c);
  AskFactor(kShift, "bias", false, shape, given, &c);
  c.Tensor(kLayerOut, "out", kReals).SameType(kLayerOut, kLayer).HasDims(kLayerOut, x);
  const size_t front = x.size() - shape.size();
  const uint32_t types = (TypeBit(given[kLayer].tensor.type) | TypeBit(acl::kF32)) & kReals;
  AskSpread(kLayerMean, "mean", x, front, true, types, &c);
  AskSpread(kLayerRstd, "rstd", x, front, true, types, &c);
  return c.fault();
}

// One row.
uint64_t LayerNormWorkspace(const Arguments& given) {
  const bool empty = Count(given[kLayer].tensor.dims) == 0;
  return empty ? 0 : static_cast<uint64_t>(Count(given[kShape].ints)) * sizeof(float);
}

void RunLayerNorm(const Arguments& given, void* workspace) {
  std::vector<float> values = Load<float>(given[kLayer].tensor);
  const int64_t length = Count(given[kShape].ints);
  const std::vector<float> scale = FactorOf(given, kScale, length, 1),
                           shift = FactorOf(given, kShift, length, 0);
  std::vector<float> means, deviations;
  auto* row = static_cast<float*>(workspace);
  for (size_t at = 0; at < values.size(); at += static_cast<size_t>(length)) {
    float* x = values.data() + at;
    std::copy_n(x, length, row);
    const Spread m = SpreadOf(row, length, given[kLayerEpsilon].number, true);
    for (size_t i = 0; i < scale.size(); ++i) {
      x[i] = (row[i] - m.mean) * m.rstd * scale[i] + shift[i];
    }
    means.push_back(m.mean);
    deviations.push_back(m.rstd);
  }
  Store(given[kLayerOut].tensor, values);
  if (values.empty()) return;
  if (given[kLayerMean].given) Store(given[kLayerMean].tensor, means);
  if (given[kLayerRstd].given) Store(given[kLayerRstd].tensor, deviations);
}

std::string CheckRmsNorm(const Arguments& given) {
  Checker c(given);
  c.Tensor(0, "self", kReals);
  if (!c.ok()) return c.fault();
  const Dims& x = c.dims(0);
  c.Tensor(1, "gamma", (TypeBit(given[0].tensor.type) | TypeBit(acl::kF32)) & kReals);
  c.HasRank(1, 1, std::max<size_t>(x.size(), 1));
  if (!c.ok()) return c.fault();
  const Dims& gamma = c.dims(1);
  c.That(gamma.size() <= x.size() && std::equal(gamma.rbegin(), gamma.rend(), x.rbegin()),
         "gamma: dims " + TextOf(gamma) + " do not end dims " + TextOf(x));
  c.Tensor(3, "y", kReals).SameType(3, 0).HasDims(3, x);
  if (c.ok()) AskSpread(4, "rstd", x, x.size() - gamma.size(), false, TypeBit(acl::kF32), &c);
  return c.fault();
}

void RunRmsNorm(const Arguments& given, void*) {
  std::vector<float> values = Load<float>(given[0].tensor);
  const std::vector<float> gamma = Load<float>(given[1].tensor);
  std::vector<float> deviations;
  for (size_t at = 0; at < values.size(); at += gamma.size()) {
    float* x = values.data() + at;
    const Spread m = SpreadOf(x, static_cast<int64_t>(gamma.size()), given[2].number, false);
    for (size_t i = 0; i < gamma.size(); ++i) x[i] = x[i] * m.rstd * gamma[i];
    deviations.push_back(m.rstd);
  }
  Store(given[3].tensor, values);
  if (!values.empty()) Store(given[4].tensor, deviations);
}

// ---- groups of channels ------------------------------------------------------------------------

enum : size_t {
  kSelf,
  kGamma,
  kBeta,
  kBatch,
  kChannels,
  kArea,
  kGroups,
  kGroupEpsilon,
  kGroupOut,
  kGroupMean,
  kGroupRstd
};

std::string CheckGroupNorm(const Arguments& given) {
  Checker c(given);
  c.Tensor(kSelf, "self", kReals).HasRank(kSelf, 2, 8);
  if (!c.ok()) return c.fault();
  const Dims& x = c.dims(kSelf);
  const int64_t batch = IntegerOf(given, kBatch), channels = IntegerOf(given, kChannels),
                area = IntegerOf(given, kArea), groups = IntegerOf(given, kGroups);
  c.That(batch == x[0] && channels == x[1] && Count(x) == batch * channels * area,
         "N, C, HxW: " + TextOf({batch, channels, area}) + " of dims " + TextOf(x));
  c.That(groups > 0 && channels % groups == 0,
         "group: " + std::to_string(groups) + " of " + std::to_string(channels) + " channels");
  AskFactor(kGamma, "gamma", false, {channels}, given, &c);
  AskFactor(kBeta, "beta", false, {channels}, given, &c);
  c.Tensor(kGroupOut, "out", kReals).SameType(kGroupOut, kSelf).HasDims(kGroupOut, x);
  const uint32_t types = (TypeBit(given[kSelf].tensor.type) | TypeBit(acl::kF32)) & kReals;
  c.Tensor(kGroupMean, "mean", types).HasDims(kGroupMean, {batch, groups});
  return c.Tensor(kGroupRstd, "rstd", types).HasDims(kGroupRstd, {batch, groups}).fault();
}

void RunGroupNorm(const Arguments& given, void*) {
  std::vector<float> values = Load<float>(given[kSelf].tensor);
  const int64_t channels = IntegerOf(given, kChannels), area = IntegerOf(given, kArea),
                groups = IntegerOf(given, kGroups), own = channels / groups;
  const std::vector<float> gamma = FactorOf(given, kGamma, channels, 1),
                           beta = FactorOf(given, kBeta, channels, 0);
  std::vector<float> means, deviations;
  for (int64_t row = 0; row < IntegerOf(given, kBatch) * groups; ++row) {
    float* x = values.data() + row * own * area;
    const Spread m = SpreadOf(x, own * area, given[kGroupEpsilon].number, true);
    for (int64_t i = 0; i < own * area; ++i) {
      const auto c = static_cast<size_t>(row % groups * own + i / area);
      x[i] = (x[i] - m.mean) * m.rstd * gamma[c] + beta[c];
    }
    means.push_back(m.mean);
    deviations.push_back(m.rstd);
  }
  Store(given[kGroupOut].tensor, values);
  Store(given[kGroupMean].tensor, means);
  Store(given[kGroupRstd].tensor, deviations);
}

constexpr Operation kNorms[] = {
    {"BatchNorm", CheckBatchNorm, nullptr, RunBatchNorm},
    {"GroupNorm", CheckGroupNorm, nullptr, RunGroupNorm},
    {"LayerNorm", CheckLayerNorm, LayerNormWorkspace, RunLayerNorm},
    {"LogSoftmax", CheckSoftmax, SoftmaxWorkspace, RunSoftmax<true>},
    {"RmsNorm", CheckRmsNorm, nullptr, RunRmsNorm},
    {"Softmax", CheckSoftmax, SoftmaxWorkspace, RunSoftmax<false>},
};

}  // namespace

std::span<const Operation> NormOperations() { return kNorms; }

}  // namespace ge_engines::ascend::sim
