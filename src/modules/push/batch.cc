#include "modules/push/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/base64.h"
#include "base/memory.h"
#include "modules/push/channel_name.h"
#include "modules/push/publish_request.h"

namespace roost::modules::push {
namespace {

enum class Member : uint8_t { kChannel, kData, kBase64, kContentType, kEvent, kIdKey };
constexpr std::array<std::string_view, 6> kMembers = {"channel",      "data",  "base64",
                                                      "content_type", "event", "id_key"};

constexpr unsigned bit(Member member) noexcept {
  return 1u << static_cast<unsigned>(member);
}

// Takes the list's values in their order, so that nothing but the messages is kept, and nothing that nests.
class ListReader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  ListReader(const BatchOptions& limits, uint32_t max_message_bytes)
      : limits_(limits), max_message_bytes_(max_message_bytes) {}

  Batch take() { return std::move(batch_); }

  bool null() override { return refuseValue(); }
  bool boolean(bool) override { return refuseValue(); }
  bool number_integer(number_integer_t) override { return refuseValue(); }
  bool number_unsigned(number_unsigned_t) override { return refuseValue(); }
  bool number_float(number_float_t, const string_t&) override { return refuseValue(); }
  bool binary(binary_t&) override { return refuseValue(); }

  bool string(string_t& value) override {
    if (!in_entry_) return refuseValue();
    texts_[static_cast<size_t>(member_)] = std::move(value);
    return true;
  }
  bool key(string_t& name) override {
    const auto* const found = std::find(kMembers.begin(), kMembers.end(), name);
    if (found == kMembers.end())
      return refuse(fmt::format("{}: \"{}\" is no member of a message", here(), name));
    member_ = static_cast<Member>(found - kMembers.begin());
    if ((seen_ & bit(member_)) != 0) return refuse(fmt::format("{}: \"{}\" stands twice", here(), name));
    seen_ |= bit(member_);
    return true;
  }
  bool start_object(std::size_t) override {
    if (!in_list_ || in_entry_) return refuseValue();
    if (batch_.entries.size() >= limits_.max_messages) {
      batch_.status = 413;
      batch_.fault = fmt::format("more than {} messages", limits_.max_messages);
      return false;
    }
    in_entry_ = true;
    seen_ = 0;
    return true;
  }
  bool end_object() override {
    in_entry_ = false;
    if ((seen_ & bit(Member::kChannel)) == 0) return refuse(here() + ": \"channel\" is missing");
    const unsigned contents = seen_ & (bit(Member::kData) | bit(Member::kBase64));
    if (contents == 0 || contents == (bit(Member::kData) | bit(Member::kBase64)))
      return refuse(here() + ": a message has either \"data\" or \"base64\"");
    addEntry();
    return true;
  }
  bool start_array(std::size_t) override {
    if (in_list_) return refuseValue();
    in_list_ = true;
    return true;
  }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return refuse(fmt::format("not JSON, at byte {}", position));
  }

 private:
  std::string here() const { return fmt::format("message {}", batch_.entries.size() + 1); }
  bool refuse(std::string why) {
    batch_.status = 400;
    batch_.fault = std::move(why);
    return false;
  }
  bool refuseValue() {
    if (!in_list_) return refuse("a list of messages is an array");
    if (!in_entry_) return refuse(here() + ": a message is an object");
    return refuse(fmt::format("{}: \"{}\" is a text", here(), kMembers[static_cast<size_t>(member_)]));
  }
  std::string& textOf(Member member) noexcept { return texts_[static_cast<size_t>(member)]; }
  // Empty where it is not there: what an earlier message had may stand in its place.
  std::string takeText(Member member) noexcept {
    return (seen_ & bit(member)) != 0 ? std::move(textOf(member)) : std::string();
  }

  void addEntry() {
    BatchEntry entry;
    entry.channel = takeText(Member::kChannel);
    entry.message.content_type = takeText(Member::kContentType);
    entry.message.event = takeText(Member::kEvent);
    entry.message.idempotency_key = takeText(Member::kIdKey);
    check(entry);
    if (entry.status == 0) readContent(entry);
    batch_.entries.push_back(std::move(entry));
  }

  static void fail(BatchEntry& entry, int status, Refusal refusal, std::string_view why) noexcept {
    entry.status = status;
    entry.refusal = refusal;
    entry.fault = why;
  }

  void check(BatchEntry& entry) const {
    const ChannelFault fault = checkChannel(entry.channel);
    if (fault != ChannelFault::kNone) return fail(entry, 400, Refusal::kName, faultText(fault));
    const auto begins = [&entry](const std::string& prefix) {
      return entry.channel.compare(0, prefix.size(), prefix) == 0;
    };
    if (!limits_.prefixes.empty() && std::none_of(limits_.prefixes.begin(), limits_.prefixes.end(), begins))
      return fail(entry, 403, Refusal::kForbidden, "the channel may not be named here");
    const std::string_view wrong = faultOf(entry.message);
    if (!wrong.empty()) fail(entry, 400, Refusal::kField, wrong);
  }

  void readContent(BatchEntry& entry) {
    std::string content = takeText(Member::kData);
    if ((seen_ & bit(Member::kBase64)) != 0 && !decodeBase64(textOf(Member::kBase64), content))
      return fail(entry, 400, Refusal::kField, "\"base64\" is not base64");
    if (content.size() > max_message_bytes_)
      return fail(entry, 413, Refusal::kSize, "the message is larger than it may be");
    entry.message.payload = BufferRef::copyForPeer(content);
    if (!entry.message.payload) throw std::bad_alloc();  // caught by readBatch
  }

  const BatchOptions& limits_;
  const uint32_t max_message_bytes_;
  Batch batch_;
  bool in_list_ = false;
  bool in_entry_ = false;
  Member member_ = Member::kChannel;
  unsigned seen_ = 0;
  std::array<std::string, kMembers.size()> texts_;
};

}  // namespace

bool decodeBase64(std::string_view text, std::string& out) {
  out.resize(text.size() / 4 * 3);
  const size_t size = roost::decodeBase64(text, out.data());
  out.resize(size == SIZE_MAX ? 0 : size);
  return size != SIZE_MAX;
}

namespace {

Batch readList(std::string_view text, const BatchOptions& limits, uint32_t max_message_bytes) {
  ListReader reader(limits, max_message_bytes);
  const bool read = nlohmann::json::sax_parse(text.begin(), text.end(), &reader);
  Batch batch = reader.take();
  if (!read) batch.entries.clear();
  if (!read && batch.status == 200) {
    batch.status = 400;
    batch.fault = "not a list of messages";
  }
  return batch;
}

}  // namespace

Batch readBatch(std::string_view text, const BatchOptions& limits, uint32_t max_message_bytes) noexcept {
  Batch batch;
  if (!memory::forPeer([&] { batch = readList(text, limits, max_message_bytes); })) {
    batch = {};
    batch.status = 503;
  }
  return batch;
}

}  // namespace roost::modules::push
