"""The tables of names that the packaging rules refer to (tests/facts/*.tsv)."""

from pathlib import Path


class Facts:
    """Rows of packages.tsv by their first column, and the families of each ISA."""

    def __init__(self, folder):
        self.rows = {}
        for name in ("packages.tsv", "families.tsv"):
            for line in Path(folder, name).read_text(encoding="utf-8").splitlines():
                if line and not line.startswith("#"):
                    kind, *columns = line.split("\t")
                    self.rows.setdefault(kind, []).append(columns)

    def artifacts(self, column, value):
        """Returns the (artifact, component) pairs with `value` in `column` (counted from 0)."""
        return {(row[0], row[1]) for row in self.rows["ARTIFACT"] if row[column] == value}

    def generic_of(self, package):
        """Returns a package's components of `generic` artifacts (the column `kpack:generic ->`)."""
        return self.artifacts(5, package)

    def specific_of(self, package):
        """Returns a package's components of artifacts for one ISA (the column `kpack:gfx* ->`)."""
        return self.artifacts(6, package)

    def devel_names(self, kpack):
        """All names that a runtime wheel uses, plus the added ones, minus the dropped ones."""
        used = {row[0] for row in self.rows["ARTIFACT"] if not {row[5], row[6]} <= {"-", "n/a"}}
        wheel = "devel(kpack)" if kpack else "devel(legacy)"
        added = set(self.globs(wheel, "addl_artifact_name"))
        return (used | added) - set(self.globs("devel", "drop_artifact_name"))

    def devel_excluded_components(self, kpack):
        """Components that devel leaves out: `test` in kpack mode."""
        return set(self.globs("devel(kpack)", "exclude_component")) if kpack else set()

    def globs(self, wheel, kind):
        """The patterns or names of one kind that a wheel has in GLOB rows, in their order."""
        rows = [row for row in self.rows["GLOB"] if row[0] == wheel and row[1] == kind]
        return [row[3] for row in sorted(rows, key=lambda row: int(row[2]))]

    def rpath_dependencies(self, wheel):
        """The (package, relative path) pairs of a wheel's RPATH rows, in their order."""
        rows = [row for row in self.rows["RPATH"] if row[0] == wheel and row[1] != "-"]
        return [(row[2], row[3]) for row in sorted(rows, key=lambda row: int(row[1]))]

    def isas_of(self, name):
        """Returns the ISAs of a family, or the ISA as a list of one."""
        rows = self.rows["TARGET"]
        return [row[0] for row in rows if name == row[0] or name in row[2].split()]
