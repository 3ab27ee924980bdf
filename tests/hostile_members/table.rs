//! Members of archives, malicious and valid.

use base::source::Code;
use tar::EntryType;

use super::tar::{Tar, record};

/// Adds members to an archive.
pub type Members = fn(Tar) -> Tar;

/// Members that no package may have.
pub struct Hostile {
    pub title: &'static str,
    /// Expected code of `wheel verify`, for a devel wheel with the members.
    pub code: Code,
    pub members: Members,
    /// Rejected only in an sdist, because its links must stay in the top directory.
    pub only_in_sdist: bool,
    /// Accepted in artifacts, whose reader knows sparse files.
    pub allowed_in_artifacts: bool,
}

const fn hostile(title: &'static str, code: Code, members: Members) -> Hostile {
    Hostile { title, code, members, only_in_sdist: false, allowed_in_artifacts: false }
}

const fn sparse(title: &'static str, members: Members) -> Hostile {
    Hostile { allowed_in_artifacts: true, ..hostile(title, Code::MemberKind, members) }
}

/// Adds a member whose path a pax record replaces.
fn pax_renamed(tar: Tar, key: &str, more: &[(&str, &str)], path: &str) -> Tar {
    let path = format!("{}/{path}", tar.top());
    tar.pax(&[more, &[(key, &path)]].concat()).file("inside", "0123")
}

