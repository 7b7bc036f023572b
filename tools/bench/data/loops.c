// Loops that one would write by hand beside a data pipeline, one thread: what the bench's pipes
// give, by libjpeg and plain C. Reads the paths of files from stdin; prints rows a second.
//
//   loops photos|cifar SECONDS
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// It wants size_t and FILE from whoever includes it.
#include <jpeglib.h>

enum { kSide = 224, kPhotos = 64, kSmall = 32, kPad = 4, kPictures = 128, kMostFiles = 4096 };

static const float kMean[] = {0.485f, 0.456f, 0.406f}, kStd[] = {0.229f, 0.224f, 0.225f};

static double Seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static uint64_t state = 88172645463325252u;
static uint32_t Below(uint32_t n) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return (uint32_t)((state >> 32) * n >> 32);
}
static double Uniform(double low, double high) {
  return low + (high - low) * Below(1u << 24) / (1u << 24);
}

static void* Grown(void* old, size_t bytes) {
  void* made = realloc(old, bytes);
  if (made == NULL) exit(3);
  return made;
}

static size_t ReadFile(const char* path, uint8_t** bytes) {
  FILE* f = fopen(path, "rb");
  if (f == NULL || fseek(f, 0, SEEK_END) != 0) exit(2);
  const size_t size = (size_t)ftell(f);
  rewind(f);
  *bytes = Grown(*bytes, size);
  if (fread(*bytes, 1, size, f) != size) exit(2);
  fclose(f);
  return size;
}

// ---- photos

typedef struct {
  int width, height;
  uint8_t* rgb;
} Picture;

static void Decode(const uint8_t* bytes, size_t size, Picture* to) {
  struct jpeg_decompress_struct info;
  struct jpeg_error_mgr errors;
  info.err = jpeg_std_error(&errors);
  jpeg_create_decompress(&info);
  jpeg_mem_src(&info, bytes, size);
  jpeg_read_header(&info, TRUE);
  info.out_color_space = JCS_RGB;
  jpeg_start_decompress(&info);
  to->width = (int)info.output_width;
  to->height = (int)info.output_height;
  to->rgb = Grown(to->rgb, (size_t)to->width * (size_t)to->height * 3);
  while (info.output_scanline < info.output_height) {
    JSAMPROW row = to->rgb + (size_t)info.output_scanline * (size_t)to->width * 3;
    jpeg_read_scanlines(&info, &row, 1);
  }
  jpeg_finish_decompress(&info);
  jpeg_destroy_decompress(&info);
}

typedef struct {
  int x, y, width, height;
} Box;

static Box RandomBox(int width, int height) {
  for (int i = 0; i < 10; ++i) {
    const double area = (double)width * height * Uniform(0.08, 1);
    const double aspect = exp(Uniform(log(3.0 / 4), log(4.0 / 3)));
    const int w = (int)lround(sqrt(area * aspect)), h = (int)lround(sqrt(area / aspect));
    if (w > width || h > height) continue;
    return (Box){(int)Below((uint32_t)(width - w + 1)), (int)Below((uint32_t)(height - h + 1)), w,
                 h};
  }
  const int side = width < height ? width : height;
  return (Box){(width - side) / 2, (height - side) / 2, side, side};
}

// Bilinear weights with antialias, of each of kSide places of `in` pixels.
typedef struct {
  int begin[kSide], count[kSide], most;
  float* weight;
} Taps;

static void MakeTaps(int in, Taps* t) {
  const double scale = (double)in / kSide, support = scale > 1 ? scale : 1;
  t->most = 2 * (int)ceil(support) + 1;
  t->weight = Grown(t->weight, sizeof(float) * kSide * (size_t)t->most);
  for (int i = 0; i < kSide; ++i) {
    const double center = (i + 0.5) * scale;
    const int low = center - support + 0.5 > 0 ? (int)(center - support + 0.5) : 0;
    const int high = center + support + 0.5 < in ? (int)(center + support + 0.5) : in;
    float* w = t->weight + i * t->most;
    float sum = 0;
    for (int x = low; x < high; ++x) {
      const double away = fabs((x - center + 0.5) / support);
      sum += w[x - low] = away < 1 ? (float)(1 - away) : 0;
    }
    for (int x = 0; x < high - low; ++x) w[x] /= sum;
    t->begin[i] = low;
    t->count[i] = high - low;
  }
}

// Across, of all rows of the box.
static void Across(const Picture* p, Box box, const Taps* t, float* to) {
  for (int y = 0; y < box.height; ++y) {
    const uint8_t* row = p->rgb + 3 * ((size_t)(box.y + y) * (size_t)p->width + (size_t)box.x);
    for (int i = 0; i < kSide; ++i, to += 3) {
      const uint8_t* from = row + 3 * t->begin[i];
      const float* w = t->weight + i * t->most;
      float r = 0, g = 0, b = 0;
      for (int k = 0; k < t->count[i]; ++k, from += 3) {
        r += w[k] * from[0];
        g += w[k] * from[1];
        b += w[k] * from[2];
      }
      to[0] = r;
      to[1] = g;
      to[2] = b;
    }
  }
}

