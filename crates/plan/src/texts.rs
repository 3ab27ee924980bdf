//! Texts in files of several packages, which a plan has once: each package lists all others, so that
//! its JSON would grow with the square of their number.

use std::collections::HashMap;
use std::sync::Arc;

use serde::de::Error as _;

use super::rendered::Piece;
use super::{Distribution, Member, Plan, Step};

/// Length from which a text is shared; a shorter one is not worth its number.
const SHORTEST: usize = 256;

/// Numbers the texts that occur twice or more, and returns them.
pub(crate) fn share(distributions: &mut [Distribution]) -> Vec<Arc<str>> {
    let mut pieces: Vec<&mut Piece> = distributions.iter_mut().flat_map(pieces).collect();
    pieces.retain(|piece| piece.text.len() >= SHORTEST);
    // By address first: the text of one address is long, and occurs in all packages.
    let mut by_address: HashMap<*const str, usize> = HashMap::new();
    let mut by_text: HashMap<Arc<str>, usize> = HashMap::new();
    let mut counts: Vec<(Arc<str>, usize)> = Vec::new();
    let kinds: Vec<usize> = pieces
        .iter()
        .map(|piece| {
            let kind = *by_address.entry(Arc::as_ptr(&piece.text)).or_insert_with(|| {
                *by_text.entry(Arc::clone(&piece.text)).or_insert_with(|| {
                    counts.push((Arc::clone(&piece.text), 0));
                    counts.len() - 1
                })
            });
            counts[kind].1 += 1;
            kind
        })
        .collect();
    let mut texts = Vec::new();
    let numbers: Vec<Option<usize>> = counts
        .into_iter()
        .map(|(text, count)| {
            (count > 1).then(|| {
                texts.push(text);
                texts.len() - 1
            })
        })
        .collect();
    for (piece, kind) in pieces.into_iter().zip(kinds) {
        if let Some(number) = numbers[kind] {
            *piece = Piece { text: Arc::clone(&texts[number]), number: Some(number) };
        }
    }
    texts
}

/// Removes the numbers, and the texts of the plan.
pub(crate) fn separate(plan: &mut Plan) {
    plan.texts.clear();
    plan.distributions.iter_mut().flat_map(pieces).for_each(|piece| piece.number = None);
}

/// Puts the texts of a plan into its files, after it was read.
pub(crate) fn fill(plan: &mut Plan) -> serde_json::Result<()> {
    let Plan { distributions, texts, .. } = plan;
    for member in distributions.iter_mut().flat_map(members) {
        let Member { path, step: Step::Render { text }, .. } = member else { continue };
        for piece in text.pieces_mut() {
            let Some(number) = piece.number else { continue };
            let text = texts.get(number).ok_or_else(|| {
                let count = texts.len();
                let reason =
                    format!("`{path}` needs text {number}, and the plan has {count} texts");
                serde_json::Error::custom(reason)
            })?;
            piece.text = Arc::clone(text);
        }
    }
    Ok(())
}

fn pieces(distribution: &mut Distribution) -> impl Iterator<Item = &mut Piece> {
    members(distribution)
        .filter_map(|member| match &mut member.step {
            Step::Render { text } => Some(text.pieces_mut()),
            _ => None,
        })
        .flatten()
}

/// Files that a plan can render. Files of devel archives are copied or linked.
fn members(distribution: &mut Distribution) -> impl Iterator<Item = &mut Member> {
    distribution.members.iter_mut().chain(&mut distribution.licenses)
}
