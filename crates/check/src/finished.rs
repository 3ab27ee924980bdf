use std::collections::BTreeMap;

use wheel::package::{Header, Metadata};

/// Facts that only finished packages have.
#[derive(Debug, Clone)]
pub struct Finished {
    /// METADATA or PKG-INFO.
    pub metadata: Metadata,
    /// WHEEL; empty for an sdist.
    pub header: Header,
    /// Objects of entry points.
    pub entry_points: BTreeMap<String, String>,
    /// Facts for its runtime, of packages that rockpack made.
    pub runtime: Option<serde_json::Value>,
    /// Bytes of the file.
    pub packed: u64,
    /// Members are deflated.
    pub compressed: bool,
}

impl Finished {
    /// Text in the facts for the runtime.
    pub fn fact(&self, key: &str) -> Option<&str> {
        self.runtime.as_ref()?.get(key)?.as_str()
    }
}
