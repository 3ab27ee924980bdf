# SPDX-License-Identifier: MIT
"""Compares the metadata of packages in a directory with their content."""

import base64
import csv
import hashlib
import io
import json
import sys
import tarfile
import zipfile
from email import message_from_bytes
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(1, str(Path(__file__).resolve().parents[1] / "harness"))

from cyclonedx.schema import SchemaVersion  # noqa: E402
from cyclonedx.validation.json import JsonStrictValidator  # noqa: E402
from packaging.licenses import canonicalize_license_expression  # noqa: E402
from report import Report, a_few  # noqa: E402

PREFIX = "rockpack:"


class Wheel:
    """The members of a wheel and of its archive with their hashes; ELF files and device code among them."""

    def __init__(self, path):
        self.name = path.name
        self.hashes, self.binaries, self.texts = {}, set(), {}
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                self._read(archive.read(name), name)
        self.info = next(name.split("/")[0] for name in self.texts if name.endswith(".dist-info/METADATA"))

    def _read(self, content, name):
        self.hashes[name] = hashlib.sha256(content).hexdigest()
        if ".dist-info/" in name:
            self.texts[name] = content
        if content[:4] == b"\x7fELF" or name.endswith(".kpack"):
            self.binaries.add(name)
        if name.endswith(("/_devel.tar", "/_devel.tar.xz")):
            with tarfile.open(fileobj=io.BytesIO(content)) as archive:
                for member in archive:
                    if member.isfile():
                        self._read(archive.extractfile(member).read(), member.name)

    def text(self, name):
        return self.texts[f"{self.info}/{name}"]

    def record(self):
        """Return RECORD's hashes by path."""
        rows = csv.reader(io.StringIO(self.text("RECORD").decode()))
        return {path: digest for path, digest, _ in rows}


def properties(component, name):
    return [p["value"] for p in component.get("properties", []) if p["name"] == PREFIX + name]


def places(component):
    return [occurrence["location"] for occurrence in component["evidence"]["occurrences"]]


def wrong_schema(text):
    error = JsonStrictValidator(SchemaVersion.V1_6).validate_str(text)
    return error and str(error.data)[:500]


def unlisted(wheel, bill):
    """Return binaries that only the bill has, or only the wheel."""
    paths = [place for component in bill["components"] for place in places(component)]
    if len(paths) != len(set(paths)):
        return "a file is listed twice"
    odd = wheel.binaries ^ set(paths)
    return a_few(sorted(odd)) if odd else None


def wrong_hashes(wheel, bill):
    for component in bill["components"]:
        hashes = {digest["alg"]: digest["content"] for digest in component.get("hashes", [])}
        for place in places(component):
            if hashes != {"SHA-256": wheel.hashes[place]}:
                return f"{place}: {hashes}"
    return None


def wrong_components(bill):
    """Return fields of a component that are missing, or that it cannot have."""
    references = {component["bom-ref"] for component in bill["components"]}
    if len(references) != len(bill["components"]):
        return "two components have one reference"
    for component in bill["components"]:
        source, version = properties(component, "source"), component.get("version")
        is_generated = properties(component, "step")[0] in ("stub", "alias")
        if is_generated == bool(source) or is_generated == ("group" in component):
            return f"{component['bom-ref']} has no artifact, or one that it cannot have"
        origin = source[0].rsplit("/", 1)[-1] if source else ""
        if version and version not in origin + " " + component["name"]:
            return f"{component['bom-ref']}: no evidence for version {version}"
        if ".so." in origin and component["type"] == "library" and not version:
            return f"{component['bom-ref']}: {origin} has a version"
    for dependency in bill["dependencies"]:
        lost = set(dependency["dependsOn"]) - references
        if lost:
            return f"{dependency['ref']} depends on {a_few(sorted(lost))}, which is absent"
    return None


