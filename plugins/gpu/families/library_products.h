// LibraryProducts: products of matrices by cuBLASLt, where it is. A unit is one call: the product
// and as much of what follows as the library takes with it, a bias, an activation, a tensor that is
// added; a chain of our own does the rest. One thread at a time takes and records.
#pragma once

#include "plugins/device/rates.h"
#include "plugins/device/recorder.h"
#include "plugins/gpu/cublaslt_library.h"
#include "plugins/units/unit.h"

namespace ge_engines::gpu {

class LibraryProducts {
 public:
  // `may_round`: float32 may be rounded (GE_OFFER_ROUNDS).
  LibraryProducts(const CublasLtLibrary& library, bool may_round)
      : library_(library), may_round_(may_round) {}

  static bool Knows(const Unit& unit);  // it is of this kind
  // Whether the library makes such a unit; opens it at the first one.
  bool Has(const Unit& unit, const Parser& parser) const;
  bool Rounds(const Unit& unit, const Parser& parser) const;
  // What is left of a unit behind the library's call.
  Unit Rest(const Unit& unit, const Parser& parser) const;
  // Sets what the product costs by the library, or by our own kernel.
  void Price(const Unit& unit, const Parser& parser, device::Work* work) const;
  // Adds the kernels; false where the library has no algorithm, which the log says.
  bool Record(const Unit& unit, int device, device::Recorder* recorder) const;

 private:
  const CublasLtLibrary& library_;
  const bool may_round_;
};

}  // namespace ge_engines::gpu
