// Level 0: what the file is, and what loading it and making engines does to the process.
#include <dlfcn.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <clocale>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "ge/ge_plugin_op.h"
#include "sdk/conform/case.h"
#include "sdk/conform/counted_memory.h"
#include "sdk/conform/elf_file.h"
#include "sdk/conform/sample_graphs.h"
#include "sdk/conform/subject.h"

namespace ge::conform {
namespace {

namespace fs = std::filesystem;

std::string Joined(const std::vector<std::string>& words) {
  return fmt::format("{}", fmt::join(words, ", "));
}

// NAME VERSION by VENDOR: the command takes the engine's name from here.
Outcome Load(Subject& s, int) {
  mock::Host host;
  std::string why;
  const ge_plugin_desc* d = s.Descriptor(host, &why);
  if (d == nullptr) return Fail(why);
  const std::vector<std::string> complaints = host.TakeComplaints();
  if (!complaints.empty()) return Fail(complaints[0]);
  return Pass(fmt::format("{} {} by {}", plugin::View(d->name), plugin::View(d->version),
                          plugin::View(d->vendor)));
}

Outcome OneExport(Subject& s, int) {
  ElfFile file;
  const std::string why = ReadElf(s.setup().plugin, &file);
  if (!why.empty()) return Fail(why);
  // What linkers add to every object.
  static const char* const kLinker[] = {"_init", "_fini", "_edata", "_end", "__bss_start"};
  std::vector<std::string> more;
  bool found = false;
  for (const ElfSymbol& symbol : file.symbols) {
    if (!symbol.defined) continue;
    found |= symbol.name == "ge_plugin_query";
    const bool linker =
        std::find(std::begin(kLinker), std::end(kLinker), symbol.name) != std::end(kLinker);
    if (!linker && symbol.name != "ge_plugin_query") more.push_back(symbol.name);
  }
  if (!found) return Fail("it exports no ge_plugin_query; that one symbol is required");
  if (more.empty()) return Pass();
  const size_t n = more.size();
  more.resize(std::min<size_t>(n, 5));
  return Fail(
      fmt::format("it exports {} symbols beside ge_plugin_query: {}{}; link it with a "
                  "version script or hidden visibility",
                  n, Joined(more), n > 5 ? " ..." : ""));
}

bool Begins(const std::string& text, const char* with) { return text.rfind(with, 0) == 0; }

Outcome NoHostSymbols(Subject& s, int) {
  ElfFile file;
  std::string why = ReadElf(s.setup().plugin, &file);
  if (!why.empty()) return Fail(why);
  if (s.Ask(&why) == nullptr) return Fail(why);
  // Looks into the plugin and the libraries that it brings, not into this program.
  void* own = dlopen(s.setup().plugin.c_str(), RTLD_LAZY | RTLD_NOLOAD);
  for (const ElfSymbol& symbol : file.symbols) {
    if (symbol.defined) continue;
    // Hosts are not linked to: their functions come as a table. Of ours: C names and C++ ones.
    const bool host = Begins(symbol.name, "ge_") || Begins(symbol.name, "_ZN2ge") ||
                      Begins(symbol.name, "_ZNK2ge");
    const bool protobuf = symbol.name.find("6google8protobuf") != std::string::npos;
    if (!host && !protobuf) continue;
    // A library of the plugin's own may bring such a name along.
    if (!protobuf && (symbol.weak || dlsym(own, symbol.name.c_str()) != nullptr)) continue;
    return Fail(fmt::format("it needs symbol '{}' {}", symbol.name,
                            protobuf ? "of a protobuf that another plugin may bring in another "
                                       "version; link it statically and hidden"
                                     : "of the host, which exports nothing to plugins"));
  }
  return Pass();
}

Outcome NeededLibraries(Subject& s, int) {
  ElfFile file;
  const std::string why = ReadElf(s.setup().plugin, &file);
  if (!why.empty()) return Fail(why);
  for (const std::string& name : file.needed) {
    if (Begins(name, "libgraphengine")) return Fail("it is linked to the host: " + name);
    if (Begins(name, "libprotobuf")) {
      return Fail("it is linked to " + name + ", of which a process can hold one version");
    }
  }
  return Pass(file.needed.empty() ? "needs no library" : "needs " + Joined(file.needed));
}

Outcome LateLoadable(Subject& s, int) {
  ElfFile file;
  const std::string why = ReadElf(s.setup().plugin, &file);
  if (!why.empty()) return Fail(why);
  if (file.static_tls) {
    return Fail(
        "it uses the initial-exec model of thread-local storage, for which a process may "
        "have no room left when it is loaded late");
  }
  // glibc keeps some 1,600 bytes for late objects; dynamic models need none of it.
  if (file.thread_local_bytes > (64 << 10)) {
    return Fail(fmt::format("each thread pays {} bytes of thread-local storage for it",
                            file.thread_local_bytes));
  }
  if (file.text_relocations) return Fail("its code is relocated when it is loaded");
  if (file.executable_stack) return Fail("it makes the stacks of the process executable");
  return Pass(fmt::format("{} bytes of thread-local storage", file.thread_local_bytes));
}

Outcome QueryIsPure(Subject& s, int) {
  mock::Host host;
  std::string why;
  const ge_plugin_desc* first = s.Descriptor(host, &why);
  if (first == nullptr) return Fail(why);
  const ge_plugin_desc before = mock::ReadStruct(first);
  const ge_plugin_desc* others[4] = {};
  std::vector<std::jthread> threads;
  const mock::QueryFunction ask = s.Ask(&why);
  for (auto& other : others) {
    threads.emplace_back([&other, ask] {
      ge_query_args args = {};
      args.h = GE_HDR(ge_query_args, GE_TAG_QUERY_ARGS);
      args.host_header_hash = GE_HEADER_HASH;
      args.host_major = GE_ABI_MAJOR;
      args.host_minor = GE_ABI_MINOR;
      other = ask(&args);
    });
  }
  for (std::jthread& t : threads) t.join();
  for (const ge_plugin_desc* other : others) {
    if (other != first) return Fail("ge_plugin_query answers another descriptor each time");
  }
  const ge_plugin_desc after = mock::ReadStruct(first);
  if (std::memcmp(static_cast<const void*>(&before), &after, sizeof before) != 0) {
    return Fail("the descriptor changes when ge_plugin_query is called again");
  }
  return Pass();
}

Outcome Names(Subject& s, int) {
  mock::Host host;
  std::string why;
  const ge_plugin_desc* d = s.Descriptor(host, &why);
  if (d == nullptr) return Fail(why);
  for (const auto& [text, what] :
       {std::pair(d->version, "version"), std::pair(d->vendor, "vendor")}) {
    const std::string_view view = plugin::View(text);
    if (view.empty()) return Fail(fmt::format("its descriptor says no {}", what));
    if (view.size() > 256) return Fail(fmt::format("its {} has {} characters", what, view.size()));
    for (char c : view) {
      if (static_cast<unsigned char>(c) < 32)
        return Fail(
            fmt::format("its {} has control "
                        "characters",
                        what));
    }
  }
  const fs::path path = s.setup().plugin;
  if (path.stem() != plugin::View(d->name)) {
    return Pass(
        fmt::format("the file is {}, its engine '{}': lists of engines find it faster "
                    "where both are one",
                    path.filename().string(), plugin::View(d->name)));
  }
  return Pass();
}

// Which sanitizer the file was built with, by what it needs, against what it says.
Outcome Sanitizer(Subject& s, int) {
  ElfFile file;
  std::string why = ReadElf(s.setup().plugin, &file);
  if (!why.empty()) return Fail(why);
  bool address = false, thread = false;
  for (const ElfSymbol& symbol : file.symbols) {
    address |= Begins(symbol.name, "__asan_");
    thread |= Begins(symbol.name, "__tsan_");
  }
  const uint32_t is = address  ? GE_SANITIZER_ADDRESS
                      : thread ? GE_SANITIZER_THREAD
                               : GE_SANITIZER_NONE;
  mock::Host host;
  const ge_plugin_desc* d = s.Descriptor(host, &why);
  if (d == nullptr) return Fail(why);
  if (d->sanitizer == is) return Pass();
  return Fail(
      fmt::format("it says sanitizer {}, but its symbols are those of {}; fill the field "
                  "with GE_SANITIZER_HERE",
                  d->sanitizer, is));
}

struct ProcessState {
  std::vector<void*> handlers;
  std::string locale, folder;
  uint32_t float_mode = 0;
  size_t threads = 0, environment = 0;
};
const std::vector<int> kSignals = {SIGSEGV, SIGBUS,  SIGFPE,  SIGILL,  SIGABRT,
                                   SIGINT,  SIGTERM, SIGPIPE, SIGCHLD, SIGUSR1};
ProcessState StateNow() {
  ProcessState p;
  for (int signal : kSignals) {
    struct sigaction act = {};
    sigaction(signal, nullptr, &act);
    p.handlers.push_back(reinterpret_cast<void*>(act.sa_sigaction));
  }
  const char* locale = std::setlocale(LC_ALL, nullptr);
  p.locale = locale != nullptr ? locale : "";
  std::error_code ec;
  p.folder = fs::current_path(ec).string();
  p.float_mode = mock::FloatMode() & mock::kModeBits;
  for (const auto& task : fs::directory_iterator("/proc/self/task", ec)) {
    (void)task;
    ++p.threads;
  }
  for (char** e = environ; e != nullptr && *e != nullptr; ++e) ++p.environment;
  return p;
}

// What belongs to the application stays as it was.
Outcome LeavesProcessAlone(Subject& s, int) {
  const ProcessState before = StateNow();
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  (void)rig.engine().Query(Chain(4).graph);
  const ProcessState after = StateNow();
  for (size_t i = 0; i < kSignals.size(); ++i) {
    if (before.handlers[i] == after.handlers[i]) continue;
    return Fail(fmt::format("it took over signal {} ({})", kSignals[i], strsignal(kSignals[i])));
  }
  if (before.locale != after.locale) return Fail("it changed the locale to " + after.locale);
  if (before.folder != after.folder) return Fail("it changed the current folder");
  if (before.float_mode != after.float_mode) {
    return Fail(fmt::format("the floating-point mode became {:#x}, was {:#x}", after.float_mode,
                            before.float_mode));
  }
  return rig.Judged(
      Pass(fmt::format("{} threads before, {} after", before.threads, after.threads)));
}

Outcome CreateAndDestroy(Subject& s, int) {
  constexpr int kRounds = 100, kWarm = 10;
  Rig first(s);
  if (!first.ready()) return first.outcome();
  std::string why;
  const ge_plugin_desc* d = s.Descriptor(first.host(), &why);
  mock::EngineOptions options;
  options.text = s.setup().options;
  int64_t before = 0;
  for (int i = 0; i < kWarm + kRounds; ++i) {
    if (i == kWarm) before = LiveBytes();
    const mock::Engine engine(d, first.host(), options);
    if (engine.created() != GE_OK) {
      return Fail(fmt::format("engine_create fails in round {}: {}", i, engine.error()));
    }
  }
  const Outcome judged = first.Judged(Pass());
  if (IsBad(judged.verdict)) return judged;
  const int64_t grown = LiveBytes() - before;
  if (!IsCounting() || grown < kRounds * 8)
    return Pass(fmt::format("{} bytes in {} rounds", grown, kRounds));
  return Fail(
      fmt::format("engine_create and engine_destroy leak {} bytes a round", grown / kRounds));
}

Outcome TwoEngines(Subject& s, int) {
  Rig one(s);
  if (!one.ready()) return one.outcome();
  Rig two(s);
  if (!two.ready()) return two.outcome();
  if (one.engine().handle() == two.engine().handle()) {
    return Fail("engine_create gave the same engine twice; each is destroyed by itself");
  }
  const Sample sample = Chain(4);
  const mock::Answer a = one.engine().Query(sample.graph);
  const Outcome first = one.Closed(Pass());
  if (IsBad(first.verdict)) return first;
  const mock::Answer b = two.engine().Query(sample.graph);  // lives on without the other
  if (a.offers.size() != b.offers.size()) {
    return Fail(fmt::format("two engines with the same options made {} and {} offers",
                            a.offers.size(), b.offers.size()));
  }
  return two.Closed(Pass());
}

// The same file under another name is another object to the loader: its state is its own.
Outcome LoadedTwice(Subject& s, int) {
  Rig first(s);
  if (!first.ready()) return first.outcome();
  std::error_code ec;
  char folder[] = "conformXXXXXX";
  const fs::path base = fs::temp_directory_path(ec);
  std::string pattern = (base / folder).string();
  if (mkdtemp(pattern.data()) == nullptr) return Fail("the kit has no temporary folder");
  const fs::path copy = fs::path(pattern) / fs::path(s.setup().plugin).filename();
  fs::copy_file(s.setup().plugin, copy, ec);
  Setup setup = s.setup();
  setup.plugin = copy.string();
  Subject other(setup);
  std::string why;
  mock::Host host;
  const ge_plugin_desc* d = ec ? nullptr : other.Descriptor(host, &why);
  fs::remove_all(pattern, ec);
  // Who looks for its libraries beside itself does not find them there.
  if (d == nullptr) return Unsupported("a copy in another folder does not load: " + why);
  mock::EngineOptions options;
  options.text = setup.options;
  mock::Engine engine(d, host, options);
  if (engine.created() != GE_OK) {
    return Unsupported("an engine of a copy in another folder: " + engine.error());
  }
  const Sample sample = Chain(4);
  const size_t a = first.engine().Query(sample.graph).offers.size();
  const size_t b = engine.Query(sample.graph).offers.size();
  if (a != b) return Fail(fmt::format("loaded twice, it makes {} offers and {}", a, b));
  return first.Judged(Pass());
}

// An engine with a text of options that is none, or unknown; either answer will do, but in order.
Outcome OddOptions(Subject& s, int which) {
  mock::Host host;
  std::string why;
  const ge_plugin_desc* d = s.Descriptor(host, &why);
  if (d == nullptr) return Fail(why);
  if ((d->kinds & GE_KIND_ENGINE) == 0) return Unsupported("the plugin is no engine");
  const std::vector<std::string> texts = {
      "", "", "no_such_option=1", ";;=;==;;a=b=c;", std::string(20000, 'x'), "no_such_option=1"};
  mock::EngineOptions options;
  options.text = texts[static_cast<size_t>(which)];
  options.null_text = which == 1;
  options.null_err = which == 5;
  std::string note;
  {
    const mock::Engine engine(d, host, options);
    note = engine.created() == GE_OK ? "accepted" : "refused: " + engine.error();
    const bool refused = engine.created() != GE_OK && engine.created() != GE_UNAVAILABLE;
    if (which < 2 && refused && s.setup().options.empty()) {
      return Fail(fmt::format("engine_create fails without options (code {}): {}", engine.created(),
                              engine.error()));
    }
    if (which >= 2 && which < 5 && refused && engine.error().empty()) {
      return Fail(
          fmt::format("engine_create fails with options '{:.40}' (code {}) and says "
                      "nothing",
                      options.text, engine.created()));
    }
  }
  const std::vector<std::string> complaints = host.TakeComplaints();
  return complaints.empty() ? Pass(note.substr(0, 120)) : Fail(complaints[0]);
}

Outcome Devices(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const ge_engine_api& api = rig.engine().api();
  std::string names;
  for (const mock::Device& d : rig.engine().devices()) {
    if (d.name.empty()) return Fail("devices: one has no name");
    names += (names.empty() ? "" : ", ") + d.name;
    for (size_t i = 0; i < d.domains.size(); ++i) {
      const mock::Domain& m = d.domains[i];
      if ((m.align & (m.align - 1)) != 0) {
        return Fail(fmt::format("domain {} of device '{}' aligns to {}", i, d.name, m.align));
      }
      const bool own = i > 0 || !m.id.empty();
      if (own && !(api.mem_alloc && api.mem_free && api.copy)) {
        return Fail(
            fmt::format("domain {} of device '{}' is memory of its own, but mem_alloc, "
                        "mem_free or copy is NULL",
                        i, d.name));
      }
    }
  }
  return rig.Judged(Pass(names));
}

Outcome Links(Subject& s, int) {
  Rig rig(s);
  if (!rig.ready()) return rig.outcome();
  const ge_engine_api& api = rig.engine().api();
  if (api.links == nullptr) return Unsupported("links is NULL");
  const ge_link* link = nullptr;
  uint32_t n = 0, stride = 0;
  mock::Error err(rig.host());
  ge_rc rc = GE_OK;
  {
    mock::CallScope scope(rig.host(), "links");
    rc = api.links(rig.engine().handle(), &link, &n, &stride, err.get());
    scope.Returned();
  }
  if (rc != GE_OK) return Fail("links: " + err.Text("links", rc));
  if (n != 0 && (link == nullptr || stride < sizeof(ge_hdr))) return Fail("links: records at NULL");
  for (uint32_t i = 0; i < n; ++i) {
    const ge_link l = mock::ReadStruct(reinterpret_cast<const ge_link*>(
        reinterpret_cast<const char*>(link) + uint64_t{i} * stride));
    if (!(l.bytes_per_ns > 0)) {
      return Fail(fmt::format("links: link {} copies {} bytes a ns", i, l.bytes_per_ns));
    }
    if (std::memcmp(l.from, l.to, sizeof l.from) == 0) {
      return Fail(fmt::format("links: link {} goes from a memory to itself", i));
    }
  }
  return rig.Judged(Pass(fmt::format("{} links", n)));
}

// Descriptors of a plugin's operators. What they infer and compute is not judged here.
Outcome Operators(Subject& s, int) {
  mock::Host host;
  std::string why;
  const ge_plugin_desc* given = s.Descriptor(host, &why);
  if (given == nullptr) return Fail(why);
  const ge_plugin_desc d = mock::ReadStruct(given);
  if ((d.kinds & GE_KIND_OPS) == 0) return Unsupported("the plugin brings no operators");
  constexpr uint32_t kFirst = 160;  // bytes that a record had when it was published
  if (d.n_op == 0 || d.op == nullptr || d.op_stride < kFirst) {
    return Fail(fmt::format("{} operators with stride {}; wanted one at least, and {}", d.n_op,
                            d.op_stride, kFirst));
  }
  std::string names;
  for (uint32_t i = 0; i < d.n_op; ++i) {
    const ge_op_def op = mock::ReadStruct(reinterpret_cast<const ge_op_def*>(
        reinterpret_cast<const char*>(d.op) + uint64_t{i} * d.op_stride));
    const std::string name = fmt::format("{}.{}", plugin::View(op.domain), plugin::View(op.name));
    if (op.h.size < kFirst || op.h.tag != GE_TAG_OP_DEF) {
      return Fail(fmt::format("operator {} has {} bytes and tag {}", i, op.h.size, op.h.tag));
    }
    if (ge_not_understood(&op.h, nullptr, 0) != nullptr) {
      return Fail(fmt::format("operator {} has an extension that no host knows", name));
    }
    if (plugin::View(op.domain).empty() || plugin::View(op.name).empty()) {
      return Fail(fmt::format("operator {} has no domain or no name", i));
    }
    if (op.infer == nullptr) return Fail(fmt::format("operator {}: infer is NULL", name));
    if (op.decompose == nullptr && op.kernel == nullptr) {
      return Fail(fmt::format("operator {}: decompose and kernel are NULL", name));
    }
    names += (names.empty() ? "" : ", ") + name;
  }
  return Pass(names);
}

}  // namespace

std::vector<Case> LoadCases() {
  return {
      {0, "load", Load},
      {0, "one-export", OneExport},
      {0, "no-host-symbols", NoHostSymbols},
      {0, "needed-libraries", NeededLibraries},
      {0, "loadable-late", LateLoadable},
      {0, "query-is-pure", QueryIsPure},
      {0, "names", Names},
      {0, "sanitizer", Sanitizer},
      {0, "leaves-process-alone", LeavesProcessAlone},
      {0, "create-and-destroy", CreateAndDestroy},
      {0, "two-engines", TwoEngines},
      {0, "loaded-twice", LoadedTwice},
      {0, "options-empty", OddOptions, 0},
      {0, "options-null", OddOptions, 1},
      {0, "options-unknown", OddOptions, 2},
      {0, "options-garbage", OddOptions, 3},
      {0, "options-long", OddOptions, 4},
      {0, "options-without-err", OddOptions, 5},
      {0, "devices", Devices},
      {0, "links", Links},
      {0, "operators", Operators},
  };
}

}  // namespace ge::conform
