//! Tables of `tests/facts/packages.tsv`.

const PACKAGES: &str = include_str!("../../facts/packages.tsv");

/// Cells of the rows of a table, without its name.
pub fn rows(table: &str) -> Vec<Vec<&'static str>> {
    let rows = PACKAGES.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|cells| cells[0] == table).map(|cells| cells[1..].to_vec()).collect()
}

/// Patterns of a package, such as the exclusions of `core`.
pub fn globs(package: &str, kind: &str) -> Vec<&'static str> {
    let of = |row: &Vec<&str>| row[0] == package && row[1] == kind;
    rows("GLOB").into_iter().filter(of).map(|row| row[3]).collect()
}

/// Directories of `core` that the rpath of a package leads to, in order.
pub fn rpaths(package: &str) -> Vec<&'static str> {
    rows("RPATH")
        .into_iter()
        .filter(|row| row[0] == package && row[3] != "-")
        .map(|row| row[3])
        .collect()
}

/// Commands of a distribution on Linux: each is registered, with or without its program.
pub fn commands(distribution: &str) -> Vec<&'static str> {
    let of = |row: &Vec<&str>| row[1] == distribution && row[4].starts_with("linux");
    rows("SCRIPT").into_iter().filter(of).map(|row| row[0]).collect()
}

/// Components of artifacts that a package takes: of generic artifacts, or with `device` of those
/// for an ISA.
pub fn takes(package: &str, name: &str, component: &str) -> bool {
    let column = if package == "device" { 6 } else { 5 };
    let of = |row: &Vec<&str>| row[0] == name && row[1] == component && row[column] == package;
    rows("ARTIFACT").iter().any(of)
}

/// Returns whether the devel package has the component of an artifact.
pub fn devel_takes(kpack: bool, name: &str, component: &str) -> bool {
    let column = if kpack { 7 } else { 8 };
    let of = |row: &Vec<&str>| row[0] == name && row[1] == component && row[column] == "yes";
    rows("ARTIFACT").iter().any(of)
}
