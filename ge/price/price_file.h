// PriceFile: the file of this machine's prices as it was when opened. It reads what is asked for,
// and remembers that. What is damaged, or was cut off meanwhile, says nothing; damaged() tells.
// Another file in its place, or a longer tail, does not change it. Not thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "ge/base/descriptor.h"
#include "ge/base/status.h"
#include "ge/host/probe.h"
#include "ge/price/price_fit.h"
#include "ge/price/price_image.h"
#include "ge/price/price_record.h"

namespace ge {

class PriceFile : public PriceFit::Stored {
 public:
  // Beyond it, a file is none of ours.
  static constexpr uint64_t kMostBytes = uint64_t{64} << 20;
  // Null where there is none. DATA_CORRUPT: the head, so that only the records can be read;
  // FAILED_PRECONDITION: of another format or machine; else it cannot be read.
  static Result<std::unique_ptr<PriceFile>> Open(const std::string& path,
                                                 const MachineRecord& machine);

  // The row of exactly this offer in the sorted part, with its family; false where there is none.
  bool Find(const PriceBook& book, std::string_view signature, std::string_view shape,
            PriceRow* out);
  // Calls use(shape, row) for each row of a signature in the sorted part.
  template <class Use>
  void ForEachRow(const PriceBook& book, std::string_view signature, Use use) {
    for (const RowView& row : RowsOf(GroupKeyOf(book.plugin_hash, book.device, signature)).rows) {
      if (row.signature == signature) use(row.shape, row.row);
    }
  }
  // IndexedSize of all rows of a signature that are sound alone.
  uint64_t SoundSizes(const PriceBook& book, std::string_view signature);
  // Records appended since the file was sorted.
  std::string ReadTail();
  // All other records.
  std::string ReadSorted();
  const ImageHead& head() const { return head_; }
  uint64_t tail_bytes() const { return size_ - std::min(size_, head_.rows.end()); }
  uint64_t bytes() const { return size_; }
  bool damaged() const { return damaged_; }
  struct Reads {
    uint64_t rows = 0, bytes = 0;
  };
  Reads reads() const { return reads_; }

  // ---- PriceFit::Stored -------------------------------------------------------------------------
  const std::vector<PriceBook>& Books() override { return books_; }
  void AddSignature(const PriceBook& book, std::string_view signature, int kind,
                    std::vector<LoggedRow>* out) override;
  const ScopeLogs& LogsOf(uint64_t key) override;
  uint64_t SoundRows(uint64_t key) override;

 private:
  struct Signature {
    std::string bytes;
    std::vector<RowView> rows;
  };
  // Null where it cannot be read.
  const IndexBlock* BlockAt(uint64_t at);
  const IndexEntry* FindEntry(const std::vector<uint64_t>& keys, const ImagePart& part,
                              uint64_t key);
  const Signature& RowsOf(uint64_t key);
  // Shorter where the file ends before.
  std::string Read(uint64_t at, uint64_t bytes);
  bool ReadWhole(uint64_t at, uint64_t bytes, std::string* out);

  Descriptor fd_;
  uint64_t size_ = 0;
  ImageHead head_;
  std::vector<PriceBook> books_;
  bool damaged_ = false;
  Reads reads_;
  std::unordered_map<uint64_t, std::unique_ptr<IndexBlock>> blocks_;  // null = damaged
  std::unordered_map<uint64_t, Signature> signatures_;
  std::unordered_map<uint64_t, ScopeLogs> scopes_;
};

}  // namespace ge
