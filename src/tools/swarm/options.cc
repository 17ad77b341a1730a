#include "tools/swarm/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "tools/swarm/text.h"

namespace roost::swarm {
namespace {

enum class Value : uint8_t { kNumber, kText, kSwitch, kTextList, kNumberList };

// The options that are keys of the scenario; their order is that of the help.
struct KeyOption {
  const char* group;  // begins one; nullptr: as before
  char letter;
  const char* name;  // the key is the same with underscores
  Value value;
  const char* argument;
  const char* help;
};

constexpr KeyOption kKeyOptions[] = {
    {"Who and what", 0, "kind", Value::kText, "KIND",
     "tcp_echo, http, hold, poll, sse or ws; by default what the URL says"},
    {nullptr, 0, "url", Value::kText, "URL", "the target, where a scenario file names another one"},
    {nullptr, 'c', "clients", Value::kNumber, "N", "connections at the same time (100)"},
    {nullptr, 't', "threads", Value::kNumber, "N",
     "threads, each with its own limit of descriptors (0: one per core, more if descriptors need it)"},
    {nullptr, 0, "source-addresses", Value::kNumber, "N",
     "connect from 127.0.0.1 to 127.0.0.N (-1: as many as the ports need; 0: the system chooses)"},
    {nullptr, 0, "connect-rate", Value::kNumber, "PER_S",
     "open connections at this rate (0: as fast as it goes)"},
    {nullptr, 0, "connect-timeout-ms", Value::kNumber, "MS",
     "for connecting and the opening handshake (5000)"},
    {nullptr, 0, "require-all", Value::kSwitch, "on|off",
     "end before the load unless all clients are connected (off)"},
    {"Load", 'r', "rate", Value::kNumber, "PER_S",
     "requests per second, all clients together, by a fixed schedule; latency counts from when a request was "
     "due (0: every client asks again when answered)"},
    {nullptr, 0, "think-ms", Value::kNumber, "MS", "pause of a client between answer and request (0)"},
    {nullptr, 0, "requests-per-client", Value::kNumber, "N",
     "then it is done; the run ends when all are (0: never)"},
    {nullptr, 'd', "duration-s", Value::kNumber, "S", "the measured time (10)"},
    {nullptr, 0, "warmup-s", Value::kNumber, "S",
     "load before it that does not count (1; 0 with --requests-per-client)"},
    {nullptr, 0, "settle-s", Value::kNumber, "S",
     "pause between the last connection and the first request, when memory is read (0.5)"},
    {nullptr, 0, "drain-s", Value::kNumber, "S", "wait so long for the last answers (2)"},
    {nullptr, 0, "timeout-ms", Value::kNumber, "MS", "an answer that takes longer is an error (10000)"},
    {nullptr, 0, "spin", Value::kSwitch, "on|off", "threads poll instead of sleeping (off)"},
    {nullptr, 0, "reconnect", Value::kSwitch, "on|off", "try again after a lost or failed connection (on)"},
    {nullptr, 0, "reconnect-delay-ms", Value::kNumber, "MS", "after so long (1000)"},
    {"Requests", 'X', "method", Value::kText, "METHOD", "(GET)"},
    {nullptr, 'H', "headers", Value::kTextList, "'NAME: VALUE'", "a further field; may be given many times"},
    {nullptr, 0, "body", Value::kText, "TEXT", "content of each request"},
    {nullptr, 0, "pipeline", Value::kNumber, "N", "http: N requests in one write, then N answers (1)"},
    {nullptr, 0, "message-bytes", Value::kNumber, "N", "size of a message of tcp_echo and ws (20)"},
    {nullptr, 0, "ws-mode", Value::kText, "MODE", "echo, quiet or listen (echo)"},
    {nullptr, 0, "ws-subprotocol", Value::kText, "NAME",
     "that WebSockets ask for, such as ws+meta.nchan (none)"},
    {"Checks", 0, "expect-status", Value::kNumber, "N", "of every answer (200)"},
    {nullptr, 0, "expect-bytes", Value::kNumber, "N", "of content (-1: as the first answer; -2: any)"},
    {nullptr, 0, "expect-body", Value::kText, "HASH",
     "any, same (as the first) or a hash the report named (any)"},
    {nullptr, 0, "expect-min-ms", Value::kNumber, "MS", "an earlier answer is an error (0)"},
    {nullptr, 0, "expect-max-ms", Value::kNumber, "MS", "a later answer is an error (0: any time)"},
    {nullptr, 0, "expect-sequence", Value::kSwitch, "on|off",
     "received messages begin with consecutive numbers: lost, repeated, reordered ones are errors (off)"},
    {nullptr, 0, "expect-messages", Value::kNumber, "N", "every client has to get so many (0: any number)"},
    {"Publishing", 0, "publish-url", Value::kText, "URL",
     "publish numbered, stamped messages there, http://... or a path on the target, and measure their "
     "delivery"},
    {nullptr, 0, "publish-messages", Value::kNumber, "N",
     "so many (0: as many as fit into the measured time)"},
    {nullptr, 0, "publish-interval-s", Value::kNumber, "S",
     "from one to the next (1; 0: as soon as the one before was answered)"},
    {nullptr, 0, "publish-bytes", Value::kNumber, "N", "size of each (128)"},
    {"Report", 0, "pid", Value::kNumberList, "PID",
     "a process of the server on this machine: its memory per client, its CPU per request; may be given many "
     "times"},
};

struct PlainOption {
  const char* letters;
  const char* name;
  const char* argument;
  const char* help;
};
constexpr PlainOption kPlainOptions[] = {
    {"", "json", "FILE", "write the report as JSON too (-: to standard output, instead of the text)"},
    {"", "svg", "FILE", "draw latency by percentile, and rate and clients over time"},
    {"q", "quiet", "", "no progress"},
    {"", "allow-remote", "", "load other machines than this one; only with their owner's consent"},
    {"", "check", "", "check scenario and limits, say how the run would be laid out, and exit"},
    {"", "print-schema", "", "print the JSON Schema of scenarios, for editors"},
    {"V", "version", "", "print the version"},
    {"h", "help", "", "print this text"},
};

std::string keyOf(std::string_view name) {
  std::string key(name);
  for (char& c : key) c = c == '-' ? '_' : c;
  return key;
}

const KeyOption* findKey(std::string_view name, char letter) {
  for (const KeyOption& option : kKeyOptions) {
    if (letter != 0 ? option.letter == letter : option.name == name) return &option;
  }
  return nullptr;
}

size_t digitsAt(std::string_view text, size_t at) {
  const size_t end = std::min(text.find_first_not_of("0123456789", at), text.size());
  return at < text.size() ? end - at : 0;
}

// RFC 8259 section 6: what may be put into JSON as it is.
bool isNumber(std::string_view text) {
  size_t at = !text.empty() && text[0] == '-' ? 1 : 0;
  const size_t whole = digitsAt(text, at);
  if (whole == 0 || (whole > 1 && text[at] == '0')) return false;
  at += whole;
  if (at < text.size() && text[at] == '.') {
    const size_t part = digitsAt(text, at + 1);
    if (part == 0) return false;
    at += 1 + part;
  }
  if (at < text.size() && (text[at] == 'e' || text[at] == 'E')) {
    ++at;
    if (at < text.size() && (text[at] == '+' || text[at] == '-')) ++at;
    const size_t power = digitsAt(text, at);
    if (power == 0) return false;
    at += power;
  }
  return at == text.size();
}

// The command line on its way: what is left of it, and what it has said so far.
class Parser {
 public:
  explicit Parser(const std::vector<std::string>& arguments) : arguments_(arguments) {}

