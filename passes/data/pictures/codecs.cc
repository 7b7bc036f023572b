#include "passes/data/pictures/codecs.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <string>

#include "ge/ge_plugin.h"
#include "passes/kit/refusal.h"

namespace ge::data {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCodecsFile = "libgraphengine_image.so";

struct Codecs {
  DecodeImageFn decode = nullptr;
  std::string why;
};

Codecs LoadCodecs() {
  // This plugin lies in graphengine/, beside libgraphengine.so and the codecs.
  Dl_info info;
  std::error_code ec;
  fs::path own;
  if (dladdr(reinterpret_cast<void*>(&ImageCodecs), &info) != 0 && info.dli_fname != nullptr) {
    own = fs::canonical(info.dli_fname, ec);
  }
  // A relative path would be looked for in folders that anybody may write.
  if (ec || own.empty()) return {nullptr, "the folder of this plugin is not known"};
  const fs::path path = own.parent_path().parent_path() / kCodecsFile;
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* symbol = handle != nullptr ? dlsym(handle, GE_IMAGE_DECODE_NAME) : nullptr;
  if (symbol != nullptr) return {reinterpret_cast<DecodeImageFn>(symbol), {}};
  const char* text = dlerror();
  return {nullptr, text != nullptr ? text : "no reason given"};
}

}  // namespace

DecodeImageFn ImageCodecs() {
  static const Codecs codecs = LoadCodecs();
  if (codecs.decode != nullptr) return codecs.decode;
  throw passes::Refusal{GE_FAILED_PRECONDITION,
                        fmt::format("the image codecs cannot be loaded: {}; {} belongs beside "
                                    "libgraphengine.so, of the same build",
                                    codecs.why, kCodecsFile)};
}

}  // namespace ge::data
