//! Finished packages as a side of a comparison.

use std::borrow::Cow;

use super::built::Built;
use super::contents::{Area, Contents, EntryContent, File, Package, all_the_same};
use crate::contract::Saved;
use base::names::Form;
use check::read::METADATA;
use check::{Finished, Kind, Scheme};
use wheel::archive::egg_info;
use wheel::package::devel_archive::is_devel_archive;

impl<'a> Contents<'a> {
    /// Contents of finished packages.
    pub fn of_built(label: impl Into<String>, built: &'a [check::Package<'_>]) -> Self {
        let packages: Vec<Package<'a>> = built.iter().filter_map(package).collect();
        Self {
            label: label.into(),
            version: all_the_same(packages.iter().map(|package| package.version)),
            platform_tag: all_the_same(packages.iter().filter_map(|it| it.platform_tag)),
            packages,
            ..Self::default()
        }
    }

    /// Contents of a saved contract.
    pub fn of_saved(label: impl Into<String>, saved: &'a Saved) -> Self {
        Self { contracts: Some(&saved.contracts), ..Self::of_built(label, &saved.packages) }
    }
}

/// `None` for a package without readable metadata.
fn package<'a>(package: &'a check::Package<'_>) -> Option<Package<'a>> {
    let finished = package.finished.get()?;
    let is_wheel = package.form == Form::Wheel;
    let mut names = package.files.iter().map(|file| &*file.member);
    let archive = names.find(|name| is_wheel && is_devel_archive(name));
    Some(Package {
        package: None,
        variant: None,
        name: Cow::Owned(finished.metadata.name().ok()?),
        wheel_variant: package.variant.as_ref().map(|it| (&it.label, &*it.text)),
        form: package.form,
        directory: package.file.rsplit_once('/').map_or("", |(directory, _)| directory),
        version: package.version.as_ref()?,
        platform_tag: package.tags.as_ref().map(|tags| &*tags.platform),
        module: finished.fact("module"),
        platform_dir: finished.fact("platform_dir"),
        compressed: finished.compressed,
        packed: Some(finished.packed),
        planned: None,
        limits: None,
        archive: archive.map(|name| name.rsplit('/').next().unwrap_or(name)),
        metadata: Cow::Owned(finished.metadata.described()),
        entry_points: &finished.entry_points,
        files: Files::list(package, finished).collect(),
        absent: None,
    })
}

struct Files<'a> {
    form: Form,
    /// Directory of the metadata, with a slash.
    info: String,
    licenses: Vec<String>,
    module: Option<&'a str>,
    platform_dir: Option<&'a str>,
}

impl<'a> Files<'a> {
    fn list(
        package: &'a check::Package<'_>,
        finished: &'a Finished,
    ) -> impl Iterator<Item = File<'a>> {
        let files = Self {
            form: package.form,
            info: format!("{}/", package.info.as_deref().unwrap_or_default()),
            licenses: finished.metadata.all("License-File"),
            module: finished.fact("module"),
            platform_dir: finished.fact("platform_dir"),
        };
        package.files.iter().filter_map(move |file| files.file(file))
    }

    /// `None` for metadata, and for an archive with files that are compared one by one.
    fn file(&self, file: &'a check::File<'_>) -> Option<File<'a>> {
        let content = match (&file.kind, &file.bytes) {
            (Kind::Link(target), _) => EntryContent::Link(target),
            (Kind::Directory, _) => EntryContent::Directory,
            (_, bytes) => EntryContent::Built(Built { file, bytes: bytes.as_deref()? }),
        };
        let (area, path) = match self.form {
            Form::Wheel => self.of_wheel(file)?,
            Form::Sdist => self.of_sdist(&file.member)?,
        };
        let size = file.bytes.as_ref().map_or(0, |bytes| bytes.size);
        let executable = !matches!(content, EntryContent::Link(_)) && file.is_executable();
        Some(File { area, path, content, size, executable, rule: None })
    }

    /// Skips metadata and descriptions (`sboms`).
    fn of_wheel(&self, file: &'a check::File<'_>) -> Option<(Area, &'a str)> {
        let name = &*file.member;
        let of_info = name.strip_prefix(&*self.info).filter(|_| file.scheme != Scheme::Devel);
        let Some(name) = of_info else {
            return Some(File::placed(name, self.module, self.platform_dir));
        };
        if let Some(license) = name.strip_prefix("licenses/") {
            return Some((Area::License, license));
        }
        let is_described = METADATA.contains(&name) || name.starts_with("sboms/");
        (!is_described).then_some((Area::Other, &*file.member))
    }

    /// Skips metadata, also in the form of setuptools.
    fn of_sdist(&self, name: &'a str) -> Option<(Area, &'a str)> {
        let path = name.split_once('/').map_or(name, |(_, rest)| rest);
        let of_setuptools = [egg_info::PKG_INFO, egg_info::REQUIRES];
        if ["PKG-INFO", "entry_points.txt"].contains(&path)
            || egg_info::file_of(path).is_some_and(|name| of_setuptools.contains(&name))
        {
            return None;
        }
        let is_license = self.licenses.iter().any(|license| license == path);
        Some((if is_license { Area::License } else { Area::Other }, path))
    }
}
