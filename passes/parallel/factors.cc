#include "passes/parallel/factors.h"

#include <algorithm>
#include <optional>
#include <string>

#include "passes/parallel/mesh.h"

namespace ge::parallel {
namespace {

std::vector<std::string> Operand(std::string_view list) {
  std::vector<std::string> items(1);
  for (const char c : list) {
    if (c == ',') items.emplace_back();
    if (c != ',' && c != ' ') items.back() += c;
  }
  return items;
}

bool IsSetting(const std::string& signs) { return signs == "-" || signs == "S"; }

// With `*` written out as dots; nothing where the number of dims is another.
std::optional<std::string> WrittenOut(const std::string& signs, size_t rank) {
  const size_t star = signs.find('*');
  if (star == std::string::npos) {
    return signs.size() == rank ? std::optional(signs) : std::nullopt;
  }
  if (signs.size() - 1 > rank) return std::nullopt;
  return signs.substr(0, star) + std::string(rank + 1 - signs.size(), '.') + signs.substr(star + 1);
}

bool IsBlock(char f) { return f >= 'A' && f <= 'Z'; }

struct Factor {
  char letter;
  std::vector<int64_t> sizes;  // that it has, each once

  // Whether every share has something, and the same part of all sizes.
  bool Splits(int64_t shares) const {
    if (sizes.size() > 1 && !IsBlock(letter)) return false;  // as a size of 1 that is broadcast
    for (const int64_t n : sizes) {
      if (ShareOf(n, shares, shares - 1).size == 0) return false;
      for (int64_t k = 1; k < shares; ++k) {
        if (ShareOf(n, shares, k).first * sizes[0] != ShareOf(sizes[0], shares, k).first * n) {
          return false;
        }
      }
    }
    return true;
  }
};

class Reader {
 public:
  Reader(std::string_view text, const Operands& o, int64_t shares) : o_(o), shares_(shares) {
    const size_t arrow = text.find("->");
    in_ = Operand(text.substr(0, arrow));
    out_ = Operand(Reduced(text.substr(arrow + 2)));
    fits_ = in_.size() >= o.in.size() && out_.size() >= o.out.size();
    in_.resize(o.in.size());
    out_.resize(o.out.size());
    for (size_t i = 0; fits_ && i < in_.size(); ++i) {
      zero_.push_back(in_[i].rfind('~', 0) == 0);
      added_.push_back(in_[i].rfind('+', 0) == 0);
      if (zero_[i] || added_[i]) in_[i].erase(0, 1);
      if (!o.omitted[i] && !IsSetting(in_[i])) WriteOut(&in_[i], o.in[i]);
    }
    for (size_t i = 0; fits_ && i < out_.size(); ++i) {
      if (!Unmade(i)) WriteOut(&out_[i], o.out[i]);
    }
  }

  std::vector<Way> Ways() const {
    std::vector<Way> ways;
    for (const Factor& f : fits_ ? factors_ : std::vector<Factor>()) {
      if (auto way = WayOf(f)) ways.push_back(std::move(*way));
    }
    return ways;
  }

 private:
  // The outputs behind a word for what is made of their terms.
  std::string_view Reduced(std::string_view outputs) {
    const size_t colon = outputs.find(':');
    if (colon == std::string_view::npos) return outputs;
    term_ = outputs.substr(0, colon).find("max") != std::string_view::npos ? kMaxTerm : kMinTerm;
    return outputs.substr(colon + 1);
  }

  bool Unmade(size_t output) const { return output < o_.unmade.size() && o_.unmade[output]; }

  void WriteOut(std::string* signs, const std::vector<int64_t>& dims) {
    const auto out = WrittenOut(*signs, dims.size());
    fits_ = fits_ && out.has_value();
    if (!out) return;
    *signs = *out;
    for (size_t d = 0; d < dims.size(); ++d) {
      const char letter = (*signs)[d];
      if (letter == '.') continue;
      fits_ = fits_ && signs->find(letter, d + 1) == std::string::npos;  // no diagonals
      auto found = std::find_if(factors_.begin(), factors_.end(),
                                [&](const Factor& f) { return f.letter == letter; });
      if (found == factors_.end()) found = factors_.insert(found, {letter, {}});
      std::vector<int64_t>& sizes = found->sizes;
      if (std::count(sizes.begin(), sizes.end(), dims[d]) == 0) sizes.push_back(dims[d]);
    }
  }

  static int PlaceOf(const std::string& signs, char f) {
    const size_t at = signs.find(f);
    return at == std::string::npos ? kWhole : static_cast<int>(at);
  }

  std::optional<Way> WayOf(const Factor& f) const {
    if (!f.Splits(shares_)) return std::nullopt;
    Way way;
    bool all = true;  // inputs have it
    for (size_t i = 0; i < in_.size(); ++i) {
      const bool read = !o_.omitted[i] && !IsSetting(in_[i]);
      way.in.push_back(in_[i] == "S" ? kShape : read ? PlaceOf(in_[i], f.letter) : kWhole);
      if (read && !zero_[i] && !added_[i]) all = all && way.in.back() >= 0;
    }
    size_t having = 0, lacking = 0;
    for (size_t i = 0; i < out_.size(); ++i) {
      way.out.push_back(Unmade(i) ? kWhole : PlaceOf(out_[i], f.letter));
      if (!Unmade(i)) ++(way.out.back() >= 0 ? having : lacking);
    }
    if (lacking == 0) return way;
    if (having > 0 || !all) return std::nullopt;
    for (size_t i = 0; i < out_.size(); ++i) way.out[i] = Unmade(i) ? kWhole : term_;
    for (size_t i = 0; i < in_.size(); ++i) {
      if (added_[i] && !o_.omitted[i] && way.in[i] == kWhole) way.in[i] = kKept;
    }
    return way;
  }

  const Operands& o_;
  const int64_t shares_;
  std::vector<std::string> in_, out_;
  std::vector<bool> zero_, added_;  // of inputs
  int term_ = kTerm;                // what outputs without a letter are then
  bool fits_ = true;
  std::vector<Factor> factors_;  // in the order of the text
};

}  // namespace

std::vector<Way> WaysOf(std::string_view text, const Operands& operands, int64_t shares) {
  return Reader(text, operands, shares).Ways();
}

}  // namespace ge::parallel
