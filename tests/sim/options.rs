//! What the simulation is asked for.

/// Seeds that a plain `cargo test` runs.
const SEEDS: u64 = 300;

/// Seeds that once found something, and run always.
const KNOWN: &[u64] = &[
    139, 303, 529, 629, 661, 945, 1107, 1283, 1722, 1784, 1945, 2108, 2674, 4175, 4723, 4843, 4945,
    8530, 10207, 13306, 14218, 17000, 18619, 18910, 21559, 22594, 22974, 24629, 26298, 26984,
    37663, 101367, 104969, 105448, 109354, 114846, 114975, 119119, 120799, 121911, 123006, 147240,
    152840, 304232,
];

pub struct Options {
    pub seeds: u64,
    pub from: u64,
    pub seed: Option<u64>,
    pub trace: bool,
    pub teeth: bool,
    /// One deliberate fault only, by its name.
    pub tooth: Option<String>,
    pub threads: u64,
    pub progress: bool,
    /// Ends with the first failure.
    pub first: bool,
}

impl Options {
    /// Reads arguments; those of other test programs are let pass.
    pub fn read(arguments: impl Iterator<Item = String>) -> Self {
        let mut options = Self {
            seeds: SEEDS,
            from: 1,
            seed: None,
            trace: false,
            teeth: false,
            tooth: None,
            threads: 2,
            progress: false,
            first: false,
        };
        let mut arguments = arguments.peekable();
        while let Some(argument) = arguments.next() {
            if argument == "--tooth" {
                options.teeth = true;
                options.tooth = arguments.next();
                continue;
            }
            let mut number = || arguments.next().and_then(|text| text.parse().ok());
            match argument.as_str() {
                "--seeds" => {
                    options.seeds = number().unwrap_or(options.seeds);
                    options.progress = true;
                }
                "--from" => options.from = number().unwrap_or(options.from),
                "--seed" => options.seed = number(),
                "--threads" => options.threads = number().unwrap_or(options.threads),
                "--trace" => options.trace = true,
                "--first" => options.first = true,
                "--teeth" => options.teeth = true,
                _ => {}
            }
        }
        options
    }

    /// The seed of a place in the order; the known ones come first.
    pub fn nth(&self, index: u64) -> Option<u64> {
        let known = KNOWN.get(usize::try_from(index).ok()?).copied();
        let later = || index - u64::try_from(KNOWN.len()).unwrap_or(0);
        known.or_else(|| (later() < self.seeds).then(|| self.from + later()))
    }
}
