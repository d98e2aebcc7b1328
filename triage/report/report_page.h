// The template of the HTML report (Mustache).
#pragma once

namespace mmafuzz {

extern const char report_page[];

}  // namespace mmafuzz
