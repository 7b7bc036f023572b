// Calls: what a unit's record function adds calls of operators with. Without a recorder it is a
// rehearsal, by which the engine learns whether there are operators for a unit, and how many: what
// is taken and what is recorded are told by one function. Used once for a unit, by one thread.
#pragma once

#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "plugins/ascend/api/call.h"
#include "plugins/ascend/ascend_driver.h"
#include "plugins/device/channel_pack.h"

namespace ge_engines::ascend {

using acl::Form;
using acl::ScalarOf;

// A tensor of a call: where it lies, and how it is looked at. Whether it is read or written follows
// from its place among the operator's parameters; one that is written may also be read.
struct Operand {
  device::Ref ref;
  Form form;
  bool given = false;  // else it is left out
  bool changed = false;
};
// What is written is read before.
inline Operand Changed(Operand operand) {
  operand.changed = true;
  return operand;
}
// A number for calls that make `y`: of integers one of theirs.
inline ScalarOf NumberFor(const Operand& y, double value) {
  const bool whole = y.form.type == acl::kI32 || y.form.type == acl::kI64;
  return {value, whole ? y.form.type : acl::kF32};
}
inline ScalarOf Real(double value) { return {value, acl::kF32}; }
inline ScalarOf Whole(int64_t value) { return {static_cast<double>(value), acl::kI64}; }

// There is no operator for a unit.
struct Declined : std::runtime_error {
  Declined(uint32_t why, const std::string& text) : std::runtime_error(text), code(why) {}
  uint32_t code;  // GE_WHY_*
};

class Calls {
 public:
  // `unit`: nullptr for a conversion. `formats`: whether private ones may be used. `recorder`:
  // nullptr for a rehearsal.
  Calls(const AscendDriver& driver, const Unit* unit, bool formats, const Parser& parser,
        device::Recorder* recorder)
      : driver_(driver), unit_(unit), formats_(formats), parser_(parser), recorder_(recorder) {}
  const Parser& parser() const { return parser_; }
  const acl::Operators& op() const { return driver_.api().operators(); }
  bool formats() const { return formats_; }
  uint32_t count() const { return count_; }
  uint64_t packed() const { return packed_; }  // bytes beyond those of the constants themselves

  [[noreturn]] static void Refuse(uint32_t why, const std::string& text) {
    throw Declined(why, text);
  }

  // A value as it lies, dense or in blocks; plain ones as an image where windows move over it.
  Form FormOf(uint32_t value, bool image = false) const;
  Form ImageOf(uint32_t value) const { return FormOf(value, true); }
  Form DenseOf(uint32_t value, const Dims& dims) const { return Form::Dense(dims, TypeOf(value)); }
  acl::DataType TypeOf(uint32_t value) const;
  // One that is read, a result, and what calls of this unit hand to each other.
  Operand In(uint32_t value) { return In(value, FormOf(value)); }
  Operand In(uint32_t value, Form form);
  Operand Out(uint32_t value) { return Out(value, FormOf(value)); }
  Operand Out(uint32_t value, Form form);
  Operand Between(const Form& form);
  // See device::ChannelPack.
  Operand ChannelPack(const Unit& unit, size_t norm, device::ChannelNumber which);
  // A tensor of one number, in so many dims.
  Operand One(double value, acl::DataType type, size_t rank);
  // In float32: the operand itself, or a cast one.
  Operand Wide(const Operand& x);
  // A constant matrix, or its transpose, in FRACTAL_NZ.
  Operand FractalPack(uint32_t value, bool transposed);
  void Convert(const device::Conversion& conversion, const device::Ref& from,
               const device::Ref& to);

  // Adds a call. Throws std::runtime_error with the library's text where it refuses the arguments.
  template <class... P>
  void Add(const acl::TwoPhase<acl::Status (*)(P...)>& op,
           typename acl::KeptAs<P, Operand>::Type... given) {
    if (op.first == nullptr) {
      Refuse(GE_WHY_OP, std::string("the library has no operator ") + op.name);
    }
    ++count_;
    if (recorder_ == nullptr) return;
    std::vector<device::Use> uses;
    auto call = std::make_unique<acl::CallOf<P...>>(
        driver_.api().objects(), op, Placed(given, std::is_same_v<P, acl::Out>, &uses)...);
    AddStep(op.name, std::move(call), std::move(uses));
  }

 private:
  static acl::TensorAt Placed(const Operand& operand, bool written, std::vector<device::Use>* uses);
  static std::vector<acl::TensorAt> Placed(const std::vector<Operand>& operands, bool written,
                                           std::vector<device::Use>* uses);
  template <class T>
  static T Placed(T given, bool, std::vector<device::Use>*) {
    return given;
  }
  void AddStep(const char* name, std::unique_ptr<acl::OperatorCall> call,
               std::vector<device::Use> uses);

  LayoutTag TagOf(uint32_t value) const;

  const AscendDriver& driver_;
  const Unit* const unit_;
  const bool formats_;
  const Parser& parser_;
  device::Recorder* const recorder_;
  uint32_t count_ = 0;
  uint64_t packed_ = 0;
  std::map<uint32_t, device::Ref> made_;  // results that have their place
};

}  // namespace ge_engines::ascend
