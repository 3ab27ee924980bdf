//! Plans for reports: a small one with every step, one with hostile names, and large ones.

use plan::{Distribution, Labelled, Member, Plan, Warning};

use super::support::{Case, devel, package, runtime};

/// Names that a page or a comment may take for markup. Paths have no control characters.
pub const HOSTILE: [&str; 9] = [
    "</script><script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<!--",
    "a\"b'c`d",
    "a|b",
    "</details>*x*_y_[z](u)",
    "🚀 \u{202e}x",
    "@someone #1",
    "{{script}}\u{2028}",
];

/// Returns a plan with every step, an absent entry and an unowned file.
pub fn small() -> Plan {
    let packages = [
        package("meta", "selector", "\"x\" module=\"x_meta\" per=\"none\"", "requires \"core\""),
        runtime(
            "core",
            "artifact \"base\" \"lib\" \"run\"\nrpath \"core\" \"lib\"\nalias \"lib/libx.so\" as=\"forward\"\nexclude \"share/out/**\"",
        ),
        devel("artifacts-of \"core\""),
    ];
    let entries = "base_lib_generic lib/libx.so.1.0 so libx.so.1
                   base_lib_generic lib/libx.so.1 link libx.so.1.0
                   base_lib_generic lib/libx.so link libx.so.1
                   base_lib_generic share/doc/base/LICENSE text a
                   base_lib_generic share/data data 123456
                   base_lib_generic share/out/a text a
                   base_run_generic bin/tool exe
                   base_run_generic bin/other link tool
                   base_dev_generic include/x.h text x
                   rest_dev_generic include/y.h data 4321
                   rest_doc_generic doc/y text y";
    let (mut plan, _) = Case::new(&packages, entries).plan_and_warnings();
    plan.notes.push("ignored `x.txt`: not an artifact".to_owned().into());
    plan
}

/// Returns the small plan with hostile names in all places.
pub fn hostile() -> Plan {
    let mut plan = small();
    plan.platform_tag = String::from("x\"><b>");
    plan.notes =
        HOSTILE.iter().map(|name| format!("a note on {name}\nwith a second line").into()).collect();
    plan.warnings = HOSTILE.iter().map(|name| warning(name)).collect();
    let core = plan.distributions.iter_mut().find(|d| d.name.as_str() == "x-core").unwrap();
    core.metadata.summary = HOSTILE.concat();
    core.metadata.requires_dist = HOSTILE.map(str::to_owned).into();
    let template = core.members[0].clone();
    let hostile = HOSTILE.iter().map(|name| Member {
        path: format!("{name}/{name}").parse().unwrap(),
        size: 1 << 20,
        ..template.clone()
    });
    core.members.extend(hostile);
    for absent in &mut core.absent {
        absent.reason = HOSTILE.join("\n");
        absent.rule = "</script>".into();
    }
    for (unowned, name) in plan.unowned.iter_mut().zip(HOSTILE) {
        unowned.origin.path = name.parse().unwrap();
    }
    plan
}

/// Returns a warning with a hostile name in all places.
fn warning(name: &str) -> Warning {
    Warning {
        code: "unresolved-library".to_owned(),
        message: format!("`{name}` is not found\nby {name}"),
        places: vec![Labelled { rule: "packages.kdl:1".to_owned(), text: name.to_owned() }],
        help: Some(name.to_owned()),
        expected: None,
    }
}

/// Returns a plan with these numbers of distributions, files in each, unowned files and notes.
pub fn large(distributions: usize, files: usize, unowned: usize, notes: usize) -> Plan {
    let mut plan = hostile();
    let core = plan.distributions.iter().find(|d| d.name.as_str() == "x-core").unwrap().clone();
    let copy = core.members.iter().find(|m| m.step.name() == "relink").unwrap().clone();
    let members = (0..files).map(|i| Member {
        path: format!("lib/d{:04}/libraryfile{i}.so", i / 16).parse().unwrap(),
        ..copy.clone()
    });
    let members: Vec<Member> = members.collect();
    let numbered = |i: usize| Distribution {
        name: format!("x-core-{i}").parse().unwrap(),
        members: members.clone(),
        ..core.clone()
    };
    plan.distributions = (0..distributions).map(numbered).collect();
    let first = plan.unowned[0].clone();
    plan.unowned = (0..unowned)
        .map(|i| {
            let mut file = first.clone();
            file.origin.artifact.name = format!("artifact{i}").parse().unwrap();
            file
        })
        .collect();
    plan.notes = (0..notes).map(|i| format!("note {i}: `{}`", "<".repeat(1000)).into()).collect();
    plan
}
