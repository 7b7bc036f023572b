// Einsum: the gradient of an operand is an Einsum of the cotangent and the other operands.
#include <algorithm>
#include <string>

#include "passes/grad/shape_values.h"

namespace ge::grad {
namespace {

struct Equation {
  std::vector<std::string> in;
  std::string out;
};

std::vector<std::string> TermsOf(std::string text, bool* stated) {
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  const size_t arrow = text.find("->");
  *stated = arrow != std::string::npos;
  std::string out = *stated ? text.substr(arrow + 2) : "";
  text = text.substr(0, arrow) + ",";
  std::vector<std::string> terms;
  for (size_t at = 0, comma; (comma = text.find(',', at)) != std::string::npos; at = comma + 1) {
    terms.push_back(text.substr(at, comma - at));
  }
  terms.push_back(out);
  return terms;
}

// The axes of an ellipsis get letters that nobody has, aligned at the last one.
bool PutLetters(Back& b, const std::string& used, std::vector<std::string>* terms) {
  std::string free;
  for (const char* range : {"az", "AZ"}) {
    for (char ch = range[0]; ch <= range[1]; ++ch) {
      if (used.find(ch) == std::string::npos) free += ch;
    }
  }
  std::vector<size_t> dots(terms->size(), 0);
  size_t most = 0;
  for (size_t i = 0; i < b.inputs(); ++i) {
    const int32_t rank = b.rank(b.x(static_cast<uint32_t>(i)));
    if (rank < 0) return false;
    if ((*terms)[i].find("...") == std::string::npos) continue;
    dots[i] = static_cast<size_t>(rank) + 3 - (*terms)[i].size();
    most = std::max(most, dots[i]);
  }
  dots.back() = most;
  if (most > free.size()) return false;
  for (size_t i = 0; i < terms->size(); ++i) {
    std::string& term = (*terms)[i];
    const size_t at = term.find("...");
    if (at != std::string::npos) term.replace(at, 3, free.substr(most - dots[i], dots[i]));
  }
  return true;
}

bool ReadEquation(Back& b, Equation* e) {
  bool stated = false;
  const std::string text = b.Text("equation");
  std::vector<std::string> terms = TermsOf(text, &stated);
  if (!stated) {
    // The ellipsis, then every letter that stands but once.
    std::string& out = terms.back();
    if (text.find("...") != std::string::npos) out = "...";
    for (int ch = 'A'; ch <= 'z'; ++ch) {
      const bool letter = (ch <= 'Z' || ch >= 'a');
      if (letter && std::count(text.begin(), text.end(), ch) == 1) out += static_cast<char>(ch);
    }
  }
  if (!PutLetters(b, text, &terms)) {
    b.Fail("an input's rank is not known");
    return false;
  }
  e->out = terms.back();
  terms.pop_back();
  e->in = std::move(terms);
  return true;
}

// From one axis a letter to the axes of the term: letters that nothing else has are put in, and of
// a letter that stands twice only the diagonal is not zero.
Val Unfold(Val v, std::string have, const std::string& term, Val like) {
  Fn& fn = *v.fn;
  const auto rank = static_cast<int64_t>(term.size());
  std::vector<int64_t> fresh;
  std::string seen;
  for (int64_t i = 0; i < rank; ++i) {
    const char ch = term[static_cast<size_t>(i)];
    const bool repeated = seen.find(ch) != std::string::npos;
    if (repeated || have.find(ch) == std::string::npos) fresh.push_back(i);
    seen += ch;
  }
  if (!fresh.empty()) v = Unsqueeze(v, fresh);
  for (int64_t i = 0; i < rank; ++i) {
    const auto first = static_cast<int64_t>(term.find(term[static_cast<size_t>(i)]));
    if (first == i) continue;
    std::vector<int64_t> others;
    for (int64_t k = 0; k < rank; ++k) {
      if (k != first && k != i) others.push_back(k);
    }
    const Val diagonal = Eye(SizeOf(like, i), fn.TypeOf(v).dtype);
    v = v * (others.empty() ? diagonal : Unsqueeze(diagonal, others));
  }
  return fn.ExpandTo(v, like);
}

void EinsumBack(Back& b) {
  Equation e;
  if (!ReadEquation(b, &e)) return;
  for (uint32_t i = 0; i < b.inputs(); ++i) {
    if (!b.wants(i)) continue;
    std::vector<Val> in = {b.ct()};
    std::string text = e.out, all = e.out, have;
    for (uint32_t k = 0; k < b.inputs(); ++k) {
      if (k != i) {
        in.push_back(b.x(k));
        text += "," + e.in[k];
        all += e.in[k];
      }
    }
    for (const char ch : e.in[i]) {
      const bool there = all.find(ch) != std::string::npos;
      if (there && have.find(ch) == std::string::npos) have += ch;
    }
    const Val v = b.fn().Op("Einsum", in, Attrs().Text("equation", text + "->" + have));
    b.Give(i, Unfold(v, have, e.in[i], b.x(i)));
  }
}

}  // namespace

GE_GRAD(einsum) { return {{"", "Einsum", EinsumBack}}; }

}  // namespace ge::grad
