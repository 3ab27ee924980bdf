use std::collections::BTreeMap;
use std::io;

use rayon::prelude::*;

use super::ExecuteError;
use super::bytes::Bytes;
use super::digests::Digests;
use super::prepare::{self, Output, Ready, ReadyContent};
use super::timings::Recorder;
use super::wheel::Contents;
use base::hash::Sha256;
use base::names::{Form, RelPath};
use base::text::with_causes;
use catalog::Source;
use plan::{Distribution, Member, Plan};
use record::content::{Owner, PackageContent, Rules, installed_path};
use record::sbom::{Document, SBOM_PATH};
use wheel::archive::wheel::dist_info_dir;

/// Content of each wheel of `plan`, in its order; `None` for an sdist, and for a wheel with an xz
/// archive, whose hash is known only after compression. Reads only files of unknown digest.
///
/// # Errors
///
/// Fails with all unusable files.
pub fn package_contents(
    plan: &Plan,
    sboms: &[Option<Document>],
    artifacts: &dyn Source,
    digests: &Digests,
    rules: &Rules,
) -> Result<Vec<Option<PackageContent>>, ExecuteError> {
    let outputs = prepare::outputs(plan, artifacts, |_| false, &Recorder::new(None))?;
    let mut contents = Vec::new();
    for ((distribution, output), sbom) in plan.distributions.iter().zip(outputs).zip(sboms) {
        contents.push(match distribution.form {
            Form::Sdist => None,
            Form::Wheel if distribution.has_xz_archive() => None,
            Form::Wheel => {
                let reader = ContentReader { plan, distribution, digests, rules };
                let content = reader.content(output, sbom.as_ref());
                Some(content.map_err(|error| ExecuteError::Files(vec![error]))?)
            }
        });
    }
    Ok(contents)
}

/// Digest of the files of each package in `matched`, for [`plan::Since::compatible`].
///
/// # Errors
///
/// Fails with the first unreadable file.
pub fn compatible(
    matched: &BTreeMap<String, Vec<&Member>>,
    artifacts: &dyn Source,
    digests: &Digests,
) -> Result<BTreeMap<String, String>, ExecuteError> {
    let members: BTreeMap<&RelPath, &Member> =
        matched.values().flatten().map(|member| (&member.path, *member)).collect();
    let row = |(path, member): (&RelPath, &Member)| {
        let ready = prepare::member_ready(member, artifacts)?;
        let sha256 = hash(&ready, digests)?;
        Ok((path.clone(), (member.executable, sha256)))
    };
    let rows = members.into_par_iter().map(row).collect::<Result<BTreeMap<_, _>, String>>();
    let rows = rows.map_err(|error| ExecuteError::Files(vec![error]))?;
    let digest = |package_members: &Vec<&Member>| {
        let mut content = PackageContent::default();
        for member in package_members {
            if let Some((executable, sha256)) = rows.get(&member.path) {
                content.add(member.path.to_string(), *executable, sha256);
            }
        }
        content.digest()
    };
    Ok(matched
        .iter()
        .map(|(name, package_members)| (name.clone(), digest(package_members)))
        .collect())
}

struct ContentReader<'g> {
    plan: &'g Plan,
    distribution: &'g Distribution,
    digests: &'g Digests,
    rules: &'g Rules,
}

impl ContentReader<'_> {
    fn content(&self, output: Output, sbom: Option<&Document>) -> Result<PackageContent, String> {
        let text = |error: &(dyn std::error::Error + 'static)| with_causes(error);
        let info = dist_info_dir(&self.distribution.name, &self.plan.version);
        let info = info.map_err(|error| text(&error))?.to_string();
        let name = self.distribution.name.normalized();
        let owner = Owner { name: &name, version: &self.plan.version, dist_info: &info };
        let contents = Contents::new(self.plan, self.distribution, None, output);
        let contents = contents.map_err(|error| text(&error))?;
        let row = |ready: &Ready| {
            let path = installed_path(ready.path.as_str(), &info);
            let sha256 = self.hash(owner, &path, ready)?;
            Ok((path, ready.executable, sha256))
        };
        let members: Vec<&Ready> = contents.files().collect();
        let rows = members.into_par_iter().map(row).collect::<Result<Vec<_>, String>>()?;
        let mut content = PackageContent::default();
        for (path, executable, sha256) in rows {
            content.add(path, executable, &sha256);
        }
        if let Some(document) = sbom {
            let path = installed_path(&format!("{info}/{SBOM_PATH}"), &info);
            let bill = document.to_json();
            let bill = self.rules.without_version(owner, &path, bill.as_bytes());
            content.add(path, false, &Sha256::of(&bill));
        }
        for requirement in &self.distribution.metadata.requires_dist {
            let line = format!("Requires-Dist: {requirement}\n");
            self.rules.pins(&line).into_iter().for_each(|pin| content.pin(pin));
        }
        Ok(content)
    }

    fn hash(&self, owner: Owner<'_>, path: &str, ready: &Ready) -> Result<Sha256, String> {
        if !self.rules.has_version(owner, path) {
            return hash(ready, self.digests);
        }
        let ReadyContent::File(bytes) = &ready.content else { return Ok(Sha256::of(&[])) };
        let text = read_all(bytes).map_err(|error| unread(ready, &error))?;
        Ok(Sha256::of(&self.rules.without_version(owner, path, &text)))
    }
}

fn read_all(bytes: &Bytes) -> io::Result<Vec<u8>> {
    let mut content = vec![0; usize::try_from(bytes.len()).map_err(io::Error::other)?];
    bytes.read_exact_at(0, &mut content)?;
    Ok(content)
}

fn hash(ready: &Ready, digests: &Digests) -> Result<Sha256, String> {
    let ReadyContent::File(bytes) = &ready.content else { return Ok(Sha256::of(&[])) };
    digests.sha256(bytes).map_err(|error| unread(ready, &error))
}

fn unread(ready: &Ready, error: &io::Error) -> String {
    format!("cannot read `{}`: {}", ready.path, with_causes(error))
}
