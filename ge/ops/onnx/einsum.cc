#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// A side of the equation's letters; the ellipsis stands before letter `ellipsis`.
struct EinsumTerm {
  std::string letters;
  std::optional<size_t> ellipsis;
};

struct EinsumEquation {
  std::vector<EinsumTerm> in;
  std::optional<EinsumTerm> out;  // absent: implicit
};

Result<EinsumTerm> ReadEinsumTerm(const Node& n, std::string_view text) {
  EinsumTerm term;
  for (size_t i = 0; i < text.size(); ++i) {
    const char ch = text[i];
    if (text.substr(i, 3) == "..." && !term.ellipsis) {
      term.ellipsis = term.letters.size();
      i += 2;
    } else if ((ch >= 'a' && ch <= 'z') || (ch >= 'A' && ch <= 'Z')) {
      term.letters += ch;
    } else {
      return Bad(n,
                 fmt::format("the term '{:.64}' of attribute 'equation' is wrong, wanted letters "
                             "and at most one '...'",
                             text));
    }
  }
  return term;
}

Result<EinsumEquation> ReadEinsumEquation(const Node& n) {
  std::string text(AttrString(n, "equation"));
  text.erase(std::remove(text.begin(), text.end(), ' '), text.end());
  EinsumEquation e;
  std::string_view rest = text;
  if (const size_t arrow = rest.find("->"); arrow != std::string_view::npos) {
    GE_ASSIGN_OR_RETURN(e.out, ReadEinsumTerm(n, rest.substr(arrow + 2)));
    rest = rest.substr(0, arrow);
  }
  for (;;) {
    const size_t comma = rest.find(',');
    GE_ASSIGN_OR_RETURN(EinsumTerm term, ReadEinsumTerm(n, rest.substr(0, comma)));
    e.in.push_back(std::move(term));
    if (comma == std::string_view::npos) return e;
    rest = rest.substr(comma + 1);
  }
}

// Sizes by letter, and those of the ellipsis axes, aligned at the last one.
struct EinsumSizes {
  std::map<char, Dim> letters;
  std::vector<Dim> ellipsis;
  bool unknown = false;  // an input of unknown rank has an ellipsis
};

Status MergeEinsum(InferContext& c, Dim* have, Dim next, const std::string& what) {
  if (next == KnownDim(1)) return {};
  if (*have == KnownDim(1)) {
    *have = next;
    return {};
  }
  GE_ASSIGN_OR_RETURN(*have, SameDim(c, *have, next, what));
  return {};
}

Status AddEinsumInput(InferContext& c, size_t i, const EinsumTerm& term, EinsumSizes* sizes) {
  const Type& x = c.input_type(i);
  if (!x.ranked) {
    sizes->unknown = sizes->unknown || term.ellipsis;
    return {};
  }
  const size_t letters = term.letters.size();
  if (x.rank() < letters || (!term.ellipsis && x.rank() != letters)) {
    return Bad(c.node(), fmt::format("input {} has shape {}, wanted rank {}{} as its term '{:.64}'",
                                     i, Show(c.dims(), x.dims), letters,
                                     term.ellipsis ? " or more" : "", term.letters));
  }
  const size_t dots = x.rank() - letters, before = term.ellipsis.value_or(letters);
  if (dots > sizes->ellipsis.size()) {
    auto& e = sizes->ellipsis;
    e.insert(e.begin(), dots - e.size(), KnownDim(1));
  }
  for (size_t d = 0; d < x.rank(); ++d) {
    if (d >= before && d < before + dots) {
      Dim& have = sizes->ellipsis[sizes->ellipsis.size() - dots + d - before];
      GE_RETURN_IF_ERROR(MergeEinsum(c, &have, x.dims[d], "an axis of the ellipsis"));
      continue;
    }
    const char letter = term.letters[d < before ? d : d - dots];
    auto [at, fresh] = sizes->letters.try_emplace(letter, x.dims[d]);
    if (fresh) continue;
    GE_RETURN_IF_ERROR(
        MergeEinsum(c, &at->second, x.dims[d], fmt::format("the axes '{}'", letter)));
  }
  return {};
}

// The output of an equation without "->": the ellipsis, then every letter that stands but once.
EinsumTerm ImplicitEinsum(const EinsumEquation& e) {
  std::map<char, int> counts;
  EinsumTerm out;
  for (const EinsumTerm& t : e.in) {
    for (char ch : t.letters) ++counts[ch];
    if (t.ellipsis) out.ellipsis = 0;
  }
  for (const auto& [ch, count] : counts) {
    if (count == 1) out.letters += ch;
  }
  return out;
}

