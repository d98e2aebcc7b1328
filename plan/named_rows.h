// Named rows: units of the user's own under short names, from files that `mmafuzz identify --save` writes:
//
//   mmafuzz-rows 1
//   # comment
//   op dot a=fp16 b=fp16 c=fp32 d=fp32 k=16
//   mychip model:custom?kernel=fused_sum,k=16,block=16,fraction_bits=25
//
// A line is a name and a unit, for the op line above it. A name may have several rows, each for other formats. It is
// short for the unit, as "h100" is: what a command stores has the unit's whole name and needs no file. A campaign,
// which searches many ops, stores "UNIT on OP" for each row of the name. A row fits every op of its formats, whatever k
// and nan= are: "an op" below means this.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/op.h"

namespace mmafuzz {

struct NamedRow {
  std::string name, unit;
  Op op;
};

/// The rows of a file. Throws BadInput, which names the line, where one is wrong or a unit does not bind.
std::vector<NamedRow> read_rows(const std::string& path);

/// Throws BadInput where save_row() would: the name is that of another unit, the file has it for these formats already,
/// or the file cannot be written.
void check_can_save(const std::string& path, const std::string& name, const Op& op);
/// Adds a row at the end of a file, which is created if it is missing.
void save_row(const std::string& path, const NamedRow& row);

/// Makes the names of a file known to unit_of_alias() and the functions below, until the process ends. Throws BadInput
/// as read_rows() does, and where another file has one of the names for the same formats; then no name of the file is
/// known. Threads may call this and all below at the same time; returned pointers stay valid.
void take_rows(const std::string& path);
/// The first row of this name on any op; nullptr if there is none. Settings may follow the name.
const NamedRow* find_named_row(const std::string& text);
/// All rows of this name.
std::vector<const NamedRow*> find_named_rows(const std::string& text);
/// The op of the first named row of this name, or of the model that `unit` is; nullopt for other units.
std::optional<Op> op_of_row(const std::string& unit);
/// The unit of this name on an op, with the settings that follow the name; "" where there is none.
std::string unit_of_named_row(const std::string& text, const Op& op);
/// The units of all named rows on an op.
std::vector<std::string> named_rows_of(const Op& op);

/// A unit in a list that is used for ops of some formats alone. Its text is "UNIT on OP".
struct UnitOnFormats {
  std::string unit;
  Op op;
  bool takes(const Op& other) const;
};
/// Parses "UNIT on OP"; nullopt for any other text.
std::optional<UnitOnFormats> unit_on_formats(const std::string& text);
/// The patterns of units with "UNIT on OP" for each row of a name in place of the name, so that they need no file.
/// `default`, which an empty list means too, is followed by all named rows.
std::vector<std::string> without_row_names(const std::vector<std::string>& patterns);

}  // namespace mmafuzz