pub const HOSTILE: &[Hostile] = &[
    hostile("an absolute name", Code::UnsafeName, |tar| tar.file_at("/tmp/rockpack-evil", b"x")),
    hostile("a name that leads out", Code::UnsafeName, |tar| tar.file("../../evil", "x")),
    hostile("a name that leads up and down", Code::UnsafeName, |tar| tar.file("a/../b", "x")),
    hostile("a name with a backslash", Code::UnsafeName, |tar| tar.file("..\\evil", "x")),
    hostile("a name with a line break", Code::UnsafeName, |tar| tar.file("a\nb", "x")),
    hostile("a name that is not UTF-8", Code::UnsafeName, |tar| {
        let name = [tar.top().as_bytes(), b"/caf\xe9"].concat();
        tar.member(&name, EntryType::Regular, b"", b"")
    }),
    hostile("a pax path that leads out", Code::UnsafeName, |tar| {
        pax_renamed(tar, "path", &[], "../../evil")
    }),
    hostile("a long name that leads out", Code::UnsafeName, |tar| {
        let name = format!("{}/../../evil\0", tar.top());
        tar.member(b"long", EntryType::GNULongName, name.as_bytes(), b"").file("inside", "x")
    }),
    hostile("a sparse file whose name leads out, form 0.1", Code::UnsafeName, |tar| {
        let more =
            [("GNU.sparse.size", "4"), ("GNU.sparse.numblocks", "1"), ("GNU.sparse.map", "0,4")];
        pax_renamed(tar, "GNU.sparse.name", &more, "../../evil")
    }),
    hostile("a sparse file whose name leads out, form 1.0", Code::UnsafeName, |tar| {
        let more =
            [("GNU.sparse.major", "1"), ("GNU.sparse.minor", "0"), ("GNU.sparse.realsize", "0")];
        let mut places = b"0\n".to_vec();
        places.resize(512, 0);
        let name = format!("{}/../../evil", tar.top());
        tar.pax(&[&more[..], &[("GNU.sparse.name", &name)]].concat()).file_at("inside", &places)
    }),
    hostile("a sparse name without a sparse file", Code::BrokenPackage, |tar| {
        pax_renamed(tar, "GNU.sparse.name", &[], "../../evil")
    }),
    hostile("a member through a link", Code::FileAndDirectory, |tar| {
        tar.link("d1/d2/a", "../..").file("d1/d2/a/evil", "x")
    }),
    hostile("a member through a link that comes later", Code::FileAndDirectory, |tar| {
        tar.file("d1/a/evil", "x").link("d1/a", "..")
    }),
    hostile("a member below a file", Code::FileAndDirectory, |tar| {
        tar.file("a", "x").file("a/b", "x")
    }),
    hostile("a link through a link", Code::LinkOutside, |tar| {
        tar.link("d1/d2/a", "../..").link("d1/d2/b", "a/../../evil")
    }),
    hostile("a link through a link that comes later", Code::LinkOutside, |tar| {
        tar.link("d1/d2/b", "a/../../evil").link("d1/d2/a", "../..")
    }),
    hostile("a link that leads out unless a later link is followed", Code::LinkOutside, |tar| {
        tar.link("a", "b/../../../x").link("b", "c/d/e")
    }),
    hostile("an absolute link", Code::LinkOutside, |tar| tar.link("a", "/etc/passwd")),
    hostile("a link that leads out", Code::LinkOutside, |tar| tar.link("a", "../../etc/passwd")),
    hostile("links in a circle", Code::LinkOutside, |tar| tar.link("a", "b").link("b", "a")),
    hostile("a link with an empty target", Code::LinkOutside, |tar| tar.link("a", "")),
    hostile("a link whose target is not UTF-8", Code::LinkOutside, |tar| {
        let name = format!("{}/a", tar.top());
        tar.member(name.as_bytes(), EntryType::Symlink, b"", b"caf\xe9")
    }),
    hostile("a pax target that leads out", Code::LinkOutside, |tar| {
        tar.pax(&[("linkpath", "../../etc/passwd")]).link("a", "b")
    }),
    Hostile {
        only_in_sdist: true,
        ..hostile("a link that leaves the top and comes back", Code::LinkOutside, |tar| {
            let back = format!("../{}/b", tar.top());
            tar.link("a", &back)
        })
    },
    hostile("a hard link that leads out", Code::LinkOutside, |tar| tar.hard_link("a", "../evil")),
    hostile("an absolute hard link", Code::LinkOutside, |tar| tar.hard_link("a", "/etc/passwd")),
    hostile("a hard link to a missing member", Code::LinkOutside, |tar| {
        let target = format!("{}/none", tar.top());
        tar.hard_link("a", &target)
    }),
    hostile("a hard link to a later member", Code::LinkOutside, |tar| {
        let target = format!("{}/b", tar.top());
        tar.hard_link("a", &target).file("b", "x")
    }),
    hostile("a hard link to a directory", Code::LinkOutside, |tar| {
        let target = format!("{}/d", tar.top());
        tar.directory("d").hard_link("a", &target)
    }),
    hostile("a hard link through a link", Code::LinkOutside, |tar| {
        let target = format!("{}/l/b", tar.top());
        tar.file("d/b", "x").link("l", "d").hard_link("a", &target)
    }),
    hostile(
        "a hard link to a link that leads out from the directory of the hard link",
        Code::LinkOutside,
        |tar| {
            let target = format!("{}/d/e/l", tar.top());
            tar.link("d/e/l", "../../x").hard_link("a", &target)
        },
    ),
    hostile("a name twice", Code::MemberTwice, |tar| tar.file("a", "x").file("a", "y")),
    hostile("a file and a link of one name", Code::MemberTwice, |tar| {
        tar.file("a", "x").link("a", "b")
    }),
    hostile("a pipe", Code::MemberKind, |tar| special(tar, EntryType::Fifo)),
    hostile("a character device", Code::MemberKind, |tar| special(tar, EntryType::Char)),
    hostile("a block device", Code::MemberKind, |tar| special(tar, EntryType::Block)),
    hostile("an unknown kind", Code::MemberKind, |tar| special(tar, EntryType::new(b'Z'))),
    hostile("a link with bytes", Code::HeadersDisagree, |tar| {
        let name = format!("{}/a", tar.top());
        let member = [0; 512];
        tar.file("b", "x").member(name.as_bytes(), EntryType::Symlink, &member, b"b")
    }),
    hostile("a malformed user number", Code::HeadersDisagree, |tar| {
        let name = format!("{}/a", tar.top());
        tar.header(b"x", |header| {
            let old = header.as_old_mut();
            old.name[..name.len()].copy_from_slice(name.as_bytes());
            old.uid = *b"1_7\0\0\0\0\0";
        })
    }),
    hostile("a file name that ends in `/`", Code::HeadersDisagree, |tar| tar.file("a/", "x")),
    hostile(
        "a pax path without and a header name with a final `/`",
        Code::HeadersDisagree,
        |tar| {
            let name = format!("{}/d", tar.top());
            tar.pax(&[("path", &name)]).header(b"", |header| {
                header.as_old_mut().name[..2].copy_from_slice(b"d/");
                header.as_old_mut().linkflag = [0];
            })
        },
    ),
    hostile("a prefix that only some programs read", Code::HeadersDisagree, |tar| {
        let name = format!("{}/a", tar.top());
        tar.header(b"", |header| {
            *header = tar::Header::new_gnu();
            header.set_mode(0o644);
            header.set_mtime(315_532_800);
            header.set_size(0);
            header.as_mut_bytes()[345..350].copy_from_slice(b"../..");
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
        })
    }),
    hostile("a GNU long name and a pax path", Code::BrokenPackage, |tar| {
        let (one, other) = (format!("{}/a", tar.top()), format!("{}/b", tar.top()));
        tar.member(b"long", EntryType::GNULongName, one.as_bytes(), b"")
            .pax(&[("path", &other)])
            .file("inside", "x")
    }),
    hostile("a path in a global pax header", Code::BrokenPackage, |tar| {
        let records = record("path", "../../evil");
        tar.member(b"all", EntryType::XGlobalHeader, records.as_bytes(), b"").file("a", "x")
    }),
    hostile("a pax record in the value of another one", Code::BrokenPackage, |tar| {
        let inner = record("path", "../../evil");
        tar.pax(&[("comment", &format!("a\n{}", inner.trim_end()))]).file("a", "x")
    }),
    sparse("a sparse file of GNU tar's own format", super::sparse::old),
    sparse("a sparse file, form 0.0", super::sparse::form_0_0),
    sparse("a sparse file, form 0.1", super::sparse::form_0_1),
    sparse("a sparse file, form 1.0", super::sparse::form_1_0),
];

