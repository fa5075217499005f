"""The command `yourcall`: the demo, an engine of your own behind the stand-alone chat page, the keys of a vault, and
a store's upkeep.

The first two serve people without an account, told apart by a signed cookie. That is safe among the people of one
computer and nowhere else, so only loopback addresses are served: an app for others mounts the router on its own
FastAPI app and says who its users are.
"""

from __future__ import annotations

import argparse
import errno
import importlib
import os
import secrets
import socket
import sys
import threading
import webbrowser
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any, Final

from yourcall import db_cli, keys_cli
from yourcall.errors import Busy, NewerLog, ProgrammingError
from yourcall.hosts import is_loopback

if TYPE_CHECKING:
    from yourcall.engine import Engine


DEMO_MODELS: Final = {"ANTHROPIC_API_KEY": "anthropic:claude-sonnet-5", "OPENAI_API_KEY": "openai-responses:gpt-5"}
"""By the key that is set: the model that the demo's coach speaks through."""


class Refusal(Exception):
    """What was asked for on the command line cannot be done; the text says what can."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command; returns the exit status."""
    args = _parser().parse_args(argv)
    try:
        match args.command:
            case "demo":
                _demo(args)
            case "serve":
                _serve(args)
            case "db":
                return db_cli.run(args, _load)
            case _:
                keys_cli.run(args)
    except (Refusal, ProgrammingError, NewerLog, Busy) as refusal:
        print(f"yourcall: {refusal}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:  # raised again by the server once it has shut down
        return 130
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="yourcall", description="Interactive tools for LLM agents.")
    parser.add_argument("--version", action="version", version=_version())
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")

    demo = commands.add_parser("demo", help="chat with the example coach; needs no key and no account")
    _listening(demo, data=".yourcall-demo")
    demo.add_argument(
        "--model",
        help="a provider's model, such as anthropic:claude-sonnet-5 (default: by the key that is set, or none)",
    )
    demo.add_argument("--open", action="store_true", help="open the page in the browser")

    serve = commands.add_parser("serve", help="chat with an agent of your own on this computer")
    serve.add_argument("engine", metavar="MODULE:ENGINE", help="where your Engine is, for instance app:engine")
    _listening(serve, data=".yourcall")

    keys_cli.add_to(commands)
    db_cli.add_to(commands)
    return parser


def _version() -> str:
    try:
        return f"yourcall {version('yourcall')}"
    except PackageNotFoundError:
        return "yourcall, not installed: run from its source"


def _listening(parser: argparse.ArgumentParser, *, data: str) -> None:
    parser.add_argument("--host", default="127.0.0.1", help="a loopback address (default: %(default)s)")
    parser.add_argument("--port", type=_port, default=8000, help="default: %(default)s; 0 takes any free one")
    parser.add_argument("--data", type=Path, default=Path(data), help="folder for what is kept (default: %(default)s)")


def _port(text: str) -> int:
    if not text.isascii() or not text.isdigit() or int(text) > 65535:
        raise argparse.ArgumentTypeError(f"{text!r} is not a port: a number from 0 to 65535")
    return int(text)


# --------------------------------------------------------------------------- the two commands


def _demo(args: argparse.Namespace) -> None:
    listener = _listen(args.host, args.port)
    folder = _folder(args.data)
    coach = _coach()
    model = args.model or _keyed()
    with _services(coach, folder) as services:
        options = {"public_url": _url(listener)}
        with _sealing(folder):
            try:
                engine = coach.build(folder, services, model=model, **options)
            except ProgrammingError as error:
                if args.model:
                    raise
                print(f"{error} Until then the coach is a stand-in.")
                model, engine = None, coach.build(folder, services, **options)
        print(f"Conversations are kept in {folder}; delete the folder to start anew.")
        print(f"The coach speaks through {model}." if model else "The coach is a stand-in for a language model.")
        for name in services.stand_ins:
            print(f"{name} is a stand-in.")
        notice = coach.notice(services, model)
        _run(
            engine, listener, folder, title=coach.TITLE, notice=notice, suggestions=coach.SUGGESTIONS,
            browser=args.open,
        )  # fmt: skip


@contextmanager
def _services(coach: ModuleType, folder: Path) -> Iterator[Any]:
    """What the coach connects to."""
    with ExitStack() as stack:
        try:
            services = stack.enter_context(coach.Services.opened(folder, os.environ))
        except ModuleNotFoundError as missing:
            raise Refusal(f"{missing.name} is not installed: pip install 'yourcall[web,demo]'") from None
        yield services


def _keyed() -> str | None:
    """The model of the provider whose key is set."""
    return next((model for key, model in DEMO_MODELS.items() if os.environ.get(key)), None)


