// The registers of wgmma as assembly operands: the 2 to 128 registers of d have the first numbers, the inputs the next
// ones.
#pragma once

#define MMAFUZZ_WGMMA_D2 "%0,%1"
#define MMAFUZZ_WGMMA_D4 \
  MMAFUZZ_WGMMA_D2       \
  ",%2,%3"
#define MMAFUZZ_WGMMA_D16 \
  MMAFUZZ_WGMMA_D4        \
  ",%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15"
#define MMAFUZZ_WGMMA_D32 \
  MMAFUZZ_WGMMA_D16       \
  ",%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31"
#define MMAFUZZ_WGMMA_D64                                                            \
  MMAFUZZ_WGMMA_D32                                                                  \
  ",%32,%33,%34,%35,%36,%37,%38,%39,%40,%41,%42,%43,%44,%45,%46,%47,%48,%49,%50,%51" \
  ",%52,%53,%54,%55,%56,%57,%58,%59,%60,%61,%62,%63"
#define MMAFUZZ_WGMMA_D128                                                                               \
  MMAFUZZ_WGMMA_D64                                                                                      \
  ",%64,%65,%66,%67,%68,%69,%70,%71,%72,%73,%74,%75,%76,%77,%78,%79,%80,%81,%82,%83"                     \
  ",%84,%85,%86,%87,%88,%89,%90,%91,%92,%93,%94,%95,%96,%97,%98,%99,%100,%101,%102,%103"                 \
  ",%104,%105,%106,%107,%108,%109,%110,%111,%112,%113,%114,%115,%116,%117,%118,%119,%120,%121,%122,%123" \
  ",%124,%125,%126,%127"

#define MMAFUZZ_WGMMA_OUT2 "+r"(d[0]), "+r"(d[1])
#define MMAFUZZ_WGMMA_OUT4 MMAFUZZ_WGMMA_OUT2, "+r"(d[2]), "+r"(d[3])
#define MMAFUZZ_WGMMA_OUT16                                                                                \
  MMAFUZZ_WGMMA_OUT4, "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7]), "+r"(d[8]), "+r"(d[9]), "+r"(d[10]), \
      "+r"(d[11]), "+r"(d[12]), "+r"(d[13]), "+r"(d[14]), "+r"(d[15])
#define MMAFUZZ_WGMMA_OUT32                                                                                       \
  MMAFUZZ_WGMMA_OUT16, "+r"(d[16]), "+r"(d[17]), "+r"(d[18]), "+r"(d[19]), "+r"(d[20]), "+r"(d[21]), "+r"(d[22]), \
      "+r"(d[23]), "+r"(d[24]), "+r"(d[25]), "+r"(d[26]), "+r"(d[27]), "+r"(d[28]), "+r"(d[29]), "+r"(d[30]),     \
      "+r"(d[31])
#define MMAFUZZ_WGMMA_OUT64                                                                                       \
  MMAFUZZ_WGMMA_OUT32, "+r"(d[32]), "+r"(d[33]), "+r"(d[34]), "+r"(d[35]), "+r"(d[36]), "+r"(d[37]), "+r"(d[38]), \
      "+r"(d[39]), "+r"(d[40]), "+r"(d[41]), "+r"(d[42]), "+r"(d[43]), "+r"(d[44]), "+r"(d[45]), "+r"(d[46]),     \
      "+r"(d[47]), "+r"(d[48]), "+r"(d[49]), "+r"(d[50]), "+r"(d[51]), "+r"(d[52]), "+r"(d[53]), "+r"(d[54]),     \
      "+r"(d[55]), "+r"(d[56]), "+r"(d[57]), "+r"(d[58]), "+r"(d[59]), "+r"(d[60]), "+r"(d[61]), "+r"(d[62]),     \
      "+r"(d[63])
