//! Sends packed streams from finished packages.

use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use fs_err::File;
use futures_util::{StreamExt, stream};

use super::action::{self, Action, Digest, Stored};
use super::blob::Blob;
use super::client::{Client, Failure};
use super::farm::{Farm, MadeStream};
use super::pace::is_worth;
use super::{Counts, SharedCache};
use base::activity;
use base::hash;
use base::text::counted;
use cache::{Archive, Form, Recipe, Stretch};
use wheel::archive::deflate::Method;

const AT_ONCE: usize = 8;
/// Digests in a request: together about 40 kB, far below the limit of a message.
const ASKED: usize = 500;

#[derive(Debug)]
struct Parcel<'a> {
    recipe: &'a Recipe,
    form: Form,
    action: Action,
    stored: Stored,
    blob: Blob,
}

/// Frames the stream if the server has other bytes under its digest: it would not take them again.
fn stored(
    shared: &SharedCache,
    recipe: &Recipe,
    stream: Digest,
    blob: Blob,
) -> io::Result<(Stored, Blob)> {
    let by_stream = shared.damaged().clone();
    let damaged: BTreeSet<Digest> = by_stream.values().flatten().copied().collect();
    // A damaged framed stream replaced a damaged one.
    if !by_stream.contains_key(recipe.key().as_bytes()) && !damaged.contains(&stream) {
        return Ok((Stored { blob: stream, is_framed: false }, blob));
    }
    for frame in 0..=u8::MAX {
        let framed = Blob::Framed(frame, Box::new(blob.clone()));
        let sha256 = hash::of_reader(framed.reader(stream.size + 1))?.sha256;
        let blob = Digest { sha256, size: stream.size + 1 };
        if !damaged.contains(&blob) {
            return Ok((Stored { blob, is_framed: true }, framed));
        }
    }
    Err(io::ErrorKind::InvalidData.into())
}

/// Sends worthwhile streams that the server lacks, within the budget.
pub(super) fn upload(shared: &SharedCache, archives: &[Archive]) {
    let stored_keys = shared.stored_keys.lock().unwrap_or_else(PoisonError::into_inner).clone();
    let candidates: Vec<(&Path, &Recipe, Stretch)> = archives
        .iter()
        .flat_map(|archive| {
            archive.offer.recipes().map(|(recipe, place)| (archive.path.as_path(), recipe, place))
        })
        .filter(|(_, recipe, _)| is_worth(recipe.size, recipe.effort))
        .filter(|(_, recipe, _)| !stored_keys.contains(&recipe.key()))
        .collect();
    let mut made = shared.farm.as_ref().map_or_else(Vec::new, Farm::all_made);
    // A thread may have packed it too.
    made.retain(|made| !candidates.iter().any(|(_, recipe, _)| **recipe == made.recipe));
    if candidates.is_empty() && made.is_empty() || shared.breaker.off().is_some() {
        return;
    }
    let Some(client) = shared.client() else { return };
    if !client.limits.writable {
        shared.breaker.turn_off("it takes no entries from here: nothing was sent".to_owned());
        return;
    }
    let mut parcels = parcels(shared, &candidates);
    parcels.extend(made.iter().filter_map(|made| from_farm(shared, made)));
    let budget = shared.options.budget;
    let address = shared.options.address.to_string();
    let subject = counted(parcels.len(), "packed file");
    let sent = activity::during("send", &subject, &address, || {
        let send = async { tokio::time::timeout(budget, send(shared, &client, &parcels)).await };
        shared.runtime.block_on(send)
    });
    match sent {
        Ok(Err(Failure::Refused(why))) => {
            shared.breaker.turn_off(format!("it rejects uploads: {why}"));
        }
        Ok(Err(failure @ Failure::Damaged)) => shared.breaker.turn_off(failure.to_string()),
        Ok(Err(Failure::Missing)) => {
            shared.breaker.turn_off("it lost uploaded blobs".to_owned());
        }
        Ok(Ok(()) | Err(Failure::Over)) => {}
        Err(_) => {
            let why = format!("uploads did not finish in {} s", budget.as_secs());
            shared.breaker.turn_off(why);
        }
    }
}

