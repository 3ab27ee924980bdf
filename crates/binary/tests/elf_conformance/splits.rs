//! Files split from their device code (cases 13 and 14).

use std::path::{Path, PathBuf};

use super::kpack::{Shape, split};
use super::tools::{Bench, have, runs};

const LINKERS: [(&str, &str); 4] =
    [("bfd", "ld.bfd"), ("gold", "ld.gold"), ("lld", "ld.lld"), ("mold", "mold")];

fn split_file(path: &Path, shape: Shape) -> PathBuf {
    let target =
        path.with_file_name(format!("split-{}", path.file_name().unwrap().to_string_lossy()));
    fs_err::write(&target, split(&fs_err::read(path).unwrap(), shape)).unwrap();
    fs_err::set_permissions(&target, fs_err::metadata(path).unwrap().permissions()).unwrap();
    target
}

/// Shapes: with room in the table, without, full, and continued after the last LOAD.
const SHAPES: [Shape; 4] = [
    Shape { slots: 16, full: false, trailer: false },
    Shape { slots: 16, full: false, trailer: true },
    Shape { slots: 16, full: true, trailer: false },
    Shape { slots: 16, full: true, trailer: true },
];

#[test]
fn case_13_split_libraries_of_each_linker() {
    for (name, tool) in LINKERS {
        for shape in SHAPES {
            if have("13", &["g++", "gcc", "readelf", tool]) {
                let bench = Bench::new();
                let linker = format!("-fuse-ld={name}");
                let library = split_file(&bench.library(&[&linker, "-DFATBIN"]), shape);
                bench.loads(&library);
                bench.loads(&bench.relink(&library));
            }
        }
    }
}

#[test]
fn case_14_split_program_without_a_free_slot() {
    for (name, tool) in LINKERS {
        for shape in SHAPES {
            if have("14", &["g++", "readelf", tool]) {
                let bench = Bench::new();
                let linker = format!("-fuse-ld={name}");
                let program =
                    split_file(&bench.program(&[&linker, "-DFATBIN", "-fPIE", "-pie"]), shape);
                runs(&program);
                runs(&bench.relink(&program));
            }
        }
    }
}
