// AscendEngine: the engine ascend, over plugins/device and the vendor's runtime and operators. A
// unit becomes calls of two-phase operators, which a rehearsal tells of at a query. Its options are
// those of plugins/device and
//   libraries=DIR    the folder of the vendor's libraries ($ASCEND_HOME_PATH/lib64, then where the
//                    linker looks)
//   formats=plain    images lie plain; private: convolutions and pools read and make NC1HWC0, and
//                    products read constants in FRACTAL_NZ, which nobody has tried on a chip
//                    (private on the simulator, else plain; plain on a chip that is not known)
#pragma once

#include <memory>
#include <string>

#include "plugins/ascend/ascend_driver.h"
#include "plugins/ascend/families/family.h"
#include "plugins/device/engine.h"

namespace ge_engines::ascend {

class AscendEngine final : public device::Engine {
 public:
  AscendEngine(const ge_create_args& args, std::unique_ptr<AscendDriver> driver);
  static std::unique_ptr<AscendEngine> Make(const ge_create_args& args);
  ~AscendEngine() override;

  std::span<const UnitKind* const> Kinds() const override;
  bool Halves() const override { return true; }
  bool Takes(const Unit& unit, const Parser& parser, Why* why) const override;
  device::Rates RatesOf(int device) const override;
  device::Work WorkFor(const Unit& unit, const Parser& parser) const override;
  void Record(const Unit& unit, device::Recorder* r) const override {
    (void)Added(unit, r->parser(), r);
  }
  std::span<const LayoutTag> Layouts() const override;
  std::optional<LayoutTag> Prefers(const Unit& unit, const Parser& parser) const override;
  bool KeepsLayout(const Unit& unit, const Parser& parser) const override;
  void RecordConversion(const device::Conversion& conversion, const device::Ref& from,
                        const device::Ref& to, device::Recorder* recorder) const override;

 private:
  bool HasTypes(const Unit& unit, const Parser& parser, Why* why) const;
  // What records a unit, or without a recorder rehearses it; throws Declined.
  Calls Added(const Unit& unit, const Parser& parser, device::Recorder* recorder) const;
  bool HasFormats() const;
  const AscendDriver& ascend_;
  const std::string formats_;  // the option
};

}  // namespace ge_engines::ascend
