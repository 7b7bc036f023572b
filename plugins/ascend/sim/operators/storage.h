// Where tensors lie: what a storage and a view of it span. Pure; any thread.
#pragma once

#include <string>
#include <vector>

#include "plugins/ascend/sim/objects/objects.h"
#include "plugins/device/sim/simulator.h"

namespace ge_engines::ascend::sim {

uint64_t BytesOf(acl::DataType type);  // of an element; 0: there is no such dtype
bool IsPrivate(acl::Format format);
bool IsEmpty(const acl::Tensor& tensor);
uint64_t StorageBytes(const acl::Tensor& tensor);
// Empty, or what is wrong with its dims, strides and storage: whatever the operator.
std::string WrongStorage(const acl::Tensor& tensor);
// Bytes that the view holds, as ranges in their order: one where they are very many.
std::vector<device::sim::Range> RangesOf(const acl::Tensor& tensor);

}  // namespace ge_engines::ascend::sim
