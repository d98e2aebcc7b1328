// What the shards of one campaign tell each other through a folder that all of them see: inputs that reached something
// new, and which findings were told. Safe on network file systems, without locks: every file has one writer, who only
// appends to it, or is created once by whoever comes first.
//
//   FOLDER/corpus/<field>/<shard>.inputs   records of inputs, appended by that shard
//   FOLDER/told/<hash>                     a finding's line, created by the shard that tells it
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <unordered_set>
#include <vector>

namespace mmafuzz {

/// Inputs as records with a mark and a checksum, so that a reader passes over what a killed writer or a network file
/// system left half written.
std::string input_record(std::string_view input);
/// The whole records of `text`; `done` receives how many bytes of it need not be read again.
std::vector<std::string> inputs_of_records(std::string_view text, size_t& done);

/// A field whose corpus is exchanged.
struct ExchangedField {
  std::string field;        ///< names its corpus in the shard's folder
  size_t record_bytes = 0;  ///< of a packed input; 0: the field has none, its inputs are texts
  bool with_files = false;  ///< engines read a file for each input
};

class Exchange {
 public:
  /// `folder`: of the exchange; `own`: the shard's campaign folder; `shard`: its name. What the shard has sent before
  /// is known. With `skip_present` what its corpora hold now is not sent: seeds, which every shard has.
  Exchange(std::string folder, std::string own, std::string shard, std::vector<ExchangedField> fields,
           bool skip_present);

  /// Sends what own corpora gained, and adds what other shards sent to them. Throws std::runtime_error where the folder
  /// cannot be read or written; nothing is lost then, the next call does it.
  void run();

  /// Whether this shard is the first to tell a finding. Where the folder cannot be written it may tell it, too.
  bool claim(const std::string& line);

  struct Counts {
    uint64_t sent = 0, received = 0, bytes_sent = 0, bytes_received = 0, files_read = 0;
  };
  const Counts& counts() const { return counts_; }

 private:
  struct FieldState {
    std::unordered_set<std::string> known;   ///< contents' names
    std::unordered_set<std::string> listed;  ///< files of the own folder
    size_t packed = 0;                       ///< bytes of the own corpus that were looked at
    std::map<std::string, size_t> read;      ///< of other shards' files
  };
  std::vector<std::string> gained(const ExchangedField& field, FieldState& state) const;
  void send(const ExchangedField& field, FieldState& state, const std::vector<std::string>& inputs);
  std::unordered_set<std::string> receive(const ExchangedField& field, FieldState& state);
  std::string folder_of(const ExchangedField& field) const { return folder_ + "/corpus/" + field.field; }
  std::string sent_file(const ExchangedField& field) const { return folder_of(field) + "/" + shard_ + ".inputs"; }

  std::string folder_, own_, shard_;
  std::vector<ExchangedField> fields_;
  std::map<std::string, FieldState> states_;
  Counts counts_;
};

}  // namespace mmafuzz
