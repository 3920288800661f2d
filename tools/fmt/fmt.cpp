// SPDX-License-Identifier: Apache-2.0
// The functions of fmt 9, compiled once: as text in every file that formats they were two thirds of
// what the command costs to build. Debian's fmt has them in a shared library only, and the command
// has to start where that is not installed.
#include <fmt/format-inl.h>

namespace fmt {
inline namespace v9 {
namespace detail {

// The templates whose bodies are in format-inl.h (those of fmt's own src/format.cc).
template dragonbox::decimal_fp<float> dragonbox::to_decimal(float) noexcept;
template dragonbox::decimal_fp<double> dragonbox::to_decimal(double) noexcept;
template locale_ref::locale_ref(const std::locale &);
template std::locale locale_ref::get<std::locale>() const;
template thousands_sep_result<char> thousands_sep_impl(locale_ref);
template char decimal_point_impl(locale_ref);
template void buffer<char>::append(const char *, const char *);
template void vformat_to(buffer<char> &, string_view, format_args, locale_ref);

} // namespace detail
} // namespace v9
} // namespace fmt
