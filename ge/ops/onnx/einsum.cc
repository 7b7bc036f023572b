#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "ge/ops/decompose.h"
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

// ---- decomposition: two operands at a time become a product of matrices ------------------------

// An axis: a letter, or the place of an ellipsis axis counted from the last one, behind kDots.
using EinsumLabels = std::vector<int>;
constexpr int kDots = 256;

EinsumLabels EinsumLabelsOf(const EinsumTerm& term, size_t dots) {
  EinsumLabels out;
  for (size_t k = 0; k <= term.letters.size(); ++k) {
    for (size_t d = dots; term.ellipsis == k && d-- > 0;)
      out.push_back(kDots + static_cast<int>(d));
    if (k < term.letters.size()) out.push_back(static_cast<unsigned char>(term.letters[k]));
  }
  return out;
}

bool HasLabel(const EinsumLabels& labels, int label) {
  return std::find(labels.begin(), labels.end(), label) != labels.end();
}

EinsumLabels Joined(const std::vector<EinsumLabels>& groups) {
  EinsumLabels out;
  for (const EinsumLabels& g : groups) out.insert(out.end(), g.begin(), g.end());
  return out;
}

// Those of x that f takes, in x's order.
template <class F>
EinsumLabels LabelsWhere(const EinsumLabels& x, F f) {
  EinsumLabels out;
  std::copy_if(x.begin(), x.end(), std::back_inserter(out), f);
  return out;
}

// A tensor with an axis for each label.
struct EinsumTensor {
  ValueId value = 0;
  EinsumLabels labels;
};

class EinsumParts {
 public:
  EinsumParts(Parts* parts, DType dtype, std::map<int, int64_t> sizes)
      : p_(*parts), dtype_(dtype), sizes_(std::move(sizes)) {}

  int64_t SizeOf(int label) const { return sizes_.at(label); }
  std::vector<int64_t> DimsOf(const EinsumLabels& labels) const {
    std::vector<int64_t> out;
    for (int label : labels) out.push_back(SizeOf(label));
    return out;
  }

  ValueId Reshape(ValueId value, const std::vector<int64_t>& dims) {
    if (p_.TypeOf(value) == TensorType(dtype_, dims)) return value;
    return p_.Add("Reshape", {value, p_.Ints(dims)}, TensorType(dtype_, dims));
  }

  EinsumTensor Summed(const EinsumTensor& x, const EinsumLabels& wanted) {
    std::vector<int64_t> axes;
    for (size_t d = 0; d < x.labels.size(); ++d) {
      if (!HasLabel(wanted, x.labels[d])) axes.push_back(static_cast<int64_t>(d));
    }
    if (axes.empty()) return x;
    EinsumTensor y;
    y.labels = LabelsWhere(x.labels, [&](int label) { return HasLabel(wanted, label); });
    y.value = p_.Add("ReduceSum", {x.value, p_.Ints(axes)}, TensorType(dtype_, DimsOf(y.labels)),
                     {{"keepdims", int64_t{0}}});
    return y;
  }

  // In the order of `labels`.
  EinsumTensor Turned(const EinsumTensor& x, const EinsumLabels& labels) {
    if (x.labels == labels) return x;
    std::vector<int64_t> perm;
    for (int label : labels) {
      perm.push_back(std::find(x.labels.begin(), x.labels.end(), label) - x.labels.begin());
    }
    return {p_.Add("Transpose", {x.value}, TensorType(dtype_, DimsOf(labels)), {{"perm", perm}}),
            labels};
  }

  // One axis for each group: 1 for one without labels. Labels that lie behind each other already
  // become one axis before anything is turned: engines turn whole axes without a copy.
  ValueId Grouped(const EinsumTensor& x, const std::vector<EinsumLabels>& groups) {
    std::vector<int64_t> dims;
    for (const EinsumLabels& g : groups) {
      dims.push_back(1);
      for (int label : g) dims.back() *= SizeOf(label);
    }
    const EinsumLabels order = Joined(groups);
    if (x.labels == order) return Reshape(x.value, dims);
    const bool runs = std::all_of(groups.begin(), groups.end(), [&](const EinsumLabels& g) {
      return std::search(x.labels.begin(), x.labels.end(), g.begin(), g.end()) != x.labels.end() ||
             g.empty();
    });
    if (!runs) return Reshape(Turned(x, order).value, dims);
    // The groups' first labels stand for them, with the groups' sizes.
    EinsumTensor merged;
    std::vector<int64_t> merged_dims, turned_dims;
    std::vector<int64_t> perm;
    for (int label : x.labels) {
      for (size_t g = 0; g < groups.size(); ++g) {
        if (groups[g].empty() || groups[g].front() != label) continue;
        merged.labels.push_back(label);
        merged_dims.push_back(dims[g]);
      }
    }
    for (size_t g = 0; g < groups.size(); ++g) {
      if (groups[g].empty()) continue;
      const auto at = std::find(merged.labels.begin(), merged.labels.end(), groups[g].front());
      perm.push_back(at - merged.labels.begin());
      turned_dims.push_back(dims[g]);
    }
    const ValueId v = Reshape(x.value, merged_dims);
    const ValueId turned =
        p_.Add("Transpose", {v}, TensorType(dtype_, turned_dims), {{"perm", perm}});
    return Reshape(turned, dims);
  }

