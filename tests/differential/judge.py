# SPDX-License-Identifier: MIT
"""Contradictions between verify and the other tools.

- content: verify accepts a package that an installer refuses.
- harm: verify accepts a package that changes files of the environment.
- ambiguous: verify accepts a package that installers install differently.
- index: verify has no finding about metadata that twine refuses.
- too strict: verify refuses a package that all tools install alike.
- no answer: verify fails, or a signal ends a tool.
"""

import re
from dataclasses import dataclass

from tools import INSTALLERS

# Refusals for reasons outside the package, by tool and a pattern of the message.
REFUSALS_BY_ENVIRONMENT = (
    ("pip", r"is not a supported wheel on this platform", "a tag of another Python or system"),
    ("uv", r"is not compatible with the current|no wheels with a matching", "a tag of another Python or system"),
    ("pip", r"requires a different Python: ", "a Python of another version"),
    ("uv", r"requires Python|does not satisfy Requires-Python", "a Python of another version"),
)

# twine renders the description, which verify does not, so its errors about markup do not count.
MARKUP_ERROR = "has syntax errors in markup"

# Without a backend, an sdist is built with setuptools, which the environments lack.
NO_SETUPTOOLS = "`uv pip install setuptools`"

# Justified errors of verify in packages that all installers install alike, by code and a pattern; the reason is for
# readers.
JUSTIFIED = (
    ("metadata-field", r"twice|a line that is not a field|NUL byte|not UTF-8|longer than", "programs read the first value, the last, or none"),
    ("metadata-field", r"Metadata-Version|Provides-Extra is malformed", "index servers reject it"),
    ("metadata-field", r"License-Expression", "index servers reject it"),
    ("metadata-field", r"its `[^`]*` must be|Requires-Python is malformed", "the standard asks for another form, which only some programs mend"),
    ("metadata-field", r"no Wheel-Version that installers know", "the standard asks for two numbers"),
    ("license-file", r"", "the licence is not in the package"),
    ("requirement-form", r"", "the standard has no such form, and only some programs mend it"),
    ("unmet-extra", r"", "nothing can ask for the requirement"),
    ("tags-disagree", r"", "`wheel pack` and others name the wheel by WHEEL"),
    ("tag-form", r"", "`wheel pack` and others name the wheel by WHEEL"),
    ("names-disagree", r"", "the index lists one version, and the environment has another"),
    ("package-name", r"", "index servers reject it"),
    ("entry-point", r"indented line|a line has an end|a section whose name", "`configparser` and programs that read by lines differ"),
    ("entry-point", r"not a file name", "other systems cannot have the name"),
    ("entry-point", r"module that the (wheel|sdist) lacks|object that its module|is not an entry point|twice", "the script does not start"),
    ("only-in-record", r"", "uninstalling removes a file of this name"),
    ("not-in-record", r"", "some programs take a backslash for `/`, others leave the file behind"),
    ("record-form", r"weaker than SHA-256", "the standard asks for SHA-256 or better"),
    ("record-form", r"twice|without exactly three|NUL|no hash", "programs read different rows"),
    ("unsafe-name", r"cannot unpack this name", "programs resolve `.`, `..` and `//` differently, and systems have limits"),
    ("member-mode", r"", "users must not get files that others can change"),
    ("member-kind", r"", "pip makes a text file of a link or device"),
    ("link-outside", r"circular link", "it leads to itself, until another member of the name replaces it"),
    ("member-twice", r"", "installers overwrite one file with another"),
    ("case-clash", r"", "other systems lose one of the files"),
    ("headers-disagree", r"a number of its header is malformed", "GNU tar fails"),
    ("headers-disagree", r"another name in an extra field", "programs that know the field take the other name"),
    ("broken-package", r"multi-disk", "other programs ask for the other disks"),
    ("missing-metadata", r"it has no PKG-INFO|neither pyproject", "index servers look for them in the directory NAME-VERSION"),
    ("broken-package", r"gzipped tar archive, or truncated", "gzip and GNU tar reject it"),
    ("unsafe-name", r"metadata of (another package|an old format)", "installers list it as a package, and do not remove it"),
    ("unsafe-name", r"program with the name|configuration of the environment|reserved|invalid name on Windows", "environments of other systems and versions have the file"),
    ("file-and-directory", r"file in place of a directory", "environments of other systems and versions have the directory"),
    ("file-and-directory", r"with `--target`", "environments have two directories, and --target one"),
    ("link-outside", r"hard link without a preceding target", "GNU tar fails, and Python copies another file"),
    ("stray-bytes", r"", "the file can be another format too"),
)

