use std::path::{Path, PathBuf};

use base::source::{Code, Problem};
use binary::elf::{self, ElfKind};
use build::cache::{Cache, Store};
use remote::{Address, Executor, Helper, Options, Secret, SharedCache, Tls, header};

use crate::cli::RemoteArgs;

/// Time for sending all packed files.
const BUDGET: std::time::Duration = std::time::Duration::from_mins(2);

/// Puts the shared cache behind the cache of this machine.
///
/// # Errors
/// Fails if an option is wrong, or its file cannot be read.
pub fn behind(cache: Cache, args: &RemoteArgs, jobs: usize) -> Result<Box<dyn Store>, Problem> {
    let Some(address) = args.address() else { return Ok(Box::new(cache)) };
    let options = options(address, args, jobs)?;
    let shared = SharedCache::new(cache, options)
        .map_err(|error| wrong(&format!("cannot start a thread for the shared cache: {error}")))?;
    Ok(Box::new(shared))
}

/// Returns the options of the build farm, if named.
pub fn farm(args: &RemoteArgs, jobs: usize) -> Result<Option<(Options, Executor)>, Problem> {
    let Some(address) = args.address() else { return Ok(None) };
    let options = options(address, args, jobs)?;
    let executor = options.executor.clone();
    Ok(executor.map(|executor| (options, executor)))
}

fn options(address: &str, args: &RemoteArgs, threads: usize) -> Result<Options, Problem> {
    let named = |option: &str, address: &str| {
        // The text may contain a password.
        address.parse::<Address>().map_err(|error| wrong(&format!("{option}: {error}")))
    };
    let executor = match args.executor() {
        Some(farm) => {
            let address = named("--remote-executor (ROCKPACK_REMOTE_EXECUTOR)", farm)?;
            Some(Executor { address, properties: properties(args)?, program: program(args)? })
        }
        None => None,
    };
    let address = named("--remote-cache (ROCKPACK_REMOTE_CACHE)", address)?;
    let mut headers = Vec::new();
    for (name, text) in header_lines(args)? {
        headers.push(header(&text).map_err(|error| {
            wrong(&format!("{name}: {error}"))
                .help("write NAME=VALUE, such as authorization=Bearer TOKEN")
        })?);
    }
    check_tls(args, [Some(&address), executor.as_ref().map(|it| &it.address)])?;
    let identity = match (&args.tls_client_certificate, &args.tls_client_key) {
        (Some(certificate), Some(key)) => {
            let certificate = pem("--tls-client-certificate", certificate, CERTIFICATE)?;
            Some((certificate, Secret::new(pem("--tls-client-key", key, KEY)?)))
        }
        _ => None,
    };
    let roots = args.tls_certificate.as_deref();
    let roots = roots.map(|path| pem("--tls-certificate", path, CERTIFICATE)).transpose()?;
    Ok(Options {
        address,
        instance: args.remote_instance_name.clone(),
        headers,
        helpers: args.credential_helper.iter().map(|text| Helper::parse(text)).collect(),
        netrc: std::env::var_os("NETRC")
            .map(Into::into)
            .or_else(|| Some(std::env::home_dir()?.join(".netrc"))),
        tls: Tls { roots, identity },
        timeout: args.remote_timeout,
        retries: args.remote_retries,
        read: args.reads(),
        write: args.writes(),
        budget: BUDGET,
        silo: args.remote_cache_silo.clone(),
        threads,
        executor,
    })
}

/// Names and markers of PEM files (RFC 7468).
const CERTIFICATE: (&str, &str) = ("certificate", "CERTIFICATE-----");
const KEY: (&str, &str) = ("private key", "PRIVATE KEY-----");

/// Reads a PEM file. Other content would be ignored silently.
fn pem(option: &str, path: &Path, (what, marker): (&str, &str)) -> Result<String, Problem> {
    let text = fs_err::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
    if text.lines().any(|line| line.starts_with("-----BEGIN ") && line.trim_end().ends_with(marker))
    {
        return Ok(text);
    }
    Err(wrong(&format!("{option}: {} has no {what} in PEM", path.display()))
        .help("give a PEM file, which begins with a line `-----BEGIN …-----`"))
}

