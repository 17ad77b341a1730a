// What a loaded configuration looks like to its readers: positions, diagnostics and a view into the tree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace roost::config {

struct Value;  // the tree itself: config/value.h, for this folder only

// A place in a configuration file. Lines and columns count from 1, columns in characters; line 0 is the file
// as a whole.
struct Position {
  std::string file;
  int line = 0;
  int column = 0;
};

// One thing that is wrong, in a sentence for people.
struct Diagnostic {
  Position where;
  std::string message;
  std::string excerpt;  // the line with a caret below it; empty where that would not help

  std::string toString() const;  // "file:line:column: error: message", the excerpt on the lines after it
};

struct Member;
class MemberRange;

// A read-only view of one value of a loaded configuration, one pointer wide: pass it by value. It borrows
// from the Config, which never changes, so any thread may read it for as long as the Config lives. A key that
// does not exist gives a Node that does not exist; every reader is safe to call on it. The schema has been
// checked and its defaults are filled in before anybody sees a Node, so a reader of a known key need not
// check its type.
class Node {
 public:
  Node() noexcept = default;
  explicit Node(const Value* value) noexcept : value_(value) {}

  bool exists() const noexcept { return value_ != nullptr; }
  bool isNull() const noexcept;
  bool isBool() const noexcept;
  bool isInt() const noexcept;
  bool isNumber() const noexcept;  // integers too
  bool isString() const noexcept;
  bool isArray() const noexcept;
  bool isObject() const noexcept;
  bool isDefault() const noexcept;  // filled in from the schema: the files do not mention it

  // The empty value ("", 0, false) where the node does not exist or is of another type.
  const std::string& asString() const noexcept;
  int64_t asInt() const noexcept;
  double asDouble() const noexcept;  // integers too
  bool asBool() const noexcept;      // switches have been turned from "on" and "off" into this

  std::size_t size() const noexcept;          // items of an array, members of an object, otherwise 0
  Node at(std::size_t index) const noexcept;  // an item or a member's value; none beyond size()
  Node operator[](std::string_view key) const noexcept;
  MemberRange members() const noexcept;  // of an object; of anything else none

  // The same for every Node of one value; only to be compared.
  const void* identity() const noexcept { return value_; }

  // Where the value, or its key, stands. A default stands where the object that lacks it stands.
  Position position() const;
  Position keyPosition() const;

 private:
  friend class MemberRange;
  const Value* value_ = nullptr;
};

struct Member {
  std::string_view key;
  Node value;
};

// The members of an object, for range-for: keys the schema knows in its order, free ones as the file has
// them.
class MemberRange {
 public:
  explicit MemberRange(Node object) noexcept : object_(object) {}
  class Iterator {
   public:
    Iterator(Node object, std::size_t index) noexcept : object_(object), index_(index) {}
    Member operator*() const noexcept;
    Iterator& operator++() noexcept {
      ++index_;
      return *this;
    }
    bool operator!=(const Iterator& other) const noexcept { return index_ != other.index_; }

   private:
    Node object_;
    std::size_t index_;
  };
  Iterator begin() const noexcept { return {object_, 0}; }
  Iterator end() const noexcept { return {object_, object_.isObject() ? object_.size() : 0}; }

 private:
  Node object_;
};

// For checks that need more than a schema (an address, a folder that must exist): an error at that value.
Diagnostic errorAt(Node node, std::string message);

}  // namespace roost::config
