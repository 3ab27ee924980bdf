//! Former options that are facts of a `remote` or `store` line of the manifest.

use std::ffi::OsString;

/// Former option of a shared cache, and its part of the line.
const REMOTE: [(&str, Part); 20] = [
    ("remote-cache", Part::Value("cache")),
    ("remote-executor", Part::Value("executor")),
    ("remote-instance-name", Part::Value("instance")),
    ("remote-cache-silo", Part::Value("silo")),
    ("remote-timeout", Part::Value("timeout")),
    ("remote-retries", Part::Tries),
    ("remote-program", Part::Value("program")),
    ("remote-download-outputs", Part::Value("download")),
    ("remote-upload-local-results", Part::Switch("upload")),
    ("no-remote-upload-local-results", Part::Default),
    ("remote-accept-cached", Part::Default),
    ("no-remote-accept-cached", Part::Switch("refresh")),
    ("remote-required", Part::Switch("required")),
    ("remote-header", Part::Header),
    ("credential-helper", Part::Helper),
    ("remote-default-exec-properties", Part::Machine),
    ("tls-certificate", Part::Tls("certificate")),
    ("tls-client-certificate", Part::Tls("client-certificate")),
    ("tls-client-key", Part::Tls("client-key")),
    ("remote-mode", Part::Mode),
];

/// Former option of artifacts, and its part of the line.
const STORE: [(&str, Part); 3] = [
    ("unsigned", Part::Switch("unsigned")),
    ("require-checksums", Part::Switch("require-checksums")),
    ("downloads", Part::Number("downloads")),
];

/// Commands with artifacts.
const WITH_ARTIFACTS: [&str; 6] = ["build", "plan", "explain", "diff", "scan", "fetch"];

/// Part of a line.
#[derive(Clone, Copy)]
enum Part {
    /// A property with the option's value.
    Value(&'static str),
    /// The same, without quotes.
    Number(&'static str),
    /// Retries: one less than the tries.
    Tries,
    Switch(&'static str),
    /// The default, which needs no property.
    Default,
    /// `upload`, for a value.
    Mode,
    Header,
    Helper,
    Machine,
    /// A property of the line `tls`.
    Tls(&'static str),
}

impl Part {
    fn takes_value(self) -> bool {
        !matches!(self, Self::Switch(_) | Self::Default)
    }
}

/// Former options of a command line, the line of the manifest that replaces them, and the other words.
pub struct Facts<'a> {
    /// The first option.
    pub option: String,
    /// The line.
    pub line: String,
    /// The other words, without a name of the line.
    pub rest: Vec<&'a OsString>,
    /// The option for the name of the line, if the words lack it.
    pub name: Option<&'static str>,
}

/// Parts of a line: properties, and lines of its block.
#[derive(Default)]
struct Line {
    properties: Vec<String>,
    tls: Vec<String>,
    block: Vec<String>,
}

pub fn of<'a>(command: &str, words: &[&'a OsString]) -> Option<Facts<'a>> {
    let (node, known): (_, &[(&'static str, Part)]) = match command {
        "build" if has_any(&REMOTE, words) => ("remote", &REMOTE),
        _ if WITH_ARTIFACTS.contains(&command) && has_any(&STORE, words) => ("store", &STORE),
        _ => return None,
    };
    let (mut line, mut option, mut rest) = (Line::default(), None, Vec::new());
    let mut words = words.iter().copied();
    while let Some(word) = words.next() {
        let Some((name, part, given)) = former(known, word) else {
            rest.push(word);
            continue;
        };
        option.get_or_insert(format!("--{name}"));
        let value = given.or_else(|| {
            let next = part.takes_value().then(|| words.next()).flatten();
            next.map(|next| next.to_string_lossy().into_owned())
        });
        line.add(part, &value.unwrap_or_default());
    }
    let named = |option: &str| value_of(option, &rest);
    let name = named(&format!("--{node}"));
    let absent = (node == "remote" && name.is_none()).then_some("--remote NAME");
    let title = format!("{node} \"{}\"", name.unwrap_or_else(|| "NAME".to_owned()));
    let title = if node == "store" { format!("{title} url=\"…\"") } else { title };
    Some(Facts { option: option?, line: line.text(&title), rest, name: absent })
}

fn has_any(known: &[(&'static str, Part)], words: &[&OsString]) -> bool {
    words.iter().any(|word| former(known, word).is_some())
}

fn former(
    known: &[(&'static str, Part)],
    word: &OsString,
) -> Option<(&'static str, Part, Option<String>)> {
    let word = word.to_str()?.strip_prefix("--")?;
    let (name, value) =
        word.split_once('=').map_or((word, None), |(name, value)| (name, Some(value.to_owned())));
    let (name, part) = known.iter().find(|(known, _)| *known == name)?;
    Some((name, *part, value))
}

fn value_of(option: &str, words: &[&OsString]) -> Option<String> {
    let text = |word: &OsString| word.to_string_lossy().into_owned();
    let at = words.iter().position(|word| **word == option);
    if let Some(at) = at {
        return words.get(at + 1).map(|word| text(word));
    }
    words
        .iter()
        .find_map(|word| Some(text(word).strip_prefix(option)?.strip_prefix('=')?.to_owned()))
}

impl Line {
    fn add(&mut self, part: Part, value: &str) {
        match part {
            Part::Value(name) => self.properties.push(format!("{name}={}", quoted(value))),
            Part::Number(name) => self.properties.push(format!("{name}={value}")),
            Part::Tries => {
                let tries = value.parse::<u32>().map_or(6, |retries| retries.saturating_add(1));
                self.properties.push(format!("tries={tries}"));
            }
            Part::Switch(name) => self.properties.push(format!("{name}=#true")),
            Part::Mode if value == "readwrite" => self.properties.push("upload=#true".to_owned()),
            Part::Default | Part::Mode => {}
            Part::Header => self.block.push(header(value)),
            Part::Helper => self.block.push(helper(value)),
            Part::Machine => {
                let (name, value) = value.split_once('=').unwrap_or((value, "VALUE"));
                self.block.push(format!("machine {} {}", quoted(name), quoted(value)));
            }
            Part::Tls(name) => self.tls.push(format!("{name}={}", quoted(value))),
        }
    }

    fn text(mut self, title: &str) -> String {
        if !self.tls.is_empty() {
            self.block.push(format!("tls {}", self.tls.join(" ")));
        }
        let mut words = vec![title.to_owned()];
        words.append(&mut self.properties);
        let head = words.join(" ");
        if self.block.is_empty() {
            return head;
        }
        format!("{head} {{\n    {}\n}}", self.block.join("\n    "))
    }
}

/// Returns the line of a header, without its value: it is a secret.
fn header(given: &str) -> String {
    if given.starts_with('@') {
        return "header \"NAME\" file=\"FILE\"    // the file has the value of one header"
            .to_owned();
    }
    let name = given.split_once('=').map_or("NAME", |(name, _)| name.trim());
    format!("header {} env=\"VARIABLE\"", quoted(name))
}

fn helper(given: &str) -> String {
    match given.split_once('=').filter(|(pattern, _)| !pattern.contains('/')) {
        Some((pattern, program)) => {
            format!("credential-helper {} for={}", quoted(program), quoted(pattern))
        }
        None => format!("credential-helper {}", quoted(given)),
    }
}

fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
