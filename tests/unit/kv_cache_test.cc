// Decoders in the forms that exporters give them, each run with its past fed back and with caches
// in its place: the same numbers, for prompts and single ids, one sequence and two, across growth.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>

#include "frontend/text/text.h"
#include "ge/plan/check/check.h"
#include "tests/unit/graph_session.h"

namespace ge::test {
namespace {

constexpr int kWords = 5;

std::string Numbers(int count, uint32_t seed) {
  std::string text = "[";
  for (int i = 0; i < count; ++i) {
    seed = seed * 1664525u + 1013904223u;
    text += (i ? ", " : "") + std::to_string(static_cast<int>(seed >> 24) - 128) + "e-2";
  }
  return text + "]";
}

// Lower triangle of a side.
std::string Triangle(int side) {
  std::string text = "[";
  for (int i = 0; i < side * side; ++i)
    text += (i ? ", " : "") + std::to_string(i % side <= i / side);
  return text + "]";
}

// What differs between exporters. `params` and `results` are the past's and the present's.
struct Form {
  std::string name;
  std::string params = "past_key: f32[B,2,P,2], past_value: f32[B,2,P,2]";
  std::string places = "  at = Range(past, all, one)\n";  // i64[S], of the new ids
  std::string join =
      "  present_key = Concat(past_key, k) {axis=2}\n"
      "  present_value = Concat(past_value, v) {axis=-2}\n"
      "  keys = Transpose(present_key) {perm=[0, 1, 3, 2]}\n"
      "  values = Identity(present_value)\n";
  std::string mask;  // masked = scaled where it may be seen
  std::string shares = "  shares = Softmax(masked) {axis=-1}\n";
  std::string past = "  past_shape = Shape(past_key)\n  past = Gather(past_shape, two)\n";
  int heads_kv = 2;
};

const char* const kByRange =
    "  everywhere = Range(zero, all, one)\n"
    "  row = Unsqueeze(everywhere, at0)\n"
    "  here = Unsqueeze(at, at1)\n"
    "  seen = LessOrEqual(row, here)\n"
    "  masked = Where(seen, scaled, low)\n";

std::string TextOf(const Form& f) {
  const std::string kv = std::to_string(2 * f.heads_kv), heads = std::to_string(f.heads_kv);
  return "ge 1\nopset \"\" 28\nopset \"ge\" 1\n"
         "const zero : i64[] = 0\nconst one : i64[] = 1\nconst two : i64[] = 2\n"
         "const last : i64[] = -1\nconst at0 : i64[1] = [0]\nconst at1 : i64[1] = [1]\n"
         "const at2 : i64[1] = [2]\nconst at3 : i64[1] = [3]\nconst at12 : i64[2] = [1, 2]\n"
         "const end : i64[1] = [9223372036854775807]\nconst minus1 : i64[1] = [-1]\n"
         "const heads : i64[4] = [0, 0, 2, 2]\nconst heads_kv : i64[4] = [0, 0, " +
         heads +
         ", 2]\nconst joined : i64[3] = [0, 0, 4]\nconst one_f : f32[] = 1\n"
         "const root : f32[] = 1.5\nconst low : f32[] = -3e+38\n"
         "const causal : bool[1,1,32,32] = " +
         Triangle(32) + "\nconst words : f32[5,4] = " + Numbers(20, 1) +
         "\nconst step : f32[4] = " + Numbers(4, 2) + "\nconst wq : f32[4,4] = " + Numbers(16, 3) +
         "\nconst wk : f32[4," + kv + "] = " + Numbers(8 * f.heads_kv, 4) + "\nconst wv : f32[4," +
         kv + "] = " + Numbers(8 * f.heads_kv, 5) + "\nconst wo : f32[4,5] = " + Numbers(20, 6) +
         "\nfn main(ids: i64[B,S], " + f.params + ") -> (logits, present_key, present_value) {\n" +
         f.past +
         "  ids_shape = Shape(ids)\n  new = Gather(ids_shape, one)\n  all = Add(past, new)\n"
         "  new1 = Unsqueeze(new, at0)\n  past1 = Unsqueeze(past, at0)\n"
         "  all1 = Unsqueeze(all, at0)\n" +
         f.places +
         "  at_f = Cast(at) {to=1}\n  at_column = Unsqueeze(at_f, minus1)\n"
         "  turn = Mul(at_column, step)\n  wave = Sin(turn)\n  word = Gather(words, ids)\n"
         "  x = Add(word, wave)\n  q0 = MatMul(x, wq)\n  k0 = MatMul(x, wk)\n"
         "  v0 = MatMul(x, wv)\n  q1 = Reshape(q0, heads)\n  k1 = Reshape(k0, heads_kv)\n"
         "  v1 = Reshape(v0, heads_kv)\n  q = Transpose(q1) {perm=[0, 2, 1, 3]}\n"
         "  k = Transpose(k1) {perm=[0, 2, 1, 3]}\n  v = Transpose(v1) {perm=[0, 2, 1, 3]}\n" +
         f.join + "  scores = MatMul(q, keys)\n  scaled = Div(scores, root)\n" + f.mask + f.shares +
         "  mixed = MatMul(shares, values)\n  back = Transpose(mixed) {perm=[0, 2, 1, 3]}\n"
         "  flat = Reshape(back, joined)\n  logits = MatMul(flat, wo)\n}\n"
         "entry infer \"main\" = main\n";
}

Form Plain() {
  Form f;
  f.name = "range";
  f.mask = kByRange;
  return f;
}

Form Named(const char* name) {
  Form f = Plain();
  f.name = name;
  return f;
}

Form RowsBeforeHeads() {
  Form order = Named("rows before heads");
  order.params = "past_key: f32[B,P,2,2], past_value: f32[B,P,2,2]";
  order.past = "  past_shape = Shape(past_key)\n  past = Gather(past_shape, one)\n";
  order.join =
      "  past_k = Transpose(past_key) {perm=[0, 2, 1, 3]}\n"
      "  all_k = Concat(past_k, k) {axis=2}\n"
      "  present_key = Transpose(all_k) {perm=[0, 2, 1, 3]}\n"
      "  keys = Transpose(all_k) {perm=[0, 1, 3, 2]}\n"
      "  new_v = Transpose(v) {perm=[0, 2, 1, 3]}\n"
      "  present_value = Concat(past_value, new_v) {axis=1}\n"
      "  values = Transpose(present_value) {perm=[0, 2, 1, 3]}\n";
  return order;
}

Form SharedKeys() {
  Form shared = Named("one head of keys for two of queries");
  shared.heads_kv = 1;
  shared.params = "past_key: f32[B,1,P,2], past_value: f32[B,1,P,2]";
  shared.join =
      "  batch = Gather(ids_shape, zero)\n  batch1 = Unsqueeze(batch, at0)\n"
      "  wide = Concat(batch1, at1, at2, all1, at2) {axis=0}\n"
      "  narrow = Concat(batch1, at2, all1, at2) {axis=0}\n"
      "  present_key = Concat(past_key, k) {axis=2}\n"
      "  present_value = Concat(past_value, v) {axis=-2}\n"
      "  k2 = Unsqueeze(present_key, at2)\n  k3 = Expand(k2, wide)\n  k4 = Reshape(k3, narrow)\n"
      "  keys = Transpose(k4) {perm=[0, 1, 3, 2]}\n"
      "  v2 = Unsqueeze(present_value, at2)\n  v3 = Expand(v2, wide)\n"
      "  values = Reshape(v3, narrow)\n";
  return shared;
}

Form MaskInput() {
  Form mask = Named("mask as an input, places from it");
  mask.params += ", attention_mask: i64[B,M]";
  mask.places =
      "  sums = CumSum(attention_mask, one)\n  from_one = Sub(sums, one)\n"
      "  at = Slice(from_one, past1, end, at1)\n";
  mask.mask =
      "  everywhere = Range(zero, all, one)\n  row = Unsqueeze(everywhere, at0)\n"
      "  places = Range(past, all, one)\n  here = Unsqueeze(places, at1)\n"
      "  seen = LessOrEqual(row, here)\n  causal_scores = Where(seen, scaled, low)\n"
      "  flags = Cast(attention_mask) {to=1}\n  wide_flags = Unsqueeze(flags, at12)\n"
      "  off = Sub(one_f, wide_flags)\n  much = Mul(off, low)\n"
      "  masked = Max(causal_scores, low)\n  masked2 = Add(masked, much)\n";
  mask.shares = "  shares = Softmax(masked2) {axis=-1}\n";
  return mask;
}

std::vector<Form> Forms() {
  Form triangle = Named("triangle"), trilu = Named("trilu"), steps = Named("softmax in steps");
  triangle.mask =
      "  from = Sub(all1, new1)\n"
      "  rows = Slice(causal, from, all1, at2, at1)\n"
      "  seen = Slice(rows, at0, all1, at3, at1)\n"
      "  masked = Where(seen, scaled, low)\n";
  trilu.mask =
      "  square = Concat(new1, all1) {axis=0}\n"
      "  ones = Expand(one_f, square)\n"
      "  above = Add(past, one)\n"
      "  later = Trilu(ones, above) {upper=1}\n"
      "  much = Mul(later, low)\n"
      "  masked = Add(scaled, much)\n";
  steps.shares =
      "  most = ReduceMax(masked, minus1)\n  less = Sub(masked, most)\n  raised = Exp(less)\n"
      "  sum = ReduceSum(raised, minus1)\n  shares = Div(raised, sum)\n";
  return {Plain(), triangle, trilu, steps, RowsBeforeHeads(), SharedKeys(), MaskInput()};
}

std::unique_ptr<Session> OpenWith(const std::string& text, int64_t kv_cache,
                                  const std::string& engines) {
  Result<Graph> graph = ParseText(text, "decoder.gt");
  EXPECT_TRUE(graph.ok()) << graph.status().ToString();
  SessionOptions options;
  options.engines = *ParseEngineList(engines);
  options.kv_cache = kv_cache;
  Result<std::unique_ptr<Session>> session = Session::Create(std::move(options));
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  if (!session.ok()) return nullptr;
  const Status loaded = (*session)->LoadGraph(*std::move(graph));
  EXPECT_TRUE(loaded.ok()) << loaded.ToString();
  return loaded.ok() ? *std::move(session) : nullptr;
}

struct Data {
  std::vector<int64_t> dims, ints;
  std::vector<float> floats;
};

TensorView ViewOf(Data* d, DType dtype) {
  TensorView v;
  v.dtype = dtype;
  v.dims = d->dims;
  v.data = dtype == DType::kInt64 ? static_cast<void*>(d->ints.data()) : d->floats.data();
  v.bytes = dtype == DType::kInt64 ? d->ints.size() * 8 : d->floats.size() * 4;
  return v;
}

// The entry's outputs; inputs by name.
Result<std::map<std::string, Data>> RunOnce(Session* s, std::map<std::string, Data>* feed) {
  const Function& f = s->graph().fn(s->graph().entries[0].fn);
  std::vector<TensorView> in;
  for (const ValueId p : f.params) {
    in.push_back(ViewOf(&feed->at(f.value(p).name), f.value(p).type.dtype));
  }
  std::vector<TensorView> out(f.results.size());
  GE_RETURN_IF_ERROR(s->Run("", in, out));
  std::map<std::string, Data> results;
  for (size_t i = 0; i < out.size(); ++i) {
    Data& d = results[f.value(f.results[i]).name];
    d.dims = out[i].dims;
    const auto* data = static_cast<const float*>(out[i].data);
    d.floats.assign(data, data + out[i].bytes / 4);
    FreeAligned()(static_cast<std::byte*>(out[i].data));
  }
  return results;
}

// A sequence of ids on both sides.
class BothWays {
 public:
  BothWays(const Form& form, const std::string& engines)
      : form_(form),
        plain_(OpenWith(TextOf(form), 0, engines)),
        cached_(OpenWith(TextOf(form), 4, engines)) {}
  bool open() const { return plain_ && cached_; }
  Session* cached() { return cached_.get(); }

