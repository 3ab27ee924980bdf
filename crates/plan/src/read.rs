//! A plan that was printed as JSON, read again.

use serde::Deserialize;

use super::{FORMAT, Plan};

/// Why a text is not a plan that this program reads. The text's name is its caller's to say.
#[derive(Debug, thiserror::Error)]
pub enum PlanReadError {
    /// It isn't JSON, or says no format: whatever it is, it is no plan.
    #[error("this is no plan: `rockpack plan --json` prints JSON with a number `format`")]
    NoPlan(#[source] serde_json::Error),
    /// It is a plan, as another version of rockpack writes them.
    #[error(
        "this plan has format {found}, and this rockpack reads format {FORMAT}: make it anew, or read it with the rockpack that made it"
    )]
    Format {
        /// The number that it says it has.
        found: u64,
    },
    /// It says that it has this program's format, and has not.
    #[error("this plan does not hold what format {FORMAT} holds")]
    Content(#[source] serde_json::Error),
}

/// What plans of every format have.
#[derive(Deserialize)]
struct Head {
    format: u64,
}

impl Plan {
    /// Reads what `rockpack plan --json` prints: a plan of format [`FORMAT`].
    ///
    /// # Errors
    /// When the text is no plan, one of another format, or lacks something of this one.
    pub fn read(text: &str) -> Result<Self, PlanReadError> {
        let head: Head = serde_json::from_str(text).map_err(PlanReadError::NoPlan)?;
        if head.format != u64::from(FORMAT) {
            return Err(PlanReadError::Format { found: head.format });
        }
        serde_json::from_str(text).map_err(PlanReadError::Content)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    const PLAN: &str = r#"{"format": 1, "mode": "kpack", "version": "7.2.0", "platform_tag": "linux_x86_64",
        "distributions": [], "unowned": [], "notes": []}"#;

    /// The whole message, cause included.
    fn refused(text: &str) -> String {
        let error = Plan::read(text).unwrap_err();
        error.source().map_or(error.to_string(), |cause| format!("{error}: {cause}"))
    }

    #[test]
    fn a_plan_of_this_format_is_read() {
        let plan = Plan::read(PLAN).unwrap();
        assert_eq!((plan.format, plan.version.as_str()), (FORMAT, "7.2.0"));
    }

    #[test]
    fn a_plan_of_another_format_is_refused_whatever_it_holds() {
        let message = "this plan has format 2, and this rockpack reads format 1: make it anew, or read it with the rockpack that made it";
        assert_eq!(refused(&PLAN.replace("\"format\": 1", "\"format\": 2")), message);
        assert_eq!(refused(r#"{"format": 2, "wheels": {}}"#), message);
    }

    #[test]
    fn what_is_no_plan_is_refused() {
        for (text, cause) in [
            ("packages", "expected value"),
            ("{}", "missing field `format`"),
            (r#"{"format": "1"}"#, "invalid type"),
        ] {
            let said = refused(text);
            assert!(said.starts_with("this is no plan: ") && said.contains(cause), "{said}");
        }
        let said = refused(&PLAN.replace("kpack", "k-pack"));
        assert!(
            said.starts_with(
                "this plan does not hold what format 1 holds: unknown variant `k-pack`"
            ),
            "{said}"
        );
    }
}
