use super::super::{Difference, Moved, Place};
use base::text::human_size;

pub(super) const MOST_VALUES: usize = 6;

pub(super) const MOST_GROUPS: usize = 10;

pub(in super::super) fn text(difference: &Difference, place: &Place) -> String {
    match difference {
        Difference::Appeared { was: Some(reason) } => format!("was absent: {reason}"),
        Difference::Appeared { was: None } => place.rule.clone().unwrap_or_default(),
        Difference::Vanished { now } => now.clone().unwrap_or_default(),
        Difference::Step { old, new } => format!("{old} → {new}"),
        Difference::Source { old, new } => format!("from {old} → {new}"),
        Difference::Rpath { removed, added, order } => rpath(removed, added, order),
        Difference::Target { old, new } => format!("leads to {old} → {new}"),
        Difference::Alias { old, new } => format!("form {old} → {new}"),
        Difference::Machine { old, new } => format!("for {old} → {new}"),
        Difference::Executable { now: true } => "executable now".to_owned(),
        Difference::Executable { now: false } => "not executable now".to_owned(),
        Difference::Stack { cleared: true } => "executable stack cleared now".to_owned(),
        Difference::Stack { cleared: false } => "executable stack not cleared now".to_owned(),
        Difference::Size => {
            format!("size {} → {}", human_size(place.old_size), human_size(place.new_size))
        }
        Difference::Text => "text".to_owned(),
        Difference::Content => "content".to_owned(),
        Difference::Absent { reason } => format!("absent now: {reason}"),
        Difference::WasAbsent { reason } => format!("no longer selected; was absent: {reason}"),
        Difference::AbsentOtherwise { old, new } => format!("absent: {old} → {new}"),
    }
}

fn rpath(removed: &[String], added: &[String], order: &[String]) -> String {
    let removed = removed.iter().map(|d| format!("-{d}"));
    let added = added.iter().map(|d| format!("+{d}"));
    let parts: Vec<String> = removed.chain(added).chain(order.iter().cloned()).collect();
    format!("rpath {}", parts.join(", "))
}

pub(super) fn moved(moved: &Moved, place: &Place) -> String {
    let way = if moved.from == moved.to {
        moved.to.title.clone()
    } else {
        format!("{} → {}", moved.from.title, moved.to.title)
    };
    let why = moved
        .reason
        .as_ref()
        .or(place.rule.as_ref())
        .map(|why| format!("  {why}"))
        .unwrap_or_default();
    let also = place.also.iter().map(|also| {
        let some = if also.files == place.files {
            String::new()
        } else {
            format!("{} of them ", also.files)
        };
        format!("; {some}{}", also.what)
    });
    format!("{way}{}{why}", also.collect::<String>())
}

pub(in super::super) fn shortened(text: &str, width: usize) -> String {
    let count = text.chars().count();
    if count <= width {
        return text.to_owned();
    }
    let (head, tail) = (width / 2, width - width / 2 - 1);
    text.chars().take(head).chain(['…']).chain(text.chars().skip(count - tail)).collect()
}
