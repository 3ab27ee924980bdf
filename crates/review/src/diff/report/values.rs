//! Lines of a changed field: old and new values in pairs, shortened to their difference.

use indexmap::IndexMap;

use super::super::FieldChange;
use super::{Line, detail};

/// Old and new value with the same key, such as the `name = ` of an entry point. `new` lacks the
/// key.
struct Pair {
    old: String,
    new: String,
}

impl Pair {
    fn shown(&self) -> String {
        let whole = format!("{} → {}", self.old, self.new);
        if whole.chars().count() <= WIDEST {
            return whole;
        }
        let (old, new) = self.core();
        let core =
            format!("{}… {} → {} …", key(&self.old).unwrap_or_default(), old.trim(), new.trim());
        if core.len() < whole.len() { core } else { whole }
    }

    /// Different parts of both values, from one separator to another.
    fn core(&self) -> (&str, &str) {
        let old = &self.old[key(&self.old).map_or(0, str::len)..];
        let words = |text: &'_ str| -> Vec<usize> {
            let ends = text.char_indices().filter(|(_, c)| ".:/= ".contains(*c));
            ends.map(|(at, c)| at + c.len_utf8()).collect()
        };
        let is_common = |at: &usize| self.new.get(..*at).is_some_and(|head| old.starts_with(head));
        let head = words(old).into_iter().take_while(is_common).last().unwrap_or(0);
        let (old, new) = (&old[head..], &self.new[head..]);
        let tail = old.char_indices().filter(|(_, c)| ".:/= ".contains(*c));
        let tail = tail.map(|(at, _)| &old[at..]).find(|tail| new.ends_with(tail)).unwrap_or("");
        (&old[..old.len() - tail.len()], &new[..new.len() - tail.len()])
    }
}

/// Least number of pairs with the same difference that share a line; two lines are short enough.
const ALIKE: usize = 3;

/// Columns of a line; longer pairs are shortened.
const WIDEST: usize = 120;

/// Texts of pairs, one for all pairs with the same difference.
fn alike(pairs: &[Pair]) -> Vec<String> {
    let mut groups: IndexMap<(&str, &str), Vec<&Pair>> = IndexMap::new();
    for pair in pairs {
        groups.entry(pair.core()).or_default().push(pair);
    }
    let shown = groups.into_iter().flat_map(|((old, new), pairs)| {
        if pairs.len() < ALIKE {
            return pairs.into_iter().map(Pair::shown).collect::<Vec<_>>();
        }
        let first = pairs[0].old.as_str();
        let first = key(first).map_or(first, |key| key.trim_end_matches([':', '=', ' ']));
        vec![format!("{old} → {new} in {} of them, such as {first}", pairs.len())]
    });
    shown.collect()
}

/// Lines of a field; with `files`, of all values in full.
pub(super) fn field(change: &FieldChange, files: bool) -> Vec<Line> {
    let (pairs, removed, added) = paired(change);
    let each = |mark: char, values: &[String]| {
        let most = if files { usize::MAX } else { detail::MOST_VALUES };
        let mut lines: Vec<Line> =
            values.iter().take(most).map(|v| Line::field(mark, &change.field, v.clone())).collect();
        let more = values.len().saturating_sub(most);
        lines.extend(
            (more > 0).then(|| Line::field(mark, &change.field, format!("… and {more} more"))),
        );
        lines
    };
    let whole = |pair: &Pair| format!("{} → {}", pair.old, pair.new);
    let pairs = if files { pairs.iter().map(whole).collect() } else { alike(&pairs) };
    let changed: Vec<Line> =
        pairs.into_iter().map(|text| Line::field('~', &change.field, text)).collect();
    [changed, each('-', &removed), each('+', &added)].concat()
}

/// Pairs values whose key is unique on both sides, or that are the only ones; returns the others.
fn paired(change: &FieldChange) -> (Vec<Pair>, Vec<String>, Vec<String>) {
    let (mut removed, mut added, mut pairs) =
        (change.removed.clone(), change.added.clone(), Vec::new());
    let alone = removed.len() == 1 && added.len() == 1;
    removed.retain(|old| {
        let same_key = |text: &&String| key(old).is_some() && key(text) == key(old);
        let olds = change.removed.iter().filter(same_key).count();
        let news: Vec<&String> = change.added.iter().filter(same_key).collect();
        let new = match news[..] {
            [new] if olds == 1 => new[key(old).map_or(0, str::len)..].to_owned(),
            _ if alone => change.added[0].clone(),
            _ => return true,
        };
        added.retain(|text| !(alone || same_key(&text)));
        pairs.push(Pair { old: old.clone(), new });
        false
    });
    (pairs, removed, added)
}

/// Start of a value that names it: `name: ` or `name = `.
fn key(text: &str) -> Option<&str> {
    let ends = [": ", " = "].iter().filter_map(|sign| text.find(sign).map(|at| at + sign.len()));
    ends.min().map(|end| &text[..end])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(old: &str, new: &str) -> Pair {
        Pair { old: old.to_owned(), new: new.to_owned() }
    }

    #[test]
    fn values_that_change_alike_share_a_line() {
        let pairs = ["a", "b", "c_d"].map(|name| {
            pair(&format!("{name} = x_core._cli:{name}"), &format!("x_base._cli:{name}"))
        });
        assert_eq!(alike(&pairs), ["x_core → x_base in 3 of them, such as a"]);
        assert_eq!(alike(&pairs[..1]), ["a = x_core._cli:a → x_base._cli:a"]);
        let other = [pair("a = m:f", "m:g"), pair("b = m:f", "n:f"), pair("c = m:f", "m:h")];
        assert_eq!(alike(&other).len(), 3);
    }
}
