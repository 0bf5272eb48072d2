"""Every public docstring passes numpydoc's validation, as scikit-learn's own do."""

from __future__ import annotations

import inspect
import operator

import pytest
from numpydoc.validate import validate

import skdptext
from tests.public_calls import RESULTS, api_pages

# What scikit-learn's own test leaves out: form of the return type, blank lines.
NEVER = {"RT02", "GL01", "GL02"}
# Of a class only: an extended summary, See Also, examples.
CLASS_ONLY = {"ES01", "SA01", "EX01"}
# Nobody calls the constructor of what only the library makes, or of an exception.
MADE_FOR_US = {"PR01", *CLASS_ONLY}


def public_names():
    """Class or function, and member or None, of all that the site shows."""
    pages = api_pages()
    shown = [f"{room}.{name}" for room in pages.rooms() for name in pages.names(room)]
    for path in [*shown, *pages.others()]:
        value = operator.attrgetter(path)(skdptext)
        if value.__module__.startswith("skdptext"):
            yield value, None
            if inspect.isclass(value):
                for member in vars(value):
                    attribute = inspect.getattr_static(value, member)
                    shown = callable(getattr(value, member)) or isinstance(
                        attribute, property
                    )
                    shown = shown and not inspect.isclass(attribute)
                    # One without a docstring has that of the method it overrides.
                    own = getattr(attribute, "__doc__", None) or not any(
                        hasattr(base, member) for base in value.__mro__[1:]
                    )
                    if not member.startswith("_") and shown and own:
                        yield value, member


def wrong(value, member):
    """The errors of a docstring that count."""
    path = f"{value.__module__}.{value.__qualname__}"
    errors = validate(path if member is None else f"{path}.{member}")["errors"]
    is_property = member is not None and isinstance(
        inspect.getattr_static(value, member), property
    )
    is_class = inspect.isclass(value) and member is None
    skipped = NEVER if is_class else NEVER | CLASS_ONLY
    if is_class and (value in RESULTS or issubclass(value, Exception)):
        skipped = NEVER | MADE_FOR_US
    for code, message in errors:
        if code in skipped or (is_property and code in ("PR02", "GL08")):
            continue
        yield f"{code}: {message}"


@pytest.mark.parametrize(
    ("value", "member"),
    [
        pytest.param(*names, id=f"{names[0].__name__}.{names[1] or ''}".rstrip("."))
        for names in public_names()
    ],
)
def test_docstrings_are_complete(value, member):
    assert not list(wrong(value, member))
