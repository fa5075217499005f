"""A replica is served as docs/scaling.md prints it, and stops as the page says."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import httpx

from tests.browser.stage import ROOT, until
from tests.docs.pages import DOCS, blocks

APP = """
from itertools import repeat

from yourcall import Agent, Engine
from yourcall.testing import ScriptedModel
from yourcall.web import create_app

model = ScriptedModel(repeat("word " * 10_000), delay=0.05)
engine = Engine(Agent(model), "sqlite:///chat.db")
app = create_app(engine, user=lambda: "ada")
engine.drain = lambda: type(engine).drain(engine, 1)  # seconds: else as it is
"""


def test_a_replica_drains(tmp_path: Path) -> None:
    """While a model speaks, SIGTERM makes it unready at once; then the stream ends properly, and the process."""
    (served,) = [block.text for block in blocks((DOCS / "scaling.md").read_text("utf-8")) if block.language == "python"]
    (tmp_path / "app.py").write_text(APP, encoding="utf-8")
    place = '("127.0.0.1", 8000)) as listener:'
    assert place in served
    named = served.replace(place, '("127.0.0.1", 0)) as listener:\n    print(listener.getsockname()[1], flush=True)')
    (tmp_path / "replica.py").write_text(named, encoding="utf-8")
    env = os.environ | {"PYTHONPATH": f"{tmp_path}:{ROOT / 'src'}"}
    with subprocess.Popen([sys.executable, "replica.py"], cwd=tmp_path, env=env, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            with httpx.Client(base_url=f"http://127.0.0.1:{int(process.stdout.readline())}", timeout=60) as client:
                until(lambda: client.get("/readyz").is_success)
                client.post("/conversations", json={"id": "c"})
                client.post("/conversations/c/messages", json={"text": "go"})
                with client.stream("GET", "/conversations/c/events") as stream:
                    pieces = stream.iter_text()
                    while "CONTENT" not in next(pieces):
                        pass
                    process.send_signal(signal.SIGTERM)
                    until(lambda: client.get("/readyz").status_code == 503)
                    for _ in pieces:  # to its end, which is no broken connection
                        pass
                assert process.wait(60) in (0, -signal.SIGTERM)
        finally:
            process.kill()
