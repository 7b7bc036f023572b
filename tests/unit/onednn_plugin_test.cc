// The onednn engine through the plugin ABI alone: patterns and what stops them, fused results
// against plain loops, storage that steps share (of views: native's), frames and threads. Single
// operators are the business of the random cases and the ONNX node tests.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <deque>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "ge/base/float_mode.h"
#include "ge/ge_plugin.hpp"
#include "tests/unit/default_attrs.h"

namespace {

using ge::plugin::Str;
using ge::plugin::View;
using Shape = std::vector<int64_t>;
using Floats = std::vector<float>;

const ge_plugin_desc* Load(const std::string& engine) {
  const auto exe = std::filesystem::read_symlink("/proc/self/exe");
  const auto path = exe.parent_path().parent_path() / "lib/graphengine" / (engine + ".so");
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) return nullptr;
  auto query =
      reinterpret_cast<const ge_plugin_desc* (*)(ge_query_args*)>(dlsym(handle, "ge_plugin_query"));
  ge_query_args args = {};
  return query == nullptr ? nullptr : query(&args);
}

int64_t Count(const Shape& s) {
  int64_t n = 1;
  for (int64_t d : s) n *= d;
  return n;
}

// Seeded, in [-1, 1).
Floats Noise(int64_t n, uint32_t seed) {
  Floats f(static_cast<size_t>(n));
  for (float& x : f) {
    seed = seed * 1664525u + 1013904223u;
    x = static_cast<float>(seed >> 8) / 8388608.0f - 1.0f;
  }
  return f;
}

// A hand-made graph of f32 values. Value 0 is the absent one.
class Maker {
 public:
  Maker() { Add({}, GE_F32); }
  uint32_t Input(Shape s, int32_t dtype = GE_F32) {
    const uint32_t v = Add(std::move(s), dtype);
    value_[v].flags = GE_VALUE_INPUT;
    inputs_.push_back(v);
    return v;
  }
  // The payload lies one byte off, as it may in a mapped file.
  uint32_t Constant(Shape s, const Floats& data) {
    const uint32_t v = Add(std::move(s), GE_F32);
    bytes_.emplace_back(data.size() * sizeof(float) + 1);
    std::memcpy(bytes_.back().data() + 1, data.data(), data.size() * sizeof(float));
    value_[v].flags = GE_VALUE_CONSTANT;
    value_[v].data = bytes_.back().data() + 1;
    value_[v].data_bytes = data.size() * sizeof(float);
    return v;
  }
  uint32_t Scalar(float x) { return Constant({}, {x}); }
  uint32_t Node(const char* op, std::vector<uint32_t> in, Shape out,
                std::vector<std::pair<const char*, Shape>> lists = {}) {
    const uint32_t v = Add(std::move(out), GE_F32);
    ports_.push_back(std::move(in));
    ports_.push_back({v});
    attrs_.emplace_back();
    for (auto& [name, list] : lists) {
      dims_.push_back(list);
      ge_attr a = {};
      a.name = Str(name);
      const bool one = std::string_view(name) == "group" || std::string_view(name) == "axis" ||
                       std::string_view(name) == "keepdims";
      a.kind = one ? GE_ATTR_INT : GE_ATTR_INTS;
      a.i = dims_.back()[0];
      a.ints = dims_.back().data();
      a.n = static_cast<uint32_t>(dims_.back().size());
      attrs_.back().push_back(a);
    }
    ge::test::AddDefaultAttrs(op, &attrs_.back());
    ge_node n = {};
    n.op = Str(op);
    n.version = 17;
    n.in = ports_[ports_.size() - 2].data();
    n.n_in = static_cast<uint32_t>(ports_[ports_.size() - 2].size());
    n.out = ports_.back().data();
    n.n_out = 1;
    n.attr = attrs_.back().data();
    n.n_attr = static_cast<uint32_t>(attrs_.back().size());
    value_[v].producer = static_cast<uint32_t>(node_.size());
    node_.push_back(n);
    return v;
  }
  void Output(uint32_t v) {
    value_[v].flags |= GE_VALUE_OUTPUT;
    outputs_.push_back(v);
  }
  const ge_graph& graph() {
    users_.assign(value_.size(), {});
    for (uint32_t i = 0; i < node_.size(); ++i) {
      for (uint32_t k = 0; k < node_[i].n_in; ++k) users_[node_[i].in[k]].push_back(i);
    }
    for (size_t v = 0; v < value_.size(); ++v) {
      value_[v].user = users_[v].data();
      value_[v].n_user = static_cast<uint32_t>(users_[v].size());
    }
    graph_ = {};
    graph_.node = node_.data();
    graph_.value = value_.data();
    graph_.n_node = static_cast<uint32_t>(node_.size());
    graph_.n_value = static_cast<uint32_t>(value_.size());
    graph_.node_stride = sizeof(ge_node);
    graph_.value_stride = sizeof(ge_value);
    return graph_;
  }
  const Shape& shape(uint32_t v) const { return dims_[at_[v]]; }
  const std::vector<uint32_t>& inputs() const { return inputs_; }
  const std::vector<uint32_t>& outputs() const { return outputs_; }

