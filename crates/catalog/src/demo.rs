//! A small artifact directory for trying out rockpack, with everything that `packages.kdl`
//! requires.
//!
//! Libraries and Windows programs are generated; Linux programs come from the caller.

use std::io;
use std::path::Path;

use fs_err as fs;
use thiserror::Error;

use base::directory::{is_empty, walk};
use base::names::System;
use binary::Machine;
use binary::elf::forward::{ForwardError, forwarding_library};
use binary::elf::stub::StubMachine;
use binary::pe::{PeKind, Stub, import_stub, stub};

const LINUX: &str = include_str!("demo/artifacts.txt");
const WINDOWS: &str = include_str!("demo/artifacts-windows.txt");

/// Mark of a demo directory, outside of installed files.
const MARK: &str = "base_lib_generic/.rockpack-demo";

/// Fault of a demo directory.
#[derive(Debug, Error)]
pub enum DemoError {
    /// The directory has other content.
    #[error("{0} exists and is not a demo directory")]
    Occupied(String),
    /// The directory cannot be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// A listed library cannot be generated.
    #[error(transparent)]
    Library(#[from] ForwardError),
    /// The embedded list has an invalid line.
    #[error("the list of entries in src/demo: `{0}` is not an entry")]
    DemoFile(String),
}

/// Writes or replaces a Linux demo in `dir`, with the bytes `program` as every program. `kpack`
/// splits off device code.
///
/// # Errors
///
/// If `dir` has other content.
pub fn make(dir: &Path, kpack: bool, program: &[u8]) -> Result<(), DemoError> {
    make_for(System::Linux, dir, kpack, program)
}

/// Writes a demo like [`make`] for either system.
pub fn make_for(system: System, dir: &Path, kpack: bool, program: &[u8]) -> Result<(), DemoError> {
    clear(dir)?;
    fs::create_dir_all(dir.join(MARK).parent().unwrap_or(dir))?;
    fs::write(dir.join(MARK), "")?;
    let list = List::parse(match system {
        System::Linux => LINUX,
        System::Windows => WINDOWS,
    })?;
    let isas: Vec<&str> = list.isas.iter().map(|(isa, _)| *isa).collect();
    for line in &list.entries {
        let line = line.replace("{kpack}", &kpack.to_string()).replace("{isas}", &isas.join(";"));
        let entry = DemoFile::parse(&line)?;
        let name = entry.artifact.split('_').next().unwrap_or_default();
        if !kpack && list.per_family.contains(&name) {
            for (_, family) in &list.isas {
                entry.write(dir, family, program)?;
            }
        } else {
            entry.write(dir, "generic", program)?;
        }
    }
    for (isa, family) in &list.isas {
        for line in &list.device {
            let line = line.replace("ISA", isa);
            DemoFile::parse(&line)?.write(dir, if kpack { isa } else { family }, program)?;
        }
    }
    Ok(())
}

/// Keeps the mark: the next run replaces what a killed one leaves.
fn clear(dir: &Path) -> Result<(), DemoError> {
    let empty = match is_empty(dir) {
        Ok(empty) => empty,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error.into()),
    };
    if !empty && !dir.join(MARK).is_file() {
        return Err(DemoError::Occupied(dir.display().to_string()));
    }
    let mark = dir.join(MARK);
    for entry in walk(dir).collect::<Vec<_>>().into_iter().rev() {
        let path = entry?.path().to_owned();
        if mark.starts_with(&path) {
            continue;
        }
        if fs::symlink_metadata(&path)?.is_dir() {
            fs::remove_dir(path)?;
        } else {
            fs::remove_file(path)?;
        }
    }
    Ok(())
}

#[derive(Debug, Default)]
struct List {
    /// Pairs of ISA and family.
    isas: Vec<(&'static str, &'static str)>,
    per_family: Vec<&'static str>,
    entries: Vec<&'static str>,
    device: Vec<&'static str>,
}

