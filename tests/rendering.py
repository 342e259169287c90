"""Markdown as GitHub's own parser renders it, and what GitHub makes live afterwards."""

import re
from html.parser import HTMLParser

import cmarkgfm  # type: ignore[import-untyped]
from cmarkgfm.cmark import Options  # type: ignore[import-untyped]

# What GitHub makes live in text, beyond what its Markdown parser does.
LIVE = re.compile(
    r"@[a-z0-9]|#[0-9]|(?<![0-9a-z])gh-[0-9]|://|(?<![a-z0-9])www\.|:[a-z0-9_+-]+:|\$"
    r"|(?<![0-9a-z])[0-9a-f]{7,40}(?![0-9a-z])",
    re.IGNORECASE | re.ASCII,
)


class Page(HTMLParser):
    """The elements of a rendered page, its text without code, and the text of each code span."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.elements: list[str] = []
        self.text = ""
        self.code: list[str] = []
        self._in_code = False
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append(tag)
        self.elements += [f"{tag} {name}" for name, _ in attrs]
        if tag == "code":
            self._in_code = True
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        self._in_code = self._in_code and tag != "code"

    def handle_comment(self, data: str) -> None:  # noqa: ARG002
        self.elements.append("comment")

    def handle_data(self, data: str) -> None:
        if self._in_code:
            self.code[-1] += data
        else:
            self.text += data


def page(source: str) -> Page:
    """`source` as GitHub's parser renders it, footnotes on, and HTML let through so that none can hide."""
    options = Options.CMARK_OPT_FOOTNOTES | Options.CMARK_OPT_UNSAFE
    return Page(cmarkgfm.github_flavored_markdown_to_html(source, options))
