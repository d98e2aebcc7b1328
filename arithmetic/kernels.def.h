// The table of kernels. Code that asks about a kernel reads its line here; code that computes a kernel goes by its
// name: the text arithmetic/kernels/<name>-inl.h, and the twin in oracles/models/slow_twin.cc. The formula for solvers
// is the text over expressions (prove/formula.cc), the error bound the text over values with bounds
// (oracles/bounds/bound_walk.cc).
//
// KERNEL(name, domain of one dot, products, additions, c, carried, settings, does): the words of the four in the middle
// are those of KernelTraits (arithmetic/kernel_table.h). The settings are the parameters that the kernel reads besides
// k, output_rounding and nan, which every kernel reads (oracles/models/parameters.cc). `does` is a sentence for users.
// Names that end in FDPA and FTZ-AddMul are those of MMA-Sim's paper.

/// NVIDIA T-FDPA and ST-FDPA: truncated fused sum (docs/semantics.md 1, 2).
KERNEL(
    fused_sum, OneDot, exact, cut, with_products, each_block,
    "block order fraction_bits zero_rule zero_exponent product c_exponent integer_bits output_fraction_bits overflow "
    "output_via underflow_sign zero_sign special_scope low_bits subnormals",
    "cuts c and a block of exact products below the greatest exponent, adds them and rounds once")
/// NVIDIA GST-FDPA: grouped scaled sum of NVFP4 and MXFP4 (docs/semantics.md 3).
KERNEL(
    grouped_sum, OneDot, in_groups, cut, with_products, each_instruction,
    "group fraction_bits zero_rule zero_exponent zero_group c_exponent integer_bits output_fraction_bits overflow "
    "output_via underflow_sign",
    "adds groups of products exactly, scales them, cuts them and c below the greatest exponent, and rounds their sum "
    "once")
/// Two fp16 fused sums, one from the other, and an IEEE add: FP8 mma.sync on sm_90 and sm_100 (docs/semantics.md 4).
KERNEL(emulated_fp8, OneEmulatedDot, of_fp16, cut, last, each_instruction,
       "block fraction_bits zero_rule zero_exponent product c_exponent integer_bits output_fraction_bits overflow "
       "output_via underflow_sign zero_sign",
       "makes a fused sum of half the products, from it a fused sum of the others, and adds c, each rounded")
/// CDNA1 E-FDPA, Arm's FP8: exact sum, one rounding (docs/semantics.md 5).
KERNEL(exact_sum, OneExactDot, exact, exact, with_products, each_block,
       "block order overflow zero_sign low_bits subnormals operand_specials",
       "adds c and a block of products exactly and rounds once")
/// CDNA2 FTZ-AddMul: tree of IEEE operations (docs/semantics.md 6).
KERNEL(
    ieee_tree, OneChain, rounded, in_pairs, last, each_block,
    "block order overflow nan_from low_bits subnormals flushed tininess zero_operands product_overflow overflow_rank",
    "rounds each product, adds them in pairs and c last, each rounded")
/// CDNA3 TR-FDPA and GTR-FDPA: fused sum of products, then of that and c (docs/semantics.md 7).
KERNEL(two_stage_sum, OneTwoStageDot, exact, cut, second_stage, each_block,
       "block order fraction_bits zero_rule product c_exponent overflow low_bits subnormals product_overflow "
       "overflow_rank odd_even second_stage c_special",
       "cuts and adds a block of products, then cuts their sum and c downwards, adds these and rounds")
/// Chain of IEEE FMAs from c (docs/semantics.md 8).
KERNEL(fma_chain, OneChain, exact, in_order, with_products, each_product,
       "order nan_from low_bits subnormals flushed tininess form",
       "adds one exact product at a time to c, each time rounded")
/// fp32 FMA chains from zero, c added after: m8n8k4 without a tensor core, AMX (docs/semantics.md 8).
KERNEL(fma_then_add, OneChain, of_fp32, in_order, last, each_chain,
       "block order nan_from low_bits subnormals chain_start chain_join",
       "adds one exact product at a time from zero and c last, each time rounded")
/// Arm's widening dot products of 16-bit operands, POWER10's outer products, FP8 on x86 (docs/semantics.md 14).
KERNEL(sum_then_add, OneExactDot, exact, exact, last, each_block,
       "block order overflow chain_join zero_sign nan_from low_bits subnormals flushed tininess operand_specials form",
       "adds a block of products exactly and rounds once, then adds that to c")
/// RDNA3 and RDNA4: fused sum whose terms are cut downwards or as one's complements (docs/semantics.md 13).
KERNEL(
    floored_sum, OneDot, exact, floored, with_products, each_block,
    "block order first_sum fraction_bits c_guard_bits cut lost_c zero_rule zero_exponent output_fraction_bits overflow "
    "output_via underflow_sign subnormals invalid_nan nan_of_c",
    "cuts c and a block of exact products, or of their first sums, downwards below the greatest exponent, adds them "
    "and rounds once")
/// RISC-V's bulk normalization (docs/semantics.md 15).
KERNEL(
    bulk_normalized, OneNormalizedDot, exact, to_odd, last, each_block,
    "block order fraction_bits zero_rule zero_exponent product overflow",
    "cuts a block of exact products to odd below their greatest exponent, adds them and rounds once, then adds that to "
    "c")
