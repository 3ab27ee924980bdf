use std::io::{Seek, Write};

use super::prepare::{Output, Ready, ReadyContent};
use super::wheel::console_scripts;
use super::write_error::WriteError;
use base::event::{Event, Reporter};
use plan::{Distribution, Plan};
use wheel::archive::sdist::{SdistMember, write_sdist};
use wheel::archive::{Timestamp, egg_info};

pub(super) fn write<W: Write + Seek>(
    plan: &Plan,
    distribution: &Distribution,
    output: Output,
    file: W,
    reporter: &dyn Reporter,
) -> Result<u64, WriteError> {
    let mut members = Vec::new();
    let Distribution { name, metadata, .. } = distribution;
    let licenses: Vec<_> = output.licenses.iter().map(|text| text.path.clone()).collect();
    let info = metadata.render(name, &plan.version, &licenses)?;
    for Ready { path, executable, content } in output.members.into_iter().chain(output.licenses) {
        if let ReadyContent::File(bytes) = content {
            let mut content = vec![0; usize::try_from(bytes.len()).unwrap_or_default()];
            bytes
                .read_exact_at(0, &mut content)
                .map_err(|source| WriteError::Read { name: path.clone(), source })?;
            let sdist = output.path.clone();
            reporter.report(Event::Progress { path: sdist, bytes: bytes.len() });
            members.push(SdistMember { path, executable, content });
        }
    }
    if !distribution.entry_points.is_empty() {
        let text = console_scripts(distribution)?;
        members.push(SdistMember {
            path: "entry_points.txt".parse()?,
            executable: false,
            content: text.into_bytes(),
        });
    }
    let egg_info = egg_info::directory(name);
    let requires = egg_info::requires(metadata.requires_dist.iter().map(String::as_str));
    for (path, text) in [
        (format!("{egg_info}/{}", egg_info::PKG_INFO), info.clone()),
        (format!("{egg_info}/{}", egg_info::REQUIRES), requires),
        ("PKG-INFO".to_owned(), info),
    ] {
        let (path, content) = (path.parse()?, text.into_bytes());
        members.push(SdistMember { path, executable: false, content });
    }
    let mut file = write_sdist(file, name, &plan.version, Timestamp::EARLIEST, &members)?;
    Ok(file.stream_position()?)
}
