use std::path::Path;

use super::member::{self, Texts};
use super::{Built, BuiltContent, BuiltFile};
use base::names::RelPath;
use plan::Form;
use wheel::archive::egg_info;
use wheel::package::entry_points::EntryPoints;
use wheel::package::{Metadata, PackageError, Sdist};

pub(super) fn read(path: &Path, directory: &RelPath) -> Result<Built, PackageError> {
    let (mut files, mut texts) = (Vec::new(), Texts::default());
    let sdist = Sdist::open(path, |member, bytes| {
        let wanted = !member.is_directory() && texts.take(member.size);
        files.extend((!member.is_directory()).then_some(member::of_tar(member, bytes, wanted)?));
        Ok(())
    })?;
    for file in &mut files {
        file.path = file.path.split_once('/').map_or(&*file.path, |(_, rest)| rest).to_owned();
    }
    let metadata = Metadata::parse(sdist.pkg_info().ok_or(PackageError::NoPkgInfo)?);
    taken(&mut files, "PKG-INFO");
    let repeats = |path: &str| {
        egg_info::file_of(path)
            .is_some_and(|n| [egg_info::PKG_INFO, egg_info::REQUIRES].contains(&n))
    };
    files.retain(|file| !repeats(&file.path));
    let licenses = metadata.all("License-File");
    for file in &mut files {
        file.license = licenses.contains(&file.path);
    }
    let entry_points =
        EntryPoints::parse(&taken(&mut files, "entry_points.txt").unwrap_or_default());
    Ok(Built {
        directory: directory.clone(),
        form: Form::Sdist,
        name: metadata.name()?,
        version: metadata.version()?,
        wheel_variant: None,
        platform_tag: None,
        module: None,
        platform_dir: None,
        packed: std::fs::metadata(path)?.len(),
        compressed: false,
        archive: None,
        metadata: metadata.described(),
        entry_points: entry_points.by_name(),
        files,
    })
}

fn taken(files: &mut Vec<BuiltFile>, name: &str) -> Option<String> {
    let index = files.iter().position(|file| file.path == name)?;
    match files.remove(index).content {
        BuiltContent::Bytes(bytes) => bytes.text,
        BuiltContent::Link(_) | BuiltContent::Directory => None,
    }
}
