// Tensors of a run in a capsule, each a `.npy` member. Any thread may call.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "ge/base/status.h"
#include "ge/capsule/manifest.h"
#include "ge/capsule/store/capsule_reader.h"
#include "ge/capsule/store/capsule_writer.h"

namespace ge {

// `tensor` says member, type and dims; the bytes are dense and row-major.
Status WriteTensorMember(const CapsuleTensor& tensor, std::span<const std::byte> bytes,
                         CapsuleWriter* writer);

// The bytes, where the file is mapped; they live as long as the reader. DATA_CORRUPT with capsule,
// member and field where they are not what `tensor` says.
Result<std::span<const std::byte>> ReadTensorMember(const CapsuleReader& capsule,
                                                    const CapsuleTensor& tensor);

}  // namespace ge
