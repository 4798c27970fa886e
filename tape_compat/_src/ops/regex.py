"""Regular expressions in RE2's syntax, by Python's `re`."""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator

#: POSIX classes, as they stand in a bracket.
_CLASSES = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "ascii": "\\x00-\\x7F",
    "blank": "\\t ",
    "cntrl": "\\x00-\\x1F\\x7F",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": "!-/:-@\\[-`{-~",
    "space": "\\t\\n\\v\\f\\r ",
    "upper": "A-Z",
    "word": "0-9A-Za-z_",
    "xdigit": "0-9A-Fa-f",
}
_POSIX = re.compile(r"\[:(\^?)(\w+):\]")
#: What Python's `re` has another meaning for, or none.
_ESCAPES = re.compile(r"\\(.)", re.DOTALL)


@functools.lru_cache(maxsize=256)
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern of RE2's as one of Python's.

    Raises: ValueError with RE2's reason for a pattern that is none; NotImplementedError for classes
      of Unicode, \\p.

    >>> compiled("[[:digit:]]+").fullmatch("12").group()
    '12'
    """

    def posix(match: re.Match[str]) -> str:
        if match[2] not in _CLASSES or match[1]:
            raise ValueError(f"invalid character class range: {match[0]}")
        return _CLASSES[match[2]]

    def escape(match: re.Match[str]) -> str:
        letter = match[1]
        if letter in "pPCQ":
            raise NotImplementedError(f"\\{letter} in a regular expression is not built yet")
        if letter == "z":
            return "\\Z"
        if letter.isalnum() and letter not in "dDsSwWbBAZntrfvaxu01234567":
            raise ValueError(f"invalid escape sequence: \\{letter}")
        return match[0]

    try:
        text = _ESCAPES.sub(escape, _POSIX.sub(posix, pattern))
        return re.compile(_single_brackets(text), re.ASCII)
    except re.error as error:
        raise ValueError(_reason(error, pattern)) from None


def _single_brackets(text: str) -> str:
    """Brackets inside of brackets escaped, which Python would warn of."""
    out, inside, i = [], False, 0
    while i < len(text):
        letter = text[i]
        if letter == "\\":
            out.append(text[i : i + 2])
            i += 2
            continue
        if inside:
            if letter == "[":
                letter = "\\["
            elif letter == "]":
                inside = False
        elif letter == "[":
            inside = True
            end = re.match(r"\[\^?\]?", text[i:])
            assert end is not None
            letter = end[0].replace("]", "\\]")
            i += len(end[0]) - 1
        out.append(letter)
        i += 1
    return "".join(out)


def _reason(error: re.error, pattern: str) -> str:
    if "unterminated subpattern" in error.msg:
        return f"missing ): {pattern}"
    if "unbalanced parenthesis" in error.msg:
        return f"unexpected ): {pattern}"
    if "unterminated character set" in error.msg:
        return f"missing ]: {pattern[error.pos or 0 :]}"
    if "nothing to repeat" in error.msg:
        return f"no argument for repetition operator: {pattern[error.pos or 0 :]}"
    return error.msg


def as_text(data: bytes) -> str:
    """Bytes as characters; those that are no UTF-8 stand for themselves."""
    return data.decode("utf-8", "surrogateescape")


def as_bytes(text: str) -> bytes:
    """The inverse of `as_text`."""
    return text.encode("utf-8", "surrogateescape")


def replaced(pattern: re.Pattern[str], text: str, rewrite: str, everywhere: bool) -> str:
    """The matches of a pattern replaced as RE2 does: in `rewrite`, \\1 stands for a group. A
    rewrite that names a group that is not there changes nothing."""
    plain = "\\" not in rewrite
    groups = [] if plain else [int(n) for n in re.findall(r"\\(\d)", rewrite)]
    if groups and max(groups) > pattern.groups:
        return text
    out, end = [], 0
    for match in _matches(pattern, text):
        out += [text[end : match.start()], rewrite if plain else _rewritten(match, rewrite)]
        end = match.end()
        if not everywhere:
            break
    return "".join([*out, text[end:]])


def _matches(pattern: re.Pattern[str], text: str) -> Iterator[re.Match[str]]:
    """What RE2 finds: where it finds nothing right after a match, it goes on from the next letter.
    Python looks there for a match that is not empty, which a lazy pattern has: `a*?`."""
    at, last = 0, -1
    while at <= len(text) and (match := pattern.search(text, at)) is not None:
        if match.start() == match.end() == last:
            at += 1
        else:
            yield match
            at = last = match.end()


def _rewritten(match: re.Match[str], rewrite: str) -> str:
    def group(found: re.Match[str]) -> str:
        return (match[int(found[1])] or "") if found[1].isdigit() else found[1]

    return re.sub(r"\\(.)", group, rewrite, flags=re.DOTALL)
