use super::Distribution;
use base::names::Form;
use base::names::{DistName, RelPath};

/// Directory and name, with label and form.
pub fn title(distribution: &Distribution) -> String {
    let form = if distribution.form == Form::Sdist { " (sdist)" } else { "" };
    let label = distribution.wheel_variant.as_ref().map(|variant| format!(" ({})", variant.label));
    named(&distribution.directory, &distribution.name) + &label.unwrap_or_default() + form
}

/// Name, prefixed by the family's directory.
pub fn named(directory: &RelPath, name: &DistName) -> String {
    let family =
        directory.as_str().strip_prefix("dist/").map(|f| format!("{f}/")).unwrap_or_default();
    format!("{family}{name}")
}
