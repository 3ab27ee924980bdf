//! `rockpack index fetch`.

use std::sync::Arc;

use base::source::{Code, Problem, Source};
use base::text::{counted, human_size, with_causes};
use fs_err as fs;
use index::fetch::{Pin, PinnedFile, fetch_pinned, pin, pins, select};
use index::store::{self, Access, Bucket};

use super::{Failure, environment, print, publish};
use crate::cli::FetchPackagesArgs;
use crate::{inputs, ui};

pub fn run(args: &FetchPackagesArgs) -> Result<(), Failure> {
    let wanted = wanted(args)?;
    let source: Arc<dyn Bucket> = publish::open(&args.source, Access::Any)?.into();
    let options = store::Options { access: Access::Anonymous, ..store::Options::default() };
    let files = select(&source, &|url| store::open(url, &options), &wanted)?;
    let Some(dir) = args.output.as_ref().filter(|_| !args.dry_run) else {
        let list: String = files.iter().map(|file| line("fetch", file)).collect();
        return print(&format!("{list}{} would be fetched\n", counted(files.len(), "file")));
    };
    fs::create_dir_all(dir).map_err(|error| environment(error.to_string()))?;
    ui::tell_at_end("fetched files stay; run the same command again for the rest");
    let done = inputs::pool(Some(args.jobs))?.install(|| fetch_pinned(&files, dir))?;
    let word = |is_new: &bool| if *is_new { "fetch" } else { "same" };
    let list: String =
        files.iter().zip(&done).map(|(file, is_new)| line(word(is_new), file)).collect();
    let new = done.iter().filter(|is_new| **is_new).count();
    let list = if ui::quiet() { String::new() } else { list };
    print(&format!("{list}{} fetched, {} unchanged\n", counted(new, "file"), done.len() - new))
}

fn wanted(args: &FetchPackagesArgs) -> Result<Vec<Pin>, Failure> {
    let mut wanted = Vec::new();
    for text in &args.packages {
        let wrong = || {
            let what = format!("`{text}` is not NAME==VERSION");
            let help = "write an exact version, such as `torch==2.9.0`";
            Problem::usage(Code::Environment, what).help(help)
        };
        wanted.push(pin(text).ok_or_else(wrong)?);
    }
    for path in &args.requirements {
        let text = fs::read_to_string(path).map_err(|error| environment(with_causes(&error)))?;
        wanted.extend(pins(&Source::new(path.display().to_string(), text))?);
    }
    Ok(wanted)
}

fn line(word: &str, file: &PinnedFile) -> String {
    let size = file.size.map(human_size).unwrap_or_default();
    format!("{word:5}  {size:>7}  {}\n", file.name)
}
