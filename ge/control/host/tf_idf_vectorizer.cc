#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

using Gram = std::vector<std::string>;
struct Pool {
  std::map<Gram, size_t> grams;  // -> its number
  std::vector<int64_t> columns;
  int64_t width = 0;
};

std::vector<std::string> TokensOf(const FlowValue& x) {
  if (x.strings) return *x.strings;
  std::vector<std::string> out;
  for (const int64_t v : IntsOf(x)) out.push_back(std::to_string(v));
  return out;
}

// The pool lists all 1-grams, then all 2-grams and so on; ngram_counts says where each begins.
Result<Pool> PoolOf(const Node& n) {
  std::vector<std::string> items;
  const Attr* strings = n.attr("pool_strings");
  if (const auto* s = strings ? std::get_if<std::vector<std::string>>(&strings->value) : nullptr) {
    items = *s;
  }
  for (const int64_t v : AttrInts(n, "pool_int64s")) items.push_back(std::to_string(v));
  const std::vector<int64_t>& begins = AttrInts(n, "ngram_counts");
  Pool pool;
  pool.columns = AttrInts(n, "ngram_indexes");
  for (const int64_t i : pool.columns) pool.width = std::max(pool.width, i + 1);
  size_t number = 0;
  for (size_t k = 0; k < begins.size(); ++k) {
    const int64_t end = k + 1 < begins.size() ? begins[k + 1] : static_cast<int64_t>(items.size());
    const auto size = static_cast<int64_t>(k) + 1;
    if (begins[k] < 0 || end < begins[k] || end > static_cast<int64_t>(items.size()) ||
        (end - begins[k]) % size != 0) {
      return Status(Code::kInvalidArgument,
                    fmt::format("attribute 'ngram_counts' says that the {}-grams are items {} to "
                                "{} of a pool of {}",
                                size, begins[k], end, items.size()));
    }
    for (int64_t at = begins[k]; at < end; at += size) {
      pool.grams.emplace(Gram(items.begin() + at, items.begin() + at + size), number++);
    }
  }
  if (number != pool.columns.size()) {
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute 'ngram_indexes' has {} entries, the pool {} n-grams",
                              pool.columns.size(), number));
  }
  return pool;
}

void CountRow(const Node& n, const Pool& pool, const std::string* tokens, int64_t length,
              float* y) {
  const std::string_view mode = AttrString(n, "mode");
  const Attr* attr = n.attr("weights");
  const auto* weights = attr ? std::get_if<std::vector<double>>(&attr->value) : nullptr;
  std::vector<int64_t> counts(pool.columns.size());
  const int64_t least = std::max<int64_t>(1, AttrInt(n, "min_gram_length"));
  const int64_t skips = AttrInt(n, "max_skip_count");
  // Grams that the pool has no list for are found nowhere.
  const auto listed = static_cast<int64_t>(AttrInts(n, "ngram_counts").size());
  const int64_t most = std::min({AttrInt(n, "max_gram_length"), length, listed});
  for (int64_t size = least; size <= most; ++size) {
    // A gram of one token has no gaps: it counts once.
    for (int64_t step = 1; step <= (size == 1 ? 1 : std::min(skips, length) + 1); ++step) {
      for (int64_t at = 0; at + (size - 1) * step < length; ++at) {
        Gram gram;
        for (int64_t k = 0; k < size; ++k) gram.push_back(tokens[at + k * step]);
        const auto it = pool.grams.find(gram);
        if (it != pool.grams.end()) ++counts[it->second];
      }
    }
  }
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    const double weight = weights && i < weights->size() ? (*weights)[i] : 1;
    const double count = mode == "IDF" ? 1 : static_cast<double>(counts[i]);
    y[pool.columns[i]] = static_cast<float>(mode == "TF" ? count : count * weight);
  }
}

Status RunTfIdfVectorizer(HostCall& c) {
  const FlowValue& x = c.in(0);
  // Each token as a text of its own.
  GE_RETURN_IF_ERROR(c.pool->Room(static_cast<uint64_t>(x.count()) * 2 * sizeof(std::string)));
  const auto tokens = TokensOf(x);
  GE_ASSIGN_OR_RETURN(const Pool pool, PoolOf(c.node));
  const size_t rank = x.dims.size();
  if (rank != 1 && rank != 2) {
    return Status(Code::kInvalidArgument,
                  fmt::format("input 'X' is {}, wanted [C] or [N,C]", Describe(x)));
  }
  const int64_t rows = rank == 2 ? x.dims[0] : 1, length = x.dims[rank - 1];
  std::vector<int64_t> dims = {pool.width};
  if (rank == 2) dims.insert(dims.begin(), rows);
  std::byte* to = nullptr;
  GE_RETURN_IF_ERROR(c.pool->NewTensor(DType::kFloat, dims, &c.outputs[0], &to));
  auto* y = reinterpret_cast<float*>(to);
  std::fill_n(y, rows * pool.width, 0.0f);
  for (int64_t r = 0; r < rows; ++r) {
    CountRow(c.node, pool, tokens.data() + r * length, length, y + r * pool.width);
  }
  return {};
}

}  // namespace

GE_HOST_OP(tf_idf_vectorizer) = {"", "TfIdfVectorizer", RunTfIdfVectorizer};

}  // namespace ge