def _serve(args: argparse.Namespace) -> None:
    listener = _listen(args.host, args.port)
    folder = _folder(args.data)
    with _sealing(folder):
        engine = _load(args.engine)
    _run(engine, listener, folder, title=args.engine, access_log=True)


def _coach() -> ModuleType:
    """The example, which is no part of the package: in a clone it is in `examples`, a wheel brings a copy of it."""
    clone = Path(__file__).parents[2] / "examples"
    wheel = Path(__file__).parents[1] / "yourcall_examples"
    sys.path.insert(0, str(clone if (clone / "coach").is_dir() else wheel))
    return importlib.import_module("coach")


def _load(target: str) -> Engine:
    from yourcall.engine import Engine

    module, _, name = target.partition(":")
    if not module or not name:
        raise Refusal(f"{target!r} does not say where the engine is: MODULE:ENGINE, for instance app:engine")
    sys.path.insert(0, os.getcwd())
    try:
        found = getattr(importlib.import_module(module), name, None)
    except ModuleNotFoundError as missing:
        if not f"{module}.".startswith(f"{missing.name}."):
            raise
        raise Refusal(f"there is no module {module!r} here or among the installed packages") from None
    if not isinstance(found, Engine):
        raise Refusal(f"{target} is no yourcall.Engine")
    return found


# --------------------------------------------------------------------------- what is kept


def _folder(path: Path) -> Path:
    try:
        path.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as error:
        raise Refusal(f"the folder {path} cannot be made: {error.strerror}") from None
    return path


def _secret(folder: Path) -> bytes:
    """The key that signs the cookies: made once, readable by its owner only."""
    path = folder / "cookie-secret"
    with suppress(FileExistsError), open(path, "x", encoding="ascii", opener=_private) as file:
        file.write(secrets.token_hex(32))
    secret = path.read_text(encoding="ascii")
    if len(secret) < 64:  # cut off while it was written; a short key would be guessable
        raise Refusal(f"{path} is incomplete. Delete it; who has chatted before will then start anew.")
    return secret.encode()


@contextmanager
def _sealing(folder: Path) -> Iterator[None]:
    """While an engine is made: if the environment has no keys for its vault, they are in a file in the folder."""
    from yourcall.vault import KEY_FILE, KeyFile, keys_of_environment

    if keys_of_environment().active is not None:
        yield
        return
    os.environ[KEY_FILE] = str(KeyFile.make(folder / "vault-keys").path)
    try:
        yield
    finally:
        del os.environ[KEY_FILE]


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


# --------------------------------------------------------------------------- serving


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens, before anything else is made: then the reason for a refusal is the first thing said."""
    if not is_loopback(host):
        raise Refusal(
            f"{host} can be reached from other computers, and this page knows its users by a cookie only. To serve "
            "them, mount yourcall.web.create_router(engine, user=...) on your FastAPI app: user= says who asks."
        )
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listener = socket.create_server((host, port), family=family, backlog=1024)
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            raise Refusal(f"port {port} is in use. Choose another: --port {port + 1}") from None
        raise Refusal(f"cannot listen on {host} port {port}: {error.strerror}") from None
    # asyncio does so for sockets of its own; without, each answer waits for the reader's delayed acknowledgement
    listener.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listener


def _run(
    engine: Engine,
    listener: socket.socket,
    folder: Path,
    *,
    title: str,
    notice: str | None = None,
    suggestions: Sequence[str] = (),
    browser: bool = False,
    access_log: bool = False,
) -> None:
    try:
        from yourcall.serve import run
        from yourcall.web import create_app
    except ModuleNotFoundError as missing:
        raise Refusal(f"{missing.name} is not installed: pip install 'yourcall[web]'") from None
    app = create_app(engine, title=title, notice=notice, suggestions=suggestions, secret=_secret(folder))
    url = _url(listener)
    print(f"{title}: {url}  (Ctrl+C stops it)", flush=True)
    if browser and _has_screen():
        threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()
    run(app, listener, engine.drain, access_log=access_log)


def _url(listener: socket.socket) -> str:
    host, port = listener.getsockname()[:2]
    return f"http://[{host}]:{port}/" if ":" in host else f"http://{host}:{port}/"


def _has_screen() -> bool:
    """Whether a browser would open beside the terminal, and not in it."""
    if os.environ.get("CI"):
        return False
    return sys.platform in ("darwin", "win32") or any(map(os.environ.get, ("DISPLAY", "WAYLAND_DISPLAY")))


if __name__ == "__main__":
    sys.exit(main())
