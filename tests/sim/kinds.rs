//! The kinds of faults, and how often each strikes in one run.

use holdfast::model::dice::Dice;

macro_rules! kinds {
    ($($(#[$doc:meta])* $kind:ident $class:ident $name:literal,)*) => {
        /// One kind of fault.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        pub enum Kind { $($(#[$doc])* $kind,)* }

        impl Kind {
            pub const ALL: &[Self] = &[$(Self::$kind,)*];

            pub const fn name(self) -> &'static str {
                match self { $(Self::$kind => $name,)* }
            }

            /// Whether it leaves a way to the result that needs no person.
            pub const fn class(self) -> Class {
                match self { $(Self::$kind => Class::$class,)* }
            }
        }
    };
}

/// What a fault leaves possible.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// The result is still to be had without a person.
    Recoverable,
    /// A person may be needed: the service lies, or a bound of the contract is passed.
    Hard,
}

kinds! {
    /// The request never arrives.
    LoseBefore Recoverable "request lost",
    /// The request arrives, and its answer does not.
    LoseAfter Recoverable "answer lost",
    /// The answer takes long, perhaps longer than the exchange may.
    Slow Recoverable "answer late",
    /// The request takes long to arrive.
    SlowRequest Recoverable "request late",
    /// The answer's body breaks off.
    Truncate Recoverable "answer cut short",
    /// The browser sends it twice over a connection that broke.
    Resend Recoverable "sent twice by the browser",
    /// A gateway's page with a 502, 503 or 504.
    Page Recoverable "gateway's page",
    /// 500 or 503 before the service did anything.
    Unavailable Recoverable "5xx before the work",
    /// 500 or 503 after it did.
    UnavailableAfter Recoverable "5xx after the work",
    /// 429, with or without a wait.
    RateLimited Recoverable "429",
    /// 409 while the same key is in progress.
    InProgress Recoverable "409 in progress",
    /// The network is gone for a while.
    Outage Recoverable "network outage",
    /// The service answers 503 to everything for a while.
    ServiceDown Recoverable "service outage",
    /// A transaction is aborted.
    CommitAborted Recoverable "commit aborted",
    /// The database cannot be opened.
    CommitRefused Recoverable "commit refused",
    /// No room.
    CommitFull Recoverable "quota exceeded",
    /// Done, and nobody is told.
    CommitUnknownDone Recoverable "commit of unknown fate, done",
    /// Not done, and nobody is told.
    CommitUnknownLost Recoverable "commit of unknown fate, lost",
    /// A read fails.
    ReadFailed Recoverable "read failed",
    /// The disk takes long.
    SlowDisk Recoverable "slow disk",
    /// A context ends at an await.
    Crash Recoverable "context killed",
    /// A context freezes at an await.
    Freeze Recoverable "context frozen",
    /// A context is closed in order.
    Close Recoverable "context closed",
    /// All contexts end at once; the disk keeps all that was written.
    BrowserKilled Recoverable "browser killed",
    /// The machine ends; relaxed writes may be lost.
    PowerLost Recoverable "power lost",
    /// The machine sleeps.
    Sleep Recoverable "machine asleep",
    /// The clock jumps ahead.
    ClockAhead Recoverable "clock jumps ahead",
    /// The clock jumps back by less than a minute.
    ClockBack Recoverable "clock jumps back a little",
    /// The clock jumps back by hours.
    ClockFarBack Hard "clock jumps back far",
    /// `authorize` gives nothing.
    NoCredential Recoverable "no credential, once",
    /// `authorize` takes long.
    SlowCredential Recoverable "slow credential",
    /// The account changes for a while.
    AccountSwitch Recoverable "account switched",
    /// `onSettled` fails.
    DeliveryFails Recoverable "delivery failed",
    /// The credential is refused.
    Unauthorized Hard "401",
    /// The credit is used up, it is said.
    NoCredit Hard "402",
    /// A refusal of a good request.
    Refused Hard "422",
    /// A redirect.
    Redirect Hard "redirect",
    /// A job that is said not to exist.
    NotFound Hard "404",
    /// A page of a gateway with status 200.
    PageOk Hard "page with status 200",
    /// The credential speaks for someone else for a while.
    ScopeChange Hard "scope changed",
}

/// How often each kind strikes, per thousand chances.
#[derive(Clone, Debug)]
pub struct Mix(Vec<u64>);

impl Mix {
    /// Draws which kinds there are in this run, and how often (swarm testing: a run without a kind
    /// finds what that kind hides).
    pub fn draw(dice: &mut Dice, hard: bool) -> Self {
        const RATES: [u64; 5] = [3, 10, 30, 80, 200];
        let density = 1 + dice.up_to(3);
        Self(
            Kind::ALL
                .iter()
                .map(|kind| {
                    let wanted = dice.up_to(5) < density && (hard || kind.class() != Class::Hard);
                    let rate = RATES[usize::try_from(dice.up_to(4)).unwrap_or(0)];
                    if wanted { rate } else { 0 }
                })
                .collect(),
        )
    }

    pub fn rate(&self, kind: Kind) -> u64 {
        self.0[kind as usize]
    }
}
