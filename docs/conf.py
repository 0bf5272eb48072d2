"""Configuration of the documentation site."""

import contextlib
import html
import importlib
import inspect
import io
import os
import re
import sys
import textwrap
import tomllib
from pathlib import Path

from docutils import nodes
from docutils.utils.math.latex2mathml import tex2mathml
from numpydoc import docscrape_sphinx
from sphinx.util.nodes import make_refnode

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
sys.path.insert(0, str(HERE))

import api_pages  # noqa: E402
import bench_page  # noqa: E402
import notebooks  # noqa: E402

import skdptext  # noqa: E402
from skdptext.cli import main  # noqa: E402

project = "skdptext"
author = "The skdptext developers"
copyright = f"{author}, BSD 3-Clause License"
release = version = skdptext.__version__
URLS = tomllib.loads((HERE.parent / "pyproject.toml").read_text("utf-8"))["project"][
    "urls"
]

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.linkcode",
    "numpydoc",
    "sphinx_design",
    "myst_nb",
]
nb_execution_mode = "off"  # the site shows what was reviewed
nb_merge_streams = True
nb_code_prompt_show = nb_code_prompt_hide = "Code"
exclude_patterns = ["_build"]
templates_path = ["_templates"]
root_doc = "index"
default_role = "py:obj"

# The build needs no network. The hosted site has links into other projects' sites.
HOSTED = os.environ.get("READTHEDOCS") == "True"
CANONICAL = os.environ.get("READTHEDOCS_CANONICAL_URL")
if HOSTED:
    extensions.append("sphinx.ext.intersphinx")
    intersphinx_mapping = {
        "python": ("https://docs.python.org/3", None),
        "numpy": ("https://numpy.org/doc/stable", None),
        "scipy": ("https://docs.scipy.org/doc/scipy", None),
        "sklearn": ("https://scikit-learn.org/stable", None),
    }

# -- API pages: a page per subpackage, and one per name in its __all__ ----------
autosummary_generate = True
autosummary_context = {
    "results": {f"skdptext.{page}": names for page, names in api_pages.RESULTS.items()},
    "notebooks": notebooks.using(),
}
autosummary_imported_members = True
autosummary_ignore_module_all = False
toc_object_entries_show_parents = "hide"  # "fit()" is enough on the page of its class
autodoc_typehints = "none"  # numpydoc sections give the types, with shapes
# autodoc lists the members itself; numpydoc would list them a second time.
numpydoc_show_class_members = False

# It compiles its template for each docstring unless all share one environment.
_shared, _environment = {}, docscrape_sphinx.SandboxedEnvironment
docscrape_sphinx.SandboxedEnvironment = lambda loader: (
    _shared.get(type(loader))
    or _shared.setdefault(type(loader), _environment(loader=loader))
)

# In the order of use.
COMMANDS = ("calibrate", "key", "release", "verify", "report", "learn")
# Public name to its subpackage; filled with the API's index.
ROOM_OF = {}

# -- Site ----------------------------------------------------------------------
html_theme = "pydata_sphinx_theme"
html_title = f"skdptext {release}"
html_static_path = ["_static"]
html_css_files = ["skdptext.css"]
html_js_files = ["copy.js"]
html_math_renderer = "mathml"  # below; MathJax would need a network to read the site
html_logo = "_static/logo.svg"
html_favicon = "_static/favicon.svg"
html_theme_options = {
    "logo": {"text": "skdptext", "alt_text": "skdptext: home"},
    "icon_links": [
        {
            "name": "Repository",
            "url": URLS["Repository"],
            "icon": "fa-solid fa-code-branch",
        }
    ],
    "header_links_before_dropdown": 7,
    "navbar_persistent": ["search-button"],
    "show_prev_next": True,
    "show_toc_level": 2,
    "secondary_sidebar_items": ["page-toc", "edit-this-page", "sourcelink"],
    "use_edit_page_button": True,
    "footer_end": [],
}
html_copy_source = True
_user, _repo = URLS["Repository"].split("/")[-2:]
html_context = {
    "github_user": _user,
    "github_repo": _repo,
    "github_version": "main",
    "doc_path": "docs",
}
if HOSTED:  # a page that is opened from a disk cannot load the list of versions
    html_theme_options |= {
        "switcher": {
            "json_url": f"{URLS['Homepage']}en/latest/_static/versions.json",
            "version_match": os.environ.get("READTHEDOCS_VERSION", "latest"),
        },
        "check_switcher": False,
        "navbar_end": ["version-switcher", "theme-switcher", "navbar-icon-links"],
    }


def linkcode_resolve(domain, info):
    """Where the source of a name is, in the repository."""
    found = sys.modules.get(info["module"])
    for part in info["fullname"].split("."):
        found = getattr(found, part, None)
    found = inspect.unwrap(getattr(found, "fget", None) or found) if found else None
    try:
        lines, first = inspect.getsourcelines(found)
        path = Path(inspect.getsourcefile(found)).relative_to(HERE.parent)
    except (TypeError, OSError, ValueError):  # a plain value, or from elsewhere
        return None
    last = first + len(lines) - 1
    return f"{URLS['Repository']}/blob/main/{path.as_posix()}#L{first}-L{last}"


