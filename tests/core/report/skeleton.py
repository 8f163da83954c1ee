"""What a page is made of, as a parser sees it that runs nothing."""

from __future__ import annotations

import base64
import re
from collections import Counter
from hashlib import sha256
from html.parser import HTMLParser

ALLOWED = """
html head meta title style body a header p span b h1 h2 h3 h4 dl div dt dd main section ul li svg rect line code
select option form label input button nav article noscript footer script
table thead tbody tr th td wbr
"""


class Skeleton(HTMLParser):
    """Counts what a page is made of: elements with the names of their attributes, and where links lead."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.parts: Counter[tuple[str, ...]] = Counter()
        self.links: set[str] = set()
        self.texts: list[str] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.parts[(tag, *sorted(name for name, _ in attrs))] += 1
        self.links |= {value or "" for name, value in attrs if name in ("href", "src", "action", "srcset", "data")}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


def check_policy(page: str) -> None:
    """A page lets its own script and its own style run, by their digests, and nothing else."""
    (policy,) = re.findall(r'http-equiv="Content-Security-Policy" content="([^"]*)"', page)
    (style,) = re.findall("<style>(.*?)</style>", page, re.DOTALL)
    (script,) = re.findall("<script>(.*?)</script>", page, re.DOTALL)
    digests = [base64.b64encode(sha256(text.encode()).digest()).decode() for text in (script, style)]
    assert policy.replace("&#x27;", "'") == (
        f"default-src 'none'; script-src 'sha256-{digests[0]}'; style-src 'sha256-{digests[1]}'; base-uri 'none'; "
        "form-action 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
    )
