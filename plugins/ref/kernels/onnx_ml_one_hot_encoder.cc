#include <utility>

#include "plugins/ref/kernels/direct_index.h"
#include "plugins/ref/kernels/ml_scores.h"

namespace ref {
namespace {

// Sorted by category; of equal ones the last column stays.
struct CategoryColumns {
  std::vector<std::pair<int64_t, int64_t>> rows;
  DirectIndex direct;  // of the rows

  // The column, or less than 0.
  int64_t Of(int64_t category) const {
    if (!direct.empty()) {
      const int32_t at = direct.Of(category);
      return at == DirectIndex::kNone ? -1 : rows[static_cast<size_t>(at)].second;
    }
    const auto at = std::lower_bound(rows.begin(), rows.end(), category,
                                     [](const auto& a, int64_t b) { return a.first < b; });
    return at != rows.end() && at->first == category ? at->second : -1;
  }
};

template <class T>
ge_rc RunOneHotEncoder(const CategoryColumns& columns, int64_t width, bool zeros, const Call& c) {
  const Tensor x = c.in(0), y = c.out(0);
  float* to = y.as<float>();
  std::fill_n(to, y.count, 0.0f);
  for (int64_t i = 0; i < x.count; ++i, to += width) {
    const auto v = Narrow<int64_t>(Widen(Load(x.as<T>(), i)));
    const int64_t column = columns.Of(v);
    if (column >= 0) {
      to[column] = 1;
    } else if (!zeros) {
      return c.Fail(GE_INVALID_ARGUMENT,
                    "element %lld of X is %lld, wanted one of the %lld entries of cats_int64s, as "
                    "zeros is 0",
                    static_cast<long long>(i), static_cast<long long>(v),
                    static_cast<long long>(width));
    }
  }
  return GE_OK;
}

CategoryColumns ColumnsOf(Ints categories) {
  std::vector<std::pair<int64_t, int64_t>> columns;
  for (size_t i = 0; i < categories.size(); ++i) {
    columns.emplace_back(categories[i], static_cast<int64_t>(i));
  }
  std::sort(columns.begin(), columns.end());
  CategoryColumns last;
  for (const auto& one : columns) {
    if (!last.rows.empty() && last.rows.back().first == one.first) last.rows.pop_back();
    last.rows.push_back(one);
  }
  std::vector<int64_t> distinct;
  for (const auto& one : last.rows) distinct.push_back(one.first);
  last.direct = DirectIndex(distinct);
  return last;
}

std::unique_ptr<Prepared> PrepareOneHotEncoder(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 1, 1, why)) return nullptr;
  const TensorType x = n.in(0), y = n.out(0);
  const Ints categories = n.List("cats_int64s");
  const auto width = static_cast<int64_t>(categories.size());
  if (y.dtype != GE_F32) return NoDType(y, why), nullptr;
  if (y.rank != x.rank + 1 || y.dims[y.rank - 1] != width || width == 0 ||
      !SameDims(x.shape(), {y.dims, static_cast<size_t>(x.rank)})) {
    return why->Say(GE_WHY_SHAPE, "one more axis, as long as cats_int64s, is wanted"), nullptr;
  }
  const bool zeros = n.Int("zeros") != 0;
  const CategoryColumns columns = ColumnsOf(categories);
  std::unique_ptr<Prepared> made;
  if (!VisitNumber(x.dtype, [&](auto tag) {
        using T = typename decltype(tag)::type;
        made = Make([=](const Call& c) { return RunOneHotEncoder<T>(columns, width, zeros, c); });
        made->const_align = 1;
      })) {
    NoDType(x, why);
  }
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(onnx_ml_one_hot_encoder, "ai.onnx.ml.OneHotEncoder", PrepareOneHotEncoder)