  Result<Options> parse() {
    while (at_ < arguments_.size() && error_.empty()) {
      const std::string& argument = arguments_[at_++];
      if (argument.size() > 1 && argument[0] == '-') {
        option(argument);
      } else {
        target(argument);
      }
    }
    if (!error_.empty()) return Status::error(error_ + "; --help lists the options");
    options_.overlay = "{";
    for (const auto& [name, value] : keys_) {
      options_.overlay += fmt::format("{}\"{}\": {},", options_.overlay.size() == 1 ? "" : "\n", keyOf(name),
                                      value.list ? "[" + value.text + "]" : value.text);
      options_.overlay_names.push_back("--" + name);
    }
    options_.overlay += "}";
    return options_;
  }

 private:
  struct KeyValue {
    std::string text;
    bool list;
  };

  void option(const std::string& argument) {
    const bool is_long = argument[1] == '-';
    const size_t equals = is_long ? argument.find('=') : std::string::npos;
    std::string name = is_long ? argument.substr(2, equals - 2) : argument.substr(1, 1);
    has_inline_ = is_long ? equals != std::string::npos : argument.size() > 2;
    inline_ = is_long ? (has_inline_ ? argument.substr(equals + 1) : "") : argument.substr(2);
    if (const KeyOption* key = findKey(name, is_long ? '\0' : argument[1])) return set(*key);
    for (const PlainOption& plain : kPlainOptions) {
      if (is_long ? name == plain.name : std::string_view(plain.letters) == name) return apply(plain);
    }
    error_ = fmt::format("unknown option {}", is_long ? "--" + name : "-" + name);
  }

  bool value(const std::string& name, std::string& out) {
    if (has_inline_) {
      out = inline_;
    } else if (at_ < arguments_.size()) {
      out = arguments_[at_++];
    } else {
      error_ = fmt::format("--{} needs a value", name);
      return false;
    }
    return true;
  }