#define MMAFUZZ_WGMMA_OUT128                                                                                          \
  MMAFUZZ_WGMMA_OUT64, "+r"(d[64]), "+r"(d[65]), "+r"(d[66]), "+r"(d[67]), "+r"(d[68]), "+r"(d[69]), "+r"(d[70]),     \
      "+r"(d[71]), "+r"(d[72]), "+r"(d[73]), "+r"(d[74]), "+r"(d[75]), "+r"(d[76]), "+r"(d[77]), "+r"(d[78]),         \
      "+r"(d[79]), "+r"(d[80]), "+r"(d[81]), "+r"(d[82]), "+r"(d[83]), "+r"(d[84]), "+r"(d[85]), "+r"(d[86]),         \
      "+r"(d[87]), "+r"(d[88]), "+r"(d[89]), "+r"(d[90]), "+r"(d[91]), "+r"(d[92]), "+r"(d[93]), "+r"(d[94]),         \
      "+r"(d[95]), "+r"(d[96]), "+r"(d[97]), "+r"(d[98]), "+r"(d[99]), "+r"(d[100]), "+r"(d[101]), "+r"(d[102]),      \
      "+r"(d[103]), "+r"(d[104]), "+r"(d[105]), "+r"(d[106]), "+r"(d[107]), "+r"(d[108]), "+r"(d[109]), "+r"(d[110]), \
      "+r"(d[111]), "+r"(d[112]), "+r"(d[113]), "+r"(d[114]), "+r"(d[115]), "+r"(d[116]), "+r"(d[117]), "+r"(d[118]), \
      "+r"(d[119]), "+r"(d[120]), "+r"(d[121]), "+r"(d[122]), "+r"(d[123]), "+r"(d[124]), "+r"(d[125]), "+r"(d[126]), \
      "+r"(d[127])

/// Expands X(NAME, BEHIND, number of d's registers, numbers of the ten operands after them). BEHIND is a macro for the
/// text after the descriptor of b.
#define MMAFUZZ_WGMMA_WITH2(X, NAME, BEHIND) \
  X(NAME, BEHIND, 2, "%2", "%3", "%4", "%5", "%6", "%7", "%8", "%9", "%10", "%11")
#define MMAFUZZ_WGMMA_WITH4(X, NAME, BEHIND) \
  X(NAME, BEHIND, 4, "%4", "%5", "%6", "%7", "%8", "%9", "%10", "%11", "%12", "%13")
#define MMAFUZZ_WGMMA_WITH16(X, NAME, BEHIND) \
  X(NAME, BEHIND, 16, "%16", "%17", "%18", "%19", "%20", "%21", "%22", "%23", "%24", "%25")
#define MMAFUZZ_WGMMA_WITH32(X, NAME, BEHIND) \
  X(NAME, BEHIND, 32, "%32", "%33", "%34", "%35", "%36", "%37", "%38", "%39", "%40", "%41")
#define MMAFUZZ_WGMMA_WITH64(X, NAME, BEHIND) \
  X(NAME, BEHIND, 64, "%64", "%65", "%66", "%67", "%68", "%69", "%70", "%71", "%72", "%73")
#define MMAFUZZ_WGMMA_WITH128(X, NAME, BEHIND) \
  X(NAME, BEHIND, 128, "%128", "%129", "%130", "%131", "%132", "%133", "%134", "%135", "%136", "%137")

/// The text after the descriptor of b: for sparse a the metadata and selector 0, for dense a nothing.
#define MMAFUZZ_WGMMA_DENSE(metadata) ""
#define MMAFUZZ_WGMMA_SPARSE_A(metadata) "," metadata ",0"

