#include "plugins/comm/mpi/reduction.h"

#include <algorithm>
#include <cstring>

#include "ge/ge_plugin.hpp"

namespace ge_engines::mpi {
namespace {

constexpr uint64_t kPiece = 512 << 10;  // bytes of one rank's part; two of them stay in L2

}  // namespace

Reduction::Reduction(const Library* mpi, MPI_Comm comm, size_t place, int32_t dtype, MPI_Op op,
                     const std::vector<uint64_t>& block, bool gathers)
    : mpi_(*mpi),
      comm_(comm),
      place_(place),
      each_(ge::plugin::ElementBits(dtype) / 8),
      type_(mpi->Reduced(dtype)),
      op_(op),
      gathers_(gathers) {
  std::vector<int> first;
  int next = 0;
  for (const uint64_t n : block) {
    first.push_back(next);
    next += static_cast<int>(n);
  }
  own_ = first[place];
  const uint64_t most = *std::max_element(block.begin(), block.end());
  const uint64_t step = std::max<uint64_t>(kPiece / each_, 1);
  for (uint64_t at = 0; at < most; at += step) {
    Piece p;
    const auto part = [&](uint64_t n) {
      return static_cast<int>(at >= n ? 0 : std::min(step, n - at));
    };
    for (size_t r = 0; r < block.size(); ++r) {
      p.to_at.push_back(first[r] + static_cast<int>(std::min(at, block[r])));
      p.to_count.push_back(part(block[r]));
      p.from_count.push_back(part(block[place]));
      p.from_at.push_back(static_cast<int>(r) * p.from_count.back());
    }
    p.first = p.to_at[place];
    p.count = p.to_count[place];
    room_bytes_ = std::max(room_bytes_, block.size() * static_cast<uint64_t>(p.count) * each_);
    piece_.push_back(std::move(p));
  }
  room_bytes_ = (room_bytes_ + 64) / 64 * 64;
}

std::string Reduction::Exchange(size_t i) {
  if (i >= piece_.size()) return {};
  Piece& p = piece_[i];
  const int code =
      mpi_.ialltoallv(from_, p.to_count.data(), p.to_at.data(), type_, RoomOf(i),
                      p.from_count.data(), p.from_at.data(), type_, comm_, &p.exchanged);
  return code == MPI_SUCCESS ? std::string() : mpi_.Said("MPI_Ialltoallv", code);
}

std::string Reduction::Begin(const void* from, void* to, char* room) {
  from_ = static_cast<const char*>(from);
  to_ = static_cast<char*>(to);
  room_ = room;
  added_ = gathered_ = 0;
  for (size_t i = 0; i < kUnderWay; ++i) {
    if (std::string why = Exchange(i); !why.empty()) return why;
  }
  return {};
}

std::string Reduction::AddUp(const Piece& p, const char* room) {
  const uint64_t bytes = static_cast<uint64_t>(p.count) * each_;
  char* to = to_ + static_cast<uint64_t>(gathers_ ? p.first : p.first - own_) * each_;
  if (bytes > 0) std::memcpy(to, room, bytes);
  for (size_t r = 1; bytes > 0 && r < p.to_at.size(); ++r) {
    const int code = mpi_.reduce_local(room + r * bytes, to, p.count, type_, op_);
    if (code != MPI_SUCCESS) return mpi_.Said("MPI_Reduce_local", code);
  }
  return {};
}

std::string Reduction::Step(bool* done) {
  const auto over = [&](MPI_Request* request, std::string* why) {
    int flag = 0;
    const int code = mpi_.test(request, &flag, MPI_STATUS_IGNORE);
    if (code != MPI_SUCCESS) *why = mpi_.Said("MPI_Test", code);
    return flag != 0 && why->empty();
  };
  std::string why;
  while (added_ < piece_.size() && over(&piece_[added_].exchanged, &why)) {
    Piece& p = piece_[added_];
    if (why = AddUp(p, RoomOf(added_)); !why.empty()) return why;
    if (gathers_) {
      const int code = mpi_.iallgatherv(MPI_IN_PLACE, 0, type_, to_, p.to_count.data(),
                                        p.to_at.data(), type_, comm_, &p.gathered);
      if (code != MPI_SUCCESS) return mpi_.Said("MPI_Iallgatherv", code);
    }
    if (why = Exchange(added_ + kUnderWay); !why.empty()) return why;
    ++added_;
  }
  while (gathers_ && gathered_ < added_ && over(&piece_[gathered_].gathered, &why)) ++gathered_;
  *done = added_ == piece_.size() && (!gathers_ || gathered_ == added_);
  return why;
}

}  // namespace ge_engines::mpi
