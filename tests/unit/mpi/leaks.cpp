// SPDX-License-Identifier: Apache-2.0
// For LeakSanitizer: the engine's arrays are one to a process and never freed, for a thread may
// need them until the very end. Tests make more of them.
extern "C" [[gnu::visibility("default")]] const char *__lsan_default_suppressions();
const char *__lsan_default_suppressions() {
    return "leak:sennit::Array<\n";
}
