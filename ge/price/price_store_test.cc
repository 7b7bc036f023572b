// The file of prices: it says what all its rows say and reads what is asked for; many writers;
// cuts, flipped bits and torn writes; what is kept of releases before, and what goes when it is
// full.
#include "ge/price/price_store.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "ge/host/temporary_cache_folder_testing.h"
#include "ge/price/price_cache.h"

namespace ge {
namespace {

using Kind = PriceCache::Kind;
constexpr uint32_t kSeed = 4711;

MachineRecord Tested() {
  MachineRecord m;
  m.cpu = "tested cpu";
  m.isa = 2;
  m.threads = 2;
  return m;
}

const PriceBook kBooks[] = {{"aa", "cpu"}, {"bb", "cpu"}, {"bb", "cpu?exact"}};
const char* const kOps[] = {"Conv", "Conv+Relu", "MatMul", "MatMul+Add", "Add", "Softmax"};

struct Sample {
  PriceBook book;
  OfferName name;
  Kind kind;
  double asked;
  Sampled times;
};

class Samples {
 public:
  Sample Next() {
    Sample s;
    s.book = kBooks[Below(3)];
    const std::string op = kOps[Below(6)];
    const auto variant = std::to_string(Below(12));
    s.name = {op, op + "[v=" + variant + "](f32)", std::to_string(Below(64)) + "x8",
              2 + 0.37 * static_cast<double>(Below(60))};
    s.kind = Below(2) ? Kind::kAlone : Kind::kInside;
    s.asked = Below(20) == 0 ? 10 : 100 + static_cast<double>(Below(4000));
    s.times = {50 + static_cast<double>(Below(9000)), 1 + Below(5), Below(7) == 0};
    return s;
  }
  uint32_t Below(uint32_t n) { return random_() % n; }

 private:
  std::mt19937 random_{kSeed};
};

class PriceStoreTest : public ::testing::Test {
 protected:
  std::filesystem::path File(const char* ending = ".rows") const {
    return cache_.path() / PriceStore(Tested()).Name(ending);
  }
  static void Fill(Samples* samples, int rows) {
    PriceCache cache(Tested());
    for (int i = 0; i < rows; ++i) {
      const Sample s = samples->Next();
      cache.Add(s.book, s.name, s.kind, s.asked, s.times);
    }
    cache.Save();
  }
  static uint64_t RowsNow() {
    auto file = PriceStore(Tested()).Open();
    if (!file) return 0;
    const std::string text = file->ReadSorted() + file->ReadTail();
    RecordReader reader(text);
    uint64_t rows = 0;
    for (RowView row; reader.Next(&row);) ++rows;
    return rows;
  }
  std::string Bytes() const {
    std::ifstream in(File(), std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(in), {});
  }
  void Put(const std::string& bytes) const { std::ofstream(File(), std::ios::binary) << bytes; }
  const TemporaryCacheFolder cache_;
};

// A cache that reads by need answers as one that knows every row.
TEST_F(PriceStoreTest, WhatIsReadByNeedIsWhatAllRowsSay) {
  Samples samples;
  Fill(&samples, 4000);
  ASSERT_TRUE(PriceStore(Tested()).Sort({}));
  Fill(&samples, 300);  // a tail: some of its rows are new, some change sorted ones
  PriceCache by_need(Tested()), whole(Tested());
  by_need.Load();
  ASSERT_TRUE(whole.FromText(by_need.ToText()).ok());
  std::vector<PriorRow> priors;
  for (int i = 0; i < 200; ++i) {
    const Sample s = samples.Next();
    priors.push_back({s.name.signature, s.name.family, s.name.size, std::log(s.times.ns / 1000)});
  }
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 600; ++i) {
      const Sample s = samples.Next();
      PriceRow a, b;
      const bool known = by_need.Find(s.book, s.name, &a);
      ASSERT_EQ(known, whole.Find(s.book, s.name, &b)) << s.name.signature << " " << kSeed;
      if (known) {
        EXPECT_EQ(a.alone.ns, b.alone.ns);
        EXPECT_EQ(a.inside.count, b.inside.count);
        EXPECT_EQ(a.family, b.family);
      }
      const PriceBook book = i % 9 == 0 ? PriceBook{"stranger", "cpu"} : s.book;
      for (const Kind kind : kPriceKinds) {
        const Correction of_need = by_need.CorrectionFor(book, s.name, kind, 0.5);
        const Correction of_all = whole.CorrectionFor(book, s.name, kind, 0.5);
        ASSERT_EQ(of_need.rows, of_all.rows) << s.name.signature << " seed " << kSeed;
        ASSERT_NEAR(of_need.factor / of_all.factor, 1, 1e-12)  // sums in another order
            << s.name.signature << " seed " << kSeed;
      }
    }
    // And with what both learn, and with priors of an engine.
    for (int i = 0; i < 50; ++i) {
      const Sample s = samples.Next();
      by_need.Add(s.book, s.name, s.kind, s.asked, s.times);
      whole.Add(s.book, s.name, s.kind, s.asked, s.times);
    }
  }
  by_need.SetPriors({"cc", "cpu"}, priors);
  whole.SetPriors({"cc", "cpu"}, priors);
  for (int i = 0; i < 200; ++i) {
    const OfferName name = samples.Next().name;
    EXPECT_NEAR(by_need.CorrectionFor({"cc", "cpu"}, name, Kind::kAlone, 0.5).factor,
                whole.CorrectionFor({"cc", "cpu"}, name, Kind::kAlone, 0.5).factor, 1e-9);
  }
}

