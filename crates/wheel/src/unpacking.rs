//! Reading of untrusted archives: one rule for names, kinds and links of members, and one tar
//! reader.
//!
//! ```text
//! tar ─TarStream─► headers that all readers take alike ─TarReader─► TarMember ─Tree─► MemberFault
//! zip ─Directory─► names and kinds ─────────────────────────────► name_fault, Refusal
//! ```
//!
//! Readers in other languages differ in accepted names and followed links. The rule rejects all
//! members that any of them would unpack outside the target directory or read differently.

mod fault;
mod follow;
mod member;
mod pax;
mod sparse;
mod tar_reader;
mod tar_stream;
mod tree;

pub use fault::{MemberFault, Refusal, name_fault};
pub use follow::{Lost, follow};
pub use member::{MemberKind, TarMember};
pub use tar_reader::{Rest, TarReader};
pub use tree::Tree;

/// Parameters for kinds of tar archives.
#[derive(Debug, Clone, Copy)]
pub struct Rules {
    most_members: usize,
    /// Links must stay inside the top directory, because some installers strip it.
    in_top: bool,
    /// Names may begin with `./`, and the root may be a member.
    from_dot: bool,
    /// Accept sparse files and read them like GNU tar; installers differ on them.
    sparse: bool,
    installed: bool,
}

impl Rules {
    /// Artifact.
    pub const ARTIFACT: Self = Self {
        most_members: 1 << 22,
        in_top: false,
        from_dot: true,
        sparse: true,
        installed: false,
    };
    /// Sdist (PEP 721).
    pub const SDIST: Self = Self {
        most_members: 1 << 17,
        in_top: true,
        from_dot: false,
        sparse: false,
        installed: true,
    };
    /// Archive in a devel wheel, whose root becomes site-packages.
    pub const DEVEL: Self = Self {
        most_members: 1 << 19,
        in_top: false,
        from_dot: false,
        sparse: false,
        installed: false,
    };
}
