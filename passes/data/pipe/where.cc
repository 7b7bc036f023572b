// where 'width >= 256 && (label < 10 || kind == cat)': the rows for which this holds, found once,
// while the pipeline is made; they are a constant of the graph.
#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <map>

#include "passes/data/pipe/chain.h"
#include "passes/data/pipe/column_reader.h"

namespace ge::data {
namespace {

constexpr int kDeepest = 64;
constexpr std::string_view kComparisons[] = {"<=", ">=", "==", "!=", "<", ">"};

bool Compare(std::string_view how, long double a, long double b) {
  if (how == "<") return a < b;
  if (how == "<=") return a <= b;
  if (how == ">") return a > b;
  if (how == ">=") return a >= b;
  return how == "==" ? a == b : a != b;
}

// Reads an expression, and finds its value for a row; both by the same walk, so that there is no
// tree to keep: columns are looked up in the first walk.
class Condition {
 public:
  Condition(const Step& step, const Chain& chain, std::string_view text)
      : step_(step), chain_(chain), all_(text) {
    Test(0);  // no values yet: finds columns and faults
    known_ = true;
  }
  const std::vector<size_t>& columns() const { return columns_; }
  bool Test(const std::vector<Numbers>& values, size_t row) {
    values_ = &values;
    return Test(row);
  }

 private:
  struct Operand {
    long double number = 0;
    std::string_view text;  // of a class, where `is_text`
    bool is_text = false, quoted = false;
    const Column* column = nullptr;
  };

  bool Test(size_t row) {
    row_ = row;
    rest_ = all_;
    const bool result = Any(0);
    if (!rest_.empty()) Refuse(fmt::format("'{}' at its end", Shown(rest_)));
    return result;
  }
  [[noreturn]] void Refuse(const std::string& found) const {
    RefuseStep(
        step_,
        "where 'COLUMN < NUMBER', with < <= > >= == !=, && || ! and brackets; found " + found);
  }
  void Blanks() {
    while (!rest_.empty() && rest_[0] == ' ') rest_.remove_prefix(1);
  }
  bool Take(std::string_view word) {
    Blanks();
    if (!rest_.starts_with(word)) return false;
    rest_.remove_prefix(word.size());
    Blanks();
    return true;
  }
  bool Any(int depth) {
    bool result = All(depth);
    while (Take("||")) result = All(depth) || result;
    return result;
  }
  bool All(int depth) {
    bool result = One(depth);
    while (Take("&&")) result = One(depth) && result;
    return result;
  }
  bool One(int depth) {
    if (depth > kDeepest) Refuse(fmt::format("brackets deeper than {}", kDeepest));
    if (!rest_.starts_with("!=") && Take("!")) return !One(depth + 1);
    if (Take("(")) {
      const bool result = Any(depth + 1);
      if (!Take(")")) Refuse("a bracket without its end");
      return result;
    }
    const Operand a = Read();
    for (const std::string_view how : kComparisons) {
      if (!Take(how)) continue;
      const Operand b = Read();
      if (a.is_text == b.is_text) {
        if (a.is_text) RefuseText(a.quoted ? b : a);
        return Compare(how, a.number, b.number);
      }
      return a.is_text ? CompareClass(how, b, a) : CompareClass(how, a, b);
    }
    Refuse(fmt::format("'{}' where a comparison is wanted", Shown(rest_)));
  }
  bool CompareClass(std::string_view how, const Operand& of, const Operand& name) const {
    if (of.column == nullptr || of.column->classes.empty() || (how != "==" && how != "!=")) {
      RefuseText(name);
    }
    const auto& classes = of.column->classes;
    const auto at = std::find(classes.begin(), classes.end(), name.text);
    if (at == classes.end()) {
      Refuse(
          fmt::format("'{}', which is no class of column '{}'", Shown(name.text), of.column->name));
    }
    return Compare(how, of.number, static_cast<long double>(at - classes.begin()));
  }
  // A text stands beside a column of classes alone; a word elsewhere was meant as a column.
  [[noreturn]] void RefuseText(const Operand& text) const {
    if (text.quoted) {
      Refuse(fmt::format("the text '{}', which only a column of classes is == or !=",
                         Shown(text.text)));
    }
    std::string names;
    for (const ChainColumn& c : chain_.columns) {
      if (IsNumber(c)) names += (names.empty() ? "" : ", ") + c.name;
    }
    Refuse(fmt::format("'{}'; the columns of one number are {}", Shown(text.text), names));
  }
  Operand Read() {
    Blanks();
    Operand out;
    if (!rest_.empty() && (rest_[0] == '"' || rest_[0] == '\'')) {
      const size_t end = rest_.find(rest_[0], 1);
      if (end == std::string_view::npos) Refuse("a quote without its end");
      out.is_text = out.quoted = true;
      out.text = rest_.substr(1, end - 1);
      rest_.remove_prefix(end + 1);
      Blanks();
      return out;
    }
    const std::string_view word = rest_.substr(0, rest_.find_first_of(" <>=!&|()\"'"));
    if (word.empty()) Refuse(rest_.empty() ? "its end" : fmt::format("'{}'", Shown(rest_)));
    rest_.remove_prefix(word.size());
    Blanks();
    const std::string number(word);
    char* end = nullptr;
    out.number = std::strtold(number.c_str(), &end);
    if (end == number.c_str() + number.size()) return out;
    const auto at =
        std::find_if(chain_.columns.begin(), chain_.columns.end(),
                     [&](const ChainColumn& c) { return IsNumber(c) && c.name == word; });
    if (at == chain_.columns.end()) {
      out.is_text = true;
      out.text = word;
      return out;
    }
    out.column = &chain_.ColumnOf(*at);
    if (slots_.emplace(word, columns_.size()).second) columns_.push_back(at->of);
    if (known_) out.number = (*values_)[slots_.find(word)->second][row_];
    return out;
  }
  bool IsNumber(const ChainColumn& c) const {
    const Column& of = chain_.ColumnOf(c);
    return !c.value && of.kind == Column::Kind::kArray && of.dims.empty();
  }

  const Step& step_;
  const Chain& chain_;
  const std::string_view all_;
  std::string_view rest_;
  bool known_ = false;  // the columns are
  const std::vector<Numbers>* values_ = nullptr;
  size_t row_ = 0;
  std::vector<size_t> columns_;
  std::map<std::string_view, size_t> slots_;  // names to columns_
};

}  // namespace

void ApplyWhere(const Step& step, Chain* chain) {
  if (step.args.size() != 1 || !step.named.empty()) {
    RefuseStep(step, "where 'COLUMN < NUMBER && ...', the condition in quotes");
  }
  if (chain->row) RefuseStep(step, "it ahead of the steps that read columns");
  Condition condition(step, *chain, step.args[0]);
  std::vector<int64_t> kept;
  ForBlocks(*chain, condition.columns(),
            [&](int64_t first, size_t count, const std::vector<Numbers>& values) {
              for (size_t i = 0; i < count; ++i) {
                const int64_t row = first + static_cast<int64_t>(i);
                if (!condition.Test(values, i)) continue;
                kept.push_back(chain->kept.empty() ? row : chain->kept[static_cast<size_t>(row)]);
              }
            });
  if (kept.empty()) RefuseStep(step, "a condition that a row fulfils; none does");
  chain->kept = std::move(kept);
  chain->rows = static_cast<int64_t>(chain->kept.size());
}

}  // namespace ge::data
