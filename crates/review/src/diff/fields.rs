use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};

use super::FieldChange;
use super::contents::{Contents, Package};
use super::translate::Translation;
use base::names::Compression;
use base::text::counted;
use plan::{Distribution, Form};

/// Version and platform tag only count if they differ from the whole side's.
pub(super) fn differences(
    (old_side, old): (&Contents<'_>, &Package<'_>),
    (new_side, new): (&Contents<'_>, &Package<'_>),
    translation: &Translation<'_>,
) -> Vec<FieldChange> {
    let mut changes = Vec::new();
    if (old_side.version, new_side.version) != (Some(old.version), Some(new.version)) {
        changes.extend(change("version", old.version.as_str(), new.version.as_str()));
    }
    // Sdists have no tag.
    if (old_side.platform_tag, new_side.platform_tag) != (old.platform_tag, new.platform_tag)
        && let (Some(was), Some(is)) = (old.platform_tag, new.platform_tag)
    {
        changes.extend(change("platform tag", was, is));
    }
    let translated = |text: &str| translation.text(text, old.version, new.version).into_owned();
    let field_pairs = values(old).into_iter().zip(values(new));
    let planned = old.planned.zip(new.planned);
    // Plans have more precise levels.
    let field_pairs = field_pairs.filter(|((field, _), _)| planned.is_none() || *field != MEMBERS);
    changes.extend(field_pairs.filter_map(|((field, was), (_, is))| {
        list_change(field, was.iter().map(|v| translated(v)).collect(), &is)
    }));
    if let Some((was, is)) = planned {
        changes.extend(levels(was, is, translated));
    }
    changes.extend(description(old, new, translated));
    changes
}

const MEMBERS: &str = "members";

const MOST_LINES: usize = 2;

fn description(
    old: &Package<'_>,
    new: &Package<'_>,
    renamed: impl Fn(&str) -> String,
) -> Option<FieldChange> {
    let lines = |package: &Package<'_>, renamed: &dyn Fn(&str) -> String| {
        let description = package.metadata.description.as_ref();
        let lines: Vec<String> = description
            .iter()
            .flat_map(|d| [d.content_type.as_str()].into_iter().chain(d.text.lines()))
            .filter(|line| !line.trim().is_empty())
            .map(renamed)
            .collect();
        lines
    };
    let (old_lines, new_lines) = (lines(old, &renamed), lines(new, &str::to_owned));
    let borrowed: Vec<Cow<'_, str>> =
        new_lines.iter().map(|line| Cow::Borrowed(line.as_str())).collect();
    Some(brief(list_change("description", old_lines, &borrowed)?, "line"))
}

fn levels(
    was: &Distribution,
    is: &Distribution,
    renamed: impl Fn(&str) -> String,
) -> impl Iterator<Item = FieldChange> {
    let level = change("compression", was.compression.as_str(), is.compression.as_str());
    let preset = |of: &Distribution| Some(of.archive.as_ref()?.xz?.to_string());
    let preset =
        preset(was).zip(preset(is)).and_then(|(was, is)| change("preset of xz", &was, &is));
    [level, single(was, is, renamed).map(|it| brief(it, "file")), preset].into_iter().flatten()
}

fn single(
    was: &Distribution,
    is: &Distribution,
    renamed: impl Fn(&str) -> String,
) -> Option<FieldChange> {
    let plain = str::to_owned;
    let (old, new) = (other_levels(was, &renamed), other_levels(is, plain));
    if old == new {
        return None;
    }
    // Added, removed and moved files are reported as such.
    let (before, now) = (paths(was, &renamed), paths(is, plain));
    let in_both = |path: &String| before.contains(path) && now.contains(path);
    let rows = |levels: BTreeMap<String, Compression>| -> Vec<String> {
        let levels = levels.into_iter().filter(|(path, _)| in_both(path));
        levels.map(|(path, level)| format!("{path} {level}")).collect()
    };
    let (old, new) = (rows(old), rows(new));
    let new: Vec<Cow<'_, str>> = new.into_iter().map(Cow::Owned).collect();
    list_change("compression of single files", old, &new)
}

