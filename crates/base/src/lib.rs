//! Types shared by all crates of rockpack.
//!
//! Takes text, paths and names; returns checked names, versions, sources with places, and problems
//! for display. Makes no decision about packages and depends on no other crate of rockpack.

pub mod cleanup;
pub mod event;
pub mod identity;
pub mod names;
pub mod python_literal;
pub mod regular;
pub mod source;
pub mod target;
pub mod text;
pub mod version;
