#include "passes/data/sources/inflate.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <new>

namespace ge::data {

namespace {
constexpr uint64_t kAtOnce = 4 << 20;  // between two looks at the caller's stop: some 20 ms
}

struct Inflater::Stream {
  z_stream z{};
};

Inflater::Inflater(std::string what, std::span<const std::byte> packed, Form form,
                   const OpenOptions& options)
    : what_(std::move(what)),
      packed_(packed),
      options_(options),
      stream_(std::make_unique<Stream>()) {
  const int bits = form == Form::kGzip ? 16 + MAX_WBITS : -MAX_WBITS;
  if (inflateInit2(&stream_->z, bits) != Z_OK) throw std::bad_alloc();
}

Inflater::~Inflater() { inflateEnd(&stream_->z); }

uint64_t Inflater::Some(std::span<std::byte> out) {
  CheckStop(options_);
  z_stream& z = stream_->z;
  if (z.avail_in == 0 && taken_ < packed_.size()) {
    const auto part = packed_.subspan(taken_, std::min(kAtOnce, packed_.size() - taken_));
    taken_ += part.size();
    // zlib's interface is not const; it only reads.
    z.next_in = reinterpret_cast<Bytef*>(const_cast<std::byte*>(part.data()));
    z.avail_in = static_cast<uInt>(part.size());
  }
  const auto room = static_cast<uInt>(std::min<uint64_t>(out.size(), kAtOnce));
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = room;
  const int rc = inflate(&z, Z_NO_FLUSH);
  ended_ = rc == Z_STREAM_END;
  if (rc != Z_OK && !ended_) {
    throw Refusal{GE_DATA_LOSS, fmt::format("{}: the deflated bytes are damaged or cut", what_)};
  }
  return room - z.avail_out;
}

void Inflater::Read(std::span<std::byte> out) {
  while (!out.empty()) {
    if (ended_) {
      throw Refusal{GE_DATA_LOSS,
                    fmt::format("{}: the deflated bytes end {} bytes early", what_, out.size())};
    }
    out = out.subspan(Some(out));
  }
}

void Inflater::Finish() {
  std::byte more;
  while (!ended_) {
    if (Some({&more, 1}) != 0) {
      throw Refusal{GE_DATA_LOSS, fmt::format("{}: it inflates to more bytes than it says", what_)};
    }
  }
}

uint32_t Crc32(std::span<const std::byte> bytes, const OpenOptions& options) {
  uLong sum = 0;
  for (uint64_t at = 0; at < bytes.size(); at += kAtOnce) {
    CheckStop(options);
    const auto part = bytes.subspan(at, std::min(kAtOnce, bytes.size() - at));
    sum = crc32_z(sum, reinterpret_cast<const Bytef*>(part.data()), part.size());
  }
  return static_cast<uint32_t>(sum);
}

}  // namespace ge::data
