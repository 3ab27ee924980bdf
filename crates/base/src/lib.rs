//! Types shared by all crates of rockpack.
//!
//! Takes text, paths and names; returns checked names, versions, sources with places, and problems
//! for display. Makes no decision about packages and depends on no other crate of rockpack.

pub mod activity;
pub mod address;
pub mod cleanup;
pub mod directory;
pub mod event;
pub mod hash;
pub mod identity;
pub mod names;
pub mod partial;
pub mod pooled;
pub mod python_literal;
pub mod regular;
pub mod retry;
pub mod source;
pub mod target;
pub mod text;
pub mod version;
