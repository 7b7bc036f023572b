// All bodies, for the two files that make kernels of them.
#pragma once

#include "plugins/gpu/kernels/chain.h"
#include "plugins/gpu/kernels/moves.h"
#include "plugins/gpu/kernels/numbers.h"
#include "plugins/gpu/kernels/product.h"
#include "plugins/gpu/kernels/rows.h"
#include "plugins/gpu/kernels/windows.h"
