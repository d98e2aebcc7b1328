// The dot products and matrix units of AMD's RDNA3 (and 3.5) and RDNA4. Source: AMD's emulator, ROCm/rocm-systems,
// emulation/rocjitsu, gfx11_dot2.h, gfx12_dot.h and dot_packed16.h (pull request 12120), checked there on a Radeon Pro
// W7900 and a Radeon AI Pro R9700; what those cards gave is recorded in corpus/recorded/. Only dense fp16 and bf16 were
// tested on both, FP8 dot products on RDNA4. On RDNA3.5 (gfx1151) a user found the same sum (issue 12056 there).
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

class RdnaRows : public RowList {
 public:
  void rdna3(const char* instruction, const char* shape, const std::string& types) {
    ModelRow row = started("rdna3", instruction, shape, types);
    DotModel& m = row.model;
    m.block = 2;
    m.cut = Cut::opposed_complement;
    m.subnormals = Subnormals::flushed_of_fp32;
    // c = 0 has no exponent: this one is below all others.
    if (m.d.emin() == fp32_fields.emin()) m.zero_exponent = -1000;
    row.claims = claims_of({"block_permutation", "product_value_and_exponent", "split_k", "swap_operands"});
    add(std::move(row), "rocjitsu, gfx11_dot2.h; captured on a W7900");
  }

  void rdna4(const char* instruction, const char* shape, const std::string& types,
             ProductOrder order = ProductOrder::ascending) {
    ModelRow row = started("rdna4", instruction, shape, types);
    DotModel& m = row.model;
    m.block = std::min(4, m.k);
    m.first_sum = 32 / m.a.width;  // two products, of FP8 four
    m.order = order;
    row.claims = claims_of({"product_value_and_exponent", "split_k", "swap_operands", "zero_padding"});
    if (m.block == m.first_sum) row.claims.push_back({"block_permutation", ""});
    if (m.a.width == 8) m.invalid_nan = m.nan;
    add(std::move(row), m.a.width == 8 ? "rocjitsu, gfx12_dot.h" : "rocjitsu, gfx12_dot.h; captured on an R9700");
  }

 private:
  static ModelRow started(const char* arch, const char* instruction, const char* shape, const std::string& types) {
    ModelRow row = start_row(arch, instruction, shape, types);
    DotModel& m = row.model;
    m.kernel = Kernel::floored_sum;
    m.fraction_bits = 24;
    m.c_guard_bits = 2;
    m.zero_exponent = m.d.emin() - m.c_guard_bits;  // c = 0 is aligned by the least exponent, too; no c lies lower
    m.output_rounding = Rounding::nearest_even;
    m.underflow_sign = UnderflowSign::positive;
    m.nan_of_c = NanOfC::quieted;
    const bool is_bf16 = m.d == bf16_fields;
    // The NaNs: docs/semantics.md 13, point 6.
    m.nan = m.d.width == 32 ? 0xffc00a3d : is_bf16 ? 0xfffd : 0xfe3d;
    m.invalid_nan = m.d.width == 32 ? 0xffc00000 : is_bf16 ? 0xffc0 : 0xfe00;
    if (is_bf16) {
      m.output_via = OutputVia::fp32_nearest;
      m.output_rounding = Rounding::toward_zero;
    }
    return row;
  }
};

}  // namespace

std::vector<ModelRow> rdna_rows() {
  RdnaRows rows;
  const std::vector<const char*> of_fp32 = {"f32.f16.f16.f32", "f32.bf16.bf16.f32"};
  const std::vector<const char*> all = {of_fp32[0], of_fp32[1], "f16.f16.f16.f16", "bf16.bf16.bf16.bf16"};
  for (const char* types : all) rows.rdna3("wmma", "16x16x16", types);
  for (const char* types : of_fp32) rows.rdna3("v_dot2", "1x1x2", types);

  for (const char* types : all) {
    // Waves of 32 lanes, and of 64.
    rows.rdna4("wmma", "16x16x16", types, ProductOrder::halves_in_turn);
    rows.rdna4("wmma_w64", "16x16x16", types);
  }
  for (const char* types : all) rows.rdna4("v_dot2", "1x1x2", types);
  for (const char* a : {"e4m3", "e5m2"})
    for (const char* b : {"e4m3", "e5m2"}) rows.rdna4("v_dot4", "1x1x4", types_of("f32", a, b));
  return rows.take();
}

}  // namespace mmafuzz
