#include "tools/ge_test/oracle/plain.h"
#include "tools/ge_test/random/shapes.h"

namespace ge::test {
namespace {

// The terms, letters only; the last one is the output's.
std::vector<std::string> EinsumTerms(const RandomCase& c) {
  const std::string equation = std::get<std::string>(FindAttr(c, "equation")->value);
  std::string text, inputs = equation.substr(0, equation.find('-')), dots;
  for (char ch : inputs.substr(0, inputs.find(','))) dots += ch >= 'a' && ch <= 'z' ? "l" : "";
  const size_t more = c.inputs[0].tensor->dims.size() - dots.size();
  dots = std::string("AB").substr(0, more);
  for (size_t i = 0; i < equation.size(); ++i) {
    if (equation[i] == '.') {
      text += dots;
      i += 2;
    }
    if (std::string_view(" .->").find(equation[i]) == std::string_view::npos) text += equation[i];
    if (equation[i] == '>') text += ',';
  }
  std::vector<std::string> terms(1);
  for (char ch : text) {
    if (ch == ',') terms.emplace_back();
    if (ch != ',') terms.back() += ch;
  }
  if (equation.find('>') != std::string::npos) return terms;
  std::string out;
  for (char ch = 'A'; ch <= 'z'; ++ch) {
    // An ellipsis axis is the output's however often it stands.
    const auto n = std::count(text.begin(), text.end(), ch);
    if (n == 1 || (n > 0 && ch <= 'Z')) out += ch;
  }
  terms.push_back(out);
  return terms;
}

// How many products are added up in one element.
int64_t EinsumSumOf(const RandomCase& c) {
  const std::vector<std::string> terms = EinsumTerms(c);
  std::string seen = terms.back();
  int64_t products = 1;
  for (size_t i = 0; i + 1 < terms.size(); ++i) {
    for (size_t d = 0; d < terms[i].size(); ++d) {
      if (seen.find(terms[i][d]) != std::string::npos) continue;
      seen += terms[i][d];
      products *= c.inputs[i].tensor->dims[d];
    }
  }
  return products;
}

// Sizes by letter. "..." becomes as many capital letters as the case has ellipsis axes.
void EinsumCase(CaseMaker& m) {
  static const std::vector<std::string> kEquations = {"ij,jk->ik",
                                                      "bij,bjk->bik",
                                                      "ii->i",
                                                      "ii->",
                                                      "i,i->",
                                                      "i,j->ij",
                                                      "ij->ji",
                                                      "ij",
                                                      "ji",
                                                      "ijk->k",
                                                      " ij , jk -> ki ",
                                                      "ab,bc,cd->ad",
                                                      "ba,ca",
                                                      "ii",
                                                      "iij,jk",
                                                      "->",
                                                      "bhwc,hkc->bhwk",
                                                      "...ij,...jk->...ik",
                                                      "...ii->...i",
                                                      "i...->...",
                                                      "...,...",
                                                      "a...b->b...a"};
  const std::string equation = m.r.Pick(kEquations);
  const int64_t dots = m.r.Int(0, 2);
  int64_t size[128];
  for (int64_t& s : size) s = m.r.Chance(0.04) ? 0 : m.Size(4, 24);
  Dims dims;
  const auto add = [&] {
    m.Add(m.Numbers(m.dtype(), dims, IsFloat(m.dtype()) ? -1 : -5, IsFloat(m.dtype()) ? 1 : 5));
    dims.clear();
  };
  for (size_t i = 0; i < equation.size() && equation[i] != '-'; ++i) {
    const char ch = equation[i];
    if (ch == ',') add();
    if (ch >= 'a' && ch <= 'z') dims.push_back(size[static_cast<size_t>(ch)]);
    if (ch != '.') continue;
    for (int64_t k = 0; k < dots; ++k) dims.push_back(size[static_cast<size_t>('A' + k)]);
    i += 2;
  }
  add();
  m.Set("equation", equation);
  if (m.large) m.c.terms = EinsumSumOf(m.c);
}

bool PlainEinsum(const RandomCase& c, HostTensor* out) {
  const std::vector<std::string> terms = EinsumTerms(c);
  std::string letters = terms.back();  // the output's first
  Dims sizes(letters.size());
  for (size_t i = 0; i + 1 < terms.size(); ++i) {
    for (size_t d = 0; d < terms[i].size(); ++d) {
      size_t at = letters.find(terms[i][d]);
      if (at == std::string::npos) {
        at = letters.size();
        letters += terms[i][d];
        sizes.push_back(0);
      }
      sizes[at] = c.inputs[i].tensor->dims[d];
    }
  }
  const auto kept = static_cast<ptrdiff_t>(terms.back().size());
  if (Dims(sizes.begin(), sizes.begin() + kept) != out->dims) return false;
  std::vector<double> real(static_cast<size_t>(out->count()));
  std::vector<uint64_t> whole(real.size());
  int64_t all = 1;
  for (int64_t s : sizes) all *= s;
  Index at(sizes);
  for (int64_t i = 0; i < all; ++i, at.Next()) {
    double product = 1;
    uint64_t bits = 1;
    for (size_t k = 0; k + 1 < terms.size(); ++k) {
      const HostTensor& x = *c.inputs[k].tensor;
      Dims from;
      for (char ch : terms[k]) from.push_back(at.at[letters.find(ch)]);
      const int64_t place = Flat(x.dims, from);
      product *= IsFloat(x.dtype) ? ElementAsDouble(x, place) : 0;
      bits *= IsFloat(x.dtype) ? 0 : static_cast<uint64_t>(ElementAsInt(x, place));
    }
    const auto to = static_cast<size_t>(Flat(out->dims, Dims(at.at.begin(), at.at.begin() + kept)));
    real[to] += product;
    whole[to] += bits;
  }
  for (size_t i = 0; i < real.size(); ++i) {
    const auto to = static_cast<int64_t>(i);
    if (IsFloat(out->dtype)) {
      SetElement(out, to, real[i]);
    } else {
      SetIntElement(out, to, static_cast<int64_t>(whole[i]));
    }
  }
  return true;
}

}  // namespace

GE_RANDOM_OP(einsum) = {"Einsum", EinsumCase, 8e-6, Error::kOfSums, PlainEinsum};

}  // namespace ge::test
