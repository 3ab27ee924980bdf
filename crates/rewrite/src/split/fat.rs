use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::{self, Seek, Write};

use super::input::Input;
use super::runtime;
use super::stuck::Stuck;
use base::names::offload::ANY_TARGET;
use base::names::{RelPath, without_features};
use binary::device_code::{Archiver, Bundle, Object, marker};
use binary::fat::{Emptied, Emptying, Fat as FatBinary};
use manifest::Families;

/// Directory in which build tools put archives and the runtime searches.
const DIRECTORY: &str = ".kpack";

/// File, bundle in it, position in the bundle.
pub(super) type Piece = (usize, usize, usize);

#[derive(Debug)]
pub(super) struct Fat {
    pub member: usize,
    /// Its name in archives.
    binary: String,
    /// The member, unpacked into a temporary file.
    file: File,
    bundles: Vec<Bundle>,
    emptying: Emptying,
    /// Requirement for the runtime that reads its archives.
    pub runtime: String,
}

/// An archive of the code for one ISA.
#[derive(Debug, Clone)]
pub struct Archive {
    /// Path in the wheel.
    pub path: String,
    /// Number of its code objects.
    pub objects: usize,
    /// Bytes of the code objects.
    pub bytes: u64,
    isa: String,
    pieces: Vec<Piece>,
}

impl Fat {
    /// Unpacks a member, finds its bundles, and checks that it works without them.
    pub fn read(
        input: &Input<'_>,
        families: &Families,
        index: usize,
        path: &RelPath,
    ) -> Result<Self, Stuck> {
        let entry = &input.wheel.entries()[index];
        let data = input.wheel.dist_info().replace(".dist-info", ".data");
        if path.as_str().split('/').next() == Some(&data) {
            return Err(Stuck::Moved);
        }
        let mut file = tempfile::tempfile()?;
        io::copy(&mut input.wheel.member(entry)?, &mut file)?;
        let fat = FatBinary::read(&file)?;
        let runtime = runtime::runtime_of(input.rule, &fat.needs()?)?.requires.value.to_string();
        let bundles = fat.bundles().into_iter();
        let bundles = bundles.map(|place| Bundle::read(&file, place.start, place.end));
        let bundles = bundles.collect::<Result<Vec<_>, _>>()?;
        for object in bundles.iter().flat_map(Bundle::objects) {
            let isa = without_features(&object.target);
            if !families.isas.keys().any(|known| known.as_str() == isa) {
                return Err(Stuck::Target(object.target.clone()));
            }
        }
        let root = input.rule.root.as_ref();
        let below = root.and_then(|root| path.below(root)).unwrap_or_else(|| path.clone());
        let binary = below.as_str().to_owned();
        let marker = marker(&binary, &way(path, &place(input, ANY_TARGET)));
        let lengths: Vec<u64> = bundles.iter().map(Bundle::length).collect();
        let emptying = fat.emptying(&file, &lengths, &marker)?;
        fat.prove(&file, &Emptied::new(&file, &emptying), &marker)?;
        Ok(Self { member: index, binary, file, bundles, emptying, runtime })
    }

    pub fn isas(&self) -> BTreeSet<&str> {
        self.objects().map(|(_, object)| without_features(&object.target)).collect()
    }

    pub fn bundles(&self) -> &[Bundle] {
        &self.bundles
    }

    pub fn each_code(
        &self,
        bundle: usize,
        take: impl FnMut(usize, &mut dyn io::Read) -> io::Result<()>,
    ) -> io::Result<()> {
        self.bundles[bundle].each_code(&self.file, take)
    }

    pub fn freed(&self) -> u64 {
        self.emptying.freed()
    }

    pub fn size(&self) -> u64 {
        self.emptying.new_len()
    }

    /// The file without its bundles.
    pub fn reader(&self) -> impl io::Read + '_ {
        Emptied::new(&self.file, &self.emptying).reader()
    }

    fn objects(&self) -> impl Iterator<Item = ((usize, usize), &Object)> {
        fn numbered(
            (number, bundle): (usize, &Bundle),
        ) -> impl Iterator<Item = ((usize, usize), &Object)> {
            bundle.objects().iter().enumerate().map(move |(at, object)| ((number, at), object))
        }
        self.bundles.iter().enumerate().flat_map(numbered)
    }
}

pub(super) fn archives(
    input: &Input<'_>,
    families: &Families,
    fats: &[Fat],
) -> BTreeMap<String, Vec<Archive>> {
    let mut isas: BTreeMap<&str, Archive> = BTreeMap::new();
    for (file, fat) in fats.iter().enumerate() {
        for ((bundle, at), object) in fat.objects() {
            let isa = without_features(&object.target);
            let archive = isas.entry(isa).or_insert_with(|| Archive {
                path: place(input, isa),
                objects: 0,
                bytes: 0,
                isa: isa.to_owned(),
                pieces: Vec::new(),
            });
            archive.objects += 1;
            archive.bytes += object.size;
            archive.pieces.push((file, bundle, at));
        }
    }
    let mut targets: BTreeMap<String, Vec<Archive>> = BTreeMap::new();
    for (isa, archive) in isas {
        targets.entry(families.package_of(isa).to_owned()).or_default().push(archive);
    }
    targets
}

impl Archive {
    /// Writes the archive; `frame` returns a compressed piece.
    pub(super) fn write<W: Write + Seek>(
        &self,
        fats: &[Fat],
        frame: impl Fn(Piece) -> io::Result<Vec<u8>>,
        group: &str,
        out: W,
    ) -> io::Result<W> {
        let mut archiver = Archiver::new(out, group, &self.isa)?;
        for piece in &self.pieces {
            let (file, bundle, number) = *piece;
            let object = &fats[file].bundles[bundle].objects()[number];
            let frame = frame(*piece)?;
            archiver.add(&fats[file].binary, bundle, &object.target, object.size, &frame)?;
        }
        archiver.finish()
    }
}

/// Name of the archives: the distribution as a Python name.
pub(super) fn group(input: &Input<'_>) -> String {
    input.wheel.name().dist.normalized().replace('-', "_")
}

fn place(input: &Input<'_>, isa: &str) -> String {
    let file = format!("{DIRECTORY}/{}_{isa}.kpack", group(input));
    match &input.rule.root {
        Some(root) => format!("{root}/{file}"),
        None => file,
    }
}

fn way(from: &RelPath, to: &str) -> String {
    let (from, to): (Vec<&str>, Vec<&str>) =
        (from.as_str().split('/').collect(), to.split('/').collect());
    let directories = &from[..from.len() - 1];
    let common = directories.iter().zip(&to).take_while(|(a, b)| a == b).count();
    let up = "../".repeat(directories.len() - common);
    up + &to[common..].join("/")
}
