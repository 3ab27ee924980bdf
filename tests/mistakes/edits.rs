//! Edits that a person makes by mistake, chosen by a seed.

use std::ops::Range;

use crate::package_mutations::Noise;

pub const KINDS: [(&str, Choose); 11] = [
    ("delete a line", delete_line),
    ("repeat a line", repeat_line),
    ("misspell a value", misspell_value),
    ("misspell a node", misspell_node),
    ("misspell a property", misspell_property),
    ("move an artifact", move_artifact),
    ("swap include and exclude", swap_include),
    ("widen a glob", widen_glob),
    ("swap two names", swap_names),
    ("swap a condition", swap_condition),
    ("swap numbers of ISAs", swap_numbers),
];

type Choose = fn(&[Line], &mut Noise) -> Option<Vec<Edit>>;

pub struct Line {
    pub file: usize,
    pub number: usize,
    pub text: String,
}

pub struct Edit {
    pub file: usize,
    pub number: usize,
    pub text: Option<String>,
}

impl Line {
    fn replace_range(&self, range: Range<usize>, text: &str) -> Edit {
        let mut line = self.text.clone();
        line.replace_range(range, text);
        self.replace(line)
    }

    fn replace(&self, text: String) -> Edit {
        Edit { file: self.file, number: self.number, text: Some(text) }
    }

    fn node(&self) -> &str {
        self.text.split_whitespace().next().unwrap_or_default()
    }

    fn quoted(&self) -> Vec<Range<usize>> {
        let marks: Vec<usize> = self.text.match_indices('"').map(|(at, _)| at).collect();
        let pairs = marks.chunks_exact(2).map(|pair| pair[0] + 1..pair[1]);
        pairs.filter(|range| !range.is_empty()).collect()
    }

    fn arguments(&self) -> Vec<Range<usize>> {
        let mut ranges = self.quoted();
        ranges.retain(|range| self.text.as_bytes()[range.start - 2] != b'=');
        ranges
    }

    fn is_node(&self, names: &[&str]) -> bool {
        names.contains(&self.node())
    }
}

fn choose<'a, T>(noise: &mut Noise, values: &'a [T]) -> Option<&'a T> {
    (!values.is_empty()).then(|| &values[noise.below(values.len())])
}

fn line_with<'a>(
    lines: &'a [Line],
    noise: &mut Noise,
    fits: impl Fn(&Line) -> bool,
) -> Option<&'a Line> {
    let fitting: Vec<&Line> = lines.iter().filter(|line| fits(line)).collect();
    choose(noise, &fitting).copied()
}

fn delete_line(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let line = line_with(lines, noise, |_| true)?;
    Some(vec![Edit { file: line.file, number: line.number, text: None }])
}

fn repeat_line(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let line = line_with(lines, noise, |line| !line.text.ends_with('\\'))?;
    Some(vec![line.replace(format!("{0}\n{0}", line.text))])
}

fn misspell(text: &str, noise: &mut Noise) -> String {
    let mut letters: Vec<char> = text.chars().collect();
    let at = noise.below(letters.len());
    match noise.below(4) {
        0 if at + 1 < letters.len() && letters[at] != letters[at + 1] => letters.swap(at, at + 1),
        1 if letters.len() > 1 => drop(letters.remove(at)),
        2 => letters.insert(at, letters[at]),
        _ => letters[at] = if letters[at] == 'x' { 'y' } else { 'x' },
    }
    letters.into_iter().collect()
}

fn misspell_value(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let line = line_with(lines, noise, |line| {
        !line.arguments().is_empty()
            && !line.is_node(&["summary", "author", "license", "test", "docs", "run"])
    })?;
    let range = choose(noise, &line.arguments())?.clone();
    let text = misspell(&line.text[range.clone()], noise);
    Some(vec![line.replace_range(range, &text)])
}

fn misspell_node(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let line = line_with(lines, noise, |line| line.node().len() > 2)?;
    let start = line.text.find(line.node())?;
    let text = misspell(line.node(), noise);
    Some(vec![line.replace_range(start..start + line.node().len(), &text)])
}

