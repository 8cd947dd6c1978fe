"""Runs inside the sandbox, on the standard library alone: `solution` answers calls, `tests` makes them.

The two are processes in a sandbox each, and nothing but encoded plain values passes between them: a solution
sees arguments and never tests, expected results or the verdict; tests see values and never an object whose
comparison the solution wrote.
"""

from __future__ import annotations

import builtins
import contextlib
import ctypes
import io
import json
import os
import resource
import struct
import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

LONGEST = 16 << 20
"""Bytes of one message."""
Setup = dict[str, Any]
Wire = io.BufferedRWPair
DEEPEST = 200
MOST_ITEMS = 100_000
SHOWN = 300


class Unsendable(Exception):
    """A value that can't be put into a message."""


class Gone(BaseException):
    """The solution's process ended; no `except Exception` of tests may take it for an answer."""


class Opaque:
    """Stands for an object of a type that is not sent: true or false, equal to nothing."""

    def __init__(self, kind: str, true: bool) -> None:
        self.kind, self.true = kind, true

    def __bool__(self) -> bool:
        return self.true

    def __repr__(self) -> str:
        return f"<{self.kind}>"


def encode(value: Any, depth: int = 0) -> list[Any]:
    """A value as JSON: [type, content]."""
    if depth > DEEPEST:
        raise Unsendable("nested too deeply")
    if type(value).__module__ == "numpy":
        return encode(value.tolist(), depth + 1)
    if isinstance(value, dict):
        pairs = dict(value).items()
        return ["dict", [[encode(key, depth + 1), encode(one, depth + 1)] for key, one in pairs]]
    for kind in (list, tuple, set, frozenset):
        if isinstance(value, kind):
            return [kind.__name__, [encode(one, depth + 1) for one in value]]
    if hasattr(type(value), "__next__"):
        found: list[Any] = []
        for one in value:
            found.append(encode(one, depth + 1))
            if len(found) > MOST_ITEMS:
                raise Unsendable("an iterator without end")
        return ["iterator", found]
    return _encode_single(value)


def _encode_single(value: Any) -> list[Any]:
    if value is None or isinstance(value, bool):
        return ["plain", value]
    if isinstance(value, int):
        return ["int", hex(int(value))]
    if isinstance(value, float):
        return ["float", float.__repr__(float(value))]
    if isinstance(value, complex):
        return ["complex", [repr(value.real), repr(value.imag)]]
    if isinstance(value, str):
        # JSON writes even lone surrogates as escapes, and reads them back.
        return ["str", str(value)]
    if isinstance(value, bytes | bytearray):
        return ["bytes" if isinstance(value, bytes) else "bytearray", bytes(value).hex()]
    if isinstance(value, range):
        return ["range", [value.start, value.stop, value.step]]
    return ["opaque", [type(value).__name__, bool(value)]]


def decode(node: Any) -> Any:
    """The value that `encode` wrote; nothing but plain types can come out."""
    kind, content = node
    if kind == "plain" and (content is None or isinstance(content, bool)):
        return content
    return _READERS[kind](content)


_READERS: dict[str, Callable[[Any], Any]] = {
    "int": lambda content: int(content, 16),
    "float": float,
    "complex": lambda content: complex(*map(float, content)),
    "str": str,
    "bytes": bytes.fromhex,
    "bytearray": bytearray.fromhex,
    "range": lambda content: range(*map(int, content)),
    "dict": lambda content: {decode(key): decode(one) for key, one in content},
    "list": lambda content: list(map(decode, content)),
    "tuple": lambda content: tuple(map(decode, content)),
    "set": lambda content: set(map(decode, content)),
    "frozenset": lambda content: frozenset(map(decode, content)),
    "iterator": lambda content: iter(list(map(decode, content))),
    "opaque": lambda content: Opaque(str(content[0]), bool(content[1])),
}


