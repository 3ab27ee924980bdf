//! `rockpack index publish`: packages and their pages, into a store.

use std::collections::BTreeSet;
use std::path::Path;

use ::index::publish::{self, Form, Layout, Options, PublishError, Step, Summary, Unmet};
use ::index::simple::{self, IndexError};
use ::index::store::{self, Access, Bucket};
use base::names::{RelPath, normalized};
use base::source::{Code, Problem, Problems, nearest};
use base::text::{counted, human_size, with_causes};
use manifest::{Publishing, StreamRule};

use super::{Failure, environment, gate, print};
use crate::cli::{PublishArgs, PublishLayout};
use crate::{inputs, ui};

/// The stream of layout v5 where none is given.
const STREAM: &str = "dev";

/// What to do about a page that cannot be read where nothing is added to it.
pub const MEND: &str = "--layout is that of `rockpack index publish` there; else mend the page, or have the program that makes it mend it";

/// Publishes, and says each step.
pub fn run(args: &PublishArgs) -> Result<(), Failure> {
    let is_named = args.stream.is_some() || args.layout == PublishLayout::V5;
    let publishing = publishing(is_named, args.manifest.as_deref())?;
    let stream = args.stream.as_deref().or(is_named.then_some(STREAM));
    if let Some(stream) = stream.filter(|_| !publishing.streams.is_empty()) {
        self::stream(&publishing, stream)?;
    }
    let layout = layout(args.layout, &publishing, stream);
    let options = Options {
        layout,
        publishing,
        time: args.upload_time,
        outside: projects("--outside", &args.outside)?,
        incomplete: args.incomplete,
        dry_run: args.dry_run,
        jobs: args.jobs.into(),
    };
    super::repaired(&args.dir)?;
    takes_uploads("URL", &args.url)?;
    if args.dir.is_dir() {
        let strays = simple::stray_yanks(&args.dir);
        warn_of(Code::PublishRefused, &strays.map_err(|error| failure(&error.into()))?);
    }
    let bucket = open(&args.url, access(args.dry_run))?;
    if !args.dry_run {
        ui::tell_at_end("what was uploaded stays; the same command does the rest");
    }
    let told = |step: &Step| {
        if args.dry_run || !ui::quiet() {
            let _ = print(&line(step));
        }
    };
    let manifest = inputs::manifest::quietly(args.manifest.as_deref())?;
    let gate = gate::of(&manifest, &args.allow.allow);
    let summary = publish::publish(&args.dir, &*bucket, &options, &gate, &told);
    print(&said(args, &summary.map_err(|error| failure(&error))?))
}

/// Where packages and pages are.
pub fn layout(layout: PublishLayout, publishing: &Publishing, stream: Option<&str>) -> Layout {
    let layout = match layout {
        PublishLayout::PerPackage => Layout::of(Form::Projects),
        PublishLayout::Flat => Layout::of(Form::Flat),
        PublishLayout::V5 => Layout::of_manifest(publishing, stream.unwrap_or(STREAM)),
    };
    layout.in_stream(stream)
}

/// What the manifest says of publishing. Streams and one layout need it; else, one that is not there says nothing.
pub fn publishing(needed: bool, manifest: Option<&Path>) -> Result<Publishing, Failure> {
    let is_here = Path::new("packages.kdl").exists();
    if !needed && manifest.is_none() && !is_here {
        return Ok(Publishing::default());
    }
    let sources = inputs::manifest::sources(manifest)?;
    Ok(inputs::manifest::decode(&sources)?.publishing)
}

/// The line of the manifest for a stream.
pub fn stream<'p>(publishing: &'p Publishing, stream: &str) -> Result<&'p StreamRule, Failure> {
    let known = || publishing.streams.iter().map(|rule| rule.name.as_str());
    publishing.streams.iter().find(|rule| *rule.name == stream).ok_or_else(|| {
        let what = format!("--stream: packages.kdl declares no stream `{stream}`");
        let near = nearest(stream, known()).map(|near| format!("did you mean `{near}`? "));
        let list: Vec<&str> = known().collect();
        let help = if list.is_empty() {
            "packages.kdl declares streams: stream \"nightly\" keep=\"120 days\"".to_owned()
        } else {
            format!("{}streams are {}", near.unwrap_or_default(), list.join(", "))
        };
        Problem::usage(Code::Environment, what).help(help).into()
    })
}

