// ${NAME} and ${NAME:default} in strings. For this folder only.
#pragma once

#include "config/config.h"
#include "config/diagnostics.h"
#include "config/value.h"

namespace roost::config {

// Replaces the references in every string below value (keys are left alone). "$${" stands for "${"; any other
// "$" for itself. Errors: a variable that is not set and has no default, a reference that is not closed, no
// valid name.
void expandReferences(Value& value, const EnvLookup& env, Errors& errors);

}  // namespace roost::config
