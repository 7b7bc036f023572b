// JSON of ours that others may have written: each field of each other kind, and thousands of
// changes, is refused with words or means what it says; nothing is thrown. A damaged cache is put
// aside and told of once. GE_MUTATIONS: how many changes of each form, 300 where it is not set.
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "ge/base/log.h"
#include "ge/engine/plugin/manifest.h"
#include "ge/ge_plugin.h"
#include "ge/host/cache_folder.h"
#include "ge/host/probe.h"
#include "ge/host/temporary_cache_folder_testing.h"
#include "ge/price/price_cache.h"
#include "ge/price/price_store.h"
#include "ge/price/priors.h"
#include "ge/session/session.h"
#include "ge/tune/rehearsed.h"
#include "tests/unit/plan_generator.h"

namespace ge::test::our_json {
namespace {

using nlohmann::json;

MachineRecord Machine() { return FixedMachine(GE_ISA_SSE42, 1); }

std::string Prices() {
  PriceCache cache(Machine());
  cache.Add({"abcd", "cpu"}, {"Conv", "Conv(f32)", "1x3", 12}, PriceCache::Kind::kAlone, 100,
            {250, 3});
  cache.Add({"abcd", "cpu"}, {"Add", "Add(f32)", "8", 3}, PriceCache::Kind::kInside, 10, {5, 1});
  return cache.ToText();
}

std::string Priors() {
  const PriorBook book{"native", "cpu", {{"Add(f32)", "Add", 12, 0.5}}};
  return *WithPriors("", Machine(), {book});
}

const char* const kManifest = R"({"format": 1, "file": "libacme.so", "sha256": "",
  "abi": {"least": "1.2", "most": "1.7"}, "kinds": ["engine", "ops"], "engines": ["acme"],
  "ops": ["com.acme.Foo"], "passes": [], "vendor": "Acme", "version": "3.1", "licence": "MIT",
  "probe": [{"file": "/dev/acme0"}, {"library": "libacme.so.1"}]})";

struct Form {
  const char* name;
  std::string text;
  std::function<Status(const std::string&)> read;
  std::vector<std::string> unread;  // begins of paths that this reader passes over
};

std::vector<Form> Forms() {
  const auto prices = [](const std::string& text) { return PriceCache(Machine()).FromText(text); };
  const auto machine = [](const std::string& text) {
    MachineRecord m;
    return MachineFromText(text, Machine(), &m);
  };
  const auto shipped = [](const std::string& text) {
    MachineRecord m;
    return MachineFromShipped(text, Machine(), &m);
  };
  const auto to_ship = [](const std::string& text) {
    return WithShippedMachine(text, Machine()).status();
  };
  const auto priors = [](const std::string& text) {
    return PriorsFromText(text, Machine()).status();
  };
  const auto to_priors = [](const std::string& text) {
    return WithPriors(text, Machine(), {}).status();
  };
  const auto manifest = [](const std::string& text) {
    return ParseManifest(text, "/p/acme.geplugin.json").status();
  };
  const std::string machines = *WithShippedMachine("", Machine());
  return {{"prices", Prices(), prices, {}},
          {"machine", MachineToText(Machine()), machine, {"/cache_bytes"}},
          {"machines",
           machines,
           shipped,
           {"/0/cache_bytes", "/0/cpu", "/0/doubtful", "/0/isa_mask", "/0/vendor"}},
          {"machines to add to",
           machines,
           to_ship,
           {"/0/cache_bytes", "/0/cpu", "/0/doubtful", "/0/probe", "/0/flops", "/0/copy",
            "/0/thread_gain", "/0/call_ns", "/0/fork_ns"}},
          {"priors", Priors(), priors, {"/sets/0/cpu", "/sets/0/vendor", "/sets/0/threads"}},
          {"priors to add to", Priors(), to_priors, {"/sets/0/cpu", "/sets/0/engines"}},
          {"manifest", kManifest, manifest, {}}};
}

