// GE_ADDRESS_SANITIZER, GE_THREAD_SANITIZER: 1 in code that is compiled with it, else 0. g++ and
// clang tell it in different ways.
#pragma once

#if defined(__SANITIZE_ADDRESS__)
#define GE_ADDRESS_SANITIZER 1
#elif defined(__has_feature)
#define GE_ADDRESS_SANITIZER __has_feature(address_sanitizer)
#else
#define GE_ADDRESS_SANITIZER 0
#endif

#if defined(__SANITIZE_THREAD__)
#define GE_THREAD_SANITIZER 1
#elif defined(__has_feature)
#define GE_THREAD_SANITIZER __has_feature(thread_sanitizer)
#else
#define GE_THREAD_SANITIZER 0
#endif
