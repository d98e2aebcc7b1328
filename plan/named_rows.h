// Rows of one's own under short names, from files that `mmafuzz identify --save` writes:
//
//   mmafuzz-rows 1
//   # comment
//   op dot a=fp16 b=fp16 c=fp32 d=fp32 k=16
//   mychip model:custom?kernel=fused_sum,k=16,block=16,fraction_bits=25
//
// A name may stand for a row on each of several ops. It is short for the unit behind it, as "h100" is: what a command
// stores holds the unit's whole name, and needs no file. A campaign, which searches many ops, stores "UNIT on OP" for
// each of the name's rows.
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

/// Throws BadInput with the line and what is wrong in it.
std::vector<NamedRow> read_rows(const std::string& path);

/// Throws BadInput where save_row() would: a name of another unit, or one that the file has for these formats already;
/// a file that cannot be written.
void check_can_save(const std::string& path, const std::string& name, const Op& op);
/// Adds a row at the end of a file, which is made where there is none or an empty one.
void save_row(const std::string& path, const NamedRow& row);

/// Makes the names of a file known to unit_of_alias() from now on. Throws BadInput as read_rows() does, and where
/// another file has one of the names for the same formats; then none of the file's names is known. Threads may call
/// this and all below at the same time; what they point to stays.
void take_rows(const std::string& path);
/// The first row of this name on any op; nullptr if there is none. Settings may follow the name.
const NamedRow* find_named_row(const std::string& text);
/// All of them.
std::vector<const NamedRow*> find_named_rows(const std::string& text);
/// The op of such a row, or of the catalogue's row that a unit is; none of other units.
std::optional<Op> op_of_row(const std::string& unit);
/// The unit of this name on an op, of any k; empty where there is none.
std::string unit_of_named_row(const std::string& text, const Op& op);
/// The units of all names on an op.
std::vector<std::string> named_rows_of(const Op& op);

/// A unit for the ops of some formats, of any k. Its text is "UNIT on OP".
struct UnitOnFormats {
  std::string unit;
  Op op;
  bool takes(const Op& other) const;
};
/// Nothing where the text is written in another way.
std::optional<UnitOnFormats> unit_on_formats(const std::string& text);
/// Patterns of units without names of rows: for each name "UNIT on OP" of all of its rows. No patterns, and `default`,
/// stand for the default units and all rows.
std::vector<std::string> without_row_names(const std::vector<std::string>& patterns);

}  // namespace mmafuzz
