//! Composite action for pull requests: summary and comment begin with the verdict.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Output};

use fs_err as fs;

use crate::demo_tree::scratch;
use crate::program::{PROGRAM, succeed, text};
use action::{Context, Outcome};
use workbench::skips::has;

#[path = "review_action/action.rs"]
mod action;

fn run(dir: &Path, script: &str) -> Output {
    let path = format!("{}:{}", dir.join("programs").display(), std::env::var("PATH").unwrap());
    let mut bash = Command::new("bash");
    bash.args(["-euc", script]).current_dir(dir).env("PATH", path);
    for name in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM"] {
        bash.env(name, "/dev/null");
    }
    bash.envs([("CATALOG", "c.json"), ("MANIFEST", "m"), ("BASE", "HEAD"), ("TITLE", "packages")]);
    bash.env_remove("GITHUB_WORKSPACE").env_remove("ROCKPACK_MANIFEST");
    bash.env("RUNNER_TEMP", dir).env("GITHUB_STEP_SUMMARY", dir.join("summary.md"));
    bash.output().unwrap()
}

#[test]
fn a_pull_request_with_a_loss_or_a_new_warning_fails_after_its_comment_is_written() {
    if !has("bash", "the action of reviews") || !has("git", "the action of reviews") {
        return;
    }
    let scratch = scratch(true);
    let dir = scratch.path();
    crate::repository::copy(&dir.join("m"), "");
    succeed(dir, &["artifact", "scan", "--artifact-dir", "artifacts", "-o", "c.json"]);
    fs::create_dir(dir.join("programs")).unwrap();
    std::os::unix::fs::symlink(PROGRAM, dir.join("programs/rockpack")).unwrap();
    let commit =
        "git init -q && git add m && git -c user.name=t -c user.email=t@example.org commit -qm 1";
    assert!(run(dir, commit).status.success());
    let action = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/actions/review/review");
    let review = || {
        let _ = fs::remove_file(dir.join("summary.md"));
        let done = run(dir, &format!("'{}' plan", action.display()));
        let read = |name: &str| fs::read_to_string(dir.join(name)).unwrap();
        let (comment, summary) = (read("rockpack-review.md"), read("summary.md"));
        assert!(comment.starts_with("<!-- rockpack review: packages -->\n## packages\n\n"));
        assert!(summary.starts_with(&comment), "{summary}");
        (done.status.code(), comment, text(&done.stderr))
    };
    let (status, comment, err) = review();
    assert_eq!((status, &*err), (Some(0), ""), "{comment}");
    assert!(comment.ends_with("\n\nno difference\n"), "{comment}");
    let file = dir.join("m/packages.kdl");
    let packages = fs::read_to_string(&file).unwrap();
    let exclude = "    exclude \"**/cmake/**\"\n";
    let edit = |old: &str, new: &str| fs::write(&file, packages.replacen(old, new, 1)).unwrap();
    edit(exclude, &format!("{exclude}    exclude \"lib/llvm/lib/clang/**\"\n"));
    let (status, comment, err) = review();
    assert_eq!(status, Some(1), "{err}");
    let verdict = "> [!CAUTION]\n> **users of only `rocm-sdk-core` lose 1 file";
    assert!(comment.contains(verdict) && err.contains("::error"), "{comment}{err}");
    assert!(fs::read_to_string(dir.join("summary.md")).unwrap().contains("rocm-sdk-libraries"));
    let library = "    find-library \"rpp\"\n";
    edit(library, &format!("    find-library \"gone\" so=\"lib/gone.so\"\n{library}"));
    let (status, comment, err) = review();
    assert_eq!(status, Some(1), "{comment}");
    assert!(comment.contains("> **nothing lost**"), "{comment}");
    assert!(err.contains("::error") && err.contains("line="), "{err}");
    edit(exclude, "    exclude \"**/cmake/**\" \"[\"\n");
    let (status, comment, _) = review();
    assert_eq!(status, Some(1));
    assert!(comment.contains("There is no plan: the job has the reasons."), "{comment}");
}

fn file(name: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

const PULL_REQUEST: [(&str, &str); 4] = [
    ("github.event_name", "pull_request"),
    ("github.repository", "a/rocm"),
    ("github.event.pull_request.head.repo.full_name", "a/rocm"),
    ("inputs.token", "secret"),
];

fn pull_request_with<'v>(more: &[(&'v str, &'v str)]) -> BTreeMap<&'v str, &'v str> {
    PULL_REQUEST.iter().chain(more).copied().collect()
}

