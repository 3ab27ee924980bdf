//! Settings of connections, from a `remote` line and variables.

use std::path::{Path, PathBuf};

use base::source::{Code, Problem, Spanned};
use binary::elf::{self, ElfKind};
use cache::{Cache, Store};
use manifest::{Address, Credentials, Header, RemoteRule, RemoteTls, Timeout};
use remote::{Executor, Helper, Options, Secret, SharedCache, Tls, header};

use crate::inputs::shared::{HEADER, Remote};
use crate::ui;

/// Time for sending all packed files.
const BUDGET: std::time::Duration = std::time::Duration::from_mins(2);
/// Retries without a `remote` line.
const RETRIES: usize = 5;

pub fn behind(cache: Cache, remote: &Remote<'_>, jobs: usize) -> Result<Box<dyn Store>, Problem> {
    let Some(options) = options(remote, jobs)? else { return Ok(Box::new(cache)) };
    let shared = SharedCache::new(cache, options)
        .map_err(|error| wrong(&format!("cannot start a thread for the shared cache: {error}")))?;
    Ok(Box::new(shared))
}

/// Returns the connections to the build farm and its storage, if a farm is named.
pub fn farm(remote: &Remote<'_>, jobs: usize) -> Result<Option<(Options, Executor)>, Problem> {
    let Some(options) = options(remote, jobs)? else { return Ok(None) };
    let executor = options.executor.clone();
    Ok(executor.map(|executor| (options, executor)))
}

fn options(remote: &Remote<'_>, threads: usize) -> Result<Option<Options>, Problem> {
    let Some(address) = remote.address().cloned() else { return Ok(None) };
    let (rule, manifest_dir) = (remote.rule, &*remote.manifest_dir);
    let executor = match remote.executor().cloned() {
        Some(address) => {
            Some(Executor { address, properties: properties(rule), program: program(remote)? })
        }
        None => None,
    };
    let tls = rule.and_then(|rule| rule.tls.as_ref());
    let tls = tls.map(|tls| {
        check_tls(tls, [Some(&address), executor.as_ref().map(|executor| &executor.address)])?;
        certificates(tls, manifest_dir)
    });
    let retries = rule.map_or(RETRIES, |rule| rule.tries.saturating_sub(1));
    Ok(Some(Options {
        address,
        instance: rule.map(|rule| rule.instance.clone()).unwrap_or_default(),
        headers: headers(rule, manifest_dir)?,
        helpers: helpers(rule, manifest_dir),
        netrc: std::env::var_os("NETRC")
            .map(Into::into)
            .or_else(|| Some(std::env::home_dir()?.join(".netrc"))),
        tls: tls.transpose()?.unwrap_or_default(),
        timeout: rule.map_or(Timeout::DEFAULT, |rule| rule.timeout).0,
        retries: u32::try_from(retries).unwrap_or(u32::MAX),
        read: !rule.is_some_and(|rule| rule.refresh),
        write: remote.uploads(),
        budget: BUDGET,
        silo: rule.map(|rule| rule.silo.clone()).unwrap_or_default(),
        threads,
        executor,
        listener: ui::events::listener(),
    }))
}

fn certificates(tls: &RemoteTls, manifest_dir: &Path) -> Result<Tls, Problem> {
    let read = |name: &str, file: &Option<Spanned<String>>, holds| {
        let file = file.as_ref();
        file.map(|file| {
            let problem = |problem: Problem| problem.label(&file.place, "of this file");
            pem(name, &manifest_dir.join(&**file), holds).map_err(problem)
        })
        .transpose()
    };
    let roots = read("certificate", &tls.certificate, CERTIFICATE)?;
    let client = read("client-certificate", &tls.client_certificate, CERTIFICATE)?;
    let key = read("client-key", &tls.client_key, KEY)?.map(Secret::new);
    Ok(Tls { roots, identity: client.zip(key) })
}

/// Returns the programs that print headers. A name without `/` is a program in `PATH`.
fn helpers(rule: Option<&RemoteRule>, manifest_dir: &Path) -> Vec<Helper> {
    let helper = |line: &Credentials| {
        let is_path = line.program.contains('/');
        let program =
            if is_path { manifest_dir.join(&line.program) } else { line.program.clone().into() };
        Helper { pattern: line.pattern.clone(), program }
    };
    rule.map(|rule| rule.helpers.iter().map(helper).collect()).unwrap_or_default()
}

/// Names and markers of files in PEM (RFC 7468).
const CERTIFICATE: (&str, &str) = ("certificate", "CERTIFICATE-----");
const KEY: (&str, &str) = ("private key", "PRIVATE KEY-----");

/// Reads a file in PEM. Clients ignore other content, and the server's answer would be misleading.
fn pem(name: &str, path: &Path, (what, marker): (&str, &str)) -> Result<String, Problem> {
    let text = fs_err::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
    if text.lines().any(|line| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(marker))
    {
        return Ok(text);
    }
    Err(wrong(&format!("{name}: {} has no {what} in PEM", path.display()))
        .help("in PEM, it begins with a line `-----BEGIN …-----`"))
}