// A reader answers in one of these ways, whatever it reads.
void ExpectRefusedOrRead(const Status& status, const std::string& what) {
  EXPECT_TRUE(status.ok() || status.code() == Code::kDataCorrupt ||
              status.code() == Code::kFailedPrecondition)
      << what << ": " << status.ToString();
  EXPECT_TRUE(status.ok() || status.message().size() > 10) << what;
}

std::vector<json> Kinds() {
  json deep = 1;
  for (int i = 0; i < 40; ++i) deep = json::array({deep});
  return {nullptr,       true,           -1,     7,
          2.5,           1e300,          "text", "",
          json::array(), json::object(), deep,   json::array({1, "a"}),
          json{{"a", 1}}};
}

TEST(OurJson, EachFieldIsOfItsKindAlone) {
  for (const Form& form : Forms()) {
    SCOPED_TRACE(form.name);
    ASSERT_TRUE(form.read(form.text).ok()) << form.read(form.text).ToString();
    const json whole = json::parse(form.text), fields = whole.flatten();
    for (const auto& [path, value] : fields.items()) {
      // The field, and what it lies in.
      for (json::json_pointer at(path);; at = at.parent_pointer()) {
        for (const json& other : Kinds()) {
          if (other.type() == whole.at(at).type()) continue;
          json changed = whole;
          changed[at] = other;
          const Status status = form.read(changed.dump());
          const std::string what = at.to_string() + " = " + other.dump();
          ExpectRefusedOrRead(status, what);
          const bool number = other.is_number() && whole.at(at).is_number();
          const bool unread = std::any_of(
              form.unread.begin(), form.unread.end(),
              [&](const std::string& begin) { return at.to_string().starts_with(begin); });
          EXPECT_TRUE(!status.ok() || number || unread) << what;
        }
        if (at.empty()) break;
      }
    }
  }
}

// One change of a text, of the kinds that editors, disks and attackers make.
std::string Changed(const std::string& text, Random* random) {
  static const char* const kPieces[] = {"[",    "]",     "{",    "}",    ",",      ":",
                                        "\"",   "\\",    "null", "true", "-1",     "1e999",
                                        "1e-9", "\\ud8", "0",    "[[]]", "{\"\":", "\xff"};
  const auto below = [&](size_t n) { return random->Below(static_cast<uint32_t>(n)); };
  std::string out = text;
  const size_t at = below(text.size());
  switch (random->Below(7)) {
    case 0:
      out[at] = static_cast<char>(out[at] ^ 1 << random->Below(8));
      break;
    case 1:
      out.insert(at, kPieces[random->Below(std::size(kPieces))]);
      break;
    case 2:
      out.erase(at, 1 + below(12));
      break;
    case 3:
      out.resize(at);
      break;
    case 4:
      out.insert(at, text.substr(below(text.size()), 1 + below(30)));
      break;
    case 5:
      out.insert(at, std::string(size_t{1} << random->Below(17), random->Chance(50) ? '[' : '9'));
      break;
    default:
      out.replace(at, 1, kPieces[random->Below(std::size(kPieces))]);
  }
  return out;
}

int Mutations() {
  const char* wanted = std::getenv("GE_MUTATIONS");
  return wanted ? std::atoi(wanted) : 300;
}

TEST(OurJson, ChangedTextsAreRefusedOrRead) {
  for (const Form& form : Forms()) {
    SCOPED_TRACE(form.name);
    Random random(7);
    for (int i = 0; i < Mutations(); ++i) {
      std::string text = Changed(form.text, &random);
      if (!text.empty() && random.Chance(30)) text = Changed(text, &random);
      ExpectRefusedOrRead(form.read(text), text.substr(0, 300));
    }
  }
}

// ---- caches ------------------------------------------------------------------------------------

