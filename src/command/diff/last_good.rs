//! Old side of a diff that repairs a manifest: the revision itself does not plan, so an earlier
//! commit is compared.

use std::path::Path;

use base::source::{Code, Problem, Problems};
use base::text::counted;

use super::super::Failure;
use super::at_revision;
use super::side::{Side, Sides, Which};
use crate::ui;

/// Reads the old side. If its manifest does not plan, fails with the first error, or with
/// `--against-last-good` reads the newest earlier commit that plans.
pub fn read_old_side(sides: &Sides<'_>, path: Option<&Path>, new: &Side) -> Result<Side, Failure> {
    let problems = match sides.read(Which::Old(Some(new)), path) {
        Err(Failure::Problems(problems)) => problems,
        read => return read,
    };
    let Some(revision) = sides.revision().filter(|_| path.is_none()) else {
        let name = path.unwrap_or(Path::new(".")).display().to_string();
        return Err(Problems::from(does_not_plan(&name, &problems)).into());
    };
    let why = does_not_plan(revision, &problems);
    if !sides.wants_last_good() {
        let help = "use --against-last-good to compare with the newest earlier commit that plans, \
                    or give a saved contract as OLD";
        return Err(Problems::from(why.help(help)).into());
    }
    let commits = at_revision::earlier_commits(sides.repository(), revision)?;
    for commit in &commits {
        match sides.at_revision(commit, Some(new)) {
            Ok(side) => {
                let label = format!("{} ({})", side.label(), why.message());
                ui::show_problems(&Problem::warning(why.code(), why.message()).into());
                return Ok(side.labelled(label));
            }
            // This commit does not plan either: try the one before.
            Err(Failure::Problems(_)) => {}
            Err(failure) => return Err(failure),
        }
    }
    let help = format!(
        "{}: give as OLD a contract, saved with `rockpack plan --contract FILE --json`",
        without_last_good(commits.len())
    );
    Err(Problems::from(why.help(help)).into())
}

/// Returns the result of a search in the newest commits that changed the manifest.
fn without_last_good(tried: usize) -> String {
    match tried {
        0 => "no earlier commit changed the manifest".to_owned(),
        1 => {
            "the earlier commit of the manifest does not plan on these artifacts either".to_owned()
        }
        at_revision::MOST => {
            format!("none of the last {tried} commits of the manifest plans on these artifacts")
        }
        _ => format!("none of the {tried} earlier commits plans on these artifacts"),
    }
}

/// Returns the first error in one sentence, with its place.
fn does_not_plan(name: &str, problems: &Problems) -> Problem {
    let mut errors = problems.iter().filter(|problem| problem.is_error());
    let first = errors.next();
    let more = match errors.count() {
        0 => String::new(),
        more => format!(" ({})", counted(more, "more error")),
    };
    let (code, message) =
        first.map_or((Code::Environment, "no reason"), |first| (first.code(), first.message()));
    let problem = Problem::error(code, format!("{name} does not plan: {message}{more}"));
    match first.and_then(|first| first.labels().first()) {
        Some((place, label)) => problem.label(place, label.clone()),
        None => problem,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_help_does_not_claim_more_commits_than_were_tried() {
        let all = without_last_good(at_revision::MOST - 1);
        assert_eq!(all, "none of the 19 earlier commits plans on these artifacts");
        let last = without_last_good(at_revision::MOST);
        assert_eq!(last, "none of the last 20 commits of the manifest plans on these artifacts");
    }
}
