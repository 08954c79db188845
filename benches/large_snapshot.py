"""Writes a large memory snapshot, as `torch.cuda.memory._dump_snapshot` writes it.

python benches/large_snapshot.py OUT MEGABYTES [--shared]

PyTorch 2.11 writes each frame of each stack anew. With `--shared`, each frame is written once.
"""

from __future__ import annotations

import argparse
import random
from bisect import bisect_left
from pathlib import Path
from struct import pack
from typing import BinaryIO, NamedTuple

MIB = 2**20
BASE, GAP, LARGE = 0x7F0000000000, 2 * MIB, 20 * MIB
NUM_FRAMES, NUM_STACKS, NUM_LAYERS = 2000, 1500, 400
FUNCTIONS = ("c10::cuda::CUDACachingAllocator::Native::NativeCachingAllocator::malloc(unsigned long, void**)",
             "at::_ops::addmm::call(at::Tensor const&, at::Tensor const&, c10::Scalar const&)",
             "_PyEval_EvalFrameDefault", "forward", "_call_impl", "attention", "mlp", "main")  # fmt: skip


class Allocation(NamedTuple):
    """Memory that the program holds."""

    address: int
    size: int
    block: int
    stack: int


class PickleWriter:
    """Opcodes of protocol 4. Texts are in the memo, as Python puts them there."""

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.length = 0
        self.num_memo = 0
        self._texts: dict[str, bytes] = {}

    def put(self, *parts: bytes) -> None:
        """Writes opcodes."""
        self.length += self.file.write(b"".join(parts))

    def new(self, opcode: bytes) -> bytes:
        """A container that is noted in the memo."""
        self.num_memo += 1
        return opcode + b"\x94"

    def text(self, text: str) -> bytes:
        """A text, or a reference to it."""
        if text in self._texts:
            return self._texts[text]
        self._texts[text] = reference(self.num_memo)
        self.num_memo += 1
        raw = text.encode()
        return b"\x8c" + bytes([len(raw)]) + raw + b"\x94"

    def entries(self, **values: int | str | bytes) -> bytes:
        """Keys and values; bytes are opcodes."""
        return b"".join(self.text(key) + self.value(value) for key, value in values.items())

    def value(self, value: int | str | bytes) -> bytes:
        """A number or a text; bytes are opcodes."""
        if isinstance(value, bytes):
            return value
        return self.text(value) if isinstance(value, str) else number(value)


def reference(place: int) -> bytes:
    """The value at a place of the memo."""
    return b"h" + bytes([place]) if place < 2**8 else b"j" + pack("<I", place)