 private:
  uint32_t Add(Shape s, int32_t dtype) {
    dims_.push_back(std::move(s));
    at_.push_back(dims_.size() - 1);
    ge_value v = {};
    v.type.dtype = dtype;
    v.type.rank = static_cast<int32_t>(dims_.back().size());
    v.type.dims = dims_.back().data();
    v.type.bits = 32;
    v.producer = UINT32_MAX;
    value_.push_back(v);
    return static_cast<uint32_t>(value_.size() - 1);
  }
  std::deque<Shape> dims_;
  std::vector<size_t> at_;
  std::vector<ge_value> value_;
  std::vector<ge_node> node_;
  std::deque<std::vector<uint32_t>> ports_;
  std::deque<std::vector<ge_attr>> attrs_;
  std::deque<std::vector<char>> bytes_;
  std::vector<std::vector<uint32_t>> users_;
  std::vector<uint32_t> inputs_, outputs_;
  ge_graph graph_ = {};
};

struct Asked {
  std::set<std::vector<uint32_t>> offers;
  std::map<uint32_t, std::pair<uint32_t, std::string>> declined;
  uint64_t price(const std::vector<uint32_t>& nodes) const { return prices.at(nodes); }
  std::map<std::vector<uint32_t>, uint64_t> prices;
};

class Onednn : public ::testing::Test {
 protected:
  virtual const char* engine() const { return "onednn"; }
  void SetUp() override {
    plugin_ = Load(engine());
    ASSERT_NE(plugin_, nullptr) << engine() << ".so cannot be loaded: " << dlerror();
    host_.threads = 1;
    ge_create_args args = {};
    args.host = &host_;
    ASSERT_EQ(plugin_->engine_create(&args, &engine_, nullptr), GE_OK);
  }
  void TearDown() override {
    if (engine_ != nullptr) plugin_->engine_destroy(engine_);
  }

  Asked Ask(Maker& m) {
    Asked a;
    ge_sink sink = {};
    sink.host = &a;
    sink.layout = [](void*, const ge_layout* l, uint32_t* id) -> ge_rc {
      *id = l->kind == GE_LAYOUT_BLOCKED ? l->block_size[0] : 1;
      return GE_OK;
    };
    sink.offer = [](void* h, const ge_offer* o) -> ge_rc {
      if (o->flags & GE_OFFER_CONVERT) {
        EXPECT_NE(o->convert_from, o->convert_to);
        return GE_OK;
      }
      std::vector<uint32_t> nodes(o->node, o->node + o->n_node);
      EXPECT_TRUE(std::is_sorted(nodes.begin(), nodes.end()));
      if (!(o->flags & GE_OFFER_GROWABLE))
        return GE_OK;  // the same node, alone between plain images
      EXPECT_LE(o->edge_saving_ns, o->cost->marginal_ns);
      static_cast<Asked*>(h)->offers.insert(nodes);
      static_cast<Asked*>(h)->prices[nodes] = o->cost->marginal_ns;
      return GE_OK;
    };
    sink.decline = [](void* h, const ge_decline* d) -> ge_rc {
      static_cast<Asked*>(h)->declined[d->node] = {d->why, std::string(View(d->text))};
      return GE_OK;
    };
    EXPECT_EQ(plugin_->engine->query(engine_, &m.graph(), &sink, nullptr), GE_OK);
    return a;
  }