  void Begin(int64_t batch) {
    batch_ = batch;
    rows_ = 0;
    ASSERT_TRUE(cached_->states().Reset(cached_->graph()).ok());
    feed_.clear();
    const bool rows_first = form_.params.find("[B,P,") != std::string::npos;
    for (const char* name : {"past_key", "past_value"}) {
      feed_[name].dims = rows_first ? std::vector<int64_t>{batch, 0, form_.heads_kv, 2}
                                    : std::vector<int64_t>{batch, form_.heads_kv, 0, 2};
    }
  }

  void Add(int64_t count) {
    rows_ += count;
    Data ids{{batch_, count}, {}, {}}, mask{{batch_, rows_}, {}, {}};
    for (int64_t i = 0; i < batch_ * count; ++i) {
      ids.ints.push_back((rows_ * 7 + i * i * 3 + rows_ * i) % kWords);
    }
    // The last sequence begins with a place that does not count.
    mask.ints.assign(static_cast<size_t>(batch_ * rows_), 1);
    if (batch_ > 1) mask.ints[static_cast<size_t>((batch_ - 1) * rows_)] = 0;
    feed_["ids"] = ids;
    feed_["attention_mask"] = mask;
    auto wanted = RunOnce(plain_.get(), &feed_), found = RunOnce(cached_.get(), &feed_);
    ASSERT_TRUE(wanted.ok() && found.ok())
        << wanted.status().ToString() << " " << found.status().ToString();
    ASSERT_EQ(found->size(), 1u);
    const Data &a = found->at("logits"), &b = wanted->at("logits");
    ASSERT_EQ(a.dims, b.dims);
    for (size_t i = 0; i < a.floats.size(); ++i) {
      ASSERT_NEAR(a.floats[i], b.floats[i], 1e-5) << form_.name << " at " << rows_;
    }
    feed_["past_key"] = wanted->at("present_key");
    feed_["past_value"] = wanted->at("present_value");
  }

