#include "ge/base/status.h"

#include <cstdio>

namespace ge {
namespace {
const std::string kEmpty;
constexpr size_t kMaxText = 4096;

void AppendEscaped(std::string_view text, std::string* out) {
  for (unsigned char c : text) {
    if (c >= 0x20 && c != 0x7f) {
      out->push_back(static_cast<char>(c));
    } else if (c == '\n') {
      *out += "\\n";
    } else {
      char buffer[8];
      std::snprintf(buffer, sizeof buffer, "\\x%02x", c);
      *out += buffer;
    }
  }
}
}  // namespace

std::string_view CodeName(Code code) {
  switch (code) {
    case Code::kOk:
      return "OK";
    case Code::kInvalidGraph:
      return "INVALID_GRAPH";
    case Code::kInvalidArgument:
      return "INVALID_ARGUMENT";
    case Code::kUnsupported:
      return "UNSUPPORTED";
    case Code::kLimitExceeded:
      return "LIMIT_EXCEEDED";
    case Code::kPluginError:
      return "PLUGIN_ERROR";
    case Code::kResourceExhausted:
      return "RESOURCE_EXHAUSTED";
    case Code::kCancelled:
      return "CANCELLED";
    case Code::kDeadlineExceeded:
      return "DEADLINE_EXCEEDED";
    case Code::kIoError:
      return "IO_ERROR";
    case Code::kDataCorrupt:
      return "DATA_CORRUPT";
    case Code::kFailedPrecondition:
      return "FAILED_PRECONDITION";
    case Code::kDeviceLost:
      return "DEVICE_LOST";
    case Code::kInternal:
      return "INTERNAL";
  }
  return "INTERNAL";
}

Status::Status(Code code, std::string message) {
  if (code == Code::kOk) return;
  detail_ = std::make_shared<Detail>();
  detail_->code = code;
  detail_->message = std::move(message);
}

const std::string& Status::message() const { return detail_ ? detail_->message : kEmpty; }
const std::string& Status::node() const { return detail_ ? detail_->node : kEmpty; }
const std::string& Status::stage() const { return detail_ ? detail_->stage : kEmpty; }

Status Status::AtNode(std::string_view node) && {
  if (detail_ && detail_->node.empty()) detail_->node = node;
  return std::move(*this);
}

Status Status::AtStage(std::string_view stage) && {
  if (detail_ && detail_->stage.empty()) detail_->stage = stage;
  return std::move(*this);
}

std::string Status::ToString() const {
  if (ok()) return "OK";
  std::string out(CodeName(detail_->code));
  out += ": ";
  if (!detail_->stage.empty()) out += detail_->stage + ": ";
  if (!detail_->node.empty()) {
    out += "node '";
    AppendEscaped(detail_->node, &out);
    out += "': ";
  }
  AppendEscaped(detail_->message, &out);
  if (out.size() > kMaxText) {
    out.resize(kMaxText - 3);
    out += "...";
  }
  return out;
}

}  // namespace ge
