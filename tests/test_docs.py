# SPDX-License-Identifier: MIT
"""The documents: links have targets, examples run, and every note, refusal and public name is described."""

from __future__ import annotations

import ast
import json
import re
import runpy
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import ik2bone
import pytest
from ik2bone import hips
from ik2bone.contacts.spans import Marks, Place, Span, read_spans
from ik2bone.notes import WORDS
from ik2bone.reach import EASY, LONGEST_LEAD
from ik2bone.sole.measure import Sole
from ik2bone.sole.skin import Skin

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *DOCS.glob("*.md")])
NAMES = [page.name for page in PAGES]
MESSAGES = (DOCS / "messages.md").read_text(encoding="utf-8")
# The beginnings of calls by which code refuses.
REFUSES = (
    "Refusal(",
    "NoLegs(",
    "self.report({'ERROR'}",
    "cls.poll_message_set(",
    "parser.error(",
    "argparse.ArgumentTypeError(",
)
# Texts that are neither refusals nor notes: arguments with these names, names of stages, and all texts in these files.
QUIET = ("description", "name")
PROGRESS = ("looking at ", "reading ", "writing ", "keeping what ", "planted {} of ")
LABELS = ("ui/", "properties.py", "batch/command.py")


def blocks(page: Path, language: str) -> list[str]:
    """The blocks of code of one language in a page."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.DOTALL | re.MULTILINE)


def anchors(page: Path) -> set[str]:
    """The anchors of a page's headings, as GitHub and MyST make them."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    headings = re.findall(r"^#+ (.*)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken(page: Path) -> Iterator[str]:
    """The links of a page into the repository that have no target."""
    text = re.sub(r"^```.*?^```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL | re.MULTILINE)
    for link in re.findall(r"\]\(([^)\s]+)\)", text):
        if re.match(r"\w+:", link):
            continue
        path, _, anchor = link.partition("#")
        target = (page.parent / path).resolve() if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            yield link


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_links_within_the_repository_lead_somewhere(page):
    assert not list(broken(page))


def test_a_link_that_leads_nowhere_is_found(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# A heading\n[a](#a-heading) [b](page.md) [c](#no-heading) ![d](no.png)\n")
    assert list(broken(page)) == ["#no-heading", "no.png"]


def test_every_page_is_in_the_table_of_contents():
    listed = re.search(r"```\{toctree\}\n:hidden:\n(.*?)```", (DOCS / "index.md").read_text(), re.DOTALL)[1].split()
    assert sorted(listed) == sorted(page.stem for page in DOCS.glob("*.md") if page.stem != "index")


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "python")], ids=lambda page: page.name)
def test_the_python_of_a_page_runs_from_its_top_to_its_end(page, capsys):
    names: dict = {}
    for block in blocks(page, "python"):
        exec(compile(block, page.name, "exec"), names)
    if "plan" in names:
        report = names["plan"].report()
        assert report["before"]["penetration"] > 0.05
        assert report["after"]["penetration"] < 0.001 and report["after"]["float"] < 0.003
        assert "penetration" in capsys.readouterr().out


@pytest.mark.parametrize("page", [page for page in PAGES if blocks(page, "py")], ids=lambda page: page.name)
def test_excerpts_and_python_for_blender_are_python(page):
    """Blocks of `py` need Blender or names from the text, so they are only parsed. Blocks of `python` are run."""
    for block in blocks(page, "py"):
        ast.parse(block)


def keys_of(data: object) -> set[str]:
    """All keys of objects in data, except those of notes, which differ between codes."""
    if isinstance(data, dict):
        return set(data).union(*(keys_of(value) for key, value in data.items() if key not in ("worst", "notes")))
    return set().union(*map(keys_of, data)) if isinstance(data, list) else set()


