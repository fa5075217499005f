"""Stand-ins for Hevy and for Google, in one small server on a loopback port: so the coach runs offline.

The provider of accounts is the package `oidc-provider-mock`: whoever signs in there is believed. Beside it stand the
two APIs, as far as the coach asks them. A key of Hevy's is anything that begins with `hevy-`; Google Health
takes the tokens that the provider has issued, and no others. Every page says that it is a stand-in.
"""

from __future__ import annotations

import logging
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Any, Final, TypeAlias
from urllib.parse import urlencode

import flask
import jinja2
from werkzeug.serving import BaseWSGIServer, make_server

with warnings.catch_warnings(record=True):  # it imports a module that its own library is about to give up,
    warnings.simplefilter("ignore")  # and which insists on saying so
    import oidc_provider_mock

PEOPLE: Final = {"alex@example.com": "Alex", "sam@example.com": "Sam"}
WORKOUTS: Final = (
    (2, "Upper body", (("Bench Press (Barbell)", 8, (60, 62.5, 62.5)), ("Seated Cable Row", 10, (45, 45, 45)))),
    (4, "Lower body", (("Squat (Barbell)", 5, (80, 85, 85)), ("Romanian Deadlift", 8, (70, 70)))),
    (9, "Upper body", (("Bench Press (Barbell)", 8, (60, 60, 60)), ("Overhead Press", 6, (35, 35, 35)))),
    (11, "Lower body", (("Squat (Barbell)", 5, (80, 80, 82.5)),)),
    (23, "Whole body", (("Squat (Barbell)", 5, (75, 75, 75)), ("Bench Press (Barbell)", 8, (55, 57.5)))),
)
"""Days ago, a title, and exercises with their repetitions and kilograms."""
NIGHTS: Final = (412, 451, 386, 437, 470, 401, 358, 444, 463, 420, 395, 440, 455, 431)
"""Minutes asleep, last night first."""


PAGE: Final = """<!doctype html><html lang="en"><meta name="viewport" content="width=device-width">
<title>A stand-in for Google</title>
<style>
  :root { color-scheme: light dark; font: 1rem/1.5 system-ui, sans-serif }
  body { max-width: 26rem; margin: 3rem auto; padding: 0 1rem }
  button { display: block; width: 100%; margin: .6rem 0; padding: .7rem; font: inherit }
</style>
<h1>A stand-in for Google</h1>
{% block content %}{% endblock %}</html>"""
SIGN_IN: Final = """{% extends "_base.html" %}{% block content %}
<p>Your coach would like to see how you slept. Nobody has to prove anything here: say who you are, or no.</p>
<form method="post">
  {% for sub in predefined_users %}<button name="sub" value="{{ sub }}">I am {{ sub }}</button>{% endfor %}
  <button name="action" value="deny">No, do not allow it</button>
</form>{% endblock %}"""
"""In place of the package's own pages, which say other things and fetch their looks from the network."""

Accepts: TypeAlias = Callable[[str], bool]
"""Whether a bearer token is one that the provider has given."""


@contextmanager
def serving(remembered: Path, accepts: Accepts | None = None) -> Iterator[str]:
    """The server's address while the context lasts. The port is kept in a file: a sign-in outlives a restart.

    `accepts` looks at tokens where another provider gives them.
    """
    logging.getLogger("werkzeug").setLevel(logging.WARNING)  # its requests show codes and states
    server = _server(remembered, _app(accepts or _given_here))
    remembered.write_text(str(server.server_port))
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.1}, daemon=True)
    thread.start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _server(remembered: Path, app: flask.Flask) -> BaseWSGIServer:
    try:
        return make_server("localhost", int(remembered.read_text()), app, threaded=True)
    except (OSError, ValueError, SystemExit):  # a first start, or somebody else has it now
        return make_server("localhost", 0, app, threaded=True)


def _app(accepts: Accepts) -> flask.Flask:
    users = [oidc_provider_mock.User(sub=sub, claims={"email": sub, "name": name}) for sub, name in PEOPLE.items()]
    app: flask.Flask = oidc_provider_mock.app(user_claims=users)
    app.debug = False
    pages = jinja2.DictLoader({"_base.html": PAGE, "authorization_form.html": SIGN_IN})
    app.jinja_loader = jinja2.ChoiceLoader([pages, app.jinja_loader or pages])
    app.add_url_rule("/v1/workouts", view_func=_workouts)
    app.add_url_rule("/v4/users/me/dataTypes/sleep/dataPoints", view_func=_nights, defaults={"accepts": accepts})
    app.after_request(_with_state)
    return app


def _with_state(response: flask.Response) -> flask.Response:
    """A no must name its `state`, too (RFC 6749, section 4.1.2.1), which the package forgets."""
    state = flask.request.args.get("state")
    if state and response.location and "error=" in response.location and "state=" not in response.location:
        response.location += f"&{urlencode({'state': state})}"
    return response


def _given_here(token: str) -> bool:
    headers = {"Authorization": f"Bearer {token}"}
    return flask.current_app.test_client().get("/userinfo", headers=headers).status_code == 200


def _workouts() -> Any:
    if not flask.request.headers.get("api-key", "").startswith("hevy-"):
        return {"error": "Invalid api key"}, 401
    page, size = flask.request.args.get("page", 1, int), flask.request.args.get("pageSize", 5, int)
    shown = WORKOUTS[(page - 1) * size : page * size]
    return {"page": page, "page_count": -(-len(WORKOUTS) // size), "workouts": [_workout(*one) for one in shown]}


def _workout(days: int, title: str, exercises: tuple[tuple[str, int, tuple[float, ...]], ...]) -> dict[str, Any]:
    start = datetime.combine(date.today() - timedelta(days=days), time(18), UTC)
    return {
        "title": title,
        "start_time": start.isoformat(),
        "exercises": [
            {"title": name, "sets": [{"reps": reps, "weight_kg": weight} for weight in weights]}
            for name, reps, weights in exercises
        ],
    }


def _nights(accepts: Accepts) -> Any:
    if not accepts(flask.request.headers.get("Authorization", "").removeprefix("Bearer ")):
        return {"error": {"code": 401, "status": "UNAUTHENTICATED"}}, 401
    count = min(flask.request.args.get("pageSize", 25, int), len(NIGHTS))
    return {"dataPoints": [_night(ago, minutes) for ago, minutes in enumerate(NIGHTS[:count])]}


def _night(ago: int, minutes: int) -> dict[str, Any]:
    end = datetime.combine(date.today() - timedelta(days=ago), time(7), UTC)
    interval = {"startTime": (end - timedelta(minutes=minutes + 22)).isoformat(), "endTime": end.isoformat()}
    return {"sleep": {"interval": interval, "summary": {"minutesAsleep": str(minutes)}}}