// Down, then flipped or not, normalised, as planes.
static void Down(const float* rows, const Taps* t, int flip, float* out) {
  float line[3 * kSide];
  for (int y = 0; y < kSide; ++y) {
    memset(line, 0, sizeof line);
    for (int k = 0; k < t->count[y]; ++k) {
      const float w = t->weight[y * t->most + k];
      const float* from = rows + (size_t)(t->begin[y] + k) * 3 * kSide;
      for (int i = 0; i < 3 * kSide; ++i) line[i] += w * from[i];
    }
    for (int c = 0; c < 3; ++c) {
      const float scale = 1 / (255 * kStd[c]), shift = -kMean[c] / kStd[c];
      float* to = out + (c * kSide + y) * kSide;
      if (flip) {
        for (int x = 0; x < kSide; ++x) to[kSide - 1 - x] = line[3 * x + c] * scale + shift;
      } else {
        for (int x = 0; x < kSide; ++x) to[x] = line[3 * x + c] * scale + shift;
      }
    }
  }
}

static double Photos(char** paths, int files, double least_s) {
  float* batch = Grown(NULL, sizeof(float) * kPhotos * 3 * kSide * kSide);
  uint8_t* bytes = NULL;
  float* rows = NULL;
  Picture picture = {0};
  Taps columns = {.weight = NULL}, lines = {.weight = NULL};
  long done = 0;
  double begin = 0;
  for (long n = 0;; ++n) {
    if (n == kPhotos) begin = Seconds();  // the first batch touches the memory
    if (n > kPhotos && n % kPhotos == 0 && Seconds() - begin > least_s) break;
    const size_t size = ReadFile(paths[Below((uint32_t)files)], &bytes);
    Decode(bytes, size, &picture);
    const Box box = RandomBox(picture.width, picture.height);
    MakeTaps(box.width, &columns);
    MakeTaps(box.height, &lines);
    rows = Grown(rows, sizeof(float) * 3 * kSide * (size_t)box.height);
    Across(&picture, box, &columns, rows);
    Down(rows, &lines, (int)Below(2), batch + n % kPhotos * 3 * kSide * kSide);
    done += n >= kPhotos;
  }
  return (double)done / (Seconds() - begin);
}

// ---- cifar: a .npy of u8[n, 3, 32, 32]

static void Cut(const uint8_t* from, int top, int left, int flip, float* to) {
  for (int c = 0; c < 3; ++c, from += kSmall * kSmall) {
    for (int y = 0; y < kSmall; ++y, to += kSmall) {
      uint8_t line[kSmall + 2 * kPad] = {0};
      const int row = y + top - kPad;
      if (row >= 0 && row < kSmall) memcpy(line + kPad, from + row * kSmall, kSmall);
      const uint8_t* cut = line + left;
      if (flip) {
        for (int x = 0; x < kSmall; ++x) {
          to[x] = cut[kSmall - 1 - x] * (1 / (255 * 0.25f)) - 0.5f / 0.25f;
        }
      } else {
        for (int x = 0; x < kSmall; ++x) to[x] = cut[x] * (1 / (255 * 0.25f)) - 0.5f / 0.25f;
      }
    }
  }
}

static double Pictures(const char* path, double least_s) {
  enum { kBytes = 3 * kSmall * kSmall };
  uint8_t* bytes = NULL;
  const size_t size = ReadFile(path, &bytes);
  const size_t head = size % kBytes;
  const uint32_t all = (uint32_t)(size / kBytes);
  uint32_t* order = Grown(NULL, sizeof *order * all);
  for (uint32_t i = 0; i < all; ++i) order[i] = i;
  float* batch = Grown(NULL, sizeof(float) * kPictures * kBytes);
  long done = 0;
  const double begin = Seconds();
  for (;; ++done) {
    if (done % kPictures == 0 && Seconds() - begin > least_s) break;
    const uint32_t at = (uint32_t)(done % all), other = at + Below(all - at);
    const uint32_t row = order[other];
    order[other] = order[at];
    order[at] = row;
    Cut(bytes + head + (size_t)row * kBytes, (int)Below(2 * kPad + 1), (int)Below(2 * kPad + 1),
        (int)Below(2), batch + done % kPictures * kBytes);
  }
  return (double)done / (Seconds() - begin);
}

int main(int argc, char** argv) {
  static char* paths[kMostFiles];
  int files = 0;
  char line[4096];
  while (files < kMostFiles && fgets(line, sizeof line, stdin) != NULL) {
    line[strcspn(line, "\n")] = 0;
    paths[files++] = strdup(line);
  }
  if (argc != 3 || files == 0) return 2;
  const double least_s = atof(argv[2]);
  const double rate =
      strcmp(argv[1], "photos") == 0 ? Photos(paths, files, least_s) : Pictures(paths[0], least_s);
  printf("%.3f\n", rate);
  return 0;
}
