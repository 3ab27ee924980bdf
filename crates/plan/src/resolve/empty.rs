use std::collections::BTreeMap;

use super::place::Runtime;
use super::resolved_dist::ResolvedDist;
use super::select::Selection;
use base::source::{Code, Place, Problem};
use base::text::counted;
use catalog::{Catalog, EntryKind};

const SHOWN: usize = 3;

pub(super) fn problem(
    catalog: &Catalog,
    dist: &ResolvedDist<'_>,
    selection: &Selection<'_>,
    runtime: Option<&Runtime<'_>>,
) -> Problem {
    let mut problem = Problem::error(Code::EmptyPackage, format!("{} would be empty", dist.name))
        .label(&dist.declared.name.place, "no files are left");
    for (place, text) in takes(catalog, dist).into_iter().take(SHOWN) {
        problem = problem.label(place, text);
    }
    for (place, count) in excluded(selection).into_values().take(SHOWN) {
        problem = problem.label(place, format!("excludes {}", counted(count, "file")));
    }
    let out = selection.excluded.len();
    if let (Some(first), 0) = (dist.package.includes.first(), out) {
        problem = problem.label(&first.glob.place, "no include rule matches a file");
    }
    let unshippable = runtime.and_then(|runtime| {
        runtime.absent.iter().find(|absent| !absent.reason.starts_with("excluded"))
    });
    match unshippable {
        Some(absent) => problem.help(format!(
            "the selected files cannot be shipped: `{}` {}",
            absent.path, absent.reason
        )),
        None => problem.help(
            "check its artifacts, includes and excludes, and whether the \
            artifacts of this target exist",
        ),
    }
}

fn takes<'a>(catalog: &Catalog, dist: &ResolvedDist<'a>) -> Vec<(&'a Place, String)> {
    let mut takes = Vec::new();
    for rule in &dist.package.artifacts {
        let fits =
            |c| rule.components.is_empty() || rule.components.iter().any(|own| own.value == c);
        for artifact in catalog
            .artifacts
            .iter()
            .filter(|a| dist.fits(&a.id) && a.id.name == *rule.name && fits(a.id.component))
        {
            let files =
                artifact.entries.iter().filter(|e| !matches!(e.kind, EntryKind::Directory)).count();
            takes.push((
                &rule.name.place,
                format!("`{}` has {}", artifact.id, counted(files, "file")),
            ));
        }
    }
    takes
}

fn excluded<'a>(selection: &Selection<'a>) -> BTreeMap<usize, (&'a Place, usize)> {
    let mut excluded = BTreeMap::new();
    for (exclude, _) in selection.excluded.values() {
        excluded.entry(exclude.line()).or_insert((*exclude, 0)).1 += 1;
    }
    excluded
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resolve::tests::{Fixture, runtime};
    use base::source::Problems;

    #[test]
    fn what_cannot_be_shipped_is_named_rather_than_what_is_excluded() {
        let check = "check its artifacts, includes and excludes, and whether the artifacts of \
            this target exist";
        let unshippable =
            "the selected files cannot be shipped: `l` dangles: no artifact has `gone`";
        let cases = [
            ("exclude \"k\"", "a_lib_generic k text k", check),
            ("", "a_lib_generic l link gone", unshippable),
            ("exclude \"k\"", "a_lib_generic k text k\na_lib_generic l link gone", unshippable),
            ("exclude \"z\"", "a_lib_generic z text z\na_lib_generic l link gone", unshippable),
        ];
        for (line, entries, expected) in cases {
            let lines = format!("artifact \"a\" \"lib\"\n{line}");
            let fixture = Fixture::new(&[runtime("core", &lines)], entries);
            let mut problems = Problems::new();
            let (dists, filled) = (fixture.dists(), fixture.filled(&mut problems));
            let selection = fixture.selection(&dists[0], &mut problems);
            let mut runtime =
                Runtime { absent: filled[0].runtime.absent.clone(), ..Runtime::default() };
            runtime.absent.sort_by(|a, b| a.path.cmp(&b.path));
            let problem = problem(&fixture.catalog, &dists[0], &selection, Some(&runtime));
            assert_eq!(problem.remedy(), Some(expected), "{entries}");
        }
    }
}
