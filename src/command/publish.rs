//! `rockpack index publish`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use ::index::patch::patched_package;
use ::index::publish::{self, Form, Layout, Options, PublishError, Step, Summary, Unmet};
use ::index::simple::{self, IndexError};
use ::index::store::{self, Access, Bucket};
use base::address::Address;
use base::names::{RelPath, normalized};
use base::source::{Code, Problem, Problems, nearest};
use base::text::{counted, human_size, with_causes};
use manifest::{Publishing, StreamRule};
use record::content::Rules;
use record::provenance::Statement;
use record::recorded::Recorded;
use wheel::archive::stage::DIST;

use super::{Failure, environment, gate, print};
use crate::cli::{PublishArgs, PublishLayout};
use crate::{inputs, ui};

const STREAM: &str = "dev";

pub const MEND: &str = "give the --layout of `rockpack index publish`, or correct the page or \
    the program that makes it";

/// Correction of an invalid attestation.
pub const ATTEST: &str =
    "attest the package again after its last change, or remove the attestation";

/// Correction of equal packages with different yanks.
pub const ONE_YANK: &str =
    "write one text into each FILE.yanked of this file, or remove the others";

pub fn run(args: &PublishArgs) -> Result<(), Failure> {
    let is_named = args.stream.is_some() || args.layout == PublishLayout::V5;
    let publishing = publishing(is_named, args.manifest.as_deref())?;
    let stream = args.stream.as_deref().or(is_named.then_some(STREAM));
    if let Some(stream) = stream.filter(|_| !publishing.streams.is_empty()) {
        self::stream(&publishing, stream)?;
    }
    let layout = layout(args.layout, &publishing, stream);
    let manifest = inputs::manifest::read_without_messages(args.manifest.as_deref())?;
    let options = Options {
        contents: Some((contents(&args.dir)?, Rules::new(&manifest))),
        layout,
        publishing,
        public: public(args.public.as_ref())?,
        time: args.upload_time,
        outside: projects("--outside", &args.outside)?,
        incomplete: args.incomplete,
        dry_run: args.dry_run,
        jobs: args.jobs.into(),
    };
    super::repaired(&args.dir)?;
    takes_uploads("URL", args.url.reveal())?;
    if args.dir.is_dir() {
        let strays = simple::strays(&args.dir);
        warn_of(Code::PublishRefused, &strays.map_err(|error| failure(&error.into()))?);
    }
    let bucket = open(&args.url, access(args.dry_run))?;
    if !args.dry_run {
        ui::set_end_message("uploaded packages stay; run the same command again for the rest");
    }
    let report = |step: &Step| {
        if args.dry_run || !ui::quiet() {
            let _ = print(&line(step));
        }
    };
    let gate = gate::for_command(check::Command::Publish, &manifest, &args.allow.allow);
    let summary = publish::publish(&args.dir, &*bucket, &options, &gate, &report);
    let summary = summary.map_err(|error| failure(&error))?;
    if args.public.is_none() {
        warn_of_public(Code::PublishRefused, summary.attested);
    }
    print(&summary_text(args, &summary))
}

fn contents(dir: &Path) -> Result<BTreeMap<String, String>, Failure> {
    let below = dir.join(DIST);
    let dir = if below.is_dir() { &below } else { dir };
    let recorded = Recorded::read_in(dir).map_err(|e| environment(with_causes(&e)))?;
    let contents = recorded.statements.iter().flat_map(Statement::contents);
    Ok(contents.map(|(sha256, content)| (sha256.to_owned(), content.to_owned())).collect())
}

pub fn layout(layout: PublishLayout, publishing: &Publishing, stream: Option<&str>) -> Layout {
    let layout = match layout {
        PublishLayout::PerPackage => Layout::from_form(Form::Projects),
        PublishLayout::Flat => Layout::from_form(Form::Flat),
        PublishLayout::V5 => Layout::of_manifest(publishing, stream.unwrap_or(STREAM)),
    };
    layout.in_stream(stream)
}

/// Reads the manifest's rules for publishing, which only streams and layout v5 need.
pub fn publishing(needed: bool, manifest: Option<&Path>) -> Result<Publishing, Failure> {
    let is_here = Path::new("packages.kdl").exists();
    if !needed && manifest.is_none() && !is_here {
        return Ok(Publishing::default());
    }
    let sources = inputs::manifest::sources(manifest)?;
    Ok(inputs::manifest::decode(&sources)?.publishing)
}