class OurCaches : public ::testing::Test {
 protected:
  OurCaches() {
    std::filesystem::create_directories(cache_.path());
    EXPECT_TRUE(SetLogSink(&Keep, this, 1).ok());
  }
  ~OurCaches() override { EXPECT_TRUE(SetLogSink(nullptr, nullptr, 1).ok()); }
  static void Keep(void* self, uint32_t, const char* text) {
    static_cast<OurCaches*>(self)->lines_.push_back(text);
  }
  void Put(const std::string& name, const std::string& text) {
    std::filesystem::remove(cache_.path() / name);  // or the file system may wait for the disk
    std::ofstream(cache_.path() / name, std::ios::binary) << text;
  }
  bool Has(const std::string& name) const { return std::filesystem::exists(cache_.path() / name); }
  // The one file of the cache that ends so.
  std::string Named(const std::string& end) const {
    for (const auto& e : std::filesystem::directory_iterator(cache_.path())) {
      const std::string name = e.path().filename().string();
      if (name.ends_with(end)) return name;
    }
    return "";
  }
  // What a session computes for x = 1, 2 with all caches.
  std::vector<float> Compute() {
    SessionOptions options;
    options.engines = *ParseEngineList("native,ref");
    options.build.prices.mode = PriceMode::kCached;
    auto session = *Session::Create(std::move(options));
    EXPECT_TRUE(session
                    ->LoadBytes("ge 1\nopset \"\" 28\nfn main(x: f32[2]) -> (y) {\n"
                                "  y = Neg(x)\n}\nentry infer \"main\" = main\n",
                                Format::kText)
                    .ok());
    std::vector<float> x = {1, 2}, y(2);
    TensorView in{DType::kFloat, {2}, x.data(), 8}, out;
    out.data = y.data();
    out.bytes = 8;
    const Status status = session->Run("", std::span(&in, 1), std::span(&out, 1));
    EXPECT_TRUE(status.ok()) << status.ToString();
    return y;
  }

  const TemporaryCacheFolder cache_;
  std::vector<std::string> lines_;
};

std::string Deep(const std::string& before, size_t levels, const std::string& after) {
  return before + std::string(levels, '[') + std::string(levels, ']') + after;
}

TEST_F(OurCaches, DamagedPlansArePutAsideAndToldOfOnce) {
  for (const std::string& text :
       {Deep(R"({"format":3,"plans":{"zz":)", 100'000, "}}"), std::string("{"), std::string("[]"),
        std::string(R"({"format": "3", "plans": {}})"), std::string(R"({"format":3,"plans":7})")}) {
    lines_.clear();
    Put("plans.json", text);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Compute(), (std::vector<float>{-1, -2}));
    ASSERT_EQ(lines_.size(), 1u) << text.substr(0, 40);
    EXPECT_NE(lines_[0].find("plans.json' is ignored: it "), std::string::npos) << lines_[0];
    EXPECT_NE(lines_[0].find("plans.json.damaged'"), std::string::npos) << lines_[0];
    EXPECT_FALSE(Has("plans.json"));
    std::ifstream in(cache_.path() / "plans.json.damaged", std::ios::binary);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), text);
  }
}

