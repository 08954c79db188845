"""Changes to JSON values and to bytes that files of strangers might have."""

from __future__ import annotations

import copy
import json
import random
from collections.abc import Callable
from typing import Any

Change = Callable[[random.Random, Any, str | int, list[tuple[Any, str | int]]], None]

NUMBERS = (
    *("0", "-0", "-1", "1", "7", "0.5", "1e-320", "1e15", "1e308", "-1e308", "1e400"),
    *(f"{sign}{number + offset}" for sign in ("", "-") for number in (1 << 31, 1 << 32, 1 << 53) for offset in (-1, 0)),
    *(f"{sign}{number + offset}" for sign in ("", "-") for number in (1 << 63, 1 << 64) for offset in (-1, 0, 1)),
    *("9223372036854775.807", "-9223372036854775.808", "9223372036854775", "NaN", "Infinity", "-Infinity", "1" * 5000),
)
TEXTS = (
    *("", " ", "0", "-1", "1e308", "0x7fff", "nan", "[]", "{}", "[0, 1]", "[[", "ProfilerStep#", "ProfilerStep#-1"),
    *(
        "ProfilerStep#99999999999999999999",
        "\x00",
        "\x1b[31m",
        "\u202e",
        "\ufeff",
        "𝕜" * 40,
        "a\nb\r",
        "<script>",
        "&amp;",
    ),
    *("/mnt/a.py(1): f", "nn.Module: ", "nccl:", "##", "a" * 70_000, "void f<" + "g<" * 300, "_ZN" + "9" * 60),
)
RAW_STRINGS = (
    rb'"\ud800"',
    rb'"\ude00\ud83d"',
    b'"\xff\xfe"',
    b'"\xc0\x80"',
    b'"\xed\xa0\x80"',
    rb'"\u0000"',
    rb'"\x"',
)
DEPTHS = (3, 120, 130, 1000, 100_000)


class Raw(bytes):
    """A JSON value that is written as it is."""

    __slots__ = ()

    def __deepcopy__(self, _: object) -> Raw:
        return self


def nested(depth: int) -> Raw:
    return Raw(b"[" * depth + b"]" * depth)


def written(value: Any) -> bytes:
    """The value as JSON; a dictionary repeats the keys of which it has several values."""
    if isinstance(value, Raw):
        return bytes(value)
    if isinstance(value, dict):
        pairs = [
            (key, each) for key, found in value.items() for each in (found if type(found) is Repeated else [found])
        ]
        return b"{" + b",".join(json.dumps(key).encode() + b":" + written(each) for key, each in pairs) + b"}"
    if isinstance(value, list):
        return b"[" + b",".join(map(written, value)) + b"]"
    return json.dumps(value).encode()


class Repeated(list[Any]):
    """Several values of one key."""


def places(value: Any) -> list[tuple[Any, str | int]]:
    """All containers with the keys of their values."""
    found: list[tuple[Any, str | int]] = []
    rest = [value]
    while rest:
        container = rest.pop()
        keys: Any = container if isinstance(container, dict) else range(len(container))
        for key in keys:
            found.append((container, key))
            if isinstance(container[key], dict | list):
                rest.append(container[key])
    return found


# --- changes to one place -------------------------------------------------------------------------


def drop(_: random.Random, container: Any, key: str | int, __: object) -> None:
    del container[key]


def set_odd(dice: random.Random, container: Any, key: str | int, _: object) -> None:
    numbers = [Raw(number.encode()) for number in NUMBERS]
    odd: list[Any] = [dice.choice(numbers), dice.choice(TEXTS), Raw(dice.choice(RAW_STRINGS)), str(container[key])]
    container[key] = dice.choice([*odd, None, True, [], {}, [container[key]], {"a": container[key]}])


def set_number(dice: random.Random, container: Any, key: str | int, _: object) -> None:
    number = container[key]
    if isinstance(number, int | float) and dice.random() < 0.6:
        container[key] = dice.choice(
            [-number, number + 1, number - 1, number * 1000, number / 2, str(number), number * 2]
        )
    else:
        container[key] = Raw(dice.choice(NUMBERS).encode())