  // The whole graph as one segment.
  ge_compiled Compile(Maker& m) {
    const ge_graph& g = m.graph();
    std::vector<uint32_t> index(g.n_node);
    std::vector<ge_taken> taken;
    for (uint32_t i = 0; i < g.n_node; ++i) {
      index[i] = i;
      taken.push_back({0, &index[i], 1, 0, {}});
    }
    ge_segment s = {};
    s.graph = &g;
    s.taken = taken.data();
    s.n_taken = g.n_node;
    s.in = m.inputs().data();
    s.n_in = static_cast<uint32_t>(m.inputs().size());
    s.out = m.outputs().data();
    s.n_out = static_cast<uint32_t>(m.outputs().size());
    ge_compiled c = {};
    ge_err why = {};
    c.err = &why;
    EXPECT_EQ(plugin_->engine->compile(engine_, &s, 1, sizeof(s), &c, sizeof(c), nullptr), GE_OK);
    EXPECT_EQ(c.rc, GE_OK) << std::string(why.msg, why.msg_len);
    for (uint32_t i = 0; i < c.n_internal; ++i) {
      EXPECT_LE(c.internal[i].first_step, c.internal[i].last_step);
      EXPECT_LT(c.internal[i].last_step, c.n_step);
    }
    return c;
  }

  static ge_buf BufferOf(void* ptr, uint64_t bytes) {
    ge_buf b = {};
    b.ptr = ptr;
    b.bytes = bytes;
    return b;
  }

  // What the host would have shared: each pack in a block of its own, which is kept.
  std::vector<ge_buf> Packs(Maker& m, const ge_compiled& c) {
    std::vector<ge_buf> out;
    for (uint32_t i = 0; i < c.n_pack; ++i) {
      std::vector<ge_buf> from;
      for (uint32_t k = 0; k < c.pack[i].n_value; ++k) {
        const ge_value* v = GE_VALUE(&m.graph(), c.pack[i].value[k]);
        from.push_back(BufferOf(const_cast<void*>(v->data), v->data_bytes));
      }
      blocks_.emplace_back(std::aligned_alloc(64, (c.pack[i].bytes + 63) / 64 * 64), std::free);
      out.push_back(BufferOf(blocks_.back().get(), c.pack[i].bytes));
      EXPECT_EQ(plugin_->engine->fill(engine_, &c.pack[i], from.data(), &out[i], nullptr), GE_OK);
    }
    return out;
  }

  // One launch. Internals get places by first fit over their stated lives, in memory full of NaN,
  // so that a life stated too short or a read of what nobody wrote shows in the result.
  std::vector<Floats> Launch(const Maker& m, const ge_compiled& c, const std::vector<ge_buf>& packs,
                             const std::vector<Floats>& in, ge_frame* frame) {
    std::vector<uint64_t> at(c.n_internal);
    uint64_t top = 0;
    for (uint32_t i = 0; i < c.n_internal; ++i) {
      const ge_internal& x = c.internal[i];
      bool moved = true;
      while (moved) {
        moved = false;
        for (uint32_t k = 0; k < i; ++k) {
          const ge_internal& y = c.internal[k];
          const bool together = x.first_step <= y.last_step && y.first_step <= x.last_step;
          if (together && at[i] < at[k] + y.bytes && at[k] < at[i] + x.bytes) {
            at[i] = (at[k] + y.bytes + 63) / 64 * 64;
            moved = true;
          }
        }
      }
      top = std::max(top, at[i] + x.bytes);
    }
    auto block = [](uint64_t bytes) {
      const uint64_t padded = (bytes + 64) / 64 * 64;
      std::unique_ptr<float, void (*)(void*)> p(static_cast<float*>(std::aligned_alloc(64, padded)),
                                                std::free);
      std::fill(p.get(), p.get() + padded / 4, std::numeric_limits<float>::quiet_NaN());
      return p;
    };
    auto arena = block(top), scratch = block(c.workspace);
    std::vector<ge_buf> bi(in.size()), bo(m.outputs().size()), bx(c.n_internal);
    std::vector<Floats> out;
    for (size_t i = 0; i < in.size(); ++i) bi[i].ptr = const_cast<float*>(in[i].data());
    for (uint32_t v : m.outputs()) out.emplace_back(Count(m.shape(v)), NAN);
    for (size_t i = 0; i < out.size(); ++i) bo[i].ptr = out[i].data();
    for (size_t i = 0; i < bx.size(); ++i) {
      bx[i].ptr = reinterpret_cast<char*>(arena.get()) + at[i];
    }
    ge_launch l = {};
    l.pack = packs.data();
    l.n_pack = c.n_pack;
    l.in = bi.data();
    l.out = bo.data();
    l.internal = bx.data();
    l.n_in = static_cast<uint32_t>(bi.size());
    l.n_out = static_cast<uint32_t>(bo.size());
    l.n_internal = c.n_internal;
    l.workspace.ptr = scratch.get();
    l.frame = frame;
    EXPECT_EQ(plugin_->engine->enqueue(c.exec, &l, nullptr), GE_OK);
    return out;
  }

