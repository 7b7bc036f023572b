// Shared by random cases of the losses over class labels.
#pragma once

#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/layers.h"

namespace ge::test {

// Positive weights, and at least one label that is not ignored: no mean is 0 / 0.
inline void LossCase(CaseMaker& maker) {
  const int64_t classes = maker.r.Int(2, 6);
  const Dims size = maker.Shape(0, 3, false), head = {maker.r.Int(1, 4)};
  maker.Add(Signal(maker, Cat({head[0], classes}, size)));
  const bool ignores = maker.r.Chance(0.5);
  const int64_t ignored = maker.r.Pick(std::vector<int64_t>{0, 1, -1, -5, 100});
  const DType type = maker.r.Chance(0.5) ? DType::kInt64 : DType::kInt32;
  auto labels = maker.Numbers(type, Cat(head, size), 0, static_cast<double>(classes - 1));
  for (int64_t i = 1, n = labels->count(); ignores && i < n; ++i) {
    if (maker.r.Chance(0.3)) SetIntElement(labels.get(), i, ignored);
  }
  if (ignores && ElementAsInt(*labels, 0) == ignored) {
    SetIntElement(labels.get(), 0, ignored == 0 ? 1 : 0);
  }
  maker.Add(labels);
  if (maker.r.Chance(0.5)) maker.Add(maker.Numbers(maker.dtype(), {classes}, 0.25, 2));
  if (ignores) maker.Set("ignore_index", ignored);
  if (maker.r.Chance(0.7)) {
    maker.Set("reduction", maker.r.Pick(std::vector<std::string>{"none", "sum", "mean"}));
  }
}

// Output 0; with `softmax` of the logarithms of the classes' shares.
inline bool PlainLoss(const RandomCase& sample, HostTensor* out, bool softmax) {
  const HostTensor &x = *sample.inputs[0].tensor, &labels = *sample.inputs[1].tensor;
  const HostTensor* weights = Maybe(sample, 2);
  const Attr *how = FindAttr(sample, "reduction"), *ignored = FindAttr(sample, "ignore_index");
  const std::string reduction = how ? std::get<std::string>(how->value) : "mean";
  if (out->dims != (reduction == "none" ? labels.dims : Dims())) return false;
  double sum = 0, share = 0;
  Index at(labels.dims);
  for (int64_t i = 0, n = labels.count(); i < n; ++i, at.Next()) {
    const int64_t label = ElementAsInt(labels, i);
    double loss = 0;
    if (!ignored || label != std::get<int64_t>(ignored->value)) {
      const auto score = [&](int64_t k) {
        Dims from = at.at;
        from.insert(from.begin() + 1, k);
        return ElementAsDouble(x, Flat(x.dims, from));
      };
      double all = 0;
      for (int64_t k = 0; k < x.dims[1]; ++k) all += std::exp(score(k));
      const double weight = weights ? ElementAsDouble(*weights, label) : 1;
      loss = weight * ((softmax ? std::log(all) : 0) - score(label));
      sum += loss;
      share += weight;
    }
    if (reduction == "none") SetElement(out, i, loss);
  }
  if (reduction == "sum") SetElement(out, 0, sum);
  if (reduction == "mean") SetElement(out, 0, sum / share);
  return true;
}

}  // namespace ge::test
