//! `rockpack index fetch`.

use std::sync::Arc;

use base::address::redacted;
use base::source::{Code, Problem, Problems, Source};
use base::text::{counted, human_size, with_causes};
use fs_err as fs;
use index::fetch::{Arrival, Pin, PinnedFile, Way, fetch_pinned, pin, pins, select};
use index::store::{self, Access, Bucket, Options};

use super::{Failure, environment, print, publish};
use crate::cli::FetchPackagesArgs;
use crate::{inputs, ui};

pub fn run(args: &FetchPackagesArgs) -> Result<(), Failure> {
    let pins = requested_pins(args)?;
    let source: Arc<dyn Bucket> = publish::open(&args.source, Access::Any)?.into();
    let options = Options { access: Access::Anonymous, ..Options::default() };
    let open = |url: &str, url_origin| store::open(url, &Options { url_origin, ..options.clone() });
    let files = select(&source, &open, &pins)?;
    let Some(dir) = args.output.as_ref().filter(|_| !args.dry_run) else {
        let list: String = files.iter().map(|file| line("fetch", file.size, file)).collect();
        return print(&format!("{list}{} would be fetched\n", counted(files.len(), "file")));
    };
    fs::create_dir_all(dir).map_err(|error| environment(error.to_string()))?;
    ui::set_end_message("fetched files stay; run the same command again for the rest");
    let arrivals = inputs::pool(Some(args.jobs))?.install(|| fetch_pinned(&files, dir))?;
    let mut warnings = Problems::new();
    arrivals.iter().flat_map(|arrival| arrival.warnings.clone()).for_each(|w| warnings.push(w));
    ui::show_problems(&warnings);
    let list = files.iter().zip(&arrivals).map(|(file, arrival)| match arrival.way {
        Way::Kept => line("same", file.size, file),
        Way::Whole => line("fetch", Some(arrival.bytes), file),
        Way::Patch => line("patch", Some(arrival.bytes), file),
    });
    let list: String = if ui::quiet() { String::new() } else { list.collect() };
    print(&format!("{list}{}\n", summary(&arrivals)))
}

fn summary(arrivals: &[Arrival]) -> String {
    let of_way = |way: Way| arrivals.iter().filter(move |arrival| arrival.way == way);
    let bytes = |way: Way| of_way(way).map(|arrival| arrival.bytes).sum::<u64>();
    let (unchanged, patches) = (of_way(Way::Kept).count(), bytes(Way::Patch));
    let by_patches = if of_way(Way::Patch).count() == 0 {
        String::new()
    } else {
        let total = human_size(bytes(Way::Whole) + patches);
        format!("; {total}, of which {} by patches", human_size(patches))
    };
    let new = counted(arrivals.len() - unchanged, "file");
    format!("{new} fetched, {unchanged} unchanged{by_patches}")
}

fn requested_pins(args: &FetchPackagesArgs) -> Result<Vec<Pin>, Failure> {
    let mut requested = Vec::new();
    for text in &args.packages {
        let wrong = || {
            let message = format!("`{}` is not NAME==VERSION", redacted(text));
            let help = "write an exact version, such as `torch==2.9.0`";
            Problem::usage(Code::Environment, message).help(help)
        };
        requested.push(pin(text).ok_or_else(wrong)?);
    }
    for path in &args.requirements {
        let text = fs::read_to_string(path).map_err(|error| environment(with_causes(&error)))?;
        // Errors show lines.
        let text = redacted(&text);
        requested.extend(pins(&Source::new(path.display().to_string(), text))?);
    }
    Ok(requested)
}

fn line(word: &str, size: Option<u64>, file: &PinnedFile) -> String {
    let size = size.map(human_size).unwrap_or_default();
    format!("{word:5}  {size:>7}  {}\n", file.name)
}
