"""Expected packages of an artifact directory, with their contents."""

import json

from rules import Package, devel_members, fill_runtime, select, tree_of
from tree import merge, resolve

GENERIC = "generic"


class Plan:
    """The runtime packages in build order, and devel (per subfolder of the output)."""

    def __init__(self, artifacts, facts, nonce="", families=()):
        self.artifacts, self.facts, self.nonce = artifacts, facts, nonce
        self.families = list(families)
        self.generic = merge(a for a in artifacts if a.family == GENERIC)
        self.kpack = self.flag()
        self.runtime = []
        self.devel = {}
        self.add_core()
        (self.add_kpack if self.kpack else self.add_legacy)()
        self.add_profiler()
        self.add_devel()

    def installed_json(self, path):
        entry = resolve(self.generic, path)
        return json.loads(entry.source.read_text(encoding="utf-8"))

    def flag(self):
        """`flags.KPACK_SPLIT_ARTIFACTS` of the manifest (default false) picks the mode."""
        manifest = self.installed_json("share/therock/therock_manifest.json")
        return bool(manifest.get("flags", {}).get("KPACK_SPLIT_ARTIFACTS", False))

    def dir_of(self, distribution):
        """`_` + the distribution name with `-` as `_` + the nonce."""
        return "_" + distribution.replace("-", "_") + self.nonce

    def view(self, family):
        """Everything that is installed together: generic, and one family or ISA."""
        return merge(a for a in self.artifacts if a.base_isa in (GENERIC, family))

    def add(self, package):
        if package.own:
            earlier = [p for p in self.runtime
                       if p.logical != "device" and p.subfolder in ("", package.subfolder)]
            fill_runtime(package, earlier)
            self.runtime.append(package)

    def add_core(self):
        tree = tree_of(self.artifacts, self.facts.generic_of("core"), {GENERIC})
        tree = select(tree, exclude=self.facts.globs("core", "exclude"))
        name = "rocm-sdk-core"
        self.add(Package("core", name, self.dir_of(name), tree, self.generic))

    def add_profiler(self):
        tree = tree_of(self.artifacts, self.facts.generic_of("profiler"), {GENERIC})
        tree = select(tree, include=self.facts.globs("profiler", "include"))
        name = "rocm-profiler"
        self.add(Package("profiler", name, self.dir_of(name), tree, self.generic))

    def add_kpack(self):
        name = "rocm-sdk-libraries"
        platform_dir = self.dir_of(name)
        tree = tree_of(self.artifacts, self.facts.generic_of("libraries"), {GENERIC})
        self.add(Package("libraries", name, platform_dir, tree, self.generic))
        for isa in self.isas():
            # One ISA's artifacts; overlays the libraries platform directory.
            tree = tree_of(self.artifacts, self.facts.specific_of("device"), {isa})
            device = f"rocm-sdk-device-{isa}"
            self.add(Package("device", device, platform_dir, tree, self.view(isa), isa=isa))

    def isas(self):
        """Returns `dist_amdgpu_targets`, or the ISAs of the requested families."""
        info = self.installed_json("share/therock/dist_info.json")
        isas = [isa for isa in info["dist_amdgpu_targets"].replace(",", ";").split(";") if isa]
        requested = {isa for family in self.families for isa in self.facts.isas_of(family)}
        return [isa for isa in isas if not requested or isa in requested]

    def add_legacy(self):
        pairs = self.facts.generic_of("libraries")
        present = sorted({a.family for a in self.artifacts} - {GENERIC})
        self.families = [f for f in present if not self.families or f in self.families]
        for family in self.families:
            # That family's artifacts plus generic ones.
            tree = tree_of(self.artifacts, pairs, {GENERIC, family})
            name = f"rocm-sdk-libraries-{family}"
            self.add(Package("libraries", name, self.dir_of(name), tree, self.view(family),
                             subfolder=family))

    def add_devel(self):
        """Kpack: only generic. Legacy: generic and its family, each to its own folder."""
        if self.kpack:
            tree = self.devel_tree({GENERIC})
            runtime = [p for p in self.runtime if p.logical != "device"]
            self.devel[""] = devel_members(tree, self.generic, runtime)
            return
        for family in self.families:
            tree = self.devel_tree({GENERIC, family})
            runtime = [p for p in self.runtime if p.subfolder in ("", family)]
            folder = family if len(self.families) > 1 else ""
            self.devel[folder] = devel_members(tree, self.view(family), runtime)

    def devel_tree(self, families):
        """Selects devel's files by artifact names, with every component that is not excluded."""
        names = self.facts.devel_names(self.kpack)
        excluded = self.facts.devel_excluded_components(self.kpack)
        return merge(a for a in self.artifacts if a.name in names
                     and a.component not in excluded and a.base_isa in families)
