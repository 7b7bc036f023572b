// Collectives between sessions of one process, by the engine `ranks`: results of each rank against
// whole tensors that the test cuts itself, over meshes, axes, uneven and empty shares; and wrong
// use, which ends all ranks with a reason.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <numeric>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "frontend/text/text.h"
#include "tests/unit/graph_session.h"

namespace ge::test {
namespace {

using Dims = std::vector<int64_t>;
using RankNumbers = std::vector<double>;

int64_t CountOf(const Dims& dims) {
  return std::accumulate(dims.begin(), dims.end(), int64_t{1}, std::multiplies<>());
}

struct Mesh {
  Dims sizes;
  std::vector<size_t> axes;  // of the group
  int64_t ranks() const { return CountOf(sizes); }
  std::string Names(const std::vector<size_t>& which, bool sized) const {
    std::string text;
    for (const size_t a : which) {
      text += (text.empty() ? "" : ",") + std::string(1, static_cast<char>('a' + a));
      if (sized) text += "=" + std::to_string(sizes[a]);
    }
    return text;
  }
  std::string Text() const {
    std::vector<size_t> all(sizes.size());
    std::iota(all.begin(), all.end(), size_t{0});
    return Names(all, true);
  }
  int64_t At(int64_t rank, size_t axis) const {
    for (size_t a = sizes.size(); --a > axis;) rank /= sizes[a];
    return rank % sizes[axis];
  }
  bool InGroup(size_t axis) const {
    return std::find(axes.begin(), axes.end(), axis) != axes.end();
  }
  // Ranks of one group have one number.
  int64_t GroupOf(int64_t rank) const {
    int64_t group = 0;
    for (size_t a = 0; a < sizes.size(); ++a) {
      if (!InGroup(a)) group = group * sizes[a] + At(rank, a);
    }
    return group;
  }
  int64_t PlaceOf(int64_t rank) const {
    int64_t place = 0;
    for (const size_t a : axes) place = place * sizes[a] + At(rank, a);
    return place;
  }
  int64_t GroupSize() const {
    int64_t n = 1;
    for (const size_t a : axes) n *= sizes[a];
    return n;
  }
};

struct Tensor {
  Dims dims;
  RankNumbers x;
};

Tensor RandomOf(const Dims& dims, uint64_t seed) {
  Tensor t{dims, RankNumbers(static_cast<size_t>(CountOf(dims)))};
  for (size_t i = 0; i < t.x.size(); ++i) {
    t.x[i] = static_cast<double>((i * 7919 + seed * 104729) % 2003) - 1000;
  }
  return t;
}

// A rank's share along dim: rounded up, the last ones smaller or empty.
Tensor Cut(const Tensor& t, size_t dim, int64_t shares, int64_t share) {
  const int64_t n = t.dims[dim], each = (n + shares - 1) / shares;
  const int64_t first = std::min(n, each * share), size = std::min(each, n - first);
  Tensor out{t.dims, {}};
  out.dims[dim] = size;
  int64_t inner = 1;
  for (size_t d = dim + 1; d < t.dims.size(); ++d) inner *= t.dims[d];
  for (int64_t i = 0; i < CountOf(t.dims); ++i) {
    const int64_t at = i / inner % n;
    if (at >= first && at < first + size) out.x.push_back(t.x[static_cast<size_t>(i)]);
  }
  return out;
}

Tensor Reduced(const Mesh& mesh, int64_t rank, const std::string& how,
               const std::vector<Tensor>& of) {
  Tensor out = of[static_cast<size_t>(rank)];
  bool first = true;
  for (int64_t r = 0; r < mesh.ranks(); ++r) {
    if (mesh.GroupOf(r) != mesh.GroupOf(rank)) continue;
    const RankNumbers& x = of[static_cast<size_t>(r)].x;
    for (size_t i = 0; i < x.size(); ++i) {
      double& y = out.x[i];
      y = first          ? x[i]
          : how == "max" ? std::max(y, x[i])
          : how == "min" ? std::min(y, x[i])
                         : y + x[i];
    }
    first = false;
  }
  return out;
}

struct Dtype {
  const char* text;
  DType type;
};
constexpr Dtype kF64{"f64", DType::kDouble}, kF32{"f32", DType::kFloat}, kI64{"i64", DType::kInt64};

std::vector<char> Raw(const RankNumbers& x, const Dtype& dtype) {
  std::vector<char> bytes(x.size() * (dtype.type == DType::kFloat ? 4 : 8));
  for (size_t i = 0; i < x.size(); ++i) {
    if (dtype.type == DType::kFloat)
      reinterpret_cast<float*>(bytes.data())[i] = static_cast<float>(x[i]);
    if (dtype.type == DType::kDouble) reinterpret_cast<double*>(bytes.data())[i] = x[i];
    if (dtype.type == DType::kInt64)
      reinterpret_cast<int64_t*>(bytes.data())[i] = static_cast<int64_t>(x[i]);
  }
  return bytes;
}

std::string TypeText(const Dtype& dtype, const Dims& dims) {
  std::string text;
  for (const int64_t d : dims) text += (text.empty() ? "" : ",") + std::to_string(d);
  return std::string(dtype.text) + "[" + text + "]";
}

// What one rank gives and wants.
struct Turn {
  std::vector<Tensor> in, out;
  std::string op, attrs;
};

std::string TextOf(const Mesh& mesh, int64_t rank, const Turn& turn, const Dtype& dtype) {
  std::string params, ins, outs, results;
  for (size_t i = 0; i < turn.in.size(); ++i) {
    const std::string n = std::to_string(i), comma = i == 0 ? "" : ", ";
    params += comma + "x" + n + ": " + TypeText(dtype, turn.in[i].dims);
    ins += comma + "x" + n;
    outs += comma + "y" + n + ": " + TypeText(dtype, turn.out[i].dims);
    results += comma + "y" + n;
  }
  return "ge 1\nopset \"\" 28\nopset \"comm\" 1\nfn main(" + params + ") -> (" + results +
         ") effects [collective 1] {\n  " + outs + " = comm." + turn.op + "(" + ins + ") {" +
         turn.attrs + ", mesh=\"" + mesh.Text() + "\", axes=\"" + mesh.Names(mesh.axes, false) +
         "\", rank=" + std::to_string(rank) +
         "} effects [collective 1 seq 0]\n}\nentry infer \"main\" = main\n";
}

class Rank {
 public:
  Rank(const std::string& text, const std::string& options, const std::string& engine = "ranks") {
    auto graph = ParseText(text, "rank.gt");
    status_ = graph.status();
    SessionOptions o;
    auto engines = ParseEngineList("ref," + SamplesFolder() + engine + ".so:" + options);
    if (status_.ok()) status_ = engines.status();
    if (!status_.ok()) return;
    o.engines = *engines;
    o.plugins = "parallel";
    auto session = Session::Create(std::move(o));
    status_ = session.status();
    if (!status_.ok()) return;
    session_ = *std::move(session);
    status_ = session_->LoadGraph(*std::move(graph));
  }
  Status Run(const Turn& turn, const Dtype& dtype, std::vector<std::vector<char>>* out) {
    if (!status_.ok()) return status_;
    std::vector<std::vector<char>> in;
    std::vector<TensorView> views, results;
    for (const Tensor& t : turn.in) in.push_back(Raw(t.x, dtype));
    for (size_t i = 0; i < in.size(); ++i) {
      views.push_back({dtype.type, turn.in[i].dims, in[i].data(), in[i].size()});
    }
    out->clear();
    for (const Tensor& t : turn.out) out->emplace_back(Raw(t.x, dtype).size(), 'x');
    for (std::vector<char>& o : *out) {
      results.emplace_back();
      results.back().data = o.data();
      results.back().bytes = o.size();
    }
    return session_->Run("main", views, results);
  }
  Session* session() { return session_.get(); }

