// The number of the flaw of one plugin.
extern const int planted_flaw;
const int planted_flaw = PLANTED_FLAW;