TEST_F(PriceStoreTest, OfTwentyThousandRowsFewAreRead) {
  PriceCache all(Tested());
  for (int i = 0; i < 20'000; ++i) {
    const std::string op = "Op" + std::to_string(i % 2000);
    all.Add(kBooks[i % 3], {op, op + "(f32)", std::to_string(i), 4 + i % 20 * 1.0}, Kind::kAlone,
            100, {100.0 + i, 3});
  }
  all.Save();
  ASSERT_TRUE(PriceStore(Tested()).Sort({}));
  PriceCache cache(Tested());
  cache.Load();
  for (int op = 0; op < 20; ++op) {
    const std::string name = "Op" + std::to_string(op);
    const OfferName offer{name, name + "(f32)", "new", 11};
    EXPECT_GT(cache.CorrectionFor(kBooks[op % 3], offer, Kind::kAlone, 0.5).rows, 0u);
  }
  EXPECT_LE(cache.Reads().rows, 20u * 10);
  EXPECT_LE(cache.Reads().bytes * 8, std::filesystem::file_size(File()));
  cache.Add(kBooks[0], {"Op1", "Op1(f32)", "new", 11}, Kind::kAlone, 100, {300, 1});
  const uint64_t before = std::filesystem::file_size(File());
  cache.Save();
  EXPECT_LT(std::filesystem::file_size(File()), before + 200) << "one row is appended";
}

// Each has a cache of its own, as processes have; two of them sort the file again and again.
TEST_F(PriceStoreTest, EightWritersLoseNothingOfEachOthers) {
  constexpr int kWriters = 8, kSaves = 40;
  std::vector<std::thread> threads;
  for (int t = 0; t < kWriters; ++t) {
    threads.emplace_back([t] {
      PriceCache cache(Tested());
      for (int i = 0; i < kSaves; ++i) {
        const std::string shape = std::to_string(t) + "x" + std::to_string(i);
        cache.Add(kBooks[0], {"Add", "Add(f32)", shape, 8}, Kind::kAlone, 100, {200, 1});
        cache.Add(kBooks[0], {"Add", "Add(f32)", "all", 8}, Kind::kAlone, 100, {200, 1, true});
        cache.Save();
        if (t < 2) (void)PriceStore(Tested()).Sort({});
      }
    });
  }
  for (std::thread& t : threads) t.join();
  ASSERT_TRUE(PriceStore(Tested()).Sort({}));
  EXPECT_EQ(RowsNow(), kWriters * kSaves + 1u);
  for (const auto& e : std::filesystem::directory_iterator(cache_.path())) {
    EXPECT_NE(e.path().extension(), ".part") << "nothing half written stays";
  }
}

