use base::source::Place;
use base::target::Target;
use manifest::Manifest;

/// Lines of packages for each target that the manifest makes for the other system alone.
pub(super) fn lines(manifest: &Manifest, target: Target) -> Vec<&Place> {
    let packages = manifest.packages.values().filter(|p| p.distribution_for(target).is_none());
    let lines = packages.flat_map(|package| &package.distributions);
    let is_other = |line: &&manifest::Distribution| {
        line.per.is_by_gpu() && line.when.mode.is_none_or(|mode| mode == target.mode)
    };
    lines.filter(is_other).map(|line| &line.name.place).collect()
}