fn special(tar: Tar, kind: EntryType) -> Tar {
    let name = format!("{}/a", tar.top());
    tar.member(name.as_bytes(), kind, b"", b"")
}

/// Members that every reader accepts.
pub const GOOD: &[(&str, Members)] = &[
    ("a link to a sibling", |tar| tar.file("lib/a.so.1", "x").link("lib/a.so", "a.so.1")),
    ("a link to a later directory", |tar| tar.link("d/l", "../e").file("e/f", "x")),
    ("a link to a missing file", |tar| tar.link("d/l", "../none/file")),
    ("a link through links", |tar| {
        tar.directory("d/e").link("d/e/up", "..").link("d/l", "e/up/./e//up").file("d/f", "x")
    }),
    ("a link to its own directory", |tar| tar.link("d/l", ".")),
    ("hard links", |tar| {
        let (a, b) = (format!("{}/a", tar.top()), format!("{}/b", tar.top()));
        tar.file("a", "x").hard_link("b", &a).hard_link("c", &b)
    }),
    ("a hard link to a link", |tar| {
        let target = format!("{}/d/l", tar.top());
        tar.file("d/a", "x").link("d/l", "a").hard_link("d/h", &target)
    }),
    ("directories, also twice", |tar| tar.file("d/a", "x").directory("d").directory("d")),
    ("a directory in the format of V7 tar", |tar| {
        let name = format!("{}/d/", tar.top());
        tar.header(b"", |header| {
            header.as_old_mut().name[..name.len()].copy_from_slice(name.as_bytes());
            header.as_old_mut().linkflag = [0];
        })
    }),
    ("a name of GNU tar's long form", |tar| {
        let name = format!("{}/{}\0", tar.top(), "long/".repeat(50) + "file");
        tar.member(b"././@LongLink", EntryType::GNULongName, name.as_bytes(), b"").file("l", "x")
    }),
    ("a long target of GNU tar's form", |tar| {
        let target = "long/".repeat(50) + "file\0";
        tar.member(b"././@LongLink", EntryType::GNULongLink, target.as_bytes(), b"").link("l", "x")
    }),
    ("a long pax path", |tar| {
        let name = format!("{}/{}", tar.top(), "long/".repeat(50) + "ü");
        tar.pax(&[("path", &name), ("mtime", "315532800.5")]).file("l", "x")
    }),
    ("a name in two parts", |tar| {
        let prefix = format!("{}/{}", tar.top(), "p".repeat(100));
        tar.header(b"x", |header| {
            header.as_old_mut().name[..4].copy_from_slice(b"file");
            header.as_ustar_mut().unwrap().prefix[..prefix.len()]
                .copy_from_slice(prefix.as_bytes());
        })
    }),
    ("a comment for all members", |tar| {
        let records = record("comment", "0123456789abcdef");
        tar.member(b"pax_global_header", EntryType::XGlobalHeader, records.as_bytes(), b"")
            .file("a", "x")
    }),
];
