// BoxContent: the elements of a box of a dense tensor. One thread.
#pragma once

#include <cstdint>
#include <vector>

#include "passes/parallel/mesh.h"

namespace ge::parallel {

// Row by row: a part of `whole` where they lie in a row there, else a copy. `bytes`: of an element.
class BoxContent {
 public:
  BoxContent(const char* whole, uint64_t bytes, const std::vector<int64_t>& dims,
             const std::vector<Part>& box);
  BoxContent(const BoxContent&) = delete;
  BoxContent& operator=(const BoxContent&) = delete;
  bool copied() const { return !copy_.empty(); }
  const char* data = nullptr;
  uint64_t size = 0;

 private:
  std::vector<char> copy_;
};

}  // namespace ge::parallel
