//! Mistakes of one place each: the line that they are made on, the text there, and the text that a
//! person writes instead.

use super::edits::{Edit, Line};
use crate::package_mutations::Noise;

pub struct NamedMistake {
    pub kind: &'static str,
    /// Text of the lines that it can be made on.
    on: &'static str,
    from: &'static str,
    /// `None` deletes the line.
    to: Option<&'static str>,
}

const fn replace(
    kind: &'static str,
    on: &'static str,
    from: &'static str,
    to: &'static str,
) -> NamedMistake {
    NamedMistake { kind, on, from, to: Some(to) }
}

const fn delete(kind: &'static str, on: &'static str) -> NamedMistake {
    NamedMistake { kind, on, from: "", to: None }
}

pub const NAMED: [NamedMistake; 49] = [
    replace("a newer Python", "requires-python", ">=3.10", ">=3.13"),
    replace("an older Python", "requires-python", ">=3.10", "<3.10"),
    replace("a capital in a licence text", "license-text", "copyright", "Copyright"),
    replace("an unknown licence", "license \"MIT\"", "MIT", "MTI"),
    replace("another licence", "license \"LicenseRef-ROCm\"", "LicenseRef-ROCm", "MIT"),
    replace("a module", "module=\"rocm_", "module=\"rocm_", "module=\"rcom_"),
    replace("a distribution's case", "distribution \"rocm-", "\"rocm-", "\"ROCm-"),
    replace("a copy that forwards", "as=\"copy\"", " as=\"copy\"", ""),
    delete("a kept link", "keep-link"),
    replace("a kept link's path", "keep-link", "bin/amd", "bin/adm"),
    replace("an optional library", "so=\"lib/lib", "lib/lib", "lib/libx"),
    replace("a variable", "prepend-path", "PATH", "PAHT"),
    replace("a directory of a variable", "    directory \"", "lib", "lbi"),
    delete("an own rpath", "rpath \"profiler\""),
    replace(
        "dropped headers",
        "drop \"**\" component=\"test\"",
        "drop",
        "drop \"**/*.h\" reason=\"x\"\ndrop",
    ),
    replace("a Cyrillic letter", "artifact \"base\"", "\"base\"", "\"bаse\""),
    replace("another star", "\"**/cmake/**\"", "**", "∗∗"),
    replace("a trailing blank", "exclude", "**\"", "** \""),
    replace("a leading slash", "include \"bin", "\"bin", "\"/bin"),
    replace("a backslash", "include \"lib/", "/", "\\\\"),
    replace("a parent directory", "include \"bin", "\"bin", "\"../bin"),
    replace("a dot segment", "include \"bin", "\"bin", "\"./bin"),
    replace("a doubled slash", "include \"lib/", "/", "//"),
    replace("a capital in a path", "alias \"lib/", "lib/", "Lib/"),
    replace("half a wildcard", "include \"lib/", "**", "*"),
    replace("a missing quote", "artifact \"", "\" \"", " \""),
    replace("an open block", "package \"", " {", ""),
    replace("a bare word", "kind=\"runtime\"", "\"runtime\"", "runtime"),
    replace("a word for a truth value", "expand-devel=#true", "#true", "true"),
    replace("no devel tree", "expand-devel=#true", " expand-devel=#true", ""),
    replace("an empty reason", "optional=\"", "optional=\"", "optional=\"\" why=\""),
    replace("another kind", "kind=\"runtime\"", "\"runtime\"", "\"devel\""),
    replace("another split", "per=\"isa\"", "\"isa\"", "\"none\""),
    replace("a lost placeholder", "distribution \"rocm-sdk-device-{isa}\"", "{isa}", ""),
    replace("a wavefront", "wave=64", "wave=64", "wave=32"),
    replace("a family's case", "\"gfx94X-dcgpu\"", "gfx94X-dcgpu", "gfx94x-dcgpu"),
    replace("a parent level", "parent=\"gfx9-", "gfx9-", "gfx8-"),
    replace("a line without effect", "    script \"", "script", "/-script"),
    replace(
        "an extra's package",
        "extra \"libraries\"",
        "package=\"libraries\"",
        "package=\"core\"",
    ),
    replace("a distribution for a package", "requires \"core\"", "core", "rocm-sdk-core"),
    delete("a requirement", "    requires \""),
    replace("another program", "program=\"lib/llvm/bin/", "lib/llvm/bin/", "lib/llvm/bin/x"),
    replace(
        "a library of another name",
        "find-library \"hipfft\"",
        "dll=",
        "so=\"lib/libhiprand.so*\" dll=",
    ),
    replace("a number of no ISA", "isa \"gfx942\"", "mach=0x4c", "mach=0x5e"),
    replace("an ISA without facts", "isa \"gfx1200\"", " mach=0x48 wave=32", ""),
    replace("a promoted package", "promote \"rocm-sdk-core\"", "rocm-sdk-core", "rocm-core"),
    replace("a package on no shelf", "project \"rocm\"", "\"rocm-*\"", "\"rocm-sdk-*\""),
    replace(
        "a project of no package",
        "project \"rocm\"",
        "\"rocm-*\"",
        "\"rocm-*\" \"rocm-profilr\"",
    ),
    replace("an artifact of a drop", "artifact=\"rocprofiler-", "rocprofiler-", "rocprofler-"),
];

impl NamedMistake {
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
