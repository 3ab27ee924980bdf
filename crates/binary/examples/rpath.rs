//! Writes a library with another rpath, verified, to a new file.
//!
//! `cargo run -p rockpack-binary --example rpath -- LIBRARY OUTPUT '$ORIGIN/lib'`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::io;

use binary::elf::{self, Edited, Edits, RpathEdit};
use fs_err::File;
use rockpack_binary as binary;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (Some(library), Some(output)) = (arguments.next(), arguments.next()) else {
        return Err("usage: rpath LIBRARY OUTPUT DIRECTORY…".into());
    };
    let file = File::open(&library)?;
    let edits = Edits { rpath: RpathEdit::Set(arguments.collect()), ..Edits::default() };
    // Verifies that only the rpath differs.
    let plan = elf::edit(&file, &edits)?;
    let mut new = File::create_new(&output)?;
    io::copy(&mut Edited::new(&file, &plan).reader(), &mut new)?;
    for step in plan.steps() {
        println!("{step}");
    }
    Ok(())
}
