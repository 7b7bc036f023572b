#include "wrapped.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

#include "ge/ge_plugin.hpp"

namespace devsim {
namespace {

using ge::plugin::Fail;

// "ref" -> the path of ref.so; a path with a slash stays.
std::string PathOf(const std::string& name) {
  if (name.find('/') != std::string::npos) return name;
  Dl_info info;
  std::string folder = ".";
  if (dladdr(reinterpret_cast<void*>(&PathOf), &info) != 0 && info.dli_fname != nullptr) {
    const std::string self = info.dli_fname;
    const size_t slash = self.rfind('/');
    if (slash != std::string::npos) folder = self.substr(0, slash);
  }
  const std::string beside = folder + "/" + name + ".so";
  return access(beside.c_str(), R_OK) == 0 ? beside : folder + "/../graphengine/" + name + ".so";
}

ge_rc Open(const std::string& path, const ge_plugin_desc** out, ge_err* err) {
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (handle == nullptr) {
    return Fail(err, GE_NOT_FOUND, UINT32_MAX,
                "devsim: the engine to wrap cannot be loaded: %s; set wrap=NAME or wrap=PATH",
                dlerror());
  }
  using Query = const ge_plugin_desc* (*)(ge_query_args*);
  const auto query = reinterpret_cast<Query>(dlsym(handle, "ge_plugin_query"));
  ge_query_args args = {};
  args.h = GE_HDR(ge_query_args, GE_TAG_QUERY_ARGS);
  args.host_major = GE_ABI_MAJOR;
  args.host_minor = GE_ABI_MINOR;
  args.host_header_hash = GE_HEADER_HASH;
  const ge_plugin_desc* desc = query != nullptr ? query(&args) : nullptr;
  const bool good = desc != nullptr && desc->magic == GE_PLUGIN_MAGIC &&
                    desc->abi_major == GE_ABI_MAJOR && desc->engine_create != nullptr &&
                    desc->engine != nullptr && desc->engine->query && desc->engine->compile &&
                    desc->engine->enqueue;
  if (!good) {
    return Fail(err, GE_FAILED_PRECONDITION, UINT32_MAX,
                "devsim: '%.200s' is no engine of ABI %u; use one of the same major version",
                path.c_str(), GE_ABI_MAJOR);
  }
  *out = desc;
  return GE_OK;
}

bool OnHostMemory(const ge_device& device) {
  static const uint8_t kHost[16] = {};
  return device.n_domain == 0 || std::memcmp(device.domain->id, kHost, sizeof kHost) == 0;
}

}  // namespace

Wrapped::~Wrapped() {
  if (engine_ != nullptr && desc_->engine_destroy != nullptr) desc_->engine_destroy(engine_);
}

ge_rc Wrapped::Create(const std::string& name, const ge_create_args& own, ge_err* err) {
  ge_rc rc = Open(PathOf(name), &desc_, err);
  if (rc != GE_OK) return rc;
  std::memcpy(static_cast<void*>(&api_), desc_->engine,
              std::min<size_t>(desc_->engine->h.size, sizeof api_));
  ge_create_args args = {};  // what the host says to us, but for our options
  std::memcpy(static_cast<void*>(&args), &own, std::min<size_t>(own.h.size, sizeof args));
  args.h = GE_HDR(ge_create_args, GE_TAG_CREATE_ARGS);
  args.options = {};
  rc = desc_->engine_create(&args, &engine_, err);
  if (rc != GE_OK || api_.devices == nullptr) return rc;
  const ge_device* device = nullptr;
  uint32_t n = 0, stride = 0;
  rc = api_.devices(engine_, &device, &n, &stride, err);
  if (rc != GE_OK) return rc;
  if (n != 1 || (device->flags & GE_DEVICE_ASYNC) != 0 || !OnHostMemory(*device)) {
    return Fail(err, GE_UNIMPLEMENTED, UINT32_MAX,
                "devsim: engine '%.100s' has %u devices or is asynchronous; wanted one "
                "synchronous device on host memory",
                name.c_str(), n);
  }
  return GE_OK;
}

}  // namespace devsim