def wrong_licenses(wheel, bill):
    header = message_from_bytes(wheel.text("METADATA"))
    expression = header["License-Expression"]
    if canonicalize_license_expression(expression) != expression:
        return f"{expression} is not in its canonical form"
    if bill["metadata"]["component"]["licenses"][0]["expression"] != expression:
        return "the bill has another licence"
    listed = {f"{wheel.info}/licenses/{path}" for path in header.get_all("License-File", [])}
    texts = {name for name in wheel.texts if name.startswith(f"{wheel.info}/licenses/")}
    references = {r["url"] for c in bill["components"] for r in c.get("externalReferences", []) if r["type"] == "license"}
    if listed != texts or not texts:
        return f"METADATA and the licence texts of the wheel differ: {a_few(sorted(listed ^ texts))}"
    return a_few(sorted(references - texts)) or None


def wrong_record(wheel):
    path = f"{wheel.info}/sboms/rockpack.cdx.json"
    digest = base64.urlsafe_b64encode(bytes.fromhex(wheel.hashes[path])).rstrip(b"=").decode()
    return None if wheel.record().get(path) == f"sha256={digest}" else "RECORD does not list the bill"


def check_wheel(report, path):
    wheel = Wheel(path)
    text = wheel.texts.get(f"{wheel.info}/sboms/rockpack.cdx.json", b"").decode()
    if not report.check(f"{wheel.name}: the bill is CycloneDX 1.6", wrong_schema(text) if text else "it has none"):
        return
    bill = json.loads(text)
    main = bill["metadata"]["component"]
    name, version = message_from_bytes(wheel.text("METADATA"))["Name"], path.name.split("-")[1]
    report.check(f"{wheel.name}: it is of this wheel", None if main["purl"] == f"pkg:pypi/{name}@{version}" else main["purl"])
    report.check(f"{wheel.name}: it has every ELF file and all device code", unlisted(wheel, bill))
    report.check(f"{wheel.name}: its hashes are those of the files", wrong_hashes(wheel, bill))
    report.check(f"{wheel.name}: its components have the known fields", wrong_components(bill))
    report.check(f"{wheel.name}: licences and their texts are in order", wrong_licenses(wheel, bill))
    report.check(f"{wheel.name}: RECORD lists it", wrong_record(wheel))


def wrong_statement(dist, statement):
    if statement["_type"] != "https://in-toto.io/Statement/v1" or statement["predicateType"] != "https://slsa.dev/provenance/v1":
        return "it is no SLSA provenance v1"
    packages = {p.relative_to(dist).as_posix(): hashlib.sha256(p.read_bytes()).hexdigest() for p in sorted(dist.rglob("*"))
                if p.name.endswith((".whl", ".tar.gz"))}
    if {s["name"]: s["digest"]["sha256"] for s in statement["subject"]} != packages:
        return "its subjects are not the packages"
    definition, run = statement["predicate"]["buildDefinition"], statement["predicate"]["runDetails"]
    if not (definition["buildType"] and definition["externalParameters"] == {"version": "7.2.0"} and run["builder"]["id"]):
        return "it lacks the build's parameters or the builder"
    made_of = [dependency["name"] for dependency in definition["resolvedDependencies"]]
    made_of = [name.removeprefix("<built in>/") for name in made_of]
    made_of = [name for name in made_of if not name.startswith("manifest/")]
    return None if made_of[:3] == ["packages.kdl", "families.kdl", "artifacts"] and len(made_of) > 3 else a_few(made_of)


def main():
    dist, report = Path(sys.argv[1]), Report()
    wheels = sorted(dist.rglob("*.whl"))
    report.check("there are wheels", None if wheels else "none")
    for path in wheels:
        check_wheel(report, path)
    report.check("the provenance is of these packages", wrong_statement(dist, json.loads((dist / "provenance.intoto.json").read_bytes())))
    return report.finish()


if __name__ == "__main__":
    sys.exit(main())
