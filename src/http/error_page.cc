#include "http/error_page.h"

#include "http/message.h"

namespace roost::http {
namespace {

// The empty icon keeps a browser from asking for /favicon.ico and being answered with yet another error.
constexpr std::string_view kBeforeTitle =
    "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
    "<meta name=\"viewport\" content=\"width=device-width\">"
    "<link rel=\"icon\" href=\"data:,\"><title>";
constexpr std::string_view kBeforeHeading =
    "</title><style>:root{color-scheme:light dark}"
    "body{font:1.1em/1.5 system-ui,sans-serif;max-width:32em;margin:18vh auto;padding:0 1.5em;"
    "background:#fbfaf8;color:#1c2530}h1{font-size:1.5em;border-bottom:3px solid #d0703c}"
    "@media(prefers-color-scheme:dark){body{background:#11161d;color:#e4e8ec}}</style></head>\n<body><h1>";
constexpr std::string_view kBeforeSentence = "</h1>\n<p>";
constexpr std::string_view kEnd = "</p></body></html>\n";

bool carriesContent(int status) {
  return status >= 200 && status != 204 && status != 205 && status != 304;
}

std::string_view sentenceOfClass(int status) {
  switch (status / 100) {
    case 2:
      return "The request succeeded.";
    case 3:
      return "What you asked for is at another address.";
    case 4:
      return "The server did not accept this request.";
    default:
      return "The server could not complete this request.";
  }
}

// What happened, in the words of someone who only sees the browser. Plain ASCII without < > &.
std::string_view sentence(int status) {
  switch (status) {
    case 400:
      return "The request is not well formed, so nothing was done.";
    case 403:
      return "You may not see what is at this address.";
    case 404:
      return "There is nothing at this address.";
    case 405:
      return "This address does not support the method of the request.";
    case 408:
      return "The request took too long to arrive.";
    case 411:
      return "The request has to state the length of its body.";
    case 412:
      return "A condition of the request does not hold, so nothing was changed.";
    case 413:
      return "The body of the request is larger than is accepted here.";
    case 414:
      return "The address is longer than is accepted here.";
    case 415:
      return "The body of the request is of a type that is not accepted here.";
    case 416:
      return "The requested range lies outside the file.";
    case 417:
      return "The server cannot do what the Expect field asks for.";
    case 421:
      return "This server does not answer for the requested host.";
    case 426:
      return "This address needs another protocol; the Upgrade field names it.";
    case 429:
      return "Too many requests in a short time; try again a little later.";
    case 431:
      return "The header fields of the request are larger than is accepted here.";
    case 500:
      return "Something went wrong on the server.";
    case 501:
      return "The server does not know the method or coding of the request.";
    case 502:
      return "The server behind this one gave no usable answer.";
    case 503:
      return "The server cannot take this request now; try again a little later.";
    case 504:
      return "The server behind this one did not answer in time.";
    case 505:
      return "The server does not speak this version of HTTP.";
    default:
      return sentenceOfClass(status);
  }
}

std::string heading(int status) {
  std::string text = std::to_string(status);
  const std::string_view reason = reasonPhrase(status);
  if (!reason.empty()) {
    text.append(" ").append(reason);
  }
  return text;
}

}  // namespace

std::string errorPage(int status) {
  std::string page;
  if (!carriesContent(status)) {
    return page;
  }
  const std::string title = heading(status);
  page.append(kBeforeTitle).append(title).append(kBeforeHeading).append(title);
  page.append(kBeforeSentence).append(sentence(status)).append(kEnd);
  return page;
}

std::string errorText(int status) {
  std::string text;
  if (carriesContent(status)) {
    text.append(heading(status)).append(": ").append(sentence(status)).append("\n");
  }
  return text;
}

}  // namespace roost::http