 private:
  Status status_;
  std::unique_ptr<Session> session_;
};

std::vector<Turn> TurnsOf(const Mesh& mesh, const std::string& op, const std::string& how,
                          const Dims& dims, size_t dim, size_t other, uint64_t seed) {
  std::vector<Turn> turns;
  std::vector<Tensor> mine, more;
  for (int64_t r = 0; r < mesh.ranks(); ++r) {
    mine.push_back(RandomOf(dims, seed + static_cast<uint64_t>(r) + 1));
    more.push_back(RandomOf({40'000}, seed + static_cast<uint64_t>(r) + 100));  // not packed
  }
  const int64_t n = mesh.GroupSize();
  const std::string reduction = "reduction=\"" + how + "\"", at = std::to_string(dim),
                    size = ", size=" + std::to_string(dims[dim]);
  for (int64_t r = 0; r < mesh.ranks(); ++r) {
    const auto group = static_cast<uint64_t>(mesh.GroupOf(r));
    const Tensor whole = RandomOf(dims, seed + 1000 + group);
    const int64_t place = mesh.PlaceOf(r);
    if (op == "AllReduce") {
      turns.push_back({{mine[static_cast<size_t>(r)], more[static_cast<size_t>(r)]},
                       {Reduced(mesh, r, how, mine), Reduced(mesh, r, how, more)},
                       op,
                       reduction});
    } else if (op == "AllGather") {
      turns.push_back({{Cut(whole, dim, n, place)}, {whole}, op, "dim=" + at + size});
    } else if (op == "ReduceScatter") {
      turns.push_back({{mine[static_cast<size_t>(r)]},
                       {Cut(Reduced(mesh, r, how, mine), dim, n, place)},
                       op,
                       reduction + ", dim=" + at});
    } else {
      turns.push_back({{Cut(whole, dim, n, place)},
                       {Cut(whole, other, n, place)},
                       op,
                       "gather_dim=" + at + size + ", split_dim=" + std::to_string(other)});
    }
  }
  return turns;
}

void RunAll(const Mesh& mesh, const std::vector<Turn>& turns, const Dtype& dtype,
            const std::string& options) {
  std::vector<std::thread> threads;
  std::vector<std::string> wrong(turns.size());
  for (size_t r = 0; r < turns.size(); ++r) {
    threads.emplace_back([&, r] {
      const std::string text = TextOf(mesh, static_cast<int64_t>(r), turns[r], dtype);
      Rank rank(text, options);
      std::vector<std::vector<char>> out;
      for (int step = 0; step < 3 && wrong[r].empty(); ++step) {
        const Status ran = rank.Run(turns[r], dtype, &out);
        if (!ran.ok()) wrong[r] = ran.ToString() + "\n" + text;
        for (size_t i = 0; ran.ok() && i < out.size(); ++i) {
          if (out[i] != Raw(turns[r].out[i].x, dtype)) wrong[r] = "other results\n" + text;
        }
      }
    });
  }
  for (std::thread& t : threads) t.join();
  for (const std::string& w : wrong) EXPECT_EQ(w, "");
}

const std::vector<Mesh>& Meshes() {
  static const std::vector<Mesh> meshes = {{{2}, {0}},          {{3}, {0}},       {{2, 2}, {0}},
                                           {{2, 2}, {1}},       {{2, 2}, {0, 1}}, {{2, 3}, {1}},
                                           {{2, 1, 2}, {0, 2}}, {{2, 3}, {0, 1}}};
  return meshes;
}

TEST(Ranks, CollectivesOverMeshesAndAxesAreThoseOfWholeTensors) {
  uint64_t seed = 0;
  for (const char* const options : {"wait=60", "wait=60;async=0"}) {
    for (const Mesh& mesh : Meshes()) {
      // Runs on the host's own device take a thread of the pool each, of which tests have two.
      if (mesh.ranks() > 2 && std::string(options) != "wait=60") continue;
      for (const char* const op : {"AllReduce", "AllGather", "ReduceScatter", "AllToAll"}) {
        for (const auto& [dims, dim, other] : std::vector<std::tuple<Dims, size_t, size_t>>{
                 {{4, 6, 3}, 0, 1}, {{3, 5, 2}, 1, 0}, {{2, 3, 7}, 2, 1}}) {
          const std::string how = seed % 3 == 0 ? "sum" : seed % 3 == 1 ? "max" : "min";
          const Dtype dtype = seed % 4 == 0 ? kF32 : seed % 4 == 1 ? kI64 : kF64;
          RunAll(mesh, TurnsOf(mesh, op, how, dims, dim, other, ++seed), dtype, options);
        }
      }
    }
  }
}

// ---- wrong use ---------------------------------------------------------------------------------

// Runs each turn on a thread of its own, as the rank that it names; answers their messages. All
// live until all have ended: a mesh is broken as long as one of its ranks is there.
std::vector<std::string> Ends(const Mesh& mesh, const std::vector<Turn>& turns,
                              const std::vector<int64_t>& ranks, const std::string& options) {
  std::vector<std::thread> threads;
  std::vector<std::string> said(turns.size());
  std::vector<std::unique_ptr<Rank>> rank(turns.size());
  for (size_t i = 0; i < turns.size(); ++i) {
    threads.emplace_back([&, i] {
      rank[i] = std::make_unique<Rank>(TextOf(mesh, ranks[i], turns[i], kF64), options);
      std::vector<std::vector<char>> out;
      said[i] = rank[i]->Run(turns[i], kF64, &out).ToString();
    });
  }
  for (std::thread& t : threads) t.join();
  return said;
}

void ExpectAll(const std::vector<std::string>& said, const std::string& words) {
  for (const std::string& s : said) EXPECT_NE(s.find(words), std::string::npos) << s;
}

TEST(Ranks, TwoSessionsOfOneRankEndAll) {
  const Mesh mesh{{3}, {0}};
  std::vector<Turn> turns = TurnsOf(mesh, "AllReduce", "sum", {4, 4, 2}, 0, 1, 5);
  turns[2] = turns[0];
  ExpectAll(Ends(mesh, turns, {0, 1, 0}, "wait=60"), "rank 0 of the mesh 'a=3' came twice at once");
}

TEST(Ranks, WhoDoesNotComeIsNamed) {
  const Mesh mesh{{3}, {0}};
  std::vector<Turn> turns = TurnsOf(mesh, "AllReduce", "sum", {4, 4, 2}, 0, 1, 5);
  turns.pop_back();
  const auto said = Ends(mesh, turns, {0, 1}, "wait=0.2");
  ExpectAll(said, "rank 2 did not come");
  ExpectAll(said, "in AllReduce 'y0', step 1");
}

TEST(Ranks, OtherProgramsEndAll) {
  const Mesh mesh{{2}, {0}};
  std::vector<Turn> turns = TurnsOf(mesh, "AllReduce", "sum", {4, 4, 2}, 0, 1, 5);
  turns[1].attrs = "reduction=\"max\"";
  ExpectAll(Ends(mesh, turns, {0, 1}, "wait=60"), "ranks meet with different programs here");
}

TEST(Ranks, AMeshWithoutItsRankIsRefused) {
  const Mesh mesh{{2}, {0}};
  const std::vector<Turn> turns = TurnsOf(mesh, "AllReduce", "sum", {4, 4, 2}, 0, 1, 5);
  const auto said = Ends(mesh, {turns[0]}, {2}, "wait=1");
  EXPECT_NE(said[0].find("rank"), std::string::npos) << said[0];
  EXPECT_EQ(said[0].find("OK"), std::string::npos) << said[0];
}

TEST(Ranks, ACancelledRankEndsTheOthers) {
  const Mesh mesh{{3}, {0}};
  const std::vector<Turn> turns = TurnsOf(mesh, "AllReduce", "sum", {4, 4, 2}, 0, 1, 5);
  std::vector<std::unique_ptr<Rank>> rank;
  for (const int64_t r : {0, 1, 2}) {
    rank.push_back(
        std::make_unique<Rank>(TextOf(mesh, r, turns[static_cast<size_t>(r)], kF64), "wait=60"));
  }
  std::vector<std::string> said(2);
  std::atomic<int> ended{0};
  std::vector<std::thread> threads;
  for (const size_t r : {0u, 1u}) {
    threads.emplace_back([&, r] {
      std::vector<std::vector<char>> out;
      said[r] = rank[r]->Run(turns[r], kF64, &out).ToString();
      ++ended;
    });
  }
  while (ended == 0) {  // a cancel of a run that has not begun does nothing
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    rank[1]->session()->calls().CancelAll();
  }
  for (std::thread& t : threads) t.join();
  EXPECT_NE(said[0].find("rank 1 was cancelled in AllReduce 'y0'"), std::string::npos) << said[0];
  EXPECT_NE(said[1].find("CANCELLED"), std::string::npos) << said[1];
}

TEST(Ranks, ARankWhoseSessionEndsEndsTheOthers) {
  const Mesh mesh{{2}, {0}};
  const std::vector<Turn> turns = TurnsOf(mesh, "AllReduce", "sum", {4, 4, 2}, 0, 1, 5);
  std::vector<std::unique_ptr<Rank>> rank;
  for (const int64_t r : {0, 1}) {
    rank.push_back(
        std::make_unique<Rank>(TextOf(mesh, r, turns[static_cast<size_t>(r)], kF64), "wait=60"));
  }
  std::string said;
  std::thread first([&] {
    std::vector<std::vector<char>> out;
    said = rank[0]->Run(turns[0], kF64, &out).ToString();
    if (said == "OK") said = rank[0]->Run(turns[0], kF64, &out).ToString();
  });
  std::vector<std::vector<char>> out;
  EXPECT_TRUE(rank[1]->Run(turns[1], kF64, &out).ok());
  rank[1].reset();
  first.join();
  EXPECT_NE(said.find("rank 1 has ended its session"), std::string::npos) << said;
}

// The launch itself meets the failure, before the signal behind it is called: the host does not
// know yet, so that signal brings it. What is signalled later is not reached: buffers are kept.
TEST(Ranks, AFailureWithinTheLaunchEndsTheRun) {
  const Mesh mesh{{2}, {0}};
  const std::vector<Turn> turns = TurnsOf(mesh, "AllReduce", "sum", {4, 4, 2}, 0, 1, 5);
  std::vector<std::unique_ptr<Rank>> rank;
  for (const int64_t r : {0, 1}) {
    rank.push_back(std::make_unique<Rank>(TextOf(mesh, r, turns[static_cast<size_t>(r)], kF64),
                                          "wait=60", "ranks_keep"));
  }
  std::vector<std::vector<char>> out, others;
  std::thread other([&] { EXPECT_TRUE(rank[1]->Run(turns[1], kF64, &others).ok()); });
  EXPECT_TRUE(rank[0]->Run(turns[0], kF64, &out).ok());
  other.join();
  rank[1].reset();
  const std::string said = rank[0]->Run(turns[0], kF64, &out).ToString();
  EXPECT_NE(said.find("step 2: rank 1 has ended its session"), std::string::npos) << said;
  EXPECT_NE(said.find("may still use the buffers"), std::string::npos) << said;
}

}  // namespace
}  // namespace ge::test
