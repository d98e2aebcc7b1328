// A child process is started, ends, and leaves nothing behind. A failure means that a campaign runs out of descriptors,
// or that a child is left running.
#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "core/child_process.h"

namespace mmafuzz {
namespace {

using ::testing::HasSubstr;

std::set<int> open_descriptors() {
  std::set<int> numbers;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd"))
    numbers.insert(std::stoi(entry.path().filename()));
  return numbers;
}

/// Lets this process open `count` more descriptors, while it lives: it fills the gaps between its descriptors.
class FewDescriptors {
 public:
  explicit FewDescriptors(rlim_t count) {
    getrlimit(RLIMIT_NOFILE, &before_);
    const int highest = *open_descriptors().rbegin();
    do filling_.push_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
    while (filling_.back() <= highest);
    const rlimit few = {rlim_t(filling_.back()) + 1 + count, before_.rlim_max};
    setrlimit(RLIMIT_NOFILE, &few);
  }
  ~FewDescriptors() {
    setrlimit(RLIMIT_NOFILE, &before_);
    for (const int descriptor : filling_) close(descriptor);
  }

 private:
  rlimit before_ = {};
  std::vector<int> filling_;
};

/// What start() says where it throws; "" where the command runs.
std::string failure_of(const std::vector<std::string>& command) {
  ChildProcess child;
  try {
    child.start(command, ChildProcess::Output::socket);
  } catch (const std::runtime_error& error) {
    return error.what();
  }
  return "";
}

TEST(ChildProcess, AStartThatFailsLeavesNoDescriptor) {
  const std::set<int> before = open_descriptors();
  EXPECT_THAT(failure_of({"no-such-program"}), HasSubstr("cannot run no-such-program: No such file"));
  EXPECT_EQ(open_descriptors(), before);
  // A socket has two ends, and so has the pipe.
  for (const rlim_t count : {0, 1, 2, 3, 4}) {
    const std::string failure = [&] {
      const FewDescriptors few(count);
      return failure_of({"true"});
    }();
    EXPECT_EQ(failure, count < 2   ? "socketpair: Too many open files"
                       : count < 4 ? "pipe: Too many open files"
                                   : "")
        << count;
    EXPECT_EQ(open_descriptors(), before) << count;
  }
}

TEST(ChildProcess, SaysHowItEnded) {
  const auto end_of = [](const char* script, ChildProcess::Why why) {
    ChildProcess child;
    child.start({"sh", "-c", script}, ChildProcess::Output::socket);
    return child.end(why);
  };
  EXPECT_EQ(end_of("exit 3", ChildProcess::Why::gone), "it exited with code 3");
  EXPECT_EQ(end_of("kill -SEGV $$", ChildProcess::Why::gone), "it died of Segmentation fault");
  EXPECT_EQ(end_of("sleep 60", ChildProcess::Why::not_behaving), "it was killed");
  EXPECT_EQ(end_of("cat", ChildProcess::Why::finished), "it exited with code 0");
  EXPECT_EQ(ChildProcess().end(), "");
}

/// What the child itself started ends with it.
TEST(ChildProcess, ItsOwnChildrenEndWithIt) {
  ChildProcess child;
  child.start({"sh", "-c", "sleep 60 & echo $!; wait"}, ChildProcess::Output::socket);
  char line[32] = {};
  ASSERT_GT(read(child.socket(), line, sizeof line - 1), 0);
  // Empty once it has ended, even before it is reaped.
  const auto command_of_grandchild = [&] {
    std::ifstream file("/proc/" + std::to_string(std::stoi(line)) + "/cmdline");
    return std::string(std::istreambuf_iterator<char>(file), {});
  };
  EXPECT_NE(command_of_grandchild(), "");
  child.end(ChildProcess::Why::not_behaving);
  for (int wait = 0; wait < 1000 && !command_of_grandchild().empty(); ++wait) usleep(1000);
  EXPECT_EQ(command_of_grandchild(), "");
}

}  // namespace
}  // namespace mmafuzz