  // The sum of products over what `wanted` does not name. Operands change places where that brings
  // the result into the order of `wanted`.
  EinsumTensor Product(EinsumTensor a, EinsumTensor b, const EinsumLabels& wanted) {
    a = Summed(a, Joined({wanted, b.labels}));
    b = Summed(b, Joined({wanted, a.labels}));
    for (int label : wanted) {
      if (HasLabel(a.labels, label) == HasLabel(b.labels, label)) continue;
      if (HasLabel(b.labels, label)) std::swap(a, b);
      break;
    }
    const EinsumLabels batch = LabelsWhere(
        wanted, [&](int label) { return HasLabel(a.labels, label) && HasLabel(b.labels, label); });
    const EinsumLabels rows =
        LabelsWhere(a.labels, [&](int label) { return !HasLabel(b.labels, label); });
    const EinsumLabels columns =
        LabelsWhere(b.labels, [&](int label) { return !HasLabel(a.labels, label); });
    const EinsumLabels depth = LabelsWhere(
        a.labels, [&](int label) { return HasLabel(b.labels, label) && !HasLabel(wanted, label); });
    std::vector<EinsumLabels> of_a, of_b;
    for (int label : batch) {
      of_a.push_back({label});
      of_b.push_back({label});
    }
    of_a.insert(of_a.end(), {rows, depth});
    of_b.insert(of_b.end(), {depth, columns});
    std::vector<int64_t> dims = DimsOf(batch);
    for (const EinsumLabels* g : {&rows, &columns}) {
      dims.push_back(1);
      for (int label : *g) dims.back() *= SizeOf(label);
    }
    const ValueId y = p_.Add(depth.empty() ? "Mul" : "MatMul", {Grouped(a, of_a), Grouped(b, of_b)},
                             TensorType(dtype_, dims));
    EinsumTensor out{0, Joined({batch, rows, columns})};
    out.value = Reshape(y, DimsOf(out.labels));
    return out;
  }

 private:
  Parts& p_;
  const DType dtype_;
  const std::map<int, int64_t> sizes_;
};

// What a node's terms say at known sizes. An axis of 1 that is repeated, or that the output has
// not, has no label.
struct EinsumPlan {
  std::vector<EinsumLabels> in;
  EinsumLabels out;
  std::map<int, int64_t> sizes;
};

// Nothing where sizes are not known, a tensor is empty, or a term names a diagonal.
std::optional<EinsumPlan> PlanEinsum(const Node& node, const std::vector<Type>& types) {
  const auto e = ReadEinsumEquation(node);
  if (!e.ok() || e->in.size() != types.size()) return std::nullopt;
  EinsumPlan plan;
  size_t most_dots = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    const Type& x = types[i];
    const size_t letters = e->in[i].letters.size();
    if (!x.ranked || x.rank() < letters) return std::nullopt;
    most_dots = std::max(most_dots, x.rank() - letters);
    const EinsumLabels& labels = plan.in.emplace_back(EinsumLabelsOf(e->in[i], x.rank() - letters));
    if (labels.size() != x.rank()) return std::nullopt;
    for (size_t d = 0; d < labels.size(); ++d) {
      if (!x.dims[d].known() || x.dims[d].value == 0) return std::nullopt;
      if (std::count(labels.begin(), labels.end(), labels[d]) > 1) return std::nullopt;
      int64_t& size = plan.sizes[labels[d]];
      size = std::max(size, x.dims[d].value);
    }
  }
  plan.out = EinsumLabelsOf(e->out ? *e->out : ImplicitEinsum(*e), most_dots);
  for (size_t i = 0; i < types.size(); ++i) {
    size_t axis = 0;
    plan.in[i] = LabelsWhere(plan.in[i], [&](int label) {
      const bool one = types[i].dims[axis++].value == 1;
      return !one || (plan.sizes[label] == 1 && HasLabel(plan.out, label));
    });
  }
  return plan;
}

// An operator of f16 or bf16 is computed in f32, so that its result is rounded once.
std::vector<ValueId> DecomposeEinsum(Transaction& t, FunctionId fn, const Node& node) {
  Parts p(&t, fn, node);
  std::vector<Type> types;
  for (ValueId v : node.inputs) types.push_back(p.TypeOf(v));
  const auto plan = PlanEinsum(node, types);
  const DType given = types[0].dtype;
  const bool whole = given == DType::kInt32 || given == DType::kInt64;
  const bool real = (kFloats & Bit(given)) != 0;
  if (!plan || !(whole || real)) return {};
  const DType dtype = whole ? given : StepDType(given);
  EinsumParts parts(&p, dtype, plan->sizes);
  const auto operand = [&](size_t i) {
    const ValueId v = p.Cast(node.inputs[i], dtype);
    return EinsumTensor{parts.Reshape(v, parts.DimsOf(plan->in[i])), plan->in[i]};
  };
  EinsumTensor y = operand(0);
  for (size_t i = 1; i < node.inputs.size(); ++i) {
    EinsumLabels wanted = plan->out;
    for (size_t k = i + 1; k < node.inputs.size(); ++k) {
      for (int label : plan->in[k]) {
        if (!HasLabel(wanted, label)) wanted.push_back(label);
      }
    }
    y = parts.Product(y, operand(i), wanted);
  }
  y = parts.Turned(parts.Summed(y, plan->out), plan->out);
  const Type type = p.TypeOf(node.outputs[0]);
  std::vector<int64_t> dims;
  for (const Dim& d : type.dims) dims.push_back(d.value);
  ValueId v = p.Cast(parts.Reshape(y.value, dims), given);
  if (std::find(node.inputs.begin(), node.inputs.end(), v) != node.inputs.end())
    v = p.Add("Identity", {v}, type);
  return {v};
}

}  // namespace

// A sum of products of elements; letters name the axes of each input and of the output.
GE_OP(einsum) = {"",
                 "Einsum",
                 28,
                 {{"Inputs", kNumeric, "T", Arity::kVariadic}},
                 {{"Output", kNumeric, "T"}},
                 {{"equation", AttrKind::kString, true}},
                 InferEinsum,
                 EffortEinsum,
                 true,
                 false,
                 DecomposeEinsum};

}  // namespace ge