  std::vector<Floats> Run(Maker& m, const std::vector<Floats>& in) {
    const ge_compiled c = Compile(m);
    if (c.exec == nullptr) return std::vector<Floats>(m.outputs().size());
    auto out = Launch(m, c, Packs(m, c), in, nullptr);
    plugin_->engine->exec_destroy(c.exec);
    return out;
  }

  static void ExpectNear(const Floats& got, const Floats& want, float bound = 2e-6f) {
    ASSERT_EQ(got.size(), want.size());
    float top = 1e-30f, error = 0;
    for (size_t i = 0; i < got.size(); ++i) {
      top = std::max(top, std::fabs(want[i]));
      const float e = std::fabs(got[i] - want[i]);
      error = e <= error ? error : e;  // NaN stays
    }
    EXPECT_LE(error / top, bound);
  }

  ge_host_api host_ = {};
  const ge_plugin_desc* plugin_ = nullptr;
  ge_engine* engine_ = nullptr;
  std::vector<std::unique_ptr<void, void (*)(void*)>> blocks_;
};

class Native : public Onednn {
 protected:
  const char* engine() const override { return "native"; }
};

// [1, ic, h, h] with [oc, ic, 3, 3], padding 1.
Floats Conv3x3(const Floats& x, const Floats& w, int64_t ic, int64_t oc, int64_t h) {
  Floats y(static_cast<size_t>(oc * h * h));
  for (int64_t o = 0; o < oc; ++o) {
    for (int64_t r = 0; r < h; ++r) {
      for (int64_t c = 0; c < h; ++c) {
        double sum = 0;
        for (int64_t i = 0; i < ic; ++i) {
          for (int64_t k = 0; k < 9; ++k) {
            const int64_t yy = r + k / 3 - 1, xx = c + k % 3 - 1;
            if (yy < 0 || yy >= h || xx < 0 || xx >= h) continue;
            sum += static_cast<double>(x[static_cast<size_t>((i * h + yy) * h + xx)]) *
                   w[static_cast<size_t>((o * ic + i) * 9 + k)];
          }
        }
        y[static_cast<size_t>((o * h + r) * h + c)] = static_cast<float>(sum);
      }
    }
  }
  return y;
}

Floats Zip(const Floats& x, const Floats& y, const std::function<float(float, float)>& f) {
  Floats z(x.size());
  for (size_t i = 0; i < x.size(); ++i) z[i] = f(x[i], y[i]);
  return z;
}
Floats Map(Floats x, const std::function<float(float)>& f) {
  for (float& v : x) v = f(v);
  return x;
}
float Relu(float v) { return v < 0 ? 0 : v; }
float Plus(float x, float y) { return x + y; }

constexpr int64_t kH = 9;  // an odd size, so that tails are walked
const std::vector<std::pair<const char*, Shape>> kSame3x3 = {{"pads", {1, 1, 1, 1}},
                                                             {"kernel_shape", {3, 3}}};

TEST_F(Onednn, OffersAConvolutionWithBiasResidualAndActivation) {
  Maker m;
  const uint32_t x = m.Input({1, 24, kH, kH}), other = m.Input({1, 20, kH, kH});
  const uint32_t w = m.Constant({20, 24, 3, 3}, Noise(20 * 24 * 9, 1));
  const uint32_t b = m.Constant({1, 20, 1, 1}, Noise(20, 2));
  const Shape s = {1, 20, kH, kH};
  const uint32_t y = m.Node("Conv", {x, w}, s, kSame3x3);
  const uint32_t z = m.Node("Add", {y, b}, s);
  const uint32_t r = m.Node("Add", {other, z}, s);
  m.Output(m.Node("Relu", {r}, s));
  const Asked a = Ask(m);
  EXPECT_EQ(a.declined.size(), 3u) << "what follows is not taken alone";
  EXPECT_EQ(a.offers.count({0, 1, 2, 3}), 1u);
  EXPECT_EQ(a.offers.count({0, 1}), 1u) << "the chain without the residual";
  EXPECT_LT(a.price({0, 1, 2, 3}), 1.5 * static_cast<double>(a.price({0})));
}

