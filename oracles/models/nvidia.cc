// NVIDIA's matrix units: one line per instruction and types, over the truncated fused sum, the grouped scaled sum and
// the emulated FP8 path. Sources: [MS] Xie et al., MMA-Sim (arXiv 2511.10909 v2; 2.1.1 of 2026-10-22, PyPI `mmasim`);
// [KM] Khattak and Mikaitis, MATLAB-tensor-core, models and 110,000 recorded results; [F] Fasi et al. 2021;
// [ptxas] what ptxas 13.0.88 emits; [H200] what this project recorded on one (corpus/recorded).
// Open points, each one word to change (docs/units.md): the floor of fp16 outputs (D3, N1), the exponent of a subnormal
// fp16 c (D4, N4), the sign of underflow (D5, N2), the NaN payload (D15). On Hopper an H200 decides all four.
#include "oracles/models/model_rows.h"

namespace mmafuzz {
namespace {

/// Parameters that the rows of one family of instructions share, as members of DotModel.
struct Fused {
  int block;
  int fraction_bits;
  int zero_exponent_f32;  ///< the alignment floor (e_zero in [MS]) where d is fp32
  int zero_exponent_f16;
  bool gives_e8m13 = false;  ///< fp32 results hold 13 fraction bits

  Fused with_block(int products) const {
    return {products, fraction_bits, zero_exponent_f32, zero_exponent_f16, gives_e8m13};
  }
};
constexpr Fused volta_sum{.block = 4, .fraction_bits = 23, .zero_exponent_f32 = -131, .zero_exponent_f16 = -19};
/// Turing's, Ampere's and Ada's.
constexpr Fused ampere_sum{.block = 8, .fraction_bits = 24, .zero_exponent_f32 = -132, .zero_exponent_f16 = -20};
/// Of Hopper and later.
constexpr Fused hopper_sum{.block = 16, .fraction_bits = 25, .zero_exponent_f32 = -133, .zero_exponent_f16 = -21};

constexpr uint64_t nan_f32 = 0x7fffffff, nan_f16 = 0x7fff;  // MMA-Sim and Valpey et al.'s hardware test (D15)

class NvidiaRows : public RowList {
 public:
  void fused(const char* arch, const char* instruction, const char* shape, const std::string& types, const Fused& f,
             const char* source) {
    ModelRow row = start_row(arch, instruction, shape, types);
    DotModel& m = row.model;
    const bool to_f16 = row.op.d.name() == "fp16";
    m.kernel = Kernel::fused_sum;
    m.block = std::min(f.block, m.k);
    m.fraction_bits = f.fraction_bits;
    m.zero_exponent = to_f16 ? f.zero_exponent_f16 : f.zero_exponent_f32;
    m.output_rounding = to_f16 ? Rounding::nearest_even : Rounding::toward_zero;
    m.underflow_sign = UnderflowSign::positive;
    if (f.gives_e8m13 && !to_f16) m.output_fraction_bits = 13;
    m.nan = to_f16 ? nan_f16 : nan_f32;
    row.claims = claims_of({"block_permutation", "power_of_two_scaling", "product_value_and_exponent", "sign_symmetry",
                            "split_k", "swap_operands", "zero_padding"});
    add(std::move(row), source);
  }

  /// docs/semantics.md 4: two fp16 fused sums of k / 2 products, F = 25, and an IEEE add.
  void emulated(const char* arch, const char* shape, const std::string& types, const char* source) {
    ModelRow row = start_row(arch, "mma", shape, types);
    DotModel& m = row.model;
    const bool to_f16 = row.op.d.name() == "fp16";
    m.kernel = Kernel::emulated_fp8;
    m.block = m.k / 2;  // two HMMA.16816 for k = 32, two HMMA.1688 for k = 16
    m.fraction_bits = 25;
    m.zero_exponent = to_f16 ? -21 : -133;  // the floor of HMMA
    m.output_rounding = to_f16 ? Rounding::nearest_even : Rounding::toward_zero;
    m.underflow_sign = UnderflowSign::positive;
    m.nan = to_f16 ? nan_f16 : nan_f32;
    row.claims = claims_of(
        {"power_of_two_scaling", "product_value_and_exponent", "sign_symmetry", "swap_operands", "zero_padding"});
    add(std::move(row), source);
  }

