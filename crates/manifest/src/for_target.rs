//! The lines of a manifest that count for one target.

use super::{HasCondition, HasGlob, Manifest, Package, Rules};
use base::names::System;
use base::target::Target;

impl Manifest {
    /// The manifest with only the lines that count for `target`. A package that is not built for it stays,
    /// without a distribution: others can name its artifacts.
    #[must_use]
    pub fn for_target(&self, target: Target) -> Self {
        let mut manifest = self.clone();
        manifest.packages.values_mut().for_each(|package| package.keep(target));
        keep_rules(&mut manifest.drops, target);
        keep(&mut manifest.allowed_isas, target);
        keep_rules(&mut manifest.allowed_unowned, target);
        manifest
    }
}

impl Package {
    fn keep(&mut self, target: Target) {
        let exists = self.when.holds(target);
        self.distributions.retain(|line| exists && line.when.holds(target));
        keep(&mut self.requires, target);
        keep(&mut self.requires_dist, target);
        keep(&mut self.extras, target);
        keep(&mut self.indexes, target);
        self.indexes.iter_mut().for_each(|index| keep(&mut index.requires, target));
        self.indexes.retain(|index| !index.requires.is_empty());
        keep(&mut self.artifacts, target);
        keep(&mut self.without_components, target);
        keep_rules(&mut self.includes, target);
        keep_rules(&mut self.excludes, target);
        keep_rules(&mut self.forbids, target);
        keep(&mut self.rpaths, target);
        if target.system == System::Windows {
            // PE files have none.
            self.rpaths.clear();
        }
        keep(&mut self.aliases, target);
        keep(&mut self.libraries, target);
        keep(&mut self.scripts, target);
        keep(&mut self.environment, target);
        keep(&mut self.keep_links, target);
        self.environment.iter_mut().for_each(|line| keep(&mut line.directories, target));
        self.environment.retain(|line| !line.directories.is_empty());
    }
}

fn keep<R: HasCondition>(lines: &mut Vec<R>, target: Target) {
    lines.retain(|line| line.when().holds(target));
}

fn keep_rules<R: HasCondition + HasGlob + Clone>(rules: &mut Rules<R>, target: Target) {
    if rules.iter().any(|rule| !rule.when().holds(target)) {
        *rules = rules.iter().filter(|rule| rule.when().holds(target)).cloned().collect();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::names::Mode;
    use base::source::Source;

    const PACKAGES: &str = r#"common { author "A"; requires-python ">=3.10"; }
package "core" kind="runtime" {
    distribution "ex-core" module="ex_core" per="none"
    summary "Core"; license "MIT"; template "runtime"
    artifact "base" "lib"
    artifact "posix" "lib" on="linux"
    exclude "lib/new/**" mode="legacy"
    exclude "bin/**" mode="legacy" on="windows"
    forbid "lib/old/**" reason="gone" on="linux"
    rpath "core" "lib" on="linux"
    alias "lib/liba.so" on="linux"
    find-library "a" dll="bin/a.dll" on="windows"
    script "a" program="bin/a" on="linux" mode="kpack"
    prepend-path "PATH" { directory "core" "bin" on="windows"; }
}
package "tools" kind="runtime" on="linux" {
    distribution "ex-tools" module="ex_tools" per="none" mode="kpack"
    summary "Tools"; license "MIT"; template "runtime"
    artifact "tools" "run"
}
drop "**" component="test" reason="tests" on="windows"
"#;

    /// How many lines of each kind count: artifacts, excludes, forbids, rpaths, aliases, libraries,
    /// scripts and search paths of `core`, distributions of `tools`, and drops.
    fn counts(mode: Mode, system: System) -> [usize; 10] {
        let packages = Source::new("packages.kdl", PACKAGES);
        let families = Source::new("families.kdl", "isa \"gpu1\" product=\"A\"");
        let manifest = Manifest::decode(&packages, &families).unwrap();
        let manifest = manifest.for_target(Target { mode, system });
        let (core, tools) = (&manifest.packages[0], &manifest.packages[1]);
        [
            core.artifacts.len(),
            core.excludes.len(),
            core.forbids.len(),
            core.rpaths.len(),
            core.aliases.len(),
            core.libraries.len(),
            core.scripts.len(),
            core.environment.len(),
            tools.distributions.len(),
            manifest.drops.len(),
        ]
    }

    #[test]
    fn a_line_counts_for_its_mode_and_its_system() {
        assert_eq!(counts(Mode::Kpack, System::Linux), [2, 0, 1, 1, 1, 0, 1, 0, 1, 0]);
        assert_eq!(counts(Mode::Kpack, System::Windows), [1, 0, 0, 0, 0, 1, 0, 1, 0, 1]);
        assert_eq!(counts(Mode::Legacy, System::Linux), [2, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
        assert_eq!(counts(Mode::Legacy, System::Windows), [1, 2, 0, 0, 0, 1, 0, 1, 0, 1]);
    }
}
