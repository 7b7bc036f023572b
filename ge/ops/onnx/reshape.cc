#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "ge/ops/infer_shapes.h"
#include "ge/ops/known_ints.h"
#include "ge/ops/work.h"

namespace ge {
namespace {

// A product of sizes as a number times symbolic factors.
struct Product {
  Dim number = KnownDim(1);
  std::vector<Dim> symbols;
};

Status MulInto(InferContext& c, Dim* into, Dim by) {
  GE_ASSIGN_OR_RETURN(*into, Checked(c.node(), c.dims().Mul(*into, by), "the element count"));
  return {};
}

Result<Product> ProductOf(InferContext& c, std::span<const Dim> dims) {
  Product p;
  for (const Dim& d : dims) {
    if (d.known()) {
      GE_RETURN_IF_ERROR(MulInto(c, &p.number, d));
    } else {
      p.symbols.push_back(d);
    }
  }
  return p;
}

// Drops the symbolic factors that both products have.
void Cancel(Product* a, Product* b) {
  for (size_t i = a->symbols.size(); i > 0; --i) {
    auto it = std::find(b->symbols.begin(), b->symbols.end(), a->symbols[i - 1]);
    if (it == b->symbols.end()) continue;
    b->symbols.erase(it);
    a->symbols.erase(a->symbols.begin() + static_cast<ptrdiff_t>(i - 1));
  }
}

Status Mismatch(InferContext& c, std::span<const Dim> target) {
  return Bad(c.node(), fmt::format("input 'data' of shape {} cannot become {}: the element counts "
                                   "differ, wanted equal ones; one size may be -1",
                                   Show(c.dims(), c.input_type(0).dims), Show(c.dims(), target)));
}

// The size that -1 stands for: elements of the input, of the axes `from`, over those of the others.
Result<Dim> Deduce(InferContext& c, std::span<const Dim> target, std::span<const Dim> from,
                   std::span<const Dim> others) {
  const bool empty =
      std::any_of(others.begin(), others.end(), [](Dim d) { return d == KnownDim(0); });
  if (empty) {
    return Bad(c.node(), fmt::format("input 'shape' holds {}, wanted no -1 beside a size of 0: it "
                                     "could be anything",
                                     Show(c.dims(), target)));
  }
  GE_ASSIGN_OR_RETURN(Product have, ProductOf(c, from));
  GE_ASSIGN_OR_RETURN(Product want, ProductOf(c, others));
  Cancel(&have, &want);
  const int64_t common = std::gcd(have.number.value, want.number.value);
  Dim total = KnownDim(have.number.value / common);
  Dim divisor = KnownDim(want.number.value / common);
  const bool divides = divisor == KnownDim(1);
  for (const Dim& d : have.symbols) GE_RETURN_IF_ERROR(MulInto(c, &total, d));
  for (const Dim& d : want.symbols) GE_RETURN_IF_ERROR(MulInto(c, &divisor, d));
  if (have.symbols.empty() && want.symbols.empty() && !divides) return Mismatch(c, target);
  return Checked(c.node(), c.dims().FloorDiv(total, divisor), "the size that -1 stands for");
}

// Resolves 0 (copy) and -1 (deduce) in place.
Status Resolve(InferContext& c, std::vector<Dim>* target) {
  const Type& x = c.input_type(0);
  const bool allow_zero = AttrInt(c.node(), "allowzero") != 0;
  const std::vector<Dim> given = *target;
  // Sizes but -1; and those that it is deduced from, without what is on both sides.
  std::vector<Dim> others, rest, from(x.dims.begin(), x.dims.end());
  Dim* open = nullptr;
  for (size_t i = 0; i < target->size(); ++i) {
    Dim& d = (*target)[i];
    if (d.known() && (d.value < -1 || (d.value == -1 && open != nullptr))) {
      return Bad(c.node(), fmt::format("input 'shape' holds {}, wanted sizes and at most one -1",
                                       Show(c.dims(), given)));
    }
    if (d == KnownDim(-1)) {
      open = &d;
      continue;
    }
    if (d == KnownDim(0) && !allow_zero) {
      if (x.ranked && i >= x.rank()) {
        return Bad(c.node(), fmt::format("input 'shape' holds {}: the 0 at place {} copies an axis "
                                         "that shape {} has not, wanted a size (or allowzero=1)",
                                         Show(c.dims(), given), i, Show(c.dims(), x.dims)));
      }
      d = x.ranked ? x.dims[i] : c.FreshDim("reshape", false);
      // An axis that is copied is on both sides, whatever its size: a batch of 0 leaves -1 what it
      // is at any other.
      if (d == KnownDim(0)) {
        from[i] = KnownDim(1);
        others.push_back(d);
        continue;
      }
    }
    others.push_back(d);
    rest.push_back(d);
  }
  if (open != nullptr) {
    if (x.ranked) {
      GE_ASSIGN_OR_RETURN(*open, Deduce(c, given, from, rest));
    } else {
      *open = c.FreshDim("reshape", false);
    }
    return {};
  }
  if (!x.ranked) return {};
  GE_ASSIGN_OR_RETURN(Product have, ProductOf(c, x.dims));
  GE_ASSIGN_OR_RETURN(Product want, ProductOf(c, others));
  Cancel(&have, &want);
  if (have.symbols.empty() && want.symbols.empty() && have.number != want.number) {
    return Mismatch(c, *target);
  }
  return {};
}

Status InferReshape(InferContext& c) {
  const Type& x = c.input_type(0);
  const Type& shape = c.input_type(1);
  if (shape.ranked && shape.rank() != 1) {
    return Bad(c.node(), "input 'shape' has shape " + Show(c.dims(), shape.dims) +
                             ", wanted rank 1: a list of sizes");
  }
  auto target = Content(c, 1);
  if (!target) {
    if (!shape.is_static()) {
      c.SetOutput(0, UnrankedTensor(x.dtype));
      return {};
    }
    target.emplace();
    const int64_t rank = std::min<int64_t>(shape.dims[0].value, kMaxRank + 1);
    for (int64_t i = 0; i < rank; ++i) target->push_back(c.FreshDim("reshape", true));
  } else {
    if (target->size() > kMaxRank) return SetTensor(c, 0, x.dtype, std::move(*target));
    GE_RETURN_IF_ERROR(Resolve(c, &*target));
  }
  GE_RETURN_IF_ERROR(SetTensor(c, 0, x.dtype, std::move(*target)));
  PassContent(c);
  return {};
}

}  // namespace

// The same elements in another shape; 0 copies an axis unless allowzero, one -1 is deduced.
GE_OP(reshape) = {"",
                  "Reshape",
                  25,
                  {{"data", kAnyDType, "T"}, {"shape", Bit(DType::kInt64)}},
                  {{"reshaped", kAnyDType, "T"}},
                  {{"allowzero", AttrKind::kInt, 0}},
                  InferReshape,
                  PerOutput<0>};

}  // namespace ge