fn misspell_property(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let line = line_with(lines, noise, |line| line.text.contains("=\""))?;
    let ends: Vec<usize> = line.text.match_indices("=\"").map(|(at, _)| at).collect();
    let end = *choose(noise, &ends)?;
    let start = line.text[..end].rfind(' ').map_or(0, |at| at + 1);
    let text = misspell(&line.text[start..end], noise);
    Some(vec![line.replace_range(start..end, &text)])
}

fn move_artifact(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let line = line_with(lines, noise, |line| line.is_node(&["artifact"]))?;
    let other = line_with(lines, noise, |other| {
        other.is_node(&["artifact"]) && other.number.abs_diff(line.number) > 10
    })?;
    Some(vec![
        Edit { file: line.file, number: line.number, text: None },
        other.replace(format!("{}\n{}", other.text, line.text)),
    ])
}

fn swap_include(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let line = line_with(lines, noise, |line| {
        line.is_node(&["exclude", "forbid"]) || (line.is_node(&["include"]) && line.number > 20)
    })?;
    let others: Vec<&str> =
        ["include", "exclude", "forbid"].into_iter().filter(|n| *n != line.node()).collect();
    let start = line.text.find(line.node())?;
    Some(vec![line.replace_range(start..start + line.node().len(), choose(noise, &others)?)])
}

fn widen_glob(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let nodes = [
        "include",
        "exclude",
        "forbid",
        "drop",
        "system-library",
        "ignore",
        "license-text",
        "find-library",
        "promote",
    ];
    let line = line_with(lines, noise, |line| {
        line.is_node(&nodes) && line.quoted().iter().any(|r| line.text[r.clone()].contains('*'))
    })?;
    let mut globs = line.quoted();
    globs.retain(|range| line.text[range.clone()].contains('*'));
    let range = choose(noise, &globs)?.clone();
    let glob = &line.text[range.clone()];
    let wide = match (noise.below(3), glob.rsplit_once('/')) {
        (0, _) => {
            if glob.contains('/') {
                "**".to_owned()
            } else {
                "*".to_owned()
            }
        }
        (1, Some((before, _))) => format!("{before}/**"),
        (_, Some((before, _))) => format!("{before}/*"),
        (_, None) => glob[..=glob.find('*')?].to_owned(),
    };
    Some(vec![line.replace_range(range, &wide)])
}

fn swap_names(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let first_argument = |line: &Line| line.arguments().first().cloned();
    let line = line_with(lines, noise, |line| first_argument(line).is_some())?;
    let range = first_argument(line)?;
    let other = line_with(lines, noise, |other| {
        other.node() == line.node()
            && (other.file, other.number) != (line.file, line.number)
            && first_argument(other).is_some()
    })?;
    let other_range = first_argument(other)?;
    Some(vec![
        line.replace_range(range.clone(), &other.text[other_range.clone()]),
        other.replace_range(other_range, &line.text[range]),
    ])
}

fn swap_condition(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let conditions =
        [("\"kpack\"", "\"legacy\""), ("\"legacy\"", "\"kpack\""), ("\"linux\"", "\"windows\"")];
    let (from, to) = *choose(noise, &conditions)?;
    let line = line_with(lines, noise, |line| line.text.contains(from))?;
    Some(vec![line.replace(line.text.replace(from, to))])
}

fn swap_numbers(lines: &[Line], noise: &mut Noise) -> Option<Vec<Edit>> {
    let number = |line: &Line| {
        let start = line.text.find("mach=0x")?;
        Some(start..start + "mach=0x2c".len())
    };
    let line = line_with(lines, noise, |line| number(line).is_some())?;
    let other = line_with(lines, noise, |other| {
        number(other).is_some() && (other.file, other.number) != (line.file, line.number)
    })?;
    let (range, other_range) = (number(line)?, number(other)?);
    Some(vec![
        line.replace_range(range.clone(), &other.text[other_range.clone()]),
        other.replace_range(other_range, &line.text[range]),
    ])
}
