"""python -m graphengine run MODEL: the same as `ge run MODEL`."""
from graphengine._program import main

main()
