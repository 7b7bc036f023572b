#include "plugins/cpu/native/attention/kv_append.h"

#include <cstring>

#include "plugins/cpu/kit/engine.h"
#include "plugins/cpu/kit/price.h"
#include "plugins/cpu/native/builder.h"
#include "plugins/cpu/native/kind.h"
#include "plugins/cpu/native/price.h"
#include "plugins/units/attention/kv_append.h"

namespace ge_engines::cpu::native {

namespace {

class Appended final : public Kernel {
 public:
  explicit Appended(const Append& a) : a_(a) {}

  ge_rc Do(const Call& call) const override {
    const int64_t first = *reinterpret_cast<const int64_t*>(call.p[2]);
    if (first < 0 || first > a_.room - a_.rows) {
      return ge::plugin::Fail(call.err, GE_INVALID_ARGUMENT, call.node,
                              "%lld rows behind the %lld in use do not fit into the cache of %lld; "
                              "start anew, or make it larger",
                              static_cast<long long>(a_.rows), static_cast<long long>(first),
                              static_cast<long long>(a_.room));
    }
    auto* y = reinterpret_cast<char*>(call.p[0]);
    const auto* rows = reinterpret_cast<const char*>(call.p[3]);
    const int64_t block = a_.room * a_.row_bytes, piece = a_.rows * a_.row_bytes;
    if (call.p[0] != call.p[1]) {
      std::memcpy(y, call.p[1], static_cast<size_t>(a_.outer * block));
    }
    for (int64_t o = 0; o < a_.outer; ++o) {
      std::memcpy(y + o * block + first * a_.row_bytes, rows + o * piece,
                  static_cast<size_t>(piece));
    }
    return GE_OK;
  }

 private:
  const Append a_;
};

}  // namespace

std::unique_ptr<Kernel> AppendLoop(const Append& append) {
  return std::make_unique<Appended>(append);
}

namespace {

class KvAppendKind final : public KindOf<AppendSpec> {
 public:
  Price PriceOf(const Unit& unit, const Parser& parser, const Machine& machine) const override {
    // As where the cache is overwritten where it lies; one thread copies the rows.
    return WorkPrice(unit, parser, machine,
                     {.ns = BytesOf(parser, unit.in[2]) * 0.1,
                      .bytes = 2 * BytesOf(parser, unit.in[2]),
                      .elements = 1});
  }
  void Emit(const Unit& u, NativeBuilder* b) const override {
    const AppendSpec& spec = SpecOf(u);
    const Dims cache = b->parser().dims(u.in[0]);
    const auto axis = static_cast<size_t>(spec.axis);
    Append a;
    a.outer = Product(Dims(cache.begin(), cache.begin() + spec.axis));
    a.room = cache[axis];
    a.rows = b->parser().dims(u.in[2])[axis];
    a.row_bytes =
        Product(Dims(cache.begin() + spec.axis + 1, cache.end())) * b->parser().size(u.in[0]);
    b->AddPlain(
        u, "append", AppendLoop(a),
        {b->GetDense(u.in[0]).place, b->GetDense(u.in[1]).place, b->GetDense(u.in[2]).place});
  }
};

const KvAppendKind kKvAppendKind;
}  // namespace

GE_NATIVE_KINDS(kv_append, &kKvAppendKind)

}  // namespace ge_engines::cpu::native
