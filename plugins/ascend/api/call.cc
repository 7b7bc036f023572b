#include "plugins/ascend/api/call.h"

#include <algorithm>
#include <iterator>

namespace ge_engines::ascend::acl {
namespace {

// In place of an address that nobody knows yet; a first phase reads none.
void* const kNoAddress = reinterpret_cast<void*>(uintptr_t{512});

}  // namespace

Form Form::Dense(const Dims& dims, DataType type) {
  Form form;
  form.dims = form.storage = dims;
  form.strides = StridesOf(dims);
  form.type = type;
  return form;
}

Form Form::Image(const Dims& dims, DataType type) {
  Form form = Dense(dims, type);
  constexpr Format kOfRank[] = {kNcl, kNchw, kNcdhw};
  if (dims.size() >= 3 && dims.size() <= 5) form.format = kOfRank[dims.size() - 3];
  return form;
}

Form Form::Blocked(const Dims& dims, DataType type) {
  Form form = Dense(dims, type);
  form.format = kNc1hwc0;
  form.storage[1] = CeilDiv(dims[1], kLanes);
  form.storage.push_back(kLanes);
  return form;
}

Form Form::Fractal(const Dims& dims, DataType type) {
  Form form = Dense(dims, type);
  form.format = kFractalNz;
  form.storage = {CeilDiv(dims[1], kLanes), CeilDiv(dims[0], kLanes), kLanes, kLanes};
  return form;
}

Made::~Made() {
  for (const auto* list : lists_) (void)f_.aclDestroyTensorList(list);
  for (const auto* tensor : tensors_) (void)f_.aclDestroyTensor(tensor);
  for (const auto* scalar : scalars_) (void)f_.aclDestroyScalar(scalar);
  for (const auto* array : arrays_) (void)f_.aclDestroyIntArray(array);
}

Tensor* Made::MakeTensor(const TensorAt& given) {
  if (given.place == TensorAt::kNone) return nullptr;
  const Form& form = given.form;
  auto* const made = f_.aclCreateTensor(
      form.dims.data(), form.dims.size(), form.type, form.strides.data(), form.offset, form.format,
      form.storage.data(), form.storage.size(), at_ == nullptr ? kNoAddress : at_[given.place]);
  whole_ = whole_ && made != nullptr;
  return made;
}

template <class T>
T* Made::Keep(T* made, std::vector<T*>* kept) {
  whole_ = whole_ && made != nullptr;
  if (made != nullptr) kept->push_back(made);
  return made;
}

Tensor* Made::Make(const TensorAt& given) {
  Tensor* made = MakeTensor(given);
  if (made != nullptr) tensors_.push_back(made);
  return made;
}

Scalar* Made::Make(const ScalarOf& given) {
  union {
    float real;
    int32_t whole;
    int64_t wide;
    bool flag;
  } value = {};
  switch (given.type) {
    case kI32:
      value.whole = static_cast<int32_t>(given.value);
      break;
    case kI64:
      value.wide = static_cast<int64_t>(given.value);
      break;
    case kBool:
      value.flag = given.value != 0;
      break;
    default:
      value.real = static_cast<float>(given.value);
  }
  return Keep(f_.aclCreateScalar(&value, given.type), &scalars_);
}

IntArray* Made::Make(const Dims& given) {
  return Keep(f_.aclCreateIntArray(given.data(), given.size()), &arrays_);
}

TensorList* Made::Make(const std::vector<TensorAt>& given) {
  std::vector<Tensor*> tensors;
  for (const TensorAt& one : given) tensors.push_back(MakeTensor(one));
  TensorList* list = nullptr;  // that owns them
  if (whole_) list = Keep(f_.aclCreateTensorList(tensors.data(), tensors.size()), &lists_);
  if (list == nullptr)
    std::copy_if(tensors.begin(), tensors.end(), std::back_inserter(tensors_),
                 [](Tensor* t) { return t != nullptr; });
  return list;
}

void Signature::AddBytes(const void* from, size_t size) {
  bytes_.append(static_cast<const char*>(from), size);
}

void Signature::Add(const TensorAt& given) {
  Add(given.place == TensorAt::kNone);
  if (given.place == TensorAt::kNone) return;
  const Form& form = given.form;
  Add(form.dims);
  Add(form.strides);
  Add(form.type);
  Add(form.offset);
  Add(form.format);
  Add(form.storage);
}

void Signature::Add(const ScalarOf& given) {
  Add(given.value);
  Add(given.type);
}

void Signature::Add(const Dims& given) {
  Add(given.size());
  AddBytes(given.data(), given.size() * sizeof given[0]);
}

void Signature::Add(const std::vector<TensorAt>& given) {
  Add(given.size());
  for (const TensorAt& one : given) Add(one);
}

Status OperatorCall::Workspace(uint64_t* bytes) const {
  Executor* executor = nullptr;
  Made made(f_, nullptr);
  const Status s = First(&made, bytes, &executor);
  if (s == kSuccess && f_.aclDestroyAclOpExecutor != nullptr) {
    (void)f_.aclDestroyAclOpExecutor(executor);
  }
  return s;
}

Status OperatorCall::Launch(void* const* at, void* workspace, uint64_t room, Stream stream) const {
  uint64_t bytes = 0;
  Executor* executor = nullptr;
  Made made(f_, at);
  const Status s = First(&made, &bytes, &executor);
  if (s != kSuccess) return s;
  if (bytes > room) return kInternal;  // more than it told before
  return Second(bytes > 0 ? workspace : nullptr, bytes, executor, stream);
}

}  // namespace ge_engines::ascend::acl
