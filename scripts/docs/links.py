"""MkDocs hook: links between files of the repository become links between pages of the site.

A link to a file that is no page leads to the repository.
"""

from __future__ import annotations

import posixpath
import re
from typing import Any

ROOT_PAGES = {
    "ARCHITECTURE.md": "internals/architecture.md",
    "CHANGELOG.md": "internals/changelog.md",
    "CONTRIBUTING.md": "internals/contributing.md",
    "SECURITY.md": "internals/security.md",
    "README.md": "index.md",
}
"""Page of each document in the root."""

_LINK = re.compile(r"(?<=\]\()(?P<path>[^)#\s:]+)(?P<rest>#[^)\s]*)?(?=\))")
_FENCE = re.compile(r"^( *)(`{3,}|~{3,}).*?^\1\2[ ]*$", re.MULTILINE | re.DOTALL)


def page_of(path: str) -> str | None:
    """Page that shows a file of the repository, as a path below docs; None if there is none."""
    if path in ROOT_PAGES:
        return ROOT_PAGES[path]
    if path.startswith("notebooks/") and path.endswith(".ipynb"):
        return f"tutorials/{posixpath.basename(path).removesuffix('.ipynb')}.md"
    return path.removeprefix("docs/") if path.startswith("docs/") else None


def source_of(page: str) -> str:
    """File of the repository that a page shows: the opposite of `page_of`."""
    sources = {shown: path for path, shown in ROOT_PAGES.items() if path != "README.md"}
    if page.startswith("tutorials/") and page != "tutorials/index.md":
        return f"notebooks/{posixpath.basename(page).removesuffix('.md')}.ipynb"
    return sources.get(page, f"docs/{page}")


def relinked(markdown: str, page: str, repository: str) -> str:
    """Returns the Markdown of a page with links that work on the site. Code stays."""
    folder = posixpath.dirname(source_of(page))

    def link(match: re.Match[str]) -> str:
        path = posixpath.normpath(posixpath.join(folder, match["path"]))
        target = page_of(path)
        if target is None:
            return f"{repository}/blob/main/{path}{match['rest'] or ''}"
        return posixpath.relpath(target, posixpath.dirname(page) or ".") + (match["rest"] or "")

    parts: list[str] = []
    end = 0
    for fence in _FENCE.finditer(markdown):
        parts += [_LINK.sub(link, markdown[end : fence.start()]), fence[0]]
        end = fence.end()
    return "".join([*parts, _LINK.sub(link, markdown[end:])])


def on_page_markdown(markdown: str, page: Any, config: Any, **_: Any) -> str:
    """Rewrites the links of a page. MkDocs calls it."""
    return relinked(markdown, page.file.src_uri, config.extra["repository"].rstrip("/"))