TEST_F(PriceStoreTest, ACutCostsWhatIsBehindIt) {
  Samples samples;
  Fill(&samples, 400);
  ASSERT_TRUE(PriceStore(Tested()).Sort({}));
  Fill(&samples, 40);
  const std::string whole = Bytes();
  const uint64_t rows = RowsNow();
  uint64_t last = 0;
  for (size_t cut = 0; cut < whole.size(); cut += whole.size() / 61) {
    Put(whole.substr(0, cut));
    PriceCache cache(Tested());
    cache.Load();
    const Sample s = samples.Next();
    const Correction c = cache.CorrectionFor(s.book, s.name, s.kind, 0.5);
    EXPECT_TRUE(std::isfinite(c.factor) && c.factor > 0) << cut;
    cache.Add(kBooks[0], {"New", "New()", "1", 5}, Kind::kAlone, 100, {200, 1});
    cache.Save();
    PriceRow row;
    PriceCache again(Tested());
    again.Load();
    EXPECT_TRUE(again.Find(kBooks[0], {"New", "New()", "1", 5}, &row)) << cut;
    const uint64_t left = RowsNow();
    EXPECT_GE(left, last) << cut;
    last = left;
  }
  EXPECT_GE(last, rows - 20) << "the last cut costs a sixtieth of the bytes";
}

TEST_F(PriceStoreTest, AFlippedBitIsNeverBelieved) {
  Samples samples;
  Fill(&samples, 400);
  ASSERT_TRUE(PriceStore(Tested()).Sort({}));
  Fill(&samples, 40);
  const std::string whole = Bytes();
  const uint64_t rows = RowsNow();
  PriceCache good(Tested());
  good.Load();
  for (int i = 0; i < 300; ++i) {
    std::string bad = whole;
    const size_t at = samples.Below(static_cast<uint32_t>(bad.size()));
    bad[at] = static_cast<char>(bad[at] ^ (1 << samples.Below(8)));
    Put(bad);
    {  // whose end waits for what it may have begun to sort
      PriceCache cache(Tested());
      cache.Load();
      for (int k = 0; k < 20; ++k) {
        const Sample s = samples.Next();
        PriceRow was, is;
        const bool known = good.Find(s.book, s.name, &was);
        if (cache.Find(s.book, s.name, &is) && known) {
          const bool stale = is.alone.count < was.alone.count || is.inside.count < was.inside.count;
          EXPECT_TRUE(stale || (is.alone.ns == was.alone.ns && is.inside.ns == was.inside.ns))
              << at;
        }
        EXPECT_TRUE(std::isfinite(cache.CorrectionFor(s.book, s.name, s.kind, 0.5).factor)) << at;
      }
      cache.Save();
    }
    ASSERT_TRUE(PriceStore(Tested()).Sort({})) << at;
    EXPECT_GE(RowsNow() + 42, rows) << "a row is lost at most, and the tail is joined; at " << at;
  }
}

// A process that is killed in a write leaves part of a record.
TEST_F(PriceStoreTest, ATornRecordCostsItself) {
  PriceCache first(Tested());
  first.Add(kBooks[0], {"Add", "Add(f32)", "1", 8}, Kind::kAlone, 100, {200, 1});
  first.Save();
  const std::string one = Bytes();
  std::string record;
  PriceRow row;
  row.family = "Add";
  row.alone = {200, 1};
  ASSERT_TRUE(AppendRecord(kBooks[0], "Add(f32)", "2", row, &record));
  for (size_t part : {1, 7, 16, 40, 100}) {
    Put(one + record.substr(0, part));
    PriceCache next(Tested());
    next.Load();
    next.Add(kBooks[0], {"Add", "Add(f32)", "3", 8}, Kind::kAlone, 100, {200, 1});
    next.Save();
    PriceCache last(Tested());
    last.Load();
    EXPECT_TRUE(last.Find(kBooks[0], {"Add", "Add(f32)", "1", 8}, &row)) << part;
    EXPECT_FALSE(last.Find(kBooks[0], {"Add", "Add(f32)", "2", 8}, &row)) << part;
    EXPECT_TRUE(last.Find(kBooks[0], {"Add", "Add(f32)", "3", 8}, &row)) << part;
  }
}

