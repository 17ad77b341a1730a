#include "http/message.h"

#include "http/ascii.h"
#include "http/field_id.h"

namespace roost::http {

std::string_view methodName(Method method) noexcept {
  switch (method) {
    case Method::kGet:
      return "GET";
    case Method::kHead:
      return "HEAD";
    case Method::kPost:
      return "POST";
    case Method::kPut:
      return "PUT";
    case Method::kDelete:
      return "DELETE";
    case Method::kConnect:
      return "CONNECT";
    case Method::kOptions:
      return "OPTIONS";
    case Method::kTrace:
      return "TRACE";
    case Method::kPatch:
      return "PATCH";
    case Method::kUnknown:
      break;
  }
  return {};
}

void HeadFields::clear() noexcept {
  text = nullptr;
  size = 0;
  version_minor = 1;
  field_count = 0;
  present = repeated = 0;
  first.fill(kNoField);
}

void RequestHead::clear() noexcept {
  HeadFields::clear();
  static_cast<RequestLine&>(*this) = RequestLine{};
}

bool HeadFields::addField(const Field& field) noexcept {
  if (field_count >= kMaxFields) return false;
  const uint8_t index = field_count++;
  const auto id = static_cast<size_t>(field.id);
  fields[index] = field;
  fields[index].next = 0;
  const uint64_t bit = fieldBit(field.id);
  if (field.id != FieldId::kOther && (present & bit) != 0) {
    fields[(repeated & bit) != 0 ? last[id] : first[id]].next = index;
    last[id] = index;
    repeated |= bit;
  } else {
    first[id] = index;
  }
  present |= bit;
  return true;
}

std::string_view HeadFields::get(std::string_view field_name) const noexcept {
  const FieldId id = fieldId(field_name);
  if (id != FieldId::kOther) return get(id);
  for (size_t i = 0; i < field_count; ++i) {
    if (equalsToken(name(fields[i]), field_name)) return value(fields[i]);
  }
  return {};
}

std::string_view reasonPhrase(int status) noexcept {
  switch (status) {
    case 100:
      return "Continue";
    case 101:
      return "Switching Protocols";
    case 103:
      return "Early Hints";
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 203:
      return "Non-Authoritative Information";
    case 204:
      return "No Content";
    case 205:
      return "Reset Content";
    case 206:
      return "Partial Content";
    case 300:
      return "Multiple Choices";
    case 301:
      return "Moved Permanently";
    case 302:
      return "Found";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 305:
      return "Use Proxy";
    case 307:
      return "Temporary Redirect";
    case 308:
      return "Permanent Redirect";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 402:
      return "Payment Required";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 406:
      return "Not Acceptable";
    case 407:
      return "Proxy Authentication Required";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 410:
      return "Gone";
    case 411:
      return "Length Required";
    case 412:
      return "Precondition Failed";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 415:
      return "Unsupported Media Type";
    case 416:
      return "Range Not Satisfiable";
    case 417:
      return "Expectation Failed";
    case 421:
      return "Misdirected Request";
    case 422:
      return "Unprocessable Content";
    case 425:
      return "Too Early";
    case 426:
      return "Upgrade Required";
    case 428:
      return "Precondition Required";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 451:
      return "Unavailable For Legal Reasons";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    case 505:
      return "HTTP Version Not Supported";
    case 507:
      return "Insufficient Storage";
    default:
      return {};
  }
}

}  // namespace roost::http
