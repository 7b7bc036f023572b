// The names of passes/kit used by this plugin.
#pragma once

#include "passes/kit/copy_nodes.h"
#include "passes/kit/entry.h"
#include "passes/kit/fn.h"
#include "passes/kit/new_function.h"
#include "passes/kit/options.h"
#include "passes/kit/refusal.h"

namespace ge::grad {

using passes::Attrs;
using passes::AttrsOf;
using passes::CallsItself;
using passes::Compare;
using passes::Concat;
using passes::CopyNodes;
using passes::CopyOf;
using passes::CountSetting;
using passes::DrawsAnew;
using passes::EntryOf;
using passes::Fn;
using passes::Is;
using passes::IsFloat;
using passes::KnownInts;
using passes::LastName;
using passes::Listed;
using passes::NameOf;
using passes::NewFunction;
using passes::NumberSetting;
using passes::PassRun;
using passes::Refusal;
using passes::Same;
using passes::Source;
using passes::TextOption;
using passes::TextSetting;
using passes::Type;
using passes::Val;

}  // namespace ge::grad
