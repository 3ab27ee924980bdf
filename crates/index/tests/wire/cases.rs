//! The matrix: kinds of stores, commands with their phases, and faults.

use std::path::Path;

use crate::faults::{FAULTS, Fault, Must};

/// Minimum number of cases: a wrong filter must not empty the matrix.
pub const MIN_CASES: usize = 500;

/// Secrets in the environment; no error and no request to another server may contain one.
pub const SECRETS: [&str; 5] =
    ["AKIAHUNTER2", "hunter2secret", "hunter2token", "hunter2signature", "hunter2bearer"];

/// Message of prune about a package of which the requirements are unknown.
const NOTHING_PRUNED: &str = "are unknown, so nothing is removed";

/// Text of answers, which no error repeats.
pub const ECHO: &str = "ECHOED-SECRET-FILE";

/// Begins the outcome of a fetch that left another file than the published one, or left a file and
/// failed. No fault excuses that, not even one with any outcome.
pub const WRONG_FILE: &str = "WRONG-FILE";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Group {
    S3,
    Azure,
    Google,
    Web,
    /// S3 with credentials from a container's server.
    Container,
    /// Azure with credentials of the machine.
    Machine,
    /// Encrypted.
    Https,
    /// S3, encrypted.
    Signed,
}

impl Group {
    pub const ALL: [Self; 8] = [
        Self::S3,
        Self::Azure,
        Self::Google,
        Self::Web,
        Self::Container,
        Self::Machine,
        Self::Https,
        Self::Signed,
    ];

    pub fn name(self) -> String {
        format!("{self:?}").to_lowercase()
    }

    pub fn is_encrypted(self) -> bool {
        matches!(self, Self::Https | Self::Signed)
    }

    /// Address of the store of a case.
    pub fn url(self, case: usize, server: &str) -> String {
        match self {
            Self::S3 | Self::Container | Self::Signed => format!("s3://bucket/c{case}"),
            Self::Azure | Self::Machine => format!("az://bucket/c{case}"),
            Self::Google => format!("gs://bucket/c{case}"),
            Self::Web | Self::Https => format!("{server}/c{case}"),
        }
    }

    pub fn variables(self, server: &str, dir: &Path) -> Vec<(&'static str, String)> {
        let text = |text: &str| text.to_owned();
        let s3 = || {
            vec![
                ("AWS_ENDPOINT", text(server)),
                ("AWS_REGION", text("us-east-1")),
                ("AWS_ALLOW_HTTP", (self != Self::Signed).to_string()),
            ]
        };
        let azure = || {
            vec![
                ("AZURE_STORAGE_ACCOUNT_NAME", text("account")),
                ("AZURE_ENDPOINT", text(server)),
                ("AZURE_ALLOW_HTTP", text("true")),
            ]
        };
        match self {
            Self::S3 | Self::Signed => [
                s3(),
                vec![
                    ("AWS_ACCESS_KEY_ID", text("AKIAHUNTER2")),
                    ("AWS_SECRET_ACCESS_KEY", text("hunter2secret")),
                    ("AWS_SESSION_TOKEN", text("hunter2token")),
                ],
            ]
            .concat(),
            Self::Azure => [
                azure(),
                vec![(
                    "AZURE_STORAGE_SAS_TOKEN",
                    text("sv=2024-11-04&sp=rwdl&sig=hunter2signature"),
                )],
            ]
            .concat(),
            Self::Google => vec![
                ("GOOGLE_BASE_URL", text(server)),
                ("GOOGLE_BEARER_TOKEN", text("hunter2bearer")),
                ("GOOGLE_ALLOW_HTTP", text("true")),
            ],
            Self::Web | Self::Https => Vec::new(),
            Self::Container => {
                let token = dir.join("container-token");
                std::fs::write(&token, "hunter2token").unwrap();
                [
                    s3(),
                    vec![
                        ("AWS_CONTAINER_CREDENTIALS_FULL_URI", format!("{server}/credentials/c")),
                        ("AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", token.display().to_string()),
                    ],
                ]
                .concat()
            }
            Self::Machine => {
                [azure(), vec![("AZURE_MSI_ENDPOINT", format!("{server}/credentials/m"))]].concat()
            }
        }
    }
}

/// Requests of a command, or a single call of a store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operation {
    ArtifactFetch,
    IndexFetch,
    /// Fetch that applies two patches: old to middle to new.
    IndexSeries,
    Publish,
    Mirror,
    Prune,
    /// Comparison with the newest published packages: `plan --since`, `diff`.
    Earlier,
    /// Single calls of a store.
    Range,
    Replace,
    Delete,
}

/// Requests of one kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// Before the first request.
    Connect,
    Credentials,
    List,
    Head,
    Page,
    File,
    Sidecar,
    Patch,
    /// First patch of a series.
    Series,
    Probe,
    Write,
    PageWrite,
    Delete,
}

#[derive(Debug, Clone)]
pub struct Case {
    pub group: Group,
    pub operation: Operation,
    pub phase: Phase,
    pub fault: &'static Fault,
}

