"""The coach, served by `yourcall serve tests.browser.coach_app:engine`, with the services that the test names."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Final

from coach import Services, build

FOLDER: Final = Path(os.environ["YOURCALL_SCENE"])
SERVICES: Final = Services(**json.loads(os.environ["YOURCALL_SERVICES"]))

engine = build(FOLDER, SERVICES, public_url=os.environ["YOURCALL_SCENE_URL"])
