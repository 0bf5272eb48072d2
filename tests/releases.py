"""Files of documents, and files of releases."""

from __future__ import annotations

import json
import os
from hashlib import sha256

from pyarrow import csv, parquet

# Of every test release.
KEY = sha256(b"a key of tests, which is not secret").digest()


def write_key(path, content=None):
    """A key in a file that only its owner can read."""
    path.touch(0o600)
    path.write_bytes(KEY.hex().encode() if content is None else content)
    os.chmod(path, 0o600)
    return path


def secrets_of(release):
    """What undoes the noise: the key, and the seed from it, as bytes or digits."""
    forms = []
    for secret in (KEY, release.key.derive(b"noise:" + release.name.encode())):
        number = int.from_bytes(secret, "little")  # as random_state
        forms += [secret, secret.hex().encode(), str(number).encode()]
    return forms


def write(table, path, row_group=64):
    """A table as a file of the format that the suffix says."""
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=row_group)
    elif path.suffix == ".csv":
        csv.write_csv(table, path)
    else:
        lines = [json.dumps(row) for row in table.to_pylist()]
        path.write_text("\n".join(lines) + "\n")
    return path


def contents(folder):
    """Bytes of every file that is no manifest."""
    return {
        path.name: path.read_bytes()
        for path in folder.iterdir()
        if path.name != "_release.json"
    }
