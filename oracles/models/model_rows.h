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
  Op op;                    ///< formats, k of the instruction, scales
  DotModel model;
  std::vector<Claim> claims;
  std::string source;

  /// "hopper/mma.m16n8k16.f32.f16.f16.f32": what follows `model:`.
  std::string name() const { return arch + "/" + instruction + "." + shape + "." + types; }
};

/// The rows of one vendor, in nvidia.cc, amd.cc, rdna.cc, x86.cc and other_cpus.cc.
std::vector<ModelRow> nvidia_rows();
std::vector<ModelRow> amd_rows();
std::vector<ModelRow> rdna_rows();
std::vector<ModelRow> x86_rows();
std::vector<ModelRow> other_cpu_rows();

/// All rows.
const std::vector<ModelRow>& model_rows();

/// The row of that name; any valid n of wgmma and m, n of tcgen05 finds the listed shape. nullptr if there is none.
const ModelRow* find_model_row(std::string_view name);

/// What stands for a row after `model:` and `twin:` where the whole row is overrides.
inline constexpr char custom_row[] = "custom";

/// The row that the overrides of `model:custom?...` change: an op's formats, at most 64 products at once, each joined
/// by an IEEE fused multiply-add.
DotModel custom_model(const Op& op);

/// The unit `model:custom?...` that is this row on this op.
std::string custom_name(const DotModel& model, const Op& op);

/// Starts a row: formats from the types, k from the shape, everything else at its default.
ModelRow start_row(std::string arch, std::string instruction, std::string shape, std::string types);

/// What a row of IEEE operations makes of NaNs; `own` 0: the format's.
struct NanRule {
  NanFrom from = NanFrom::constant;
  uint64_t own = 0;
};

/// Starts a row of IEEE operations to nearest even, with all that chains and trees of them promise.
ModelRow start_ieee_row(const char* arch, const char* instruction, const char* shape, const std::string& types,
                        const NanRule& nan = {});

/// Collects one vendor's rows.
class RowList {
 public:
  void add(ModelRow row, const char* source) {
    row.source = source;
    rows_.push_back(std::move(row));
  }
  /// Rows of IEEE FMA chains, all operands of one type.
  void fma_chain(const char* arch, const char* instruction, const std::vector<const char*>& shapes,
                 const std::string& type, const char* source, const NanRule& nan = {});
  std::vector<ModelRow> take() { return std::move(rows_); }

 private:
  std::vector<ModelRow> rows_;
};

/// The row that a unit is or, of a black box, claims to equal: how large its steps are, whether it flushes.
std::optional<DotModel> row_of(const Unit& unit);

/// Whether a name says where results were recorded, and is no unit's.
bool is_provenance(std::string_view name);

/// The model that claims to describe a provenance `nvidia.<gpu>/<instruction>.<d>.<ab>` (format names) or `amd...`, or
/// a refusal that says what is unknown about it.
Result<std::string> model_of_provenance(std::string_view provenance);

}  // namespace mmafuzz
