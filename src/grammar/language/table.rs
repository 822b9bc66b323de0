//! Transition tables over any alphabet, and the smallest table of a language.

/// The state without a completion.
pub(super) const DEAD: u32 = 0;

/// A deterministic automaton over the letters `0..letters`. State 0 is [`DEAD`]: its row leads to itself.
#[derive(Debug, Clone)]
pub(super) struct Table {
    pub(super) letters: usize,
    /// A row of `letters` states for each state.
    pub(super) next: Vec<u32>,
    /// What the words that end in a state are labelled with; 0 if none ends there. A language uses label 1 only.
    pub(super) labels: Vec<u32>,
    pub(super) start: u32,
}

impl Table {
    /// The table of no words.
    pub(super) fn never(letters: usize) -> Self {
        Self { letters, next: vec![DEAD; letters], labels: vec![0], start: DEAD }
    }

    pub(super) fn states(&self) -> usize {
        self.labels.len()
    }

    pub(super) fn row(&self, state: u32) -> &[u32] {
        let at = state as usize * self.letters;
        &self.next[at..at + self.letters]
    }

    /// Adds a state with a row that leads nowhere yet.
    pub(super) fn add(&mut self, label: u32) -> u32 {
        let state = narrow(self.states());
        self.next.resize(self.next.len() + self.letters, DEAD);
        self.labels.push(label);
        state
    }

    pub(super) fn set(&mut self, state: u32, letter: usize, target: u32) {
        self.next[state as usize * self.letters + letter] = target;
    }

    /// The table of the same language with the fewest states: all of them but [`DEAD`] can be reached and can reach
    /// an accepting one. Takes time in `n log n` of the transitions that do not lead to [`DEAD`].
    pub(super) fn smallest(&self) -> Self {
        let useful = self.useful();
        if !useful[self.start as usize] {
            return Self::never(self.letters);
        }
        Refinement::new(self, &useful).run().table(self)
    }

    /// Which states can be reached from the start and reach an accepting state.
    fn useful(&self) -> Vec<bool> {
        let states = self.states();
        let mut reached = vec![false; states];
        let mut stack = vec![self.start];
        reached[self.start as usize] = true;
        let mut edges: Vec<(u32, u32)> = Vec::new();
        while let Some(state) = stack.pop() {
            let mut last = DEAD;
            for &target in self.row(state) {
                if target == DEAD || target == last {
                    continue;
                }
                last = target;
                edges.push((target, state));
                if !reached[target as usize] {
                    reached[target as usize] = true;
                    stack.push(target);
                }
            }
        }
        let incoming = Groups::new(states, &edges);
        let mut useful = vec![false; states];
        for state in 0..states {
            if reached[state] && self.labels[state] != 0 {
                useful[state] = true;
                stack.push(narrow(state));
            }
        }
        while let Some(state) = stack.pop() {
            for &source in incoming.of(state) {
                if !useful[source as usize] {
                    useful[source as usize] = true;
                    stack.push(source);
                }
            }
        }
        useful[DEAD as usize] = false;
        useful
    }
}