  /// docs/semantics.md 8: m8n8k4 of fp16 where no tensor core has it.
  void on_cuda_cores(const char* arch, const std::string& types) {
    const bool to_f16 = types.starts_with("f16");
    ModelRow row = start_ieee_row(arch, "mma", "m8n8k4", types, {NanFrom::constant, to_f16 ? nan_f16 : nan_f32});
    DotModel& m = row.model;
    m.kernel = Kernel::fma_then_add;
    m.block = to_f16 ? 2 : 4;
    m.chain_start = to_f16 ? ChainStart::first_product : ChainStart::positive_zero;
    add(std::move(row), to_f16 ? "[ptxas] RN16((c + fma(a1, b1, a0*b0)) + fma(a3, b3, a2*b2)) in fp32"
                               : "[ptxas] four FFMA from +0, then FADD c");
  }

  /// docs/semantics.md 3: K = 64 in groups of 16, F = 35, zero terms read -139.
  void grouped(const char* arch, const char* instruction, const char* shape, const std::string& scale,
               const char* source) {
    ModelRow row = start_row(arch, instruction, shape, "f32.e2m1.e2m1.f32." + scale);
    DotModel& m = row.model;
    m.kernel = Kernel::grouped_sum;
    m.group = 16;
    m.fraction_bits = 35;
    m.zero_exponent = -139;
    m.underflow_sign = UnderflowSign::positive;
    m.nan = nan_f32;
    row.claims = claims_of({"power_of_two_scaling", "product_value", "product_value_and_exponent", "sign_symmetry",
                            "split_k", "swap_operands", "zero_padding"});
    add(std::move(row), source);
  }