# Tools that only check metadata, as index servers do. Their refusal justifies an error about metadata; verify must
# at least warn of a package that twine refuses.
METADATA_TOOLS = ("packaging", "twine")
METADATA_CODES = ("metadata-field", "requirement-form", "unmet-extra", "names-disagree")


@dataclass(frozen=True)
class Verdict:
    """A contradiction in the answers about a package."""

    kind: str
    text: str


def refusals(answers):
    """Return the refusals that are about the package, by tool."""
    refused = {tool: answer.refusal for tool, answer in answers.items() if answer.refusal}
    # The other tools fail for the same reason, with other messages.
    if NO_SETUPTOOLS in refused.get("uv", ""):
        return {}
    return {
        tool: message for tool, message in refused.items()
        if not any(tool.startswith(prefix) and re.search(pattern, message) for prefix, pattern, _ in REFUSALS_BY_ENVIRONMENT)
    }


def verdict(findings, trouble, answers):
    """Return the contradiction in the answers about one package, or None."""
    if findings is None:
        return Verdict("no answer", trouble)
    errors = [finding for finding in findings if finding[0] == "error"]
    refused_by_index = [tool for tool in METADATA_TOOLS if tool in answers and answers[tool].refusal]
    twine = answers.get("twine")
    answers = {tool: answer for tool, answer in answers.items() if tool not in METADATA_TOOLS}
    refused = refusals(answers)
    installed = {tool: answer for tool, answer in answers.items() if not answer.refusal and tool in INSTALLERS}
    trees = {tool: answer.files for tool, answer in installed.items()}
    differ = len(set(trees.values())) > 1
    harm = {tool: answer.harm for tool, answer in installed.items() if answer.harm}
    if not errors:
        if refused:
            return Verdict("content", "; ".join(f"{tool}: {_short(text)}" for tool, text in refused.items()))
        if harm:
            return Verdict("harm", "; ".join(f"{tool}: {', '.join(paths)}" for tool, paths in harm.items()))
        if differ:
            return Verdict("ambiguous", _differences(trees))
        if not findings and "twine" in refused_by_index and MARKUP_ERROR not in twine.refusal:
            return Verdict("index", f"twine: {_short(twine.refusal)}")
        return None
    unjustified = [
        finding for finding in errors
        if not _is_justified(finding) and not (refused_by_index and finding[1] in METADATA_CODES)
    ]
    # A refusal because of this environment does not justify an error about the package.
    if not refused and not differ and not harm and unjustified:
        return Verdict("too strict", "; ".join(f"{code}: {meaning} ({member}, {detail})" for _, code, meaning, member, detail in unjustified))
    return None


def _is_justified(finding):
    _, code, meaning, _, detail = finding
    texts = f"{meaning} {detail}"
    return any(code == justified and re.search(pattern, texts) for justified, pattern, _ in JUSTIFIED)


def _short(text):
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " | ".join(lines)[-240:]


def _differences(installed):
    tools = sorted(installed)
    first = installed[tools[0]]
    differences = []
    for tool in tools[1:]:
        more, less = sorted(installed[tool] - first), sorted(first - installed[tool])
        if more or less:
            differences.append(f"{tool}: {[path for path, _ in more][:4]}, {tools[0]}: {[path for path, _ in less][:4]}")
    return "; ".join(differences)
