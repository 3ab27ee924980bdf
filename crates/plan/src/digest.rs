//! Digest of a plan, equal in builds of its parts.

use std::collections::BTreeMap;
use std::io::{BufWriter, Write as _};

use serde::{Serialize, Serializer};

use super::{Distribution, Member, Metadata, Plan, Rendered, Step, WheelVariant};
use base::hash::sha256_of_writing;
use base::names::{Compression, DistName, Form, Mode, ModuleName, PackageName, RelPath};
use base::version::Version;

/// Part of a distribution that determines its bytes.
///
/// Excludes Python projects, which only machines with their sources plan, and compression rules,
/// which manifest and options have.
#[derive(Serialize)]
struct Decided<'a> {
    package: &'a PackageName,
    variant: &'a Option<String>,
    name: &'a DistName,
    wheel_variant: &'a Option<WheelVariant>,
    variants: &'a Option<String>,
    index: &'a Option<PackageName>,
    form: Form,
    directory: &'a RelPath,
    module: &'a ModuleName,
    platform_dir: &'a Option<ModuleName>,
    platform_tag: &'a Option<String>,
    compression: Compression,
    metadata: &'a Metadata,
    entry_points: &'a BTreeMap<String, String>,
    members: Vec<Placed<'a>>,
    licenses: Vec<Placed<'a>>,
    archive: Option<(&'a RelPath, Option<u8>, Vec<Placed<'a>>)>,
}

type Placed<'a> = (&'a RelPath, WholeStep<'a>, bool, u64);

/// Step with its whole text: parts of a plan share other texts.
struct WholeStep<'a>(&'a Step);

impl Serialize for WholeStep<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0 {
            Step::Render { text } => {
                let text = Rendered::from(text.to_string());
                Step::Render { text }.serialize(serializer)
            }
            step => step.serialize(serializer),
        }
    }
}

impl Plan {
    /// SHA-256 of the whole plan, despite `--only`.
    pub fn digest(&self) -> String {
        let own_digest =
            || digest(self.mode, &self.version, &self.platform_tag, &self.distributions);
        self.whole.clone().unwrap_or_else(own_digest)
    }
}

/// Hexadecimal SHA-256 with these distributions.
pub fn digest<'a>(
    mode: Option<Mode>,
    version: &Version,
    platform_tag: &str,
    distributions: impl IntoIterator<Item = &'a Distribution>,
) -> String {
    sha256_of_writing(|hashing| {
        let mut out = BufWriter::new(hashing);
        serde_json::to_writer(&mut out, &(mode, version, platform_tag))?;
        for distribution in distributions {
            serde_json::to_writer(&mut out, &decided(distribution))?;
        }
        out.flush()
    })
}

fn decided(distribution: &Distribution) -> Decided<'_> {
    // New fields must be digested or ignored here.
    let Distribution {
        package,
        variant,
        name,
        wheel_variant,
        variants,
        index,
        form,
        directory,
        module,
        platform_dir,
        platform_tag,
        compression,
        compressed_otherwise: _,
        metadata,
        entry_points,
        members,
        licenses,
        archive,
        absent: _,
        limits: _,
        estimate: _,
        content: _,
        new: _,
    } = distribution;
    Decided {
        package,
        variant,
        name,
        wheel_variant,
        variants,
        index,
        form: *form,
        directory,
        module,
        platform_dir,
        platform_tag,
        compression: *compression,
        metadata,
        entry_points,
        members: placed(members),
        licenses: placed(licenses),
        archive: archive.as_ref().map(|it| (&it.path, it.xz, placed(&it.members))),
    }
}

fn placed(members: &[Member]) -> Vec<Placed<'_>> {
    members
        .iter()
        .map(|member| {
            let Member { path, step, executable, size, rule: _ } = member;
            (path, WholeStep(step), *executable, *size)
        })
        .collect()
}
