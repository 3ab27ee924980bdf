//! `rockpack help versions`.

use std::io::Write;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use base::regular;
use base::source::{Code, Problem};
use fs_err as fs;
use rewrite::release::{self, Base, Continuation, Date, Inputs, ReleaseType, Versions};

use super::{Failure, environment, print, print_exact};
use crate::cli::VersionsArgs;
use crate::inputs::near;
use crate::ui;

/// Limit of the file in bytes, because it is read into memory.
const LONGEST_FILE: u64 = 1 << 20;

pub fn run(args: &VersionsArgs) -> Result<(), Failure> {
    let product = product(args)?;
    let inputs = inputs(args, &product)?;
    let versions =
        release::versions(&inputs).map_err(|error| wrong(error.to_string(), error.remedy()))?;
    for (trap, remedy) in release::traps(&inputs, &versions) {
        ui::show_problems(&Problem::warning(Code::VersionTrap, trap).help(remedy).into());
    }
    if args.github_output {
        append(&versions, &product)?;
    }
    if args.json {
        let text = serde_json::to_string_pretty(&versions.document(&product))
            .map_err(|e| environment(e.to_string()))?;
        return print_exact(&format!("{text}\n"));
    }
    let Versions { wheel, deb, rpm, suffix } = versions;
    print(&format!(
        "wheel       {wheel}\ndeb         {deb}\nrpm         {rpm}\nframeworks  {suffix}\n"
    ))
}

fn wrong(message: String, remedy: &str) -> Failure {
    Problem::usage(Code::ImpossibleVersion, message).help(remedy).into()
}

fn product(args: &VersionsArgs) -> Result<String, Failure> {
    let manifest = crate::inputs::manifest::read_without_messages(args.manifest.as_deref())?;
    manifest.product().map(str::to_owned).ok_or_else(|| {
        let message = "the manifest has no selector, which names the release";
        Problem::error(Code::Environment, message)
            .help("declare a package with kind=\"selector\"")
            .into()
    })
}

fn inputs(args: &VersionsArgs, product: &str) -> Result<Inputs, Failure> {
    let kind = kind(args)?;
    let mut base = base(args, product)?;
    base.date = args.base_date.or(base.date);
    let by_commit = matches!(kind, Continuation::Type(kind) if kind.is_by_commit());
    let sha = args.sha.clone().or_else(|| by_commit.then(checked_out).flatten());
    Ok(Inputs { product: product.to_owned(), base, kind, date: date(args)?, sha })
}

fn kind(args: &VersionsArgs) -> Result<Continuation, Failure> {
    let word = args.release_type.as_deref();
    match (&args.version_suffix, args.prerelease_version, word) {
        (Some(suffix), None, _) => Ok(Continuation::Suffix(suffix.clone())),
        (None, Some(number), Some("prerelease")) => Ok(Continuation::Prerelease(number)),
        (None, None, Some(word)) => {
            word.parse::<ReleaseType>().map(Continuation::Type).map_err(|()| {
                wrong(
                    format!("`{word}` is not a kind of build"),
                    "see `rockpack help versions --help`",
                )
            })
        }
        _ => Err(wrong(
            "--prerelease-version is only for prereleases".to_owned(),
            "remove it, or write --release-type prerelease",
        )),
    }
}

fn base(args: &VersionsArgs, product: &str) -> Result<Base, Failure> {
    if let Some(version) = &args.override_base_version {
        let remedy = "write it like 7.10.0";
        return Base::new(version)
            .map_err(|e| wrong(format!("--override-base-version: {e}"), remedy));
    }
    let file = &args.file;
    let text = regular::read_to_string(file, LONGEST_FILE).map_err(|e| {
        let remedy =
            format!("give the file with `{product}-version`, or --override-base-version VERSION");
        Problem::error(Code::Environment, e.to_string()).help(format!("{}{remedy}", near(file)))
    })?;
    Base::read(&text, product).map_err(|e| {
        let problem = Problem::error(Code::ImpossibleVersion, format!("{}: {e}", file.display()));
        let remedy = format!(
            "write it like {{\"{product}-version\": \"7.10.0\", \
            \"release-metadata\": {{\"base-date\": \"\"}}}}"
        );
        Failure::Problems(problem.help(remedy).into())
    })
}

fn date(args: &VersionsArgs) -> Result<Date, Failure> {
    if let Some(date) = args.date {
        return Ok(date);
    }
    let seconds = match std::env::var("SOURCE_DATE_EPOCH").ok().filter(|text| !text.is_empty()) {
        Some(text) => text.parse().map_err(|_| {
            environment(format!("SOURCE_DATE_EPOCH: `{text}` is not a number of seconds"))
        })?,
        None => SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs()),
    };
    let seconds = i64::try_from(seconds).ok().and_then(Date::of_seconds);
    seconds.ok_or_else(|| environment("SOURCE_DATE_EPOCH is later than the year 9999"))
}

fn checked_out() -> Option<String> {
    let commit = projects::git_in(Path::new("."), &["rev-parse", "HEAD"]).ok()?;
    let commit = String::from_utf8(commit).ok()?;
    Some(commit.trim().to_owned()).filter(|commit| !commit.is_empty())
}

fn append(versions: &Versions, product: &str) -> Result<(), Failure> {
    let path = std::env::var_os("GITHUB_OUTPUT")
        .filter(|path| !path.is_empty())
        .ok_or_else(|| environment("--github-output: the variable GITHUB_OUTPUT names no file"))?;
    let lines = versions.outputs(product).map(|(name, value)| format!("{name}={value}\n")).concat();
    let file = fs::OpenOptions::new().append(true).create(true).open(path);
    file.and_then(|mut file| file.write_all(lines.as_bytes()))
        .map_err(|e| environment(e.to_string()))
}
