//! Ground floor of rockpack: types that every other crate shares.
//!
//! Takes text, paths and names; returns checked names, versions, sources with places, and problems that can be
//! printed. Never decides anything about packages, and knows no other crate of rockpack.

pub mod cleanup;
pub mod directory;
pub mod event;
pub mod hash;
pub mod identity;
pub mod names;
pub mod partial;
pub mod python_literal;
pub mod regular;
pub mod retry;
pub mod source;
pub mod target;
pub mod text;
pub mod version;
