#include "plugins/ascend/calls.h"

#include "plugins/ascend/api/data_types.h"
#include "plugins/ascend/api/formats.h"

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

uint64_t AlignedBytes(const Form& form) {
  constexpr uint64_t kAlign = 256;
  return (BytesOf(form) + kAlign - 1) / kAlign * kAlign;
}

}  // namespace

acl::DataType Calls::TypeOf(uint32_t value) const {
  acl::DataType type;
  if (!FindDataType(parser_.dtype(value), &type))
    Refuse(GE_WHY_DTYPE, "the vendor has no such dtype");
  return type;
}

LayoutTag Calls::TagOf(uint32_t value) const {
  if (recorder_ == nullptr || unit_ == nullptr) return {};
  return device::IsLaidOut(*unit_, parser_, value) ? recorder_->LayoutOf(*unit_) : LayoutTag();
}

Form Calls::FormOf(uint32_t value, bool image) const {
  const Dims dims = parser_.dims(value);
  const acl::DataType type = TypeOf(value);
  if (!TagOf(value).plain()) return Form::Blocked(dims, type);
  return image ? Form::Image(dims, type) : Form::Dense(dims, type);
}

Operand Calls::In(uint32_t value, Form form) {
  if (const auto m = made_.find(value); m != made_.end()) return {m->second, std::move(form), true};
  return {recorder_ == nullptr ? device::Ref() : recorder_->Read(value, TagOf(value)),
          std::move(form), true};
}

Operand Calls::Out(uint32_t value, Form form) {
  const auto [at, fresh] = made_.try_emplace(value);
  if (fresh && recorder_ != nullptr) at->second = recorder_->Write(value, TagOf(value));
  return {at->second, std::move(form), true};
}

Operand Calls::Between(const Form& form) {
  return {recorder_ == nullptr ? device::Ref() : recorder_->Between(BytesOf(form)), form, true};
}

Operand Calls::ChannelPack(const Unit& unit, size_t norm, device::ChannelNumber which) {
  const Form form = Form::Dense({unit.dims[1]}, acl::kF32);
  packed_ += AlignedBytes(form);
  if (recorder_ == nullptr) return {device::Ref(), form, true};
  return {device::ChannelPack(unit, norm, which, recorder_), form, true};
}

Operand Calls::One(double value, acl::DataType type, size_t rank) {
  const Operand one = Between(Form::Dense(Dims(rank, 1), type));
  Add(op().InplaceFillScalar, one, NumberFor(one, value));
  return one;
}

Operand Calls::Wide(const Operand& x) {
  if (x.form.type == acl::kF32) return x;
  const bool blocks = x.form.format == acl::kNc1hwc0;
  const Operand wide =
      Between(blocks ? Form::Blocked(x.form.dims, acl::kF32) : Form::Dense(x.form.dims, acl::kF32));
  Add(op().Cast, x, acl::kF32, wide);
  return wide;
}

Operand Calls::FractalPack(uint32_t value, bool transposed) {
  Dims dims = parser_.dims(value);
  if (transposed) std::swap(dims[0], dims[1]);
  const Form form = Form::Fractal(dims, TypeOf(value));
  packed_ += AlignedBytes(form);
  if (recorder_ == nullptr) return {device::Ref(), form, true};
  const uint64_t size = SizeOf(form.type);
  const std::string key = acl::FractalKey(transposed, dims[0], dims[1], size);
  const auto fill = [transposed, dims, size](const void* const* from, void* to) {
    acl::FillFractal(from[0], transposed, dims[0], dims[1], size, to);
  };
  return {recorder_->Pack({value}, key, BytesOf(form), fill, GE_PACK_ANY_BYTES, true), form, true};
}

// By copies of strided looks, since no operator between ND and NC1HWC0 is known.
void Calls::Convert(const device::Conversion& conversion, const device::Ref& from,
                    const device::Ref& to) {
  acl::DataType type;
  if (!FindDataType(conversion.dtype, &type)) {
    throw std::runtime_error("no operator changes the layout of such a dtype");
  }
  const bool from_blocks = !conversion.from.plain(), to_blocks = !conversion.to.plain();
  const Form padding = acl::PaddingOf(conversion.dims, type);
  if (to_blocks && !padding.dims.empty()) Add(op().InplaceZero, Operand{to, padding, true});
  for (const auto& [plain, blocked] : acl::PiecesOf(conversion.dims, type)) {
    Add(op().InplaceCopy, Operand{to, to_blocks ? blocked : plain, true},
        Operand{from, from_blocks ? blocked : plain, true});
  }
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
  const Result r = driver_.Within(recorder_->number(),
                                  [&] { return driver_.api().workspaces().Of(*call, &bytes); });
  if (!r.ok()) {
    throw std::runtime_error(std::string("the operator ") + name + ": " +
                             const_cast<AscendDriver&>(driver_).ErrorText(r));
  }
  if (bytes > 0) uses.push_back(device::Writes(recorder_->Workspace(bytes)));
  recorder_->Add(std::make_unique<OperatorStep>(driver_, std::move(call), bytes), std::move(uses));
}

}  // namespace ge_engines::ascend