  void set(const KeyOption& key) {
    std::string text;
    if (!value(key.name, text)) return;
    const bool list = key.value == Value::kTextList || key.value == Value::kNumberList;
    const bool number = key.value == Value::kNumber || key.value == Value::kNumberList;
    if (number && !isNumber(text)) {
      error_ = fmt::format("--{}: {} is no number, such as 10, 2.5 or 1e6, without zeros before it", key.name,
                           jsonText(text));
      return;
    }
    const std::string json = number ? text : jsonText(text);
    const auto [found, fresh] = keys_.emplace(key.name, KeyValue{json, list});
    if (fresh) return;
    found->second.text = list ? found->second.text + ", " + json : json;  // otherwise the last one counts
  }

  void apply(const PlainOption& plain) {
    const std::string_view name = plain.name;
    std::string text;
    if (plain.argument[0] != '\0') {
      if (!value(plain.name, text)) return;
    } else if (has_inline_) {
      error_ = fmt::format("--{} takes no value", name);
      return;
    }
    using Action = Options::Action;
    if (name == "json") options_.json_file = text;
    if (name == "svg") options_.svg_file = text;
    if (name == "quiet") options_.quiet = true;
    if (name == "allow-remote") options_.allow_remote = true;
    if (name == "check") options_.action = Action::kCheck;
    if (name == "print-schema") options_.action = Action::kPrintSchema;
    if (name == "version") options_.action = Action::kVersion;
    if (name == "help") options_.action = Action::kHelp;
  }

  void target(const std::string& argument) {
    const bool is_url = argument.find("://") != std::string::npos;
    if (is_url && keys_.count("url") == 0) {
      keys_.emplace("url", KeyValue{jsonText(argument), false});
    } else if (!is_url && options_.scenario_file.empty()) {
      options_.scenario_file = argument;
    } else {
      error_ = fmt::format("\"{}\" is one {} too many", argument, is_url ? "URL" : "scenario");
    }
  }

  const std::vector<std::string>& arguments_;
  size_t at_ = 0;
  bool has_inline_ = false;
  std::string inline_;
  std::string error_;
  std::map<std::string, KeyValue> keys_;
  Options options_;
};

// One option of the help: its text begins at a column of its own and is folded there.
void addHelp(std::string& text, char letter, std::string_view name, std::string_view argument,
             std::string_view help) {
  constexpr size_t kColumn = 34;
  constexpr size_t kWidth = 110;
  std::string line = letter != 0 ? fmt::format("  -{}, --{} {}", letter, name, argument)
                                 : fmt::format("      --{} {}", name, argument);
  while (!help.empty()) {
    size_t size = help.size();
    if (size > kWidth - kColumn) size = help.rfind(' ', kWidth - kColumn);
    line.resize(std::max(line.size() + 1, kColumn), ' ');
    text += line + std::string(help.substr(0, size)) + "\n";
    help.remove_prefix(size);
    if (!help.empty()) help.remove_prefix(1);
    line.clear();
  }
}

}  // namespace

Result<Options> parseOptions(const std::vector<std::string>& arguments) {
  return Parser(arguments).parse();
}

std::string helpText() {
  std::string text =
      "usage: swarm URL [OPTION...]\n"
      "       swarm SCENARIO.json [OPTION...]\n"
      "\n"
      "Loads a server with many clients of one kind, checks every answer, and reports what it saw.\n"
      "\n"
      "  swarm http://127.0.0.1:4507/ -c 64 -d 10           as many requests as 64 connections make\n"
      "  swarm http://127.0.0.1:4507/ -c 64 -r 20000        20,000 requests per second, and their latency\n"
      "  swarm ws://127.0.0.1:4507/echo --message-bytes 1024\n"
      "  swarm conf/swarm/quiet_websockets.json -c 60000 --pid $(pidof server)\n"
      "  swarm conf/swarm/broadcast.json -c 10000             one message a second to all, and its delivery\n"
      "\n"
      "URL is tcp://, http:// or ws://, a host name or IP address, and a port. A scenario is JSON with "
      "comments\n"
      "(conf/swarm/ has samples); options win over its keys, which have the same names with underscores.\n";
  for (const KeyOption& option : kKeyOptions) {
    if (option.group != nullptr) text += fmt::format("\n{}:\n", option.group);
    addHelp(text, option.letter, option.name, option.argument, option.help);
  }
  for (const PlainOption& option : kPlainOptions) {
    addHelp(text, option.letters[0], option.name, option.argument, option.help);
  }
  text +=
      "\n"
      "Ctrl-C ends the run with a report of what was measured so far; a second one ends it at once.\n"
      "\n"
      "Exit codes: 0 every request was sent and rightly answered, 1 not so, 2 wrong command line or "
      "scenario,\n"
      "3 this machine cannot do it (descriptors, addresses, ports, threads). docs/swarm.md says what each "
      "number "
      "means.\n";
  return text;
}

}  // namespace roost::swarm
