//! Rows of the table: their subjects and lines.

use super::program::Compression;
use super::results::{Results, Subject, bytes};
use super::table::{Limit, Line, Quantity};

use Compression::{Default, Fast, Max, Store};
use Limit::{AtLeast, AtMost};

/// Row of the table.
pub struct Row {
    pub name: &'static str,
    /// Subjects, in the order of measuring, so that a baseline and its comparison alternate.
    pub needs: Vec<Subject>,
    /// The row takes minutes.
    pub slow: bool,
    lines: Box<Lines>,
}

type Lines = dyn Fn(&Results) -> Result<Vec<Line>, String>;

impl Row {
    fn new(
        name: &'static str,
        needs: &[Subject],
        lines: impl Fn(&Results) -> Result<Vec<Line>, String> + 'static,
    ) -> Self {
        Self { name, needs: needs.to_vec(), slow: false, lines: Box::new(lines) }
    }

    /// Returns the lines.
    ///
    /// # Errors
    /// Fails if a subject was not measured.
    pub fn lines(&self, results: &Results) -> Result<Vec<Line>, String> {
        (self.lines)(results)
    }
}

/// Returns all rows, with the targets of the project.
pub fn rows(presets: &[u32]) -> Vec<Row> {
    let mut rows = vec![
        Row { slow: true, ..today() },
        floor(),
        default(),
        fast(),
        store(),
        Row { slow: true, ..max() },
    ];
    rows.push(Row { slow: true, ..devel(presets) });
    rows.push(Row { slow: true, ..self::presets() });
    rows.extend([archives(), unchanged(), library(), variant(), promote(), plan()]);
    rows.extend([memory(), written_bytes(), scaling()]);
    rows
}

fn today() -> Row {
    Row::new("today", &[Subject::Today], |results| {
        let run = results.best(Subject::Today)?;
        let written = Quantity::Bytes(run.measured.written);
        Ok(vec![
            Line::alone("today's flow", Quantity::Seconds(run.measured.wall)),
            Line::alone("on processors", Quantity::Seconds(run.measured.cpu)),
            Line::alone("its packages", bytes(run.size)),
            Line::alone("its largest process", Quantity::Bytes(run.measured.peak)),
            Line::multiple(
                "bytes it writes",
                written,
                "read from artifacts",
                results.size(Subject::Cat)?,
                Limit::None,
            ),
        ])
    })
    .after(Subject::Cat)
}

fn floor() -> Row {
    let needs = [Subject::Cat, Subject::Hash, Subject::Write];
    Row::new("floor", &needs, move |results| {
        let names = ["cat", "cat + SHA-256", "cat + SHA-256 + write"];
        names
            .iter()
            .zip(needs)
            .map(|(name, subject)| Ok(Line::alone(*name, results.time(subject)?)))
            .collect()
    })
}

fn default() -> Row {
    let needs =
        [Subject::Deflate(Default), Subject::DeflatePart, Subject::Build(Default), Subject::Zlib];
    Row::new("default", &needs, |results| {
        let (time, size) =
            (results.time(Subject::Build(Default))?, results.size(Subject::Build(Default))?);
        let mut lines = vec![
            Line::multiple(
                "build",
                time,
                "deflate in memory",
                results.time(Subject::Deflate(Default))?,
                AtMost(1.10),
            ),
            Line::multiple(
                "",
                time,
                "of what it deflates",
                results.time(Subject::DeflatePart)?,
                Limit::None,
            ),
            Line::multiple("its size", size, "zlib -6", results.size(Subject::Zlib)?, AtMost(1.0)),
        ];
        lines.extend(faster_than_today("build", time, 7.0, results));
        Ok(lines)
    })
}

/// Compares with today's flow, if it was measured.
fn faster_than_today(what: &str, time: Quantity, times: f64, results: &Results) -> Option<Line> {
    let today = results.time(Subject::Today).ok()?;
    Some(Line::faster(what, time, "today's flow", today, AtLeast(times)))
}

