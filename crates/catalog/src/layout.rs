//! Layout of artifact directories. Only this file knows ROCm's own file names.

use serde_json::Value;

use super::checksum::SIDECAR;
use super::{ArtifactId, BuildOrigin, SourcePin};
use base::names::RelPath;
use base::source::{Code, Problem, Problems, Source};

pub(super) const MANIFEST: &str = "artifact_manifest.txt";

/// File of a build with its mode and the version of its packages.
pub const BUILD_FLAGS: &str = "share/therock/therock_manifest.json";
/// File of a build with its own list of GPUs.
pub const BUILD_TARGETS: &str = "share/therock/dist_info.json";
/// File of a build with the version of ROCm.
pub const BUILD_VERSION: &str = ".info/version";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Storage {
    Directory,
    Zstd,
    Xz,
}

pub(super) fn parse_child(name: &str, is_directory: bool) -> Result<(ArtifactId, Storage), String> {
    let (stem, storage) = if is_directory {
        (name, Storage::Directory)
    } else if let Some(stem) = name.strip_suffix(".tar.zst") {
        (stem, Storage::Zstd)
    } else if let Some(stem) = name.strip_suffix(".tar.xz") {
        (stem, Storage::Xz)
    } else {
        return Err("it is neither a directory nor a .tar.zst or .tar.xz archive".to_owned());
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

/// Artifact of an archive with this name.
pub fn archive_of(name: &str) -> Option<ArtifactId> {
    parse_child(name, false).ok().map(|(id, _)| id)
}

/// Archive name of a sidecar name.
pub fn sidecar_of(name: &str) -> Option<&str> {
    name.strip_suffix(SIDECAR).filter(|archive| archive_of(archive).is_some())
}

/// Possible archive names, the preferred one first.
pub fn archive_names(id: &ArtifactId) -> [String; 2] {
    [format!("{id}.tar.zst"), format!("{id}.tar.xz")]
}

/// Base directories in order. Artifacts without files have an empty line; zero bytes mean an
/// incomplete write.
pub(super) fn parse_bases(manifest: &Source) -> Result<Vec<RelPath>, Problems> {
    if manifest.text().is_empty() {
        let message = format!("{} is empty, without a base directory", manifest.name());
        let help = "get the artifact again; its build writes one base directory per line";
        return Err(Problem::error(Code::BaseDirectory, message).help(help).into());
    }
    let (mut bases, mut problems, mut offset) = (Vec::new(), Problems::new(), 0);
    for line in manifest.text().split('\n') {
        let text = line.trim();
        match text.trim_end_matches('/').parse::<RelPath>() {
            Ok(base) if !bases.contains(&base) => bases.push(base),
            Ok(_) => {}
            Err(_) if text.is_empty() => {}
            Err(e) => problems.push(
                Problem::error(Code::BaseDirectory, format!("base directory {e}"))
                    .label(&manifest.at(offset..offset + line.len()), "listed here")
                    .help(
                        "list directories below the artifact, one per line, such as \
                        `math-libs/BLAS/stage`",
                    ),
            ),
        }
        offset += line.len() + 1;
    }
    if problems.is_empty() { Ok(bases) } else { Err(problems) }
}

pub(super) fn kpack_split(flags: &Value) -> bool {
    match &flags["flags"]["KPACK_SPLIT_ARTIFACTS"] {
        Value::Bool(is_on) => *is_on,
        Value::String(text) => {
            matches!(text.to_ascii_lowercase().as_str(), "on" | "true" | "1" | "yes")
        }
        Value::Number(number) => number.as_i64() != Some(0),
        Value::Null | Value::Array(_) | Value::Object(_) => false,
    }
}

pub(super) fn package_version(flags: &Value) -> Option<String> {
    trimmed_text(flags, "rocm_package_version")
}

pub(super) fn origin(flags: &Value) -> Result<BuildOrigin, String> {
    let commit = |repository: &str, text: Option<String>| match text {
        Some(text) if !is_commit(&text) => Err(format!("`{text}` is not a commit of {repository}")),
        text => Ok(text),
    };
    let mut sources = Vec::new();
    for source in flags["submodules"].as_array().into_iter().flatten() {
        let Some(path) = trimmed_text(source, "submodule_path") else { continue };
        let Some(commit) = commit(&path, trimmed_text(source, "pin_sha"))? else { continue };
        let patches = source["patches"].as_array().into_iter().flatten();
        let patches = patches.filter_map(Value::as_str).map(str::to_owned).collect();
        sources.push(SourcePin {
            path,
            commit,
            url: trimmed_text(source, "submodule_url"),
            patches,
        });
    }
    Ok(BuildOrigin {
        commit: commit("the build's own repository", trimmed_text(flags, "the_rock_commit"))?,
        run: trimmed_text(flags, "github_run_id"),
        job: trimmed_text(flags, "github_job"),
        sources,
    })
}

fn trimmed_text(object: &Value, key: &str) -> Option<String> {
    object[key].as_str().map(str::trim).filter(|text| !text.is_empty()).map(str::to_owned)
}

fn is_commit(text: &str) -> bool {
    matches!(text.len(), 40 | 64) && text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f'))
}

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
    fn parses_three_fields_of_a_name() {
        let (id, storage) = parse_child("blas_lib_gfx942:xnack+", true).unwrap();
        assert_eq!((id.name.as_str(), id.family.base()), ("blas", "gfx942"));
        assert_eq!(storage, Storage::Directory);
        assert_eq!(parse_child("blas_lib_generic.tar.zst", false).unwrap().1, Storage::Zstd);
        assert!(parse_child("blas_lib", true).unwrap_err().contains("{component}"));
        assert!(parse_child("blas_all_generic", true).unwrap_err().contains("components are lib"));
        assert!(parse_child("blas_lib_generic.zip", false).is_err());
    }

    #[test]
    fn reports_base_directories_outside_of_the_artifact() {
        let bad = Source::new("m.txt", "a/stage\n../b\n\n/c\n");
        let problems = parse_bases(&bad).unwrap_err();
        let lines: Vec<usize> = problems.iter().map(|p| p.labels()[0].0.line()).collect();
        assert_eq!(lines, [2, 4]);
        assert_eq!(parse_bases(&Source::new("m.txt", "a\na/\r\nb")).unwrap().len(), 2);
    }

    #[test]
    fn refuses_a_manifest_of_zero_bytes() {
        assert!(parse_bases(&Source::new("m.txt", "\n")).unwrap().is_empty());
        let problems = parse_bases(&Source::new("m.txt", "")).unwrap_err();
        let messages: Vec<_> = problems.iter().map(ToString::to_string).collect();
        assert_eq!(messages, ["m.txt is empty, without a base directory"]);
    }

    #[test]
    fn reads_the_origin_of_a_build() {
        let sha = "0123456789abcdef0123456789abcdef01234567";
        let flags = json!({
            "the_rock_commit": sha, "github_run_id": "17", "github_job": "",
            "rocm_package_version": "7.10.0a20260501",
            "submodules": [
                {"submodule_path": "half", "submodule_url": "https://example.org/half.git", "pin_sha": sha, "patches": ["p/1.patch"]},
                {"submodule_path": "unknown", "submodule_url": null, "pin_sha": null, "patches": []},
            ],
        });
        let origin = origin(&flags).unwrap();
        assert_eq!(package_version(&flags).as_deref(), Some("7.10.0a20260501"));
        assert_eq!(
            (origin.commit.as_deref(), origin.run.as_deref(), origin.job),
            (Some(sha), Some("17"), None)
        );
        let half = SourcePin {
            path: "half".to_owned(),
            commit: sha.to_owned(),
            url: Some("https://example.org/half.git".to_owned()),
            patches: vec!["p/1.patch".to_owned()],
        };
        assert_eq!(origin.sources, [half]);
        for empty in
            [Value::Null, json!({}), json!([1]), json!({"submodules": 1, "the_rock_commit": 1})]
        {
            assert!(super::origin(&empty).unwrap().is_empty());
        }
        let bad = json!({"submodules": [{"submodule_path": "half", "pin_sha": "main"}]});
        assert_eq!(super::origin(&bad).unwrap_err(), "`main` is not a commit of half");
        assert!(super::origin(&json!({"the_rock_commit": "HEAD"})).is_err());
    }

    #[test]
    fn reads_each_spelling_of_flags_and_targets() {
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
