#include "ge/control/image_codecs.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "ge/base/own_folder.h"

namespace ge {
namespace {

namespace fs = std::filesystem;

constexpr const char* kCodecsFile = "libgraphengine_image.so";

Result<DecodeImageFn> LoadCodecs() {
  // Beside libgraphengine.so; from a program that holds the same objects, where that would lie.
  const fs::path own = OwnFolder();
  if (own.empty()) {
    // A relative path would be looked for in folders that anybody may write.
    return Status(Code::kFailedPrecondition,
                  "the image codecs cannot be loaded: the folder of this library is not known");
  }
  std::error_code ec;
  fs::path path = own / kCodecsFile;
  if (!fs::exists(path, ec)) path = (own / "../lib" / kCodecsFile).lexically_normal();
  void* handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  void* symbol = handle != nullptr ? dlsym(handle, GE_IMAGE_DECODE_NAME) : nullptr;
  if (symbol != nullptr) return reinterpret_cast<DecodeImageFn>(symbol);
  const char* text = dlerror();
  return Status(Code::kFailedPrecondition,
                fmt::format("the image codecs cannot be loaded: {}; {} belongs beside "
                            "libgraphengine.so, of the same build",
                            text != nullptr ? text : "no reason given", kCodecsFile));
}

}  // namespace

Result<DecodeImageFn> ImageCodecs() {
  static const Result<DecodeImageFn> codecs = LoadCodecs();
  return codecs;
}

}  // namespace ge
