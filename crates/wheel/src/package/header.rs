//! Headers in mail format (RFC 822), used by core metadata and `WHEEL`.

/// Header field with its original text.
#[derive(Debug)]
pub struct Field<'t> {
    /// Original lines with line breaks.
    pub raw: &'t str,
    /// Field.
    pub name: &'t str,
    /// Value on one line.
    pub value: String,
}

/// Splits off the fields.
pub fn fields(text: &str) -> (Vec<Field<'_>>, &str) {
    let (mut fields, mut rest): (Vec<Field<'_>>, &str) = (Vec::new(), text);
    while !rest.is_empty() && !rest.starts_with('\n') && !rest.starts_with("\r\n") {
        let mut end = rest.find('\n').map_or(rest.len(), |at| at + 1);
        while rest[end..].starts_with([' ', '\t']) {
            end += rest[end..].find('\n').map_or(rest.len() - end, |at| at + 1);
        }
        let (raw, after) = rest.split_at(end);
        let (name, value) = raw.split_once(':').unwrap_or((raw, ""));
        let value = value.lines().map(str::trim).collect::<Vec<_>>().join(" ");
        fields.push(Field { raw, name, value: value.trim().to_owned() });
        rest = after;
    }
    (fields, rest)
}

/// Text with `new` values of fields; `None` removes a field.
pub fn rewritten(text: &str, mut new: impl FnMut(&Field<'_>) -> Option<String>) -> String {
    let (fields, body) = fields(text);
    let mut output = String::with_capacity(text.len());
    for field in fields {
        match new(&field) {
            Some(value) if value == field.value => output += field.raw,
            Some(value) => {
                let end = if field.raw.ends_with("\r\n") { "\r\n" } else { "\n" };
                output.extend([field.name, ": ", &value, end]);
            }
            None => {}
        }
    }
    output + body
}

/// Fields of a header, in order.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Header {
    fields: Vec<(String, String)>,
    body: Option<String>,
    stray: Option<String>,
    padded: Vec<String>,
}

impl Header {
    /// Parses up to the blank line; indented lines continue a field.
    pub fn parse(text: &str) -> Self {
        let (mut header, mut rest) = (Self::default(), text);
        while !rest.is_empty() {
            let (line, after) = rest.split_once('\n').unwrap_or((rest, ""));
            let line = line.strip_suffix('\r').unwrap_or(line);
            if line.is_empty() {
                header.body = Some(after.to_owned());
                break;
            }
            header.line(line);
            rest = after;
        }
        header
    }

    fn line(&mut self, line: &str) {
        if line.contains('\r') && self.stray.is_none() {
            self.stray = Some(line.to_owned());
        }
        if let (true, Some((_, value))) = (line.starts_with([' ', '\t']), self.fields.last_mut()) {
            value.push('\n');
            value.push_str(line.trim());
        } else if let Some((name, value)) = line.split_once(':').filter(|(name, _)| is_name(name)) {
            if value.ends_with([' ', '\t']) {
                self.padded.push(name.to_owned());
            }
            self.fields.push((name.to_owned(), value.trim().to_owned()));
        } else if self.stray.is_none() {
            self.stray = Some(line.to_owned());
        }
    }

    /// First line without a field name: readers end the header there or skip it.
    pub fn stray(&self) -> Option<&str> {
        self.stray.as_deref()
    }

    /// True if blanks follow a value, which some readers keep.
    pub fn is_padded(&self, field: &str) -> bool {
        self.padded.iter().any(|name| name.eq_ignore_ascii_case(field))
    }

    /// After the blank line.
    pub fn body(&self) -> Option<&str> {
        self.body.as_deref()
    }

    /// Names, as written, with values.
    pub fn fields(&self) -> &[(String, String)] {
        &self.fields
    }

    /// Names are case-insensitive.
    pub fn all(&self, field: &str) -> Vec<String> {
        self.fields
            .iter()
            .filter(|(name, _)| name.eq_ignore_ascii_case(field))
            .map(|(_, value)| value.clone())
            .collect()
    }

    /// First value of a field.
    pub fn first(&self, field: &str) -> Option<&str> {
        self.fields
            .iter()
            .find(|(name, _)| name.eq_ignore_ascii_case(field))
            .map(|(_, value)| value.as_str())
    }
}

/// Printable ASCII without blanks (RFC 5322, section 2.2).
fn is_name(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_graphic())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_that_are_no_fields_are_known() {
        let stray = |text: &str| Header::parse(text).stray().map(str::to_owned);
        assert_eq!(stray("Name: a\n b\nVersion:1\n\nno field\n"), None);
        for line in
            ["no field", ": value", "Name : a", " folded first", "From here 12:00", "A: b\rC: d"]
        {
            assert_eq!(stray(&format!("{line}\nName: a\n")).as_deref(), Some(line));
        }
        let header = Header::parse("Name: a \nVersion: 1\n");
        assert!(header.is_padded("name") && !header.is_padded("Version"));
    }
}