impl List {
    fn parse(text: &'static str) -> Result<Self, DemoError> {
        let mut list = Self::default();
        for line in text.lines().filter(|line| !line.is_empty() && !line.starts_with('#')) {
            match line.split_once(' ') {
                Some(("isa", rest)) => {
                    let pair =
                        rest.split_once(' ').ok_or_else(|| DemoError::DemoFile(line.into()))?;
                    list.isas.push((pair.0, pair.1.trim_start()));
                }
                Some(("per-family", rest)) => list.per_family.extend(rest.split(' ')),
                Some(("device", rest)) => list.device.push(rest),
                _ => list.entries.push(line),
            }
        }
        Ok(list)
    }
}

#[derive(Debug)]
struct DemoFile<'l> {
    artifact: &'l str,
    path: &'l str,
    kind: &'l str,
    detail: &'l str,
}

impl<'l> DemoFile<'l> {
    fn parse(line: &'l str) -> Result<Self, DemoError> {
        let wrong = || DemoError::DemoFile(line.to_owned());
        let (artifact, rest) = line.split_once(' ').ok_or_else(wrong)?;
        let (path, kind_and_detail) = rest.trim_start().split_once(' ').ok_or_else(wrong)?;
        let (kind, detail) = kind_and_detail
            .trim_start()
            .split_once(' ')
            .unwrap_or((kind_and_detail.trim_start(), ""));
        Ok(Self { artifact, path, kind, detail })
    }

    fn write(&self, dir: &Path, family: &str, program: &[u8]) -> Result<(), DemoError> {
        let artifact = dir.join(format!("{}_{family}", self.artifact));
        let place = artifact.join("stage").join(self.path);
        fs::create_dir_all(place.parent().unwrap_or(dir))?;
        fs::write(artifact.join("artifact_manifest.txt"), "stage\n")?;
        match self.kind {
            "so" => fs::write(
                &place,
                forwarding_library(machine(), self.detail, "libc.so.6", "$ORIGIN")?,
            )?,
            "dll" => fs::write(&place, self.pe(PeKind::Library))?,
            "exe" => fs::write(&place, self.pe(PeKind::Program))?,
            "lib" => {
                let symbol = self.detail.split('.').next().unwrap_or_default();
                fs::write(&place, import_stub(Machine::X86_64, self.detail, symbol))?;
            }
            "link" => fs_err::os::unix::fs::symlink(self.detail, &place)?,
            "program" => write_program(&place, program)?,
            "script" => write_program(&place, b"#!/bin/sh\necho stand-in \"$@\"\n")?,
            "text" => fs::write(&place, format!("{}\n", self.detail))?,
            "data" => fs::write(&place, self.path.repeat(200))?,
            _ => return Err(DemoError::DemoFile(format!("{} {}", self.path, self.kind))),
        }
        Ok(())
    }

    /// `detail` has name, imports and, after `;`, delayed imports.
    fn pe(&self, kind: PeKind) -> Vec<u8> {
        let (direct, delayed) = self.detail.split_once(';').unwrap_or((self.detail, ""));
        let (direct, delayed): (Vec<&str>, Vec<&str>) =
            (direct.split_whitespace().collect(), delayed.split_whitespace().collect());
        let (name, imports) = direct.split_first().unwrap_or((&"", &[]));
        stub(&Stub {
            kind,
            machine: Machine::X86_64,
            name,
            imports,
            delayed: &delayed,
            version: Some([7, 2, 0, 0]),
        })
    }
}

fn machine() -> StubMachine {
    if cfg!(target_arch = "aarch64") { StubMachine::Aarch64 } else { StubMachine::X86_64 }
}

fn write_program(place: &Path, content: &[u8]) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(place, content)?;
    fs::set_permissions(place, PermissionsExt::from_mode(0o755))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replaces_only_a_demo() {
        let dir = tempfile::tempdir().unwrap();
        let demo = dir.path().join("demo");
        make(&demo, true, b"program").unwrap();
        make(&demo, false, b"program").unwrap();
        assert!(demo.join("blas_lib_gfx94X-dcgpu/stage/lib/libhipblas.so.3").is_symlink());

        let home = dir.path().join("home");
        fs::create_dir(&home).unwrap();
        fs::write(home.join("letters.txt"), "dear").unwrap();
        let error = make(&home, true, b"program").unwrap_err();
        assert!(matches!(error, DemoError::Occupied(_)), "{error}");
        assert_eq!(fs::read_to_string(home.join("letters.txt")).unwrap(), "dear");
    }
}