/// Returns the steps that run after a step with this outcome.
fn later(values: &BTreeMap<&str, &str>, outcome: Outcome) -> Vec<String> {
    let steps = action::steps(&file(".github/actions/review/action.yml"));
    let context = Context { values, outcome };
    let later = steps.iter().skip(1).filter(|step| action::should_run(step, &context));
    later.map(|step| step.name.clone()).collect()
}

#[test]
fn a_loss_is_posted_and_texts_of_forks_are_kept() {
    let fork = ("github.event.pull_request.head.repo.full_name", "b/rocm");
    for outcome in [Outcome::Success, Outcome::Failure] {
        assert_eq!(later(&pull_request_with(&[]), outcome), ["Comment"], "{outcome:?}");
        assert_eq!(
            later(&pull_request_with(&[fork]), outcome),
            ["Keep the comment"],
            "{outcome:?}"
        );
        assert_eq!(
            later(&pull_request_with(&[fork, ("inputs.token", "")]), outcome),
            ["Keep the comment"]
        );
        assert_eq!(later(&pull_request_with(&[("inputs.token", "")]), outcome), [""; 0]);
        assert_eq!(later(&pull_request_with(&[("github.event_name", "push")]), outcome), [""; 0]);
    }
    assert_eq!(later(&pull_request_with(&[]), Outcome::Cancelled), [""; 0]);
}

#[test]
fn steps_read_the_values_that_github_fills_in() {
    let steps = action::steps(&file(".github/actions/review/action.yml"));
    let base = |values: &[(&str, &str)]| {
        let values = pull_request_with(values);
        let context = Context { values: &values, outcome: Outcome::Success };
        let (_, text) = steps[0].env.iter().find(|(name, _)| name == "BASE").unwrap();
        action::interpolate(text, &context)
    };
    assert_eq!(base(&[]), "HEAD~1");
    assert_eq!(base(&[("github.base_ref", "main")]), "origin/main");
    assert_eq!(base(&[("github.base_ref", "main"), ("inputs.base", "v1")]), "v1");
    let names: Vec<Option<&str>> = steps.iter().map(|step| step.uses.as_deref()).collect();
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    for uses in names.into_iter().flatten() {
        let (_, commit) = uses.split_once('@').unwrap();
        assert!(commit.len() == 40 && commit.chars().all(is_digit), "{uses}");
    }
}

#[test]
fn the_interpreter_reads_yaml_and_conditions_like_github() {
    let steps = action::steps(
        "runs:\n  steps:\n    - name: 'a # b' # c\n      uses: a/b@v4 # c\n      if: inputs.a == 'x'\n",
    );
    let [step] = &steps[..] else { panic!("{steps:?}") };
    assert_eq!((&*step.name, step.uses.as_deref()), ("a # b", Some("a/b@v4")));
    assert_eq!(step.condition, "inputs.a == 'x'");
    let runs = |condition: &str, value: &str| {
        let values = [("inputs.a", value)].into();
        let step = action::Step { condition: condition.to_owned(), ..Default::default() };
        action::should_run(&step, &Context { values: &values, outcome: Outcome::Success })
    };
    // Inputs are texts, and every text but the empty one is true.
    assert!(runs("inputs.a", "false") && !runs("inputs.a", "") && !runs("!inputs.a", "false"));
    assert!(runs("inputs.a == 'X' && !failure()", "x") && !runs("inputs.a != 'X'", "x"));
}

