// The flags about ranks, of ge train and ge run. Parses nothing itself.
#pragma once

#include <CLI/CLI.hpp>

#include "tools/ge/ranks.h"

namespace ge::tool {

inline void AddMeshFlags(CLI::App* app, MeshOptions* o) {
  app->add_option("--mesh", o->mesh,
                  "data=2,model=2: the ranks, as mpirun -np 4 starts them, as a grid with named "
                  "axes; rows of a batch lie over the axis data")
      ->type_name("AXIS=N");
  app->add_option("--shard", o->shard,
                  "NAME=model,-: where a state, constant or value lies, by dim: axes of the mesh, "
                  "or - for one that is not split; may be repeated")
      ->take_all()
      ->type_name("NAME=AXES");
}

}  // namespace ge::tool
