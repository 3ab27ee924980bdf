//! Each fault of a server, in each phase of each command: the command ends in time, in little
//! memory, and no other server sees a byte of a credential.
//!
//! A process for each kind of store runs the commands, because credentials are variables.

#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a test, in functions without the attribute"
)]

use std::collections::BTreeMap;
use std::path::Path;
use std::process::{Command, Stdio};

mod cases;
mod commands;
mod faults;
mod server;
mod tls;

use cases::{Case, Group, MIN_CASES, SECRETS, cases};
use server::{Elsewhere, Server};

/// Memory of a process with all its commands, in KiB.
const MOST_MEMORY: u64 = 256 << 10;

/// Limit of a case: much more than the patience of its calls, [`commands::PATIENCE`], because the
/// machine may be busy.
const MOST_MILLISECONDS: u64 = 40_000;

#[test]
fn every_fault_ends() {
    let cases = cases();
    let names: std::collections::BTreeSet<String> = cases.iter().map(Case::name).collect();
    assert_eq!(names.len(), cases.len(), "each case has its own name");
    assert!(cases.len() >= MIN_CASES, "{}", cases.len());
    let elsewhere = Elsewhere::start();
    let server = Server::start(cases.clone(), &elsewhere);
    let mut faults = Vec::new();
    let groups = Group::ALL.map(|group| (group, start_commands(group, &server)));
    for (group, child) in groups {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let outcomes: BTreeMap<&str, (&str, &str)> = text
            .lines()
            .filter_map(|line| line.strip_prefix("case\t"))
            .filter_map(|line| line.split_once('\t'))
            .filter_map(|(name, rest)| Some((name, rest.split_once('\t')?)))
            .collect();
        for (number, case) in cases.iter().enumerate().filter(|(_, case)| case.group == group) {
            let name = case.name();
            if !server.was_asked(number) {
                faults.push(format!("{name}: its phase is not reached"));
            }
            let Some((took, outcome)) = outcomes.get(name.as_str()) else {
                faults.push(format!("{name}: it did not end: {}", last_lines(&output)));
                continue;
            };
            if took.parse::<u64>().unwrap() > MOST_MILLISECONDS {
                faults.push(format!("{name}: it took {took} ms"));
            }
            faults.extend(case.fault_of(outcome).map(|why| format!("{name}: {why}: {outcome}")));
            faults.extend(
                leaked_secret(outcome)
                    .map(|secret| format!("{name}: it prints {secret}: {outcome}")),
            );
        }
        let memory = text.lines().find_map(|line| line.strip_prefix("memory\t"));
        let memory: u64 = memory.map_or(u64::MAX, |memory| memory.parse().unwrap());
        println!("{group:?}: {memory} KiB, {} cases", outcomes.len());
        if memory > MOST_MEMORY {
            faults.push(format!("{group:?}: {memory} KiB of memory"));
        }
    }
    let heard = elsewhere.heard();
    faults.extend(
        leaked_secret(&heard).map(|secret| format!("another server gets {secret}: {heard}")),
    );
    if heard.to_lowercase().contains("referer:") || server.saw_referer() {
        faults.push("a request has a Referer".to_owned());
    }
    if !heard.contains("GET ") {
        faults.push("no redirect of a web server leads to the other server".to_owned());
    }
    assert!(faults.is_empty(), "{} of {}:\n{}", faults.len(), cases.len(), faults.join("\n"));
}

fn last_lines(output: &std::process::Output) -> String {
    let text = String::from_utf8_lossy(&output.stderr).into_owned();
    text.lines().rev().take(5).collect::<Vec<_>>().join(" / ")
}

fn leaked_secret(text: &str) -> Option<&'static str> {
    SECRETS.into_iter().find(|secret| text.contains(secret))
}

fn start_commands(group: Group, server: &Server) -> std::process::Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args([
        "commands_of_a_group",
        "--exact",
        "--ignored",
        "--nocapture",
        "--test-threads=1",
    ]);
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy().into_owned();
        if ["AWS_", "AZURE_", "GOOGLE_"].iter().any(|family| text.starts_with(family))
            || text.to_lowercase().ends_with("_proxy")
        {
            command.env_remove(name);
        }
    }
    // Servers of `Group::Web` have no TLS, so that the program needs no authority.
    let authorities = if group == Group::Web { Path::new("/dev/null") } else { &*server.authority };
    command.env("SSL_CERT_FILE", authorities).env_remove("SSL_CERT_DIR");
    let store = server.store(group);
    command.env(GROUP, group.name()).env(CONTROL, &server.address).env(STORE, store);
    command.envs(group.variables(store, &server.secrets));
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

const GROUP: &str = "ROCKPACK_WIRE_GROUP";
const CONTROL: &str = "ROCKPACK_WIRE_CONTROL";
const STORE: &str = "ROCKPACK_WIRE_STORE";

#[test]
#[ignore = "started by `every_fault_ends`, once for each kind of store"]
fn commands_of_a_group() {
    let [Ok(group), Ok(control), Ok(store)] = [GROUP, CONTROL, STORE].map(std::env::var) else {
        return;
    };
    let server = commands::Addresses { control: &control, store: &store };
    commands::run(&cases(), &group, server);
}