fn fast() -> Row {
    Row::new(
        "fast",
        &[Subject::Deflate(Fast), Subject::Build(Fast), Subject::Build(Default), Subject::Zlib],
        |results| {
            let (time, size) =
                (results.time(Subject::Build(Fast))?, results.size(Subject::Build(Fast))?);
            let mut lines = vec![
                Line::multiple(
                    "build --compression fast",
                    time,
                    "deflate in memory",
                    results.time(Subject::Deflate(Fast))?,
                    Limit::None,
                ),
                Line::multiple(
                    "its size",
                    size,
                    "zlib -6",
                    results.size(Subject::Zlib)?,
                    AtMost(1.12),
                ),
            ];
            lines.extend(faster_than_today("build --compression fast", time, 11.0, results));
            Ok(lines)
        },
    )
}

fn store() -> Row {
    Row::new("store", &[Subject::Write, Subject::Build(Store)], |results| {
        let (time, floor) = (results.time(Subject::Build(Store))?, results.time(Subject::Write)?);
        Ok(vec![Line::multiple(
            "build --compression store",
            time,
            "cat + SHA-256 + write",
            floor,
            AtMost(1.3),
        )])
    })
}

fn max() -> Row {
    Row::new(
        "max",
        &[Subject::Deflate(Max), Subject::Build(Max), Subject::Build(Default), Subject::Zlib],
        |results| {
            let (time, size) =
                (results.time(Subject::Build(Max))?, results.size(Subject::Build(Max))?);
            Ok(vec![
                Line::multiple(
                    "build --compression max",
                    time,
                    "deflate in memory",
                    results.time(Subject::Deflate(Max))?,
                    Limit::None,
                ),
                Line::multiple(
                    "its size",
                    size,
                    "zlib -6",
                    results.size(Subject::Zlib)?,
                    Limit::None,
                ),
            ])
        },
    )
}

fn devel(presets: &[u32]) -> Row {
    let needs = presets.iter().flat_map(|preset| [Subject::OneXz(*preset), Subject::Xz(*preset)]);
    let presets = presets.to_vec();
    let needs: Vec<_> = [Subject::Build(Default)].into_iter().chain(needs).collect();
    Row::new("devel", &needs, move |results| {
        let mut lines = Vec::new();
        for preset in &presets {
            let (ours, one) = (Subject::Xz(*preset), Subject::OneXz(*preset));
            let against = format!("one core's xz -{preset}");
            lines.push(Line::faster(
                xz_command(*preset),
                results.time(ours)?,
                &against,
                results.time(one)?,
                AtLeast(1.9),
            ));
            lines.push(Line::multiple(
                "its size",
                results.size(ours)?,
                against,
                results.size(one)?,
                Limit::None,
            ));
        }
        Ok(lines)
    })
}

/// Returns the command line for the devel package with its archive in xz.
fn xz_command(preset: u32) -> String {
    format!("build --only devel --devel-tarball-compression --xz-preset {preset}")
}

/// Compares seconds and size of each preset with the default archive.
fn presets() -> Row {
    let all = 0..=6;
    let needs: Vec<_> = [Subject::Devel].into_iter().chain(all.clone().map(Subject::Xz)).collect();
    Row::new("presets", &needs, move |results| {
        let plain = "build --only devel";
        let (time, size) = (results.time(Subject::Devel)?, results.size(Subject::Devel)?);
        let mut lines = vec![Line::alone(plain, time), Line::alone("its size", size)];
        for preset in all.clone() {
            let xz = Subject::Xz(preset);
            let (longer, smaller) = (results.time(xz)?, results.size(xz)?);
            lines.push(Line::multiple(xz_command(preset), longer, plain, time, Limit::None));
            lines.push(Line::multiple("its size", smaller, plain, size, Limit::None));
        }
        Ok(lines)
    })
}

fn unchanged() -> Row {
    Row::new("unchanged", &[Subject::Copy, Subject::Unchanged], |results| {
        let bound = Quantity::Seconds(1.0 + results.time(Subject::Copy)?.value());
        Ok(vec![Line::multiple(
            "build, nothing changed",
            results.time(Subject::Unchanged)?,
            "1 s + copying",
            bound,
            AtMost(1.0),
        )])
    })
}

fn archives() -> Row {
    let needs = [
        Subject::Cat,
        Subject::Deflate(Default),
        Subject::Decode,
        Subject::Uncached,
        Subject::Archives,
    ];
    Row::new("archives", &needs, |results| {
        let time = results.time(Subject::Archives)?;
        let seconds = |subject| results.time(subject).map(Quantity::value);
        let decoding = seconds(Subject::Decode)?;
        let work = decoding + seconds(Subject::Deflate(Default))?;
        let bound = Quantity::Seconds(work.max(seconds(Subject::Cat)?));
        let same = Quantity::Seconds(seconds(Subject::Uncached)? + decoding);
        let against = "decode + deflate in memory, or read";
        Ok(vec![
            Line::multiple("build of archives in a store", time, against, bound, AtMost(1.25)),
            Line::multiple("", time, "build of directories + decode", same, AtMost(1.15)),
        ])
    })
}

