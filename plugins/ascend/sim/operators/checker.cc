#include "plugins/ascend/sim/operators/checker.h"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "plugins/ascend/sim/operators/numbers.h"
#include "plugins/ascend/sim/operators/storage.h"

namespace ge_engines::ascend::sim {
namespace {

constexpr size_t kMostAxes = 8;

bool IsPlain(acl::Format format) {
  return format == acl::kNd || format == acl::kNchw || format == acl::kNcdhw || format == acl::kNcl;
}

acl::Format ImageFormat(size_t rank) {
  return rank == 3 ? acl::kNcl : rank == 4 ? acl::kNchw : rank == 5 ? acl::kNcdhw : acl::kNd;
}

std::string FormatFault(const acl::Tensor& t, uint32_t formats) {
  const std::string found = "format " + std::to_string(t.format);
  const size_t rank = t.dims.size();
  if (IsPrivate(t.format)) {
    const uint32_t bit = t.format == acl::kNc1hwc0 ? kBlocked : kFractal;
    return (formats & bit) == 0 ? found + " is not taken" : "";
  }
  if (!IsPlain(t.format)) return found + " is not taken";
  if ((formats & kImage) != 0) {
    const acl::Format wanted = ImageFormat(rank);
    if (t.format == wanted && wanted != acl::kNd) return "";
    return found + " of rank " + std::to_string(rank) + ", wanted an image's: NCL, NCHW or NCDHW";
  }
  return (formats & kPlain) != 0 ? "" : found + " is not taken";
}

// Two elements of a result at one place.
bool Shares(const acl::Tensor& t) {
  const View view = ViewOf(t);
  return view.count() > 0 && std::any_of(view.axes.begin(), view.axes.end(), [](const Axis& axis) {
           return axis.size > 1 && axis.step == 0;
         });
}

}  // namespace

std::string NameOf(acl::DataType type) {
  switch (type) {
    case acl::kF32:
      return "float32";
    case acl::kF16:
      return "float16";
    case acl::kBf16:
      return "bfloat16";
    case acl::kF64:
      return "float64";
    case acl::kI8:
      return "int8";
    case acl::kU8:
      return "uint8";
    case acl::kI16:
      return "int16";
    case acl::kI32:
      return "int32";
    case acl::kI64:
      return "int64";
    case acl::kBool:
      return "bool";
    default:
      return "dtype " + std::to_string(type);
  }
}

std::string TextOf(const Dims& dims) {
  std::string text;
  for (const int64_t size : dims) text += (text.empty() ? "" : ", ") + std::to_string(size);
  return "[" + text + "]";
}

Checker& Checker::Fail(size_t i, const std::string& what) {
  if (fault_.empty()) fault_ = std::string(names_[i]) + ": " + what;
  return *this;
}

Checker& Checker::Tensor(size_t i, const char* name, uint32_t types, uint32_t formats) {
  names_[i] = name;
  if (!ok()) return *this;
  const Argument& one = given_[i];
  if (!one.given) return Fail(i, "null, wanted a tensor");
  const acl::Tensor& t = one.tensor;
  if (t.type < 0 || t.type > 31 || (types & TypeBit(t.type)) == 0) {
    return Fail(i, NameOf(t.type) + " is not taken");
  }
  if (t.dims.size() > kMostAxes) return Fail(i, "more than 8 axes");
  std::string fault = FormatFault(t, formats);
  if (fault.empty()) fault = WrongStorage(t);
  if (fault.empty() && one.kind == Argument::Kind::kOut && Shares(t)) {
    fault = "elements of a result share a place";
  }
  return fault.empty() ? *this : Fail(i, fault);
}

Checker& Checker::Optional(size_t i, const char* name, uint32_t types, uint32_t formats) {
  names_[i] = name;
  return given(i) ? Tensor(i, name, types, formats) : *this;
}

Checker& Checker::Scalar(size_t i, const char* name) {
  names_[i] = name;
  if (!ok()) return *this;
  if (!given(i)) return Fail(i, "null, wanted a scalar");
  const acl::DataType type = given_[i].scalar.type;
  const bool known = IsReal(type) || type == acl::kF64 || type == acl::kI32 || type == acl::kI64 ||
                     type == acl::kBool;
  return known ? *this : Fail(i, NameOf(type) + " of a scalar is not taken");
}

Checker& Checker::SameType(size_t i, size_t as) {
  if (!ok() || !given(i) || !given(as)) return *this;
  const acl::DataType found = given_[i].tensor.type, wanted = given_[as].tensor.type;
  return found == wanted ? *this : Fail(i, NameOf(found) + ", wanted " + NameOf(wanted));
}

Checker& Checker::SameFormat(size_t i, size_t as) {
  if (!ok() || !given(i) || !given(as)) return *this;
  const acl::Format found = given_[i].tensor.format, wanted = given_[as].tensor.format;
  if (found == wanted || (IsPlain(found) && IsPlain(wanted))) return *this;
  return Fail(i, "format " + std::to_string(found) + ", wanted " + std::to_string(wanted));
}

Checker& Checker::HasDims(size_t i, const Dims& wanted) {
  if (!ok() || !given(i) || dims(i) == wanted) return *this;
  return Fail(i, "dims " + TextOf(dims(i)) + ", wanted " + TextOf(wanted));
}

Checker& Checker::HasRank(size_t i, size_t least, size_t most) {
  if (!ok() || !given(i) || (dims(i).size() >= least && dims(i).size() <= most)) return *this;
  return Fail(i, "dims " + TextOf(dims(i)) + ", wanted " + std::to_string(least) + " to " +
                     std::to_string(most) + " axes");
}

Checker& Checker::RepeatsTo(size_t i, const Dims& wanted) {
  if (!ok() || !given(i) || CanRepeat(dims(i), wanted)) return *this;
  return Fail(i, "dims " + TextOf(dims(i)) + " do not repeat to " + TextOf(wanted));
}

Checker& Checker::HasInts(size_t i, const char* name, size_t count, int64_t least) {
  names_[i] = name;
  if (!ok()) return *this;
  const Dims& ints = given_[i].ints;
  if (!given(i) || ints.size() != count) {
    return Fail(i, std::to_string(ints.size()) + " numbers, wanted " + std::to_string(count));
  }
  const bool fit = std::all_of(ints.begin(), ints.end(), [&](int64_t n) { return n >= least; });
  return fit ? *this : Fail(i, TextOf(ints) + ", wanted none below " + std::to_string(least));
}

Checker& Checker::Axis(size_t i, size_t rank) {
  const auto axis = static_cast<int64_t>(given_[i].number);
  // A tensor of no axes is taken for one of one.
  const auto axes = static_cast<int64_t>(std::max<size_t>(rank, 1));
  return That(axis >= -axes && axis < axes,
              "axis " + std::to_string(axis) + " of " + std::to_string(rank));
}

Checker& Checker::That(bool holds, const std::string& otherwise) {
  if (fault_.empty() && !holds) fault_ = otherwise;
  return *this;
}

const acl::Tensor& TensorOf(const Arguments& given, size_t i) { return given[i].tensor; }
int64_t IntegerOf(const Arguments& given, size_t i) {
  const double number = given[i].number;
  // The greatest and least of int64_t are no doubles.
  if (number >= 0x1p63) return INT64_MAX;
  return number <= -0x1p63 ? INT64_MIN : static_cast<int64_t>(number);
}
bool BoolOf(const Arguments& given, size_t i) { return given[i].number != 0; }

size_t AxisOf(const Arguments& given, size_t i, size_t rank) {
  const int64_t axis = IntegerOf(given, i);
  return static_cast<size_t>(axis < 0 ? axis + static_cast<int64_t>(std::max<size_t>(rank, 1))
                                      : axis);
}

template <class V>
V ScalarOf(const Arguments& given, size_t i) {
  const acl::Scalar& scalar = given[i].scalar;
  const auto as = [&](auto x) {
    std::memcpy(&x, scalar.bytes, sizeof x);
    return NumberOf<V>(x);
  };
  switch (scalar.type) {
    case acl::kF32:
      return as(float());
    case acl::kF16:
      return as(Half());
    case acl::kBf16:
      return as(Brain());
    case acl::kI32:
      return as(int32_t());
    case acl::kI64:
      return as(int64_t());
    case acl::kBool:
      return as(Flag());
    default: {
      double x;
      std::memcpy(&x, scalar.bytes, sizeof x);
      return ElementOf<V>(static_cast<float>(x));
    }
  }
}
template float ScalarOf<float>(const Arguments&, size_t);
template int64_t ScalarOf<int64_t>(const Arguments&, size_t);

}  // namespace ge_engines::ascend::sim