def set_text(dice: random.Random, container: Any, key: str | int, _: object) -> None:
    container[key] = dice.choice(TEXTS)


def nest(dice: random.Random, container: Any, key: str | int, _: object) -> None:
    container[key] = nested(dice.choice(DEPTHS))


def repeat_key(dice: random.Random, container: Any, key: str | int, all_places: list[tuple[Any, str | int]]) -> None:
    if isinstance(container, dict) and type(container[key]) is not Repeated:
        other, where = dice.choice(all_places)
        container[key] = Repeated([container[key], copy.deepcopy(other[where])])


def rename_key(dice: random.Random, container: Any, key: str | int, all_places: list[tuple[Any, str | int]]) -> None:
    names = [name for _, name in dice.choices(all_places, k=8) if isinstance(name, str)]
    if isinstance(container, dict):
        container[dice.choice([*names, "", "a" * 300])] = container.pop(key)


def take_value(dice: random.Random, container: Any, key: str | int, all_places: list[tuple[Any, str | int]]) -> None:
    """Takes the value of another place, of the same key where there is one: so ids are repeated."""
    same = [(other, name) for other, name in all_places if name == key and other is not container]
    other, name = dice.choice(same if same and dice.random() < 0.8 else all_places)
    if name in other if isinstance(other, dict) else int(name) < len(other):
        container[key] = copy.deepcopy(other[name])


def set_everywhere(
    dice: random.Random, container: Any, key: str | int, all_places: list[tuple[Any, str | int]]
) -> None:
    """Gives one value to all that have this key."""
    value = dice.choice([container[key], Raw(dice.choice(NUMBERS).encode()), dice.choice(TEXTS)])
    for other, name in all_places:
        if name == key and isinstance(other, dict) and key in other:
            other[key] = copy.deepcopy(value)


def rearrange(dice: random.Random, container: Any, key: str | int, _: object) -> None:
    values = container[key]
    if isinstance(container, list):
        where = dice.randrange(len(container) + 1)
        container.insert(where, copy.deepcopy(values))
    elif isinstance(values, list):
        dice.choice([dice.shuffle, list.reverse, lambda them: them.extend(copy.deepcopy(them))])(values)


CHANGES: tuple[Change, ...] = (
    *(drop, set_odd, set_odd, set_number, set_number, set_number, set_text, nest),
    *(repeat_key, rename_key, take_value, take_value, take_value, set_everywhere, rearrange, rearrange),
)


def mutated(dice: random.Random, value: Any) -> Any:
    """The value with one to eight changes."""
    holder = [copy.deepcopy(value)]
    for _ in range(dice.choice([1, 1, 2, 3, 5, 8])):
        all_places = places(holder)
        # Of shallow places there are few, and of deep ones many.
        container, key = dice.choice(all_places[: dice.choice([8, 200, len(all_places)])])
        dice.choice(CHANGES)(dice, container, key, all_places)
        if not holder:
            return []
    return holder[0]


# --- changes to bytes -----------------------------------------------------------------------------


def damaged(dice: random.Random, content: bytes) -> bytes:
    """The bytes with one to four flips, cuts, copies or extreme numbers."""
    changed = bytearray(content)
    for _ in range(dice.choice([1, 1, 2, 4])):
        where, length = dice.randrange(len(changed) + 1), dice.choice([1, 2, 4, 8, 64, 512])
        kind = dice.randrange(7)
        if kind == 0:
            del changed[where:]
        elif kind == 1:
            del changed[where : where + length]
        elif kind == 2:
            start = dice.randrange(len(changed) + 1)
            changed[where:where] = changed[start : start + length]
        elif kind == 3:
            start = dice.randrange(len(changed) + 1)
            changed[where : where + length] = changed[start : start + length]
        elif kind == 4:
            changed[where : where + length] = bytes([dice.choice([0, 0xFF, 0x7F, 0x80])]) * length
        elif changed:
            where = min(where, len(changed) - 1)
            changed[where] = dice.randrange(256) if kind == 5 else changed[where] ^ (1 << dice.randrange(8))
    return bytes(changed)
