//! Fetches streams while packages are made.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::Semaphore;

use super::action::{self, Action, Stored};
use super::client::{Client, Failure};
use super::farm::{self, Farm, Made, Task};
use super::pace::{PATIENCE, Pace, is_dear};
use super::{Counts, SharedCache};
use base::activity;
use cache::{Awaited, Form, Recipe};

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
const HOLD: Duration = Duration::from_millis(300);

pub(super) fn download(shared: &SharedCache, awaited: &[&dyn Awaited], over: &AtomicBool) {
    let is_dear = |place: &usize| is_dear(awaited[*place].size(), awaited[*place].effort());
    let (dear, cheap): (VecDeque<_>, VecDeque<_>) = (0..awaited.len()).partition(is_dear);
    let hands = HANDS.min(awaited.len());
    let download = Download {
        shared,
        all: awaited,
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
            let given = (0..farm_hands).map(|_| scope.spawn(move || download.delegate(farm)));
            hands.extend(given.collect::<Vec<_>>());
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
    all: &'b [&'b dyn Awaited],
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
        for awaited in self.all.iter().filter(|awaited| awaited.is_open()) {
            if self.pace.pays(awaited.size(), awaited.effort(), threads) {
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
            let it = self.all[*place];
            self.pace.pays(it.size(), it.effort(), threads)
        };
        loop {
            let forward = queue.dear.front().is_some_and(pays);
            let next = if forward { queue.dear.pop_front() } else { queue.dear.pop_back() };
            match next {
                Some(next) if self.all[next].is_open() => return Some(next),
                Some(_) => {}
                None => break,
            }
        }
        let (hits, misses) = (&self.cheap_hits, &self.cheap_misses);
        let hopeless = misses.load(Ordering::Relaxed) > SAMPLE + hits.load(Ordering::Relaxed);
        if hand < CHEAP_HANDS && !hopeless {
            while let Some(next) = queue.cheap.pop_back() {
                if self.all[next].is_open() {
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
        let Some(client) = self.ask(|| self.shared.client()) else { return self.over_for_all() };
        while !self.over.load(Ordering::Relaxed) {
            if self.shared.breaker.off().is_some() {
                return self.over_for_all();
            }
            let Some(place) = self.next(number) else { return };
            let awaited = self.all[place];
            let Some(recipe) = self.recipe(awaited) else {
                awaited.give_up();
                continue;
            };
            let came = self.one(&client, awaited, &recipe);
            if !matches!(came, Err(Failure::Over) | Ok(Came::InTime | Came::TooLate | Came::Here)) {
                self.miss(place, recipe);
            }
            if !matches!(came, Ok(Came::InTime)) {
                awaited.give_up();
            }
            match came {
                Err(Failure::Over) => {}
                Ok(_) | Err(_) => self.pace.done(awaited.size()),
            }
            self.count(awaited, &came);
        }
    }

    fn over_for_all(&self) {
        self.all.iter().for_each(|awaited| awaited.give_up());
    }

    fn count(&self, awaited: &dyn Awaited, came: &Result<Came, Failure>) {
        let counts = &self.shared.counts;
        if !self.shared.options.read {
            return;
        }
        let cheap = !is_dear(awaited.size(), awaited.effort());
        match came {
            Ok(Came::InTime) => Counts::add(&counts.hits, 1),
            Ok(Came::Wrong) => Counts::add(&counts.refused, 1),
            Err(Failure::Missing | Failure::Damaged | Failure::Refused(_)) => {
                Counts::add(&counts.misses, 1);
            }
            Ok(Came::TooLate | Came::Here) | Err(Failure::Over) => return,
        }
        let hit = matches!(came, Ok(Came::InTime));
        match (cheap, hit) {
            (true, true) => Counts::add(&self.cheap_hits, awaited.size()),
            (true, false) => Counts::add(&self.cheap_misses, awaited.size()),
            (false, _) => {}
        }
    }

    fn is_silent(&self, time: Duration) -> bool {
        self.asking.load(Ordering::Relaxed) > 0 && self.pace.silence() > time
    }

    fn ask<T>(&self, question: impl FnOnce() -> T) -> T {
        if self.asking.fetch_add(1, Ordering::Relaxed) == 0 {
            self.pace.stirred();
        }
        let address = self.shared.options.address.to_string();
        let answer = activity::during("request", "a packed file", &address, question);
        self.asking.fetch_sub(1, Ordering::Relaxed);
        answer
    }

    fn compute<T>(&self, work: impl FnOnce() -> T) -> T {
        // `cpu` is never closed.
        let permit = self.shared.runtime.block_on(self.cpu.acquire());
        let done = work();
        drop(permit);
        self.pace.stirred();
        done
    }

    /// Returns the recipe; `None` if the content is unreadable (reported when packed) or being
    /// packed.
    fn recipe(&self, awaited: &dyn Awaited) -> Option<Recipe> {
        let content = self.compute(|| awaited.content()).ok()?;
        let (settings, effort) = (awaited.settings().to_owned(), awaited.effort());
        Some(Recipe { content, size: awaited.size(), settings, effort })
    }

    fn one(
        &self,
        client: &Client,
        awaited: &dyn Awaited,
        recipe: &Recipe,
    ) -> Result<Came, Failure> {
        let (shared, form) = (self.shared, awaited.form());
        if shared.cache.has(&recipe.key()) {
            return Ok(Came::Here);
        }
        if !shared.options.read {
            return Err(Failure::Missing);
        }
        let action = Action::of(recipe, &shared.options.silo).digest();
        let entry = self.ask(|| shared.runtime.block_on(client.entry(action)))?;
        self.pace.stirred();
        let Some(Stored { blob: stream, is_framed }) = action::stream(&entry, recipe, form) else {
            return Ok(Came::Wrong);
        };
        if !awaited.is_open() {
            self.remember(recipe);
            return Ok(Came::TooLate);
        }
        let Ok(Some(room)) = shared.cache.room(stream.size) else { return Ok(Came::TooLate) };
        let progress = |_| self.pace.stirred();
        match self.ask(|| shared.runtime.block_on(client.fetch(stream, &room, progress))) {
            Err(Failure::Damaged) => {
                shared.report_damage(&recipe.key(), stream);
                return Ok(Came::Wrong);
            }
            fetched => fetched?,
        }
        if !awaited.is_open() {
            self.remember(recipe);
            return Ok(Came::TooLate);
        }
        let came = self.take(awaited, form, recipe, &room.behind(u64::from(is_framed)));
        let is_damaged = || self.compute(|| room.sha256()).is_ok_and(|it| it != stream.sha256);
        if matches!(came, Came::Wrong) && is_damaged() {
            shared.report_damage(&recipe.key(), stream);
        }
        Ok(came)
    }

    fn miss(&self, place: usize, recipe: Recipe) {
        if self.shared.farm.is_some() && farm::is_worth(recipe.size, recipe.effort) {
            self.missed.lock().unwrap_or_else(PoisonError::into_inner).insert(place, recipe);
        }
    }

    fn next_missed(&self) -> Option<(&'b dyn Awaited, Recipe)> {
        let mut missed = self.missed.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some((place, recipe)) = missed.pop_last() {
            if self.all[place].is_open() {
                return Some((self.all[place], recipe));
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
                Ok(Came::InTime | Came::Here) => {}
                Ok(Came::TooLate) => farm.was_late(),
                Ok(Came::Wrong) => farm.failed("its stream does not match the file to pack".into()),
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
    ) -> Result<Came, Failure> {
        let task = Task { awaited, recipe };
        let is_needed = || awaited.is_open() && !self.over.load(Ordering::Relaxed);
        let farm::Came::Stream(stream, room) = farm.pack(self.shared, client, task, is_needed)?
        else {
            return Ok(Came::TooLate);
        };
        if !awaited.is_open() {
            return Ok(Came::TooLate);
        }
        let import = || self.shared.cache.import(recipe, awaited.form(), &room);
        let Ok(entry) = self.compute(import) else { return Ok(Came::Wrong) };
        // From here on, packing threads find it.
        farm.made(Made { recipe: recipe.clone(), form: awaited.form(), stream, entry });
        if !awaited.arrive(entry) {
            return Ok(Came::TooLate);
        }
        farm.was_in_time(stream);
        Ok(Came::InTime)
    }

    fn take(
        &self,
        awaited: &dyn Awaited,
        form: Form,
        recipe: &Recipe,
        room: &cache::Room<'_>,
    ) -> Came {
        let Ok(entry) = self.compute(|| self.shared.cache.import(recipe, form, room)) else {
            return Came::Wrong;
        };
        if !awaited.arrive(entry) {
            self.remember(recipe);
            return Came::TooLate;
        }
        Counts::add(&self.shared.counts.hit_bytes, entry.packed_len);
        Came::InTime
    }

    fn remember(&self, recipe: &Recipe) {
        let mut there = self.shared.there.lock().unwrap_or_else(PoisonError::into_inner);
        there.push(recipe.key());
    }
}

enum Came {
    InTime,
    TooLate,
    /// Already in the local cache.
    Here,
    Wrong,
}
