// Content that is encoded once and goes out in many answers of unknown length.
#pragma once

#include <cstddef>
#include <string_view>

#include "base/buffer.h"

namespace roost::http {

// Makes a block with the framing of one HTTP/1.1 chunk (RFC 9112 section 7.1) around room for `size` bytes of
// content, which the caller writes at `content`. For Exchange::sendFramed(). Empty where there is no memory
// for it. REQUIRES: size > 0, since an empty chunk ends an answer.
BufferRef makeFramed(size_t size, char*& content);

// The content of such a block.
std::string_view contentOf(const BufferRef& framed) noexcept;

}  // namespace roost::http
