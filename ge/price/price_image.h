// The file of a machine's prices: rows sorted by what they are looked up by, with an index, then
// rows as processes have appended them since. In this order: a head, blocks of the index of
// signatures, blocks of the index of scopes, the logs of scopes, records (price_record.h) of the
// rows by signature, records of the tail. Everything but the tail is written once. The head, each
// block, the logs of each scope and each record have a check of their own; without a head, or with
// a damaged one, the records alone still say everything. Numbers are in this processor's order.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "ge/base/status.h"
#include "ge/host/probe.h"
#include "ge/price/price_record.h"
#include "ge/price/prior_scale.h"

namespace ge {

// An index is blocks of entries sorted by key; the head has the first key of each block.
struct IndexEntry {
  uint64_t key = 0, at = 0;
  // Of a signature: bytes and number of its rows, and IndexedSize of those that are sound alone.
  // Of a scope: its logs, sound ones first, each sorted, and their check.
  uint32_t first = 0, second = 0;
  uint64_t more = 0;
};
struct IndexBlock {
  static constexpr size_t kEntries = 127;
  uint64_t check = 0;  // of all behind it
  uint64_t count = 0;
  IndexEntry entries[kEntries];
};
static_assert(sizeof(IndexBlock) == 4080);

// A set of sizes in binary digits, each to the nearest: two that share a digit or have neighbouring
// ones are alike.
inline uint64_t IndexedSize(double size) {
  return uint64_t{1} << (static_cast<int>(size + 0.5) & 63);
}
inline bool HasLikeSize(uint64_t sizes, double size) {
  const uint64_t one = IndexedSize(size);
  return (sizes & (one | one << 1 | one >> 1)) != 0;
}

struct ImagePart {
  uint64_t at = 0, bytes = 0;
  uint64_t end() const { return at + bytes; }
};

// What the head says.
struct ImageHead {
  std::string cpu;
  uint32_t isa = 0, threads = 0;
  uint64_t bytes = 0;  // of the head
  ImagePart signatures, scopes, logs, rows;
  uint64_t row_count = 0;
  std::vector<uint64_t> signature_keys, scope_keys;  // the first of each block
  // An engine, and by how much its rows are beyond its priors; `priors` tells which these were.
  struct Book {
    PriceBook name;
    uint64_t priors = 0;
    std::vector<PriorScale::Term> scale;
  };
  std::vector<Book> books;

  bool IsAbout(const MachineRecord& machine) const;
  std::string ToBytes() const;
};

// Enough for most heads.
inline constexpr uint64_t kHeadBytes = uint64_t{1} << 15;
// What the first bytes of a file, kBeginBytes at least, tell of it. DATA_CORRUPT where they are
// none of ours, FAILED_PRECONDITION for another format.
struct ImageBegin {
  uint64_t head_bytes = 0;
  uint64_t least_bytes = 0;  // where the tail begins; a shorter file was cut
};
inline constexpr uint64_t kBeginBytes = 40;
Result<ImageBegin> BeginOf(std::string_view bytes);
// `bytes` as many as that. DATA_CORRUPT.
Result<ImageHead> HeadOf(std::string_view bytes);

// Rows of one offer are joined by the caller. `books`: what is known of scales; books of rows are
// added to it. The answer ends where the tail begins.
std::string MakeImage(const MachineRecord& machine, std::vector<RowView> rows,
                      std::vector<ImageHead::Book> books);

}  // namespace ge
