//! What the connections share: the services, each with the signals of its control plane.
use std::io;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use tokio::sync::watch;

use super::{Mount, Options};
use crate::{AnyService, Call, Loopback};

/// How long the control plane waits for what it is asked to wait for.
const WAIT_MAX: Duration = Duration::from_secs(10);

/// What connections wait for.
#[derive(Debug, Default)]
pub(super) struct Signals {
    /// The calls whose answers are withheld.
    pub(super) hold: Vec<Call>,
    /// How often withheld answers have been let go.
    pub(super) releases: u64,
    /// How many answers are withheld.
    pub(super) held: u64,
    /// The fail points reached, in order.
    pub(super) reached: Vec<String>,
}

/// All that is served.
pub(super) struct Shared {
    /// The services, those with the longest paths first.
    places: Vec<Place>,
    pub(super) options: Options,
}

/// One service at its path.
pub(super) struct Place {
    /// What its paths begin with; empty, or a slash and a name.
    base: String,
    world: Mutex<Loopback<AnyService>>,
    signals: watch::Sender<Signals>,
}

impl Shared {
    pub(super) fn new(services: Vec<(String, AnyService)>, options: Options) -> io::Result<Self> {
        let mut mounts = options
            .mounts
            .iter()
            .map(|Mount { at, folder }| {
                let at = format!("/{}", at.trim_matches('/'));
                let folder = folder.canonicalize()?;
                Ok(Mount { at, folder })
            })
            .collect::<io::Result<Vec<_>>>()?;
        mounts.sort_by_key(|mount| usize::MAX - mount.at.len());
        let mut places: Vec<_> = services.into_iter().map(Place::new).collect();
        places.sort_by_key(|place| usize::MAX - place.base.len());
        Ok(Self { places, options: Options { mounts, ..options } })
    }

    /// The service that a path belongs to, and the path as that service knows it.
    pub(super) fn place<'a>(&self, path: &'a str) -> Option<(&Place, &'a str)> {
        self.places.iter().find_map(|place| {
            let rest = path.strip_prefix(place.base.as_str())?;
            rest.starts_with('/').then_some((place, rest))
        })
    }
}

impl Place {
    fn new((base, service): (String, AnyService)) -> Self {
        let base = base.trim_matches('/');
        Self {
            base: if base.is_empty() { String::new() } else { format!("/{base}") },
            world: Mutex::new(Loopback::new(service)),
            signals: watch::Sender::new(Signals::default()),
        }
    }

    /// Whether it is the one whose paths other things share.
    pub(super) fn is_root(&self) -> bool {
        self.base.is_empty()
    }

    /// The world; never held across an await.
    pub(super) fn world(&self) -> MutexGuard<'_, Loopback<AnyService>> {
        self.world.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn signal(&self, change: impl FnOnce(&mut Signals)) {
        self.signals.send_modify(change);
    }

    /// Lets the withheld answers go, and withholds no more.
    pub(super) fn release(&self) {
        self.signal(|signals| {
            signals.hold.clear();
            signals.releases += 1;
        });
    }

    /// Waits, up to a limit, until there is something to tell.
    pub(super) async fn wait_for<T>(&self, tell: impl Fn(&Signals) -> Option<T>) -> Option<T> {
        let mut signals = self.signals.subscribe();
        let waiting = signals.wait_for(|signals| tell(signals).is_some());
        let told = tokio::time::timeout(WAIT_MAX, waiting).await.ok()?.ok()?;
        tell(&told)
    }

    /// Withholds an answer if its call is on hold, until it is released or its connection dies.
    pub(super) async fn withhold(&self, call: Call) {
        let mut signals = self.signals.subscribe();
        let seen = {
            let now = signals.borrow();
            if !now.hold.iter().any(|hold| hold.covers(call)) {
                return;
            }
            now.releases
        };
        let _held = Held::new(&self.signals);
        // The sender lives as long as the server: this ends by a release only.
        let _ = signals.wait_for(|signals| signals.releases != seen).await;
    }
}

/// Counts as one withheld answer, until its connection is done with it.
struct Held<'a>(&'a watch::Sender<Signals>);

impl<'a> Held<'a> {
    fn new(signals: &'a watch::Sender<Signals>) -> Self {
        signals.send_modify(|signals| signals.held += 1);
        Self(signals)
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|signals| signals.held -= 1);
    }
}

/// The wall clock, in Unix milliseconds.
#[expect(clippy::disallowed_methods, reason = "the server lives in real time")]
pub(super) fn now_ms() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}