/// Fails if no address has TLS: certificates would be ignored.
fn check_tls(tls: &RemoteTls, addresses: [Option<&Address>; 2]) -> Result<(), Problem> {
    let is_tls = |address: &&Address| matches!(address, Address::Host { tls: true, .. });
    if addresses.iter().flatten().any(is_tls) {
        return Ok(());
    }
    let file = tls.certificate.as_ref().or(tls.client_certificate.as_ref());
    let problem = wrong("tls: the connection to the server has no TLS")
        .help("write grpcs://HOST:PORT, or take the line away");
    Err(match file {
        Some(file) => problem.label(&file.place, "this would be ignored"),
        None => problem,
    })
}

/// Returns the required properties of the farm's machines, in the order of the protocol.
fn properties(rule: Option<&RemoteRule>) -> Vec<(String, String)> {
    let machines = rule.map(|rule| &*rule.machines).unwrap_or_default();
    let mut properties: Vec<_> =
        machines.iter().map(|machine| (machine.name.clone(), machine.value.clone())).collect();
    properties.sort();
    properties
}

/// Returns the program for the machines of the farm. It must be static: they have no libraries for
/// it.
fn program(remote: &Remote<'_>) -> Result<PathBuf, Problem> {
    let help =
        "name a static one in the `remote` line: program=\"FILE\"; released programs are static";
    let named = remote.rule.and_then(|rule| rule.program.as_ref());
    let (subject, path) = if let Some(named) = named {
        let path = remote.manifest_dir.join(named);
        (format!("program: {}", path.display()), path)
    } else {
        let path = std::env::current_exe().map_err(|error| wrong(&error.to_string()))?;
        ("executor: this rockpack".to_owned(), path)
    };
    let file = fs_err::File::open(&path).map_err(|error| wrong(&error.to_string()).help(help))?;
    let facts = elf::inspect(file.file()).and_then(|info| info.facts());
    match facts.map(|facts| facts.kind) {
        Ok(ElfKind::StaticExecutable | ElfKind::StaticPie) => Ok(path),
        Ok(_) => {
            let why = "is not static: machines of a farm do not have its libraries";
            Err(wrong(&format!("{subject} {why}")).help(help))
        }
        Err(_) => Err(wrong(&format!("{subject} is not a program for Linux")).help(help)),
    }
}

/// Returns the variable's headers, and headers of the line with other names.
fn headers(
    rule: Option<&RemoteRule>,
    manifest_dir: &Path,
) -> Result<Vec<(String, Secret)>, Problem> {
    let text = std::env::var_os(HEADER).unwrap_or_default();
    let text = text.into_string().map_err(|_| wrong(&format!("{HEADER} is not UTF-8")))?;
    let mut headers = Vec::new();
    for (index, line) in text.lines().map(str::trim).enumerate() {
        if !line.is_empty() && !line.starts_with('#') {
            headers.push(header(line).map_err(|error| {
                wrong(&format!("{HEADER}:{}: {error}", index + 1))
                    .help("write NAME=VALUE, such as authorization=Bearer TOKEN")
            })?);
        }
    }
    let lines = rule.map(|rule| &*rule.headers).unwrap_or_default();
    let mut of_lines = Vec::new();
    for line in lines {
        if !headers.iter().any(|(name, _)| line.name.eq_ignore_ascii_case(name)) {
            of_lines.push(of_line(line, manifest_dir)?);
        }
    }
    headers.extend(of_lines);
    Ok(headers)
}

fn of_line(line: &Header, manifest_dir: &Path) -> Result<(String, Secret), Problem> {
    let named = |problem: Problem| problem.label(&line.name.place, "of this header");
    let value = match (&line.env, &line.file) {
        (Some(variable), _) => std::env::var(&**variable)
            .ok()
            .filter(|value| !value.is_empty())
            .ok_or_else(|| wrong(&format!("the variable {} is not set", variable.value))),
        (None, Some(file)) => fs_err::read_to_string(manifest_dir.join(&**file))
            .map_err(|error| wrong(&error.to_string())),
        (None, None) => Ok(String::new()),
    };
    let value = value.map_err(named)?;
    header(&format!("{}={}", line.name.value, value.trim()))
        .map_err(|error| named(wrong(&error.to_string())))
}

fn wrong(text: &str) -> Problem {
    Problem::usage(Code::Environment, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checks_the_content_of_tls_files() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("file");
        for (text, (what, marker), is_it) in [
            ("-----BEGIN CERTIFICATE-----\n", CERTIFICATE, true),
            ("a comment\n-----BEGIN CERTIFICATE-----\r\n", CERTIFICATE, true),
            ("-----BEGIN EC PRIVATE KEY-----\n", KEY, true),
            ("-----BEGIN PRIVATE KEY-----\n", CERTIFICATE, false),
            ("-----BEGIN CERTIFICATE-----\n", KEY, false),
            ("tell-nobody\n", KEY, false),
        ] {
            fs_err::write(&path, text).unwrap();
            let read =
                pem("--option", &path, (what, marker)).map_err(|problem| problem.to_string());
            let wrong = format!("--option: {} has no {what} in PEM", path.display());
            let expected = if is_it { Ok(text.to_owned()) } else { Err(wrong) };
            assert_eq!(read, expected);
        }
    }
}
