// For independent answers of operators on images with the channels last, [N, spatial, C].
#pragma once

#include "tools/ge_test/oracle/plain.h"

namespace ge::test {

inline Dims ChannelsFirstOf(Dims dims) {
  std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return dims;
}
inline Dims ChannelsLastOf(Dims dims) {
  std::rotate(dims.begin() + 1, dims.begin() + 2, dims.end());
  return dims;
}

// The same image with its channels first.
inline HostTensor WithChannelsFirst(const HostTensor& image) {
  HostTensor first = *MakeTensor(image.dtype, ChannelsFirstOf(image.dims));
  Index at(image.dims);
  for (int64_t i = 0, n = image.count(); i < n; ++i, at.Next()) {
    Copy(image, i, &first, Flat(first.dims, ChannelsFirstOf(at.at)));
  }
  return first;
}

}  // namespace ge::test
