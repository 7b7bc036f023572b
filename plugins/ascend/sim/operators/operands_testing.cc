#include "plugins/ascend/sim/operators/operands_testing.h"

#include <algorithm>
#include <cstring>
#include <numeric>

namespace ge_engines::ascend::sim {
namespace {

constexpr double kOther = 77;  // of elements that are not the tensor's

int64_t BytesOf(acl::DataType type) {
  switch (type) {
    case acl::kF32:
    case acl::kI32:
      return 4;
    case acl::kI64:
      return 8;
    case acl::kF16:
    case acl::kBf16:
    case acl::kI16:
      return 2;
    default:
      return 1;
  }
}

}  // namespace

Operand::Operand(const Dims& dims, acl::DataType type, acl::Format format, Layout layout,
                 Random* random) {
  turned_ = layout == kTurned;
  tensor_.dims = dims;
  tensor_.type = type;
  tensor_.format = format;
  tensor_.strides.assign(dims.size(), 0);
  std::vector<size_t> order(dims.size());  // axes from the innermost on
  std::iota(order.rbegin(), order.rend(), 0);
  if (layout == kTurned) std::swap(order[0], order[1]);
  if (layout == kStrided) std::shuffle(order.begin(), order.end(), *random);
  int64_t step = layout == kStrided ? Draw(random, 1, 2) : 1;
  for (const size_t axis : order) {
    tensor_.strides[axis] = step;
    step *= dims[axis] + (layout == kStrided && dims[axis] > 0 ? Draw(random, 0, 1) : 0);
  }
  Dims stored = dims;
  if (layout == kTurned) std::swap(stored[dims.size() - 1], stored[dims.size() - 2]);
  tensor_.storage = {step};
  if (layout == kStrided) {
    tensor_.offset = Draw(random, 0, 3);
    tensor_.storage = {step + tensor_.offset};
  } else if (format == acl::kNc1hwc0) {
    tensor_.storage = {dims[0], (dims[1] + 15) / 16, dims[2], dims[3], 16};
  } else if (format == acl::kFractalNz) {
    tensor_.storage.assign(stored.begin(), stored.end() - 2);
    const Dims blocks = {(stored.end()[-1] + 15) / 16, (stored.end()[-2] + 15) / 16, 16, 16};
    tensor_.storage.insert(tensor_.storage.end(), blocks.begin(), blocks.end());
  }
  bytes_ = std::make_shared<std::vector<unsigned char>>(
      static_cast<size_t>(std::max<int64_t>(1, Count(tensor_.storage)) * BytesOf(type)));
  tensor_.data = bytes_->data();
  for (int64_t i = 0; i < Count(tensor_.storage); ++i) Set(i, kOther);
}

void Operand::Set(int64_t place, double value) {
  const auto write = [&](auto element) {
    std::memcpy(bytes_->data() + place * static_cast<int64_t>(sizeof element), &element,
                sizeof element);
  };
  switch (tensor_.type) {
    case acl::kF32:
      return write(static_cast<float>(value));
    case acl::kF16:
      return write(HalfOf(static_cast<float>(value)));
    case acl::kBf16:
      return write(BrainOf(static_cast<float>(value)));
    case acl::kI32:
      return write(static_cast<int32_t>(value));
    case acl::kI64:
      return write(static_cast<int64_t>(value));
    case acl::kI16:
      return write(static_cast<int16_t>(value));
    case acl::kI8:
      return write(static_cast<int8_t>(value));
    default:
      return write(static_cast<uint8_t>(value));
  }
}

double Operand::At(int64_t place) const {
  const auto read = [&](auto element) {
    std::memcpy(&element, bytes_->data() + place * static_cast<int64_t>(sizeof element),
                sizeof element);
    return element;
  };
  switch (tensor_.type) {
    case acl::kF32:
      return read(float());
    case acl::kF16:
      return FloatOfHalf(read(uint16_t()));
    case acl::kBf16:
      return FloatOfBrain(read(uint16_t()));
    case acl::kI32:
      return read(int32_t());
    case acl::kI64:
      return static_cast<double>(read(int64_t()));
    case acl::kI16:
      return read(int16_t());
    case acl::kI8:
      return read(int8_t());
    default:
      return read(uint8_t());
  }
}

std::vector<int64_t> Operand::Places() const {
  const Dims &dims = tensor_.dims, &storage = tensor_.storage;
  std::vector<int64_t> places;
  for (int64_t i = 0; i < count(); ++i) {
    Dims at(dims.size());
    int64_t rest = i;
    for (size_t k = dims.size(); k-- > 0;) {
      at[k] = rest % dims[k];
      rest /= dims[k];
    }
    int64_t place = tensor_.offset;
    if (tensor_.format == acl::kNc1hwc0) {
      place = at[0] * storage[1] + at[1] / 16;
      place = ((place * storage[2] + at[2]) * storage[3] + at[3]) * 16 + at[1] % 16;
    } else if (tensor_.format == acl::kFractalNz) {
      if (turned_) std::swap(at[at.size() - 1], at[at.size() - 2]);
      place = 0;
      for (size_t k = 0; k + 2 < dims.size(); ++k) place = place * dims[k] + at[k];
      const int64_t row = at.end()[-2], column = at.end()[-1];
      place = (place * storage.end()[-4] + column / 16) * storage.end()[-3] + row / 16;
      place = (place * 16 + row % 16) * 16 + column % 16;
    } else {
      for (size_t k = 0; k < dims.size(); ++k) place += at[k] * tensor_.strides[k];
    }
    places.push_back(place);
  }
  return places;
}

void Operand::Fill(const Reals& values) {
  const std::vector<int64_t> places = Places();
  for (size_t i = 0; i < places.size(); ++i) Set(places[i], values[i]);
}

void Operand::FillRandom(Random* random, double least, double most) {
  const bool real = IsReal(tensor_.type);
  Reals values;
  for (int64_t i = 0; i < count(); ++i) {
    const double scale = real ? 8 : 1;
    values.push_back(static_cast<double>(Draw(random, static_cast<int64_t>(least * scale),
                                              static_cast<int64_t>(most * scale))) /
                     scale);
  }
  Fill(values);
}

Reals Operand::Values() const {
  Reals values;
  for (const int64_t place : Places()) values.push_back(At(place));
  return values;
}

bool Operand::OthersAsBefore() const {
  std::vector<bool> own(static_cast<size_t>(Count(tensor_.storage)), false);
  for (const int64_t place : Places()) own[static_cast<size_t>(place)] = true;
  const bool padded = tensor_.format == acl::kNc1hwc0 || tensor_.format == acl::kFractalNz;
  for (size_t i = 0; i < own.size(); ++i) {
    if (own[i]) continue;
    const double found = At(static_cast<int64_t>(i));
    if (padded ? !IsPoison(static_cast<float>(found)) : found != kOther) return false;
  }
  return true;
}

Operand Operand::As(const Dims& dims, const Dims& strides, acl::Format format,
                    const Dims& storage) const {
  Operand other = *this;
  other.tensor_.dims = dims;
  other.tensor_.strides = strides;
  other.tensor_.format = format;
  other.tensor_.storage = storage;
  return other;
}

// ---- arguments ---------------------------------------------------------------------------------

Argument In(const Operand& operand) {
  Argument a;
  a.kind = Argument::Kind::kIn;
  a.tensor = operand.tensor();
  return a;
}
Argument Out(const Operand& operand) {
  Argument a = In(operand);
  a.kind = Argument::Kind::kOut;
  return a;
}
Argument List(const std::vector<const Operand*>& operands) {
  Argument a;
  a.kind = Argument::Kind::kTensors;
  for (const Operand* one : operands) a.tensors.push_back(one->tensor());
  return a;
}
Argument None(Argument::Kind kind) {
  Argument a;
  a.kind = kind;
  a.given = false;
  return a;
}
Argument Scalar(float value) {
  Argument a;
  a.kind = Argument::Kind::kScalar;
  a.scalar.type = acl::kF32;
  std::memcpy(a.scalar.bytes, &value, sizeof value);
  return a;
}
Argument Whole(int64_t value) {
  Argument a;
  a.kind = Argument::Kind::kScalar;
  a.scalar.type = acl::kI64;
  std::memcpy(a.scalar.bytes, &value, sizeof value);
  return a;
}
Argument Ints(const Dims& ints) {
  Argument a;
  a.kind = Argument::Kind::kInts;
  a.ints = ints;
  return a;
}
Argument Number(double number) {
  Argument a;
  a.number = number;
  return a;
}

std::string Launch(const char* name, const Arguments& given) {
  const Operation* operation = FindOperation(name);
  if (operation == nullptr) return std::string("no operation ") + name;
  const std::string fault = operation->check(given);
  if (!fault.empty()) return fault;
  const size_t bytes = operation->workspace == nullptr ? 0 : operation->workspace(given);
  constexpr size_t kZone = 64;
  constexpr unsigned char kMark = 0x5a;
  std::vector<unsigned char> room(bytes + 2 * kZone, kMark);
  operation->run(given, bytes > 0 ? room.data() + kZone : nullptr);
  const auto marked = [&](size_t first, size_t count) {
    return std::all_of(room.begin() + static_cast<std::ptrdiff_t>(first),
                       room.begin() + static_cast<std::ptrdiff_t>(first + count),
                       [](unsigned char byte) { return byte == kMark; });
  };
  EXPECT_TRUE(marked(0, kZone) && marked(kZone + bytes, kZone)) << name << ": beyond its workspace";
  for (size_t i = 0; i + 4 <= bytes; i += 4) {
    EXPECT_FALSE(marked(kZone + i, 4)) << name << ": byte " << i << " of " << bytes << " unused";
  }
  return "";
}

// ---- results -----------------------------------------------------------------------------------

double BoundOf(acl::DataType type, int64_t terms) {
  const double last = type == acl::kF32 ? 0x1p-22 : type == acl::kF16 ? 0x1p-10 : 0x1p-7;
  return last + 0x1p-22 * std::sqrt(static_cast<double>(terms));
}

void ExpectNear(const Reals& got, const Reals& wanted, double bound, const std::string& what) {
  ASSERT_EQ(got.size(), wanted.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (got[i] == wanted[i] || (std::isnan(got[i]) && std::isnan(wanted[i]))) continue;
    ASSERT_LE(std::fabs(got[i] - wanted[i]), bound * (1 + std::fabs(wanted[i])))
        << what << ": element " << i << " is " << got[i] << ", wanted " << wanted[i];
  }
}

std::string Label(const char* name, const acl::Tensor& tensor, uint32_t seed) {
  std::string text = std::string(name) + " seed " + std::to_string(seed) + " type " +
                     std::to_string(tensor.type) + " format " + std::to_string(tensor.format) +
                     " dims";
  for (const int64_t size : tensor.dims) text += " " + std::to_string(size);
  return text;
}

Reals Values(int64_t count, const std::function<double(int64_t)>& value) {
  Reals values;
  for (int64_t i = 0; i < count; ++i) values.push_back(value(i));
  return values;
}

int64_t RepeatedPlace(const Dims& dims, const Dims& to, int64_t i) {
  int64_t place = 0, step = 1;
  for (size_t k = to.size(); k-- > 0;) {
    const int64_t at = i % to[k];
    i /= to[k];
    const size_t front = to.size() - dims.size();
    if (k < front) continue;
    if (dims[k - front] != 1) place += at * step;
    step *= dims[k - front];
  }
  return place;
}

}  // namespace ge_engines::ascend::sim
