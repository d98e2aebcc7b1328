/* A libcublas for tests of where the library is looked for and what it lacks: its functions do nothing. */
#define FUNCTION(name) \
  int name(void) { return 0; }
FUNCTION(cublasCreate_v2)
FUNCTION(cublasGetStatusName)
FUNCTION(cublasSetMathMode)
FUNCTION(cublasGemmEx)
#ifdef WITH_EMULATION
FUNCTION(cublasSetEmulationStrategy)
FUNCTION(cublasSetEmulationSpecialValuesSupport)
FUNCTION(cublasSetFixedPointEmulationMantissaControl)
FUNCTION(cublasSetFixedPointEmulationMaxMantissaBitCount)
#endif
