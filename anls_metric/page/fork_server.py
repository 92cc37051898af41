"""Starts processes fast: a fork server imports everything once, and forks itself for each piece of work.

A fork takes a few milliseconds; starting Python and importing takes half a second. The page starts the fork server, and
requests a new process by sending it two sockets. The first socket carries the work to the process and its results back.
The second is a leash: when the page closes it, the process is killed, and the server sends its exit status back. On
systems without fork, each piece of work starts a new Python.
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

# The fork server imports the same modules as the page, but not the program that started the page.
_BEGIN = """
import pickle, sys
sys.path[:] = pickle.load(sys.stdin.buffer)
from anls_metric.page import fork_server
fork_server.{function}
"""

# These keep a process from reserving much more memory than it uses.
_ENVIRONMENT = {"MALLOC_ARENA_MAX": "2", "ARROW_DEFAULT_MEMORY_POOL": "system"}

_TICK = 0.1  # seconds between two checks of the processes
_YOUNG = 0.5  # seconds for which a process has precedence over older ones
_NICE = 10, 19  # the niceness of young and of older processes; the page has 0
_FAILED = 1  # the exit status if the real one is unknown


# In the process of the page


class Process:
    """A process that waits for work.

    Attributes:
        input: the file to which `give` writes the allowance and the work.
        output: the file from which the page reads the pickled messages of `work`.
    """

    input: BinaryIO
    output: BinaryIO

    def give(self, work: Work, allowance: Allowance) -> None:
        """Send work to the process. BrokenPipeError: it has ended."""
        pickle.dump(allowance, self.input)
        pickle.dump(work, self.input)
        self.input.flush()

    @cached_property
    def status(self) -> int:
        """Wait for the end of the process, and return its exit status: a negative number if it was killed."""
        raise NotImplementedError

    def end(self) -> int:
        """End the process if it still runs, and return its exit status."""
        for file in (self.input, self.output):
            with suppress(OSError):
                file.close()
        return self.status


class _ForkedProcess(Process):
    def __init__(self, channel: socket.socket, leash: socket.socket) -> None:
        self.input, self.output, self._leash = channel.makefile("wb"), channel.makefile("rb"), leash
        channel.close()  # the two files keep it open

    @cached_property
    def status(self) -> int:
        with self._leash as leash:
            with suppress(OSError):  # the other end is closed
                leash.shutdown(socket.SHUT_WR)
            status = leash.recv(4)
        return int.from_bytes(status, "little", signed=True) if status else _FAILED


class _StartedProcess(Process):
    """A new Python process for one piece of work, on systems without fork."""

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
    """Start a Python process that runs a function of this module. It reads `sys.path` from its standard input."""
    command = [sys.executable, "-c", _BEGIN.format(function=function), *arguments]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, env={**os.environ, **_ENVIRONMENT}, **options)
    assert process.stdin
    pickle.dump(sys.path, process.stdin)
    process.stdin.flush()
    return process


class ForkServer:
    """The fork server, as the page sees it. It ends when the page ends.

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
        """Start the fork server if it is not running, and let it import modules."""
        with self._lock:
            if not self._control:
                self._control = self._start(modules)

    def fork(self) -> Process:
        """Fork a process. The server is started first if it is not running."""
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
        return _ForkedProcess(channel, leash)

    def stop(self) -> None:
        """End the server, and all processes that it forked."""
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
"""The fork server of this page."""

CAN_FORK = hasattr(os, "fork") and hasattr(socket, "send_fds")


def begin(seconds: float) -> Process:
    """Begin a process that may run for this many seconds."""
    return SERVER.fork() if CAN_FORK else _StartedProcess(seconds)


# In the process of the fork server


class _Child(NamedTuple):
    leash: socket.socket
    begun: float


class _Family:
    """The forked processes that are still running."""

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
        """Fork on request, and supervise the processes, until the page ends."""
        is_open = True
        while is_open:
            for key, _ in self._selector.select(_TICK if self._children else None):
                if key.fileobj is self._control:
                    is_open = self._fork()
                elif key.fileobj is self._ended:
                    self._ended.recv(1024)
                else:  # the page has closed the leash
                    self._selector.unregister(key.fileobj)
                    self._kill(key.data)
            self._bury()
            self._demote()
            self._share_memory()
        for process in self._children:
            self._kill(process)

    def _fork(self) -> bool:
        """Fork a process. Returns False if the page has ended."""
        message, descriptors, *_ = socket.recv_fds(self._control, 1, 2)
        if not message:
            return False
        channel, leash = (socket.socket(fileno=descriptor) for descriptor in descriptors)
        try:
            process = os.fork()
        except OSError:  # there is no room for another process; the page notices that nothing answers
            channel.close()
            leash.close()
            return True
        if not process:
            self._become_child(channel, leash)
        with suppress(OSError):  # the child does it as well, so that it is done whoever comes first
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
        """Send the exit status of processes that have ended to the page."""
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
        """Lower the priority of processes that are no longer young."""
        before = time.monotonic() - _YOUNG
        for process in [process for process in self._young if self._children[process].begun < before]:
            self._young.discard(process)
            with suppress(OSError):
                os.setpriority(os.PRIO_PGRP, process, _NICE[1])

    def _share_memory(self) -> None:
        """Kill the largest process if all processes together exceed the memory limit."""
        sizes = {process: _measure_memory(process) for process in self._children}
        if sum(sizes.values()) > MOST_MEMORY:
            self._kill(max(sizes, key=sizes.__getitem__))


def _measure_memory(process: int) -> int:
    """Measure the memory of a process, in bytes; 0 if the system does not tell."""
    try:
        with open(f"/proc/{process}/statm") as file:
            _, resident, shared, *_ = map(int, file.read().split())
    except (OSError, ValueError):
        return 0
    return (resident - shared) * os.sysconf("SC_PAGE_SIZE")


def serve() -> None:
    """Run the fork server, with the socket and the modules that the arguments name."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the page gets the signal too, and then ends this process
    number, *modules = sys.argv[1:]
    for module in modules:
        importlib.import_module(module)
    gc.disable()  # a search for cycles among a million rows, which have none, takes a third of the time
    gc.freeze()
    _Family(socket.socket(fileno=int(number))).look_after()


# In the worker process


def work(source: BinaryIO, sink: BinaryIO) -> None:
    """Do the work that the page sends. Each step is sent back as (True, step), the end as (False, error or None)."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    gc.disable()
    sys.stdout = sys.stderr  # the output of libraries must not mix with the messages

    def tell(*message: Any) -> None:
        sink.write(pickle.dumps(message))
        sink.flush()

    try:
        _keep_within(pickle.load(source))
        function, arguments = pickle.load(source)
        for step in function(*arguments):
            tell(True, step)
        tell(False, None)
    except BrokenPipeError:  # nobody reads the rest
        pass
    except (ValueError, OSError, MemoryError) as error:
        tell(False, error)
    except BaseException:
        tell(False, RuntimeError(traceback.format_exc()))


def _keep_within(allowance: Allowance) -> None:
    """Let the system end this process if it exceeds its allowance."""
    if sys.platform == "win32":  # on Windows the page checks the time
        return
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.setitimer(signal.ITIMER_REAL, allowance.seconds)
    limits = {resource.RLIMIT_AS: allowance.memory, resource.RLIMIT_CORE: 0}
    for kind, most in limits.items():
        with suppress(ValueError, OSError):  # not every system has all of these limits
            resource.setrlimit(kind, (most, most))
    with (
        suppress(OSError),
        open("/proc/self/oom_score_adj", "w") as file,
    ):  # without memory, this ends, not the page
        file.write("1000")
