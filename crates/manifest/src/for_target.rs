use indexmap::IndexMap;

use super::{HasGlob, Manifest, Rules};
use crate::line::Keep;
use base::target::Target;

impl Manifest {
    /// Returns the manifest with only the lines for `target`. A package that is not built for it
    /// stays, without a distribution: others can name its artifacts.
    #[must_use]
    pub fn for_target(&self, target: Target) -> Self {
        let mut manifest = self.clone();
        manifest.keep(target);
        manifest
    }
}

impl<L: Keep> Keep for Vec<L> {
    fn keep(&mut self, target: Target) -> bool {
        self.retain_mut(|line| line.keep(target));
        true
    }
}

impl<L: Keep> Keep for Option<L> {
    fn keep(&mut self, target: Target) -> bool {
        if self.as_mut().is_some_and(|line| !line.keep(target)) {
            *self = None;
        }
        true
    }
}

impl<K, L: Keep> Keep for IndexMap<K, L> {
    fn keep(&mut self, target: Target) -> bool {
        self.values_mut().for_each(|line| {
            line.keep(target);
        });
        true
    }
}

impl<L: Keep + HasGlob + Clone> Keep for Rules<L> {
    fn keep(&mut self, target: Target) -> bool {
        let is_kept = |line: &L| line.clone().keep(target);
        if !self.iter().all(is_kept) {
            *self = self.iter().filter(|line| is_kept(line)).cloned().collect();
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::names::{Mode, System};
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

    /// Returns the numbers of artifacts, excludes, forbids, rpaths, aliases, libraries, scripts and
    /// search paths of `core`, distributions of `tools`, and drops.
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
    fn applies_a_line_to_its_mode_and_system() {
        assert_eq!(counts(Mode::Kpack, System::Linux), [2, 0, 1, 1, 1, 0, 1, 0, 1, 0]);
        assert_eq!(counts(Mode::Kpack, System::Windows), [1, 0, 0, 0, 0, 1, 0, 1, 0, 1]);
        assert_eq!(counts(Mode::Legacy, System::Linux), [2, 1, 1, 1, 1, 0, 0, 0, 0, 0]);
        assert_eq!(counts(Mode::Legacy, System::Windows), [1, 2, 0, 0, 0, 1, 0, 1, 0, 1]);
    }
}
