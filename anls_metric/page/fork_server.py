"""Processes that are warm: one process imports everything once, and forks itself for each piece of work.

A fork takes a few milliseconds, where starting Python and importing takes half a second. The page starts this process,
and asks it for another one by sending two sockets. Through the first one the work goes to the new process, and its
results come back. The second one is a leash: when the page lets go of it, the process is killed; its exit status comes
back. Where the system cannot fork, each piece of work starts Python anew.
"""

from __future__ import annotations

import gc
import importlib
import os
import pickle
import selectors
import signal
import socket
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from functools import cached_property
from typing import Any, BinaryIO, NamedTuple

from anls_metric.page.limits import MOST_MEMORY, Allowance

if sys.platform != "win32":
    import resource

Work = tuple[Callable[..., Iterator[Any]], tuple[Any, ...]]
"""A generator function and its arguments."""

# The process imports the same files as the page, but not the program that started the page.
_BEGIN = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from anls_metric.page import fork_server
fork_server.{function}
"""

# So that a process reserves hardly more memory than it uses.
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}

_TICK = 0.1  # seconds between two looks at the processes
_YOUNG = 0.5  # seconds for which a process goes before older ones
_NICE = 10, 19  # how far young ones stand back behind the page, and older ones behind young ones
_FAILED = 1  # the exit status of a process of which nothing is known


# In the page


class Process:
    """A process that waits for work.

    Attributes:
        input: takes the allowance and the work, see `give`.
        output: gives what `work` tells, pickled.
    """

    input: BinaryIO
    output: BinaryIO

    def give(self, work: Work, allowance: Allowance) -> None:
        """Give it work. BrokenPipeError: it has ended."""
        pickle.dump(allowance, self.input)
        pickle.dump(work, self.input)
        self.input.flush()

    @cached_property
    def status(self) -> int:
        """Its exit status, once it has ended; of a killed one a negative number."""
        raise NotImplementedError

    def end(self) -> int:
        """End it, if it has not ended, and return its exit status."""
        for file in (self.input, self.output):
            with suppress(OSError):
                file.close()
        return self.status


class _Forked(Process):
    def __init__(self, channel: socket.socket, leash: socket.socket) -> None:
        self.input, self.output, self._leash = channel.makefile("wb"), channel.makefile("rb"), leash
        channel.close()  # the two files keep it open

    @cached_property
    def status(self) -> int:
        with self._leash as leash:
            with suppress(OSError):  # nobody holds the other end
                leash.shutdown(socket.SHUT_WR)
            status = leash.recv(4)
        return int.from_bytes(status, "little", signed=True) if status else _FAILED


class _Started(Process):
    """A process that was started for one piece of work, where the system cannot fork."""

    def __init__(self, seconds: float) -> None:
        self._process = _start_python("work(sys.stdin.buffer, sys.stdout.buffer)", stdout=subprocess.PIPE)
        assert self._process.stdin
        assert self._process.stdout
        self.input, self.output = self._process.stdin, self._process.stdout  # type: ignore[assignment]
        self._clock = threading.Timer(seconds, self._process.kill)
        self._clock.daemon = True
        self._clock.start()

    @cached_property
    def status(self) -> int:
        is_late = not self._clock.is_alive()
        self._clock.cancel()
        self._process.kill()
        status = self._process.wait()
        return -abs(status) if is_late else status


def _start_python(function: str, *arguments: str, **options: Any) -> subprocess.Popen[bytes]:
    """Start Python with a function of this module. It gets `sys.path` through its standard input."""
    command = [sys.executable, "-c", _BEGIN.format(function=function), *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **_ENVIRONMENT}, **options)
    assert process.stdin
    pickle.dump(sys.path, process.stdin)
    process.stdin.flush()
    return process


class ForkServer:
    """The process that forks itself, seen from the page. It ends when the page does.

    Example:
        >>> server = ForkServer()
        >>> process = server.fork()
        >>> process.give((map, (len, ["a", "bc"])), Allowance(seconds=60, memory=10**9))
        >>> [pickle.load(process.output) for _ in range(3)]
        [(True, 1), (True, 2), (False, None)]
        >>> _ = process.end()
        >>> server.stop()
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._control: socket.socket | None = None

    def start(self, modules: Iterable[str] = ()) -> None:
        """Start it, if it has not started, and have it import modules."""
        with self._lock:
            if not self._control:
                self._control = self._start(modules)

    def fork(self) -> Process:
        """Have it fork itself. It is started if it has not been, or has ended."""
        channel, far_channel = socket.socketpair()
        leash, far_leash = socket.socketpair()
        far = [far_channel.fileno(), far_leash.fileno()]
        with far_channel, far_leash, self._lock:
            try:
                self._control = self._control or self._start()
                socket.send_fds(self._control, [b"+"], far)
            except OSError:
                self._control = self._start()
                socket.send_fds(self._control, [b"+"], far)
        return _Forked(channel, leash)

    def stop(self) -> None:
        """End it, and all processes that it forked."""
        with self._lock:
            if self._control and self._process:
                self._control.close()
                self._process.wait()
                self._control = self._process = None

    def _start(self, modules: Iterable[str] = ()) -> socket.socket:
        near, far = socket.socketpair()
        with far:
            number = str(far.fileno())
            options = {"pass_fds": [far.fileno()], "stdout": subprocess.DEVNULL}
            self._process = _start_python("serve()", number, *modules, **options)
        assert self._process.stdin
        self._process.stdin.close()
        return near


SERVER = ForkServer()
"""The one of this page."""

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")


