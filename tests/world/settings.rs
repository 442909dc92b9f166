//! How a world behaves.

use holdfast::model::policy::Retention;

/// How the world behaves.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The context ends at this point.
    pub crash_at: Option<u64>,
    /// Whether contexts hear of each other's changes (BroadcastChannel).
    pub hints: bool,
    /// Whether a context's death is known at once (Web Locks) or only by its lease.
    pub locks: bool,
    /// The account that is signed in.
    pub account: Option<String>,
    /// Credentials that `authorize` cannot give, from now on.
    pub unauthorized: u32,
    /// How often exchanges have to wait for others elsewhere, from now on; two seconds each time.
    pub postponed: u32,
    /// Whether `onSettled` is there.
    pub consumes: bool,
    /// Deliveries that fail, from now on.
    pub failing_deliveries: u32,
    /// Deliveries that never end, from now on.
    pub hanging_deliveries: u32,
    /// Reads of kept pieces that find nothing, from now on: the browser has evicted them.
    pub evicted: u32,
    /// Whether there is no network.
    pub offline: bool,
    /// One way of the network, in milliseconds.
    pub latency_ms: u64,
    /// How long each piece of an answer's body takes that begins now, in milliseconds.
    pub piece_ms: u64,
    /// The credential's scope.
    pub scope: Option<String>,
    /// How far the contexts' clock is from the time that really passes, in milliseconds.
    pub skew_ms: i64,
    /// What the service's schema finds wrong with every result.
    pub schema_fault: Option<String>,
    /// How long `authorize` takes, in milliseconds.
    pub authorize_ms: u64,
    /// How long a commit takes, in milliseconds.
    pub commit_ms: u64,
    /// How long what has ended is kept.
    pub retention: Retention,
    /// Whether the service's keys are derived.
    pub derives_keys: bool,
    /// Parameters of the service, for all submissions.
    pub params: Vec<(String, String)>,
    /// Where the service is.
    pub origin: String,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            crash_at: None,
            locks: true,
            hints: true,
            account: Some("ann".into()),
            unauthorized: 0,
            postponed: 0,
            consumes: true,
            failing_deliveries: 0,
            hanging_deliveries: 0,
            evicted: 0,
            offline: false,
            latency_ms: 10,
            piece_ms: 0,
            scope: Some("org_1/key_1".into()),
            skew_ms: 0,
            schema_fault: None,
            authorize_ms: 0,
            commit_ms: 0,
            derives_keys: false,
            retention: Retention::default(),
            params: Vec::new(),
            origin: "https://api.example.com".into(),
        }
    }
}

/// Takes one from what shall still happen; whether there was one.
pub fn strikes(left: &mut u32) -> bool {
    let strikes = *left > 0;
    *left = left.saturating_sub(1);
    strikes
}
