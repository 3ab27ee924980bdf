//! JSON, Markdown and the list of files.

use review::diff;
use serde_json::Value;

use super::differ;
use crate::planning::support::{Case, runtime};

const ENTRIES: &str = "base_lib_generic lib/libx.so.1 so libx.so.1
                       base_lib_generic lib/data/a data 100
                       base_lib_generic lib/data/b data 200";

fn plan(lines: &str) -> plan::Plan {
    Case::new(&[runtime("core", &format!("artifact \"base\" \"lib\"\n{lines}"))], ENTRIES).plan()
}

#[test]
fn the_files_format_has_a_line_for_every_file() {
    let diff = differ(&plan(""), &plan("exclude \"lib/data/**\"\nrpath \"core\" \"lib\""));
    let text = diff::text(&diff, true);
    assert!(
        text.ends_with(
            "
x-core
  - lib/data/a       100 B  unowned now: excluded by packages.kdl:12
  - lib/data/b       200 B  unowned now: excluded by packages.kdl:12
  ~ lib/libx.so.1           copy → relink

unowned
  + lib/data/a       100 B  base_lib_generic
  + lib/data/b       200 B  base_lib_generic
"
        ),
        "{text}"
    );
}

#[test]
fn json_has_its_format_and_every_file() {
    let diff = differ(&plan(""), &plan("exclude \"lib/data/**\""));
    let json: Value = serde_json::to_value(&diff).unwrap();
    assert_eq!(json["format"], 1);
    assert_eq!(json["old"]["label"], "old");
    let change = &json["packages"][0]["changes"][0];
    assert_eq!(change["what"], "vanished");
    assert_eq!(change["now"], "unowned now: excluded by packages.kdl:12");
    assert_eq!(change["places"][0]["pattern"], "lib/data/**");
    let files: Vec<&str> =
        change["files"].as_array().unwrap().iter().map(|f| f["path"].as_str().unwrap()).collect();
    assert_eq!(files, ["lib/data/a", "lib/data/b"]);
    assert_eq!(
        json["packages"][0]["old"]["size"].as_u64().unwrap()
            - json["packages"][0]["new"]["size"].as_u64().unwrap(),
        300
    );
}

#[test]
fn markdown_is_a_table_and_a_coloured_block() {
    let diff = differ(&plan(""), &plan("exclude \"lib/data/**\""));
    assert_eq!(
        diff::markdown(&diff),
        "\
> [!CAUTION]
> **2 files (300 B) are in no package now: lib/data/a, lib/data/b**

**`old`** → **`new`**  
version 1.0, mode kpack, platform linux_x86_64  

| | package | files | | size | |
|---|---|--:|--:|--:|--:|
| ~ | x-core | 5 | -2 | 532 B | -300 B |
|   | all | 5 | -2 | 532 B | -300 B |

```diff
@@ x-core @@
- lib/data/**  2 files  300 B  unowned now: excluded by packages.kdl:12

@@ unowned @@
+ lib/data/**  2 files  300 B  base_lib_generic
```
"
    );
}

#[test]
fn markdown_fits_a_comment_for_all_differences() {
    let mut old = plan("");
    let template = old.distributions[0].clone();
    for n in 0..2000 {
        let mut more = template.clone();
        more.name = format!("x-{n}").parse().unwrap();
        more.variant = None;
        more.metadata.summary = format!("```` {} ````", "w".repeat(900));
        old.distributions.push(more);
    }
    let mut new = old.clone();
    for (n, distribution) in new.distributions.iter_mut().enumerate() {
        distribution.metadata.summary = format!("another {n}");
    }
    let text = diff::markdown(&differ(&old, &new));
    assert!(text.len() < 64_000, "{} bytes", text.len());
    assert!(
        text.contains("more lines: `rockpack diff` shows them all"),
        "{}",
        &text[text.len() - 200..]
    );
    let few = diff::markdown(&differ(
        &Plan::first_distributions(&old, 3),
        &Plan::first_distributions(&new, 3),
    ));
    assert!(
        few.contains("\n`````diff\n") && few.ends_with("`````\n"),
        "the fence is longer than what is in it:\n{few}"
    );
}

struct Plan;

impl Plan {
    /// Returns the plan with only its first distributions.
    fn first_distributions(plan: &plan::Plan, count: usize) -> plan::Plan {
        let mut plan = plan.clone();
        plan.distributions.truncate(count);
        plan
    }
}

#[test]
fn equal_plans_have_a_message() {
    let diff = differ(&plan(""), &plan(""));
    assert_eq!(diff::text(&diff, true), "no difference\n");
    assert_eq!(diff::markdown(&diff), "no difference\n");
    assert!(diff.packages.is_empty() && diff.same == 1);
}
