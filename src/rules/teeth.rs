//! Deliberate faults, for the simulation to find: proof that it would find them by mistake.
//!
//! Without the feature `teeth`, which no published build has, none ever bites and nothing of this is
//! compiled.

/// What shall be wrong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Tooth {
    /// An attempt leaves while it is still being written.
    SendBeforePersist,
    /// An attempt is written without waiting for the disk.
    RelaxedAttempt,
    /// An ending is written without waiting for the disk.
    RelaxedEnding,
    /// A further attempt carries a key of its own.
    FreshKey,
    /// Writes do not say under which ownership.
    ForgetFence,
    /// The store does not look at the ownership of a write.
    IgnoreEpoch,
    /// The store gives away a lane whose owner lives.
    IgnoreLease,
    /// The store does not look at what a write replaces.
    IgnoreRevision,
    /// An attempt leaves however late.
    SendTooLate,
    /// Nobody asks in the turn of the sending whether it may leave.
    SkipSameTurnCheck,
    /// What the service no longer has is asked for again and again.
    SwallowExpired,
    /// "Not ready" is taken for "gone".
    NotReadyIsExpired,
    /// An operation that is over is polled.
    PollAfterEnding,
    /// Requests of one operation follow one another at once.
    LoseFloor,
    /// The service's "in progress" is taken for a refusal.
    ConflictIsRefusal,
    /// A refusal ends what an earlier attempt may have begun.
    RejectAfterUnknown,
    /// A lost answer is taken for a refusal.
    UnknownIsRefused,
    /// A lost answer is forgotten.
    ForgetUnresolved,
    /// A lost answer is for a person, at once.
    ParkAtOnce,
    /// A submission is sent again although its cancellation is wanted.
    ResendCancelled,
    /// The count of attempts has no bound.
    NoAttemptLimit,
    /// A key is used past its lifetime at the service.
    IgnoreKeyLifetime,
    /// The app is told before it is stored.
    TellEarly,
    /// Endings are not delivered.
    NeverDeliver,
    /// Work of the account that left is driven on.
    KeepAccount,
    /// Waits of a clock that jumped back stay as they are.
    StretchWaits,
    /// The index says that nothing is due.
    LoseDue,
    /// The journal leaves out what happened.
    ForgetJournal,
    /// The bytes of a result are not kept.
    ForgetBytes,
    /// Without a key it is sent again while its outcome is unknown.
    ResendWithoutKey,
    /// A listing is read before it must show what it was asked for.
    ListTooSoon,
    /// Of what is deleted not even a tombstone is left.
    DropTombstone,
    /// A rerun knows nothing of its parent's attempts.
    ForgetSpentAttempts,
    /// A price above the limit is paid.
    IgnoreCost,
    /// What is deleted stays in the store.
    KeepContent,
    /// The store keeps pieces of a result from a context that no longer owns the lane.
    KeepLateBytes,
    /// A later version's record is driven.
    BelieveNewer,
    /// A damaged record is taken for one of which nothing has happened yet.
    BelieveDamaged,
}

impl Tooth {
    /// Every fault.
    pub const ALL: &[Self] = &[
        Self::SendBeforePersist,
        Self::RelaxedAttempt,
        Self::RelaxedEnding,
        Self::FreshKey,
        Self::ForgetFence,
        Self::IgnoreEpoch,
        Self::IgnoreLease,
        Self::IgnoreRevision,
        Self::SendTooLate,
        Self::SkipSameTurnCheck,
        Self::SwallowExpired,
        Self::NotReadyIsExpired,
        Self::PollAfterEnding,
        Self::LoseFloor,
        Self::ConflictIsRefusal,
        Self::RejectAfterUnknown,
        Self::UnknownIsRefused,
        Self::ForgetUnresolved,
        Self::ParkAtOnce,
        Self::ResendCancelled,
        Self::NoAttemptLimit,
        Self::IgnoreKeyLifetime,
        Self::TellEarly,
        Self::NeverDeliver,
        Self::KeepAccount,
        Self::StretchWaits,
        Self::LoseDue,
        Self::ForgetJournal,
        Self::ForgetBytes,
        Self::ResendWithoutKey,
        Self::ListTooSoon,
        Self::DropTombstone,
        Self::ForgetSpentAttempts,
        Self::IgnoreCost,
        Self::KeepContent,
        Self::KeepLateBytes,
        Self::BelieveNewer,
        Self::BelieveDamaged,
    ];
}

/// Whether that fault is set.
#[cfg(not(feature = "teeth"))]
pub const fn bites(_fault: Tooth) -> bool {
    false
}

#[cfg(feature = "teeth")]
std::thread_local! {
    static SET: core::cell::Cell<Option<Tooth>> = const { core::cell::Cell::new(None) };
}

/// Whether that fault is set.
#[cfg(feature = "teeth")]
pub fn bites(fault: Tooth) -> bool {
    SET.get() == Some(fault)
}

/// Sets a fault, or none, for this thread.
#[cfg(feature = "teeth")]
pub fn set(fault: Option<Tooth>) {
    SET.set(fault);
}
