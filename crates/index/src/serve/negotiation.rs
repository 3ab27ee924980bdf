//! Content negotiation for pages (PEP 691; RFC 9110, section 12.5.1).

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Form {
    pub(super) file: &'static str,
    pub(super) content_type: &'static str,
    asked: &'static [&'static str],
}

/// HTML first: the default without a preference.
const FORMS: [Form; 2] = [
    Form {
        file: "index.html",
        content_type: "text/html; charset=utf-8",
        asked: &[
            "text/html",
            "application/vnd.pypi.simple.v1+html",
            "application/vnd.pypi.simple.latest+html",
        ],
    },
    Form {
        file: "index.json",
        content_type: "application/vnd.pypi.simple.v1+json",
        asked: &["application/vnd.pypi.simple.v1+json", "application/vnd.pypi.simple.latest+json"],
    },
];

/// Accepted forms, best first, HTML before JSON at equal quality; all without `Accept`.
pub(super) fn wanted(accept: Option<&str>) -> Vec<Form> {
    let Some(accept) = accept else { return FORMS.to_vec() };
    let liked = FORMS.iter().map(|form| {
        (form.asked.iter().map(|asked| quality(accept, asked)).max().unwrap_or(0), *form)
    });
    let mut liked: Vec<(u16, Form)> = liked.filter(|(quality, _)| *quality > 0).collect();
    liked.sort_by_key(|(quality, _)| std::cmp::Reverse(*quality));
    liked.into_iter().map(|(_, form)| form).collect()
}

/// Thousandths, from the most specific range.
fn quality(accept: &str, media: &str) -> u16 {
    let ranges = accept.split(',').filter_map(|range| {
        let mut parts = range.split(';').map(str::trim);
        let specific = matches(&parts.next()?.to_ascii_lowercase(), media)?;
        let q = parts.find_map(|parameter| {
            parameter.strip_prefix("q=").or_else(|| parameter.strip_prefix("Q="))
        });
        Some((specific, q.map_or(1000, thousandths)))
    });
    ranges.max().map_or(0, |(_, quality)| quality)
}

fn matches(range: &str, media: &str) -> Option<u8> {
    let kind = media.split_once('/').map_or(media, |(kind, _)| kind);
    match range.split_once('/')? {
        ("*", "*") => Some(0),
        (k, "*") if k == kind => Some(1),
        _ if range == media => Some(2),
        _ => None,
    }
}

/// 0 if malformed.
fn thousandths(text: &str) -> u16 {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let part = format!("{part:0<3}");
    match (whole.parse::<u16>(), part.get(..3).map(str::parse::<u16>)) {
        (Ok(whole), Some(Ok(part))) => whole.saturating_mul(1000).saturating_add(part).min(1000),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_get_what_they_like_best() {
        let files = |accept| wanted(accept).iter().map(|form| &form.file[6..]).collect::<Vec<_>>();
        let pip = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html; q=0.1, text/html; q=0.01";
        let uv = "application/vnd.pypi.simple.v1+json, application/vnd.pypi.simple.v1+html;q=0.2, text/html;q=0.01";
        let browser = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
        for (accept, expected) in [
            (None, &["html", "json"][..]),
            (Some("*/*"), &["html", "json"]),
            (Some(pip), &["json", "html"]),
            (Some(uv), &["json", "html"]),
            (Some(browser), &["html", "json"]),
            (Some("text/html"), &["html"]),
            (Some("application/*"), &["html", "json"]),
            (Some("Application/VND.pypi.simple.latest+JSON;q=0.5"), &["json"]),
            (Some("application/vnd.pypi.simple.v1+json;q=0, */*"), &["html", "json"]),
            (Some("image/png"), &[]),
            (Some("text/html;q=none"), &[]),
        ] {
            assert_eq!(files(accept), expected, "{accept:?}");
        }
    }
}
