//! Numbers, as KDL writes them.

use super::Value;

pub(super) fn is_meant(word: &str) -> bool {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let digits = unsigned.strip_prefix('.').unwrap_or(unsigned);
    digits.starts_with(|c: char| c.is_ascii_digit())
}

pub(super) fn parse(word: &str) -> Option<Value> {
    let unsigned = word.strip_prefix(['+', '-']).unwrap_or(word);
    let based = [("0x", 16), ("0o", 8), ("0b", 2)]
        .into_iter()
        .find_map(|(mark, base)| Some((unsigned.strip_prefix(mark)?, base)));
    if let Some((digits, base)) = based {
        return is_digits(digits, base).then(|| integer(word, digits, base));
    }
    let (mantissa, exponent) =
        unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(m, e)| (m, Some(e)));
    let (whole, fraction) =
        mantissa.split_once('.').map_or((mantissa, None), |(w, f)| (w, Some(f)));
    let exponent = exponent.map(|e| e.strip_prefix(['+', '-']).unwrap_or(e));
    let fine = [Some(whole), fraction, exponent].into_iter().flatten().all(|d| is_digits(d, 10));
    let plain = fraction.is_none() && exponent.is_none();
    fine.then(|| if plain { integer(word, whole, 10) } else { Value::Number })
}

fn is_digits(text: &str, base: u32) -> bool {
    text.starts_with(|c: char| c.is_digit(base))
        && text.chars().all(|c| c == '_' || c.is_digit(base))
}

fn integer(word: &str, digits: &str, base: u32) -> Value {
    let sign = if word.starts_with('-') { "-" } else { "" };
    let digits = format!("{sign}{}", digits.replace('_', ""));
    i128::from_str_radix(&digits, base).map_or(Value::Number, Value::Integer)
}