/// A program that writes its arguments to `calls`, and prints the file `answer`.
fn recorder(dir: &Path, name: &str) {
    let programs = dir.join("programs");
    fs::create_dir_all(&programs).unwrap();
    let program = programs.join(name);
    let text = format!(
        "#!/bin/sh\nfor a in \"$@\"; do printf '%s ' \"$a\"; done >> {0}/calls\necho >> {0}/calls\ncat {0}/answer\n",
        dir.display()
    );
    fs::write(&program, text).unwrap();
    fs::set_permissions(&program, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
}

fn called(dir: &Path, answer: &str, script: &str, env: &[(&str, &str)]) -> String {
    fs::write(dir.join("answer"), answer).unwrap();
    let _ = fs::remove_file(dir.join("calls"));
    let lines: Vec<String> =
        env.iter().map(|(name, value)| format!("export {name}='{value}'\n")).collect();
    let env = lines.concat();
    let done = run(dir, &format!("{env}{script}"));
    assert!(done.status.success(), "{}", text(&done.stderr));
    fs::read_to_string(dir.join("calls")).unwrap_or_default()
}

#[test]
fn a_comment_is_made_once_and_then_edited() {
    if !has("bash", "the action of reviews") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    recorder(dir, "gh");
    let steps = action::steps(&file(".github/actions/review/action.yml"));
    let step = steps[1].run.as_deref().unwrap();
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/actions/review");
    let env = [
        ("GITHUB_ACTION_PATH", home.to_str().unwrap()),
        ("GITHUB_REPOSITORY", "a/rocm"),
        ("NUMBER", "7"),
    ];
    assert_eq!(called(dir, "", step, &env), "", "without a text, nothing is posted");
    fs::write(dir.join("rockpack-review.md"), "a loss").unwrap();
    let first = called(dir, "", step, &env);
    assert!(
        first.contains("api --silent repos/a/rocm/issues/7/comments --field body=@"),
        "{first}"
    );
    let next = called(dir, "91\n", step, &env);
    assert!(next.contains("--method PATCH repos/a/rocm/issues/comments/91 "), "{next}");
}

#[test]
fn a_text_of_a_fork_reaches_its_own_pull_request_alone() {
    if !has("bash", "the action of reviews") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    recorder(dir, "gh");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join(".github/actions/review/review");
    let script = format!("'{}' post", script.display());
    let texts = dir.join("texts");
    let env = [
        ("GITHUB_REPOSITORY", "a/rocm"),
        ("HEAD_OWNER", "b"),
        ("HEAD_BRANCH", "patch-1"),
        ("TEXTS", texts.to_str().unwrap()),
    ];
    for (name, text) in [
        ("good", "<!-- rockpack review: kpack-full -->\n## kpack-full\n"),
        ("bad", "<!-- rockpack review: \") or true) # -->\nx\n"),
        ("none", "spam\n"),
    ] {
        fs::create_dir_all(texts.join(name)).unwrap();
        fs::write(texts.join(name).join("rockpack-review.md"), text).unwrap();
    }
    let calls = called(dir, "12\n", &script, &env);
    assert!(calls.starts_with("api repos/a/rocm/pulls?state=open&head=b:patch-1 "), "{calls}");
    assert_eq!(calls.matches("--field").count(), 1, "{calls}");
    let posted = fs::read_to_string(dir.join("rockpack-review.md")).unwrap();
    assert!(posted.starts_with("spam") || posted.starts_with("<!-- rockpack"), "{posted}");
    let calls = called(dir, "", &script, &env);
    assert_eq!(calls.lines().count(), 1, "no open pull request: {calls}");
    let workflow = file(".github/workflows/comment.yml");
    let plan = file(".github/workflows/plan.yml");
    assert!(workflow.contains("workflows: [Plan]") && plan.contains("\nname: Plan\n"));
}

#[test]
fn gitlab_posts_after_a_failed_script() {
    if !has("bash", "the job of reviews") || !has("python3", "the job of reviews") {
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    recorder(dir, "curl");
    let job = file(".gitlab/review.yml");
    let (_, after) = job.split_once("  after_script:\n    - |\n").unwrap();
    let (after, rest) = after.split_once("  artifacts:\n").unwrap();
    assert!(rest.contains("when: always"), "{rest}");
    let script: String = after.lines().map(|line| line.trim_start().to_owned() + "\n").collect();
    let env = [("CI_API_V4_URL", "https://g/api"), ("CI_PROJECT_ID", "3")];
    let env = [&env[..], &[("CI_MERGE_REQUEST_IID", "5"), ("ROCKPACK_TOKEN", "t")]].concat();
    fs::write(dir.join("rockpack-review.md"), "a loss").unwrap();
    let note = "[{\"id\": 4, \"body\": \"<!-- rockpack review: packages -->\"}]";
    let calls = called(dir, note, &script, &env);
    assert!(calls.contains("--request PUT") && calls.contains("/merge_requests/5/notes/4"));
    let calls = called(dir, "[]", &script, &env);
    assert!(calls.contains("--request POST"), "{calls}");
    assert_eq!(called(dir, "[]", &script, &[("ROCKPACK_TOKEN", "")]), "");
}

#[test]
fn hooks_format_and_check_the_manifest() {
    let dir = scratch(true);
    let dir = dir.path();
    crate::repository::copy(dir, "");
    let hooks = file(".pre-commit-hooks.yaml");
    let entries: Vec<&str> =
        hooks.lines().filter_map(|line| line.trim().strip_prefix("entry: rockpack ")).collect();
    assert_eq!(entries, ["fmt", "check"]);
    let packages = fs::read_to_string(dir.join("packages.kdl")).unwrap();
    fs::write(dir.join("packages.kdl"), packages.replacen("common {", "common   {", 1)).unwrap();
    assert_eq!(succeed(dir, &["fmt", "packages.kdl", "manifest/stores.kdl"]), "packages.kdl\n");
    assert_eq!(fs::read_to_string(dir.join("packages.kdl")).unwrap(), packages);
    assert!(succeed(dir, &["check"]).contains(", fine"));
}
