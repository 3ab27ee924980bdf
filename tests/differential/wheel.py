# SPDX-License-Identifier: MIT
"""A wheel that every installer accepts, as the base of changes."""

import base64
import hashlib
from dataclasses import dataclass, field

import archive
from archive import Member
from registry import changed

INFO = "demo-1.0.dist-info"
FILE = "demo-1.0-py3-none-any.whl"
METADATA = "Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nSummary: a demo\nRequires-Python: >=3.8\n\nText.\n"
WHEEL = "Wheel-Version: 1.0\nGenerator: demo\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
ENTRIES = "[console_scripts]\ndemo-run = demo:main\n"


@dataclass
class Wheel:
    """Members, then RECORD made of them, then the bytes of the archive.

    Functions in `record_changes` take the text of RECORD and return another one, its bytes, or None for a wheel without
    it; those in `byte_changes` change the bytes of the archive. The members `after_record` follow RECORD. `order` has
    the indexes of members in the central directory.
    """

    file: str = FILE
    members: list = field(default_factory=list)
    after_record: list = field(default_factory=list)
    end: archive.End = field(default_factory=archive.End)
    order: list | None = None
    record_changes: list = field(default_factory=list)
    byte_changes: list = field(default_factory=list)

    @classmethod
    def plain(cls):
        """Return the wheel without a change."""
        info = {"METADATA": METADATA, "WHEEL": WHEEL, "entry_points.txt": ENTRIES, "licenses/LICENSE": "MIT\n"}
        files = {
            "demo/__init__.py": "def main():\n    return 0\n", "demo/data.txt": "some data\n" * 20, "demo/sub/__init__.py": "",
            **{f"{INFO}/{name}": text for name, text in info.items()},
        }
        return cls(members=[Member(name.encode(), text.encode()) for name, text in files.items()])

    def member(self, suffix):
        """Return the member with this suffix."""
        return next(member for member in self.members if member.text.endswith(suffix))

    def edit(self, suffix, old, new, count=1):
        """Replace the first `count` occurrences of a text in a member; -1 replaces all."""
        member = self.member(suffix)
        assert old.encode() in member.data, (suffix, old)
        member.data = member.data.replace(old.encode(), new.encode(), count)

    def add(self, name, data=b"x\n", **more):
        """Add a member before all others."""
        name, flags = (name, 0) if isinstance(name, bytes) else (name.encode(), archive.UTF8 * (not name.isascii()))
        self.members.insert(0, Member(name, data, **{"flags": flags, **more}))

    def rows(self):
        """Return the rows of RECORD, as text."""
        rows = []
        for member in self.members + self.after_record:
            if member.recorded and not member.name.endswith(b"/"):
                digest = base64.urlsafe_b64encode(hashlib.sha256(member.data).digest()).rstrip(b"=").decode()
                name = f'"{member.text}"' if "," in member.text else member.text
                rows.append(f"{name},sha256={digest},{len(member.data)}")
        return [*rows, f"{INFO}/RECORD,,"]

    def to_bytes(self):
        """Return the bytes of the wheel."""
        text = "\n".join(self.rows()) + "\n"
        text = changed(text, self.record_changes)
        members = list(self.members)
        if text is not None:
            data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogateescape")
            members.append(Member(f"{INFO}/RECORD".encode(), data))
        members += self.after_record
        # Another change may have removed members since the order was made.
        order = [index % len(members) for index in self.order] if self.order else None
        return changed(archive.to_bytes(members, self.end, order), self.byte_changes)