/// Refuses TLS options without a TLS address: users would believe that connections are encrypted.
fn check_tls(args: &RemoteArgs, addresses: [Option<&Address>; 2]) -> Result<(), Problem> {
    let is_tls = |address: &&Address| matches!(address, Address::Host { tls: true, .. });
    let has_tls = addresses.iter().flatten().any(is_tls);
    let option = [
        (args.tls_certificate.is_some(), "--tls-certificate"),
        (args.tls_client_certificate.is_some(), "--tls-client-certificate"),
    ];
    match option.into_iter().find(|(is_given, _)| *is_given && !has_tls) {
        Some((_, option)) => Err(wrong(&format!(
            "{option}: the address of the server is without \
            TLS"
        ))
        .help("write grpcs://HOST:PORT, or remove the option")),
        None => Ok(()),
    }
}

/// Sorts the properties, as the protocol requires.
fn properties(args: &RemoteArgs) -> Result<Vec<(String, String)>, Problem> {
    let property = |text: &String| {
        let (name, value) = text.split_once('=').filter(|(name, _)| !name.is_empty())?;
        Some((name.to_owned(), value.to_owned()))
    };
    let mut properties = Vec::new();
    for text in &args.remote_default_exec_properties {
        let text = property(text).ok_or_else(|| {
            wrong(&format!("--remote-default-exec-properties: `{text}` has no value"))
                .help("write NAME=VALUE, such as OSFamily=Linux")
        });
        properties.push(text?);
    }
    properties.sort();
    Ok(properties)
}

/// Returns a static program: the farm's machines lack this machine's libraries.
fn program(args: &RemoteArgs) -> Result<PathBuf, Problem> {
    let help = "give a static program with --remote-program FILE, such as a released one";
    let (what, path) = if let Some(path) = &args.remote_program {
        (format!("--remote-program: {}", path.display()), path.clone())
    } else {
        let path = std::env::current_exe().map_err(|error| wrong(&error.to_string()))?;
        ("--remote-executor: this rockpack".to_owned(), path)
    };
    let file = fs_err::File::open(&path).map_err(|error| wrong(&error.to_string()).help(help))?;
    let facts = elf::inspect(file.file()).and_then(|info| info.facts());
    match facts.map(|facts| facts.kind) {
        Ok(ElfKind::StaticExecutable | ElfKind::StaticPie) => Ok(path),
        Ok(_) => {
            let why = "is not static: machines of a farm do not have its libraries";
            Err(wrong(&format!("{what} {why}")).help(help))
        }
        Err(_) => Err(wrong(&format!("{what} is not a program for Linux")).help(help)),
    }
}

/// Returns headers with their places, of the command line, or of the environment.
fn header_lines(args: &RemoteArgs) -> Result<Vec<(String, String)>, Problem> {
    let variable = "ROCKPACK_REMOTE_HEADER";
    let mut lines = Vec::new();
    let mut add = |name: &str, text: &str| {
        let given = text.lines().map(str::trim).enumerate();
        let given = given.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
        lines.extend(given.map(|(at, line)| (format!("{name}:{}", at + 1), line.to_owned())));
    };
    for given in &args.remote_header {
        match given.strip_prefix('@') {
            Some(path) => {
                let text =
                    fs_err::read_to_string(path).map_err(|error| wrong(&error.to_string()))?;
                add(path, &text);
            }
            None => add("--remote-header", given),
        }
    }
    if args.remote_header.is_empty()
        && let Some(text) = std::env::var_os(variable)
    {
        let text = text.into_string().map_err(|_| wrong(&format!("{variable} is not text")))?;
        add(variable, &text);
    }
    Ok(lines)
}

fn wrong(text: &str) -> Problem {
    Problem::usage(Code::Environment, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_tls_have_what_they_are_given_for() {
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
            let read = pem("--option", &path, (what, marker)).map_err(|it| it.to_string());
            let wrong = format!("--option: {} has no {what} in PEM", path.display());
            let expected = if is_it { Ok(text.to_owned()) } else { Err(wrong) };
            assert_eq!(read, expected);
        }
    }
}