// The forms of the instruction for n registers of d. The inputs i0, i1, ... are a0 to a3 and the descriptor of b (a in
// registers), or the descriptors of a and b (F.shared_a); then scale-d, metadata, and the immediates that the types
// have.
#define MMAFUZZ_WGMMA_FORMS(NAME, BEHIND, n, i0, i1, i2, i3, i4, i5, i6, i7, i8, i9)                                   \
  if constexpr (shape.d_registers() == n) {                                                                            \
    if constexpr (types.a.integer && F.shared_a)                                                                       \
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " i2 ", 0;\n" NAME " {" MMAFUZZ_WGMMA_D##n "}," i0                  \
                                                                                              "," i1 BEHIND(i3) ",p;}" \
                   : MMAFUZZ_WGMMA_OUT##n                                                                              \
                   : "l"(descriptor_a), "l"(descriptor_b), "r"(scale_d), "r"(metadata));                               \
    else if constexpr (types.a.integer)                                                                                \
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " i5 ", 0;\n" NAME " {" MMAFUZZ_WGMMA_D##n                          \
                   "},{" i0 "," i1 "," i2 "," i3 "}," i4 BEHIND(i6) ",p;}"                                             \
                   : MMAFUZZ_WGMMA_OUT##n                                                                              \
                   : MMAFUZZ_IN4(a), "l"(descriptor_b), "r"(scale_d), "r"(metadata));                                  \
    else if constexpr (shape.operand_bits == 16 && F.shared_a)                                                         \
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " i2 ", 0;\n" NAME " {" MMAFUZZ_WGMMA_D##n                          \
                   "}," i0 "," i1 BEHIND(i3) ",p," i4 "," i5 "," i6 "," i7 ";}"                                        \
                   : MMAFUZZ_WGMMA_OUT##n                                                                              \
                   : "l"(descriptor_a), "l"(descriptor_b), "r"(scale_d), "r"(metadata), "n"(F.negate_a ? -1 : 1),      \
                     "n"(F.negate_b ? -1 : 1), "n"(int(F.transpose_a)), "n"(int(F.transpose_b)));                      \
    else if constexpr (shape.operand_bits == 16)                                                                       \
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " i5 ", 0;\n" NAME " {" MMAFUZZ_WGMMA_D##n                          \
                   "},{" i0 "," i1 "," i2 "," i3 "}," i4 BEHIND(i6) ",p," i7 "," i8 "," i9 ";}"                        \
                   : MMAFUZZ_WGMMA_OUT##n                                                                              \
                   : MMAFUZZ_IN4(a), "l"(descriptor_b), "r"(scale_d), "r"(metadata), "n"(F.negate_a ? -1 : 1),         \
                     "n"(F.negate_b ? -1 : 1), "n"(int(F.transpose_b)));                                               \
    else if constexpr (F.shared_a)                                                                                     \
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " i2 ", 0;\n" NAME " {" MMAFUZZ_WGMMA_D##n                          \
                   "}," i0 "," i1 BEHIND(i3) ",p," i4 "," i5 ";}"                                                      \
                   : MMAFUZZ_WGMMA_OUT##n                                                                              \
                   : "l"(descriptor_a), "l"(descriptor_b), "r"(scale_d), "r"(metadata), "n"(F.negate_a ? -1 : 1),      \
                     "n"(F.negate_b ? -1 : 1));                                                                        \
    else                                                                                                               \
      asm volatile("{.reg .pred p;\nsetp.ne.b32 p, " i5 ", 0;\n" NAME " {" MMAFUZZ_WGMMA_D##n                          \
                   "},{" i0 "," i1 "," i2 "," i3 "}," i4 BEHIND(i6) ",p," i7 "," i8 ";}"                               \
                   : MMAFUZZ_WGMMA_OUT##n                                                                              \
                   : MMAFUZZ_IN4(a), "l"(descriptor_b), "r"(scale_d), "r"(metadata), "n"(F.negate_a ? -1 : 1),         \
                     "n"(F.negate_b ? -1 : 1));                                                                        \
  }

#if defined(__CUDA_ARCH_FEAT_SM90_ALL)
#define MMAFUZZ_WGMMA_ASM(NAME, BEHIND)                   \
  MMAFUZZ_WGMMA_WITH2(MMAFUZZ_WGMMA_FORMS, NAME, BEHIND)  \
  MMAFUZZ_WGMMA_WITH4(MMAFUZZ_WGMMA_FORMS, NAME, BEHIND)  \
  MMAFUZZ_WGMMA_WITH16(MMAFUZZ_WGMMA_FORMS, NAME, BEHIND) \
  MMAFUZZ_WGMMA_WITH32(MMAFUZZ_WGMMA_FORMS, NAME, BEHIND) \
  MMAFUZZ_WGMMA_WITH64(MMAFUZZ_WGMMA_FORMS, NAME, BEHIND) \
  MMAFUZZ_WGMMA_WITH128(MMAFUZZ_WGMMA_FORMS, NAME, BEHIND)
#else
#define MMAFUZZ_WGMMA_ASM(NAME, BEHIND)
#endif
