"""The layers of the package, as they are: every import in src/yourcall is read, wherever it stands.

A file imports from its own layer and from those below it, and there are no circles. Relative imports, imports
inside functions and imports for types only count like any other.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[1] / "src" / "yourcall"

ROOT = "yourcall"
"""The public names, gathered: a user of the layers up to 8, and what 9 may import."""

LAYERS: dict[str, float] = {
    "errors": 1, "entries": 1, "tasks": 1, "values": 1, "classes": 1, "texts": 1, "hosts": 1, "sizes": 1,
    "words": 1, "wording": 1, "awaiting": 1, "scrub": 1, "log": 1,
    "trim": 1,
    "asks": 2, "faults": 2, "questions": 2, "forms": 2, "upload": 2, "choose": 2, "confirm": 2, "secret": 2,
    "connect": 2, "visit": 2, "events": 2,
    "ports": 3, "credentials": 3, "upkeep": 3,
    "context": 4, "effects": 4, "consent": 4, "needs": 4, "decisions": 4, "tools": 4, "replay": 4, "record": 4,
    "agent": 5, "loop": 5,
    "addressed": 6, "answers": 6, "secret_answer": 6, "visits": 6, "files": 6, "follow": 6, "runs": 6,
    "answering": 6, "engine": 6, "checking": 6,
    "store": 7, "vault": 7, "bus": 7, "blobs": 7, "models": 7, "oauth": 7,
    "open": 7.5,
    "asker": 8, "agui": 8, "testing": 8, "adapters": 8, ROOT: 8.5,
    "web": 9, "serve": 9, "existing": 9, "keys_cli": 9, "db_cli": 9, "cli": 9,
}  # fmt: skip

IMPLEMENTATIONS = 7
OPENERS = {"agent", "engine"}
"""The one exception: their constructors resolve strings such as `sqlite:///coach.db`, so they import `open` lazily."""

CORE_LIBRARIES = {"pydantic", "pydantic_core", "annotated_types", "anyio", "typing_extensions"}
"""All that layers 1 to 6 need from outside; no web framework, no driver, no provider's SDK."""

ONLY_IN = {
    "ag_ui": {"agui"},
    "aiosqlite": {"store"},
    "anthropic": {"models"},
    "fastapi": {"web"},
    "httpx2": {"models", "oauth"},
    "itsdangerous": {"web"},
    "openai": {"models"},
    "pydantic_ai": {"models"},
    "starlette": {"web", "serve"},
    "cryptography": {"vault"},
    "authlib": {"oauth"},
    "joserfc": {"oauth"},
    "PIL": {"blobs"},
    "puremagic": {"blobs"},
    "psycopg": {"store"},
    "redis": {"bus"},
    "psycopg_pool": {"store"},
    "uvicorn": {"serve"},
}
"""Who knows what: a library that is named here is imported nowhere else."""

STRANGERS = {
    "loop": {"questions", "forms", "choose", "confirm", "store", "bus", "models", "asker"},
    "engine": {"questions", "forms", "choose", "confirm", "store", "models", "asker"},
    "answering": {"questions", "forms", "choose", "confirm", "store", "models", "asker"},
    "store": {"asks", "questions", "forms"},
    "bus": {"asks", "questions", "forms"},
    "web": {"loop", "record", "replay", "store"},
}
"""Downward imports that are refused all the same: the loop knows no concrete ask, the web no way past the engine."""


@dataclass(frozen=True)
class Import:
    """One import statement: `part` is the top module or package of ours that it stands in."""

    file: str
    line: int
    part: str
    module: str
    target: str
    lazy: bool

    @property
    def ours(self) -> bool:
        return self.target.split(".")[0] == ROOT

    @property
    def target_part(self) -> str:
        return part_of(self.target)

    @property
    def opens(self) -> bool:
        return self.lazy and self.part in OPENERS and self.target_part == "open"

    def __str__(self) -> str:
        return f"{self.file}:{self.line} imports {self.target}"


def part_of(module: str) -> str:
    names = module.split(".")
    return names[1] if len(names) > 1 else ROOT


def modules(source: Path) -> dict[str, Path]:
    """Dotted names of all modules, by their files."""
    found = {}
    for path in sorted(source.rglob("*.py")):
        names = [ROOT, *path.relative_to(source).with_suffix("").parts]
        found[".".join(names[:-1] if names[-1] == "__init__" else names)] = path
    return found


