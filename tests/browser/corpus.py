"""Texts that a model, or whoever speaks through it, may try to pass off as something else than text."""

from __future__ import annotations

from typing import Final

ELSEWHERE: Final = "https://elsewhere.invalid"
"""A site that no page may ever talk to."""

HOSTILE: Final = (
    "<script>document.title='pwned'</script>",
    f"<img src={ELSEWHERE}/pixel.png onerror=alert(1)>",
    f"![beacon]({ELSEWHERE}/beacon.png)",
    "[click](javascript:alert(1)) javascript:alert(1)",
    f"<a href='{ELSEWHERE}'>sign in</a> {ELSEWHERE}/login",
    f"<iframe srcdoc='<script>alert(1)</script>'></iframe><link rel=stylesheet href={ELSEWHERE}/x.css>",
    "<svg onload=alert(1)></svg><style>*{display:none}</style>",
    "</p></form><form action=/steal><input name=key><button>Send</button>",
    "**bold** # heading | a | b | `code` $x^2$ {{7*7}} ${7*7}",
    "&lt;b&gt; &amp; &#x3C;script&#x3E; \\u003cscript\\u003e",
)

_TAGS: Final = """
    script img iframe svg object embed video audio link style base meta form input button a math template b x-y
""".split()
_FORMS: Final = (
    "<{tag} {n} src={site}/{n}>",
    "<{tag} {n} onload=alert({n}) onerror=alert({n}) onfocus=alert({n}) autofocus>",
    "<{tag} {n} href=javascript:alert({n})>x</{tag}>",
    '"><{tag} {n} style=background:url({site}/{n})>',
    "</label></fieldset><{tag} {n} action={site} srcdoc=<script>alert({n})</script>",
    "&lt;{tag} {n}&gt; <!-- <{tag}> --> <![CDATA[<{tag}>]]>",
    "[{tag} {n}](javascript:alert({n})) ![{n}]({site}/{tag}.png)",
    "<{tag} {n} data-pointer=/answers/0 class=yc-error hidden>",
    "`<{tag} {n}>` **{n}** <{tag}/{n}>",
    "%3C{tag}%20{n}%3E \\u003c{tag} {n}\\u003e &#60;{tag}&#62;",
)
LABELS: Final = tuple(
    form.format(tag=tag, n=n, site=ELSEWHERE)
    for n, (tag, form) in enumerate((tag, form) for tag in _TAGS for form in _FORMS)
)
"""Two hundred of them, all different."""
