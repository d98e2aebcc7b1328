// What the shards of one campaign exchange through a folder that all of them see: inputs that reached something new,
// and which findings were reported. Safe on network file systems, without locks: each file either has one writer, who
// only appends to it, or is created once by whichever shard is first.
//
//   FOLDER/corpus/<field>/<shard>.inputs   records of inputs, appended by that shard
//   FOLDER/told/<hash>                     the line of a finding, created by the shard that reports the finding
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mmafuzz {

/// An input as a record with a mark, its length and a checksum, so that a reader skips what a killed writer or a
/// network file system left half written.
std::string input_record(std::string_view input);
/// The inputs of the whole records in `text`; `read_bytes` receives how many bytes of `text` need not be read again.
std::vector<std::string> inputs_of_records(std::string_view text, size_t& read_bytes);

/// A field whose corpus is exchanged.
struct ExchangedField {
  std::string field;        ///< Assignment::corpus_name()
  size_t record_bytes = 0;  ///< of a packed input; 0: the field has none, its inputs are texts
  bool has_files = false;   ///< engines read a file for each input
};

/// Seconds between two exchanges of a shard, at least, and the share of its time that they take, at most.
inline constexpr double exchange_interval = 2, exchange_share = 0.02;

class Exchange {
 public:
  /// `folder`: of the exchange; `campaign`: the shard's campaign folder; `shard`: its name. Inputs that the shard has
  /// sent before are read from its own file. With `skips_present`, inputs that its corpora hold now are not sent: they
  /// are seeds, which every shard has.
  Exchange(std::string folder, std::string campaign, std::string shard, std::vector<ExchangedField> fields,
           bool skips_present);

  /// Sends what the shard's corpora gained, and adds to them what other shards sent. Throws std::runtime_error where a
  /// folder cannot be read or written; nothing is lost then, the next call repeats it.
  void run();

  /// Whether this shard is the first to report a finding, given as its line. Where the folder cannot be written, it is
  /// true for every shard.
  bool claim(const std::string& line);

  struct Counts {
    uint64_t sent = 0, received = 0, bytes_sent = 0, bytes_received = 0, files_read = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct FieldState {
    std::unordered_set<std::string> known;        ///< content_name() of inputs that need not be sent or added
    std::set<std::string> listed;                 ///< names of files in the shard's corpus that were read
    size_t packed_bytes = 0;                      ///< bytes of the shard's packed inputs that were read
    std::map<std::string, size_t> bytes_of_file;  ///< by name of another shard's file: bytes that were read
  };
  std::vector<std::string> gained(const ExchangedField& field, FieldState& state) const;
  void send(const ExchangedField& field, const std::vector<std::string>& inputs);
  std::unordered_set<std::string> receive(const ExchangedField& field, FieldState& state);
  std::string folder_of(const ExchangedField& field) const { return folder_ + "/corpus/" + field.field; }
  std::string corpus_of(const ExchangedField& field) const { return campaign_ + "/corpus/" + field.field; }
  std::string sent_file(const ExchangedField& field) const { return folder_of(field) + "/" + shard_ + ".inputs"; }

  std::string folder_, campaign_, shard_;
  std::vector<ExchangedField> fields_;
  std::map<std::string, FieldState> states_;
  Counts counts_;
};

}  // namespace mmafuzz