def _own_members_only(app, what, name, obj, skip, options):
    """Leave out what a class has from scikit-learn or Python, not from skdptext."""
    function = getattr(obj, "fget", None) or inspect.unwrap(obj)
    function = getattr(function, "__func__", function)
    # Methods of built-in types have the module None, plain values have none at all.
    home = getattr(function, "__module__", None) or ""
    foreign = callable(function) and not home.startswith("skdptext")
    return True if foreign or re.fullmatch(r"set_\w+_request", name) else None


def _link_public_name(app, env, node, contnode):
    """`DPWordPerturber` is skdptext.perturbation.DPWordPerturber, in any docstring."""
    name, dot, member = node["reftarget"].removeprefix("skdptext.").partition(".")
    full = f"{ROOM_OF.get(name)}.{name}{dot}{member}"
    entry = env.domains.python_domain.objects.get(full)
    if node.get("refdomain") != "py" or entry is None:
        return None
    to = entry.docname, entry.node_id
    return make_refnode(app.builder, node["refdoc"], *to, contnode, full)


def _write_api_names(app):
    """The public names of each room with their summaries, for the API's index."""
    lines = []
    for room in api_pages.rooms():
        module = importlib.import_module(f"skdptext.{room}")
        lines += [room, "-" * len(room), "", inspect.getdoc(module).splitlines()[0], ""]
        lines += [".. autosummary::", "   :nosignatures:", ""]
        names = api_pages.names(room)
        lines += [f"   ~skdptext.{room}.{name}" for name in names]
        lines.append("")
        ROOM_OF.update(dict.fromkeys(names, f"skdptext.{room}"))
    for shown in api_pages.others():
        room, name = shown.split(".")
        ROOM_OF[name] = f"skdptext.{room}"
    api_pages.write(HERE / "api" / "names.txt", "\n".join(lines))


def _write_commands(app):
    """The help of every command, as it is printed."""
    parts = []
    for command in ("", *COMMANDS):
        out = io.StringIO()
        with contextlib.redirect_stdout(out), contextlib.suppress(SystemExit):
            main([*command.split(), "--help"])
        if command:
            parts += [f"skdptext {command}", "-" * (9 + len(command)), ""]
        parts += [".. code-block:: text", "", textwrap.indent(out.getvalue(), "   ")]
    api_pages.write(HERE / "reference" / "commands.txt", "\n".join(parts))


# What docstrings write as a character, as TeX.
TEX = str.maketrans({"‖": r"\|", "⟨": r"\langle ", "⟩": r"\rangle "})


def _visit_math(translator, node):
    """Formulas as MathML, which browsers draw; an unknown command is an error."""
    tex = node.astext().translate(TEX)
    block = isinstance(node, nodes.math_block)
    formula = tex2mathml(tex, as_block=block)
    translator.body.append(
        f'<div class="formula">{formula}</div>' if block else formula
    )
    raise nodes.SkipNode


def _complete(app, page, template, context, doctree):
    """What messengers show of a page, and where its source is; some pages are made."""
    tags = context.get("metatags") or ""
    said = re.search(r'<meta content="([^"]*)" name="description"', tags)
    if said and "og:title" not in tags:
        title = re.sub("<[^>]+>", "", context["title"])
        shown = {"title": f"{title} - {project}", "description": said[1]}
        shown |= {"type": "article", "site_name": project}
        for name, value in shown.items():
            tags += f'<meta property="og:{name}" content="{value}" />\n'
    if page == "404" and CANONICAL:  # a server shows it at any depth
        tags += f'<base href="{html.escape(CANONICAL)}404.html" />\n'
    context["metatags"] = tags
    if page.startswith("notebooks/"):
        context["edit_page_url_template"] = (
            f"{URLS['Repository']}/blob/main/examples/{{{{ file_name[10:] }}}}"
        )
    elif page.startswith("api/generated/"):
        context["page_source_suffix"] = ""  # no link


def _keep_together(app, doctree):
    """No line ends within λ = 0 or ε = 1."""
    prose = nodes.paragraph | nodes.strong | nodes.emphasis | nodes.caption
    for text in list(doctree.findall(nodes.Text)):
        if isinstance(text.parent, prose):
            said = re.sub(
                r"\b(\w) = (?=[\d∞])", "\\1\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}", text
            )
            if said != text:
                text.parent.replace(text, nodes.Text(said))


def setup(app):
    app.add_html_math_renderer("mathml", (_visit_math, None), (_visit_math, None))
    app.connect("builder-inited", _write_api_names)
    app.connect("builder-inited", _write_commands)
    app.connect("builder-inited", bench_page.write)
    app.connect("builder-inited", notebooks.write)
    app.connect("html-page-context", _complete)
    app.connect("doctree-read", _keep_together)
    app.connect("autodoc-skip-member", _own_members_only)
    app.connect("missing-reference", _link_public_name)
