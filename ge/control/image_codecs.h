// Opens the image codecs, a library of their own: programs that decode no images load neither it
// nor its dependencies. Loaded once, for the life of the process. Any thread may call.
#pragma once

#include "ge/base/status.h"
#include "ge/ge_image.h"

namespace ge {

using DecodeImageFn = int32_t (*)(ge_image_request*);

// FAILED_PRECONDITION, naming the file, when it cannot be loaded.
Result<DecodeImageFn> ImageCodecs();

}  // namespace ge