pub fn stream<'p>(publishing: &'p Publishing, stream: &str) -> Result<&'p StreamRule, Failure> {
    let names = || publishing.streams.iter().map(|rule| rule.name.as_str());
    publishing.streams.iter().find(|rule| *rule.name == stream).ok_or_else(|| {
        let message = format!("--stream: packages.kdl declares no stream `{stream}`");
        let near = nearest(stream, names()).map(|near| format!("did you mean `{near}`? "));
        let list: Vec<&str> = names().collect();
        let help = if list.is_empty() {
            "declare it in packages.kdl: stream \"nightly\" keep=\"120 days\"".to_owned()
        } else {
            format!("{}the streams are {}", near.unwrap_or_default(), list.join(", "))
        };
        Problem::usage(Code::Environment, message).help(help).into()
    })
}

pub fn open(url: &Address, access: Access) -> Result<Box<dyn Bucket>, Failure> {
    let options = store::Options { access, ..store::Options::default() };
    store::open(url.reveal(), &options).map_err(|error| environment(with_causes(&error)))
}

pub fn takes_uploads(argument: &str, url: &str) -> Result<(), Failure> {
    if !store::is_web(url) {
        return Ok(());
    }
    Err(environment(format!(
        "{argument}: publish to s3://, gs://, az:// or a directory: a web server takes no uploads"
    )))
}

/// A dry run only reads: public access suffices.
pub fn access(dry_run: bool) -> Access {
    if dry_run { Access::Any } else { Access::Signed }
}

/// Normalizes names like indexes.
pub fn projects(option: &str, texts: &[String]) -> Result<BTreeSet<String>, Failure> {
    let name = |text: &String| {
        let wrong = || environment(format!("{option} must be the name of a project, not `{text}`"));
        normalized(text.trim()).ok_or_else(wrong)
    };
    texts.iter().map(name).collect()
}

/// Checks an address for provenance, which must be absolute and secure (simple repository API).
pub fn public(address: Option<&Address>) -> Result<Option<String>, Failure> {
    let Some(address) = address else { return Ok(None) };
    let url = address.reveal();
    let loopback = ["http://localhost", "http://127.0.0.1", "http://[::1]"];
    let is_loopback = loopback.iter().any(|start| {
        url.strip_prefix(start).is_some_and(|rest| rest.is_empty() || rest.starts_with([':', '/']))
    });
    let host = url.split_once("://").and_then(|(_, rest)| rest.split('/').next());
    let has_host = host.is_some_and(|host| !host.is_empty() && !host.contains(['@', '%']));
    let is_public = has_host && (url.starts_with("https://") || is_loopback);
    if is_public && !url.contains(['?', '#', ' ']) {
        return Ok(Some(url.to_owned()));
    }
    Err(environment(format!(
        "--public must be an https:// address without user, ? and #, not `{address}`"
    )))
}

pub fn warn_of_public(code: Code, attested: usize) {
    if attested > 0 {
        let message = format!(
            "pages do not name the provenance of {}: its address is unknown",
            counted(attested, "package")
        );
        let help = "give the public address, such as --public https://example.com/whl/";
        ui::show_problems(&Problem::warning(code, message).help(help).into());
    }
}

pub fn warn_of(code: Code, strays: &[RelPath]) {
    for path in strays {
        let name = path.file_name();
        let (does, ending) = if name.ends_with(".yanked") {
            ("yanks", ".yanked")
        } else if let Some(package) = patched_package(name) {
            ("patches", &name[package.len()..])
        } else {
            (
                "attests",
                if name.ends_with(".slsa.attestation") {
                    ".slsa.attestation"
                } else {
                    ".publish.attestation"
                },
            )
        };
        let help = format!(
            "name the file like the package with `{ending}` at the end, in the same directory"
        );
        let message = format!("`{path}` {does} nothing: its directory has no package of this name");
        ui::show_problems(&Problem::warning(code, message).help(help).into());
    }
}

