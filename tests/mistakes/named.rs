//! Mistakes of one place each: the line that they are made on, the text there, and the text that a
//! person writes instead.

use super::edits::{Edit, Line};
use crate::package_mutations::Noise;

pub struct Named {
    pub kind: &'static str,
    /// Text of the lines that it can be made on.
    on: &'static str,
    from: &'static str,
    /// `None` deletes the line.
    to: Option<&'static str>,
}

const fn on(kind: &'static str, on: &'static str, from: &'static str, to: &'static str) -> Named {
    Named { kind, on, from, to: Some(to) }
}

const fn without(kind: &'static str, on: &'static str) -> Named {
    Named { kind, on, from: "", to: None }
}

pub const NAMED: [Named; 49] = [
    on("a newer Python", "requires-python", ">=3.10", ">=3.13"),
    on("an older Python", "requires-python", ">=3.10", "<3.10"),
    on("a capital in a licence text", "license-text", "copyright", "Copyright"),
    on("an unknown licence", "license \"MIT\"", "MIT", "MTI"),
    on("another licence", "license \"LicenseRef-ROCm\"", "LicenseRef-ROCm", "MIT"),
    on("a module", "module=\"rocm_", "module=\"rocm_", "module=\"rcom_"),
    on("a distribution's case", "distribution \"rocm-", "\"rocm-", "\"ROCm-"),
    on("a copy that forwards", "as=\"copy\"", " as=\"copy\"", ""),
    without("a kept link", "keep-link"),
    on("a kept link's path", "keep-link", "bin/amd", "bin/adm"),
    on("an optional library", "so=\"lib/lib", "lib/lib", "lib/libx"),
    on("a variable", "prepend-path", "PATH", "PAHT"),
    on("a directory of a variable", "    directory \"", "lib", "lbi"),
    without("an own rpath", "rpath \"profiler\""),
    on(
        "dropped headers",
        "drop \"**\" component=\"test\"",
        "drop",
        "drop \"**/*.h\" reason=\"x\"\ndrop",
    ),
    on("a Cyrillic letter", "artifact \"base\"", "\"base\"", "\"bаse\""),
    on("another star", "\"**/cmake/**\"", "**", "∗∗"),
    on("a trailing blank", "exclude", "**\"", "** \""),
    on("a leading slash", "include \"bin", "\"bin", "\"/bin"),
    on("a backslash", "include \"lib/", "/", "\\\\"),
    on("a parent directory", "include \"bin", "\"bin", "\"../bin"),
    on("a dot segment", "include \"bin", "\"bin", "\"./bin"),
    on("a doubled slash", "include \"lib/", "/", "//"),
    on("a capital in a path", "alias \"lib/", "lib/", "Lib/"),
    on("half a wildcard", "include \"lib/", "**", "*"),
    on("a missing quote", "artifact \"", "\" \"", " \""),
    on("an open block", "package \"", " {", ""),
    on("a bare word", "kind=\"runtime\"", "\"runtime\"", "runtime"),
    on("a word for a truth value", "expand-devel=#true", "#true", "true"),
    on("no devel tree", "expand-devel=#true", " expand-devel=#true", ""),
    on("an empty reason", "optional=\"", "optional=\"", "optional=\"\" why=\""),
    on("another kind", "kind=\"runtime\"", "\"runtime\"", "\"devel\""),
    on("another split", "per=\"isa\"", "\"isa\"", "\"none\""),
    on("a lost placeholder", "distribution \"rocm-sdk-device-{isa}\"", "{isa}", ""),
    on("a wavefront", "wave=64", "wave=64", "wave=32"),
    on("a family's case", "\"gfx94X-dcgpu\"", "gfx94X-dcgpu", "gfx94x-dcgpu"),
    on("a parent level", "parent=\"gfx9-", "gfx9-", "gfx8-"),
    on("a line without effect", "    script \"", "script", "/-script"),
    on("an extra's package", "extra \"libraries\"", "package=\"libraries\"", "package=\"core\""),
    on("a distribution for a package", "requires \"core\"", "core", "rocm-sdk-core"),
    without("a requirement", "    requires \""),
    on("another program", "program=\"lib/llvm/bin/", "lib/llvm/bin/", "lib/llvm/bin/x"),
    on(
        "a library of another name",
        "find-library \"hipfft\"",
        "dll=",
        "so=\"lib/libhiprand.so*\" dll=",
    ),
    on("a number of no ISA", "isa \"gfx942\"", "mach=0x4c", "mach=0x5e"),
    on("an ISA without facts", "isa \"gfx1200\"", " mach=0x48 wave=32", ""),
    on("a promoted package", "promote \"rocm-sdk-core\"", "rocm-sdk-core", "rocm-core"),
    on("a package on no shelf", "project \"rocm\"", "\"rocm-*\"", "\"rocm-sdk-*\""),
    on("a project of no package", "project \"rocm\"", "\"rocm-*\"", "\"rocm-*\" \"rocm-profilr\""),
    on("an artifact of a drop", "artifact=\"rocprofiler-", "rocprofiler-", "rocprofler-"),
];

impl Named {
    /// Returns the edit on one of its lines, chosen by the seed.
    pub fn edit(&self, lines: &[Line], noise: &mut Noise) -> Edit {
        let fits = |line: &&Line| line.text.contains(self.on) && line.text.contains(self.from);
        let lines: Vec<&Line> = lines.iter().filter(fits).collect();
        assert!(!lines.is_empty(), "no line for {}", self.kind);
        let line = lines[noise.below(lines.len())];
        let text = self.to.map(|to| line.text.replacen(self.from, to, 1));
        Edit { file: line.file, number: line.number, text }
    }
}
