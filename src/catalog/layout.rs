//! How an artifact directory is laid out: the only code that knows ROCm's own file names.

use serde_json::Value;

use super::ArtifactId;
use crate::names::RelPath;
use crate::source::{Code, Problem, Problems, Source};

/// The file in each artifact that lists its base directories.
pub(super) const MANIFEST: &str = "artifact_manifest.txt";

/// Installed path of the build's flags.
pub(super) const BUILD_FLAGS: &str = "share/therock/therock_manifest.json";
/// Installed path of the build's targets.
pub(super) const BUILD_TARGETS: &str = "share/therock/dist_info.json";
/// Installed path of the build's version.
pub(super) const BUILD_VERSION: &str = ".info/version";

/// How an artifact is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Directory,
    Zstd,
    Xz,
}

/// What a child's name says, or why it is no artifact.
pub(super) fn parse_child(name: &str, is_directory: bool) -> Result<(ArtifactId, Storage), String> {
    let (stem, storage) = if is_directory {
        (name, Storage::Directory)
    } else if let Some(stem) = name.strip_suffix(".tar.zst") {
        (stem, Storage::Zstd)
    } else if let Some(stem) = name.strip_suffix(".tar.xz") {
        (stem, Storage::Xz)
    } else {
        return Err("neither a directory nor a .tar.zst or .tar.xz archive".to_owned());
    };
    let fields: Vec<&str> = stem.split('_').collect();
    let [artifact, component, family] = fields[..] else {
        return Err("its name is not {name}_{component}_{family}".to_owned());
    };
    let id = ArtifactId {
        name: artifact.parse().map_err(|e| format!("{e}"))?,
        component: component.parse().map_err(|e| format!("{e}"))?,
        family: family.parse().map_err(|e| format!("{e}"))?,
    };
    Ok((id, storage))
}

/// The base directories that a manifest lists, in its order.
pub(super) fn parse_bases(manifest: &Source) -> Result<Vec<RelPath>, Problems> {
    let (mut bases, mut problems, mut at) = (Vec::new(), Problems::new(), 0);
    for line in manifest.text().split('\n') {
        let text = line.trim();
        match text.trim_end_matches('/').parse::<RelPath>() {
            Ok(base) if !bases.contains(&base) => bases.push(base),
            Ok(_) => {}
            Err(_) if text.is_empty() => {}
            Err(e) => problems.push(
                Problem::error(Code::BaseDirectory, format!("base directory {e}"))
                    .label(&manifest.at(at..at + line.len()), "listed here")
                    .help("list directories below the artifact, one a line, such as `math-libs/BLAS/stage`"),
            ),
        }
        at += line.len() + 1;
    }
    if problems.is_empty() { Ok(bases) } else { Err(problems) }
}

/// Whether the flags say that device code was split off.
pub(super) fn kpack_split(flags: &Value) -> bool {
    match &flags["flags"]["KPACK_SPLIT_ARTIFACTS"] {
        Value::Bool(on) => *on,
        Value::String(text) => {
            matches!(text.to_ascii_lowercase().as_str(), "on" | "true" | "1" | "yes")
        }
        Value::Number(number) => number.as_i64() != Some(0),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

/// The targets, from a list or from a text with `;` or `,` between.
pub(super) fn targets(info: &Value) -> Vec<String> {
    let split = |text: &str| {
        text.split([';', ','])
            .map(|t| t.trim().to_owned())
            .filter(|t| !t.is_empty())
            .collect::<Vec<_>>()
    };
    match &info["dist_amdgpu_targets"] {
        Value::String(text) => split(text),
        Value::Array(list) => list.iter().filter_map(Value::as_str).flat_map(split).collect(),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::Object(_) => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn children_are_named_by_three_fields() {
        let (id, storage) = parse_child("blas_lib_gfx942:xnack+", true).unwrap();
        assert_eq!((id.name.as_str(), id.family.base()), ("blas", "gfx942"));
        assert_eq!(storage, Storage::Directory);
        assert_eq!(parse_child("blas_lib_generic.tar.zst", false).unwrap().1, Storage::Zstd);
        assert!(parse_child("blas_lib", true).unwrap_err().contains("{component}"));
        assert!(parse_child("blas_all_generic", true).unwrap_err().contains("components are lib"));
        assert!(parse_child("blas_lib_generic.zip", false).is_err());
    }

    #[test]
    fn bases_that_lead_outside_are_shown() {
        let bad = Source::new("m.txt", "a/stage\n../b\n\n/c\n");
        let problems = parse_bases(&bad).unwrap_err();
        let lines: Vec<usize> = problems.iter().map(|p| p.labels()[0].0.line()).collect();
        assert_eq!(lines, [2, 4]);
        assert_eq!(parse_bases(&Source::new("m.txt", "a\na/\r\nb")).unwrap().len(), 2);
    }

    #[test]
    fn flags_and_targets_in_every_spelling() {
        assert!(kpack_split(&json!({"flags": {"KPACK_SPLIT_ARTIFACTS": true}})));
        assert!(kpack_split(&json!({"flags": {"KPACK_SPLIT_ARTIFACTS": "ON"}})));
        assert!(!kpack_split(&json!({})));
        assert_eq!(
            targets(&json!({"dist_amdgpu_targets": "gfx942; gfx1100"})),
            ["gfx942", "gfx1100"]
        );
        assert_eq!(targets(&json!({"dist_amdgpu_targets": ["gfx942"]})), ["gfx942"]);
    }
}
