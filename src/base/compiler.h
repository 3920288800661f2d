// SPDX-License-Identifier: Apache-2.0
// What we ask of the compiler by name.
#pragma once

#include <cstddef>

#define SENNIT_EXPORT __attribute__((visibility("default")))
#define SENNIT_NOINLINE __attribute__((noinline))
#define SENNIT_COLD __attribute__((noinline, cold))
// Placed beside others of its kind. A rank that outnumbers cores begins each turn with cold caches:
// what a message takes should be on few pages.
#define SENNIT_HOT __attribute__((hot))
#define SENNIT_LIKELY(x) __builtin_expect(static_cast<bool>(x), 1)
#define SENNIT_UNLIKELY(x) __builtin_expect(static_cast<bool>(x), 0)
// The runtime is loaded with the program, so its few thread-local words fit the static TLS block:
// one instruction instead of a call of __tls_get_addr.
#define SENNIT_TLS constinit thread_local __attribute__((tls_model("initial-exec")))

#if defined(__SANITIZE_ADDRESS__)
#define SENNIT_ASAN 1
#endif
#if defined(__SANITIZE_THREAD__)
#define SENNIT_TSAN 1
#endif
#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SENNIT_ASAN 1
#endif
#if __has_feature(thread_sanitizer)
#define SENNIT_TSAN 1
#endif
#endif

// For functions that never return: ASan would unpoison the whole thread's stack before they are
// called, which on a fiber is not the stack that it thinks of.
#if SENNIT_ASAN
#define SENNIT_NO_ASAN __attribute__((no_sanitize("address")))
#else
#define SENNIT_NO_ASAN
#endif

// For looks at what others write without atomic operations, as hints.
#if SENNIT_TSAN
#define SENNIT_NO_TSAN __attribute__((no_sanitize("thread"), noinline))
#else
#define SENNIT_NO_TSAN
#endif

namespace sennit {
inline constexpr std::size_t kCacheLine = 64;
} // namespace sennit