pub(super) fn narrow(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

/// Values grouped by a small key, in one allocation.
pub(super) struct Groups {
    starts: Vec<u32>,
    values: Vec<u32>,
}

impl Groups {
    pub(super) fn new(keys: usize, pairs: &[(u32, u32)]) -> Self {
        let mut starts = vec![0; keys + 1];
        for &(key, _) in pairs {
            starts[key as usize + 1] += 1;
        }
        for key in 0..keys {
            starts[key + 1] += starts[key];
        }
        let mut at = starts.clone();
        let mut values = vec![0; pairs.len()];
        for &(key, value) in pairs {
            values[at[key as usize] as usize] = value;
            at[key as usize] += 1;
        }
        Self { starts, values }
    }

    pub(super) fn of(&self, key: u32) -> &[u32] {
        &self.values[self.starts[key as usize] as usize..self.starts[key as usize + 1] as usize]
    }
}

/// A division of `0..n` into sets that can be split.
struct Partition {
    elements: Vec<u32>,
    place: Vec<u32>,
    set_of: Vec<u32>,
    first: Vec<u32>,
    end: Vec<u32>,
    /// How many elements at the front of each set are marked.
    marked: Vec<u32>,
    touched: Vec<u32>,
}

impl Partition {
    fn new(elements: usize) -> Self {
        let all: Vec<u32> = (0..narrow(elements)).collect();
        let sets = usize::from(elements > 0);
        Self {
            place: all.clone(),
            elements: all,
            set_of: vec![0; elements],
            first: vec![0; sets],
            end: vec![narrow(elements); sets],
            marked: vec![0; sets],
            touched: Vec::new(),
        }
    }

    fn sets(&self) -> usize {
        self.first.len()
    }

    fn mark(&mut self, element: u32) {
        let set = self.set_of[element as usize] as usize;
        let from = self.place[element as usize];
        let to = self.first[set] + self.marked[set];
        if from < to {
            return;
        }
        let other = self.elements[to as usize];
        self.elements[from as usize] = other;
        self.place[other as usize] = from;
        self.elements[to as usize] = element;
        self.place[element as usize] = to;
        if self.marked[set] == 0 {
            self.touched.push(narrow(set));
        }
        self.marked[set] += 1;
    }

    /// Splits every set into its marked and its other elements; the smaller half becomes a new set.
    fn split(&mut self) {
        while let Some(set) = self.touched.pop() {
            let set = set as usize;
            let middle = self.first[set] + self.marked[set];
            self.marked[set] = 0;
            if middle == self.end[set] {
                continue;
            }
            let new = narrow(self.sets());
            if middle - self.first[set] <= self.end[set] - middle {
                self.first.push(self.first[set]);
                self.end.push(middle);
                self.first[set] = middle;
            } else {
                self.first.push(middle);
                self.end.push(self.end[set]);
                self.end[set] = middle;
            }
            self.marked.push(0);
            for at in self.first[new as usize]..self.end[new as usize] {
                self.set_of[self.elements[at as usize] as usize] = new;
            }
        }
    }
}

/// Valmari's and Lehtinen's refinement for tables with many transitions to nowhere: states are split by where they
/// go, and transitions by where they end, until neither splits the other.
struct Refinement {
    tails: Vec<u32>,
    incoming: Groups,
    states: Partition,
    transitions: Partition,
    /// The state's number in this refinement, or none for states that are of no use.
    number: Vec<u32>,
}

impl Refinement {
    fn new(table: &Table, useful: &[bool]) -> Self {
        let mut number = vec![u32::MAX; table.states()];
        let mut originals = Vec::new();
        for (state, &is_useful) in useful.iter().enumerate() {
            if is_useful {
                number[state] = narrow(originals.len());
                originals.push(narrow(state));
            }
        }
        let mut tails = Vec::new();
        let mut heads = Vec::new();
        let mut bounds = vec![0];
        for letter in 0..table.letters {
            for (tail, &state) in originals.iter().enumerate() {
                let head = number[table.next[state as usize * table.letters + letter] as usize];
                if head != u32::MAX {
                    heads.push((head, narrow(tails.len())));
                    tails.push(narrow(tail));
                }
            }
            if *bounds.last().unwrap_or(&0) != tails.len() {
                bounds.push(tails.len());
            }
        }
        let incoming = Groups::new(originals.len(), &heads);
        let mut states = Partition::new(originals.len());
        let mut labelled: Vec<(u32, u32)> = Vec::new();
        for (tail, &state) in originals.iter().enumerate() {
            if table.labels[state as usize] != 0 {
                labelled.push((table.labels[state as usize], narrow(tail)));
            }
        }
        labelled.sort_unstable();
        for same in labelled.chunk_by(|a, b| a.0 == b.0) {
            same.iter().for_each(|&(_, tail)| states.mark(tail));
            states.split();
        }
        // At first the transitions are divided by their letters.
        let mut transitions = Partition::new(tails.len());
        transitions.first.clear();
        transitions.end.clear();
        for (set, pair) in bounds.windows(2).enumerate() {
            transitions.first.push(narrow(pair[0]));
            transitions.end.push(narrow(pair[1]));
            transitions.set_of[pair[0]..pair[1]].fill(narrow(set));
        }
        transitions.marked = vec![0; transitions.first.len()];
        Self { tails, incoming, states, transitions, number }
    }

    fn run(mut self) -> Self {
        let mut blocks = 1;
        let mut cords = 0;
        while cords < self.transitions.sets() {
            for at in self.transitions.first[cords]..self.transitions.end[cords] {
                let transition = self.transitions.elements[at as usize];
                self.states.mark(self.tails[transition as usize]);
            }
            self.states.split();
            cords += 1;
            while blocks < self.states.sets() {
                for at in self.states.first[blocks]..self.states.end[blocks] {
                    let state = self.states.elements[at as usize];
                    for &transition in self.incoming.of(state) {
                        self.transitions.mark(transition);
                    }
                }
                self.transitions.split();
                blocks += 1;
            }
        }
        self
    }

    /// One state for each set of states.
    fn table(&self, table: &Table) -> Table {
        let block = |state: u32| match self.number[state as usize] {
            u32::MAX => DEAD,
            number => self.states.set_of[number as usize] + 1,
        };
        let mut smallest = Table::never(table.letters);
        smallest.next.resize(table.letters * (self.states.sets() + 1), DEAD);
        smallest.labels.resize(self.states.sets() + 1, 0);
        let mut done = vec![false; self.states.sets() + 1];
        for state in 0..narrow(table.states()) {
            let own = block(state) as usize;
            if own == 0 || std::mem::replace(&mut done[own], true) {
                continue;
            }
            smallest.labels[own] = table.labels[state as usize];
            let row = &mut smallest.next[own * table.letters..(own + 1) * table.letters];
            for (cell, &target) in row.iter_mut().zip(table.row(state)) {
                *cell = block(target);
            }
        }
        smallest.start = block(table.start);
        smallest
    }
}
