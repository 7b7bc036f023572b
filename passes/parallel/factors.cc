#include "passes/parallel/factors.h"

#include <algorithm>
#include <optional>
#include <set>
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

class Reader {
 public:
  Reader(std::string_view text, const Operands& o, int64_t shares) : o_(o), shares_(shares) {
    const size_t arrow = text.find("->");
    in_ = Operand(text.substr(0, arrow));
    out_ = Operand(text.substr(arrow + 2));
    fits_ = in_.size() >= o.in.size() && out_.size() >= o.out.size();
    in_.resize(o.in.size());
    out_.resize(o.out.size());
    for (size_t i = 0; fits_ && i < in_.size(); ++i) {
      if (!o.omitted[i] && !IsSetting(in_[i])) WriteOut(&in_[i], o.in[i]);
    }
    for (size_t i = 0; fits_ && i < out_.size(); ++i) WriteOut(&out_[i], o.out[i]);
  }

  std::vector<Way> Ways() const {
    std::vector<Way> ways;
    for (const char f : fits_ ? letters_ : std::vector<char>()) {
      if (auto way = WayOf(f)) ways.push_back(std::move(*way));
    }
    return ways;
  }

 private:
  void WriteOut(std::string* signs, const std::vector<int64_t>& dims) {
    const auto out = WrittenOut(*signs, dims.size());
    fits_ = fits_ && out.has_value();
    if (!out) return;
    *signs = *out;
    for (size_t d = 0; d < dims.size(); ++d) {
      const char f = (*signs)[d];
      if (f == '.') continue;
      if (std::count(letters_.begin(), letters_.end(), f) == 0) {
        letters_.push_back(f);
        sizes_.push_back(dims[d]);
      } else if (sizes_[static_cast<size_t>(std::find(letters_.begin(), letters_.end(), f) -
                                            letters_.begin())] != dims[d]) {
        unequal_.insert(f);  // as a size of 1 that is broadcast
      }
    }
  }

  static int PlaceOf(const std::string& signs, char f) {
    const size_t at = signs.find(f);
    return at == std::string::npos ? kWhole : static_cast<int>(at);
  }

  std::optional<Way> WayOf(char f) const {
    const auto k =
        static_cast<size_t>(std::find(letters_.begin(), letters_.end(), f) - letters_.begin());
    if (unequal_.count(f) != 0 || ShareOf(sizes_[k], shares_, shares_ - 1).size == 0) {
      return std::nullopt;
    }
    Way way;
    bool all = true;  // inputs have it
    size_t having = 0;
    for (size_t i = 0; i < in_.size(); ++i) {
      const bool read = !o_.omitted[i] && !IsSetting(in_[i]);
      way.in.push_back(in_[i] == "S" ? kShape : read ? PlaceOf(in_[i], f) : kWhole);
      if (read) all = all && way.in.back() >= 0;
    }
    for (const std::string& signs : out_) {
      way.out.push_back(PlaceOf(signs, f));
      if (way.out.back() >= 0) ++having;
    }
    if (having == out_.size()) return way;
    if (having > 0 || !all) return std::nullopt;
    std::fill(way.out.begin(), way.out.end(), kTerm);
    return way;
  }

  const Operands& o_;
  const int64_t shares_;
  std::vector<std::string> in_, out_;
  bool fits_ = true;
  std::vector<char> letters_;  // in the order of the text
  std::vector<int64_t> sizes_;
  std::set<char> unequal_;
};

}  // namespace

std::vector<Way> WaysOf(std::string_view text, const Operands& operands, int64_t shares) {
  return Reader(text, operands, shares).Ways();
}

}  // namespace ge::parallel
