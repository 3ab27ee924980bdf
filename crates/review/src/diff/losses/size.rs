use super::super::contents::Package;
use super::{Compared, Found, LossKind, Of};
use base::text::human_size;
use plan::LossSubject;

/// Finds packages above the limits of the new side; packages without a plan have the old side's.
pub(super) fn find(compared: &Compared<'_, '_>, found: &mut Found) {
    for (was, is) in compared.pairs.indices() {
        let (old, new) = (&compared.old.packages[was], &compared.new.packages[is]);
        // A contract has no sizes.
        if compared.old.contracts.is_some() {
            continue;
        }
        let Some(limits) = new.limits.or(old.limits) else { continue };
        let (before, now) = (old.extent().1, new.extent().1);
        let sizes =
            [(&limits.installed, Some(now), "installed"), (&limits.packed, new.packed, "packed")];
        for (limit, bytes, measure) in sizes {
            let excess = limit.as_ref().zip(bytes).filter(|(limit, bytes)| *bytes > limit.most);
            if let Some((limit, bytes)) = excess {
                let most = human_size(limit.most);
                found.add(
                    Of::new(LossKind::TooLarge, measure),
                    &most,
                    &subject(old, new),
                    bytes,
                    compared.new,
                );
            }
        }
        let more = now.saturating_sub(before);
        let share = |most: u64| u128::from(more) * 100 > u128::from(before) * u128::from(most);
        if let Some(limit) = limits.growth.as_ref().filter(|limit| share(limit.most)) {
            let percent = (u128::from(more) * 100).checked_div(u128::from(before));
            let percent = percent.map_or_else(String::new, |percent| format!("{percent} %, "));
            let target = format!("{percent}its limit is {} %", limit.most);
            found.add(
                Of::new(LossKind::Grown, ""),
                &target,
                &subject(old, new),
                more,
                compared.new,
            );
        }
    }
}

fn subject<'p>(old: &'p Package<'_>, new: &'p Package<'_>) -> LossSubject<'p> {
    LossSubject { package: new.package.or(old.package), name: new.name.as_str(), source: None }
}