Status CheckEinsumOutput(InferContext& c, const EinsumEquation& e, const EinsumTerm& out) {
  for (size_t i = 0; i < out.letters.size(); ++i) {
    const char ch = out.letters[i];
    const bool given = std::any_of(e.in.begin(), e.in.end(), [ch](const EinsumTerm& t) {
      return t.letters.find(ch) != std::string::npos;
    });
    if (given && out.letters.find(ch, i + 1) == std::string::npos) continue;
    return Bad(c.node(),
               fmt::format("the output of attribute 'equation' names '{}' {}, wanted each "
                           "letter once and only letters of the inputs",
                           ch, given ? "twice" : "that no input has"));
  }
  return {};
}

Status InferEinsum(InferContext& c) {
  const DType dtype = c.input_type(0).dtype;
  GE_ASSIGN_OR_RETURN(const EinsumEquation e, ReadEinsumEquation(c.node()));
  if (e.in.size() != c.input_count()) {
    return Bad(c.node(), fmt::format("attribute 'equation' has {} terms, wanted {}: one for each "
                                     "input",
                                     e.in.size(), c.input_count()));
  }
  const EinsumTerm out = e.out ? *e.out : ImplicitEinsum(e);
  GE_RETURN_IF_ERROR(CheckEinsumOutput(c, e, out));
  EinsumSizes sizes;
  for (size_t i = 0; i < e.in.size(); ++i) {
    GE_RETURN_IF_ERROR(AddEinsumInput(c, i, e.in[i], &sizes));
  }
  if (sizes.unknown && out.ellipsis) {
    c.SetOutput(0, UnrankedTensor(dtype));
    return {};
  }
  std::vector<Dim> dims;
  for (size_t k = 0; k <= out.letters.size(); ++k) {
    if (out.ellipsis == k) dims.insert(dims.end(), sizes.ellipsis.begin(), sizes.ellipsis.end());
    if (k == out.letters.size()) break;
    const auto at = sizes.letters.find(out.letters[k]);
    dims.push_back(at != sizes.letters.end() ? at->second : c.FreshDim("einsum", false));
  }
  return SetTensor(c, 0, dtype, std::move(dims));
}

// One multiply-add for each input at every place of the index space: each letter's extent, times
// the axes of the ellipsis. What the equation or the types leave open counts as the largest
// tensor's.
Work EffortEinsum(const Node& n, std::span<const Type> in, std::span<const Type> out) {
  double most = out.empty() ? 0 : ElementsOf(out[0]);
  for (const Type& t : in) most = std::max(most, ElementsOf(t));
  double places = 1, dots = 1;
  std::map<char, double> letters;
  const auto e = ReadEinsumEquation(n);
  for (size_t i = 0; e.ok() && i < e->in.size() && i < in.size(); ++i) {
    const EinsumTerm& term = e->in[i];
    const size_t rank = in[i].dims.size(), count = term.letters.size();
    if (!in[i].ranked || rank < count) continue;
    const size_t before = term.ellipsis.value_or(count), inner = rank - count;
    double own = 1;
    for (size_t d = 0; d < rank; ++d) {
      const double size = in[i].dims[d].known() ? static_cast<double>(in[i].dims[d].value) : 1;
      if (d >= before && d < before + inner) {
        own *= size;
      } else {
        double& extent = letters[term.letters[d < before ? d : d - inner]];
        extent = std::max(extent, size);
      }
    }
    dots = std::max(dots, own);
  }
  for (const auto& [letter, extent] : letters) places *= extent;
  return {2 * std::max(most, places * dots) * static_cast<double>(in.size()), BytesOf(in, out)};
}

constexpr DTypeSet kEinsumTypes = kNumeric & ~Bit(DType::kBfloat16);

}  // namespace

// A sum of products of elements; letters name the axes of each input and of the output.
GE_OP(einsum) = {"",
                 "Einsum",
                 12,
                 {{"Inputs", kEinsumTypes, "T", Arity::kVariadic}},
                 {{"Output", kEinsumTypes, "T"}},
                 {{"equation", AttrKind::kString, true}},
                 InferEinsum,
                 EffortEinsum};

}  // namespace ge