TEST_F(Onednn, AValueThatOthersReadEndsAPattern) {
  Maker m;
  const uint32_t x = m.Input({1, 16, kH, kH});
  const uint32_t w = m.Constant({16, 16, 3, 3}, Noise(16 * 16 * 9, 1));
  const Shape s = {1, 16, kH, kH};
  const uint32_t y = m.Node("Conv", {x, w}, s, kSame3x3);
  const uint32_t a = m.Node("Relu", {y}, s);
  m.Output(m.Node("Add", {a, y}, s));
  EXPECT_EQ(Ask(m).offers.count({0, 1}), 0u);
  Maker n;  // or leaves the graph
  const uint32_t p = n.Node(
      "Conv", {n.Input({1, 16, kH, kH}), n.Constant({16, 16, 3, 3}, Noise(2304, 1))}, s, kSame3x3);
  n.Output(p);
  n.Output(n.Node("Relu", {p}, s));
  EXPECT_EQ(Ask(n).offers.count({0, 1}), 0u);
}

TEST_F(Onednn, SaysWhyItDeclines) {
  Maker m;
  const uint32_t i = m.Input({4}, GE_I32), d = m.Input({-1, 4}), x = m.Input({1, 4, 6, 6});
  m.Node("Relu", {i}, {4});
  m.Node("Relu", {d}, {-1, 4});
  m.Node("ConvTranspose", {x, m.Input({4, 4, 3, 3})}, {1, 8, 8, 8}, {{"group", {2}}});
  m.Node("Det", {x}, {1, 4});
  const Asked a = Ask(m);
  EXPECT_EQ(a.offers.size(), 0u);
  EXPECT_EQ(a.declined.at(0).first, uint32_t{GE_WHY_DTYPE});
  EXPECT_NE(a.declined.at(0).second.find("int32"), std::string::npos);
  EXPECT_EQ(a.declined.at(1).first, uint32_t{GE_WHY_DYNAMIC});
  EXPECT_EQ(a.declined.at(2).first, uint32_t{GE_WHY_ATTRIBUTE});
  EXPECT_EQ(a.declined.at(3).first, uint32_t{GE_WHY_OP});
}

// Two blocks: the first residual is read for the last time (the sum may go into its place), the
// second is read again behind the block (it may not).
TEST_F(Onednn, ResidualsAreNotOverwrittenWhileTheyAreNeeded) {
  for (const int64_t c : {16, 20}) {
    Maker m;
    const Shape s = {1, c, kH, kH};
    const Floats in = Noise(c * kH * kH, 3), w1 = Noise(c * c * 9, 4), w2 = Noise(c * c * 9, 5);
    const Floats bias = Noise(c, 6);
    const uint32_t x = m.Input(s);
    const uint32_t b = m.Constant({c, 1, 1}, bias);
    const uint32_t a =
        m.Node("Relu", {m.Node("Conv", {x, m.Constant({c, c, 3, 3}, w1)}, s, kSame3x3)}, s);
    const uint32_t y = m.Node("Conv", {a, m.Constant({c, c, 3, 3}, w2)}, s, kSame3x3);
    const uint32_t r = m.Node("Relu", {m.Node("Add", {m.Node("Add", {y, b}, s), a}, s)}, s);
    const uint32_t q = m.Node("Conv", {r, m.Constant({c, c, 3, 3}, w1)}, s, kSame3x3);
    const uint32_t t = m.Node("Add", {q, r}, s);
    m.Output(m.Node("Mul", {t, r}, s));
    m.Output(t);
    const Floats va = Map(Conv3x3(in, w1, c, c, kH), Relu);
    Floats vy = Conv3x3(va, w2, c, c, kH);
    for (size_t i = 0; i < vy.size(); ++i) vy[i] += bias[i / (kH * kH)];
    const Floats vr = Map(Zip(vy, va, Plus), Relu);
    const Floats vt = Zip(Conv3x3(vr, w1, c, c, kH), vr, Plus);
    const auto out = Run(m, {in});
    ExpectNear(out[1], vt);
    ExpectNear(out[0], Zip(vt, vr, [](float p, float k) { return p * k; }));
  }
}

