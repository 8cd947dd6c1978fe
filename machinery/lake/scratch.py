"""What passes hand to each other inside a stage: Arrow files in the lake, named by their inputs."""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar

import pyarrow as pa
from pydantic import TypeAdapter

from mihakk.machinery.ids import digest
from mihakk.machinery.lake.storage import Storage

T = TypeVar("T")

Batches = Sequence[pa.RecordBatch]
"""Of one schema; a reader may take one of them alone, as a bucket of a shuffle."""


class Scratch:
    """A folder or fsspec URL of intermediate files; picklable, so that workers read and write it.

    A file's name is a digest of its inputs and of `state`, the digest of the code and settings behind it, and
    it appears whole: one that is there need not be made again, and a killed pass goes on where it stopped.
    """

    def __init__(self, root: str, state: str) -> None:
        self.root = root
        self.state = state

    def made(self, kind: str, inputs: Any, make: Callable[[], Batches]) -> str:
        """Name of the file of that kind and those inputs, made now unless it is there."""
        name = f"{kind}-{digest([self.state, inputs])[:32]}.arrow"
        storage = Storage(self.root)
        path = storage.path(name)
        if not storage.exists(path):
            batches = make()
            sink = io.BytesIO()
            options = pa.ipc.IpcWriteOptions(compression="zstd")
            with pa.ipc.new_file(sink, batches[0].schema, options=options) as writer:
                for batch in batches:
                    writer.write_batch(batch)
            storage.write(path, sink.getvalue())
        return name

    def read(self, name: str, bucket: int | None = None) -> pa.Table:
        """All of a file, or one of its batches without reading the others."""
        storage = Storage(self.root)
        with storage.open(storage.path(name)) as file, pa.ipc.open_file(file) as reader:
            if bucket is None:
                return reader.read_all()
            return pa.Table.from_batches([reader.get_batch(bucket)])

    def packed(self, kind: str, inputs: Any, make: Callable[[], Any]) -> str:
        """As `made`, of one data class as JSON: pickle would run code of whoever can write into a lake."""

        def packed() -> Batches:
            value = make()
            data = TypeAdapter(type(value)).dump_json(value)
            return [pa.record_batch([pa.array([data], pa.large_binary())], names=["data"])]

        return self.made(kind, inputs, packed)

    def unpacked(self, kind: type[T], name: str) -> T:
        """The data class in a file of `packed`."""
        return TypeAdapter(kind).validate_json(self.read(name)["data"][0].as_py())

    def sizes(self, name: str) -> list[int]:
        """Rows of each batch of a file."""
        storage = Storage(self.root)
        with storage.open(storage.path(name)) as file, pa.ipc.open_file(file) as reader:
            return [reader.get_batch(number).num_rows for number in range(reader.num_record_batches)]

    def keep_only(self, names: Iterable[str]) -> None:
        """Removes what earlier runs left and this one did not use."""
        storage, kept = Storage(self.root), set(names)
        for name in storage.list(storage.root):
            if name not in kept:
                storage.remove(storage.path(name))
