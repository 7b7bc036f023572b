/* How fast this machine reads memory: THREADS threads sum up a buffer of MEGABYTES, each its share,
 * ROUNDS times; prints the rounds' gigabytes a second, one a line. */
#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct Share {
  const uint64_t* data;
  size_t count;
  uint64_t sum;
} Share;

static void* Sum(void* context) {
  Share* s = context;
  uint64_t sums[16] = {0}; /* apart, so that none waits for another */
  for (size_t i = 0; i + 16 <= s->count; i += 16) {
    for (size_t k = 0; k < 16; ++k) sums[k] += s->data[i + k];
  }
  for (size_t k = 0; k < 16; ++k) s->sum += sums[k];
  return NULL;
}

static double Seconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

int main(int argc, char** argv) {
  if (argc != 4) return fprintf(stderr, "usage: read_speed THREADS MEGABYTES ROUNDS\n"), 2;
  const size_t threads = (size_t)atoi(argv[1]), bytes = (size_t)atoi(argv[2]) << 20;
  uint64_t* data = aligned_alloc(1 << 21, bytes);
  pthread_t* ids = calloc(threads, sizeof *ids);
  Share* shares = calloc(threads, sizeof *shares);
  if (!data || !ids || !shares) return fprintf(stderr, "no memory\n"), 1;
  memset(data, 1, bytes);
  for (int round = 0; round < atoi(argv[3]); ++round) {
    const double begin = Seconds();
    for (size_t t = 0; t < threads; ++t) {
      shares[t].count = bytes / 8 / threads;
      shares[t].data = data + t * shares[t].count;
      if (pthread_create(&ids[t], NULL, Sum, &shares[t])) return 1;
    }
    for (size_t t = 0; t < threads; ++t) pthread_join(ids[t], NULL);
    printf("%.3f\n", (double)bytes / (Seconds() - begin) * 1e-9);
  }
  free(data);
  free(ids);
  return shares[0].sum == 1; /* so that the sums are made */
}