def send(stream: Wire, message: Any) -> None:
    """Writes one message."""
    data = json.dumps(message).encode()
    if len(data) > LONGEST:
        raise Unsendable("larger than a message may be")
    stream.write(struct.pack("!I", len(data)) + data)
    stream.flush()


def receive(stream: Wire) -> Any:
    """Reads one message; None where the other side has gone."""
    head = stream.read(4)
    if len(head) < 4 or (size := struct.unpack("!I", head)[0]) > LONGEST:
        return None
    data = stream.read(size)
    return json.loads(data) if len(data) == size else None


def answer_of_solution(wire: Wire, least: int) -> list[Any] | None:
    """A message of the solution's process; None where it sent none, or not a list of so many."""
    try:
        message = receive(wire)
    except Exception:
        return None
    return message if isinstance(message, list) and len(message) >= least else None


def shown(error: BaseException) -> str:
    """The message of an exception, cut short."""
    with contextlib.suppress(Exception):
        return str(error)[:SHOWN]
    return ""


def answer_calls(program: str, setup: Setup, wire: Wire) -> None:
    """The solution's side: loads it, then answers every call."""
    send(wire, ["here"])
    names: dict[str, Any] = {"__name__": "solution"}
    try:
        exec(compile(program, "<solution>", "exec"), names)  # nosec B102
        entry = names[setup["entry_point"]]
    except BaseException as error:
        said = f"it defines no {setup['entry_point']}" if isinstance(error, KeyError) else shown(error)
        send(wire, ["unloadable", type(error).__name__, said])
        return
    send(wire, ["loaded"])
    while (call := receive(wire)) is not None:
        try:
            reply = ["returned", encode(entry(*decode(call[0]), **decode(call[1])))]
        except BaseException as error:
            reply = ["raised", type(error).__name__, shown(error)]
        send(wire, reply)


class Caller:
    """The solution as tests have it: a function whose calls are answered by another process."""

    def __init__(self, wire: Wire) -> None:
        self.wire, self.calls, self.raised, self.unsendable = wire, 0, "", ""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        try:
            message = [encode(args), encode(kwargs)]
        except Unsendable as error:
            self.unsendable = shown(error)
            raise
        if "opaque" in json.dumps(message):
            self.unsendable = "an argument is no plain value"
            raise Unsendable(self.unsendable)
        self.calls += 1
        with contextlib.suppress(OSError):
            send(self.wire, message)
        reply = answer_of_solution(self.wire, 2)
        if reply is None:
            raise Gone
        if reply[0] == "returned":
            try:
                return decode(reply[1])
            except Exception:
                raise Gone from None
        known = getattr(builtins, str(reply[1]), None)
        usual = isinstance(known, type) and issubclass(known, Exception)
        self.raised = ": ".join(map(str, reply[1:]))[:SHOWN]
        again: Exception = RuntimeError(self.raised)
        with contextlib.suppress(Exception):
            again = known(str(reply[2])) if usual else again  # type: ignore[misc]
        raise again


def run_tests(program: str, setup: Setup, wire: Wire) -> dict[str, Any]:
    """The tests' side: the verdict, which no other process can write."""
    if answer_of_solution(wire, 1) is None:
        return {"status": "absent"}
    loaded = answer_of_solution(wire, 1)
    if loaded is None:
        return {"status": "ended", "detail": "while it was loaded"}
    if loaded[0] != "loaded":
        return {"status": "raised", "detail": ": ".join(map(str, loaded[1:]))[:SHOWN]}
    caller, entry = Caller(wire), setup["entry_point"]
    names: dict[str, Any] = {"__name__": "tests"}
    with contextlib.suppress(Exception):
        # Some sets' tests call helper functions that the prompt defines.
        exec(compile(setup["prompt"], "<prompt>", "exec"), names)  # nosec B102
    try:
        names[entry] = caller
        exec(compile(program, "<tests>", "exec"), names)  # nosec B102
        if callable(names.get("check")):
            names["check"](caller)
    except Gone:
        status, detail = "ended", f"at call {caller.calls}"
    except SyntaxError as error:
        status, detail = "invalid", f"line {error.lineno}: {shown(error)}"
    except AssertionError as error:
        status, detail = "failed", " ".join(filter(None, [where(error), shown(error)]))
    except BaseException as error:
        status, detail = "raised" if caller.raised else "failed", f"{type(error).__name__}: {shown(error)}"
    else:
        status, detail = "passed", ""
    if caller.unsendable:
        status, detail = "invalid", f"a call can't be sent to another process: {caller.unsendable}"
    elif status == "passed" and not caller.calls:
        status, detail = "invalid", f"they never call {entry}"
    return {"status": status, "detail": detail, "calls": caller.calls}


