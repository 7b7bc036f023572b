// All bodies, for the two files that make kernels of them.
#pragma once

#include "plugins/gpu/kernels/chain.h"
#include "plugins/gpu/kernels/channels.h"
#include "plugins/gpu/kernels/folds.h"
#include "plugins/gpu/kernels/indices.h"
#include "plugins/gpu/kernels/losses.h"
#include "plugins/gpu/kernels/makes.h"
#include "plugins/gpu/kernels/moves.h"
#include "plugins/gpu/kernels/numbers.h"
#include "plugins/gpu/kernels/product.h"
#include "plugins/gpu/kernels/recurrent.h"
#include "plugins/gpu/kernels/resample.h"
#include "plugins/gpu/kernels/rows.h"
#include "plugins/gpu/kernels/steps.h"
#include "plugins/gpu/kernels/wholes.h"
#include "plugins/gpu/kernels/windows.h"
