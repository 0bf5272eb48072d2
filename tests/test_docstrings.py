"""Every public docstring passes numpydoc's validation, as scikit-learn's own do."""

from __future__ import annotations

import inspect
import operator

import api_pages
import pytest
from numpydoc.validate import validate

import skdptext

# What scikit-learn's own test leaves out: form of the return type, blank lines.
NEVER = {"RT02", "GL01", "GL02"}
# Of a class only: an extended summary, See Also, examples.
CLASS_ONLY = {"ES01", "SA01", "EX01"}
# Nobody calls the constructor of what only the library makes, or of an exception.
MADE_FOR_US = {"PR01", *CLASS_ONLY}


def public_names():
    """Class or function, and member or None, of all that the site shows."""
    for path in [*api_pages.paths(), *api_pages.others()]:
        value = operator.attrgetter(path)(skdptext)
        if not value.__module__.startswith("skdptext"):
            continue
        yield value, None
        for member, attribute in vars(value).items() if inspect.isclass(value) else ():
            shown = callable(getattr(value, member)) or isinstance(attribute, property)
            shown = shown and not (member.startswith("_") or inspect.isclass(attribute))
            # One without a docstring has that of the method it overrides.
            inherited = any(hasattr(base, member) for base in value.__mro__[1:])
            if shown and (attribute.__doc__ or not inherited):
                yield value, member


@pytest.mark.parametrize(
    ("value", "member"),
    [
        pytest.param(*names, id=f"{names[0].__name__}.{names[1] or ''}".rstrip("."))
        for names in public_names()
    ],
)
def test_docstrings_are_complete(value, member):
    skipped = NEVER | CLASS_ONLY
    if member is None and inspect.isclass(value):
        made = value in api_pages.made() or issubclass(value, Exception)
        skipped = NEVER | MADE_FOR_US if made else NEVER
    elif member is not None and isinstance(getattr(value, member), property):
        skipped |= {"PR02", "GL08"}
    names = [value.__module__, value.__qualname__, *([member] if member else [])]
    errors = validate(".".join(names))["errors"]
    assert [error for error in errors if error[0] not in skipped] == []
