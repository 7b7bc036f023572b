// Stamps: times of the host's clock, taken by a stream where it has come to them. The worker thread
// writes a time; who reads it knows that it was taken.
#ifndef GE_SAMPLES_DEVSIM_STAMPS_H_
#define GE_SAMPLES_DEVSIM_STAMPS_H_

#include <atomic>
#include <vector>

#include "ge/ge_plugin.h"

struct ge_stamps {
  ge_engine* const engine;
  const uint32_t device;
  std::vector<std::atomic<uint64_t>> ns;  // 0 = not taken yet
};

namespace devsim {
// The four slots of ge_engine_api. stream_stamp is in plugin.cc, with all else that is queued.
ge_rc StampsCreate(ge_engine* e, uint32_t device, uint32_t n, ge_stamps** out, ge_err* err);
void StampsDestroy(ge_stamps* stamps);
ge_rc StampsRead(ge_stamps* stamps, uint32_t first, uint32_t n, uint64_t* ns, ge_err* err);
// Whether a stream of this engine and device may take stamp `index` of them.
ge_rc CheckStamp(const ge_stamps& stamps, uint32_t index, const ge_engine* engine, uint32_t device,
                 ge_err* err);
}  // namespace devsim
#endif  // GE_SAMPLES_DEVSIM_STAMPS_H_
