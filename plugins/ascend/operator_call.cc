#include "plugins/ascend/operator_call.h"

#include "plugins/ascend/data_types.h"
#include "plugins/device/engine.h"

namespace ge_engines::ascend {
namespace {

// In place of an address that nobody knows yet; phase one reads none.
void* const kNoAddress = reinterpret_cast<void*>(uintptr_t{512});

}  // namespace

Form Form::Dense(const Dims& dims, acl::DataType type) {
  Form form;
  form.dims = dims;
  form.strides = StridesOf(dims);
  form.type = type;
  form.storage = dims;
  return form;
}

Objects::~Objects() {
  for (const auto* list : lists_) (void)f_.aclDestroyTensorList(list);
  for (const auto* tensor : tensors_) (void)f_.aclDestroyTensor(tensor);
  for (const auto* scalar : scalars_) (void)f_.aclDestroyScalar(scalar);
  for (const auto* array : arrays_) (void)f_.aclDestroyIntArray(array);
}

acl::Tensor* Objects::MakeTensor(const TensorAt& given, std::span<const device::Buffer> at) const {
  if (given.place == TensorAt::kNone) return nullptr;
  const Form& form = given.form;
  void* data = at.empty() ? kNoAddress : at[given.place].data;
  return f_.aclCreateTensor(form.dims.data(), form.dims.size(), form.type, form.strides.data(),
                            form.offset, form.format, form.storage.data(), form.storage.size(),
                            data);
}

acl::Tensor* Objects::Make(const TensorAt& given, std::span<const device::Buffer> at) {
  acl::Tensor* made = MakeTensor(given, at);
  if (made != nullptr) tensors_.push_back(made);
  return made;
}

acl::Scalar* Objects::Make(const ScalarOf& given, std::span<const device::Buffer>) {
  union {
    float real;
    int32_t whole;
    int64_t wide;
    bool flag;
  } value = {};
  switch (given.type) {
    case acl::kI32:
      value.whole = static_cast<int32_t>(given.value);
      break;
    case acl::kI64:
      value.wide = static_cast<int64_t>(given.value);
      break;
    case acl::kBool:
      value.flag = given.value != 0;
      break;
    default:
      value.real = static_cast<float>(given.value);
  }
  scalars_.push_back(f_.aclCreateScalar(&value, given.type));
  return scalars_.back();
}

acl::IntArray* Objects::Make(const Dims& given, std::span<const device::Buffer>) {
  arrays_.push_back(f_.aclCreateIntArray(given.data(), given.size()));
  return arrays_.back();
}

acl::TensorList* Objects::Make(const std::vector<TensorAt>& given,
                               std::span<const device::Buffer> at) {
  std::vector<const acl::Tensor*> tensors;
  for (const TensorAt& one : given) tensors.push_back(MakeTensor(one, at));  // the list's from here
  lists_.push_back(f_.aclCreateTensorList(tensors.data(), tensors.size()));
  return lists_.back();
}

Calls::Calls(const AscendDriver& driver, device::Recorder* recorder)
    : driver_(driver), recorder_(*recorder), device_(recorder->number()) {}

TensorAt Calls::Place(const device::Use& use, Form form) {
  uses_.push_back(use);
  return {uses_.size() - 1, std::move(form)};
}
TensorAt Calls::In(const device::Ref& ref, Form form) {
  return Place(device::Reads(ref), std::move(form));
}
TensorAt Calls::Out(const device::Ref& ref, Form form) {
  return Place(device::Writes(ref), std::move(form));
}
TensorAt Calls::InOut(const device::Ref& ref, Form form) {
  return Place({ref, true, true}, std::move(form));
}

Form Calls::FormOf(uint32_t value) const { return FormOf(value, parser().dims(value)); }
Form Calls::FormOf(uint32_t value, const Dims& dims) const {
  return Form::Dense(dims, DataTypeOf(parser().dtype(value)));
}
TensorAt Calls::In(uint32_t value) { return In(recorder_.Read(value), FormOf(value)); }
TensorAt Calls::Out(uint32_t value) { return Out(recorder_.Write(value), FormOf(value)); }

void Calls::Refuse(Result result) const {
  throw std::runtime_error(const_cast<AscendDriver&>(driver_).ErrorText(result));
}

void Calls::AddStep(std::unique_ptr<device::Kernel> call, uint64_t workspace) {
  if (workspace > 0) uses_.push_back(device::Writes(recorder_.Workspace(workspace)));
  recorder_.Add(std::move(call), std::move(uses_));
  uses_.clear();
}

}  // namespace ge_engines::ascend
