"""Processes that are forked to try one mutant: silent, and ended where they run for ever."""

import os
import select
import signal
import sys
from collections.abc import Callable


def silence() -> None:
    """Let this process write nowhere."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)


def ended(child: int, at_most_s: float) -> int | None:
    """Return the exit code of this process, None where it had to be stopped."""
    handle = os.pidfd_open(child)
    ready, _, _ = select.select([handle], [], [], at_most_s)
    os.close(handle)
    if not ready:
        os.kill(child, signal.SIGKILL)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status) if ready else None


def in_a_fork(work: Callable[[], bytes]) -> bytes:
    """Return what `work` returns in a forked process. Raises RuntimeError when it fails there."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        code = 1
        try:
            with os.fdopen(writing, "wb") as pipe:
                pipe.write(work())
            code = 0
        except BaseException as error:  # noqa: BLE001 - told, and the parent stops
            print(f"{type(error).__name__}: {error}", file=sys.stderr)
        finally:
            os._exit(code)
    os.close(writing)
    with os.fdopen(reading, "rb") as pipe:
        answer = pipe.read()
    if os.waitpid(child, 0)[1]:
        raise RuntimeError("the tests could not be run; see above")
    return answer
