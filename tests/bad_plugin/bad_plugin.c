/* A plugin that does not behave: what it does in `run` stands in BAD_PLUGIN. Its results are zeros. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "oracles/units/plugin_abi.h"

int mmafuzz_plugin_abi(void) { return MMAFUZZ_PLUGIN_ABI; }
const char* mmafuzz_plugin_name(void) { return "bad"; }
int mmafuzz_plugin_supports(const struct mmafuzz_op* op, char* reason, size_t size) { return 1; }

int mmafuzz_plugin_run(const struct mmafuzz_op* op, const struct mmafuzz_batch* batch) {
  const char* does = getenv("BAD_PLUGIN");
  if (!strcmp(does, "print")) printf("what a plugin prints"), fflush(stdout);
  if (!strcmp(does, "crash")) raise(SIGSEGV);
  if (!strcmp(does, "exit")) exit(0);
  if (!strcmp(does, "_exit")) _exit(0);
  if (!strcmp(does, "system call")) syscall(SYS_exit_group, 0);
  while (!strcmp(does, "hang")) {}
  memset(batch->result, 0, batch->n * sizeof *batch->result);
  return 0;
}