// Of the releases whose prices were JSON, and of this one.
TEST_F(OurCaches, DamagedPricesArePutAsideAndMadeAnew) {
  PriceCache first(Machine());
  first.Add({"abcd", "cpu"}, {"Conv", "Conv(f32)", "1x3", 12}, PriceCache::Kind::kAlone, 100,
            {250, 3});
  first.Save();
  const std::string name = Named(".rows"), old = PriceStore(Machine()).Name(".json");
  ASSERT_FALSE(name.empty());
  Put(old, Deep(R"({"format":2,"cpu":)", 100'000, "}"));
  for (int i = 0; i < 2; ++i) PriceCache(Machine()).Load();
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_TRUE(!Has(old) && Has(old + ".damaged"));
  Put(name, "GEPRICES and nothing else");
  for (int i = 0; i < 2; ++i) PriceCache(Machine()).Load();
  ASSERT_EQ(lines_.size(), 2u);
  EXPECT_TRUE(Has(name + ".damaged"));
  EXPECT_NE(lines_[1].find(name + "' is ignored: its head is damaged; it is kept as '"),
            std::string::npos)
      << lines_[1];
  first.Add({"abcd", "cpu"}, {"Conv", "Conv(f32)", "1x4", 12}, PriceCache::Kind::kAlone, 100,
            {250, 3});
  first.Save();
  PriceCache again(Machine());
  again.Load();
  EXPECT_EQ(lines_.size(), 2u);
  EXPECT_FALSE(again.Empty());
}

TEST_F(OurCaches, PricesOfALaterReleaseStay) {
  PriceCache first(Machine());
  first.Add({"abcd", "cpu"}, {"Conv", "Conv(f32)", "1x3", 12}, PriceCache::Kind::kAlone, 100,
            {250, 3});
  first.Save();
  const std::string name = Named(".rows"), old = PriceStore(Machine()).Name(".json");
  Put(old, R"({"format": 99, "what": "ever"})");
  PriceCache(Machine()).Load();
  EXPECT_TRUE(Has(old) && !Has(old + ".damaged"));
  std::ifstream in(cache_.path() / name, std::ios::binary);
  std::string later(std::istreambuf_iterator<char>(in), {});
  later[8] = 9;  // the format
  Put(name, later);
  PriceCache here(Machine());
  here.Load();
  here.Add({"abcd", "cpu"}, {"Conv", "Conv(f32)", "1x4", 12}, PriceCache::Kind::kAlone, 100,
           {250, 3});
  here.Save();
  EXPECT_EQ(std::filesystem::file_size(cache_.path() / name), later.size());
  EXPECT_FALSE(Has(name + ".damaged"));
}

TEST_F(OurCaches, WhatSomebodyHasReplacedStays) {
  Put("x.json", "new");
  PutAsideCacheFile("x.json", "old", "it is damaged");
  EXPECT_TRUE(Has("x.json") && !Has("x.json.damaged") && lines_.empty());
  // Where there is no lock nothing is moved, and that is told once.
  std::filesystem::create_directories(cache_.path() / "y.json.lock");
  Put("y.json", "old");
  for (int i = 0; i < 3; ++i) PutAsideCacheFile("y.json", "old", "it is damaged");
  EXPECT_TRUE(Has("y.json"));
  EXPECT_EQ(lines_.size(), 1u);
}

TEST_F(OurCaches, ADamagedPlanIsTakenOutAlone) {
  Put("plans.json", R"({"format":3,"plans":{"q":{"cover":8,"expanded":[]},"r":1}})");
  EXPECT_TRUE(FindRehearsed("q").cover.empty());
  ASSERT_EQ(lines_.size(), 1u);
  EXPECT_TRUE(FindRehearsed("q").cover.empty());
  EXPECT_EQ(lines_.size(), 1u);
  EXPECT_EQ(json::parse(*ReadCacheFile("plans.json"))["plans"], json({{"r", 1}}));
}

TEST_F(OurCaches, ChangedPlansAreNoObstacle) {
  Compute();
  const json whole = json::parse(
      R"({"format":3,"plans":{"q":{"at":5,"cover":[["ref/cpu",[[0,0,[1]]]]],"expanded":[2]}}})");
  const json fields = whole.flatten();
  for (const auto& [path, value] : fields.items()) {
    for (json::json_pointer at(path); !at.empty(); at = at.parent_pointer()) {
      for (const json& other : Kinds()) {
        if (other.type() == whole.at(at).type()) continue;
        json changed = whole;
        changed[at] = other;
        Put("plans.json", changed.dump());
        const PlaceOptions found = FindRehearsed("q");
        const std::string name = at.to_string();
        const bool number = other.is_number() && whole.at(at).is_number();
        const bool unread = name.ends_with("/at") || number;
        EXPECT_TRUE(found.cover.empty() || unread) << name << " = " << other;
      }
    }
  }
  Random random(3);
  for (int i = 0; i < Mutations(); ++i) {
    Put("plans.json", Changed(whole.dump(), &random));
    (void)FindRehearsed("q");
  }
}

}  // namespace
}  // namespace ge::test::our_json
