//! `rockpack project`.

use base::names::PackageName;
use base::source::{Code, Problem, Problems, printable_lines};
use base::text::{Column, Table, counted, with_causes};
use projects::{CHECKOUTS_FORMAT, CheckoutState, CheckoutStates, GitError, State};

use super::{Failure, environment, print, print_exact};
use crate::cli::{CheckoutArgs, ProjectCommand};
use crate::{inputs, ui};

pub fn run(command: &ProjectCommand) -> Result<(), Failure> {
    match command {
        ProjectCommand::List(list) => listed(&list.checkouts, false),
        ProjectCommand::Clone(clone) => listed(&clone.checkouts, true),
    }
}

fn listed(args: &CheckoutArgs, clone: bool) -> Result<(), Failure> {
    let sources = inputs::manifest::sources(args.manifest.as_deref())?;
    let manifest = inputs::manifest::decode(&sources)?;
    let survey = || {
        projects::checkouts(&manifest, &args.sources, args.version.as_ref())
            .map_err(|e| environment(format!("cannot read the sources: {}", with_causes(&e))))
    };
    let (mut checkouts, mut problems) = (survey()?, Problems::new());
    if clone {
        let missing = |c: &&CheckoutState| c.state == State::Missing && c.git.is_some();
        for checkout in checkouts.iter().filter(|c| missing(c) || c.is_pending) {
            if let Err(problem) = cloned(checkout, args) {
                problems.push(*problem);
            }
        }
        checkouts = survey()?;
    }
    if args.remote {
        for checkout in &mut checkouts {
            checkout.query_remote().map_err(|e| failed(&e))?;
        }
    }
    let fine = checkouts.iter().all(|checkout| checkout.state == State::Fine);
    if args.json {
        let states = CheckoutStates { format: CHECKOUTS_FORMAT, checkouts };
        let text = serde_json::to_string_pretty(&states).map_err(|e| environment(e.to_string()))?;
        print_exact(&format!("{text}\n"))?;
    } else {
        print(&printable_lines(&text(&checkouts, args)))?;
    }
    if !problems.is_empty() {
        return Err(problems.into());
    }
    if fine { Ok(()) } else { Err(Failure::Reported) }
}

fn cloned(checkout: &CheckoutState, args: &CheckoutArgs) -> Result<(), Box<Problem>> {
    if !checkout.is_pending {
        ui::print_message(&format!("{}: cloning", checkout.directory));
        clone(checkout, args)?;
    }
    initialized(checkout, args)
}

fn clone(checkout: &CheckoutState, args: &CheckoutArgs) -> Result<(), Box<Problem>> {
    let directory = &checkout.directory;
    if checkout.needs_version {
        let message = format!("{directory} was not cloned: each version has a branch");
        return Err(Problem::usage(Code::Environment, message).help("--version V names it").into());
    }
    if let Err(error) = checkout.clone_into(&args.sources) {
        let message = format!("{directory} was not cloned: {}", with_causes(&error));
        let problem = Problem::error(Code::Environment, message);
        let help = match checkout.near_branches() {
            Ok(Some(near)) if !near.is_empty() => format!(
                "the repository has no branch {}; near ones are {}: give another --version, or \
                 check one out by hand",
                checkout.expected_branch.as_deref().unwrap_or_default(),
                near.join(", ")
            ),
            _ => error
                .remedy()
                .unwrap_or("check the network and the address, or check it out by hand")
                .to_owned(),
        };
        return Err(problem.help(help).into());
    }
    Ok(())
}

fn initialized(checkout: &CheckoutState, args: &CheckoutArgs) -> Result<(), Box<Problem>> {
    let directory = &checkout.directory;
    let needed = checkout.init.as_ref().filter(|_| checkout.needs_program(&args.sources));
    let Some(program) = needed else { return Ok(()) };
    ui::print_message(&format!("{directory}: running {program}"));
    let reason = match checkout.initialize(&args.sources) {
        Ok(None) => return Ok(()),
        Ok(Some(reason)) => reason,
        Err(error) => format!("{program}: {}", with_causes(&error)),
    };
    let problem = Problem::error(Code::Environment, format!("{directory}: {reason}"));
    Err(problem.help("correct its cause; `rockpack project clone` runs it again").into())
}

/// Maximum of changed files to name; the JSON has all.
const NAMED: usize = 5;

fn failed(error: &GitError) -> Failure {
    let problem = Problem::error(Code::Environment, with_causes(error));
    let help = error.remedy().unwrap_or("check the network, or check the sources out by hand");
    problem.help(help).into()
}

fn text(checkouts: &[CheckoutState], args: &CheckoutArgs) -> String {
    let mut table = Table::new([Column::left()]);
    for checkout in checkouts {
        table.row([checkout.directory.to_string(), described(checkout)]);
        let mut line = |line: String| table.row([String::new(), format!("  {line}")]);
        if checkout.state == State::Missing {
            line(how_to_get(checkout, args));
            continue;
        }
        let names: Vec<&str> = checkout.projects.iter().map(PackageName::as_str).collect();
        if !names.is_empty() {
            line(format!("has {}", names.join(", ")));
        }
        for (name, lines) in &checkout.lacking {
            for lacking in lines {
                line(format!("{name}: {lacking}"));
            }
        }
        for file in checkout.changed.iter().take(NAMED) {
            line(format!("{file} is not as in the commit"));
        }
        if checkout.changed.len() > NAMED {
            line(format!("and {}", counted(checkout.changed.len() - NAMED, "more file")));
        }
        let expected = checkout.expected_branch.as_deref().unwrap_or("the default branch");
        match (checkout.state, &checkout.expected_commit) {
            (State::OtherBranch, _) => line(format!("expected {expected}")),
            (State::OtherCommit, Some(commit)) => line(format!("{expected} is at {commit}")),
            _ => {}
        }
    }
    table.to_string()
}

fn described(checkout: &CheckoutState) -> String {
    let word = match checkout.state {
        State::Fine => "fine",
        State::Missing => return "missing".to_owned(),
        State::Lacking => "not complete",
        State::OtherBranch => "another branch",
        State::OtherCommit => "another commit",
        State::Dirty => "dirty",
    };
    let branch = match (&checkout.branch, &checkout.commit) {
        (Some(branch), _) => format!(", {branch}"),
        (None, Some(_)) => ", no branch".to_owned(),
        (None, None) => ", no version control".to_owned(),
    };
    let tree = checkout.tree.as_ref().map(|tree| format!(", files {tree}")).unwrap_or_default();
    // Another state hides that files differ from the commit.
    let dirty = checkout.state != State::Dirty && !checkout.changed.is_empty();
    let dirty = if dirty { ", dirty" } else { "" };
    let commit = checkout.commit.as_ref().map(|commit| format!(" at {commit}"));
    format!("{word}{branch}{}{tree}{dirty}", commit.unwrap_or_default())
}

fn how_to_get(checkout: &CheckoutState, args: &CheckoutArgs) -> String {
    let Some(address) = &checkout.git else {
        return "the manifest has no address for it".to_owned();
    };
    if checkout.needs_version {
        return format!("--version V names its branch in {address}");
    }
    let branch = checkout.expected_branch.as_ref();
    let branch = branch.map(|branch| format!("--branch {branch} ")).unwrap_or_default();
    let place = args.sources.join(checkout.directory.as_str());
    format!("git clone {branch}{address} {}", place.display())
}
