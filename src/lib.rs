//! rockpack turns ROCm build artifacts into the Python packages people install.
//!
//! Data flows one way, one stage a module:
//!
//! ```text
//! packages.kdl, families.kdl ──manifest──► Manifest ─┐
//! artifact directory ─────────catalog───► Catalog ──┴─plan─► Plan ──execute──► Built
//! ```
//!
//! * [`kdl`] reads and formats KDL, the language of the manifest.
//! * [`manifest`] decodes the KDL files: what ships where, with the line of every rule.
//! * [`catalog`] scans an artifact directory: paths, sizes, types, ELF facts.
//! * [`fetch`] says which archives of a run in an object store packages need, and brings them here whole.
//! * [`plan`] compiles both into one [`plan::Plan`]. It is pure: it reads no file, no clock.
//! * [`execute`] carries a plan out, in parallel, and makes exactly what it says.
//! * [`cache`] keeps packed members, so that what has not changed is not packed again.
//! * `remote`, a feature, has the cache of other machines behind it.
//! * [`provenance`] says what came about: checksums, and a statement to be signed.
//! * [`recorded`] reads both back: what of a destination earlier builds made.
//! * [`assemble`] unites what several builds made of one plan.
//! * [`source_build`] builds the Python projects that a plan has besides, and takes finished wheels.
//! * [`package`] reads packages that exist, and says what is wrong with them.
//! * [`audit`] says which platform tag is true of a wheel by the policies of [`policy`], and what forces
//!   it; [`retag`] writes another into it.
//! * [`promote`] makes packages of another version out of those of a build.
//! * [`split`] parts finished wheels into a host wheel and one for each target that they have device code for.
//! * [`index`] writes the pages that installers find packages by, and `serve`, a feature, shows
//!   them on loopback.
//! * [`publish`] brings packages and their pages into a store.
//! * [`store`] opens the places where artifacts come from and packages go to: directories, and, with the
//!   feature `stores`, object stores.
//! * [`demo`] makes a small artifact directory to try all of it on.
//! * [`verify`] checks packages, whoever made them, by themselves and together; [`gate`] holds packages to its
//!   rules that are put into a directory or a store.
//!
//! [`device_code`] reads for which GPUs files have code, [`binary`] facts of ELF and PE files, [`elf`] edits ELF files, and [`archive`] writes wheels, sdists and tarballs; none of them knows
//! anything of packaging ROCm. [`regular`] opens input files, [`identity`] tells whether bytes are those seen before, and [`cleanup`] knows what has to go when
//! the process is told to end. What happens on the way is reported as [`event::Event`]s.

pub mod archive;
pub mod assemble;
pub mod audit;
pub mod binary;
pub mod cache;
pub mod catalog;
pub mod cleanup;
pub mod demo;
pub mod device_code;
pub mod event;
pub mod execute;
pub mod fetch;
pub mod gate;
pub mod identity;
pub mod index;
pub mod kdl;
pub mod manifest;
pub mod names;
pub mod package;
pub mod plan;
pub mod policy;
pub mod promote;
pub mod provenance;
pub mod publish;
mod python_literal;
pub mod recorded;
pub mod regular;
pub mod release;
#[cfg(feature = "remote")]
pub mod remote;
pub mod resolve;
pub mod retag;
pub mod review;
pub mod source_build;
pub mod split;
#[cfg(test)]
mod schema {
    mod tests;
}
#[cfg(feature = "serve")]
pub mod serve;
pub mod source;
pub mod store;
pub mod target;
pub mod text;
pub mod unpacking;
pub mod verify;
pub mod version;

pub use binary::elf;

// Unit tests share cases with the tests in `tests/`, which know this crate by its name.
#[cfg(test)]
extern crate self as rockpack;
