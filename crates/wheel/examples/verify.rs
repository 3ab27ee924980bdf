//! Prints the faults of a wheel's archive, and its name, version and number of members.
//!
//! `cargo run -p rockpack-wheel --example verify -- demo-1.0-py3-none-any.whl`

#![expect(clippy::print_stdout, reason = "an example shows its result")]

use std::error::Error;
use std::path::Path;

use rockpack_wheel::package::WheelFile;

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: verify WHEEL")?;
    let wheel = WheelFile::read(Path::new(&path))?;
    for fault in wheel.faults() {
        println!("{fault:?}");
    }
    println!("{}: {} members", wheel.file_name(), wheel.zip().entries().len());
    Ok(())
}
