const TABLE: &str = include_str!("table.tsv");

pub(super) struct Line {
    pub policy: &'static str,
    pub architectures: &'static str,
    pub what: &'static str,
    pub list: &'static str,
}

pub(super) fn lines() -> impl Iterator<Item = Line> {
    TABLE.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
        let mut columns = line.split('\t');
        Some(Line {
            policy: columns.next()?,
            architectures: columns.next()?,
            what: columns.next()?,
            list: columns.next()?,
        })
    })
}
