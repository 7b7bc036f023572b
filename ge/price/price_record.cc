#include "ge/price/price_record.h"

#include <cstring>

#include "ge/price/stable_hash.h"

namespace ge {
namespace {

constexpr uint32_t kMark = 0x33524547;  // "GER3"
constexpr size_t kAlign = 8;

struct Head {
  uint32_t mark = kMark;
  uint32_t bytes = 0;  // behind the head, a multiple of kAlign
  uint64_t check = 0;  // of these
};

struct Numbers {
  double size, asked_ns, alone_ns, asked_inside_ns, inside_ns;
  uint32_t day, alone_count, inside_count;
  uint32_t doubts;    // 1 = alone, 2 = inside
  uint32_t texts[5];  // bytes: plugin, device, signature, shape, family
  uint32_t reserved = 0;
};
static_assert(sizeof(Head) == 16 && sizeof(Numbers) == 80);

}  // namespace

uint64_t GroupKeyOf(std::string_view plugin_hash, std::string_view device,
                    std::string_view signature) {
  return StableHash(signature, StableHash(device, StableHash(plugin_hash)));
}

uint64_t RowView::GroupKey() const { return GroupKeyOf(plugin_hash, device, signature); }

bool RowView::IsSameOffer(const RowView& other) const {
  return shape == other.shape && signature == other.signature && device == other.device &&
         plugin_hash == other.plugin_hash;
}

bool AppendRecord(const PriceBook& book, std::string_view signature, std::string_view shape,
                  const PriceRow& row, std::string* out) {
  const std::string_view texts[] = {book.plugin_hash, book.device, signature, shape, row.family};
  size_t bytes = sizeof(Numbers);
  for (const std::string_view text : texts) {
    if (text.size() > kMostRecordBytes) return false;
    bytes += text.size();
  }
  bytes = (bytes + kAlign - 1) / kAlign * kAlign;
  if (sizeof(Head) + bytes > kMostRecordBytes) return false;
  Numbers numbers = {row.size,
                     row.asked_ns,
                     row.alone.ns,
                     row.asked_inside_ns,
                     row.inside.ns,
                     row.day,
                     row.alone.count,
                     row.inside.count,
                     (row.alone.doubtful ? 1u : 0u) + (row.inside.doubtful ? 2u : 0u),
                     {}};
  for (size_t i = 0; i < 5; ++i) numbers.texts[i] = static_cast<uint32_t>(texts[i].size());
  const size_t begin = out->size(), body = begin + sizeof(Head);
  out->resize(body + bytes);
  size_t at = body;
  std::memcpy(out->data() + at, &numbers, sizeof numbers);
  at += sizeof numbers;
  for (const std::string_view text : texts) at += text.copy(out->data() + at, text.size());
  Head head;
  head.bytes = static_cast<uint32_t>(bytes);
  head.check = StableHash(std::string_view(*out).substr(body));
  std::memcpy(out->data() + begin, &head, sizeof head);
  return true;
}

bool RecordReader::ReadAt(RowView* out) {
  const std::string_view rest = bytes_.substr(at_);
  Head head;
  if (rest.size() < sizeof(Head) + sizeof(Numbers)) return false;
  std::memcpy(&head, rest.data(), sizeof head);
  if (head.mark != kMark || head.bytes < sizeof(Numbers) || head.bytes % kAlign != 0 ||
      head.bytes > rest.size() - sizeof head || head.bytes > kMostRecordBytes - sizeof head) {
    return false;
  }
  std::string_view body = rest.substr(sizeof head, head.bytes);
  if (StableHash(body) != head.check) return false;
  Numbers n;
  std::memcpy(&n, body.data(), sizeof n);
  body.remove_prefix(sizeof n);
  std::string_view* const texts[] = {&out->plugin_hash, &out->device, &out->signature, &out->shape,
                                     &out->family};
  for (size_t i = 0; i < 5; ++i) {
    if (n.texts[i] > body.size()) return false;
    *texts[i] = body.substr(0, n.texts[i]);
    body.remove_prefix(n.texts[i]);
  }
  PriceRow& row = out->row;
  row.size = n.size;
  row.day = n.day;
  row.asked_ns = n.asked_ns;
  row.alone = {n.alone_ns, n.alone_count, (n.doubts & 1) != 0};
  row.asked_inside_ns = n.asked_inside_ns;
  row.inside = {n.inside_ns, n.inside_count, (n.doubts & 2) != 0};
  out->encoded = rest.substr(0, sizeof head + head.bytes);
  return row.IsSane();
}

bool RecordReader::Next(RowView* out) {
  while (at_ < bytes_.size()) {
    if (ReadAt(out)) {
      at_ += out->encoded.size();
      return true;
    }
    // The next mark may be anywhere: what a kill has cut short has any length.
    const char* const mark = reinterpret_cast<const char*>(&kMark);
    size_t next = bytes_.find(std::string_view(mark, sizeof kMark), at_ + 1);
    if (next == bytes_.npos) next = bytes_.size();
    lost_ += next - at_;
    at_ = next;
  }
  return false;
}

}  // namespace ge
