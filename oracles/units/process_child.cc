#include "oracles/units/process_child.h"

#include <charconv>

#include "core/case_text.h"
#include "core/text.h"

namespace mmafuzz {
namespace {

constexpr size_t longest_process_line = size_t{1} << 20;

/// The number that the word is; a negative one if it is no number or above `most`.
int count_of(std::string_view word, int most) {
  int value = -1;
  return parse_number(word, value) && value <= most ? value : -1;
}

/// Whether the word is exactly the lower-case hexadecimal digits of an encoding of the format, read into `value`.
bool parse_encoding(std::string_view word, const Format& format, uint64_t& value) {
  if (word.size() != static_cast<size_t>(format.digits()) || word.find_first_not_of("0123456789abcdef") != word.npos)
    return false;
  std::from_chars(word.data(), word.data() + word.size(), value, 16);
  return (value & ~format.fields().container_mask()) == 0;
}

/// What a result is in words: "the 4 lower-case hex digits of fp16".
std::string digits_of(const Op& op) {
  std::string text;
  for (const FieldShape& part : op.results())
    text += (text.empty() ? "" : ", then ") + (part.count == 1 ? "the" : std::to_string(part.count) + " times the") +
            " " + std::to_string(part.format.digits()) + " lower-case hex digits of " + part.format.name();
  return text;
}

}  // namespace

void ProcessChild::fail(const std::string& did) {
  throw ProcessFailure(did + how_ended(ChildProcess::Why::not_behaving));
}

void ProcessChild::fail_after(const std::string& did, Deadline deadline) {
  if (std::chrono::steady_clock::now() >= deadline)
    throw ProcessFailure(did + how_ended(ChildProcess::Why::not_behaving), ProcessFailure::timed_out);
  throw ProcessFailure(did + how_ended(ChildProcess::Why::gone));
}

void ProcessChild::must_be_end(const std::string& line, size_t cases) {
  if (line != "end")
    fail("said " + mmafuzz::in_quotes(line) + " after " + counted(cases, "case") + ", where 'end' was expected");
  must_be_silent();
}

void ProcessChild::must_be_silent() {
  if (!received_.empty()) fail("said more than it was asked for: " + mmafuzz::in_quotes(received_));
}

std::string ProcessChild::how_ended(ChildProcess::Why why) {
  const std::string how = child_.end(why);
  return how.empty() ? "" : " (" + how + ")";
}

std::string ProcessChild::line_after(std::string_view text, Deadline deadline) {
  size_t end = std::string::npos, searched = 0;
  bool too_long = false;
  try {
    talk(
        child_.socket(), text, received_,
        [&] {
          end = received_.find('\n', searched);
          searched = received_.size();
          too_long = end == std::string::npos && searched > longest_process_line;
          return end != std::string::npos || too_long;
        },
        deadline);
  } catch (const std::runtime_error& e) {
    fail_after(e.what() + (received_.empty() ? "" : " after it said " + mmafuzz::in_quotes(received_)), deadline);
  }
  if (too_long) fail("said " + mmafuzz::in_quotes(received_) + ", a line without an end");
  std::string line = received_.substr(0, end);
  received_.erase(0, end + 1);
  if (!line.empty() && line.back() == '\r') line.pop_back();
  return line;
}

void ProcessChild::start() {
  try {
    received_.clear();
    op_.clear();
    child_.start(command_, ChildProcess::Output::socket);
    const std::string greeting = std::string(process_greeting) + " ";
    const std::string said = line_after(greeting + std::to_string(process_protocol) + "\n", deadline());
    const std::vector<std::string> words = words_of(said);
    if (words.size() < 2 || words[0] != process_greeting)
      fail("said " + mmafuzz::in_quotes(said) + " where '" + greeting + std::to_string(process_protocol) +
           " text NAME' was expected (docs/processes.md)");
    if (words[1] != std::to_string(process_protocol))
      fail("speaks version " + mmafuzz::in_quotes(words[1]) + " of the protocol, this is " +
           std::to_string(process_protocol));
    if (words.size() < 4 || (words[2] != "text" && words[2] != "binary"))
      fail("said " + mmafuzz::in_quotes(said) + ": after the version come 'text' or 'binary', and a name");
    is_binary_ = words[2] == "binary";
  } catch (const std::runtime_error& e) {
    throw ProcessFailure(e.what(), ProcessFailure::not_started);
  }
}

Result<ProcessTakes> ProcessChild::take(const Op& op) {
  if (!child_.is_running()) start();
  const std::string line = to_text(op);
  const std::string said = line_after(line + "\n", deadline());
  if (said == "no" || said.starts_with("no ")) {
    op_.clear();
    return declined(said.size() > 3 ? said.substr(3) : "it does not take the op");
  }
  const std::vector<std::string> words = words_of(said);
  ProcessTakes takes;
  bool understood = !words.empty() && words[0] == "yes";
  for (size_t i = 1; i < words.size() && understood; ++i) {
    const bool has_value = i + 1 < words.size();
    if (words[i] == "apart" && is_binary_ && !takes.supports_apart) takes.supports_apart = true;
    else if (words[i] == "equals" && has_value && takes.equals.empty()) takes.equals = words[++i];
    else if (words[i] == "features" && has_value && takes.features == 0)
      understood = (takes.features = count_of(words[++i], max_process_features)) > 0;
    else understood = false;
  }
  if (!understood)
    fail("said " + mmafuzz::in_quotes(said) +
         " to an op, where 'yes', 'yes equals UNIT', 'no REASON' or a 'yes' that ends in 'features' and a number from "
         "1 to " +
         std::to_string(max_process_features) + " was expected");
  must_be_silent();
  op_ = line;
  return takes;
}

std::string ProcessChild::request_of(const char* word, const Batch& batch, size_t first, size_t count) const {
  std::string request = std::string(word) + " " + std::to_string(count);
  if (is_binary_) {
    size_t bytes = 0;
    for (const Column& column : batch.inputs()) bytes += count * column.stride();
    request += " " + std::to_string(bytes);
    std::vector<FieldShape> fields = batch.op().inputs();
    fields.push_back(batch.op().result());
    for (const FieldShape& field : fields)
      request += " " + std::string(field.name) + "=" + std::to_string(field.format.storage_bytes()) + "*" +
                 std::to_string(field.count);
    request += "\n";
    request.reserve(request.size() + bytes);
    for (const Column& column : batch.inputs())
      request.append(reinterpret_cast<const char*>(column.data()) + first * column.stride(), count * column.stride());
    return request;
  }
  request += "\n";
  for (size_t i = first; i < first + count; ++i) request += case_line(batch, i) + "\n";
  return request;
}

void ProcessChild::must_take(const Op& op) {
  if (child_.is_running() && op_ == to_text(op)) return;
  if (const Result<ProcessTakes> taken = take(op); !taken)
    fail("took the op before, and says now: no " + taken.refusal().reason);
}

void ProcessChild::observe(const Batch& batch, int features, const std::function<void(size_t, int)>& hit) {
  must_take(batch.op());
  const Deadline until = deadline();
  const std::string wanted = "features " + std::to_string(batch.size());
  const std::string said = line_after(request_of("features", batch, 0, batch.size()), until);
  if (said != wanted) fail("said " + mmafuzz::in_quotes(said) + " where '" + wanted + "' was expected");
  for (size_t i = 0; i < batch.size(); ++i) {
    const std::string line = next_line(until);
    for (const std::string& word : words_of(line)) {
      const int number = count_of(word, features - 1);
      if (number < 0)
        fail("said " + mmafuzz::in_quotes(line) + " of case " + std::to_string(i + 1) + ", where features from 0 to " +
             std::to_string(features - 1) + " were expected");
      hit(i, number);
    }
  }
  must_be_end(next_line(until), batch.size());
}

void ProcessChild::ask(const char* word, const Batch& batch, size_t first, size_t count, Outcomes& outcomes) {
  const Op& op = batch.op();
  must_take(op);
  const Deadline until = deadline();
  const std::string said = line_after(request_of(word, batch, first, count), until);
  const std::vector<std::string> words = words_of(said);
  if (!words.empty() && words[0] == "failed") {
    must_be_silent();
    throw ProcessFailure("says: " + said, ProcessFailure::reported);
  }
  uint64_t results = 0;
  bool with_flags = false, with_answered = false, understood = words.size() >= 2 && words[0] == "results";
  if (understood) {
    understood = parse_number(words[1], results);
    for (size_t i = 2; i < words.size(); ++i) {
      if (words[i] == "flags" && op.has_flags()) with_flags = true;
      else if (words[i] == "answered" && is_binary_) with_answered = true;
      else understood = false;
    }
  }
  if (!understood)
    fail("said " + mmafuzz::in_quotes(said) + " where 'results " + std::to_string(count) + "' was expected");
  if (results != count) fail("answered " + std::to_string(results) + " of " + counted(count, "case"));
  if (with_flags) outcomes.flags.resize(batch.size());
  if (is_binary_) read_binary(op, first, count, with_flags, with_answered, outcomes, until);
  else read_text(op, first, count, with_flags, outcomes, until);
  std::string end = next_line(until);
  if (end.starts_with("broke ") && !outcomes.failed.empty()) {
    if (outcomes.how_failed.empty()) outcomes.how_failed = end.substr(6);
    end = next_line(until);
  }
  must_be_end(end, count);
}

void ProcessChild::read_text(const Op& op, size_t first, size_t count, bool with_flags, Outcomes& outcomes,
                             Deadline until) {
  const FieldShape result = op.result();
  for (size_t i = 0; i < count; ++i) {
    const std::string line = next_line(until);
    if (line == "end") fail("answered " + std::to_string(i) + " of " + counted(count, "case"));
    if (line == "-") {
      outcomes.answered.resize(outcomes.results.cases(), 1);
      outcomes.answered[first + i] = 0;
      continue;
    }
    std::vector<std::string> words = words_of(line);
    const size_t expected = static_cast<size_t>(result.count) + (with_flags ? 2 : 0);
    bool understood = words.size() == expected && (!with_flags || words[expected - 2] == "|");
    uint64_t value = 0;
    static const Format flags_format = format("u8");
    if (understood && with_flags) {
      understood = parse_encoding(words.back(), flags_format, value);
      outcomes.flags[first + i] = static_cast<uint8_t>(value);
    }
    for (int e = 0; e < result.count && understood; ++e) {
      understood = parse_encoding(words[static_cast<size_t>(e)], op.result_format(e), value);
      outcomes.results.set(first + i, e, value);
    }
    if (!understood)
      fail("said " + mmafuzz::in_quotes(line) + " to case " + std::to_string(i + 1) + ", where " + digits_of(op) +
           (with_flags ? ", | and the flags" : "") + " were expected");
  }
}

void ProcessChild::read_binary(const Op& op, size_t first, size_t count, bool with_flags, bool with_answered,
                               Outcomes& outcomes, Deadline until) {
  Column& results = outcomes.results;
  const size_t bytes = count * results.stride();
  const size_t expected = bytes + (with_flags ? count : 0) + (with_answered ? count : 0);
  try {
    talk(
        child_.socket(), "", received_, [&] { return received_.size() >= expected; }, until);
  } catch (const std::runtime_error& e) {
    fail_after(std::string(e.what()) + " after " + std::to_string(received_.size()) + " of " +
                   std::to_string(expected) + " bytes of results",
               until);
  }
  std::memcpy(results.data() + first * results.stride(), received_.data(), bytes);
  size_t at = bytes;
  if (with_flags) std::memcpy(outcomes.flags.data() + first, received_.data() + at, count);
  at += with_flags ? count : 0;
  if (with_answered) {
    outcomes.answered.resize(results.cases(), 1);
    for (size_t i = 0; i < count; ++i) {
      const auto how = static_cast<CaseEnd>(received_[at + i]);
      outcomes.answered[first + i] = how == CaseEnd::answered;
      if (how == CaseEnd::broke) {
        outcomes.failed.resize(results.cases());
        outcomes.failed[first + i] = 1;
      } else if (how != CaseEnd::answered && how != CaseEnd::unknown) {
        fail("said " + std::to_string(received_[at + i]) + " of a case, where 0, 1 or 2 was expected");
      }
    }
  }
  received_.erase(0, expected);
  const Format result = op.result().format;
  if (op.kind != OpKind::quantize && result.storage_bytes() * 8 == result.fields().width) return;
  for (int e = 0; e < results.count(); ++e) {
    const Format& format = op.result_format(e);
    const uint64_t mask = format.fields().container_mask();
    for (size_t i = first; i < first + count; ++i)
      if (results.get(i, e) & ~mask) fail("gave a result with bits above the width of " + format.name());
  }
}

}  // namespace mmafuzz
