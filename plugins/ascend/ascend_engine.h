// AscendEngine: the engine ascend, over plugins/device and the vendor's runtime and operators. A
// unit becomes calls of two-phase operators, which a rehearsal tells of at a query. Its options are
// those of plugins/device and
//   libraries=DIR    the folder of the vendor's libraries ($ASCEND_HOME_PATH/lib64, then where the
//                    linker looks)
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
  void Record(const Unit& unit, device::Recorder* recorder) const override;

 private:
  bool HasTypes(const Unit& unit, const Parser& parser, bool one_float, Why* why) const;
  const AscendDriver& ascend_;
};

}  // namespace ge_engines::ascend