def where(error: BaseException) -> str:
    """The line of the tests that an exception came from."""
    line = 0
    trace: TracebackType | None = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_code.co_filename == "<tests>":
            line = trace.tb_lineno
        trace = trace.tb_next
    return f"line {line}" if line else ""


def run_examples(program: str, setup: Setup) -> dict[str, Any]:
    """What each example of a docstring prints or raises."""
    names: dict[str, Any] = {"__name__": "solution"}
    try:
        exec(compile(program, "<solution>", "exec"), names)  # nosec B102
    except BaseException as error:
        return {"unloadable": f"{type(error).__name__}: {shown(error)}"}
    found = []
    for source in setup["examples"]:
        out, raised = io.StringIO(), ""
        with contextlib.redirect_stdout(out):
            try:
                exec(compile(source, "<example>", "single"), names)  # nosec B102
            except BaseException as error:
                raised = f"{type(error).__name__}: {shown(error)}"
        found.append({"printed": out.getvalue()[: 1 << 16], "raised": raised})
    return {"found": found}


def confine(setup: Setup) -> None:
    """Takes an empty keyring, sets limits, then becomes a user of its own: nothing of it can be undone."""
    # The filter allows this call of keyctl's and no other; a kernel without keys has none to leave.
    ctypes.CDLL(None).syscall(ctypes.c_long(setup["keyctl"]), ctypes.c_long(1), None)
    processor = max(1, int(setup["seconds"]) + 1)
    for name, most in {
        "AS": setup["memory"],
        "CPU": processor,
        "FSIZE": setup["file_size"],
        "NOFILE": setup["files"],
        "CORE": 0,
        "NPROC": setup["processes"],
    }.items():
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (most, most))
    if setup["uid"]:
        os.setgroups([])
        os.setresgid(*[setup["uid"]] * 3)
        os.setresuid(*[setup["uid"]] * 3)
        if os.getuid() != setup["uid"]:
            os._exit(70)


def main() -> None:
    """Takes the only two ways out away from the code that will run, then runs it."""
    setup = json.loads(Path("/box/setup.json").read_bytes())
    program = Path("/box/program").read_bytes().decode("utf-8", "surrogatepass")
    way_in, way_out = os.dup(0), os.dup(1)
    nothing = os.open("/dev/null", os.O_RDWR)
    confine(setup)
    if setup["role"] == "probe":
        os.write(way_out, b"ready")
        return
    for place in (0, 1, 2):
        os.dup2(nothing, place)
    sys.path.append("/packages")
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    sys.setrecursionlimit(3000)
    if setup["role"] == "solution":
        os.close(way_out)
        with contextlib.suppress(OSError):
            answer_calls(program, setup, wire_of(way_in))
        return
    if setup["role"] == "tests":
        verdict = run_tests(program, setup, wire_of(way_in))
    else:
        verdict = run_examples(program, setup)
    os.write(way_out, json.dumps(verdict).encode())


def wire_of(number: int) -> Wire:
    """A socket, by its descriptor, to read from and to write to."""
    return Wire(io.FileIO(number), io.FileIO(os.dup(number), "w"))


if __name__ == "__main__":
    main()
