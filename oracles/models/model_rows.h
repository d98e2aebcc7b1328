// A model's row: its name, its parameters and formats, what it claims and where that comes from.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "arithmetic/dot_model.h"
#include "core/op.h"
#include "core/unit.h"

namespace mmafuzz {

struct ModelRow {
  std::string arch;         ///< "hopper"
  std::string instruction;  ///< "mma", "wgmma", "tcgen05.kind::f16", "mfma", ...
  std::string shape;        ///< "m16n8k16"
  std::string types;        ///< "f32.f16.f16.f32[.ue8m0]": d, a, b, c (and the scales), PTX names
  Op op;                    ///< a dot of the row's formats, with k of the instruction, and scales
  DotModel model;
  std::vector<Claim> claims;
  std::string source;  ///< citation of what the parameters rest on

  /// "hopper/mma.m16n8k16.f32.f16.f16.f32": what follows `model:`.
  std::string name() const { return arch + "/" + instruction + "." + shape + "." + types; }
};

/// The rows of one family of hardware each, from nvidia.cc, amd.cc (CDNA), rdna.cc, x86.cc and other_cpus.cc.
std::vector<ModelRow> nvidia_rows();
std::vector<ModelRow> amd_rows();
std::vector<ModelRow> rdna_rows();
std::vector<ModelRow> x86_rows();
std::vector<ModelRow> other_cpu_rows();

/// All rows, in the order of these functions.
const std::vector<ModelRow>& model_rows();

/// The row of that name, or nullptr. Names with another valid n of wgmma, or m and n of tcgen05, find the row of the
/// listed shape, and names of Hopper's sparse instructions (.sp) that of the dense one.
const ModelRow* find_model_row(std::string_view name);

/// The name after `model:` and `twin:` of a row that consists of overrides alone.
inline constexpr char custom_row[] = "custom";

/// The row that the overrides of `model:custom?...` change. It has the op's formats, the op's k up to
/// max_instruction_k, rounding to nearest even, and the kernel fma_chain or, for an op with scales, fused_sum.
DotModel custom_model(const Op& op);

/// The name `model:custom?...` of the unit that is this row on this op.
std::string custom_name(const DotModel& model, const Op& op);

/// A text that is the same for rows that compute the same function: op and parameters.
std::string function_of(const ModelRow& row);

/// The types of a row whose c has d's type: "f32.f16.f16.f32".
std::string types_of(const std::string& d, const std::string& a, const std::string& b);

/// Starts a row: formats and scale_block from the types and the instruction's name, k and block from the shape, all
/// fraction bits of d, everything else at its default. Throws std::logic_error for a shape without a k.
ModelRow start_row(std::string arch, std::string instruction, std::string shape, std::string types);

/// Which NaN a row of IEEE operations returns.
struct NanRule {
  NanFrom from = NanFrom::constant;  ///< DotModel::nan_from
  uint64_t constant = 0;             ///< DotModel::nan; 0: the canonical NaN of d's format
};

/// Starts a row of IEEE operations to nearest even, with the claims that hold for every chain or tree of them.
ModelRow start_ieee_row(const char* arch, const char* instruction, const char* shape, const std::string& types,
                        const NanRule& nan = {});

/// Collects the rows of one file.
class RowList {
 public:
  void add(ModelRow row, const char* source) {
    row.source = source;
    rows_.push_back(std::move(row));
  }
  /// Adds a row for each shape: a chain of IEEE FMAs, all formats of one type.
  void fma_chain(const char* arch, const char* instruction, const std::vector<const char*>& shapes,
                 const std::string& type, const char* source, const NanRule& nan = {});
  std::vector<ModelRow> take() { return std::move(rows_); }

 private:
  std::vector<ModelRow> rows_;
};

/// The parameters of a unit's model or, of a unit without one, of the first row that it claims to equal; nullopt: it
/// claims none.
std::optional<DotModel> row_of(const Unit& unit);

/// Whether a name is a provenance, which says where results were recorded, and no unit's: it has a slash and no colon.
bool is_provenance(std::string_view name);

/// The name `model:...` of the row that describes a provenance: `nvidia.<gpu>/<instruction>.<d>.<ab>` (format names),
/// `nvidia.<gpu>/` and the rest of a row's name, or `amd...`. Refuses with what is unknown about it.
Result<std::string> model_of_provenance(std::string_view provenance);

}  // namespace mmafuzz
