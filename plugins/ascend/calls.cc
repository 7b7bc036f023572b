#include "plugins/ascend/calls.h"

#include "plugins/ascend/api/data_types.h"

namespace ge_engines::ascend {
namespace {

// Its places: the call's tensors, then its workspace where it has one.
class OperatorStep final : public device::Kernel {
 public:
  OperatorStep(const AscendDriver& driver, std::unique_ptr<acl::OperatorCall> call,
               uint64_t workspace)
      : driver_(driver), call_(std::move(call)), workspace_(workspace) {}
  device::Result Queue(const device::Call& c) const override {
    void* at[device::kMostUses];
    for (size_t k = 0; k < c.at.size(); ++k) at[k] = c.at[k].data;
    return driver_.Within(c.device, [&] {
      return call_->Launch(at, workspace_ > 0 ? at[c.at.size() - 1] : nullptr, workspace_,
                           reinterpret_cast<acl::Stream>(c.stream));
    });
  }
  bool capturable() const override { return false; }

 private:
  const AscendDriver& driver_;
  const std::unique_ptr<acl::OperatorCall> call_;
  const uint64_t workspace_;
};

uint64_t BytesOf(const Form& form) {
  return static_cast<uint64_t>(Product(form.storage)) * SizeOf(form.type);
}

}  // namespace

Calls::Calls(const AscendDriver& driver, const Parser& parser, device::Recorder* recorder)
    : driver_(driver), parser_(parser), recorder_(recorder) {}

acl::DataType Calls::TypeOf(uint32_t value) const {
  acl::DataType type;
  if (!FindDataType(parser_.dtype(value), &type))
    Refuse(GE_WHY_DTYPE, "the vendor has no such dtype");
  return type;
}

Operand Calls::In(uint32_t value, Form form) {
  for (const auto& [made, ref] : made_) {
    if (made == value) return {ref, std::move(form), true};
  }
  return {recorder_ == nullptr ? device::Ref() : recorder_->Read(value), std::move(form), true};
}

Operand Calls::Out(uint32_t value, Form form) {
  for (const auto& [made, ref] : made_) {
    if (made == value) return {ref, std::move(form), true};
  }
  made_.emplace_back(value, recorder_ == nullptr ? device::Ref() : recorder_->Write(value));
  return {made_.back().second, std::move(form), true};
}

Operand Calls::Between(const Form& form) {
  return {recorder_ == nullptr ? device::Ref() : recorder_->Between(BytesOf(form)), form, true};
}

Operand Calls::ChannelPack(const Unit& unit, size_t norm, device::ChannelNumber which) {
  const Form form = Form::Dense({unit.dims[1]}, acl::kF32);
  if (recorder_ == nullptr) return {device::Ref(), form, true};
  return {device::ChannelPack(unit, norm, which, recorder_), form, true};
}

Operand Calls::One(double value, acl::DataType type) {
  const Operand one = Between(Form::Dense({1}, type));
  const bool whole = type == acl::kI32 || type == acl::kI64;
  Add(op().InplaceFillScalar, one, ScalarOf{value, whole ? type : acl::kF32});
  return one;
}

Operand Calls::Wide(const Operand& x) {
  if (x.form.type == acl::kF32) return x;
  const Operand wide = Between(Form::Dense(x.form.dims, acl::kF32));
  Add(op().Cast, x, acl::kF32, wide);
  return wide;
}

void Calls::View(uint32_t result, uint32_t value) {
  if (recorder_ != nullptr) recorder_->View(result, value);
}

acl::TensorAt Calls::Placed(const Operand& operand, bool written, std::vector<device::Use>* uses) {
  if (!operand.given) return {};
  uses->push_back({operand.ref, !written || operand.changed, written});
  return {uses->size() - 1, operand.form};
}

std::vector<acl::TensorAt> Calls::Placed(const std::vector<Operand>& operands, bool written,
                                         std::vector<device::Use>* uses) {
  std::vector<acl::TensorAt> placed;
  for (const Operand& operand : operands) placed.push_back(Placed(operand, written, uses));
  return placed;
}

void Calls::AddStep(const char* name, std::unique_ptr<acl::OperatorCall> call,
                    std::vector<device::Use> uses) {
  uint64_t bytes = 0;
  const Result r = driver_.Within(recorder_->number(), [&] { return call->Workspace(&bytes); });
  if (!r.ok()) {
    throw std::runtime_error(std::string("the operator ") + name + ": " +
                             const_cast<AscendDriver&>(driver_).ErrorText(r));
  }
  if (bytes > 0) uses.push_back(device::Writes(recorder_->Workspace(bytes)));
  recorder_->Add(std::make_unique<OperatorStep>(driver_, std::move(call), bytes), std::move(uses));
}

}  // namespace ge_engines::ascend
