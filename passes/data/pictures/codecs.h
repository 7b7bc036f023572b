// Opens the image codecs, libgraphengine_image.so: pipelines without encoded pictures load neither
// it nor its dependencies. Loaded once, for the life of the process. Any thread.
#pragma once

#include "ge/ge_image.h"

namespace ge::data {

using DecodeImageFn = int32_t (*)(ge_image_request*);

// FAILED_PRECONDITION as Refusal, naming the file, when it cannot be loaded.
DecodeImageFn ImageCodecs();

}  // namespace ge::data
