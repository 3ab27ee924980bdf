use serde::Deserialize;

use super::{FORMAT, Plan, texts};
use wheel::archive::unique_keys::UniqueKeys;

/// Fault of the text of a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanReadError {
    /// Not JSON, or without `format`.
    #[error("this is not a plan of `rockpack plan --json`, which is JSON with a number `format`")]
    NoPlan(#[source] serde_json::Error),
    /// Another format.
    #[error(
        "this plan has format {found}, but this rockpack reads format {FORMAT}: make the plan \
         again, or use the rockpack that made it"
    )]
    Format {
        /// Its format.
        found: u64,
    },
    /// Content of another form.
    #[error("this plan does not match format {FORMAT}")]
    Content(#[source] serde_json::Error),
}

#[derive(Deserialize)]
struct Head {
    format: u64,
}

impl Plan {
    /// Parses the output of `rockpack plan --json`.
    ///
    /// # Errors
    ///
    /// For another format than [`FORMAT`], or a missing field.
    pub fn read(text: &str) -> Result<Self, PlanReadError> {
        let head: Head = serde_json::from_str(text).map_err(PlanReadError::NoPlan)?;
        if head.format != u64::from(FORMAT) {
            return Err(PlanReadError::Format { found: head.format });
        }
        let UniqueKeys = serde_json::from_str(text).map_err(PlanReadError::Content)?;
        let mut plan: Self = serde_json::from_str(text).map_err(PlanReadError::Content)?;
        texts::fill(&mut plan).map_err(PlanReadError::Content)?;
        Ok(plan)
    }
}

#[cfg(test)]
mod tests {
    use std::error::Error;

    use super::*;

    const PLAN: &str = r#"{"format": 1, "mode": "kpack", "version": "7.2.0", "platform_tag": "linux_x86_64",
        "distributions": [], "unowned": [], "notes": []}"#;

    fn refused(text: &str) -> String {
        let error = Plan::read(text).unwrap_err();
        error.source().map_or(error.to_string(), |cause| format!("{error}: {cause}"))
    }

    #[test]
    fn a_plan_of_this_format_is_read() {
        let plan = Plan::read(PLAN).unwrap();
        assert_eq!((plan.format, plan.version.as_str()), (FORMAT, "7.2.0"));
    }

    fn with_member(member: &str) -> String {
        let distribution = r#"{"package": "a", "name": "a", "form": "wheel", "directory": "dist",
            "module": "a", "compression": "default", "metadata": {"summary": "", "license": "MIT",
            "author": "", "requires_python": "", "keywords": [], "classifiers": [],
            "urls": [], "requires_dist": [], "provides_extra": []}, "entry_points": {},
            "members": [MEMBER], "licenses": [], "absent": []}"#;
        let distribution = distribution.replace("MEMBER", member);
        PLAN.replace("\"distributions\": []", &format!("\"distributions\": [{distribution}]"))
    }

    #[test]
    fn refuses_an_unknown_text() {
        let member =
            r#"{"path": "a/b", "step": "render", "text": ["x", 1], "size": 2, "rule": ""}"#;
        let message = refused(&with_member(member));
        assert!(message.ends_with("`a/b` needs text 1, and the plan has 0 texts"), "{message}");
    }

    #[test]
    fn refuses_unknown_fields_of_members() {
        for step in [
            r#""step": "directory""#,
            r#""step": "link", "target": "c""#,
            r#""step": "copy", "source": {"artifact": {"name": "a", "component": "lib", "family": "generic"}, "base": "b", "path": "c"}"#,
        ] {
            let member = format!(r#"{{"path": "a/b", {step}, "size": 0, "rule": ""}}"#);
            Plan::read(&with_member(&member)).unwrap();
            let error = refused(&with_member(&member.replace("\"size\"", "\"mode\": 7, \"size\"")));
            assert!(error.contains("unknown field `mode`"), "{error}");
        }
    }

    #[test]
    fn a_plan_of_another_format_is_refused_whatever_it_holds() {
        let message = "this plan has format 2, but this rockpack reads format 1: make the plan again, or use the rockpack that made it";
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
            let message = refused(text);
            assert!(
                message.starts_with("this is not a plan ") && message.contains(cause),
                "{message}"
            );
        }
        let message = refused(&PLAN.replace("kpack", "k-pack"));
        assert!(
            message.starts_with("this plan does not match format 1: unknown variant `k-pack`"),
            "{message}"
        );
    }
}
