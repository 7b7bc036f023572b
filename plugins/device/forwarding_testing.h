// For tests: a driver that hands every call to another one. Tests override what they watch or
// spoil.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "plugins/device/driver.h"

namespace ge_engines::device {

class ForwardingDriver : public Driver {
 public:
  explicit ForwardingDriver(std::unique_ptr<Driver> to) : to_(std::move(to)) {}

  Result Count(int* n) override { return to_->Count(n); }
  Result Describe(int d, DeviceFacts* f) override { return to_->Describe(d, f); }
  Result Open(int d) override { return to_->Open(d); }
  void Close(int d) override { to_->Close(d); }
  Result OpenPeer(int d, int other) override { return to_->OpenPeer(d, other); }
  Result Alloc(int d, uint64_t n, void** b) override { return to_->Alloc(d, n, b); }
  void Free(int d, void* b) override { to_->Free(d, b); }
  Result PinnedAlloc(int d, uint64_t n, void** b) override { return to_->PinnedAlloc(d, n, b); }
  void PinnedFree(int d, void* b) override { to_->PinnedFree(d, b); }
  Result StreamCreate(int d, StreamHandle* s) override { return to_->StreamCreate(d, s); }
  void StreamDestroy(int d, StreamHandle s) override { to_->StreamDestroy(d, s); }
  Result StreamWait(int d, StreamHandle s, EventHandle e) override {
    return to_->StreamWait(d, s, e);
  }
  Result EventCreate(int d, bool timed, EventHandle* e) override {
    return to_->EventCreate(d, timed, e);
  }
  void EventDestroy(int d, EventHandle e) override { to_->EventDestroy(d, e); }
  Result EventRecord(int d, EventHandle e, StreamHandle s) override {
    return to_->EventRecord(d, e, s);
  }
  Result EventQuery(int d, EventHandle e) override { return to_->EventQuery(d, e); }
  Result EventElapsed(int d, EventHandle a, EventHandle b, int64_t* ns) override {
    return to_->EventElapsed(d, a, b, ns);
  }
  Result Copy(int d, StreamHandle s, void* to, const void* from, uint64_t n) override {
    return to_->Copy(d, s, to, from, n);
  }
  Result PeerCopy(int d, StreamHandle s, int to_d, void* to, int from_d, const void* from,
                  uint64_t n) override {
    return to_->PeerCopy(d, s, to_d, to, from_d, from, n);
  }
  Result Fill(int d, StreamHandle s, void* to, uint8_t value, uint64_t n) override {
    return to_->Fill(d, s, to, value, n);
  }
  Result Launch(int d, StreamHandle s, const KernelLaunch& l) override {
    return to_->Launch(d, s, l);
  }
  Result CaptureBegin(int d, StreamHandle s) override { return to_->CaptureBegin(d, s); }
  Result CaptureEnd(int d, StreamHandle s, GraphHandle* g) override {
    return to_->CaptureEnd(d, s, g);
  }
  Result GraphLaunch(int d, GraphHandle g, StreamHandle s) override {
    return to_->GraphLaunch(d, g, s);
  }
  void GraphDestroy(int d, GraphHandle g) override { to_->GraphDestroy(d, g); }
  std::string ErrorText(Result r) override { return to_->ErrorText(r); }
  void Rest(uint64_t ns) override { to_->Rest(ns); }

 protected:
  std::unique_ptr<Driver> to_;
};

}  // namespace ge_engines::device
