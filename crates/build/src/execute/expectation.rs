use super::awaited::Awaited;
use super::cache_lookup::CacheLookup;
use super::pack::Packable;
use super::packing::Packing;
use cache::{self, Form, Source};

/// Registers streams that `source` may deliver: one, or one for each xz block.
pub(super) fn expect<'a>(entry: &mut Packable<'a>, lookup: CacheLookup<'a>, source: &dyn Source) {
    let (packing, total) = (entry.packing, entry.bytes.len());
    let (form, step) = match packing {
        Packing::Deflate(_) if source.wants(total, packing.effort(total)) => {
            (Form::Deflate, total.max(1))
        }
        Packing::Xz(preset) => (Form::XzBlock, preset.block() as u64),
        _ => return,
    };
    let content = entry.facts.content.filter(|_| form == Form::Deflate);
    let block = |number: u64| {
        let (offset, len) = (number * step, (total - number * step).min(step));
        let delivery = Awaited::new(entry.bytes, (offset, len), (packing, form), lookup, content);
        cache::Awaited::hold(&delivery, source.patience(len, packing.effort(len)));
        delivery
    };
    entry.deliveries = (0..total.div_ceil(step)).map(block).collect();
}