/// Opens a store.
pub fn open(url: &str, access: Access) -> Result<Box<dyn Bucket>, Failure> {
    let options = store::Options { access, ..store::Options::default() };
    store::open(url, &options).map_err(|error| environment(with_causes(&error)))
}

/// Refuses a web server as a place that something is written to.
pub fn takes_uploads(argument: &str, url: &str) -> Result<(), Failure> {
    if !store::is_web(url) {
        return Ok(());
    }
    Err(environment(format!(
        "{argument}: a web server takes no uploads: publish to s3://, gs://, az:// or a directory"
    )))
}

/// How the store of packages is entered. Who only looks can do so where everybody may.
pub fn access(dry_run: bool) -> Access {
    if dry_run { Access::Any } else { Access::Signed }
}

/// Names of projects that an option has, as indexes compare them.
pub fn projects(option: &str, texts: &[String]) -> Result<BTreeSet<String>, Failure> {
    let name = |text: &String| {
        let wrong =
            || environment(format!("{option} takes names of projects; `{text}` cannot be one"));
        normalized(text.trim()).ok_or_else(wrong)
    };
    texts.iter().map(name).collect()
}

/// Warns of files that yank nothing.
pub fn warn_of(code: Code, strays: &[RelPath]) {
    let help = "the file has the package's name and `.yanked` behind, and lies beside it";
    for path in strays {
        let what = format!("`{path}` yanks nothing: the package of this name is not beside it");
        ui::show_problems(&Problem::warning(code, what).help(help).into());
    }
}

fn line(step: &Step) -> String {
    let (what, amount, key) = match step {
        Step::Upload { key, size } => ("upload", human_size(*size), key.as_str()),
        Step::Same { key } => ("same", String::new(), key.as_str()),
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
    format!("{what:8}  {amount:>7}  {key}\n")
}

fn said(args: &PublishArgs, summary: &Summary) -> String {
    let Summary { uploaded, bytes, same, pages } = summary;
    let done = if args.dry_run { "would be " } else { "" };
    let size = human_size(*bytes);
    format!(
        "{uploaded} {done}uploaded, {size}; {same} there already; {} {done}written\n",
        counted(*pages, "page")
    )
}

/// What is said when nothing, or not all, was done.
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
            refused.help("`shelf` lines of packages.kdl say where projects go")
        }
        PublishError::NoShelf(index) => refused.help(format!(
            "write a `shelf` with index=\"{index}\" into packages.kdl that takes all of its projects"
        )),
        PublishError::Packages(_)
        | PublishError::Unknown(_)
        | PublishError::NoHash(_)
        | PublishError::Absent(_)
        | PublishError::NoPages(_)
        | PublishError::NoStream { .. }
        | PublishError::TooMany { .. }
        | PublishError::Foreign { .. }
        | PublishError::NoMirror { .. }
        | PublishError::Key(_) => refused,
        PublishError::Page { .. } => {
            refused.help("--layout is that of the first `rockpack index publish` there; else mend the page, or publish to a place of its own, where rockpack makes the pages")
        }
        PublishError::Stream { there, .. } => {
            refused.help(format!("give --stream {there}, or publish to the store of another stream"))
        }
        PublishError::ByHand { key, data, .. } => refused.help(format!(
            "`{key}` is made of `{data}`: change that in the same way, or take the change back"
        )),
        PublishError::OtherBytes(_) | PublishError::Overtaken { .. } => {
            refused.help("a name stands for the same bytes for ever: publish under another version")
        }
        PublishError::Gate(error) => return gate::failure(error),
        PublishError::Incomplete(unmet) => return Failure::Problems(incomplete(unmet)),
    };
    Failure::Problems(refused.into())
}

/// The first requirements that nothing meets, each by itself, and what is to be done about all.
fn incomplete(unmet: &[Unmet]) -> Problems {
    const SHOWN: usize = 5;
    let problem = |what: String| Problem::error(Code::PublishRefused, what);
    let mut problems = Problems::new();
    unmet.iter().take(SHOWN).for_each(|unmet| problems.push(problem(unmet.to_string())));
    let all = counted(unmet.len(), "requirement");
    let (are, more) =
        (if unmet.len() == 1 { "is" } else { "are" }, unmet.len().saturating_sub(SHOWN));
    let more = if more == 0 { String::new() } else { format!(", {more} more than these") };
    problems.push(problem(format!("{all} {are} met nowhere{more}; nothing was written")).help(
        "publish it with what it requires, name what users get elsewhere with --outside, or say --incomplete",
    ));
    problems
}