def imports(source: Path) -> Iterator[Import]:
    known = modules(source)
    for module, path in known.items():
        tree = ast.parse(path.read_text(encoding="utf-8"), str(path))
        inside = {
            id(node)
            for outer in ast.walk(tree)
            if isinstance(outer, ast.FunctionDef | ast.AsyncFunctionDef)
            for node in ast.walk(outer)
        }
        package = module if path.stem == "__init__" else module.rpartition(".")[0]
        for node in ast.walk(tree):
            for target in targets(node, package, known):
                name = path.relative_to(source).as_posix()
                yield Import(name, node.lineno, part_of(module), module, target, id(node) in inside)  # type: ignore[attr-defined]  # an import has a line


def targets(node: ast.AST, package: str, known: dict[str, Path]) -> Iterator[str]:
    """What a statement imports: a module of ours is named itself, also where it is imported from its package."""
    if isinstance(node, ast.Import):
        yield from (alias.name for alias in node.names)
    elif isinstance(node, ast.ImportFrom):
        base = node.module or ""
        if node.level:
            above = package.split(".")[: len(package.split(".")) - node.level + 1]
            base = ".".join([*above, base] if base else above)
        for alias in node.names:
            inner = f"{base}.{alias.name}"
            yield inner if inner in known else base


ALL = tuple(imports(SOURCE))


def test_every_module_has_a_layer() -> None:
    """A new file gets a place in the table before it is imported anywhere."""
    assert {part_of(module) for module in modules(SOURCE)} <= set(LAYERS)


def test_imports_go_downwards() -> None:
    """A layer knows nothing of what is built on it."""
    upward = [i for i in ALL if i.ours and not i.opens and LAYERS[i.target_part] > LAYERS[i.part]]
    assert not upward, "\n".join(map(str, upward))


def test_implementations_know_only_the_protocols() -> None:
    """A store, a bus or a model could be written by anybody: it sees layers 1 to 3, and itself."""
    nosy = [
        i
        for i in ALL
        if i.ours and LAYERS[i.part] == IMPLEMENTATIONS and i.target_part != i.part and LAYERS[i.target_part] > 3
    ]
    assert not nosy, "\n".join(map(str, nosy))


def test_there_are_no_circles() -> None:
    """Within a layer, too, every file can be read after those that it imports."""
    graph: dict[str, set[str]] = {}
    for one in ALL:
        if one.ours and not one.opens and one.target != one.module:
            graph.setdefault(one.module, set()).add(one.target)
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as circle:
        pytest.fail(" <- ".join(circle.args[1]))


def test_the_core_needs_no_framework() -> None:
    """Layers 1 to 6 run with pydantic and anyio alone."""
    allowed = CORE_LIBRARIES | sys.stdlib_module_names
    foreign = [
        i for i in ALL if not i.ours and LAYERS[i.part] < IMPLEMENTATIONS and i.target.split(".")[0] not in allowed
    ]
    assert not foreign, "\n".join(map(str, foreign))


def test_one_place_for_each_library() -> None:
    """What speaks a foreign protocol is found in one place, and can be replaced there."""
    leaks = [i for i in ALL if i.part not in ONLY_IN.get(i.target.split(".")[0], {i.part})]
    assert not leaks, "\n".join(map(str, leaks))


def test_strangers_stay_strangers() -> None:
    """Some downward imports would tie what must stay apart."""
    met = [i for i in ALL if i.ours and i.target_part in STRANGERS.get(i.part, ())]
    assert not met, "\n".join(map(str, met))


def test_the_reader_sees_every_kind_of_import(tmp_path: Path) -> None:
    """The other tests are worth nothing if an import can hide: each way to write one is found."""
    (tmp_path / "store").mkdir()
    (tmp_path / "__init__.py").touch()
    (tmp_path / "store" / "__init__.py").touch()
    (tmp_path / "log.py").touch()
    (tmp_path / "store" / "sqlite.py").write_text(
        "import yourcall.log\n"
        "from yourcall import log\n"
        "from .. import log\n"
        "from ..log import phase\n"
        "from . import sqlite\n"
        "if TYPE_CHECKING:\n"
        "    from yourcall.log import Log\n"
        "async def late():\n"
        "    import yourcall.log as quietly\n"
    )
    found = [(i.line, i.target, i.lazy) for i in imports(tmp_path)]
    assert found == [
        (1, "yourcall.log", False),
        (2, "yourcall.log", False),
        (3, "yourcall.log", False),
        (4, "yourcall.log", False),
        (5, "yourcall.store.sqlite", False),
        (7, "yourcall.log", False),
        (9, "yourcall.log", True),
    ]