 private:
  const Form form_;
  std::unique_ptr<Session> plain_, cached_;
  std::map<std::string, Data> feed_;
  int64_t batch_ = 1, rows_ = 0;
};

TEST(KvCache, GivesWhatThePastFedBackGives) {
  const std::string device = "ref," + SamplesFolder() + "devsim.so:strict=1;";
  for (const std::string& engines :
       {std::string("ref"), std::string("native,ref"), device + "price=0", device + "take=60"}) {
    for (const Form& form : Forms()) {
      SCOPED_TRACE(form.name + (" on " + engines));
      BothWays both(form, engines);
      ASSERT_TRUE(both.open());
      for (const int64_t batch : {1, 2}) {
        both.Begin(batch);
        for (const int64_t count : {3, 1, 1, 4, 1, 1, 7, 1}) both.Add(count);
        both.Begin(batch);
        for (const int64_t count : {1, 1, 1}) both.Add(count);
      }
    }
  }
}

TEST(KvCache, WritesNewRowsAlone) {
  BothWays both(Forms()[0], "ref");
  ASSERT_TRUE(both.open());
  both.Begin(1);
  both.Add(3);
  both.Add(1);
  const auto plan = both.cached()->Latest("");
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->states_out.size(), 3u);
  size_t appended = 0;
  for (const PlanSegment& s : plan->plan.functions[0].segments) appended += s.appends;
  EXPECT_EQ(appended, 2u);
  EXPECT_EQ(std::count(plan->in_place.begin(), plan->in_place.end(), true), 2);
  // Twice four rows of two heads of two numbers, and the length twice.
  EXPECT_EQ(both.cached()->states().bytes(), 2u * 4 * 2 * 2 * 4 + 2 * 8);
  // The same writes by a segment that does not append are refused where they stand.
  Plan wrong = plan->plan;
  for (PlanSegment& s : wrong.functions[0].segments) s.appends = false;
  EXPECT_NE(Check(wrong).status().message().find("wanted behind a commit"), std::string::npos);
  wrong = plan->plan;
  for (PlanSegment& s : wrong.functions[0].segments) {
    if (s.appends) s.may_alias.clear();
  }
  EXPECT_NE(Check(wrong).status().message().find("not permitted"), std::string::npos);
}

// Caches that a device appends to lie in its memory: ids go there, logits come back.
TEST(KvCache, OnADeviceInputsAndOutputsAloneAreCopied) {
  BothWays both(Forms()[0], SamplesFolder() + "devsim.so:strict=1");
  ASSERT_TRUE(both.open());
  both.Begin(1);
  for (const int64_t count : {1, 1, 1}) both.Add(count);
  const auto plan = both.cached()->Latest("");
  ASSERT_TRUE(plan);
  const PlanFunction& f = plan->plan.functions[0];
  int64_t copied = 0, given = 0;
  for (const Instruction& in : f.code) {
    if (in.op == PlanOp::kCopy) copied += f.values[in.src].bytes;
  }
  for (const auto* list : {&f.inputs, &f.outputs}) {
    for (const PlanValueId v : *list) given += f.values[v].domain == 0 ? f.values[v].bytes : 0;
  }
  EXPECT_EQ(copied, given);
  EXPECT_EQ(given, 8 + kWords * 4);
  EXPECT_EQ(std::count(plan->in_place.begin(), plan->in_place.end(), true), 2);
  const uint64_t moves = both.cached()->states().moves();
  both.Add(1);
  EXPECT_EQ(both.cached()->states().moves(), moves);
}

TEST(KvCache, RunsThatFailOrMeetNaNLeaveNothing) {
  BothWays both(Forms()[0], "ref");
  ASSERT_TRUE(both.open());
  both.Begin(1);
  both.Add(2);
  // An id that there is no word for: the run fails, the length stays.
  std::map<std::string, Data> feed;
  feed["ids"] = {{1, 2}, {3, 99}, {}};
  EXPECT_FALSE(RunOnce(both.cached(), &feed).ok());
  both.Add(1);
  both.Add(3);
  // Rows of NaN behind the length would reach all, weighed with zero.
  for (const char* name : {"past_key", "past_value"}) {
    const Graph& g = both.cached()->graph();
    for (StateId s = 1; s < g.states.size(); ++s) {
      if (g.states[s].name != name) continue;
      TensorView view;
      ASSERT_TRUE(both.cached()->GetState(s, &view).ok());
      std::vector<float> values(view.bytes / 4);
      view.data = values.data();
      ASSERT_TRUE(both.cached()->GetState(s, &view).ok());
      const bool turned = view.dims[3] != 2;  // keys lie as their product reads them
      for (size_t i = 0; i < values.size(); ++i) {
        const size_t room = static_cast<size_t>(view.dims[turned ? 3 : 2]);
        const size_t row = turned ? i % room : i / 2 % room;
        if (row >= 6) values[i] = std::numeric_limits<float>::quiet_NaN();
      }
      ASSERT_TRUE(both.cached()->SetState(s, view).ok());
    }
  }
  both.Add(1);
  both.Add(1);
}

}  // namespace
}  // namespace ge::test
