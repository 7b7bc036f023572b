"""How a coroutine waits for a run."""
import asyncio
from typing import Any


async def finish(run: Any) -> Any:
    """The outputs of `run`, which is cancelled where the waiting task is."""
    try:
        return await asyncio.get_running_loop().run_in_executor(None, run.result)
    except asyncio.CancelledError:
        run.cancel()
        raise
