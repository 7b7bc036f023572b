#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>

#include "ge/control/host_op.h"
#include "ge/ops/op.h"

namespace ge {
namespace {

// The pool's grams as paths of numbers that its tokens have.
struct Pool {
  static constexpr int32_t kNone = -1;
  std::unordered_map<std::string, int32_t> texts;
  std::unordered_map<int64_t, int32_t> integers;
  std::vector<int64_t> grams = {kNone};        // that end at a place; the first is where all begin
  std::unordered_map<uint64_t, int32_t> next;  // of a place and a token
  std::vector<int64_t> columns;
  int64_t width = 0;

  int32_t NumberOf(const std::string& text) {
    return texts.try_emplace(text, static_cast<int32_t>(texts.size())).first->second;
  }
  int32_t NumberOf(int64_t integer) {
    return integers.try_emplace(integer, static_cast<int32_t>(integers.size())).first->second;
  }
  int32_t Next(int32_t place, int32_t token) const {
    if (token == kNone) return kNone;
    const auto it = next.find(KeyOf(place, token));
    return it == next.end() ? kNone : it->second;
  }
  // Of equal grams the first counts.
  void Add(std::span<const int32_t> gram, int64_t number) {
    int32_t at = 0;
    for (const int32_t token : gram) {
      const auto made = next.try_emplace(KeyOf(at, token), static_cast<int32_t>(grams.size()));
      if (made.second) grams.push_back(kNone);
      at = made.first->second;
    }
    int64_t& known = grams[static_cast<size_t>(at)];
    if (known == kNone) known = number;
  }

 private:
  static uint64_t KeyOf(int32_t place, int32_t token) {
    return static_cast<uint64_t>(place) << 32 | static_cast<uint32_t>(token);
  }
};

template <class Numbers, class Token>
int32_t Find(const Numbers& numbers, const Token& token) {
  const auto it = numbers.find(token);
  return it == numbers.end() ? Pool::kNone : it->second;
}

// The numbers of x's tokens in the pool, kNone for others. Integers are found in a pool of texts by
// their digits.
std::vector<int32_t> TokensOf(const FlowValue& x, const Pool& pool) {
  std::vector<int32_t> out;
  out.reserve(static_cast<size_t>(x.count()));
  if (x.strings) {
    for (const std::string& text : *x.strings) out.push_back(Find(pool.texts, text));
    return out;
  }
  for (const int64_t v : IntsOf(x)) {
    int32_t number = pool.integers.empty() ? Pool::kNone : Find(pool.integers, v);
    if (!pool.texts.empty() && number == Pool::kNone) number = Find(pool.texts, std::to_string(v));
    out.push_back(number);
  }
  return out;
}

// The pool lists all 1-grams, then all 2-grams and so on; ngram_counts says where each begins.
Result<Pool> PoolOf(const Node& n) {
  Pool pool;
  std::vector<int32_t> items;
  const Attr* strings = n.attr("pool_strings");
  if (const auto* s = strings ? std::get_if<std::vector<std::string>>(&strings->value) : nullptr) {
    for (const std::string& text : *s) items.push_back(pool.NumberOf(text));
  }
  for (const int64_t v : AttrInts(n, "pool_int64s")) items.push_back(pool.NumberOf(v));
  const std::vector<int64_t>& begins = AttrInts(n, "ngram_counts");
  pool.columns = AttrInts(n, "ngram_indexes");
  for (const int64_t i : pool.columns) pool.width = std::max(pool.width, i + 1);
  int64_t number = 0;
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
      pool.Add(std::span(items).subspan(static_cast<size_t>(at), static_cast<size_t>(size)),
               number++);
    }
  }
  if (number != static_cast<int64_t>(pool.columns.size())) {
    return Status(Code::kInvalidArgument,
                  fmt::format("attribute 'ngram_indexes' has {} entries, the pool {} n-grams",
                              pool.columns.size(), number));
  }
  return pool;
}

void CountRow(const Node& n, const Pool& pool, const int32_t* tokens, int64_t length, float* y) {
  const std::string_view mode = AttrString(n, "mode");
  const Attr* attr = n.attr("weights");
  const auto* weights = attr ? std::get_if<std::vector<double>>(&attr->value) : nullptr;
  std::vector<int64_t> counts(pool.columns.size());
  const int64_t least = std::max<int64_t>(1, AttrInt(n, "min_gram_length"));
  const int64_t skips = AttrInt(n, "max_skip_count");
  // Grams that the pool has no list for are found nowhere.
  const auto listed = static_cast<int64_t>(AttrInts(n, "ngram_counts").size());
  const int64_t most = std::min({AttrInt(n, "max_gram_length"), length, listed});
  // A gram of one token has no gaps: it counts once.
  for (int64_t step = 1; step <= std::min(skips, length) + 1; ++step) {
    for (int64_t at = 0; at < length; ++at) {
      int32_t place = 0;
      for (int64_t size = 1; size <= most && at + (size - 1) * step < length; ++size) {
        place = pool.Next(place, tokens[at + (size - 1) * step]);
        if (place == Pool::kNone) break;
        const int64_t gram = pool.grams[static_cast<size_t>(place)];
        if (size >= least && (size > 1 || step == 1) && gram != Pool::kNone) {
          ++counts[static_cast<size_t>(gram)];
        }
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
  GE_RETURN_IF_ERROR(
      c.pool->Room(static_cast<uint64_t>(x.count()) * (sizeof(int64_t) + sizeof(int32_t))));
  GE_ASSIGN_OR_RETURN(const Pool pool, PoolOf(c.node));
  const auto tokens = TokensOf(x, pool);
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