  /// NaNs are those of an H200, for other GPUs by analogy. Recordings of its tensor cores show that NaNs of b and of c
  /// come before a's; that b's come before c's is recorded of fma.f64 alone.
  void fp64(const char* arch, const std::vector<const char*>& shapes, const char* source) {
    fma_chain(arch, "mma", shapes, "f64", source, {NanFrom::b_c_a, 0xfff8000000000000});
  }
};

const std::vector<std::string> narrow8 = {"e4m3", "e5m2"};
const std::vector<std::string> narrow8to4 = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};

/// The types of a row for each type of results and accumulators with each pair of operand types.
std::vector<std::string> all_pairs(const std::vector<std::string>& types,
                                   const std::vector<std::string>& results = {"f32", "f16"},
                                   const std::string& suffix = "") {
  std::vector<std::string> all;
  for (const std::string& d : results)
    for (const std::string& a : types)
      for (const std::string& b : types) all.push_back(types_of(d, a, b) + suffix);
  return all;
}

constexpr const char* f16_f32 = "f32.f16.f16.f32";
constexpr const char* f16_f16 = "f16.f16.f16.f16";
constexpr const char* f16_mixed = "f32.f16.f16.f16";
constexpr const char* bf16_f32 = "f32.bf16.bf16.f32";
constexpr const char* tf32_f32 = "f32.tf32.tf32.f32";

/// fp16, bf16 and tf32 mma.sync from Ampere on; fp16 and bf16 blocks hold `f.block` products, tf32 blocks half of that.
void add_dense_mma(NvidiaRows& rows, const char* arch, const Fused& f, const char* source) {
  for (const char* shape : {"m16n8k8", "m16n8k16"})
    for (const char* types : {f16_f32, bf16_f32, f16_f16}) rows.fused(arch, "mma", shape, types, f, source);
  for (const char* shape : {"m16n8k4", "m16n8k8"})
    rows.fused(arch, "mma", shape, tf32_f32, f.with_block(f.block / 2), source);
}

void add_volta_and_turing(NvidiaRows& rows) {
  for (const char* types : {f16_f32, f16_mixed, f16_f16})
    rows.fused("volta", "mma", "m8n8k4", types, volta_sum, "[KM] V100 data: L=4, F=23, 0 of 5000 differ; [MS] e_zero");
  for (const char* types : {f16_f32, f16_f16})
    rows.fused("turing", "mma", "m16n8k8", types, ampere_sum, "[MS] L=8; [F] T4: one extra bit");
  for (const char* types : {f16_f32, f16_mixed, f16_f16})
    rows.fused("turing", "mma", "m8n8k4", types, volta_sum, "[MS] 2.1.1: Volta's (N3); sm_75 has HMMA.884 [ptxas]");
}

void add_ampere_and_ada(NvidiaRows& rows) {
  add_dense_mma(rows, "ampere", ampere_sum, "[KM] A100 and A2 data: L=8, F=24; tf32 L=4; [MS] e_zero");
  rows.fp64("ampere", {"m8n8k4"}, "[MS] RNE FMA chain from c; [F] binary64 suite");
  add_dense_mma(rows, "ada", ampere_sum, "[KM] Ada data: L=8, F=24; tf32 L=4; [MS] e_zero");
  rows.fp64("ada", {"m8n8k4"}, "by analogy with Ampere; PTX ISA lists it from sm_80 on");
  const Fused fp8{
      .block = 16, .fraction_bits = 13, .zero_exponent_f32 = -132, .zero_exponent_f16 = -20, .gives_e8m13 = true};
  for (const char* shape : {"m16n8k16", "m16n8k32"})
    for (const std::string& types : all_pairs(narrow8))
      rows.fused("ada", "mma", shape, types, fp8, "[KM] Ada data: L=16, F=13, e8m13 toward zero; fp16 RNE");
}

void add_hopper(NvidiaRows& rows) {
  add_dense_mma(rows, "hopper", hopper_sum, "[KM] H100 and H200 data: L=16, F=25; tf32 L=8 [MS]; e_zero [MS]");
  rows.fp64("hopper", {"m8n8k4"}, "by analogy with Ampere; PTX ISA lists it from sm_80 on; NaNs: an H200");
  rows.fp64("hopper", {"m16n8k4", "m16n8k8", "m16n8k16"}, "[MS] RNE FMA chain from c; NaNs: an H200");
  for (const std::string& types : all_pairs(narrow8)) {
    rows.emulated("hopper", "m16n8k32", types, "[KM] H100 and H200 fp8 to fp16 data; fp32: [ptxas]");
    rows.emulated("hopper", "m16n8k16", types, "[ptxas] two HMMA.1688 from zero, then FADD or HADD2 with c");
  }
  const Fused fp8{
      .block = 32, .fraction_bits = 13, .zero_exponent_f32 = -133, .zero_exponent_f16 = -21, .gives_e8m13 = true};
  rows.fused("hopper", "wgmma", "m64n8k8", tf32_f32, hopper_sum.with_block(8), "[MS]");
  for (const char* types : {f16_f32, f16_f16, bf16_f32})
    rows.fused("hopper", "wgmma", "m64n8k16", types, hopper_sum, "[MS]");
  for (const std::string& types : all_pairs(narrow8))
    rows.fused("hopper", "wgmma", "m64n8k32", types, fp8,
               "[KM] H100 data with c = 0: L=32, F=13, e8m13 toward zero; fp16 [MS]");
}

void add_blackwell(NvidiaRows& rows) {
  add_dense_mma(rows, "blackwell", hopper_sum, "[KM] B200 data: L=16, F=25; tf32 L=8 [MS]; e_zero [MS]");
  rows.fp64("blackwell", {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}, "by analogy with Hopper; PTX ISA");
  for (const std::string& types : all_pairs(narrow8)) {
    rows.emulated("blackwell", "m16n8k32", types, "[KM] B200 fp8 data, fp32 and fp16");
    rows.emulated("blackwell", "m16n8k16", types, "[ptxas] as on Hopper");
  }
  const Fused narrow = hopper_sum.with_block(32);
  rows.fused("blackwell", "tcgen05.kind::tf32", "m128n8k8", tf32_f32, hopper_sum.with_block(8), "[MS]");
  for (const char* types : {f16_f32, f16_f16, bf16_f32})
    rows.fused("blackwell", "tcgen05.kind::f16", "m128n8k16", types, hopper_sum, "[MS]");
  for (const std::string& types : all_pairs(narrow8to4))
    rows.fused("blackwell", "tcgen05.kind::f8f6f4", "m128n8k32", types, narrow, "[MS]");
  for (const std::string& types : all_pairs(narrow8to4, {"f32"}, ".ue8m0"))
    rows.fused("blackwell", "tcgen05.kind::mxf8f6f4.block32", "m128n8k32", types, narrow, "[MS] ST-FDPA");
  rows.grouped("blackwell", "tcgen05.kind::mxf4.block32", "m128n8k64", "ue8m0", "[MS] 2.1.1 GST-FDPA; only there");
  rows.grouped("blackwell", "tcgen05.kind::mxf4nvf4.block32", "m128n8k64", "ue8m0", "[MS] GST-FDPA");
  rows.grouped("blackwell", "tcgen05.kind::mxf4nvf4.block16", "m128n8k64", "ue8m0", "[MS] GST-FDPA");
  rows.grouped("blackwell", "tcgen05.kind::mxf4nvf4.block16", "m128n8k64", "ue4m3", "[MS] GST-FDPA");
}

void add_rtx_blackwell(NvidiaRows& rows) {
  add_dense_mma(rows, "rtx_blackwell", hopper_sum, "[MS]");
  rows.fp64("rtx_blackwell", {"m8n8k4"}, "by analogy with Ampere; PTX ISA lists it from sm_80 on");
  const Fused narrow = hopper_sum.with_block(32);
  for (const char* d : {"f32", "f16"}) {
    for (const std::string& types : all_pairs(narrow8, {d}))
      for (const char* shape : {"m16n8k16", "m16n8k32"})
        rows.fused("rtx_blackwell", "mma", shape, types, narrow, "[MS]");
    for (const std::string& types : all_pairs(narrow8to4, {d}))
      rows.fused("rtx_blackwell", "mma.kind::f8f6f4", "m16n8k32", types, narrow, "[MS]");
  }
  for (const std::string& types : all_pairs(narrow8to4, {"f32"}, ".ue8m0"))
    rows.fused("rtx_blackwell", "mma.kind::mxf8f6f4.block32", "m16n8k32", types, narrow, "[MS] ST-FDPA");
  rows.grouped("rtx_blackwell", "mma.kind::mxf4.block32", "m16n8k64", "ue8m0", "[MS] 2.1.1 GST-FDPA; only there");
  for (const char* scale : {"ue8m0", "ue4m3"})
    for (const char* instruction : {"mma.kind::mxf4nvf4.block32", "mma.kind::mxf4nvf4.block16"})
      rows.grouped("rtx_blackwell", instruction, "m16n8k64", scale, "[MS] GST-FDPA");
}

/// sm_80 and later run m8n8k4 of fp16 as FFMA and FADD; sm_75 has HMMA.884.
void add_m8n8k4_without_tensor_core(NvidiaRows& rows) {
  for (const char* arch : {"ampere", "ada", "hopper", "blackwell", "rtx_blackwell"})
    for (const char* types : {f16_f32, f16_mixed, f16_f16}) rows.on_cuda_cores(arch, types);
}

}  // namespace

std::vector<ModelRow> nvidia_rows() {
  NvidiaRows rows;
  add_volta_and_turing(rows);
  add_ampere_and_ada(rows);
  add_hopper(rows);
  add_blackwell(rows);
  add_rtx_blackwell(rows);
  add_m8n8k4_without_tensor_core(rows);
  return rows.take();
}

}  // namespace mmafuzz