fn promote() -> Row {
    Row::new("promote", &[Subject::CopyToDisk, Subject::Promote], |results| {
        let (time, copy) = (results.time(Subject::Promote)?, results.time(Subject::CopyToDisk)?);
        Ok(vec![Line::multiple("promote", time, "copying, to the disk", copy, AtMost(1.3))])
    })
}

/// Compares a rebuild with the work for its changed files, and with the rebuild without a change.
fn rebuild(
    what: &'static str,
    ours: Subject,
    work: Subject,
    limit: Limit,
    results: &Results,
) -> Result<Vec<Line>, String> {
    let (own, again) = (results.time(work)?.value(), results.time(Subject::Unchanged)?.value());
    let bound = Quantity::Seconds(own + 1.2 * again);
    Ok(vec![Line::multiple(what, results.time(ours)?, "own work + 1.2 × unchanged", bound, limit)])
}

fn library() -> Row {
    let needs = [Subject::Unchanged, Subject::LibraryWork, Subject::Library];
    Row::new("library", &needs, |results| {
        rebuild(
            "build, one library changed",
            Subject::Library,
            Subject::LibraryWork,
            AtMost(1.0),
            results,
        )
    })
}

fn variant() -> Row {
    let needs = [Subject::Unchanged, Subject::VariantWork, Subject::Variant];
    Row::new("isa", &needs, |results| {
        rebuild(
            "build, one ISA changed",
            Subject::Variant,
            Subject::VariantWork,
            Limit::None,
            results,
        )
    })
}

fn plan() -> Row {
    Row::new("plan", &[Subject::Walk, Subject::Plan], |results| {
        let (time, walk) = (results.time(Subject::Plan)?, results.time(Subject::Walk)?);
        Ok(vec![Line::multiple("plan --json", time, "walk + ELF headers", walk, AtMost(1.5))])
    })
}

fn memory() -> Row {
    Row::new("memory", &[Subject::Build(Default), Subject::Uncached], |results| {
        let peak = results.peak().ok_or("no program was measured")?;
        let most = Quantity::Bytes(512e6);
        Ok(vec![Line::multiple(
            "peak memory of all builds above",
            Quantity::Bytes(peak),
            "allowed",
            most,
            AtMost(1.0),
        )])
    })
}

fn written_bytes() -> Row {
    Row::new("written", &[Subject::Uncached, Subject::Build(Default)], |results| {
        let line = |name: &str, subject, limit| -> Result<Line, String> {
            let run = results.best(subject)?;
            let written = Quantity::Bytes(run.measured.written);
            Ok(Line::multiple(name, written, "of outputs", bytes(run.size), limit))
        };
        // Standard output and records are less than a hundredth of the outputs.
        Ok(vec![
            line("build --no-cache: bytes it writes", Subject::Uncached, AtMost(1.01))?,
            // On a file system without reflinks, the cache gets copies.
            line("build: bytes it writes", Subject::Build(Default), AtMost(2.02))?,
        ])
    })
}

fn scaling() -> Row {
    Row::new("scaling", &[Subject::Jobs(1), Subject::Jobs(2)], |results| {
        let (one, two) = (results.best(Subject::Jobs(1))?, results.best(Subject::Jobs(2))?);
        let seconds = |s: f64| Quantity::Seconds(s);
        let deflating = one.deflating.zip(two.deflating);
        let whole = Line::faster(
            "build --no-cache --jobs 2",
            seconds(two.measured.wall),
            "--jobs 1",
            seconds(one.measured.wall),
            Limit::None,
        );
        let deflate = deflating.map(|(a, b)| {
            Line::faster("its deflate part", seconds(b), "--jobs 1", seconds(a), AtLeast(1.9))
        });
        Ok([whole].into_iter().chain(deflate).collect())
    })
}

impl Row {
    /// Measures `subject` first.
    fn after(mut self, subject: Subject) -> Self {
        self.needs.insert(0, subject);
        self
    }
}
