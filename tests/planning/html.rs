//! `rockpack plan --format html`: the data in the page equals the plan, and contains no markup.
//! `tests/browser` tests the page in a browser.

use std::collections::BTreeSet;

use plan::{Plan, Step};
use review::html_page;
use serde_json::Value;

use super::reports::{HOSTILE, hostile, large, small};

fn data_text(page: &str) -> &str {
    let (_, rest) = page.split_once("<script type=\"application/json\" id=\"plan\">").unwrap();
    rest.split_once("</script>").unwrap().0
}

fn data(page: &str) -> Value {
    serde_json::from_str(data_text(page)).unwrap()
}

/// Returns the numbers of a column in either encoding.
fn numbers(column: &Value) -> Vec<usize> {
    let list = |v: &Value| {
        v.as_array()
            .unwrap()
            .iter()
            .map(|n| usize::try_from(n.as_u64().unwrap()).unwrap())
            .collect::<Vec<_>>()
    };
    match column.get("runs") {
        Some(runs) => list(runs).chunks(2).flat_map(|run| vec![run[0]; run[1]]).collect(),
        None => list(column),
    }
}

/// Returns each row of the page as a line: distribution, step, path, size, rule, source.
fn rows(data: &Value) -> Vec<String> {
    let column = |name: &str| numbers(&data["columns"][name]);
    let text = |at: usize| data["strings"][at].as_str().unwrap().to_owned();
    let (parents, names) =
        (numbers(&data["directories"]["parent"]), numbers(&data["directories"]["name"]));
    let path = |mut directory: usize, name: usize| {
        let mut path = text(name);
        while directory > 0 {
            path = format!("{}/{path}", text(names[directory - 1]));
            directory = parents[directory - 1];
        }
        path
    };
    let (distribution, step, directory, name) =
        (column("distribution"), column("step"), column("directory"), column("name"));
    let (size, rule, artifact, base) =
        (column("size"), column("rule"), column("artifact"), column("base"));
    let (strip, source, detail, rpath) =
        (column("strip"), column("source"), column("detail"), column("rpath"));
    let row = |at: usize| {
        let path = path(directory[at], name[at]);
        let from = match artifact[at] {
            0 => String::new(),
            id => {
                let id = &data["artifacts"][id - 1];
                let same = path.split('/').skip(strip[at]).collect::<Vec<_>>().join("/");
                let below = if source[at] == 0 { same } else { text(source[at]) };
                let part = |key: &str| id[key].as_str().unwrap().to_owned();
                format!(
                    "{}_{}_{}/{}/{below}",
                    part("name"),
                    part("component"),
                    part("family"),
                    text(base[at])
                )
            }
        };
        let step = data["steps"][step[at]].as_str().unwrap();
        let (rule, detail, rpath) = (text(rule[at]), text(detail[at]), text(rpath[at]));
        format!("{} {step} {path} {} {rule} {from} {detail} {rpath}", distribution[at], size[at])
    };
    (0..step.len()).map(row).collect()
}

/// Returns these lines from the plan.
fn expected(plan: &Plan) -> Vec<String> {
    let mut lines = Vec::new();
    for (number, distribution) in (1..).zip(&plan.distributions) {
        let licenses: BTreeSet<_> = distribution.licenses.iter().map(|l| &l.path).collect();
        let below =
            format!("{}-{}.dist-info/licenses", distribution.name.file_stem(), plan.version);
        for (at, m) in
            distribution.all_members().enumerate().filter(|(_, m)| m.step != Step::Directory)
        {
            let license = at >= distribution.members.len()
                && at < distribution.members.len() + licenses.len();
            let path = if license { format!("{below}/{}", m.path) } else { m.path.to_string() };
            let from = m.step.source().map(ToString::to_string).unwrap_or_default();
            let (detail, rpath) = match &m.step {
                Step::Relink { rpath, .. } => (String::new(), rpath.clone()),
                Step::Stub { target, .. } => (format!("starts {target}"), String::new()),
                Step::Alias { needed, rpath, .. } => (format!("needs {needed}"), rpath.clone()),
                Step::Link { target } => (format!("leads to {target}"), String::new()),
                Step::Copy { .. } | Step::Directory | Step::Render { .. } => {
                    (String::new(), String::new())
                }
            };
            lines.push(format!(
                "{number} {} {path} {} {} {from} {detail} {rpath}",
                m.step.name(),
                m.size,
                m.rule
            ));
        }
    }
    for (number, distribution) in (1..).zip(&plan.distributions) {
        lines.extend(
            distribution
                .absent
                .iter()
                .map(|a| format!("{number} absent {} 0 {}  {} ", a.path, a.rule, a.reason)),
        );
    }
    lines.extend(
        plan.unowned
            .iter()
            .map(|u| format!("0 unowned {} {}  {} {} ", u.origin.path, u.size, u.origin, u.reason)),
    );
    lines
}

#[test]
fn the_data_of_a_small_plan() {
    let plan = small();
    let data = data(&html_page(&plan));
    let steps: BTreeSet<&str> =
        data["steps"].as_array().unwrap().iter().map(|s| s.as_str().unwrap()).collect();
    assert_eq!(
        steps,
        BTreeSet::from(["absent", "alias", "copy", "link", "relink", "render", "stub", "unowned"]),
        "the plan has every step"
    );
    assert_eq!(rows(&data), expected(&plan));
    let lines = rows(&data).join("\n") + "\n";
    workbench::expected::compare("tests/fixtures/planning/page-data.txt", &lines);
}

#[test]
fn hostile_names_arrive_whole_and_end_nothing() {
    let plan = hostile();
    let page = html_page(&plan);
    let data = data(&page);
    assert_eq!(rows(&data), expected(&plan));
    assert_eq!(data["notes"].as_array().unwrap().len(), HOSTILE.len());
    for (warning, name) in data["warnings"].as_array().unwrap().iter().zip(HOSTILE) {
        assert_eq!(warning["help"], name);
        assert_eq!(warning["places"][0]["text"], name);
    }
    assert!(!data_text(&page).contains('<'));
    assert_eq!(page.matches("<script").count(), 2, "the data and the script");
    assert_eq!(page.matches("</script>").count(), 2);
}

#[test]
fn a_page_holds_nothing_of_the_host_and_is_the_same_again() {
    let page = html_page(&small());
    assert_eq!(page, html_page(&small()));
    assert!(
        !page.contains(env!("CARGO_MANIFEST_DIR"))
            && !page.contains("http:")
            && !page.contains("https:")
    );
}

#[test]
fn the_data_grows_by_little_with_each_file() {
    let size = |files: usize| html_page(&large(1, files, 0, 0)).len();
    let (few, many) = (size(1000), size(21_000));
    // A quoted name has about 23 of these bytes.
    assert!((many - few) / 20_000 < 60, "{} bytes a file", (many - few) / 20_000);
}
