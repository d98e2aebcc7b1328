// The subcommands of the page.
MMAFUZZ_SUBCOMMAND(list)
MMAFUZZ_SUBCOMMAND(why)
MMAFUZZ_SUBCOMMAND(explain)
