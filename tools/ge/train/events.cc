#include "tools/ge/train/events.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>

namespace ge::tool {
namespace {

// ---- protobuf's wire format

class Message {
 public:
  Message& Varint(uint32_t field, uint64_t v) { return Raw(uint64_t{field} << 3), Raw(v); }
  Message& Double(uint32_t field, double v) { return Fixed(field, 1, v); }
  Message& Float(uint32_t field, float v) { return Fixed(field, 5, v); }
  Message& Bytes(uint32_t field, const std::string& v) {
    Raw(uint64_t{field} << 3 | 2);
    Raw(v.size());
    text_ += v;
    return *this;
  }
  Message& Doubles(uint32_t field, std::span<const double> v) {
    return Bytes(field, std::string(reinterpret_cast<const char*>(v.data()), v.size_bytes()));
  }
  const std::string& text() const { return text_; }

 private:
  template <typename T>
  Message& Fixed(uint32_t field, uint32_t type, T v) {
    Raw(uint64_t{field} << 3 | type);
    text_.append(reinterpret_cast<const char*>(&v), sizeof v);  // little-endian, as the format is
    return *this;
  }
  Message& Raw(uint64_t v) {
    for (; v >= 128; v >>= 7) text_ += static_cast<char>(v | 128);
    text_ += static_cast<char>(v);
    return *this;
  }
  std::string text_;
};

// Field numbers of TensorFlow's messages.
constexpr uint32_t kWallTime = 1, kStep = 2, kFileVersion = 3, kGraphDef = 4, kSummary = 5;
constexpr uint32_t kSummaryValue = 1, kValueTag = 1, kValueSimple = 2, kValueHistogram = 5;
constexpr uint32_t kNode = 1, kNodeName = 1, kNodeOp = 2, kNodeInput = 3;

Message Event(int64_t step) {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Message m;
  m.Double(kWallTime, std::chrono::duration<double>(now).count());
  if (step != 0) m.Varint(kStep, static_cast<uint64_t>(step));
  return m;
}

std::string Summary(const std::string& tag, const Message& rest) {
  Message value, summary;
  value.Bytes(kValueTag, tag);
  summary.Bytes(kSummaryValue, value.text() + rest.text());
  return summary.text();
}

// ---- records

// CRC-32C: Castagnoli's polynomial, reflected.
uint32_t Crc32c(const std::string& bytes) {
  static const auto table = [] {
    std::array<uint32_t, 256> t{};
    for (uint32_t i = 0; i < 256; ++i) {
      uint32_t c = i;
      for (int k = 0; k < 8; ++k) c = c & 1 ? c >> 1 ^ 0x82f63b78u : c >> 1;
      t[i] = c;
    }
    return t;
  }();
  uint32_t crc = UINT32_MAX;
  for (const char c : bytes) crc = table[(crc ^ static_cast<uint8_t>(c)) & 255] ^ crc >> 8;
  return ~crc;
}

// Rotated and offset, so that a checksum of bytes that hold one does not come out even.
std::string Masked(const std::string& bytes) {
  const uint32_t crc = Crc32c(bytes), masked = (crc >> 15 | crc << 17) + 0xa282ead8u;
  return std::string(reinterpret_cast<const char*>(&masked), 4);
}

// Limits of buckets that grow by a tenth from 1e-12 on, on both sides of zero.
const std::vector<double>& Limits() {
  static const std::vector<double> limits = [] {
    std::vector<double> up;
    for (double v = 1e-12; v < 1e20; v *= 1.1) up.push_back(v);
    std::vector<double> all;
    for (size_t i = up.size(); i-- > 0;) all.push_back(-up[i]);
    all.push_back(0);
    all.insert(all.end(), up.begin(), up.end());
    all.push_back(HUGE_VAL);
    return all;
  }();
  return limits;
}

}  // namespace

Result<Events> Events::Open(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  Events e;
  e.path_ =
      fmt::format("{}/events.out.tfevents.{}.{}.{}", folder,
                  std::chrono::duration_cast<std::chrono::seconds>(now).count(), "ge", getpid());
  e.file_.open(e.path_, std::ios::binary);
  if (!e.file_) return Status(Code::kIoError, fmt::format("cannot write '{}'", e.path_));
  GE_RETURN_IF_ERROR(e.Write(Event(0).Bytes(kFileVersion, "brain.Event:2").text()));
  return e;
}

Status Events::Write(const std::string& event) {
  const uint64_t n = event.size();
  const std::string length(reinterpret_cast<const char*>(&n), 8);
  file_ << length << Masked(length) << event << Masked(event);
  if (file_) return {};
  return Status(Code::kIoError, fmt::format("cannot write '{}'", path_));
}

Status Events::Flush() {
  if (file_.flush()) return {};
  return Status(Code::kIoError, fmt::format("cannot write '{}'", path_));
}

Status Events::Scalar(const std::string& tag, int64_t step, float value) {
  Message rest;
  rest.Float(kValueSimple, value);
  return Write(Event(step).Bytes(kSummary, Summary(tag, rest)).text());
}

// Buckets without numbers are left out but for one below each that has some. NaN does not count.
Status Events::Histogram(const std::string& tag, int64_t step, std::span<const float> values) {
  const std::vector<double>& limits = Limits();
  std::map<size_t, double> counts;
  double least = HUGE_VAL, most = -HUGE_VAL, n = 0, sum = 0, squares = 0;
  for (const float f : values) {
    const double v = f;
    if (std::isnan(v)) continue;
    counts[static_cast<size_t>(std::upper_bound(limits.begin(), limits.end() - 1, v) -
                               limits.begin())] += 1;
    least = std::min(least, v);
    most = std::max(most, v);
    n += 1;
    sum += v;
    squares += v * v;
  }
  std::vector<double> to, in;
  for (const auto& [i, count] : counts) {
    if (i > 0 && counts.count(i - 1) == 0) {
      to.push_back(limits[i - 1]);
      in.push_back(0);
    }
    to.push_back(std::min(limits[i], 1.7976931348623157e308));
    in.push_back(count);
  }
  Message h, rest;
  h.Double(1, n > 0 ? least : 0).Double(2, n > 0 ? most : 0).Double(3, n).Double(4, sum);
  h.Double(5, squares).Doubles(6, to).Doubles(7, in);
  rest.Bytes(kValueHistogram, h.text());
  return Write(Event(step).Bytes(kSummary, Summary(tag, rest)).text());
}

Status Events::Graph(std::span<const EventNode> nodes) {
  Message graph;
  for (const EventNode& n : nodes) {
    Message node;
    node.Bytes(kNodeName, n.name).Bytes(kNodeOp, n.op);
    for (const std::string& input : n.inputs) node.Bytes(kNodeInput, input);
    graph.Bytes(kNode, node.text());
  }
  return Write(Event(0).Bytes(kGraphDef, graph.text()).text());
}

}  // namespace ge::tool