def begin(seconds: float) -> Process:
    """Begin a process, which may take so many seconds."""
    return SERVER.fork() if CAN_FORK else _Started(seconds)


# In the process that forks itself


class _Child(NamedTuple):
    leash: socket.socket
    begun: float


class _Family:
    """The processes that were forked and have not ended."""

    def __init__(self, control: socket.socket) -> None:
        self._control = control
        self._selector = selectors.DefaultSelector()
        self._children: dict[int, _Child] = {}
        self._young: set[int] = set()
        self._ended, wake = socket.socketpair()
        wake.setblocking(False)
        self._sockets = [control, self._ended, wake]
        signal.set_wakeup_fd(wake.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(control, selectors.EVENT_READ)
        self._selector.register(self._ended, selectors.EVENT_READ)

    def look_after(self) -> None:
        """Fork, and look after those that were forked, until the page ends."""
        is_open = True
        while is_open:
            for key, _ in self._selector.select(_TICK if self._children else None):
                if key.fileobj is self._control:
                    is_open = self._fork()
                elif key.fileobj is self._ended:
                    self._ended.recv(1024)
                else:  # the page has let go of the leash
                    self._selector.unregister(key.fileobj)
                    self._kill(key.data)
            self._bury()
            self._demote()
            self._share_memory()
        for process in self._children:
            self._kill(process)

    def _fork(self) -> bool:
        """Fork, unless the page has ended."""
        message, descriptors, *_ = socket.recv_fds(self._control, 1, 2)
        if not message:
            return False
        channel, leash = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        try:
            process = os.fork()
        except OSError:  # there is no room for another one, which the page learns as nothing answers
            channel.close()
            leash.close()
            return True
        if not process:
            self._become_child(channel, leash)
        with suppress(OSError):  # the child does it as well, so that nobody comes too early
            os.setpgid(process, process)
        channel.close()
        self._children[process] = _Child(leash, time.monotonic())
        self._young.add(process)
        self._selector.register(leash, selectors.EVENT_READ, process)
        return True

    def _become_child(self, channel: socket.socket, leash: socket.socket) -> None:
        status = _FAILED
        try:
            os.setpgid(0, 0)
            os.setpriority(os.PRIO_PROCESS, 0, max(_NICE[0], os.getpriority(os.PRIO_PROCESS, 0)))
            signal.set_wakeup_fd(-1)
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)
            self._selector.close()
            for other in (*self._sockets, leash, *(child.leash for child in self._children.values())):
                other.close()
            with channel, channel.makefile("rb") as source, channel.makefile("wb") as sink:
                work(source, sink)
            status = 0
        finally:
            os._exit(status)

    def _kill(self, process: int) -> None:
        with suppress(OSError):
            os.killpg(process, signal.SIGKILL)

    def _bury(self) -> None:
        """Tell the page of those that have ended."""
        with suppress(ChildProcessError):
            while True:
                process, status = os.waitpid(-1, os.WNOHANG)
                if not process:
                    return
                leash = self._children.pop(process).leash
                self._young.discard(process)
                with suppress(KeyError):
                    self._selector.unregister(leash)
                with suppress(OSError), leash:
                    leash.send(os.waitstatus_to_exitcode(status).to_bytes(4, "little", signed=True))

    def _demote(self) -> None:
        """Have those that are no longer young wait for those that are."""
        before = time.monotonic() - _YOUNG
        for process in [process for process in self._young if self._children[process].begun < before]:
            self._young.discard(process)
            with suppress(OSError):
                os.setpriority(os.PRIO_PGRP, process, _NICE[1])

    def _share_memory(self) -> None:
        """Kill the largest one, where all together take more memory than there is for them."""
        sizes = {process: _measure_memory(process) for process in self._children}
        if sum(sizes.values()) > MOST_MEMORY:
            self._kill(max(sizes, key=sizes.__getitem__))


def _measure_memory(process: int) -> int:
    """Measure the memory of a process, in bytes; 0 where the system does not say."""
    try:
        with open(f"/proc/{process}/statm") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def serve() -> None:
    """Be the process that forks itself, for the socket and with the modules that the arguments name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the page gets it as well, and ends this
    number, *modules = sys.argv[1:]
    for module in modules:
        importlib.import_module(module)
    gc.disable()  # looking for cycles in a million rows, which have none, would be a third of the time
    gc.freeze()
    _Family(socket.socket(fileno=int(number))).look_after()


# In the process that works


def work(source: BinaryIO, sink: BinaryIO) -> None:
    """Do the work that a page gives, and tell what it yields as (True, step), and then (False, its error or None)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    sys.stdout = sys.stderr  # what a library prints is no answer

    def tell(*message: Any) -> None:
        sink.write(pickle.dumps(message))
        sink.flush()

    try:
        _keep_within(pickle.load(source))
        function, arguments = pickle.load(source)
        for step in function(*arguments):
            tell(True, step)
        tell(False, None)
    except BrokenPipeError:  # nobody takes the rest
        pass
    except (ValueError, OSError, MemoryError) as error:
        tell(False, error)
    except BaseException:
        tell(False, RuntimeError(traceback.format_exc()))


def _keep_within(allowance: Allowance) -> None:
    """Have the system end this process where it takes more than its allowance."""
    if sys.platform == "win32":  # there the page looks at the clock
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, allowance.seconds)
    limits = {resource.RLIMIT_AS: allowance.memory, resource.RLIMIT_CORE: 0}
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # not every system has all of them
            resource.setrlimit(kind, (most, most))
    with suppress(OSError), open("/proc/self/oom_score_adj", "w") as file:  # rather this one than the page
        file.write("1000")
