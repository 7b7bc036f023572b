// Building blocks of independent answers to random cases: plain loops over doubles and 64-bit
// integers. They share no code with any engine.
#pragma once

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>

#include "tools/ge_test/random_case.h"

namespace ge::test {

// An element's place, counted up in row-major order.
class Index {
 public:
  explicit Index(const Dims& dims) : at(dims.size()), dims_(dims) {}
  void Next() {
    for (size_t d = at.size(); d-- > 0;) {
      if (++at[d] < dims_[d]) return;
      at[d] = 0;
    }
  }
  Dims at;

 private:
  Dims dims_;
};

inline int64_t Flat(const Dims& dims, const Dims& at) {
  int64_t i = 0;
  for (size_t d = 0; d < dims.size(); ++d) i = i * dims[d] + at[d];
  return i;
}

// Where `at` of a broadcast result lies in a tensor.
inline int64_t Broadcast(const HostTensor& tensor, const Dims& at) {
  int64_t i = 0;
  const size_t skip = at.size() - tensor.dims.size();
  for (size_t d = 0; d < tensor.dims.size(); ++d) {
    i = i * tensor.dims[d] + (tensor.dims[d] == 1 ? 0 : at[skip + d]);
  }
  return i;
}

inline const Attr* FindAttr(const RandomCase& sample, std::string_view name) {
  for (const Attr& a : sample.attrs) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

inline int64_t IntOr(const RandomCase& sample, std::string_view name, int64_t absent) {
  const Attr* a = FindAttr(sample, name);
  return a != nullptr ? std::get<int64_t>(a->value) : absent;
}

inline double FloatOr(const RandomCase& sample, std::string_view name, double absent) {
  const Attr* a = FindAttr(sample, name);
  return a != nullptr ? std::get<double>(a->value) : absent;
}

inline std::string TextOr(const RandomCase& sample, std::string_view name, const char* absent) {
  const Attr* a = FindAttr(sample, name);
  return a != nullptr ? std::get<std::string>(a->value) : absent;
}

inline Dims IntsOr(const RandomCase& sample, std::string_view name, const Dims& absent) {
  const Attr* a = FindAttr(sample, name);
  return a != nullptr ? std::get<std::vector<int64_t>>(a->value) : absent;
}

inline Dims Values(const HostTensor& tensor) {
  Dims v(static_cast<size_t>(tensor.count()));
  for (size_t i = 0; i < v.size(); ++i) v[i] = ElementAsInt(tensor, static_cast<int64_t>(i));
  return v;
}

inline const HostTensor* Maybe(const RandomCase& sample, size_t i) {
  return i < sample.inputs.size() ? sample.inputs[i].tensor.get() : nullptr;
}

inline void Copy(const HostTensor& from, int64_t i, HostTensor* to, int64_t k) {
  if (IsFloat(from.dtype)) {
    SetElement(to, k, ElementAsDouble(from, i));
  } else {
    SetIntElement(to, k, ElementAsInt(from, i));
  }
}

inline bool IsBroadcastOf(const RandomCase& sample, const Dims& out) {
  Dims dims;
  for (const auto& in : sample.inputs) {
    const Dims& d = in.tensor->dims;
    if (d.size() > dims.size()) dims.insert(dims.begin(), d.size() - dims.size(), 1);
    for (size_t i = 0; i < d.size(); ++i) {
      int64_t& to = dims[dims.size() - d.size() + i];
      if (to == 1) to = d[i];
    }
  }
  return dims == out;
}

template <typename RealFn, typename IntFn>
bool Elementwise(const RandomCase& sample, HostTensor* out, RealFn real, IntFn whole) {
  if (!IsBroadcastOf(sample, out->dims)) return false;
  Index at(out->dims);
  for (int64_t i = 0, n = out->count(); i < n; ++i, at.Next()) {
    const HostTensor& a = *sample.inputs[0].tensor;
    const HostTensor& b = *sample.inputs[sample.inputs.size() - 1].tensor;
    const int64_t ia = Broadcast(a, at.at), ib = Broadcast(b, at.at);
    if (IsFloat(a.dtype)) {
      SetElement(out, i, real(ElementAsDouble(a, ia), ElementAsDouble(b, ib)));
    } else {
      SetIntElement(out, i, whole(ElementAsInt(a, ia), ElementAsInt(b, ib)));
    }
  }
  return true;
}

// Reshape, Flatten, Squeeze, Unsqueeze: the elements stay as they are; shapes are INFER's affair
// and are checked by ONNX's node tests.
inline bool InOrder(const RandomCase& sample, HostTensor* out) {
  const HostTensor& x = *sample.inputs[0].tensor;
  if (x.count() != out->count()) return false;
  for (int64_t i = 0, n = out->count(); i < n; ++i) Copy(x, i, out, i);
  return true;
}

// Each run of `channels` channels of a sample on its own: (x - mean) / sqrt(variance + 0.125), then
// scaled and shifted by channel.
inline bool NormalizedInGroups(const RandomCase& sample, int64_t channels, HostTensor* out) {
  const HostTensor &x = *sample.inputs[0].tensor, &scale = *sample.inputs[1].tensor,
                   &bias = *sample.inputs[2].tensor;
  if (x.dims != out->dims) return false;
  int64_t area = 1;
  for (size_t d = 2; d < x.dims.size(); ++d) area *= x.dims[d];
  const int64_t group = channels * area;
  for (int64_t i = 0, n = out->count(); i < n; ++i) {
    double sum = 0, squares = 0;
    for (int64_t k = i / group * group; k < (i / group + 1) * group; ++k) {
      sum += ElementAsDouble(x, k);
      squares += ElementAsDouble(x, k) * ElementAsDouble(x, k);
    }
    const double count = static_cast<double>(group), mean = sum / count;
    const double deviation = std::sqrt(squares / count - mean * mean + 0.125);
    const int64_t channel = i / area % x.dims[1];
    SetElement(out, i,
               (ElementAsDouble(x, i) - mean) / deviation * ElementAsDouble(scale, channel) +
                   ElementAsDouble(bias, channel));
  }
  return true;
}

}  // namespace ge::test
