"""Twenty values that must be found nowhere: secrets that users enter, and tokens that a provider gives."""

from __future__ import annotations

import random
import string

_LONG = "".join(random.Random(7).choices(string.ascii_letters + string.digits + "+/=%&\"'\\ ", k=4094))

SECRETS = {
    "plain": "c4n4ry-0001-abcdef",
    "quotes": "c4n4ry\"0002'`\\back\\\\slash",
    "unicode": "c4n4ry-κλειδί-ü🔑-0003",
    "two characters": "¤ʘ",
    "binary": "\x01\x02\x7f\x80ÿ\x1b[31m\x05-0005",
    "json": '{"c4n4ry": ["v", 6], "\\u0000": null}',
    "url": "c4n4ry=1&b=2?c#d e+f/g:h@i;0007",
    "4 KiB": f"<{_LONG}>",
    "base64": "c4n4ry/ab+cd/0009==",
    "percent": "c4n4ry%2500%252e%2e-0010",
    "escapes": "c4n4ry\\u00e9\\n\\x41\\\\0011",
    "html, padded": "  <b>c4n4ry&amp;'0012</b>  ",
}
"""What each of twelve users enters as a key."""

TOKENS = {
    f"{kind} {n} of {user}": f"c4n4ry.{kind[:1]}{n}{user}/+=~%2B_\"'-{'x' * 20}"
    for user in ("ann", "ben")
    for n in (1, 2)
    for kind in ("access", "refresh")
}
"""Two users connect an account; each gets a pair of tokens, which is refreshed once."""

CANARIES = {**SECRETS, **TOKENS}

CONTROL = "pl4nted-c0ntr0l"
"""Put into every sink on purpose: a scan that does not find it there would find nothing."""