// Sorting counts no sample twice, and keeps what was appended meanwhile.
TEST_F(PriceStoreTest, SortedRowsAreTheSameRows) {
  Samples samples;
  Fill(&samples, 500);
  PriceCache before(Tested());
  before.Load();
  ASSERT_TRUE(PriceStore(Tested()).Sort({}));
  PriceCache sorted(Tested());
  sorted.Load();
  EXPECT_EQ(sorted.ToText(), before.ToText());
  ASSERT_TRUE(PriceStore(Tested()).Sort({}));
  PriceCache twice(Tested());
  twice.Load();
  EXPECT_EQ(twice.ToText(), before.ToText());
}

std::string TextFile(uint32_t format, int rows) {
  std::string text = R"({"cpu":"tested cpu","isa":2,"threads":2,"format":)" +
                     std::to_string(format) +
                     R"(,"engines":[{"plugin":"aa","device":"cpu","rows":{)";
  for (int i = 0; i < rows; ++i) {
    text += (i ? "," : "") + ("\"Conv(f32)|" + std::to_string(i)) + R"(":["Conv",4,)" +
            std::to_string(10'000 + i) + R"(,100.0,250.0,3,80.0,40.0,2)" +
            (format == 2 ? ",0]" : "]");
  }
  return text + "}}]}";
}

TEST_F(PriceStoreTest, FilesOfReleasesBeforeAreTakenOver) {
  for (const uint32_t format : {1u, 2u}) {
    std::filesystem::create_directories(cache_.path());
    std::ofstream(File(".json")) << TextFile(format, 30);
    PriceCache cache(Tested());
    cache.Load();
    PriceRow row;
    ASSERT_TRUE(cache.Find(kBooks[0], {"Conv", "Conv(f32)", "7", 0}, &row)) << format;
    EXPECT_EQ(row.size, format == 1 ? 13.5 : 4);
    EXPECT_FALSE(std::filesystem::exists(File(".json")));
    EXPECT_EQ(RowsNow(), 30u) << format;
    std::filesystem::remove(File());
  }
}

TEST_F(PriceStoreTest, TheOldestRowsGo) {
  std::filesystem::create_directories(cache_.path());
  std::ofstream(File(".json")) << TextFile(2, 20'500);
  PriceCache cache(Tested());
  cache.Load();
  EXPECT_EQ(RowsNow(), PriceStore::kMostRows);
  PriceRow row;
  EXPECT_FALSE(cache.Find(kBooks[0], {"Conv", "Conv(f32)", "499", 0}, &row));
  EXPECT_TRUE(cache.Find(kBooks[0], {"Conv", "Conv(f32)", "500", 0}, &row));
}

TEST_F(PriceStoreTest, NamesWithoutEndAreNotKept) {
  PriceCache cache(Tested());
  cache.Add(kBooks[0], {"Add", std::string(100'000, 'x'), "1", 8}, Kind::kAlone, 100, {200, 1});
  cache.Add(kBooks[0], {"Add", "Add(f32)", "1", 8}, Kind::kAlone, 100, {200, 1});
  cache.Save();
  EXPECT_EQ(RowsNow(), 1u);
}

// What is beyond priors is known of a sorted file without reading its rows.
TEST_F(PriceStoreTest, TheScaleOfPriorsIsKept) {
  std::vector<PriorRow> priors;
  for (int i = 0; i < 40; ++i) {
    const std::string op = "Op" + std::to_string(i);
    priors.push_back({op + "(f32)", op, 12, 0.0});
  }
  PriorFit known;
  known.Set(kBooks[0], priors);
  PriceCache slow(Tested());
  slow.SetPriors(kBooks[0], priors);
  for (int i = 0; i < 20; ++i) {
    const std::string op = "Op" + std::to_string(i);
    slow.Add(kBooks[0], {op, op + "(f32)", "1", 12}, Kind::kAlone, 1000, {2000, 9});
  }
  slow.Save();
  const OfferName never{"Op30", "Op30(f32)", "1", 12};
  const double learned = slow.CorrectionFor(kBooks[0], never, Kind::kAlone, 0).factor;
  EXPECT_GT(learned, 1.5);
  ASSERT_TRUE(PriceStore(Tested()).Sort(known));
  PriceCache next(Tested());
  next.SetPriors(kBooks[0], priors);
  next.Load();
  EXPECT_NEAR(next.CorrectionFor(kBooks[0], never, Kind::kAlone, 0).factor, learned, 1e-9);
}

}  // namespace
}  // namespace ge