fn parcels<'a>(
    shared: &SharedCache,
    candidates: &[(&Path, &'a Recipe, Stretch)],
) -> Vec<Parcel<'a>> {
    let (next, parcels) = (AtomicUsize::new(0), Mutex::new(BTreeMap::new()));
    let work = || {
        while let Some((number, (path, recipe, place))) = {
            let number = next.fetch_add(1, Ordering::Relaxed);
            candidates.get(number).map(|candidate| (number, candidate))
        } {
            if let Some(parcel) = parcel(shared, path, recipe, *place) {
                parcels.lock().unwrap_or_else(PoisonError::into_inner).insert(number, parcel);
            }
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..shared.options.threads.max(1) {
            scope.spawn(work);
        }
    });
    parcels.into_inner().unwrap_or_else(PoisonError::into_inner).into_values().collect()
}

fn parcel<'a>(
    shared: &SharedCache,
    path: &Path,
    recipe: &'a Recipe,
    place: Stretch,
) -> Option<Parcel<'a>> {
    let file = File::open(path).ok()?;
    let bytes = cache::PackedBytes::new(&file, place.offset, place.len);
    let sha256 = hash::of_reader(bytes).ok()?.sha256;
    let form = if place.method == Method::Store { Form::XzBlock } else { Form::Deflate };
    let blob = Blob::File { file: Arc::new(file), offset: place.offset, len: place.len };
    let (stored, blob) = stored(shared, recipe, Digest { sha256, size: place.len }, blob).ok()?;
    Some(Parcel {
        recipe,
        form,
        action: Action::from_recipe(recipe, &shared.options.silo),
        stored,
        blob,
    })
}

/// Stores a farm's stream under the digest without program, so that other programs find it.
fn from_farm<'a>(shared: &SharedCache, made: &'a MadeStream) -> Option<Parcel<'a>> {
    let (file, offset) = shared.cache.file_of(&made.entry);
    let file = Arc::new(file.try_clone().ok()?);
    let blob = Blob::File { file, offset, len: made.stream.size };
    let (stored, blob) = stored(shared, &made.recipe, made.stream, blob).ok()?;
    let (recipe, form) = (&made.recipe, made.form);
    Some(Parcel {
        recipe,
        form,
        action: Action::from_recipe(recipe, &shared.options.silo),
        stored,
        blob,
    })
}

async fn is_replaced(client: &Client, parcel: &Parcel<'_>) -> Result<bool, Failure> {
    match client.entry(parcel.action.digest()).await {
        Ok(entry) => Ok(action::stream(&entry, parcel.recipe, parcel.form)
            .is_some_and(|stored| stored.is_framed && !parcel.stored.is_framed)),
        Err(Failure::Over) => Err(Failure::Over),
        Err(_) => Ok(false),
    }
}

/// Sends streams first, then actions, then entries: an entry never refers to missing blobs.
async fn send(
    shared: &SharedCache,
    client: &Client,
    parcels: &[Parcel<'_>],
) -> Result<(), Failure> {
    let largest = client.limits.largest;
    let fits = |parcel: &&Parcel<'_>| largest == 0 || parcel.stored.blob.size <= largest;
    for parcels in parcels.iter().filter(fits).collect::<Vec<_>>().chunks(ASKED / 3) {
        let mut blobs: BTreeMap<Digest, Blob> = BTreeMap::new();
        for parcel in parcels {
            let Action { command, action } = &parcel.action;
            blobs.insert(parcel.stored.blob, parcel.blob.clone());
            blobs.insert(Digest::of(command), Blob::Memory(command.clone()));
            blobs.insert(Digest::of(action), Blob::Memory(action.clone()));
        }
        let digests: Vec<Digest> = blobs.keys().copied().collect();
        let missing = &client.missing(&digests).await?;
        blobs.retain(|digest, _| missing.contains(digest));
        client.send_all(blobs).await?;
        let entries = stream::iter(parcels).map(|parcel| async move {
            let is_there = !missing.contains(&parcel.stored.blob);
            if is_there && is_replaced(client, parcel).await? {
                return Ok(());
            }
            let result = action::result(parcel.recipe, parcel.form, parcel.stored);
            client.set_entry(parcel.action.digest(), result).await?;
            Counts::add(&shared.counts.replaced, u64::from(parcel.stored.is_framed));
            if !is_there {
                Counts::add(&shared.counts.sent, 1);
                Counts::add(&shared.counts.sent_bytes, parcel.stored.blob.size);
            }
            Ok(())
        });
        let mut entries = entries.buffer_unordered(AT_ONCE);
        while let Some(result) = entries.next().await {
            result?;
        }
    }
    Ok(())
}
