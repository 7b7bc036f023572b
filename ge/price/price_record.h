// Records: rows of prices as bytes, each with a check of its own, so that what a file lost to a
// cut, a kill or a bad disk is some of its rows. A record says all of its row and stands alone:
// records are appended by any process, and found again behind bytes that are none. Stateless.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "ge/price/price_fit.h"
#include "ge/price/price_row.h"

namespace ge {

// Texts are of the bytes that were read.
struct RowView {
  std::string_view plugin_hash, device, signature, shape, family;
  PriceRow row;              // without its family
  std::string_view encoded;  // the whole record
  PriceBook book() const { return {std::string(plugin_hash), std::string(device)}; }
  // Of the signature, and of the row.
  uint64_t GroupKey() const;
  bool IsSameOffer(const RowView& other) const;
};

// The key of the rows of one signature of an engine.
uint64_t GroupKeyOf(std::string_view plugin_hash, std::string_view device,
                    std::string_view signature);

// Rows whose texts are longer are not kept: operators of a hundred thousand nodes have such names.
inline constexpr size_t kMostRecordBytes = size_t{1} << 16;

// Appends the record; false, and nothing appended, where it would be longer than that.
bool AppendRecord(const PriceBook& book, std::string_view signature, std::string_view shape,
                  const PriceRow& row, std::string* out);

class RecordReader {
 public:
  explicit RecordReader(std::string_view bytes) : bytes_(bytes) {}
  // The next whole record; false at the end. Bytes that are no record are passed over.
  bool Next(RowView* out);
  // Bytes passed over so far.
  uint64_t lost() const { return lost_; }

 private:
  bool ReadAt(RowView* out);
  std::string_view bytes_;
  size_t at_ = 0;
  uint64_t lost_ = 0;
};

}  // namespace ge
