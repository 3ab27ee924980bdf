//! Judgement of packages of any maker: what users get as one type ([`Set`]), one list of rules over
//! it ([`RULES`]), and one table of severities ([`SEVERITY`]).
//!
//! ```text
//! wheel, sdist ──read──► Package ─┐                     ┌─► Finding (code, severity of the command)
//! plan ─────────plan::set─────────┴─► Set ──judge───────┤
//!                                        RULES, SEVERITY └─► nothing: an unknown, judged by the next command that knows
//! ```
//!
//! A fault of reading (an archive's headers, RECORD, metadata fields) belongs to the reader
//! ([`read`]); a rule looks at a [`Set`] alone. Knows neither manifests nor plans.

pub mod audit;
mod bytes;
mod file;
mod finding;
mod finished;
mod known;
mod needs;
mod package;
mod parts;
pub mod read;
pub mod report;
mod rule;
mod rules;
mod set;
mod severity;
mod sums;
pub mod systems;
mod targets;

pub use bytes::{Bytes, Made};
pub use file::{File, Kind, Scheme};
pub use finding::Finding;
pub use finished::Finished;
pub use known::{Known, Why};
pub use needs::{Facts, Needs, Symbols};
pub use package::{Package, VariantFacts};
pub use parts::{misplaced_members, missing_parts};
pub use rule::{Fact, Rule};
pub use rules::code::misplaced;
pub use rules::owners::{Claim, Clash, ClashKind, clashes};
pub use rules::{RULES, judge, rank};
pub use set::{Environment, Set};
pub use severity::{Command, Level, SEVERITY, level};
pub use sums::{Beside, beside};
pub use targets::Targets;
