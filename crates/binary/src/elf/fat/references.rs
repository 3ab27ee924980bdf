use std::collections::BTreeMap;
use std::ops::Range;

use object::endian::LittleEndian as LE;

use crate::ReadAt;
use crate::elf::info::ElfInfo;
use crate::elf::pointers::{Filled, place_of};
use crate::fat::{ADDRESS_OFFSET, FatError, RECORD_SIZE};

pub(super) struct References {
    filled: BTreeMap<u64, Vec<Filled>>,
    symbols: BTreeMap<u32, Symbol>,
}

#[derive(Clone, Copy)]
struct Symbol {
    at: u64,
    to: u64,
}

impl References {
    pub fn read(
        info: &ElfInfo,
        file: &impl ReadAt,
        code: &Range<u64>,
        table: &Range<u64>,
    ) -> Result<Self, FatError> {
        const WORD: u64 = 8;
        let symbols = symbols(info, file, code)?;
        let mut filled: BTreeMap<u64, Vec<Filled>> = BTreeMap::new();
        let mut wrong = None;
        let touches = |word: u64, range: &Range<u64>| {
            word < range.end && range.start < word.saturating_add(WORD)
        };
        let read = info.each_filled(file, |it| {
            let in_table = touches(it.place, table);
            let is_address = in_table
                && it.place.wrapping_sub(table.start) % RECORD_SIZE as u64 == ADDRESS_OFFSET;
            let named = symbols.contains_key(&it.symbol);
            let leads = named || it.to.is_some_and(|to| code.contains(&to));
            if is_address && (it.relative || (named && it.whole)) {
                filled.entry(it.place).or_default().push(it);
            } else if in_table || leads || touches(it.place, code) {
                wrong.get_or_insert(it.place);
            }
        });
        read.ok_or(FatError::Unreadable)?;
        match wrong {
            Some(address) => Err(FatError::Relocation { address }),
            None => Ok(Self { filled, symbols }),
        }
    }

    pub fn target_at(&self, place: u64) -> Result<Option<(u64, Option<u64>)>, FatError> {
        match self.filled.get(&place).map(Vec::as_slice) {
            None => Ok(None),
            Some([Filled { to: Some(to), addend, .. }]) => Ok(Some((*to, *addend))),
            Some([Filled { symbol, .. }]) if self.symbols.contains_key(symbol) => {
                Ok(Some((self.symbols[symbol].to, None)))
            }
            Some(_) => Err(FatError::Address { address: place - ADDRESS_OFFSET }),
        }
    }

    pub fn symbols_of(&self, bundles: &[u64]) -> Result<Vec<u64>, FatError> {
        let symbols = self.symbols.values();
        let place = |symbol: &Symbol| bundles.contains(&symbol.to).then_some(symbol.at);
        symbols.map(place).collect::<Option<_>>().ok_or(FatError::Named)
    }
}

fn symbols(
    info: &ElfInfo,
    file: &impl ReadAt,
    code: &Range<u64>,
) -> Result<BTreeMap<u32, Symbol>, FatError> {
    let (mut symbols, mut index, mut over) = (BTreeMap::new(), 0, false);
    let read = info.each_symbol(file, |at, symbol| {
        if let Some(to) = place_of(symbol) {
            if code.contains(&to) {
                symbols.insert(index, Symbol { at, to });
            } else {
                let end = to.saturating_add(symbol.st_size.get(LE));
                over |= to < code.start && code.start < end;
            }
        }
        index += 1;
    });
    read.ok_or(FatError::Unreadable)?;
    if over { Err(FatError::Named) } else { Ok(symbols) }
}