// Views share storage with what they view: the pointwise step behind must not write there.
TEST_F(Native, ViewsKeepTheirStorageAlive) {
  Maker m;
  const Floats in = Noise(2 * 3 * 4 * 5, 12);
  const uint32_t x = m.Node("Relu", {m.Input({2, 3, 4, 5})}, {2, 3, 4, 5});
  const uint32_t t = m.Node("Transpose", {x}, {2, 4, 5, 3}, {{"perm", {0, 2, 3, 1}}});
  const uint32_t y = m.Node("Neg", {x}, {2, 3, 4, 5});
  m.Output(m.Node("Exp", {y}, {2, 3, 4, 5}));
  m.Output(m.Node("Exp", {t}, {2, 4, 5, 3}));
  const auto out = Run(m, {in});
  Floats want(in.size()), moved(in.size());
  for (size_t i = 0; i < in.size(); ++i) want[i] = std::exp(-Relu(in[i]));
  for (size_t n = 0; n < 2; ++n) {
    for (size_t c = 0; c < 3; ++c) {
      for (size_t k = 0; k < 20; ++k) {
        moved[(n * 20 + k) * 3 + c] = std::exp(Relu(in[(n * 3 + c) * 20 + k]));
      }
    }
  }
  ExpectNear(out[0], want);
  ExpectNear(out[1], moved);
}

TEST_F(Onednn, ThreadsShareOneExecWithAndWithoutFrames) {
  Maker m;
  const Shape s = {1, 20, kH, kH};
  const uint32_t x = m.Input(s);
  const uint32_t w = m.Constant({20, 20, 3, 3}, Noise(20 * 20 * 9, 13));
  const uint32_t y = m.Node("Sigmoid", {m.Node("Conv", {x, w}, s, kSame3x3)}, s);
  m.Output(m.Node("Mul", {y, x}, s));
  const ge_compiled c = Compile(m);
  ASSERT_NE(c.exec, nullptr);
  const Floats in = Noise(Count(s), 14);
  const std::vector<ge_buf> packs = Packs(m, c);
  const Floats want = Launch(m, c, packs, {in}, nullptr)[0];
  std::vector<int> wrong(8, 0);
  std::vector<std::thread> threads;
  for (size_t t = 0; t < wrong.size(); ++t) {
    threads.emplace_back([&, t] {
      ge_frame* frame = nullptr;
      if (t % 2 == 0) plugin_->engine->frame_create(c.exec, &frame, nullptr);
      for (int k = 0; k < 50; ++k) wrong[t] += Launch(m, c, packs, {in}, frame)[0] == want ? 0 : 1;
      if (frame != nullptr) plugin_->engine->frame_destroy(c.exec, frame);
    });
  }
  for (std::thread& t : threads) t.join();
  EXPECT_EQ(wrong, std::vector<int>(8, 0));
  plugin_->engine->exec_destroy(c.exec);
}

// It computes in the mode of the calling thread, which is the session's; the option that it had for
// itself is refused and names the switch for all engines.
TEST_F(Onednn, DenormalsAreAsTheCallingThreadHasThem) {
  Maker m;
  const uint32_t x = m.Input({1, 32});
  m.Output(m.Node("Mul", {x, m.Constant({1, 32}, Floats(32, 1e-40f))}, {1, 32}));
  const Floats in(32, 1e10f);
  {
    const ge::FloatModeScope mode(ge::Denormals::kFlush);
    EXPECT_EQ(Run(m, {in})[0], Floats(32, 0.0f));
  }
  {
    const ge::FloatModeScope mode(ge::Denormals::kKeep);
    ExpectNear(Run(m, {in})[0], Floats(32, 1e-40f * 1e10f));
  }
  ge_create_args args = {};
  args.h = GE_HDR(ge_create_args, GE_TAG_CREATE_ARGS);
  args.host = &host_;
  args.options = Str("denormals=keep");
  ge_engine* refused = nullptr;
  ge_err err = {};
  err.h = GE_HDR(ge_err, GE_TAG_ERR);
  EXPECT_EQ(plugin_->engine_create(&args, &refused, &err), GE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(err.msg, err.msg_len).find("--denormals keep"), std::string::npos);
}

TEST_F(Onednn, ASegmentOfForeignNodesIsRefused) {
  Maker m;
  m.Output(m.Node("Det", {m.Input({2, 2})}, {}));
  const uint32_t node = 0;
  const ge_taken taken = {0, &node, 1, 0, {}};
  ge_segment s = {};
  s.graph = &m.graph();
  s.taken = &taken;
  s.n_taken = 1;
  ge_compiled c = {};
  ge_err why = {};
  c.err = &why;
  ASSERT_EQ(plugin_->engine->compile(engine_, &s, 1, sizeof(s), &c, sizeof(c), nullptr), GE_OK);
  EXPECT_EQ(c.rc, GE_INVALID_ARGUMENT);
  EXPECT_NE(std::string(why.msg, why.msg_len).find("1 nodes"), std::string::npos);
}

}  // namespace
