//! Reading of untrusted archives.
//!
//! ```text
//! tar ─TarStream─► headers that all readers take alike ─TarReader─► TarMember ─Tree─► MemberFault
//! zip ─Directory─► names and kinds ─────────────────────────────► name_fault, Refusal
//! ```
//!
//! Readers in other languages differ: members that any of them would unpack outside the target
//! directory or read differently are rejected.

mod fault;
mod follow;
mod member;
mod numbers;
mod pax;
mod sparse;
mod strict;
mod tar_reader;
mod tar_stream;
mod tree;

pub use fault::{MemberFault, Refusal, name_fault};
pub use follow::{Unresolved, follow};
pub use member::{MemberKind, TarMember};
pub use tar_reader::{TarEnd, TarReader};
pub use tree::Tree;

/// Parameters for kinds of tar archives.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    most_members: usize,
    /// Some installers strip the top directory, so links must stay inside; some refuse unusual
    /// headers.
    installed: bool,
    /// Names may begin with `./`, and the root may be a member.
    from_dot: bool,
    /// Sparse files are read as by GNU tar; installers differ.
    sparse: bool,
}

impl Rules {
    /// Artifact.
    pub const ARTIFACT: Self =
        Self { most_members: 1 << 22, installed: false, from_dot: true, sparse: true };
    /// Sdist (PEP 721).
    pub const SDIST: Self =
        Self { most_members: 1 << 17, installed: true, from_dot: false, sparse: false };
    /// Archive in a devel wheel, whose root becomes site-packages.
    pub const DEVEL: Self =
        Self { most_members: 1 << 19, installed: false, from_dot: false, sparse: false };
}