def test_every_key_of_a_report_is_described():
    names: dict = {}
    exec(blocks(DOCS / "quickstart.md", "python")[0], names)
    described = re.findall(r"^\| (`.*?) \|", (DOCS / "report.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert keys_of(names["plan"].report()) <= set(re.findall(r"`(\w+)`", " ".join(described)))


def test_a_folder_of_reports_is_read_as_the_page_of_the_report_says(tmp_path, monkeypatch, capsys):
    names: dict = {}
    exec(blocks(DOCS / "quickstart.md", "python")[0], names)
    planted = {"actions": [{"action": "walk", "report": names["plan"].report()}]}
    (tmp_path / "planted").mkdir()
    for name, told in (("walk", planted), ("broken", {"actions": [], "error": "there is no file"})):
        (tmp_path / "planted" / f"{name}.json").write_text(json.dumps(told), encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    capsys.readouterr()
    (block,) = blocks(DOCS / "report.md", "py")
    exec(block, {})
    broken, walk = capsys.readouterr().out.splitlines()
    assert broken == "broken; there is no file" and walk.startswith("walk; walk; ")


def test_the_example_of_stored_contacts_can_be_read():
    (text,) = blocks(DOCS / "contacts.md", "json")
    assert [span.state for span in read_spans(json.loads(text))].count("automatic") == 2


def test_commands_name_targets_of_the_makefile():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        named = re.findall(r"`make ([a-z-]+)", text)
        for block in blocks(page, "sh"):
            named += re.findall(r"^(?:\w+=\S+ )*make ([a-z-]+)", block, re.MULTILINE)
        assert set(named) <= targets, page.name


@pytest.mark.parametrize("page", PAGES, ids=NAMES)
def test_no_page_names_a_path_of_a_machine(page):
    assert not re.findall(r"(?<![\w.])/(?:work|home|root|tmp|Users)/\S*", page.read_text(encoding="utf-8"))


def test_every_file_that_a_page_names_exists():
    files = [path for path in ROOT.rglob("*") if not {".venv", ".git", "build"} & set(path.relative_to(ROOT).parts)]
    known = {path.relative_to(ROOT).as_posix() for path in files}
    for page in (DOCS / "architecture.md", DOCS / "mathematics.md", DOCS / "examples.md", ROOT / "CONTRIBUTING.md"):
        for name in re.findall(r"`([\w/]+\.(?:py|c|h|sh|pyi|ipynb))`", page.read_text(encoding="utf-8")):
            assert any(path == name or path.endswith(f"/{name}") for path in known), f"{page.name}: {name}"


def test_constants_that_the_page_on_contributing_names_are_in_the_code():
    named = re.findall(r"`([A-Z][A-Z0-9_]+)`", (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8"))
    files = [path for folder in ("native", "addon", "tests") for path in (ROOT / folder).rglob("*.[hp]*")]
    code = " ".join(path.read_text(encoding="utf-8") for path in files if path.suffix in (".h", ".py"))
    assert named and not [name for name in named if not re.search(rf"\b{name}\b", code)]


def test_every_public_name_is_in_the_reference():
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    described = set(re.findall(r"^\.\. auto\w+:: ik2bone\.(\w+)", text, re.MULTILINE))
    assert set(ik2bone.__all__) - {"report"} <= described


@pytest.mark.parametrize("kind", [Sole, Skin, Marks, Place, Span])
def test_a_class_that_arguments_of_planting_have_to_be_of_is_in_the_reference(kind):
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    members = rf"automodule:: {kind.__module__}\n   :members:.*\b{kind.__name__}\b"
    assert re.search(rf"autoclass:: {kind.__module__}\.{kind.__name__}\n|{members}", text)


def test_functions_of_the_extension_tell_shapes_in_their_docstrings():
    for name in ("solve", "orient", "solve_pose", "aggregate", "pole_of", "hinge_of", "multiply"):
        assert "(...," in getattr(ik2bone, name).__doc__, name


def test_help_begins_with_what_a_newcomer_does():
    first = ik2bone.__doc__[:700]
    assert "Clip.from_points" in first and "ik2bone.plant(" in first and "plan.apply(clip)" in first


def test_help_names_the_modules_for_use_among_those_that_it_lists():
    text = (DOCS / "api.md").read_text(encoding="utf-8")
    (sentence,) = re.findall(r"the modules (.*?) are for use", ik2bone.__doc__, re.DOTALL)
    for name in re.findall(r"`([\w.]+)`", sentence):
        assert f":: ik2bone.{name}" in text, name
        import_module(f"ik2bone.{name}")


def as_pattern(template: str) -> str:
    """A regular expression for a template's text in a line, with any text in place of the placeholders {}."""
    parts = (part.strip() for part in template.split("{}"))
    return ".*?".join(re.escape(part) for part in parts if re.search(r"\w", part))


def template_of(node: ast.AST) -> str:
    """The text of a literal, with {} for the parts of an f-string that are filled in; empty for other nodes."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(part.value if isinstance(part, ast.Constant) else "{}" for part in node.values)
    return ""


def is_quiet(node: ast.AST) -> bool:
    """Whether texts in a part of the code are no messages but docstrings, descriptions, labels or names of stages."""
    if isinstance(node, ast.Expr):
        return isinstance(node.value, ast.Constant)
    if isinstance(node, ast.Call):
        return getattr(node.func, "id", "").endswith(("Property", "Progress"))
    if isinstance(node, ast.Assign):
        return any(getattr(target, "id", "").startswith("bl_") for target in node.targets)
    return isinstance(node, ast.keyword) and node.arg in QUIET


def sentences(node: ast.AST) -> Iterator[str]:
    """The messages of four words and more in code."""
    if is_quiet(node):
        return
    text = template_of(node)
    if len(text.split()) >= 4:
        yield text
    if not isinstance(node, ast.JoinedStr):
        for child in ast.iter_child_nodes(node):
            yield from sentences(child)


def refusals(node: ast.AST) -> Iterator[str]:
    """The texts of refusals in code, and those that say why an operator cannot run."""
    for call in ast.walk(node):
        if isinstance(call, ast.Call) and ast.unparse(call).startswith(REFUSES):
            yield from (template_of(argument) for argument in call.args if template_of(argument).strip("{}"))


def undescribed(texts: Iterator[str]) -> list[str]:
    """The texts that are on no line of the page of messages."""
    lines = MESSAGES.splitlines()
    return [text for text in texts if not any(re.search(as_pattern(text), line) for line in lines)]


def sources() -> list[Path]:
    """The files of the add-on."""
    return sorted((ROOT / "addon").rglob("*.py"))


def test_every_note_of_planting_is_described_by_its_code():
    rows = dict(re.findall(r"^\| `(\w+)` \| (.*?) \|", MESSAGES, re.MULTILINE))
    assert rows.keys() == WORDS.keys()
    for code, words in WORDS.items():
        assert rows[code] == re.sub(r"\{.*?\}", "…", words)


@pytest.mark.parametrize("path", sources(), ids=lambda path: path.relative_to(ROOT / "addon").as_posix())
def test_every_refusal_of_the_addon_is_described(path):
    assert not undescribed(refusals(ast.parse(path.read_text(encoding="utf-8"))))


def test_every_note_of_the_addon_is_described():
    texts = []
    for path in sources():
        if not path.relative_to(ROOT / "addon").as_posix().startswith(LABELS):
            found = sentences(ast.parse(path.read_text(encoding="utf-8")))
            texts += [text for text in found if not text.startswith(PROGRESS)]
    assert not undescribed(iter(texts))


def test_every_message_that_is_described_is_one_of_the_code():
    trees = [ast.parse(path.read_text(encoding="utf-8")) for path in sources()]
    texts = {template_of(node) for tree in trees for node in ast.walk(tree)}
    known = [as_pattern(text) for text in texts if len(re.findall("[a-z]{2,}", text)) > 1]
    rows = re.findall(r"^\| ([^`|].*?) \|", MESSAGES, re.MULTILINE)
    stale = [row for row in rows if not any(re.search(pattern, row) for pattern in known)]
    assert sorted(set(stale)) == ["code", "message", "note"]


@pytest.mark.parametrize(
    ("functions", "ending"),
    [(["trouble"], "so no key can be set"), (["trouble_beyond", "_trouble_of_cut"], "so it cannot be cut at frame")],
)
def test_each_refusal_of_an_f_curve_has_its_own_clauses(functions, ending):
    (row,) = re.findall(rf"^\| (.*?, {ending}.*?) \|", MESSAGES, re.MULTILINE)
    tree = ast.parse((ROOT / "addon" / "keys" / "fcurves.py").read_text(encoding="utf-8"))
    found = [node for node in tree.body if isinstance(node, ast.FunctionDef) and node.name in functions]
    # The first statement of a function is its docstring.
    nodes = [node for function in found for statement in function.body[1:] for node in ast.walk(statement)]
    clauses = {template_of(node).removesuffix("{}") for node in nodes if " " in template_of(node)}
    assert all(clause.strip() in row for clause in clauses) and len(clauses) == len(row.split(" / "))


def test_an_undescribed_refusal_is_found():
    code = ast.parse('raise Refusal(f"{name} wears no shoes")')
    assert undescribed(refusals(code)) == ["{} wears no shoes"]


def test_every_term_of_the_glossary_is_used_elsewhere():
    rows = re.findall(r"^\| (\*\*.*?) \|", (DOCS / "glossary.md").read_text(encoding="utf-8"), re.MULTILINE)
    others = " ".join(page.read_text(encoding="utf-8") for page in PAGES if page.stem != "glossary").lower()
    for term in (term.lower() for row in rows for term in re.findall(r"\*\*(.*?)\*\*", row)):
        assert re.search(rf"\b{term}", others), term


def test_the_mathematics_has_the_numbers_of_the_code():
    text = (DOCS / "mathematics.md").read_text(encoding="utf-8")
    heel, shift = f"in the last {LONGEST_LEAD} and", f"(1/{1 / hips.PRICE:g})^2"
    time = f"$\\tau = {hips.SLOW}$ s"
    for words in (time, shift, f"at least {EASY} of the leg", heel):
        assert words in text, words


def test_the_table_of_presets_has_every_preset():
    text = (DOCS / "guide.md").read_text(encoding="utf-8")
    table = re.search(r"^\| preset \|.*?\n\n", text, re.DOTALL | re.MULTILINE)[0]
    files = {path.stem for path in (ROOT / "addon" / "presets" / "ik2bone").glob("*.py")}
    assert {name.replace(" ", "_") for name in re.findall(r"^\| \*(.*?)\*", table, re.MULTILINE)} == files


def test_the_figures_of_the_mathematics_are_drawn_by_their_script(tmp_path):
    pytest.importorskip("matplotlib")
    runpy.run_path(str(DOCS / "figures.py"))["draw_all"](tmp_path)
    shown = re.findall(r"images/(math_\w+\.svg)", (DOCS / "mathematics.md").read_text(encoding="utf-8"))
    assert sorted(shown) == sorted(path.name for path in tmp_path.iterdir())
