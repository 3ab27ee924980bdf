//! Fetches streams while packages are made.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::action::{self, Action, Stored};
use super::client::{Client, Failure};
use super::farm::{self, Farm, MadeStream, Task};
use super::pace::{PATIENCE, Pace, is_dear};
use super::{Counts, SharedCache};
use base::activity;
use cache::{Awaited, Form, Recipe};

/// Number of threads that request streams: many, because each mostly waits for the server.
const HANDS: usize = 24;
/// Number of threads that fetch quickly packed streams: few, because these often come too late.
const CHEAP_HANDS: usize = 4;
/// Number of streams that a farm packs in parallel: many, to hide its latency.
const FARM_HANDS: usize = 32;
/// Excess of missed over hit bytes at which quickly packed content is given up.
const SAMPLE: u64 = 64 << 20;
/// Silence after which no further requests are made.
const SILENCE: Duration = Duration::from_secs(10);
/// Interval of decisions on waiting.
const TICK: Duration = Duration::from_millis(20);
/// Length of a hold, renewed each [`TICK`]: packing threads are free soon after the last decision.
const HOLD: Duration = Duration::from_millis(300);

pub(super) fn download(shared: &SharedCache, awaited: &[&dyn Awaited], over: &AtomicBool) {
    let is_dear = |place: &usize| is_dear(awaited[*place].size(), awaited[*place].effort());
    let (dear, cheap): (VecDeque<_>, VecDeque<_>) = (0..awaited.len()).partition(is_dear);
    let hands = HANDS.min(awaited.len());
    let download = Download {
        shared,
        streams: awaited,
        over,
        queue: Mutex::new(Queue { dear, cheap }),
        pace: Pace::new(),
        cpu: Semaphore::new(shared.options.threads.max(1)),
        cheap_hits: AtomicU64::new(0),
        cheap_misses: AtomicU64::new(0),
        asking: AtomicUsize::new(0),
        looking: AtomicUsize::new(hands),
        missed: Mutex::default(),
    };
    std::thread::scope(|scope| {
        let download = &download;
        let mut hands: Vec<_> =
            (0..hands).map(|number| scope.spawn(move || download.hand(number))).collect();
        if let Some(farm) = &shared.farm {
            let farm_hands = FARM_HANDS.min(awaited.len());
            let delegates = (0..farm_hands).map(|_| scope.spawn(move || download.delegate(farm)));
            hands.extend(delegates.collect::<Vec<_>>());
        }
        let busy = || hands.iter().any(|hand| !hand.is_finished());
        while !over.load(Ordering::Relaxed) && busy() {
            download.decide();
            if download.is_silent(SILENCE) {
                break;
            }
            std::thread::sleep(TICK);
        }
        if download.is_silent(PATIENCE) {
            let silence = download.pace.silence().as_secs_f32();
            shared.breaker.turn_off(format!("it did not answer for {silence:.1} s"));
        }
        shared.stop.send_replace(true);
    });
    for awaited in awaited {
        awaited.give_up();
    }
}

struct Download<'b> {
    shared: &'b SharedCache,
    streams: &'b [&'b dyn Awaited],
    over: &'b AtomicBool,
    queue: Mutex<Queue>,
    pace: Pace,
    /// Limits hashing and unpacking threads.
    cpu: Semaphore,
    cheap_hits: AtomicU64,
    cheap_misses: AtomicU64,
    asking: AtomicUsize,
    looking: AtomicUsize,
    /// Streams that the server lacks and a farm could pack, by index.
    missed: Mutex<BTreeMap<usize, Recipe>>,
}

/// Streams to request, by index, in the order of the packing threads.
struct Queue {
    dear: VecDeque<usize>,
    cheap: VecDeque<usize>,
}