fn line(step: &Step) -> String {
    let (action, amount, key) = match step {
        Step::Upload { key, size } => ("upload", human_size(*size), key.as_str()),
        Step::Same { key } => ("same", String::new(), key.as_str()),
        Step::Metadata { key } if patched_package(key.file_name()).is_some() => {
            ("patch", String::new(), key.as_str())
        }
        Step::Metadata { key } => ("metadata", String::new(), key.as_str()),
        Step::Yank { file, reason: None } => ("unyank", String::new(), file.as_str()),
        Step::Yank { file, reason: Some(reason) } if reason.is_empty() => {
            ("yank", String::new(), file.as_str())
        }
        Step::Yank { file, reason: Some(reason) } => {
            ("yank", String::new(), &*format!("{file}: {reason}"))
        }
        Step::Page { key, more } => ("page", format!("+{more}"), key.as_str()),
    };
    format!("{action:8}  {amount:>7}  {key}\n")
}

fn summary_text(args: &PublishArgs, summary: &Summary) -> String {
    let Summary { uploaded, bytes, same, pages, .. } = summary;
    let would_be = if args.dry_run { "would be " } else { "" };
    let size = human_size(*bytes);
    format!(
        "{uploaded} {would_be}uploaded, {size}; {same} unchanged; {} {would_be}written\n",
        counted(*pages, "page")
    )
}

pub fn failure(error: &PublishError) -> Failure {
    let problem = |code| Problem::error(code, with_causes(error));
    let refused = problem(Code::PublishRefused);
    let refused = match error {
        PublishError::Packages(
            IndexError::NotADirectory { .. } | IndexError::Read { .. } | IndexError::Stage(_),
        )
        | PublishError::Store(_)
        | PublishError::Contended { .. }
        | PublishError::Nothing(_) => return problem(Code::Environment).into(),
        PublishError::Homeless(_) => {
            refused.help("add the project to a `shelf` line of packages.kdl")
        }
        PublishError::NoShelf(index) => refused.help(format!(
            "add a `shelf` with index=\"{index}\" for all its projects to packages.kdl"
        )),
        PublishError::Packages(IndexError::Attestation { .. }) => refused.help(ATTEST),
        PublishError::Packages(IndexError::YankClash { .. }) => refused.help(ONE_YANK),
        PublishError::Packages(_)
        | PublishError::Unknown(_)
        | PublishError::NoHash(_)
        | PublishError::Absent(_)
        | PublishError::NoPages(_)
        | PublishError::NoStream { .. }
        | PublishError::TooMany { .. }
        | PublishError::Foreign { .. }
        | PublishError::NoMirror { .. }
        | PublishError::Content(_)
        | PublishError::Key(_) => refused,
        PublishError::OtherPatch(_) => {
            refused.help("remove it, or write it again with `rockpack index delta`")
        }
        PublishError::OtherContent(_) => {
            refused.help("give --manifest the manifest of the build, or build the package again")
        }
        PublishError::Page { .. } => refused.help(
            "give the --layout of the first `rockpack index publish`, correct the \
                page, or publish to another place, where rockpack makes all pages",
        ),
        PublishError::Stream { recorded, .. } => refused
            .help(format!("give --stream {recorded}, or publish to the store of another stream")),
        PublishError::ByHand { key, data, .. } => refused.help(format!(
            "change `{data}` in the same way, or undo the change: `{key}` is made from it"
        )),
        PublishError::OtherBytes(_) | PublishError::Overtaken { .. } => {
            refused.help("publish it with another version: a published file never changes")
        }
        PublishError::Gate(error) => return gate::failure(error),
        PublishError::Incomplete(unmet) => return Failure::Problems(incomplete(unmet)),
    };
    Failure::Problems(refused.into())
}

fn incomplete(unmet: &[Unmet]) -> Problems {
    const SHOWN: usize = 5;
    let problem = |message: String| Problem::error(Code::PublishRefused, message);
    let mut problems = Problems::new();
    unmet.iter().take(SHOWN).for_each(|unmet| problems.push(problem(unmet.to_string())));
    let count = counted(unmet.len(), "requirement");
    let (verb, more) =
        (if unmet.len() == 1 { "is" } else { "are" }, unmet.len().saturating_sub(SHOWN));
    let more = if more == 0 { String::new() } else { format!(", {more} more than shown") };
    problems.push(problem(format!("{count} {verb} unmet{more}; nothing was written")).help(
        "publish the required packages too, name packages of other indexes with --outside, or \
         add --incomplete",
    ));
    problems
}
