#include "plugins/device/engine.h"

#include <algorithm>
#include <charconv>

namespace ge_engines::device {

uint64_t NumberOption(std::string_view key, std::string_view value, uint64_t least, uint64_t most) {
  uint64_t n = 0;
  const auto [end, fault] = std::from_chars(value.data(), value.data() + value.size(), n);
  if (fault == std::errc() && end == value.data() + value.size() && n >= least && n <= most) {
    return n;
  }
  throw Refusal(GE_INVALID_ARGUMENT, "option " + std::string(key) + "=" + std::string(value) +
                                         "; wanted a whole number from " + std::to_string(least) +
                                         " to " + std::to_string(most));
}

void OnlyOptions(ge_str options, std::span<const std::string_view> known) {
  std::string_view rest = gp::View(options);
  for (gp::OptionText t; gp::NextOption(&rest, &t);) {
    if (std::find(known.begin(), known.end(), t.key) != known.end()) continue;
    std::string text = "it has no option '" + std::string(t.key) + "'; wanted ";
    for (size_t k = 0; k < known.size(); ++k) {
      text += (k == 0 ? "" : k + 1 < known.size() ? ", " : " or ") + std::string(known[k]);
    }
    throw Refusal(GE_INVALID_ARGUMENT, text);
  }
}

Engine::Engine(const ge_create_args& args, std::unique_ptr<Driver> driver)
    : host_(args.host),
      device_option_(gp::Option(args.options, "device", "0")),
      driver_(std::move(driver)) {
  const std::string_view memory = gp::Option(args.options, "memory", "");
  if (!memory.empty()) memory_ = NumberOption("memory", memory, 1);
}

Engine::~Engine() = default;

void Engine::RecordConversion(const Conversion&, const Ref&, const Ref&, Recorder*) const {
  throw std::runtime_error("no kernel changes a layout");
}

std::vector<int> Engine::Chosen(int count) const {
  std::vector<int> chosen;
  if (device_option_ == "all") {
    for (int i = 0; i < count; ++i) chosen.push_back(i);
    return chosen;
  }
  std::string_view rest = device_option_;
  for (;;) {
    const size_t end = rest.find('+');
    const uint64_t n = NumberOption("device", rest.substr(0, end), 0, INT32_MAX);
    if (n >= static_cast<uint64_t>(count)) {
      throw Refusal(GE_UNAVAILABLE, "option device=" + device_option_ + " names device " +
                                        std::to_string(n) + ", and the machine has " +
                                        std::to_string(count));
    }
    if (std::find(chosen.begin(), chosen.end(), static_cast<int>(n)) != chosen.end()) {
      throw Refusal(GE_INVALID_ARGUMENT, "option device=" + device_option_ + " names device " +
                                             std::to_string(n) + " twice");
    }
    chosen.push_back(static_cast<int>(n));
    if (end == std::string_view::npos) return chosen;
    rest.remove_prefix(end + 1);
  }
}

void Engine::Start(const std::string& name) {
  name_ = name;
  int count = 0;
  if (const Result r = driver_->Count(&count); !r.ok()) {
    throw Refusal(GE_UNAVAILABLE, driver_->ErrorText(r));
  }
  if (count == 0) throw Refusal(GE_UNAVAILABLE, "the machine has no such device");
  for (const int number : Chosen(count)) {
    DeviceFacts facts;
    if (const Result r = driver_->Describe(number, &facts); !r.ok()) {
      throw Refusal(GE_UNAVAILABLE,
                    "device " + std::to_string(number) + ": " + driver_->ErrorText(r));
    }
    devices_.push_back(std::make_unique<Opened>(driver_.get(), name_, number,
                                                static_cast<uint32_t>(devices_.size()), facts,
                                                RatesOf(number), memory_, host_));
    records_.push_back(devices_.back()->device.record());
    devices_.back()->device.AddLinks(&links_);
  }
  AddPeers();
}

void Engine::AddPeers() {
  for (const auto& from : devices_) {
    for (const auto& to : devices_) {
      if (from == to) continue;
      ge_link l = {};
      l.h = GE_HDR(ge_link, GE_TAG_LINK);
      std::copy_n(from->device.id(), sizeof l.from, l.from);
      std::copy_n(to->device.id(), sizeof l.to, l.to);
      l.latency_ns = static_cast<uint64_t>(to->device.rates().copy_ns);
      l.bytes_per_ns = to->device.rates().peer_bytes_per_ns;
      links_.push_back(l);
    }
  }
}

ge_rc Engine::Keep(std::unique_ptr<ge_capture> capture, ge_err* err) {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (const auto& [thread, other] : captures_) {
    if (thread != std::this_thread::get_id()) continue;
    return gp::Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                    "%.40s: capture_begin inside of a capture of the same thread", name_.c_str());
  }
  captures_.emplace_back(std::this_thread::get_id(), std::move(capture));
  return GE_OK;
}

std::unique_ptr<ge_capture> Engine::Release() {
  const std::lock_guard<std::mutex> lock(mutex_);
  for (auto it = captures_.begin(); it != captures_.end(); ++it) {
    if (it->first != std::this_thread::get_id()) continue;
    std::unique_ptr<ge_capture> capture = std::move(it->second);
    captures_.erase(it);
    return capture;
  }
  return nullptr;
}

}  // namespace ge_engines::device