impl<'b> Download<'b> {
    fn queue(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Keeps threads from packing streams that are fetched much faster.
    fn decide(&self) {
        let threads = self.shared.options.threads;
        for awaited in self.streams.iter().filter(|awaited| awaited.is_open()) {
            if self.pace.is_worth_waiting(awaited.size(), awaited.effort(), threads) {
                awaited.hold(HOLD);
            }
        }
    }

    /// Returns the next stream to request: the first expensive one if waiting pays, otherwise the
    /// last, so that it arrives before the threads do; then the last cheap one.
    fn next(&self, hand: usize) -> Option<usize> {
        let threads = self.shared.options.threads;
        let mut queue = self.queue();
        let pays = |place: &usize| {
            let stream = self.streams[*place];
            self.pace.is_worth_waiting(stream.size(), stream.effort(), threads)
        };
        loop {
            let forward = queue.dear.front().is_some_and(pays);
            let next = if forward { queue.dear.pop_front() } else { queue.dear.pop_back() };
            match next {
                Some(next) if self.streams[next].is_open() => return Some(next),
                Some(_) => {}
                None => break,
            }
        }
        let (hits, misses) = (&self.cheap_hits, &self.cheap_misses);
        let hopeless = misses.load(Ordering::Relaxed) > SAMPLE + hits.load(Ordering::Relaxed);
        if hand < CHEAP_HANDS && !hopeless {
            while let Some(next) = queue.cheap.pop_back() {
                if self.streams[next].is_open() {
                    return Some(next);
                }
            }
        }
        None
    }

    fn hand(&self, number: usize) {
        self.look_up(number);
        self.looking.fetch_sub(1, Ordering::Release);
    }

    fn look_up(&self, number: usize) {
        let Some(client) = self.request(|| self.shared.client()) else {
            return self.over_for_all();
        };
        while !self.over.load(Ordering::Relaxed) {
            if self.shared.breaker.off().is_some() {
                return self.over_for_all();
            }
            let Some(place) = self.next(number) else { return };
            let awaited = self.streams[place];
            let Some(recipe) = self.recipe(awaited) else {
                awaited.give_up();
                continue;
            };
            let arrival = self.look_up_stream(&client, awaited, &recipe);
            if !matches!(
                arrival,
                Err(Failure::Over) | Ok(Arrival::InTime | Arrival::TooLate | Arrival::Cached)
            ) {
                self.miss(place, recipe);
            }
            if !matches!(arrival, Ok(Arrival::InTime)) {
                awaited.give_up();
            }
            match arrival {
                Err(Failure::Over) => {}
                Ok(_) | Err(_) => self.pace.add_resolved(awaited.size()),
            }
            self.count(awaited, &arrival);
        }
    }

    fn over_for_all(&self) {
        self.streams.iter().for_each(|awaited| awaited.give_up());
    }

    fn count(&self, awaited: &dyn Awaited, arrival: &Result<Arrival, Failure>) {
        let counts = &self.shared.counts;
        if !self.shared.options.read {
            return;
        }
        let cheap = !is_dear(awaited.size(), awaited.effort());
        match arrival {
            Ok(Arrival::InTime) => Counts::add(&counts.hits, 1),
            Ok(Arrival::Wrong) => Counts::add(&counts.refused, 1),
            Err(Failure::Missing | Failure::Damaged | Failure::Refused(_)) => {
                Counts::add(&counts.misses, 1);
            }
            Ok(Arrival::TooLate | Arrival::Cached) | Err(Failure::Over) => return,
        }
        let hit = matches!(arrival, Ok(Arrival::InTime));
        match (cheap, hit) {
            (true, true) => Counts::add(&self.cheap_hits, awaited.size()),
            (true, false) => Counts::add(&self.cheap_misses, awaited.size()),
            (false, _) => {}
        }
    }

    fn is_silent(&self, time: Duration) -> bool {
        self.asking.load(Ordering::Relaxed) > 0 && self.pace.silence() > time
    }

    fn request<T>(&self, question: impl FnOnce() -> T) -> T {
        if self.asking.fetch_add(1, Ordering::Relaxed) == 0 {
            self.pace.record_event();
        }
        let address = self.shared.options.address.to_string();
        let answer = activity::during("request", "a packed file", &address, question);
        self.asking.fetch_sub(1, Ordering::Relaxed);
        answer
    }

    fn compute<T>(&self, work: impl FnOnce() -> T) -> T {
        // `cpu` is never closed.
        let permit = self.shared.runtime.block_on(self.cpu.acquire());
        let result = work();
        drop(permit);
        self.pace.record_event();
        result
    }

    /// Returns the recipe; `None` if the content is unreadable (reported when packed) or being
    /// packed.
    fn recipe(&self, awaited: &dyn Awaited) -> Option<Recipe> {
        let content = self.compute(|| awaited.content()).ok()?;
        let (settings, effort) = (awaited.settings().to_owned(), awaited.effort());
        Some(Recipe { content, size: awaited.size(), settings, effort })
    }

    fn look_up_stream(
        &self,
        client: &Client,
        awaited: &dyn Awaited,
        recipe: &Recipe,
    ) -> Result<Arrival, Failure> {
        let (shared, form) = (self.shared, awaited.form());
        if shared.cache.has(&recipe.key()) {
            return Ok(Arrival::Cached);
        }
        if !shared.options.read {
            return Err(Failure::Missing);
        }
        let action = Action::from_recipe(recipe, &shared.options.silo).digest();
        let entry = self.request(|| shared.runtime.block_on(client.entry(action)))?;
        self.pace.record_event();
        let Some(Stored { blob: stream, is_framed }) = action::stream(&entry, recipe, form) else {
            return Ok(Arrival::Wrong);
        };
        if !awaited.is_open() {
            self.remember(recipe);
            return Ok(Arrival::TooLate);
        }
        let Ok(Some(room)) = shared.cache.room(stream.size) else { return Ok(Arrival::TooLate) };
        let progress = |_| self.pace.record_event();
        match self.request(|| shared.runtime.block_on(client.fetch(stream, &room, progress))) {
            Err(Failure::Damaged) => {
                shared.report_damage(&recipe.key(), stream);
                return Ok(Arrival::Wrong);
            }
            fetched => fetched?,
        }
        if !awaited.is_open() {
            self.remember(recipe);
            return Ok(Arrival::TooLate);
        }
        let arrival = self.take(awaited, form, recipe, &room.behind(u64::from(is_framed)));
        let is_damaged =
            || self.compute(|| room.sha256()).is_ok_and(|sha256| sha256 != stream.sha256);
        if matches!(arrival, Arrival::Wrong) && is_damaged() {
            shared.report_damage(&recipe.key(), stream);
        }
        Ok(arrival)
    }

    fn miss(&self, place: usize, recipe: Recipe) {
        if self.shared.farm.is_some() && farm::is_worth(recipe.size, recipe.effort) {
            self.missed.lock().unwrap_or_else(PoisonError::into_inner).insert(place, recipe);
        }
    }

    fn next_missed(&self) -> Option<(&'b dyn Awaited, Recipe)> {
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((place, recipe)) = missed.pop_last() {
            if self.streams[place].is_open() {
                return Some((self.streams[place], recipe));
            }
        }
        None
    }

    fn delegate(&self, farm: &Farm) {
        let ended = || self.over.load(Ordering::Relaxed) || *self.shared.stop.borrow();
        while !ended() && !farm.is_off() {
            // Loaded before the queue: a lookup adds its misses, then ends.
            let looking = self.looking.load(Ordering::Acquire) > 0;
            let Some((awaited, recipe)) = self.next_missed() else {
                if !looking {
                    return;
                }
                std::thread::sleep(TICK);
                continue;
            };
            let Some(client) = self.shared.client() else { return };
            match self.packed(farm, &client, awaited, &recipe) {
                Ok(Arrival::InTime | Arrival::Cached) => {}
                Ok(Arrival::TooLate) => farm.was_late(),
                Ok(Arrival::Wrong) => {
                    farm.failed("its stream does not match the file to pack".into());
                }
                Err(Failure::Over) => return,
                Err(failure) => farm.failed(failure.to_string()),
            }
        }
    }

    fn packed(
        &self,
        farm: &Farm,
        client: &Client,
        awaited: &dyn Awaited,
        recipe: &Recipe,
    ) -> Result<Arrival, Failure> {
        let task = Task { awaited, recipe };
        let is_needed = || awaited.is_open() && !self.over.load(Ordering::Relaxed);
        let farm::Packed::Stream(stream, room) = farm.pack(self.shared, client, task, is_needed)?
        else {
            return Ok(Arrival::TooLate);
        };
        if !awaited.is_open() {
            return Ok(Arrival::TooLate);
        }
        let import = || self.shared.cache.import(recipe, awaited.form(), &room);
        let Ok(entry) = self.compute(import) else { return Ok(Arrival::Wrong) };
        // From here on, packing threads find it.
        farm.add(MadeStream { recipe: recipe.clone(), form: awaited.form(), stream, entry });
        if !awaited.arrive(entry) {
            return Ok(Arrival::TooLate);
        }
        farm.was_in_time(stream);
        Ok(Arrival::InTime)
    }

    fn take(
        &self,
        awaited: &dyn Awaited,
        form: Form,
        recipe: &Recipe,
        room: &cache::Room<'_>,
    ) -> Arrival {
        let Ok(entry) = self.compute(|| self.shared.cache.import(recipe, form, room)) else {
            return Arrival::Wrong;
        };
        if !awaited.arrive(entry) {
            self.remember(recipe);
            return Arrival::TooLate;
        }
        Counts::add(&self.shared.counts.hit_bytes, entry.packed_len);
        Arrival::InTime
    }

    fn remember(&self, recipe: &Recipe) {
        let mut keys = self.shared.stored_keys.lock().unwrap_or_else(PoisonError::into_inner);
        keys.push(recipe.key());
    }
}

enum Arrival {
    InTime,
    TooLate,
    /// Already in the local cache.
    Cached,
    Wrong,
}
