// ge_mock_place.hpp: places for tensors and workspace in the memory of a device, and streams, as
// the mock host gives them to launches. Header only, C++17; part of ge_mock_host.hpp, which tests
// include. Threads: an object is one thread's at a time.
#ifndef GE_MOCK_PLACE_HPP_
#define GE_MOCK_PLACE_HPP_

#include <cstdint>
#include <string>
#include <vector>

#include "ge/ge_mock_engine.hpp"

namespace ge::mock {

// `bytes` bytes between red zones: in host memory, or in a block of the device's first domain,
// which is then written and read by the engine's copies.
class Place {
 public:
  // align 0 = 64. `what` of static storage. Ask ok().
  Place(Engine& engine, uint32_t device, uint64_t bytes, uint64_t align, const char* what)
      : e_(engine), what_(what), bytes_(bytes) {
    if (align == 0) align = 64;
    if (engine.devices()[device].domains[0].id.empty()) {
      block_ = GuardedBlock(bytes, align, what);
      return;
    }
    before_ = (kRedBytes + align - 1) / align * align;
    Error err(engine.host());
    ge_rc rc = GE_UNIMPLEMENTED;
    if (engine.api().mem_alloc != nullptr && engine.api().mem_free != nullptr &&
        engine.api().copy != nullptr) {
      CallScope scope(engine.host(), "mem_alloc");
      rc = engine.api().mem_alloc(engine.handle(), device, 0, before_ + bytes + kRedBytes, align,
                                  &mem_, &address_, err.get());
      scope.Returned();
    }
    error_ = err.Text("mem_alloc", rc);
    if (rc != GE_OK && error_.empty()) error_ = "mem_alloc failed and gave no reason";
    if (rc == GE_OK && mem_ == nullptr) error_ = "mem_alloc answered GE_OK, but gave no block";
    if (rc == GE_OK && reinterpret_cast<uintptr_t>(address_) % align != 0) {
      engine.host().Complain("mem_alloc: the block is not aligned to " + std::to_string(align));
    }
    if (!ok()) return;
    const std::vector<unsigned char> red(before_ + bytes + kRedBytes, kRed);
    Copy(const_cast<unsigned char*>(red.data()), 0, red.size(), true);
  }
  ~Place() {
    if (mem_ == nullptr) return;
    CallScope scope(e_.host(), "mem_free");
    e_.api().mem_free(e_.handle(), mem_);
    scope.Returned();
  }
  Place(const Place&) = delete;
  Place& operator=(const Place&) = delete;

  bool ok() const { return error_.empty(); }
  const std::string& error() const { return error_; }
  uint64_t bytes() const { return bytes_; }
  void Write(const void* from) {
    if (bytes_ == 0 || !ok()) return;
    if (mem_ == nullptr) return void(std::memcpy(block_.data(), from, bytes_));
    Copy(const_cast<void*>(from), before_, bytes_, true);
  }
  void Fill(unsigned char byte) {
    if (mem_ == nullptr) return block_.Fill(byte);
    const std::vector<unsigned char> all(bytes_, byte);
    Write(all.data());
  }
  std::vector<unsigned char> Read() {
    std::vector<unsigned char> out(bytes_);
    if (bytes_ == 0 || !ok()) return out;
    if (mem_ != nullptr) Copy(out.data(), before_, bytes_, false);
    if (mem_ == nullptr) std::memcpy(out.data(), block_.data(), bytes_);
    return out;
  }
  // Empty, or what was written outside.
  std::string Harm() {
    if (mem_ == nullptr) return block_.Harm();
    if (!ok()) return "";
    for (const bool behind : {false, true}) {
      std::vector<unsigned char> zone(behind ? kRedBytes : before_);
      Copy(zone.data(), behind ? before_ + bytes_ : 0, zone.size(), false);
      for (size_t i = 0; i < zone.size(); ++i) {
        if (zone[i] == kRed) continue;
        return "byte " + std::to_string(behind ? i : before_ - i) +
               (behind ? " behind the end of " : " before the begin of ") + what_ + " of " +
               std::to_string(bytes_) + " bytes was written";
      }
    }
    return "";
  }
  // Without dims, dtype and layout.
  ge_buf Buf() const {
    ge_buf b = {};
    b.bytes = bytes_;
    b.ptr = mem_ == nullptr ? block_.data() : static_cast<unsigned char*>(address_) + before_;
    b.mem = mem_;
    b.offset = mem_ != nullptr ? before_ : 0;
    b.domain = mem_ != nullptr ? 1 : 0;
    return b;
  }

