// Every family of units that needs no device. To add a family, add its file with make_<name>_family() and its row here.
// `list` and default searches follow this order.
MMAFUZZ_FAMILY(exact)
MMAFUZZ_FAMILY(ieee)
MMAFUZZ_FAMILY(bulk)
MMAFUZZ_FAMILY(cpu)
MMAFUZZ_FAMILY(ozaki)
MMAFUZZ_FAMILY(split)
MMAFUZZ_FAMILY(model)
MMAFUZZ_FAMILY(twin)
MMAFUZZ_FAMILY(recorded)
MMAFUZZ_FAMILY(hypothesis)
MMAFUZZ_FAMILY(plugin)
MMAFUZZ_FAMILY(integer)
