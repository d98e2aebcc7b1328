// Runs the tests of one source file: unit_tests round_test. Without a file's name, those that GoogleTest's options
// choose.
#include <filesystem>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  if (argc < 2) return RUN_ALL_TESTS();
  std::string tests;
  const ::testing::UnitTest& all = *::testing::UnitTest::GetInstance();
  for (int i = 0; i < all.total_test_suite_count(); ++i) {
    const ::testing::TestSuite& suite = *all.GetTestSuite(i);
    for (int j = 0; j < suite.total_test_count(); ++j) {
      const ::testing::TestInfo& test = *suite.GetTestInfo(j);
      if (std::filesystem::path(test.file()).stem() == argv[1])
        tests += std::string(suite.name()) + '.' + test.name() + ':';
    }
  }
  if (tests.empty()) {
    std::cerr << "error: no test is in a file " << argv[1] << ".cc\n";
    return 2;
  }
  GTEST_FLAG_SET(filter, tests);
  return RUN_ALL_TESTS();
}
