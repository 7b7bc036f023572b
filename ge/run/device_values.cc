#include "ge/run/device_values.h"

#include <algorithm>

namespace ge {

std::span<const ge_buf> DeviceValues::ToHost(const Plan& plan,
                                             const std::vector<RunEngine>& engines,
                                             ge_stream* stream, std::span<const ge_buf> written) {
  const auto elsewhere = [](const ge_buf& b) { return b.domain != 0; };
  if (std::none_of(written.begin(), written.end(), elsewhere)) return written;
  bufs_.assign(written.begin(), written.end());
  memory_.clear();
  for (ge_buf& b : bufs_) {
    if (b.domain == 0 || b.domain >= plan.domains.size()) continue;
    const RunEngine& e = engines[plan.domains[b.domain].engine];
    AlignedBytes memory = AllocateAligned(b.bytes, 64);
    if (e.api.copy == nullptr || !memory) continue;
    ge_copy copy{};
    copy.h = GE_HDR(ge_copy, GE_TAG_COPY);
    copy.stream = stream;
    copy.src = b;
    copy.dst = b;
    copy.dst.ptr = memory.get();
    copy.dst.mem = nullptr;
    copy.dst.offset = 0;
    copy.dst.domain = 0;
    ge_err ignored{};
    ignored.h = GE_HDR(ge_err, GE_TAG_ERR);
    if (b.bytes > 0 && e.api.copy(e.engine, &copy, &ignored) != GE_OK) continue;
    b = copy.dst;
    memory_.push_back(std::move(memory));
  }
  return bufs_;
}

}  // namespace ge
