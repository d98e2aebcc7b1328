// NumPy's files as cases and back. A failure means that operands are moved, cut or taken for others.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "plan/case_arrays.h"
#include "plan/request.h"

namespace mmafuzz {
namespace {

using ::testing::HasSubstr;

/// A .npy file written by hand, as numpy's documentation of the format says.
std::string npy(const std::string& header, const std::string& data) {
  return std::string("\x93NUMPY\x01\0", 8) + static_cast<char>(header.size()) + std::string(1, 0) + header + data;
}
std::string header(const std::string& type, const std::string& shape, const std::string& fortran = "False") {
  return "{'descr': '" + type + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }\n";
}
const std::string one_two("\x00\x3c\x00\x40", 4);  // fp16

template <class Call>
std::string refused(const Call& call) {
  try {
    call();
    return "nothing is refused";
  } catch (const std::logic_error& e) {
    return std::string("a defect of ours: ") + e.what();
  } catch (const std::runtime_error& e) {
    return e.what();
  }
}

std::string npy_refused(const std::string& content) {
  return refused([&] { parse_npy("x.npy", content); });
}

TEST(Npy, IsReadAsItsFormatSays) {
  const NpyArray array = parse_npy("x.npy", npy(header("<f2", "(2,)"), one_two));
  EXPECT_EQ(array.type, "<f2");
  EXPECT_EQ(array.shape, std::vector<size_t>{2});
  EXPECT_EQ(array.data, one_two);
  EXPECT_TRUE(parse_npy("x.npy", npy(header("<f2", "()"), one_two)).shape.empty());
  EXPECT_EQ(parse_npy("x.npy", npy(header("<f2", "(1, 2)"), one_two)).shape, (std::vector<size_t>{1, 2}));
}

TEST(Npy, IsWrittenSoThatItIsReadAgain) {
  for (const std::vector<size_t>& shape : {std::vector<size_t>{}, {2}, {1, 2}, {2, 0, 3}}) {
    NpyArray array{"<f2", shape, ""};
    array.data.assign(array.elements() * 2, 'x');
    const std::string content = npy_content(array);
    EXPECT_EQ((content.size() - array.data.size()) % 64, 0u);
    const NpyArray back = parse_npy("x.npy", content);
    EXPECT_EQ(back.type, array.type);
    EXPECT_EQ(back.shape, array.shape);
    EXPECT_EQ(back.data, array.data);
  }
}

TEST(Npy, OfOtherKindsIsRefusedWithWhatToDo) {
  EXPECT_THAT(npy_refused(""), HasSubstr("is no .npy file"));
  EXPECT_THAT(npy_refused("PK\x03\x04 and so on"), HasSubstr("is no .npy file"));
  EXPECT_THAT(npy_refused(npy(header(">f2", "(2,)"), one_two)), HasSubstr("is big-endian (>f2): save"));
  EXPECT_THAT(npy_refused(npy(header("<f2", "(1, 2)", "True"), one_two)), HasSubstr("numpy.ascontiguousarray"));
  EXPECT_THAT(npy_refused(npy(header("|O", "(2,)"), one_two)), HasSubstr("holds |O, expected an array of numbers"));
  EXPECT_THAT(npy_refused(npy(header("<c8", "(2,)"), one_two)),
              HasSubstr("holds <c8, complex numbers, which no format has: save x.real and x.imag"));
  for (const char* type : {"<U4", "<M8", "<f16", "", "<", "f2", "<f0"})
    EXPECT_THAT(npy_refused(npy(header(type, "(2,)"), one_two)), HasSubstr("expected an array of numbers")) << type;
  EXPECT_THAT(npy_refused(npy("{'descr': [('x', '<f2')], 'fortran_order': False, 'shape': (2,), }", one_two)),
              HasSubstr("holds structures"));
  EXPECT_THAT(npy_refused(npy("{'fortran_order': False, 'shape': (2,), }", one_two)), HasSubstr("has no 'descr'"));
  EXPECT_THAT(npy_refused(npy(header("<f2", "(2"), one_two)), HasSubstr("shape"));
  EXPECT_THAT(npy_refused(npy(header("<f2", "(-2,)"), one_two)), HasSubstr("shape of the array is malformed"));
  EXPECT_THAT(npy_refused(npy(header("<f2", "(99999999999999999999,)"), one_two)), HasSubstr("malformed"));
  EXPECT_THAT(npy_refused(npy(header("<f2", "(4294967296, 4294967296)"), one_two)), HasSubstr("is too large"));
  EXPECT_THAT(npy_refused(npy(header("<f2", "(3,)"), one_two)), HasSubstr("is truncated: 4 of 6 bytes of data"));
}

TEST(Npy, CutAnywhereOrWithAByteChangedNeverCrashes) {
  const std::string whole = npy_content({"<f2", {2}, one_two});
  for (size_t length = 0; length < whole.size(); ++length)
    EXPECT_THAT(npy_refused(whole.substr(0, length)), ::testing::StartsWith("x.npy: ")) << length;
  const std::string archive = npz_content({{"a", {"<f2", {2}, one_two}}, {"b", {"|u1", {4}, one_two}}});
  const auto parse = [](const std::string& content) { return refused([&] { parse_npz("x.npz", content); }); };
  EXPECT_EQ(parse(archive), "nothing is refused");
  for (size_t length = 0; length < archive.size(); ++length)
    EXPECT_THAT(parse(archive.substr(0, length)), ::testing::StartsWith("x.npz")) << length;
  std::mt19937 random(1);
  for (int i = 0; i < 20000; ++i) {
    std::string changed = archive;
    const size_t at = random() % changed.size();
    changed[at] = static_cast<char>(random());
    EXPECT_THAT(parse(changed), ::testing::Not(HasSubstr("a defect of ours"))) << at;
  }
}

TEST(Npz, GivesItsArraysByName) {
  const std::string archive = npz_content({{"a", {"<f2", {2}, one_two}}, {"b", {"|u1", {4}, one_two}}});
  const std::map<std::string, NpyArray> arrays = parse_npz("x.npz", archive);
  ASSERT_EQ(arrays.size(), 2u);
  EXPECT_EQ(arrays.at("a").data, one_two);
  EXPECT_EQ(arrays.at("b").type, "|u1");
}

NamedArray array_of(const std::string& name, const std::string& type, const std::vector<size_t>& shape) {
  NamedArray named{name, {type, shape, ""}};
  named.array.data.resize(named.array.elements() * named.array.element_bytes());
  for (size_t i = 0; i < named.array.data.size(); ++i) named.array.data[i] = static_cast<char>(i);
  return named;
}

TEST(CaseArrays, FillTheSizesOfTheOpAndComeBack) {
  const std::vector<NamedArray> product = {array_of("a", "<f2", {2, 3}), array_of("b", "<f2", {3, 4}),
                                           array_of("c", "<f4", {2, 4}), array_of("d", "<f4", {2, 4})};
  const Op op = op_of_arrays("gemm a=fp16 b=fp16 c=fp32 d=fp32", product);
  EXPECT_EQ(op.m, 2);
  EXPECT_EQ(op.n, 4);
  EXPECT_EQ(op.k, 3);
  const CaseBlock block = cases_of_arrays(op, product);
  EXPECT_EQ(block.batch.size(), 1u);
  EXPECT_EQ(block.batch.b().get(0, 5), 0x0b0au);
  EXPECT_EQ(block.expected.get(0, 7), 0x1f1e1d1cu);
  const auto back = arrays_of_cases(block);
  ASSERT_EQ(back.size(), 4u);
  EXPECT_EQ(back[1].first, "b");
  EXPECT_EQ(back[1].second.shape, (std::vector<size_t>{3, 4})) << "as it went in";
  EXPECT_EQ(back[3].first, "d");
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(back[i].second.data, product[i].array.data);

  const std::vector<NamedArray> dots = {array_of("a", "|u1", {5, 1}), array_of("b", "|V1", {5, 1}),
                                        array_of("c", "<f4", {5})};
  const CaseBlock cases = cases_of_arrays(op_of_arrays("dot a=e4m3 b=e5m2 c=fp32 d=fp32", dots), dots);
  EXPECT_EQ(cases.batch.size(), 5u);
  EXPECT_EQ(cases.batch.a().get(3), 3u);
  EXPECT_FALSE(cases.has_expected[0]);
  EXPECT_EQ(arrays_of_cases(cases).size(), 3u);
}

TEST(CaseArrays, TellTheirOpByTypesAndShapes) {
  const auto op_of = [](const std::string& a_type, std::vector<size_t> a, std::vector<size_t> c, bool results) {
    std::vector<NamedArray> arrays = {array_of("a", a_type, a), array_of("b", "<f2", a), array_of("c", "<f4", c)};
    if (results) arrays.push_back(array_of("d", "<f8", c));
    return op_line_of_arrays(arrays);
  };
  EXPECT_EQ(op_of("<f4", {2, 2}, {2, 2}, true), "gemm a=fp32 b=fp16 c=fp32 d=fp64");
  EXPECT_EQ(op_of("<f2", {5, 2, 2}, {5, 2, 2}, false), "gemm a=fp16 b=fp16 c=fp32 d=fp32");
  EXPECT_EQ(op_of("<f4", {2, 2}, {1, 2, 2}, true), "gemm a=fp32 b=fp16 c=fp32 d=fp64") << "one of several";
  EXPECT_EQ(op_of("<f2", {5, 3}, {5}, true), "dot a=fp16 b=fp16 c=fp32 d=fp64");
  EXPECT_EQ(op_of("<f2", {3}, {}, false), "dot a=fp16 b=fp16 c=fp32 d=fp32");
  const auto why = [&](const std::string& type, std::vector<size_t> a, std::vector<size_t> c) {
    return refused([&] { op_of(type, a, c, false); });
  };
  EXPECT_THAT(why("<u2", {5, 3}, {5}), HasSubstr("a holds <u2, which does not say its format: give --op"));
  EXPECT_THAT(why("|V1", {5, 3}, {5}), HasSubstr("a holds |V1"));
  EXPECT_THAT(why("<f2", {3}, {3}), HasSubstr("shapes of a and c fit neither"));
  EXPECT_THAT(why("<f2", {5, 3, 3}, {5}), HasSubstr("shapes of a and c fit neither"));
  EXPECT_THAT(refused([] { op_line_of_arrays({array_of("a", "<f2", {3})}); }), HasSubstr("a, b and maybe c and d"));
}

TEST(CaseArrays, CMayBeLeftOutOrBeOneNumber) {
  struct Row {
    const char* type;
    std::vector<size_t> a, b;
    const char* op;
  };
  const std::vector<Row> rows = {{"<f2", {2, 3}, {3, 4}, "gemm a=fp16 b=fp16 c=fp32 d=fp32"},
                                 {"<f8", {5, 2, 3}, {5, 3, 4}, "gemm a=fp64 b=fp64 c=fp64 d=fp64"},
                                 {"|i1", {5, 3}, {5, 3}, "dot a=s8 b=s8 c=s32 d=s32"},
                                 {"<f4", {3}, {3}, "dot a=fp32 b=fp32 c=fp32 d=fp32"}};
  for (const Row& row : rows) {
    std::vector<NamedArray> arrays = {array_of("a", row.type, row.a), array_of("b", row.type, row.b)};
    EXPECT_EQ(op_line_of_arrays(arrays), row.op);
    const Op op = op_of_arrays(row.op, arrays);
    const CaseBlock zeros = cases_of_arrays(op, arrays);
    EXPECT_EQ(zeros.batch.size(), row.a[0] == 5 ? 5u : 1u);
    EXPECT_FALSE(zeros.has_expected[0]);
    arrays.push_back(array_of("c", op.c == format("fp64") ? "<f8" : op.c == format("s32") ? "<i4" : "<f4", {}));
    EXPECT_EQ(op_line_of_arrays(arrays), row.op);
    const CaseBlock same = cases_of_arrays(op, arrays);
    const uint64_t number = op.c == format("fp64") ? 0x0706050403020100 : 0x03020100;  // the bytes 0, 1, 2, ...
    for (size_t i = 0; i < zeros.batch.size(); ++i)
      for (int e = 0; e < op.m * op.n; ++e) {
        EXPECT_EQ(zeros.batch.c().get(i, e), 0u);
        EXPECT_EQ(same.batch.c().get(i, e), number);
      }
  }
  const std::vector<NamedArray> results = {
      array_of("a", "<f2", {5, 3}), array_of("b", "<f2", {5, 3}), {"c", {}}, array_of("d", "<f8", {5})};
  EXPECT_EQ(op_line_of_arrays(results), "dot a=fp16 b=fp16 c=fp64 d=fp64");
  const CaseBlock block = cases_of_arrays(op_of_arrays(op_line_of_arrays(results), results), results);
  EXPECT_EQ(block.batch.c().get(4), 0u);
  EXPECT_EQ(block.expected.get(0), 0x0706050403020100u);
}

TEST(CaseArrays, ThatDoNotFitAreRefused) {
  const std::string dot = "dot a=fp16 b=fp16 c=fp32 d=fp32 k=3";
  const auto why = [&](const std::string& op, std::vector<NamedArray> arrays) {
    return refused([&] { cases_of_arrays(op_of_arrays(op, arrays), arrays); });
  };
  const NamedArray a = array_of("a", "<f2", {4, 3}), c = array_of("c", "<f4", {4});
  EXPECT_EQ(why(dot, {a, a, c}), "nothing is refused");
  EXPECT_EQ(why(dot, {a, a, c, c}), "nothing is refused");
  EXPECT_THAT(why(dot, {a}), HasSubstr("takes 3 arrays (a, b, c), or one more with the results; here are 1"));
  EXPECT_THAT(why(dot, {array_of("x", "<f2", {3, 4}), a, c}), HasSubstr("x has shape (3, 4)"));
  EXPECT_THAT(why(dot, {array_of("x", "<f2", {2, 2, 3}), a, c}), HasSubstr("x has shape (2, 2, 3)"));
  EXPECT_THAT(why(dot, {a, array_of("x", "<f2", {3, 3}), c}),
              AllOf(HasSubstr("x, (3, 3), holds 3 cases of 'op dot"), HasSubstr("and a, (4, 3), 4")));
  EXPECT_THAT(why(dot, {array_of("x", "<f4", {4, 3}), a, c}),
              HasSubstr("x holds <f4, and a is fp16: save <f2, or <u2"));
  EXPECT_THAT(why(dot, {array_of("x", "|V2", {4, 3}), a, c}), HasSubstr("x holds |V2, and a is fp16"));
  EXPECT_THAT(why(dot, {a, a, array_of("x", "<i4", {4})}), HasSubstr("x holds <i4, and c is fp32"));
  const NamedArray wide = array_of("x", "|u1", {1, 20});  // 16 and more do not fit e2m1's four bits
  EXPECT_THAT(why("dot a=e2m1 b=e2m1 c=fp32 d=fp32", {wide, wide, array_of("c", "<f4", {1})}),
              HasSubstr("x: element 16 of case 0 does not fit the 4 bits of e2m1"));
}

}  // namespace
}  // namespace mmafuzz
