// Values of a run in pieces as members of a capsule: tensors as `.npy`, texts as a JSON list,
// sequences and maps as what is in them. One thread at a time.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"
#include "ge/control/value.h"
#include "ge/run/tensor_view.h"

namespace ge {

// Writes equal tensors once: loops hand the same ones to each trip.
class ValueMembers {
 public:
  explicit ValueMembers(CapsuleWriter* writer) : writer_(*writer) {}
  // Appends what describes the value to `list`; `stem` is the member's name without its ending.
  // UNSUPPORTED for a function as a value.
  Status Write(const FlowValue& value, const std::string& name, const std::string& stem,
               std::vector<CapsuleTensor>* list);
  Status Write(const TensorView& tensor, const std::string& name, const std::string& stem,
               std::vector<CapsuleTensor>* list);
  // Of a tensor that is written already, for later ones like it.
  void Learn(const CapsuleTensor& tensor, const void* data, uint64_t bytes);

 private:
  Status WriteStrings(const FlowValue& value, const std::string& name, const std::string& stem,
                      std::vector<CapsuleTensor>* list);
  CapsuleWriter& writer_;
  std::map<std::string, std::string> members_;  // by type and digest of the content
};

// The values that such a list describes, as they lie in the file; they live as long as the reader.
// DATA_CORRUPT with capsule, member and field.
Result<std::vector<FlowValue>> ReadValueMembers(const CapsuleReader& capsule,
                                                const std::vector<CapsuleTensor>& list);

}  // namespace ge
