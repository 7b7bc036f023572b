/* The interface of the image codecs: the one function of libgraphengine_image.so, opened at first
 * use by the operator ImageDecoder and by the plugin data. In C, so only bytes and numbers cross
 * it. It keeps no state; any thread may call. The caller owns all arguments. Not part of the plugin
 * ABI: a library and its callers are of one build. */
#ifndef GE_IMAGE_H_
#define GE_IMAGE_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The order of a pixel's channels. */
enum { GE_IMAGE_RGB = 0, GE_IMAGE_BGR = 1, GE_IMAGE_GRAYSCALE = 2 };

enum {
  GE_IMAGE_OK = 0,
  GE_IMAGE_UNKNOWN = 1,     /* begins like no known format */
  GE_IMAGE_CORRUPT = 2,     /* of a known format, and damaged */
  GE_IMAGE_UNSUPPORTED = 3, /* a kind of a known format without a decoder */
  GE_IMAGE_TOO_LARGE = 4,   /* more pixels than GE_IMAGE_MAX_PIXELS */
  GE_IMAGE_NO_MEMORY = 5,
  GE_IMAGE_REFUSED = 6,  /* `reserve` answered NULL */
  GE_IMAGE_INTERNAL = 7, /* a bug of ours */
  GE_IMAGE_STOPPED = 8   /* `stop` was set */
};

/* 16384 x 16384: more than any camera takes (150 million), and 805 MB as RGB. A header claiming
 * more is taken for damage or malice, before memory is reserved for it. */
#define GE_IMAGE_MAX_PIXELS (INT64_C(1) << 28)

/* A part of a picture, in pixels: within it, or empty (height and width 0). */
typedef struct ge_image_box {
  int64_t x, y, width, height;
} ge_image_box;

typedef struct ge_image_request {
  const uint8_t* bytes;
  uint64_t size;
  int32_t order; /* GE_IMAGE_RGB and so on */
  int32_t reserved;
  /* For a whole picture. Called once, when the size is known and allowed: gives height * width *
   * channels bytes, which are filled row by row. The caller keeps them, also when decoding fails
   * later. */
  uint8_t* (*reserve)(void* self, int64_t height, int64_t width, int64_t channels);
  void* self;
  /* For a part, instead of reserve: both or neither. `choose` is called once, when the size is
   * known and allowed, with the whole picture in *box, and sets what is wanted. `line` is called
   * for each of its rows from the top down: width * channels bytes, the same as those of the whole
   * picture, valid for the call. Of an empty part nothing is decoded: for the size alone. Of a
   * JPEG the part alone is decoded, as far as blocks go, of a PNG nothing below it: damage
   * elsewhere may stay unseen. */
  void (*choose)(void* self, int64_t height, int64_t width, ge_image_box* box);
  void (*line)(void* self, const uint8_t* pixels);
  const uint32_t* stop; /* not 0 = give up soon; NULL: nobody can stop it */
  char why[320];        /* filled unless OK: "PNG: Not enough image data" */
} ge_image_request;

/* The name has a number that grows when the struct changes, so nobody calls a module of another
 * build by mistake. */
#define GE_IMAGE_DECODE_NAME "ge_image_decode_3"
int32_t ge_image_decode_3(ge_image_request* request);

#ifdef __cplusplus
}
#endif

#endif /* GE_IMAGE_H_ */
