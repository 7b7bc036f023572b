#include "subject.h"

#include <fmt/format.h>

#include "counted_memory.h"

namespace ge::conform {

mock::QueryFunction Subject::Ask(std::string* why) {
  if (ask_ == nullptr) {
    ask_ = mock::LoadPlugin(setup_.plugin, why);
    WatchObject(reinterpret_cast<const void*>(ask_));
  }
  return ask_;
}

const ge_plugin_desc* Subject::Descriptor(mock::Host& host, std::string* why) {
  const mock::QueryFunction ask = Ask(why);
  if (ask == nullptr) return nullptr;
  const ge_plugin_desc* desc = mock::AskPlugin(ask, host, mock::Version(), why);
  if (desc == nullptr) {
    *why = "ge_plugin_query refuses: " + (why->empty() ? "it gives no reason" : *why);
    return nullptr;
  }
  *why = DescriptorFault(desc);
  return why->empty() ? desc : nullptr;
}

mock::Engine* Subject::Ref(std::string* why) {
  if (ref_ != nullptr) return ref_.get();
  const mock::QueryFunction ask = mock::LoadPlugin(setup_.ref, why);
  const ge_plugin_desc* desc =
      ask != nullptr ? mock::AskPlugin(ask, ref_host_, mock::Version(), why) : nullptr;
  if (desc == nullptr) {
    *why = fmt::format("no reference engine at '{}': {}; name one with --ref", setup_.ref, *why);
    return nullptr;
  }
  auto engine = std::make_unique<mock::Engine>(desc, ref_host_);
  if (engine->created() != GE_OK) {
    *why = "the reference engine: " + engine->error();
    return nullptr;
  }
  ref_ = std::move(engine);
  return ref_.get();
}

uint64_t Subject::Seed(uint64_t salt) const {
  uint64_t z = setup_.seed * 0x9e3779b97f4a7c15ull + salt + 1;  // the finaliser of splitmix64
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return z ^ (z >> 31);
}

namespace {

std::string NameFault(ge_str name) {
  const std::string_view text = plugin::View(name);
  bool good = !text.empty() && text.size() <= 64;
  for (char c : text) good &= (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  return good ? "" : "its name is not 1 to 64 characters of [a-z0-9_]";
}

std::string TableFault(const ge_engine_api* api) {
  // The three required functions were there from the first version on.
  constexpr uint32_t kFirst = sizeof(ge_hdr) + 3 * sizeof(void*);
  if (api == nullptr) return "its engine table is NULL";
  if (api->h.size < kFirst || api->h.tag != GE_TAG_ENGINE_API) {
    return fmt::format("its engine table has {} bytes and tag {}; wanted {} at least and {}",
                       api->h.size, api->h.tag, kFirst, static_cast<int>(GE_TAG_ENGINE_API));
  }
  if (ge_not_understood(&api->h, nullptr, 0) != nullptr) {
    return "its engine table has an extension that must be understood";
  }
  const char* missing = api->query == nullptr     ? "query"
                        : api->compile == nullptr ? "compile"
                        : api->enqueue == nullptr ? "enqueue"
                                                  : nullptr;
  return missing != nullptr ? fmt::format("the required function {} is NULL", missing) : "";
}

}  // namespace

std::string DescriptorFault(const ge_plugin_desc* d) {
  if (d->magic != GE_PLUGIN_MAGIC) {
    return fmt::format("its descriptor begins with {:#x}, wanted the magic number {:#x}", d->magic,
                       GE_PLUGIN_MAGIC);
  }
  if (d->abi_major != GE_ABI_MAJOR) {
    return fmt::format("it was built for ABI {}.{}, the kit for {}.{}", d->abi_major, d->abi_minor,
                       GE_ABI_MAJOR, GE_ABI_MINOR);
  }
  constexpr uint32_t kFirst = 120;  // bytes that it had when it was published
  if (d->h.size < kFirst || d->h.tag != GE_TAG_PLUGIN) {
    return fmt::format("its descriptor has {} bytes and tag {}; wanted {} at least and {}",
                       d->h.size, d->h.tag, kFirst, static_cast<int>(GE_TAG_PLUGIN));
  }
  if (ge_not_understood(&d->h, nullptr, 0) != nullptr) {
    return "its descriptor has an extension that must be understood";
  }
  const std::string name = NameFault(d->name);
  if (!name.empty()) return name;
  if (d->kinds == 0) return "its kinds are 0: it is no engine and nothing else";
  if (d->sanitizer != GE_SANITIZER_HERE) {
    return fmt::format("it was built with sanitizer {}, the kit with {}; build both alike",
                       d->sanitizer, static_cast<int>(GE_SANITIZER_HERE));
  }
  if ((d->kinds & GE_KIND_ENGINE) == 0) return "";
  if (d->engine_create == nullptr) return "engine_create is NULL; it is required";
  return TableFault(d->engine);
}

Rig::Rig(Subject& subject, const RigOptions& options)
    : subject_(subject), host_(options.facts, options.style) {
  host_.keep_denormals = options.keep_denormals;
  std::string why;
  const ge_plugin_desc* desc = subject.Descriptor(host_, &why);
  if (desc == nullptr) {
    outcome_ = Fail(why);
    return;
  }
  if ((desc->kinds & GE_KIND_ENGINE) == 0) {
    outcome_ = Unsupported("the plugin is no engine");
    return;
  }
  mock::EngineOptions engine = options.engine;
  engine.text = subject.setup().options;
  engine_ = std::make_unique<mock::Engine>(desc, host_, engine);
  if (engine_->created() == GE_UNAVAILABLE) {
    outcome_ = Judged(Unsupported("engine_create: not available here: " + engine_->error()));
  } else if (engine_->created() != GE_OK) {
    outcome_ = Fail(
        fmt::format("engine_create failed (code {}): {}", engine_->created(), engine_->error()));
  } else if ((ref_ = subject.Ref(&why)) == nullptr) {
    outcome_ = Fail(why);
  } else {
    ready_ = true;
  }
}

bool Rig::is_async() const {
  for (const mock::Device& d : engine_->devices()) {
    if (d.async()) return true;
  }
  return false;
}

Outcome Rig::Judged(Outcome outcome) {
  const std::vector<std::string> complaints = host_.TakeComplaints();
  if (complaints.empty() || IsBad(outcome.verdict)) return outcome;
  return Fail(complaints.size() == 1
                  ? complaints[0]
                  : fmt::format("{} (and {} more)", complaints[0], complaints.size() - 1));
}

Outcome Rig::Closed(Outcome outcome) {
  engine_.reset();
  return Judged(std::move(outcome));
}

}  // namespace ge::conform