impl Case {
    pub fn name(&self) -> String {
        let Self { group, operation, phase, fault } = self;
        format!("{}/{operation:?}/{phase:?}/{}", group.name(), fault.name)
    }

    /// Returns the reason why the outcome is wrong.
    pub fn fault_of(&self, outcome: &str) -> Option<String> {
        if outcome.contains(WRONG_FILE) {
            return Some("it leaves a wrong file".to_owned());
        }
        if outcome.contains(ECHO) {
            return Some("it repeats an answer".to_owned());
        }
        // A new store answers a request of a page with 404, of which the body may be cut.
        let is_cut_404 =
            self.operation == Operation::Publish && self.fault.name == "closes-in-body";
        let must = match self.phase {
            // Patches are optional: without one, the whole file is fetched.
            Phase::Patch | Phase::Series => Must::Succeed,
            _ if is_cut_404 => Must::End,
            _ => self.fault.must,
        };
        match must {
            Must::End => None,
            // The store has no `.metadata` file of the old package, so that prune removes nothing.
            Must::Succeed if self.operation == Operation::Prune => {
                let is_honest = outcome == "done" || outcome.contains(NOTHING_PRUNED);
                (!is_honest).then(|| format!("not `{NOTHING_PRUNED}`"))
            }
            Must::Succeed => outcome.starts_with("error").then(|| "it fails".to_owned()),
            Must::Fail(_) if !outcome.starts_with("error") => Some("it succeeds".to_owned()),
            // Credentials come from the library, which keeps the cause in its own words.
            Must::Fail(_) if self.phase == Phase::Credentials => None,
            Must::Fail(cause) => (!outcome.contains(cause)).then(|| format!("not `{cause}`")),
        }
    }

    /// Returns whether the answer needs much memory; such cases run alone.
    pub fn is_heavy(&self) -> bool {
        self.fault.is_heavy
    }
}

pub fn cases() -> Vec<Case> {
    use Group::{Azure, Container, Google, Https, Machine, S3, Signed, Web};
    use Operation::{
        ArtifactFetch, Delete, Earlier, IndexFetch, IndexSeries, Mirror, Prune, Publish, Range,
        Replace,
    };
    let table: [(Group, Operation, &[Phase]); 30] = [
        (S3, ArtifactFetch, &[Phase::List, Phase::File, Phase::Sidecar]),
        (S3, IndexFetch, &[Phase::Page, Phase::File]),
        (S3, Publish, &[Phase::Probe, Phase::Head, Phase::Page, Phase::Write, Phase::PageWrite]),
        (S3, Mirror, &[Phase::Page]),
        (S3, Prune, &[Phase::List, Phase::Page]),
        (S3, Earlier, &[Phase::Page]),
        (S3, Range, &[Phase::File]),
        (S3, Replace, &[Phase::Write]),
        (S3, Delete, &[Phase::Delete]),
        (Azure, ArtifactFetch, &[Phase::List, Phase::File]),
        (Azure, IndexFetch, &[Phase::File]),
        (Azure, Publish, &[Phase::Probe, Phase::PageWrite]),
        (Google, ArtifactFetch, &[Phase::List, Phase::File]),
        (Google, Publish, &[Phase::Probe]),
        (Google, Replace, &[Phase::Write]),
        (Web, ArtifactFetch, &[Phase::Head, Phase::File]),
        (Web, IndexFetch, &[Phase::Page, Phase::File, Phase::Patch]),
        (Web, IndexSeries, &[Phase::Patch, Phase::Series]),
        (S3, IndexSeries, &[Phase::Series]),
        (Web, Mirror, &[Phase::Page]),
        (Web, Earlier, &[Phase::Page]),
        (Web, Range, &[Phase::File]),
        (Container, ArtifactFetch, &[Phase::Credentials]),
        (Machine, ArtifactFetch, &[Phase::Credentials]),
        (Https, ArtifactFetch, &[Phase::Connect, Phase::Head, Phase::File]),
        (Https, IndexFetch, &[Phase::Connect, Phase::Page, Phase::File]),
        (Https, Mirror, &[Phase::Connect, Phase::Page]),
        (Signed, ArtifactFetch, &[Phase::Connect, Phase::List, Phase::File]),
        (Signed, Publish, &[Phase::Connect, Phase::Probe, Phase::Write, Phase::PageWrite]),
        (Signed, Prune, &[Phase::Connect, Phase::List]),
    ];
    let mut cases = Vec::new();
    for (group, operation, phases) in table {
        for &phase in phases {
            let is_light = |fault: &Fault| !fault.is_heavy || operation == ArtifactFetch;
            let fits = |fault: &&'static Fault| {
                fault.door.is_some() == group.is_encrypted()
                    && (fault.fits)(group, phase)
                    && is_light(fault)
            };
            cases.extend(FAULTS.iter().filter(fits).map(|fault| Case {
                group,
                operation,
                phase,
                fault,
            }));
        }
    }
    cases
}