fn other_levels(
    of: &Distribution,
    renamed: impl Fn(&str) -> String,
) -> BTreeMap<String, Compression> {
    let levels = of.compressed_otherwise.iter();
    levels.map(|(path, level)| (renamed(path.as_str()), *level)).collect()
}

fn paths(of: &Distribution, renamed: impl Fn(&str) -> String) -> HashSet<String> {
    of.members.iter().map(|member| renamed(member.path.as_str())).collect()
}

fn brief(change: FieldChange, what: &str) -> FieldChange {
    if change.removed.len() + change.added.len() <= MOST_LINES {
        return change;
    }
    let count = |rows: &[String]| -> Vec<String> {
        (!rows.is_empty()).then(|| counted(rows.len(), what)).into_iter().collect()
    };
    FieldChange { removed: count(&change.removed), added: count(&change.added), ..change }
}

fn values<'p>(package: &'p Package<'_>) -> Vec<(&'static str, Vec<Cow<'p, str>>)> {
    let metadata = &package.metadata;
    let wheel = package.form == Form::Wheel;
    let text_value = |text: &'p str| vec![Cow::Borrowed(text)];
    let list_values = |list: &'p [String]| list.iter().map(|t| Cow::Borrowed(t.as_str())).collect();
    let scripts =
        package.entry_points.iter().map(|(name, object)| Cow::Owned(format!("{name} = {object}")));
    vec![
        ("form", text_value(if package.form == Form::Wheel { "wheel" } else { "sdist" })),
        ("directory", text_value(package.directory)),
        (
            "variant",
            package.wheel_variant.map(|(_, json)| text_value(json.trim_end())).unwrap_or_default(),
        ),
        ("summary", text_value(&metadata.summary)),
        ("license", text_value(&metadata.license)),
        ("author", text_value(&metadata.author)),
        ("home page", metadata.home_page.as_deref().map(text_value).unwrap_or_default()),
        ("urls", metadata.urls.iter().map(|(l, u)| Cow::Owned(format!("{l}, {u}"))).collect()),
        ("classifiers", list_values(&metadata.classifiers)),
        ("keywords", list_values(&metadata.keywords)),
        ("requires python", text_value(&metadata.requires_python)),
        ("requires", requires(package)),
        ("extras", if wheel { list_values(&metadata.provides_extra) } else { Vec::new() }),
        ("entry points", scripts.collect()),
        (
            MEMBERS,
            if package.form == Form::Wheel {
                text_value(if package.compressed { "deflated" } else { "stored" })
            } else {
                Vec::new()
            },
        ),
        ("archive", package.archive.map(text_value).unwrap_or_default()),
    ]
}

fn requires<'p>(package: &'p Package<'_>) -> Vec<Cow<'p, str>> {
    let shown = |text: &&String| package.form == Form::Wheel || !text.contains("extra ==");
    let requirements = package.metadata.requires_dist.iter().filter(shown);
    requirements.map(|text| Cow::Borrowed(text.as_str())).collect()
}

fn change(field: &str, old: &str, new: &str) -> Option<FieldChange> {
    (old != new).then(|| FieldChange {
        field: field.to_owned(),
        removed: vec![old.to_owned()],
        added: vec![new.to_owned()],
    })
}

fn list_change(field: &str, old: Vec<String>, new: &[Cow<'_, str>]) -> Option<FieldChange> {
    let added: Vec<String> = new
        .iter()
        .filter(|v| !old.iter().any(|o| o == *v))
        .map(|v| v.clone().into_owned())
        .collect();
    let removed: Vec<String> = old.into_iter().filter(|o| !new.iter().any(|v| v == o)).collect();
    (!removed.is_empty() || !added.is_empty()).then(|| FieldChange {
        field: field.to_owned(),
        removed,
        added,
    })
}
