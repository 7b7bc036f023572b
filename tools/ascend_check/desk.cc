#include "tools/ascend_check/desk.h"

#include <algorithm>
#include <cmath>

#include "tools/ascend_check/chips.h"

namespace ascend_check {
namespace {

constexpr unsigned char kUnwritten = 0xFF;

int64_t Blocks(int64_t n) { return (n + acl::kLanes - 1) / acl::kLanes; }

Dims StorageOf(const Dims& dims, acl::Format format) {
  const size_t rank = dims.size();
  if (format == acl::kNc1hwc0) return {dims[0], Blocks(dims[1]), dims[2], dims[3], acl::kLanes};
  Dims storage(dims.begin(), dims.end() - 2);
  storage.insert(storage.end(),
                 {Blocks(dims[rank - 1]), Blocks(dims[rank - 2]), acl::kLanes, acl::kLanes});
  return storage;
}

// Where each element lies in its storage, in the order of the dims.
std::vector<size_t> Places(const Operand& t) {
  std::vector<size_t> places;
  const size_t rank = t.dims.size();
  Dims at(rank, 0);
  for (int64_t i = 0, n = Count(t.dims); i < n; ++i) {
    int64_t place = t.offset, rest = i;
    for (size_t k = rank; k-- > 0; rest /= t.dims[k]) at[k] = rest % t.dims[k];
    if (t.format == acl::kNc1hwc0) {
      place =
          (((at[0] * t.storage[1] + at[1] / acl::kLanes) * t.dims[2] + at[2]) * t.dims[3] + at[3]) *
              acl::kLanes +
          at[1] % acl::kLanes;
    } else if (t.format == acl::kFractalNz) {
      const int64_t row = at[rank - 2], column = at[rank - 1], rows = Blocks(t.dims[rank - 2]);
      int64_t matrix = 0;
      for (size_t k = 0; k + 2 < rank; ++k) matrix = matrix * t.dims[k] + at[k];
      place =
          matrix * rows * Blocks(t.dims[rank - 1]) * acl::kLanes * acl::kLanes +
          ((column / acl::kLanes * rows + row / acl::kLanes) * acl::kLanes + row % acl::kLanes) *
              acl::kLanes +
          column % acl::kLanes;
    } else {
      for (size_t k = 0; k < rank; ++k) place += at[k] * t.strides[k];
    }
    places.push_back(static_cast<size_t>(place));
  }
  return places;
}

size_t BytesOf(const Operand& t) { return static_cast<size_t>(Count(t.storage)) * SizeOf(t.type); }

}  // namespace

Place::Place(Case& at, int device) : at(at), f(at.runtime().f()) {
#define CHECK_THERE(name, ...) \
  if (f.name == nullptr) Case::Skip("the library has no " #name);
  GE_ACL_FUNCTIONS(CHECK_THERE)
#undef CHECK_THERE
  at.Ok(f.aclInit(nullptr), "aclInit");
  at.Ok(f.aclrtCreateContext(&context, device), "aclrtCreateContext");
  stream = Stream();
}

acl::Stream Place::Stream() {
  acl::Stream made = nullptr;
  at.Ok(f.aclrtCreateStream(&made), "aclrtCreateStream");
  return made;
}

acl::Event Place::Event() {
  acl::Event made = nullptr;
  at.Ok(f.aclrtCreateEventExWithFlag(&made, acl::kEventSync), "aclrtCreateEventExWithFlag");
  return made;
}

void* Place::Block(size_t bytes) {
  void* made = nullptr;
  at.Ok(f.aclrtMalloc(&made, bytes + 32, acl::kHugeFirst), "aclrtMalloc");
  return made;
}

void* Place::Pinned(size_t bytes) {
  void* made = nullptr;
  at.Ok(f.aclrtMallocHost(&made, bytes), "aclrtMallocHost");
  return made;
}

void Place::Up(void* to, const void* from, size_t bytes) {
  if (bytes == 0) return;
  at.Ok(f.aclrtMemcpy(to, bytes, from, bytes, acl::kHostToDevice), "aclrtMemcpy to the device");
}

std::vector<unsigned char> Place::Down(const void* from, size_t bytes) {
  std::vector<unsigned char> to(bytes);
  if (bytes > 0) {
    at.Ok(f.aclrtMemcpy(to.data(), bytes, from, bytes, acl::kDeviceToHost),
          "aclrtMemcpy from the device");
  }
  return to;
}

acl::Tensor* Desk::ObjectAt(const Operand& t, void* data) {
  acl::Tensor* made =
      o.aclCreateTensor(t.dims.data(), t.dims.size(), t.type, t.strides.data(), t.offset, t.format,
                        t.storage.data(), t.storage.size(), data);
  Case::Need(made != nullptr, "aclCreateTensor answers null for dims " + TextOf(t.dims));
  return made;
}
acl::Tensor* Desk::Object(const Operand& t) { return ObjectAt(t, t.data); }

Operand Desk::Out(const Dims& dims, acl::DataType type, acl::Format format) {
  Operand t;
  t.dims = t.storage = dims;
  t.strides = DenseStrides(dims);
  t.type = type;
  t.format = format;
  const size_t bytes = BytesOf(t);
  if (bytes > 0) {
    t.data = Block(bytes);
    Up(t.data, std::vector<unsigned char>(bytes, kUnwritten).data(), bytes);
  }
  t.object = Object(t);
  return t;
}

Operand Desk::In(const Dims& dims, acl::DataType type, const Values& values, acl::Format format) {
  Operand t = Out(dims, type, format);
  const auto bytes = Encode(values, type);
  Up(t.data, bytes.data(), bytes.size());
  return t;
}

Operand Desk::Look(Operand of, const Dims& dims, const Dims& strides, int64_t offset) {
  of.dims = dims;
  of.strides = strides;
  of.offset = offset;
  of.object = Object(of);
  return of;
}

Operand Desk::OutPrivate(const Dims& dims, acl::DataType type, acl::Format format) {
  Operand t;
  t.dims = dims;
  t.strides = DenseStrides(dims);
  t.storage = StorageOf(dims, format);
  t.type = type;
  t.format = format;
  t.data = Block(BytesOf(t));
  Up(t.data, std::vector<unsigned char>(BytesOf(t), 0).data(), BytesOf(t));
  t.object = Object(t);
  return t;
}

Operand Desk::InPrivate(const Dims& dims, acl::DataType type, const Values& values,
                        acl::Format format) {
  Operand t = OutPrivate(dims, type, format);
  Values stored(static_cast<size_t>(Count(t.storage)), 0);
  const auto places = Places(t);
  for (size_t i = 0; i < places.size(); ++i) stored[places[i]] = values[i];
  const auto bytes = Encode(stored, type);
  Up(t.data, bytes.data(), bytes.size());
  return t;
}

Values Desk::Read(const Operand& t) {
  const Values stored = Decode(Down(t.data, BytesOf(t)), t.type);
  Values values;
  for (const size_t place : Places(t)) values.push_back(stored[place]);
  return values;
}

acl::Scalar* Desk::Number(double value, acl::DataType type) {
  std::vector<unsigned char> bytes = Encode({value}, type);
  acl::Scalar* made = o.aclCreateScalar(bytes.data(), type);
  Case::Need(made != nullptr, "aclCreateScalar answers null");
  return made;
}

acl::IntArray* Desk::Ints(const Dims& values) {
  acl::IntArray* made = o.aclCreateIntArray(values.data(), values.size());
  Case::Need(made != nullptr, "aclCreateIntArray answers null");
  return made;
}

acl::TensorList* Desk::List(const std::vector<acl::Tensor*>& tensors) {
  acl::TensorList* made = o.aclCreateTensorList(tensors.data(), tensors.size());
  Case::Need(made != nullptr, "aclCreateTensorList answers null");
  return made;
}

void Desk::Near(const Operand& found, const Values& wanted, double bound) {
  const Values values = Read(found);
  Case::Need(values.size() == wanted.size(), "the check itself has a fault: other counts");
  for (size_t i = 0; i < values.size(); ++i) {
    const double apart = std::fabs(values[i] - wanted[i]);
    const bool same = values[i] == wanted[i] || (std::isnan(values[i]) && std::isnan(wanted[i]));
    if (same || apart <= bound * std::max(1.0, std::fabs(wanted[i]))) continue;
    return at.Note(NameOf(found.type) + " " + TextOf(found.dims) + ": element " +
                   std::to_string(i) + " is " + TextOf(values[i]) + "; wanted " +
                   TextOf(wanted[i]));
  }
}

void InEachType(Case& at, const std::function<void(Desk&, acl::DataType)>& use) {
  Desk desk(at);
  std::vector<acl::DataType> types = {acl::kF32, acl::kF16};
  const auto named = desk.f.aclrtGetSocName;
  const Chip* chip = named == nullptr ? nullptr : FindChip(named());
  if (chip != nullptr && chip->bf16) types.push_back(acl::kBf16);
  std::string tried;
  for (const acl::DataType type : types) {
    try {
      use(desk, type);
      tried += (tried.empty() ? "" : ", ") + NameOf(type);
    } catch (const Finding& finding) {
      if (finding.outcome != Outcome::kDiffers) throw;
      at.Note(NameOf(type) + ": " + finding.text);
    }
  }
  at.Tell(tried);
}

void IfTaken(Case& at, const std::function<void(Desk&)>& use) {
  at.OnlyTell();
  Desk desk(at);
  try {
    use(desk);
    at.Tell("taken");
  } catch (const Finding& finding) {
    if (finding.outcome != Outcome::kDiffers) throw;
    at.Tell("not taken: " + finding.text);
  }
}

}  // namespace ascend_check
