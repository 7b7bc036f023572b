#include "passes/data/pipe/column_reader.h"

#include <algorithm>
#include <cstring>

#include "ge/ge_plugin.hpp"

namespace ge::data {
namespace {

constexpr uint64_t kBlockBytes = 1
                                 << 20;  // of a column's rows: some milliseconds between two stops

template <class T>
void Widen(const std::vector<std::byte>& bytes, Numbers* out) {
  out->resize(bytes.size() / sizeof(T));
  for (size_t i = 0; i < out->size(); ++i) {
    T value;
    std::memcpy(&value, bytes.data() + i * sizeof value, sizeof value);
    (*out)[i] = static_cast<long double>(value);
  }
}

void WidenAs(int32_t dtype, const std::string& name, const std::vector<std::byte>& bytes,
             Numbers* out) {
  switch (dtype) {
    case GE_BOOL:
    case GE_U8:
      return Widen<uint8_t>(bytes, out);
    case GE_I8:
      return Widen<int8_t>(bytes, out);
    case GE_U16:
      return Widen<uint16_t>(bytes, out);
    case GE_I16:
      return Widen<int16_t>(bytes, out);
    case GE_U32:
      return Widen<uint32_t>(bytes, out);
    case GE_I32:
      return Widen<int32_t>(bytes, out);
    case GE_U64:
      return Widen<uint64_t>(bytes, out);
    case GE_I64:
      return Widen<int64_t>(bytes, out);
    case GE_F32:
      return Widen<float>(bytes, out);
    case GE_F64:
      return Widen<double>(bytes, out);
    default:
      throw Refusal{GE_UNIMPLEMENTED, "column '" + name + "' is of " + plugin::DTypeName(dtype) +
                                          ", wanted whole numbers, float32 or float64"};
  }
}

}  // namespace

void ForBlocks(const Chain& chain, const std::vector<size_t>& columns,
               const std::function<void(int64_t, size_t, const std::vector<Numbers>&)>& block) {
  const Source& source = *chain.source;
  uint64_t widest = 16;
  for (const size_t c : columns) widest = std::max(widest, source.columns()[c].row_bytes());
  const auto some = static_cast<int64_t>(std::max<uint64_t>(1, kBlockBytes / widest));
  std::vector<Numbers> values(columns.size());
  std::vector<std::byte> bytes;
  for (int64_t first = 0; first < chain.rows; first += some) {
    CheckStop(chain.options);
    std::vector<int64_t> rows;
    for (int64_t i = first; i < std::min(chain.rows, first + some); ++i) {
      rows.push_back(chain.kept.empty() ? i : chain.kept[static_cast<size_t>(i)]);
    }
    for (size_t i = 0; i < columns.size(); ++i) {
      const Column& c = source.columns()[columns[i]];
      bytes.resize(c.row_bytes() * rows.size());
      source.Read(columns[i], rows, bytes.data());
      WidenAs(c.dtype, c.name, bytes, &values[i]);
    }
    block(first, rows.size(), values);
  }
}

}  // namespace ge::data
