#include "plugins/ref/kernels/copy.h"

namespace ref {
namespace {

// x [a, b, inner]; one of a and b is the time, the other the batch; inner in bytes.
ge_rc RunReverseSequence(bool time_first, int64_t inner, const Call& c) {
  const Tensor x = c.in(0), lengths = c.in(1);
  const int64_t a = x.dims[0], b = x.dims[1], time = time_first ? a : b;
  for (int64_t i = 0; i < lengths.count; ++i) {
    const int64_t length = IntAt(lengths, i);
    if (length < 0 || length > time) {
      return c.Fail(GE_INVALID_ARGUMENT, "sequence_lens[%lld] is %lld, wanted 0 to %lld",
                    static_cast<long long>(i), static_cast<long long>(length),
                    static_cast<long long>(time));
    }
  }
  if (x.bytes == 0) return GE_OK;
  const char* from = x.as<char>();
  char* to = c.out(0).as<char>();
  for (int64_t i = 0; i < a; ++i) {
    for (int64_t j = 0; j < b; ++j, to += inner) {
      const int64_t t = time_first ? i : j, length = IntAt(lengths, time_first ? j : i);
      const int64_t source = t < length ? length - 1 - t : t;
      const int64_t at = time_first ? source * b + j : i * b + source;
      std::memcpy(to, from + at * inner, static_cast<size_t>(inner));
    }
  }
  return GE_OK;
}

std::unique_ptr<Prepared> PrepareReverseSequence(const NodeView& n, Why* why) {
  if (!NeedPorts(n, 2, 2, why) || !NeedSameDType(n.in(0), n.out(0), why) ||
      !NeedSameDims(n.in(0), n.out(0), why)) {
    return nullptr;
  }
  const TensorType x = n.in(0), lengths = n.in(1);
  const int64_t size = ElementBytes(x.dtype);
  const int64_t batch = n.Int("batch_axis"), time = n.Int("time_axis");
  if (size == 0) return NoDType(x, why), nullptr;
  if (lengths.dtype != GE_I64) return NoDType(lengths, why), nullptr;
  if (batch < 0 || batch > 1 || time != 1 - batch) {
    return why->Say(GE_WHY_ATTRIBUTE, "batch_axis and time_axis are not 0 and 1"), nullptr;
  }
  if (x.rank < 2 || lengths.count != x.dims[batch]) {
    return why->Say(GE_WHY_SHAPE, "sequence_lens is not one length a sample"), nullptr;
  }
  const int64_t inner = PartCount(x.shape(), 2, static_cast<size_t>(x.rank)) * size;
  auto made = Make([=](const Call& c) { return RunReverseSequence(time == 0, inner, c); });
  made->const_align = 1;
  return made;
}

}  // namespace
}  // namespace ref
GE_REF_KERNEL(reverse_sequence, "ReverseSequence", PrepareReverseSequence)
