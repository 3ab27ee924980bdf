//! Lines of families.kdl.

use super::Wavefront;
use crate::NodeSpec;
use crate::compose::{CHANGE, INCLUDE, REMOVE};
use crate::line::{Lines, Once, Scope, inner};
use crate::node_spec::{count, joined};
use crate::reader::Node;
use crate::text::AxisName;
use base::names::{Family, Isa};
use base::source::Spanned;
use base::target::Condition;
use manifest_derive::Line;

/// Nodes of the file.
pub(crate) const NODES: &[NodeSpec] = {
    const LISTS: &[&[NodeSpec]] = &[&[INCLUDE], <FamiliesLines as Lines>::NODES, &[CHANGE, REMOVE]];
    &joined::<{ count(LISTS) }>(LISTS)
};

/// Lines, before they are checked against each other.
#[derive(Line)]
pub(crate) struct FamiliesLines {
    #[child]
    pub isas: Vec<IsaLine>,
    #[child]
    pub levels: Vec<LevelLine>,
    #[child]
    pub axes: Vec<AxisLine>,
    #[child]
    pub subprojects: Vec<SubprojectLine>,
}

/// Declares an ISA and its families, which artifacts and the command line can name.
#[derive(Line)]
#[line(
    "isa",
    once = "ISA",
    check(check_isa(families, mach, wave)),
    usage = r#"isa "NAME" "FAMILY" "FAMILY" package="ISA" parent="LEVEL" mach=0x2c wave=64 product="TEXT""#,
    example = r#"isa "gpu90" "gpu9-all" "server-all" mach=0x2c product="Example 90""#
)]
pub(crate) struct IsaLine {
    /// Name in artifacts and on the command line: lower-case letters and digits, with `-` between,
    /// without features.
    #[arg("NAME", "an ISA")]
    pub isa: Spanned<Isa>,
    /// A family. The ISA's own name needs no mention.
    #[arg("FAMILY", "a family", many)]
    pub families: Vec<Spanned<Family>>,
    /// The ISA with the packages for this one, which gets no packages and is not offered: `gpu90`
    /// for `gpu90-strict`. Features (`gpu90:xnack+`, in names of files `gpu90-xnack+`) need no
    /// line.
    #[prop]
    pub package: Option<Spanned<Isa>>,
    /// The level above it.
    #[prop]
    pub parent: Option<Spanned<Family>>,
    /// `EF_AMDGPU_MACH` in the ELF header of its code objects, by which `rockpack wheel verify`
    /// finds their ISA.
    #[prop]
    pub mach: Option<usize>,
    /// Lanes of a wavefront of its compiled code, 32 or 64: `{isas:wave64}` lists the ISAs with 64.
    #[prop]
    pub wave: Option<usize>,
    /// Products with it, for readers.
    #[prop]
    #[expect(dead_code, reason = "for readers")]
    product: Option<String>,
}

fn check_isa(
    node: &Node<'_>,
    scope: &Scope<'_, '_>,
    families: &[Spanned<Family>],
    mach: Option<usize>,
    wave: Option<usize>,
) {
    given_once(scope, "family", families);
    if let Some(mach) = mach {
        // Smaller numbers are of GPUs before GCN (AMDGPU user guide of LLVM).
        if !(0x20..=0xff).contains(&mach) {
            let message = format!("`mach` of `{}` is not from 0x20 to 0xff", node.title());
            node.fault(message, "write the number of EF_AMDGPU_MACH");
        }
        scope.give("mach", &format!("{mach:#x}"), Condition::default(), &node.place());
    }
    if let Some(wave) = wave.filter(|wave| Wavefront::of_lanes(*wave).is_none()) {
        node.fault(
            format!("a wavefront has 32 or 64 lanes, not {wave}"),
            "write wave=32 or wave=64",
        );
    }
}

/// Declares a level above ISAs. Artifacts for a level run on several ISAs: their code is in a
/// package that the packages of these ISAs require and no extra offers.
#[derive(Line)]
#[line("level", once, usage = r#"level "NAME" parent="LEVEL""#, example = r#"level "gpu9""#)]
pub(crate) struct LevelLine {
    /// The level, the last part of artifacts' names: `NAME_lib_LEVEL`.
    #[arg("NAME", "a level")]
    pub name: Spanned<Family>,
    /// The level above it.
    #[prop]
    pub parent: Option<Spanned<Family>>,
}

/// Declares another split than by GPU: `per=` in packages.kdl names it, and artifacts are built for
/// one of its values.
#[derive(Line)]
#[line("axis", once, check(check_axis(values)), example = r#"axis "vendor" "acme" "umbrella""#)]
pub(crate) struct AxisLine {
    /// Name for `per` and placeholders: lower-case letters.
    #[arg("NAME", "a name", via = AxisName)]
    pub name: Spanned<String>,
    /// A value, the last part of artifacts' names: `NAME_lib_VALUE`.
    #[arg("VALUE", "a value")]
    pub values: Vec<Spanned<Family>>,
}

fn check_axis(_: &Node<'_>, scope: &Scope<'_, '_>, values: &[Spanned<Family>]) {
    given_once(scope, "value", values);
}

/// Declares parts of the build that some ISAs lack: `subproject=` in packages.kdl names them.
#[derive(Line)]
#[line(
    "subproject",
    within = inner,
    once,
    usage = r#"subproject "NAME" "NAME" { without "ISA" "FAMILY"; }"#,
    example = "subproject \"sparse\" {\n    without \"gpu90\"\n}"
)]
pub(crate) struct SubprojectLine {
    /// A subproject, as the build spells it.
    #[arg("NAME", "a subproject")]
    pub names: Vec<Spanned<String>>,
    /// ISAs.
    #[child]
    pub without: WithoutLine,
}

/// Names the ISAs that the subproject is not built for.
#[derive(Line)]
#[line(
    "without",
    check(check_without(names)),
    usage = r#"without "ISA" "FAMILY""#,
    example = r#"without "gpu90""#
)]
pub(crate) struct WithoutLine {
    /// An ISA, or a family for all of its ISAs.
    #[arg("ISA", "an ISA or a family")]
    pub names: Vec<Spanned<String>>,
}

fn check_without(_: &Node<'_>, scope: &Scope<'_, '_>, names: &[Spanned<String>]) {
    given_once(scope, "without", names);
}

fn given_once<T: ToString>(scope: &Scope<'_, '_>, word: &'static str, names: &[Spanned<T>]) {
    let once = Once::default();
    for name in names {
        let key = (word, &*name.value.to_string());
        once.give(scope.context.faults, key, Condition::default(), &name.place);
    }
}
