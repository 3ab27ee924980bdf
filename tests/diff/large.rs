//! Two large plans: the time grows linearly with the number of files.

use std::time::{Duration, Instant};

use plan::{Member, Plan, Step};

use super::differ;
use crate::planning::support::{Case, package};

const ISAS: [&str; 4] = ["gfx906", "gfx942", "gfx1100", "gfx1101"];

/// Makes a plan of about `files` files in `packages` packages. With `edited` everything differs: a
/// directory is renamed, one moves to the next package, and sizes, sources and rpaths change.
fn plan(files: usize, packages: usize, edited: bool) -> Plan {
    let device = package(
        "device",
        "runtime",
        "\"x-device-{isa}\" module=\"x_device_{isa}\" per=\"isa\"",
        "artifact \"blas\" \"lib\"",
    );
    let entries = ISAS.map(|isa| format!("blas_lib_{isa} lib/all_{isa} data 7\n")).concat();
    let mut plan = Case::new(&[device], &entries).plan();
    let first = plan.distributions[0].clone();
    plan.distributions = (0..packages)
        .map(|package| {
            let mut distribution = first.clone();
            distribution.name = format!("x-device-{package}").parse().unwrap();
            distribution.variant = Some(format!("isa{package}"));
            distribution.members =
                (0..files / packages).map(|file| member(package, packages, file, edited)).collect();
            distribution.members.sort_by(|a, b| a.path.cmp(&b.path));
            distribution
        })
        .collect();
    plan
}

fn member(package: usize, packages: usize, file: usize, edited: bool) -> Member {
    let owner = if edited && file % 10 == 3 { (package + 1) % packages } else { package };
    let directory = if edited && file % 10 == 4 { "kernels" } else { "library" };
    let source = |path: &str| catalog::SourcePath {
        artifact: crate::planning::tree::id(&format!(
            "blas{}_lib_gfx906",
            if edited && file % 10 == 5 { "x" } else { "" }
        )),
        base: "stage".parse().unwrap(),
        path: path.parse().unwrap(),
    };
    let name = format!("lib/rocblas/{}/{}/file_{owner}_{file}.dat", file % 10, file % 7);
    let step = match file % 10 {
        6 => Step::Relink {
            source: source(&name),
            rpath: format!("$ORIGIN/../../..{}", if edited { ":$ORIGIN" } else { "" }),
            clear_execstack: false,
        },
        _ => Step::Copy { source: source(&name) },
    };
    let path = format!("_x_device_gfx906/{}", name.replace("rocblas", directory)).parse().unwrap();
    let size = 1000 + file as u64 + u64::from(edited && file % 10 == 7);
    Member {
        path,
        step,
        executable: false,
        size,
        rule: format!("packages.kdl:{}", 10 + usize::from(edited)).as_str().into(),
    }
}

#[test]
fn everything_that_differs_is_in_few_lines() {
    let (old, new) = (plan(2000, 4, false), plan(2000, 4, true));
    let text = review::diff::text(&differ(&old, &new), false);
    assert!(text.lines().count() < 60, "{text}");
    for needle in [
        "→ lib/library/4/** → lib/kernels/4/**",
        "rpath +$ORIGIN",
        "from blas_lib_gfx906 → blasx_lib_gfx906",
    ] {
        assert!(text.contains(needle), "{needle:?} is not in:\n{text}");
    }
}

/// `cargo test --release --test all diff -- --ignored --nocapture` measures it.
#[test]
#[ignore = "measures, and needs a release build"]
fn two_plans_of_200_000_files_take_less_than_a_second() {
    for (files, most) in [(20_000, 100), (200_000, 1_000), (2_000_000, 15_000)] {
        for edited in [false, true] {
            let (old, new) = (plan(files, 40, false), plan(files, 40, edited));
            let start = Instant::now();
            let diff = differ(&old, &new);
            let compared = start.elapsed();
            let text = review::diff::text(&diff, false);
            let all = start.elapsed();
            eprintln!(
                "{files} files, edited {edited}: {compared:?}, with text {all:?}, {} lines",
                text.lines().count()
            );
            assert!(all < Duration::from_millis(most));
        }
    }
}