def number(value: int) -> bytes:
    """An int that is not negative."""
    if value < 2**8:
        return b"K" + bytes([value])
    if value < 2**16:
        return b"M" + pack("<H", value)
    if value < 2**31:
        return b"J" + pack("<i", value)
    raw = value.to_bytes(value.bit_length() // 8 + 1, "little")
    return b"\x8a" + bytes([len(raw)]) + raw


class Recording:
    """A training loop that takes memory for each layer and gives it back."""

    def __init__(self, writer: PickleWriter, stacks: list[tuple[bytes, int]]) -> None:
        self.random = random.Random(0)  # noqa: S311 - no secret
        self.writer = writer
        self.stacks = stacks
        self.time_us = 1_795_782_928_000_000
        self.next = BASE
        self.num_actions = 0
        self.segments: list[tuple[int, int]] = []
        self.free_blocks: dict[int, list[int]] = {}

    def act(self, action: str, address: int, size: int, stack: int) -> None:
        """Writes an entry of `device_traces`."""
        self.time_us += self.random.randint(1, 30)
        self.num_actions += 1
        frames, num_memo = self.stacks[stack]
        head = self.writer.new(b"}") + b"("
        texts = self.writer.entries(action=action, addr=address, size=size, stream=0, time_us=self.time_us,
                                    compile_context="N/A", user_metadata="", frames=frames)  # fmt: skip
        self.writer.num_memo += num_memo
        self.writer.put(head, texts, b"u")

    def take(self, size: int, stack: int) -> Allocation:
        """Takes a free block of this size, or new memory."""
        block = -(-size // 512) * 512
        known = self.free_blocks.get(block)
        if known:
            address = known.pop()
        else:
            end = sum(self.segments[-1]) if self.segments else 0
            if self.next + block > end:
                self.next = end + GAP if end else BASE
                self.segments.append((self.next, max(LARGE, -(-block // GAP) * GAP)))
                self.act("segment_alloc", *self.segments[-1], stack)
            address = self.next
            self.next += block
        self.act("alloc", address, size, stack)
        return Allocation(address, size, block, stack)

    def give_back(self, held: Allocation) -> None:
        """Frees memory."""
        for action in ("free_requested", "free_completed"):
            self.act(action, held.address, held.size, held.stack)
        self.free_blocks.setdefault(held.block, []).append(held.address)

    def loop(self, max_bytes: int) -> list[Allocation]:
        """Iterates until so many bytes are written; every fifth iteration keeps a tensor."""
        sizes = [self.random.choice([4, 16, 64, 256, 1024, 4096]) * 1536 for _ in range(NUM_LAYERS)]
        kept = [self.take(size, at) for at, size in enumerate(sizes[: NUM_LAYERS // 2])]
        iteration = 0
        while self.writer.length < max_bytes:
            held: list[Allocation] = []
            for at, size in enumerate(sizes):
                held.append(self.take(size + self.random.choice([0, 0, 0, 512]), at))
                self.give_back(self.take(size // 3 + 64, NUM_LAYERS + at))
            while held:
                self.give_back(held.pop())
            if iteration % 5 == 0:
                kept.append(self.take(135_168, NUM_STACKS - 1))
            iteration += 1
        return sorted(kept)

    def write_segments(self, held: list[Allocation]) -> None:
        """Writes `segments` with all blocks; held memory is sorted by address."""
        writer = self.writer
        for address, size in self.segments:
            inside = [one for one in held[bisect_left(held, (address,)) :] if one.address < address + size]
            used, requested = sum(one.block for one in inside), sum(one.size for one in inside)
            writer.put(writer.new(b"}"), b"(", writer.entries(
                device=0, address=address, total_size=size, allocated_size=used, active_size=used,
                requested_size=requested, stream=0, segment_type="large", is_expandable=b"\x89",
            ), writer.text("blocks"), writer.new(b"]"), b"(")  # fmt: skip
            at = address
            for one in inside:
                self._block(at, one.address - at, 0, "inactive", None)
                self._block(one.address, one.block, one.size, "active_allocated", one.stack)
                at = one.address + one.block
            self._block(at, address + size - at, 0, "inactive", None)
            writer.put(b"eu")

    def _block(self, address: int, size: int, requested: int, state: str, stack: int | None) -> None:
        if size == 0:
            return
        frames, num_memo = (b"]", 0) if stack is None else self.stacks[stack]
        head = self.writer.new(b"}") + b"("
        texts = self.writer.entries(address=address, size=size, requested_size=requested, state=state, frames=frames)
        self.writer.num_memo += num_memo
        self.writer.put(head, texts, b"u")


def frames_of(writer: PickleWriter) -> list[bytes]:
    """Frames whose texts are all in the memo."""
    frames: list[bytes] = []
    for at in range(NUM_FRAMES):
        file, line = (f"model/layer_{at % 24}.py", 10 + at % 400) if at % 3 == 0 else ("??", 0)
        texts = writer.entries(name=FUNCTIONS[at % len(FUNCTIONS)], filename=file, line=line)
        frames.append(b"}\x94(" + texts + b"u")
    return frames


def write(file: BinaryIO, max_bytes: int, *, is_shared: bool) -> Recording:
    """Writes a snapshot of at least so many bytes."""
    writer = PickleWriter(file)
    writer.put(b"\x80\x04", writer.new(b"}"), b"(")
    # All texts and, if shared, all frames are written before: what follows is references.
    writer.put(writer.text("texts"), writer.new(b"]"), b"(")
    keys = ("name filename line action addr size stream time_us compile_context user_metadata frames alloc N/A "
            "free_requested free_completed segment_alloc device address total_size allocated_size active_size "
            "requested_size segment_type large is_expandable blocks state active_allocated inactive")  # fmt: skip
    texts = [*keys.split(), "", "??", *FUNCTIONS, *(f"model/layer_{at}.py" for at in range(24))]
    writer.put(*(writer.text(text) for text in texts))
    frames = frames_of(writer)
    if is_shared:
        writer.put(*frames)
        frames = [reference(writer.num_memo + at) for at in range(NUM_FRAMES)]
        writer.num_memo += NUM_FRAMES
    chooser = random.Random(1)  # noqa: S311 - no secret
    stacks: list[tuple[bytes, int]] = []
    for _ in range(NUM_STACKS):
        members = chooser.choices(frames, k=chooser.randint(28, 44))
        stacks.append((b"]\x94(" + b"".join(members) + b"e", 1 if is_shared else 1 + len(members)))
    writer.put(b"e", writer.text("device_traces"), writer.new(b"]"), writer.new(b"]"), b"(")
    recording = Recording(writer, stacks)
    held = recording.loop(max_bytes)
    writer.put(b"ea", writer.text("segments"), writer.new(b"]"), b"(")
    recording.write_segments(held)
    writer.put(b"eu.")
    return recording


def main() -> None:
    """Writes the file and says how large it is."""
    parser = argparse.ArgumentParser(description="Writes a large memory snapshot.")
    parser.add_argument("out", type=Path)
    parser.add_argument("megabytes", type=int)
    parser.add_argument("--shared", action="store_true", help="write each frame once")
    args = parser.parse_args()
    with args.out.open("wb") as file:
        recording = write(file, args.megabytes * 10**6, is_shared=args.shared)
    print(f"{recording.num_actions} actions, {recording.writer.length} bytes")


if __name__ == "__main__":
    main()
