#include "ge/capsule/tensor_members.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <string_view>

#include "ge/base/checked.h"
#include "ge/capsule/npy.h"

namespace ge {

Status WriteTensorMember(const CapsuleTensor& tensor, std::span<const std::byte> bytes,
                         CapsuleWriter* writer) {
  const std::string head = NpyHead(tensor.dtype, tensor.dims, bytes.size());
  const std::string_view parts[] = {head,
                                    {reinterpret_cast<const char*>(bytes.data()), bytes.size()}};
  return writer->Add(tensor.member, parts);
}

Result<std::span<const std::byte>> ReadTensorMember(const CapsuleReader& capsule,
                                                    const CapsuleTensor& tensor) {
  const auto refuse = [&](std::string_view text) {
    return Status(Code::kDataCorrupt, fmt::format("capsule '{}': member '{}': {}", capsule.path(),
                                                  tensor.member, text));
  };
  GE_ASSIGN_OR_RETURN(const auto bytes, capsule.Read(tensor.member));
  const auto array = ParseNpy(bytes);
  if (!array.ok()) return refuse("as an .npy file " + array.status().message());
  const auto count = CheckedProduct(tensor.dims);
  const auto wanted = count ? DTypeBytes(tensor.dtype, *count) : std::nullopt;
  if (!wanted) return refuse("the size that the manifest says does not fit in 63 bits");
  if (static_cast<uint64_t>(*wanted) != array->data.size()) {
    return refuse(
        fmt::format("it has {} bytes behind its header, wanted {}", array->data.size(), *wanted));
  }
  const auto element = static_cast<uint64_t>(DTypeBytes(tensor.dtype, 1).value_or(1));
  return capsule.Aligned(array->data, std::bit_floor(std::max<uint64_t>(element, 1)));
}

}  // namespace ge
