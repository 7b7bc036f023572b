#include <fmt/format.h>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// More columns would be an absurd table.
constexpr int64_t kMostColumns = int64_t{1} << 31;

Status InferTfIdfVectorizer(InferContext& c) {
  const Node& n = c.node();
  const std::string_view mode = AttrString(n, "mode");
  if (mode != "TF" && mode != "IDF" && mode != "TFIDF") {
    return Bad(n, fmt::format("attribute 'mode' is '{:.64}', wanted TF, IDF or TFIDF", mode));
  }
  const std::vector<int64_t>& indexes = AttrInts(n, "ngram_indexes");
  int64_t width = 0;
  for (const int64_t i : indexes) {
    if (i < 0 || i >= kMostColumns) {
      return Bad(n, fmt::format("attribute 'ngram_indexes' holds {}, wanted 0 to {}", i,
                                kMostColumns - 1));
    }
    width = std::max(width, i + 1);
  }
  const Type& x = c.input_type(0);
  if (!x.ranked) {
    c.SetOutput(0, UnrankedTensor(DType::kFloat));
    return {};
  }
  if (x.rank() != 1 && x.rank() != 2) {
    return Bad(n,
               fmt::format("input 'X' has shape {}, wanted [C] or [N,C]", Show(c.dims(), x.dims)));
  }
  std::vector<Dim> dims = {KnownDim(width)};
  if (x.rank() == 2) dims.insert(dims.begin(), x.dims[0]);
  return SetTensor(c, 0, DType::kFloat, std::move(dims));
}

}  // namespace

// How often each n-gram of a pool occurs, gaps of up to max_skip_count tokens allowed, and weighed.
GE_OP(tf_idf_vectorizer) = {"",
                            "TfIdfVectorizer",
                            9,
                            {{"X", kIndex | Bit(DType::kString)}},
                            {{"Y", Bit(DType::kFloat)}},
                            {{"max_gram_length", AttrKind::kInt, true},
                             {"max_skip_count", AttrKind::kInt, true},
                             {"min_gram_length", AttrKind::kInt, true},
                             {"mode", AttrKind::kString, true},
                             {"ngram_counts", AttrKind::kInts, true},
                             {"ngram_indexes", AttrKind::kInts, true},
                             {"pool_int64s", AttrKind::kInts},
                             {"pool_strings", AttrKind::kStrings},
                             {"weights", AttrKind::kFloats}},
                            InferTfIdfVectorizer,
                            PerOutput<0>};

}  // namespace ge
