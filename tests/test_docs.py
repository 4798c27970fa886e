"""The code blocks of README.md and docs/ run, and print what they say."""

import ast
import doctest
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
BLOCK = re.compile(r"^```(python|text|sh)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def _blocks(page: Path) -> list[tuple[str, int, str]]:
    """(language, first line, text) of each fenced block."""
    source = page.read_text()
    return [
        (found[1], source.count("\n", 0, found.start()) + 1, found[2])
        for found in BLOCK.finditer(source)
    ]


def _sessions() -> list:
    """Pages with interactive blocks; the blocks of a page share their names, as in reading."""
    return [
        pytest.param(page, id=page.name)
        for page in PAGES
        if any(">>>" in text for language, _, text in _blocks(page) if language == "python")
    ]


@pytest.mark.parametrize("page", _sessions())
def test_sessions(page):
    names: dict = {}
    report: list[str] = []
    ran = 0
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for language, line, text in _blocks(page):
        if language != "python" or ">>>" not in text:
            continue
        test = doctest.DocTestParser().get_doctest(text, names, page.name, str(page), line)
        runner = doctest.DocTestRunner(optionflags=flags)
        ran += runner.run(test, out=report.append, clear_globs=False).attempted
        names = test.globs
    assert not report, "".join(report)
    assert ran


def test_readme_program(capsys):
    blocks = _blocks(ROOT / "README.md")
    (program,) = [text for language, _, text in blocks if language == "python"]
    (output,) = [text for language, _, text in blocks if language == "text"]
    exec(compile(program, "README.md", "exec"), {})
    assert capsys.readouterr().out == output


def test_readme_commands_name_what_exists():
    commands = [text for language, _, text in _blocks(ROOT / "README.md") if language == "sh"]
    assert len(commands) == 2
    for command in commands:
        assert command.count("\n") == 1, "a command is one line"
    extras = (ROOT / "pyproject.toml").read_text()
    for extra in re.findall(r"\.\[([a-z,]+)\]", "".join(commands)):
        for name in extra.split(","):
            assert re.search(rf"^{name} = \[", extras, re.MULTILINE), name
    assert (ROOT / "examples/train_digits.py").is_file()
    assert (ROOT / "tests/__main__.py").is_file()


@pytest.mark.parametrize("page", [pytest.param(page, id=page.name) for page in PAGES])
def test_links(page):
    for target in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
        assert (page.parent / target).exists(), target


#: Methods that recorders, rules and steps of the host share; see `ThreadState`, `PythonStep`.
_SHARED = {"record", "escaped", "variable_accessed", "pull", "as_closure", "find_spec", "followed"}


def _public_functions() -> Iterator[tuple[str, ast.FunctionDef]]:
    """The functions and methods of the package without an underscore, and `__init__`."""
    for file in sorted((ROOT / "tape_compat").rglob("*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.ClassDef) and node.name.startswith("_"):
                continue
            for part in node.body if isinstance(node, ast.ClassDef) else [node]:
                if (
                    isinstance(part, ast.FunctionDef)
                    and part.name not in _SHARED
                    and (part.name == "__init__" or not part.name.startswith("_"))
                ):
                    yield f"{file.name}:{part.lineno} {part.name}", part


def _unused_arguments(function: ast.FunctionDef) -> set[str]:
    if isinstance(function.body[-1], (ast.Raise, ast.Expr)) and len(function.body) <= 2:
        return set()  # says that there is no such thing, or nothing to do
    arguments = function.args
    names = {a.arg for a in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)}
    nodes = [node for part in function.body for node in ast.walk(part)]
    used = {node.id for node in nodes if isinstance(node, ast.Name)}
    return {name for name in names - used - {"self", "cls"} if not name.startswith("_")}


def test_arguments_without_effect_are_listed():
    page = (ROOT / "docs" / "differences.md").read_text()
    section = page.split("## Arguments without effect")[1].split("\n## ")[0]
    listed = {name for row in section.splitlines() for name in re.findall(r"`(\w+)`", row)}
    functions = list(_public_functions())
    unused = {place: _unused_arguments(f) - listed for place, f in functions}
    assert not {place: names for place, names in unused.items() if names}
    assert len(functions) > 300
    assert _unused_arguments(ast.parse("def f(a, b):\n    return a").body[0]) == {"b"}
