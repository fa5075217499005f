"""nginx as `deploy/nginx.conf` says, before servers of the tests' own."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import socket
import subprocess
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

CONFIG = Path(__file__).parents[1] / "deploy" / "nginx.conf"
BINARY = shutil.which("nginx", path=f"{os.environ['PATH']}:/usr/sbin") or "nginx"


@contextlib.contextmanager
def nginx(folder: Path, upstreams: Sequence[int]) -> Iterator[str]:
    """Its address while the context lasts. Only ports and places of the shipped file are changed."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    config = _with_upstreams(CONFIG.read_text(), upstreams)
    for old, new in (
        ("listen 80;", f"listen 127.0.0.1:{port};"),
        ("/var/log/nginx/yourcall.log", f"{folder}/access.log"),
    ):
        assert config.count(old) == 1, old
        config = config.replace(old, new)
    path = folder / "nginx.conf"
    path.write_text(f"daemon off; pid {folder}/nginx.pid; error_log {folder}/error.log;\n{config}")
    command = [BINARY, "-p", str(folder), "-e", f"{folder}/error.log", "-c", str(path)]
    with subprocess.Popen(command) as process:
        try:
            _until_it_listens(process, port)
            yield f"http://127.0.0.1:{port}"
        finally:
            process.terminate()


def _with_upstreams(config: str, ports: Sequence[int]) -> str:
    """As many as there are, each as the shipped file has its first one."""
    first, *_ = found = re.findall(r"^ +server 127\.0\.0\.1:\d+ .*\n", config, re.MULTILINE)
    shipped = "".join(found)
    assert config.count(shipped) == 1
    return config.replace(shipped, "".join(re.sub(r":\d+", f":{port}", first) for port in ports))


def _until_it_listens(process: subprocess.Popen[bytes], port: int) -> None:
    while process.poll() is None:
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port)):
            return
        time.sleep(0.01)
    raise RuntimeError("nginx did not start")