 private:
  void Copy(void* host, uint64_t offset, uint64_t bytes, bool to_device) {
    if (bytes == 0) return;
    ge_buf here = {}, there = {};
    here.ptr = host;
    here.bytes = there.bytes = bytes;
    there.ptr = static_cast<unsigned char*>(address_) + offset;
    there.mem = mem_;
    there.offset = offset;
    there.domain = 1;
    ge_copy copy = {};
    copy.src = to_device ? here : there;
    copy.dst = to_device ? there : here;
    Arena arena("the record of a copy", e_.host().style.exact);
    const ge_copy* given = arena.Struct(e_.host().style, copy, GE_TAG_COPY);
    arena.MakeReadOnly();
    Error err(e_.host());
    ge_rc rc = GE_OK;
    {
      CallScope scope(e_.host(), "copy");
      rc = e_.api().copy(e_.handle(), given, err.get());
      scope.Returned();
    }
    const std::string text = err.Text("copy", rc);
    if (rc != GE_OK && error_.empty()) error_ = text.empty() ? "copy failed" : text;
  }

  Engine& e_;
  const char* what_;
  uint64_t bytes_, before_ = 0;
  GuardedBlock block_;
  ge_mem* mem_ = nullptr;
  void* address_ = nullptr;
  std::string error_;
};

// A timeline event of one device.
class Event {
 public:
  Event(Engine& engine, uint32_t device) : e_(engine) {
    Error err(engine.host());
    {
      CallScope scope(engine.host(), "event_create");
      rc_ = engine.api().event_create(engine.handle(), device, &event_, err.get());
      scope.Returned();
    }
    error_ = err.Text("event_create", rc_);
  }
  ~Event() {
    if (event_ == nullptr) return;
    CallScope scope(e_.host(), "event_destroy");
    e_.api().event_destroy(event_);
    scope.Returned();
  }
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  bool ok() const { return rc_ == GE_OK && event_ != nullptr; }
  ge_event* get() const { return event_; }
  ge_rc Wait(uint64_t value, uint64_t timeout_ns, std::string* text = nullptr) {
    Error err(e_.host());
    ge_rc rc = GE_OK;
    {
      CallScope scope(e_.host(), "event_wait");
      rc = e_.api().event_wait(event_, value, timeout_ns, err.get());
      scope.Returned();
    }
    const std::string said = err.Text("event_wait", rc);
    if (text != nullptr) *text = said;
    return rc;
  }

 private:
  Engine& e_;
  ge_event* event_ = nullptr;
  ge_rc rc_ = GE_OK;
  std::string error_;
};

class Stream {
 public:
  Stream(Engine& engine, uint32_t device) : e_(engine) {
    Error err(engine.host());
    {
      CallScope scope(engine.host(), "stream_create");
      rc_ = engine.api().stream_create(engine.handle(), device, &stream_, err.get());
      scope.Returned();
    }
    error_ = err.Text("stream_create", rc_);
  }
  ~Stream() {
    if (stream_ == nullptr) return;
    CallScope scope(e_.host(), "stream_destroy");
    e_.api().stream_destroy(stream_);
    scope.Returned();
  }
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;
  bool ok() const { return rc_ == GE_OK && stream_ != nullptr; }
  const std::string& error() const { return error_; }
  ge_stream* get() const { return stream_; }
  ge_rc Wait(const Event& event, uint64_t value) { return Meet("stream_wait", event, value); }
  ge_rc Signal(const Event& event, uint64_t value) { return Meet("stream_signal", event, value); }

 private:
  ge_rc Meet(const char* call, const Event& event, uint64_t value) {
    Error err(e_.host());
    ge_rc rc = GE_OK;
    {
      CallScope scope(e_.host(), call);
      const auto function = call[7] == 'w' ? e_.api().stream_wait : e_.api().stream_signal;
      rc = function(stream_, event.get(), value, err.get());
      scope.Returned();
    }
    error_ = err.Text(call, rc);
    return rc;
  }
  Engine& e_;
  ge_stream* stream_ = nullptr;
  ge_rc rc_ = GE_OK;
  std::string error_;
};

}  // namespace ge::mock
#endif  // GE_MOCK_PLACE_HPP_
