// AMD's matrix cores: CDNA1 (exact sums), CDNA2 (trees of IEEE operations), CDNA3 (two-stage sums), and FMA chains for
// fp32 and fp64. Sources: [MS] Xie et al., MMA-Sim (arXiv 2511.10909 v2); [KM] Khattak and Mikaitis,
// MATLAB-tensor-core. Open points, each one word to change (docs/units.md): NaN payloads (D22), floors of CDNA3's
// second stage (D21), a special c on CDNA3 fp8 (D31), the order of overflowed products and operand infinities (D20,
// D20b).
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

constexpr uint64_t usual_nan = 0x7fc00000;  // CDNA1 and CDNA2, whose NaNs are unpublished: IEEE 754 prefers a quiet one
constexpr uint64_t cdna3_nan = 0x7fffffff;  // [MS] 2026; 2025 gives 0x7fc00000 (D22)

using Shapes = std::vector<const char*>;

const Shapes f32_shapes = {"32x32x1", "32x32x2", "16x16x1", "16x16x4", "4x4x1"};
const Shapes f16_shapes = {"32x32x8", "32x32x4", "16x16x16", "16x16x4", "4x4x4"};
const Shapes bf16_shapes = {"32x32x4", "32x32x2", "16x16x8", "16x16x2", "4x4x2"};

class AmdRows : public RowList {
 public:
  void chain(const char* arch, const Shapes& shapes, const std::string& type) {
    fma_chain(arch, "mfma", shapes, type, "[MS] sequential RNE FMA from c");
  }

  /// CDNA1: c and `block` products are summed exactly and rounded RNE once.
  void exact(const Shapes& shapes, const std::string& type, int block) {
    for (const char* shape : shapes) {
      ModelRow row = start_row("cdna1", "mfma", shape, types_of("f32", type, type));
      DotModel& m = row.model;
      m.kernel = Kernel::exact_sum;
      m.block = block;
      m.output_rounding = Rounding::nearest_even;
      m.zero_sign = ZeroSign::ieee;  // MMA-Sim 2.1.1: always +0 (N5, open)
      m.nan = usual_nan;
      row.claims = claims_of({"block_permutation", "monotone_in_addend", "monotone_in_c", "power_of_two_scaling",
                              "product_value", "product_value_and_exponent", "sign_symmetry", "split_k",
                              "swap_operands", "zero_padding"});
      add(std::move(row), "[MS] E-FDPA; [KM] MI100: correctly rounded sum (2025's pairwise tree is superseded, D17)");
    }
  }

  /// CDNA2: `block` (P) RNE products, a pairwise tree, then c; subnormals flushed.
  void tree(const char* instruction, const Shapes& shapes, const std::string& type, int block) {
    for (const char* shape : shapes) {
      ModelRow row =
          start_ieee_row("cdna2", instruction, shape, types_of("f32", type, type), {NanFrom::constant, usual_nan});
      DotModel& m = row.model;
      m.kernel = Kernel::ieee_tree;
      m.block = block;
      m.overflow = Overflow::infinity;
      m.subnormals = Subnormals::flushed;
      m.zero_operands = ZeroOperands::positive;  // [MS]: what is below the least normal number reads +0, -0 too (N6)
      m.product_overflow = ProductOverflow::infinity;
      add(std::move(row), "[MS] FTZ-AddMul; [KM] MI210");
    }
  }

  /// CDNA3: `block` products, then c.
  void two_stage(const Shapes& shapes, const std::string& types, int block, const char* source) {
    for (const char* shape : shapes) {
      ModelRow row = start_row("cdna3", "mfma", shape, types);
      DotModel& m = row.model;
      m.kernel = Kernel::two_stage_sum;
      m.block = std::min(block, m.k);
      m.fraction_bits = 24;
      m.output_rounding = Rounding::nearest_even;
      m.product_overflow = ProductOverflow::infinity;
      m.odd_even = m.a.width == 8;
      m.nan = cdna3_nan;
      // Not sign_symmetry: floors treat the signs differently.
      row.claims =
          claims_of({"power_of_two_scaling", "product_value_and_exponent", "split_k", "swap_operands", "zero_padding"});
      if (!m.odd_even) row.claims.push_back({"block_permutation", ""});
      add(std::move(row), source);
    }
  }
};

}  // namespace

std::vector<ModelRow> amd_rows() {
  AmdRows rows;
  rows.chain("cdna1", f32_shapes, "f32");
  rows.exact(f16_shapes, "f16", 4);
  rows.exact(bf16_shapes, "bf16", 2);

  rows.chain("cdna2", {"16x16x4", "4x4x4"}, "f64");
  rows.chain("cdna2", f32_shapes, "f32");
  rows.tree("mfma", f16_shapes, "f16", 4);
  rows.tree("mfma_1k", f16_shapes, "bf16", 4);
  rows.tree("mfma", bf16_shapes, "bf16", 2);

  rows.chain("cdna3", {"16x16x4", "4x4x4_4b"}, "f64");
  rows.chain("cdna3", {"32x32x1_2b", "16x16x1_4b", "4x4x1_16b", "32x32x2", "16x16x4"}, "f32");
  rows.two_stage({"16x16x8", "32x32x4"}, "f32.xf32.xf32.f32", 4, "[MS] TR-FDPA L=4, operands cut to 19 bits");
  for (const char* types : {"f32.f16.f16.f32", "f32.bf16.bf16.f32"})
    rows.two_stage({"32x32x4_2b", "16x16x4_4b", "4x4x4_16b", "32x32x8", "16x16x16"}, types, 8, "[MS] TR-FDPA L=8");
  for (const char* a : {"e4m3fnuz", "e5m2fnuz"})
    for (const char* b : {"e4m3fnuz", "e5m2fnuz"})
      rows.two_stage({"16x16x32", "32x32x16"}, types_of("f32", a, b), 16, "[MS] GTR-FDPA L=16");
  return rows.take();
}

}  // namespace mmafuzz
